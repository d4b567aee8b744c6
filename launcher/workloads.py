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
    """What ``models`` says can't be had: one line why."""


@dataclass(frozen=True)
class KnownWorkload:
    """A workload's parameters in one profile, with their hash and epochs."""

    name: str
    parameters: dict[str, Any]
    sha256: str
    epochs: int


def ask_models(*arguments: str) -> str:
    """Return what ``python -m models`` prints.

    Raises:
        WorkloadsError: where it fails.
    """
    result = subprocess.run(
        [sys.executable, "-m", "models", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if result.returncode != 0:
        reason = result.stderr.strip().splitlines()[-1:] or ["no message"]
        raise WorkloadsError(f"python -m models {arguments[0]}: {reason[0]}")
    return result.stdout


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
        WorkloadsError: where the list can't be had.
    """
    text = ask_models("list", "--json")
    return {
        record["name"]: KnownWorkload(
            record["name"],
            record["profiles"][profile]["parameters"],
            record["profiles"][profile]["sha256"],
            record["profiles"][profile]["epochs"],
        )
        for record in json.loads(text)["workloads"]
    }
