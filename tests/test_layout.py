"""The house keeps its order: who imports whom, how long a file is, what a file may mention."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("models", "launcher", "catalog", "generator")
# design.md's table: what each package may import of the project, beside itself.
ALLOWED = {
    "models": (),
    "catalog": (),
    "launcher": ("models.run", "catalog"),
    "generator": ("models.run", "catalog"),
}


def _imports(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package):
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in files
        for name in sorted(_imports(file))
        if name.split(".")[0] in {*PACKAGES, "tests", "benchmarks"} - {package}
        and not any(
            name == allowed or name.startswith(allowed + ".") for allowed in ALLOWED[package]
        )
    ]
    assert wrong == []


def test_only_models_import_tensorflow():
    wrong = [
        str(file.relative_to(ROOT))
        for package in ("launcher", "catalog", "generator")
        for file in (ROOT / package).rglob("*.py")
        if {name.split(".")[0] for name in _imports(file)} & {"tensorflow", "keras"}
    ]
    assert wrong == []


def test_the_run_format_loads_without_tensorflow():
    code = (
        "import sys, models.run, models.registry; "
        "print(sorted({'tensorflow', 'keras', 'numpy'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_no_file_is_too_long():
    long = {
        str(file.relative_to(ROOT)): count
        for package in (*PACKAGES, "tests", "benchmarks")
        for file in (ROOT / package).rglob("*.py")
        if (count := len(file.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_requirements_are_locked_with_hashes():
    for part in ("report", "train", "dev"):
        text = (ROOT / "requirements" / f"{part}.txt").read_text(encoding="utf-8")
        entries = re.split(r"\n(?=[a-z])", text.strip())
        assert len(entries) > 10
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    report = (ROOT / "requirements" / "report.txt").read_text(encoding="utf-8")
    assert not re.search(r"^(tensorflow|keras)", report, re.MULTILINE)


def test_versions_agree_between_the_locks():
    versions: dict[str, set[str]] = {}
    for part in ("report", "train", "dev"):
        text = (ROOT / "requirements" / f"{part}.txt").read_text(encoding="utf-8")
        for name, version in re.findall(r"^([a-z0-9-]+)==(\S+(?: ; [^\\]+)?)", text, re.MULTILINE):
            versions.setdefault(name, set()).add(f"{part} {version.strip()}")
    plain = {
        name: {entry.split(" ", 1)[1] for entry in entries if ";" not in entry}
        for name, entries in versions.items()
    }
    assert {name: found for name, found in plain.items() if len(found) > 1} == {}
