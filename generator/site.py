"""Builds the site with MkDocs from pages that are written, and knows when nothing has changed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import yaml

from generator.offline import write_search_script
from generator.policy import write_policies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

# The day that the sitemap and the archives carry, so that the same logs give the same bytes:
# 2017-07-05, when the report that this site continues was published.
SOURCE_DATE_EPOCH = "1499212800"

_MARK = "data/index.json"


class SiteError(RuntimeError):
    """The site can't be built: one line why, and what to do."""


def fingerprint(files: Iterable[Path], settings: Sequence[str], root: Path) -> str:
    """Return a SHA-256 over files (names from `root`, and contents) and settings."""
    digest = hashlib.sha256("\0".join(settings).encode())
    for file in sorted(files):
        content = file.read_bytes()
        digest.update(f"{os.path.relpath(file, root)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def list_files(folders: Iterable[Path]) -> list[Path]:
    """Return all files below folders (or the files themselves), without caches, sorted."""
    found: set[Path] = set()
    for folder in folders:
        candidates = [folder] if folder.is_file() else folder.rglob("*")
        found.update(
            path for path in candidates if path.is_file() and path.suffix not in {".pyc", ".lock"}
        )
    return sorted(found)


def write_config(template: Path, target: Path, docs: Path, nav: list[Any]) -> None:
    """Write MkDocs' configuration: the template's, with the pages' folder and navigation.

    Args:
        template: the project's mkdocs.yml.
        target: the file to write.
        docs: the folder of the pages.
        nav: MkDocs' navigation: titles and files, nested.
    """
    config = yaml.safe_load(template.read_text(encoding="utf-8"))
    config["docs_dir"] = str(docs.resolve())
    config["nav"] = nav
    if "custom_dir" in config["theme"]:
        # MkDocs looks beside its configuration, which is written elsewhere than its template.
        overrides = template.parent / config["theme"]["custom_dir"]
        config["theme"]["custom_dir"] = str(overrides.resolve())
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=100)
    target.write_text(text, encoding="utf-8")


def build_site(config: Path, site: Path) -> None:
    """Build the site, strictly; a site that stands is replaced only when its successor does.

    Args:
        config: MkDocs' configuration.
        site: the folder of the site: absent, empty, or an earlier site.

    Raises:
        SiteError: where MkDocs fails or warns, or the folder holds something else.
    """
    if site.exists() and any(site.iterdir()) and not (site / _MARK).is_file():
        reason = f"{site} holds something else than a report; empty it, or name another SITE_DIR"
        raise SiteError(reason)
    fresh = config.parent / "site.new"
    shutil.rmtree(fresh, ignore_errors=True)
    # Never with --quiet: it hides the warnings that --strict counts, and a broken link passes.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    command += ["--config-file", str(config), "--site-dir", str(fresh.resolve())]
    environment = dict(os.environ) | {
        "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH,
        "NO_MKDOCS_2_WARNING": "1",
        "DISABLE_MKDOCS_2_WARNING": "true",
    }
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if result.returncode != 0:
        output = result.stderr + result.stdout
        faults = [line for line in output.splitlines() if line.startswith(("WARNING", "ERROR"))]
        detail = "\n".join(faults) or output.strip()
        raise SiteError(f"MkDocs can't build the site:\n{detail}")
    write_search_script(fresh)
    write_policies(fresh)
    shutil.rmtree(site, ignore_errors=True)
    site.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(fresh, site)
