"""The workloads as the launcher knows them: by name and parameters, without TensorFlow."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT = Path(__file__).parents[1]
"""The repository: where ``models`` is run from."""


class WorkloadsError(RuntimeError):
    """The list of workloads can't be had: one line why."""


@dataclass(frozen=True)
class KnownWorkload:
    """A workload's parameters in one profile, with their hash and epochs."""

    name: str
    parameters: dict[str, Any]
    sha256: str
    epochs: int


def check_real_data(names: Collection[str]) -> list[str]:
    """Return a line for each file of real data that workloads lack, and where to put it."""
    command = [sys.executable, "-m", "models", "check", *sorted(names)]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )
    return result.stderr.strip().splitlines() if result.returncode else []


def read_workloads(profile: str) -> dict[str, KnownWorkload]:
    """Return the workloads of a profile, by name.

    Raises:
        WorkloadsError: where ``python -m models list`` fails.
    """
    command = [sys.executable, "-m", "models", "list", "--json"]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if result.returncode != 0:
        reason = result.stderr.strip().splitlines()[-1:] or ["no message"]
        raise WorkloadsError(f"the workloads can't be listed: {reason[0]}")
    return {
        record["name"]: KnownWorkload(
            record["name"],
            record["profiles"][profile]["parameters"],
            record["profiles"][profile]["sha256"],
            record["profiles"][profile]["epochs"],
        )
        for record in json.loads(result.stdout)["workloads"]
    }
