"""Where foreign logs come from: a folder, or a git repository that is cloned for the import."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.declared import DeclaredError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADDRESS = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://|^[^/]+@[^/]+:|\.git/?$")
# A clone that asks for a password would wait for ever.
_QUIET = {"GIT_TERMINAL_PROMPT": "0"}


@contextmanager
def open_source(source: str) -> Iterator[Path]:
    """Give the folder of a source; a git address is cloned into a folder that is removed after.

    Raises:
        DeclaredError: where there is no such folder, or git can't clone it.
    """
    folder = Path(source)
    if folder.is_dir() and not source.rstrip("/").endswith(".git"):
        yield folder
        return
    if not _ADDRESS.search(source):
        mend = "name the folder that holds the logs, or a git address"
        raise DeclaredError(source, None, "no such folder", mend)
    with tempfile.TemporaryDirectory(prefix="kerascost-import-") as scratch:
        clone = Path(scratch) / "source"
        _run_git(["clone", "--quiet", "--", source, str(clone)], source, "can't be cloned")
        yield clone


def check_commit(source: str, folder: Path, declared: str) -> str:
    """Return the commit that a source's logs are of; empty where nothing says.

    A clone is taken to the declared commit. A folder that is a repository must be at it, without
    changes; one that is none is taken at the mapping's word.

    Raises:
        DeclaredError: where the folder is at another commit, was changed, or lacks the commit.
    """
    if not (folder / ".git").exists():
        return declared
    if folder != Path(source) and declared:
        _run_git(
            ["-C", str(folder), "checkout", "--quiet", "--detach", declared],
            source,
            f"has no commit {declared}",
        )
    head = _run_git(["-C", str(folder), "rev-parse", "HEAD"], source, "has no commit").strip()
    if declared and not head.startswith(declared):
        reason = f"it is at commit {head[:12]}, and the mapping says {declared}"
        raise DeclaredError(source, None, reason, f"git checkout {declared}, or correct it")
    changes = _run_git(["-C", str(folder), "status", "--porcelain"], source, "is no repository")
    if changes.strip():
        first = changes.splitlines()[0][3:]
        reason = f"{first} is not as commit {head[:12]} has it"
        raise DeclaredError(source, None, reason, "commit it, or take it back")
    return declared or head


def _run_git(arguments: list[str], source: str, fault: str) -> str:
    try:
        result = subprocess.run(
            ["git", *arguments],
            env=os.environ | _QUIET,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise DeclaredError(source, None, "git isn't here to read it", "install git") from None
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        detail = f" ({lines[-1]})" if lines else ""
        raise DeclaredError(source, None, f"{fault}{detail}", "correct the address")
    return result.stdout
