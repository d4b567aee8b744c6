"""Finds the workloads: each file of ``models/workloads/`` is one, by its name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from models.workload import Workload

WORKLOADS = Path(__file__).parent / "workloads"


class UnknownWorkloadError(ValueError):
    """No workload has this name, or its file holds none."""


def list_workloads(folder: Path = WORKLOADS) -> list[str]:
    """Return the names of all workloads, sorted."""
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def find_workload(name: str, folder: Path = WORKLOADS) -> Workload:
    """Return a workload by its name.

    Raises:
        UnknownWorkloadError: where there is no such file, or it has no ``WORKLOAD``.
    """
    names = list_workloads(folder)
    if name not in names:
        raise UnknownWorkloadError(f"no workload {name!r}; choose from {', '.join(names)}")
    path = folder / f"{name}.py"
    module_name = f"models.workloads.{name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise UnknownWorkloadError(f"{path.name} can't be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    workload = getattr(module, "WORKLOAD", None)
    if not isinstance(workload, Workload):
        raise UnknownWorkloadError(
            f"models/workloads/{path.name} has no WORKLOAD; give it one, like its neighbours"
        )
    return workload
