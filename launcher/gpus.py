"""Finds this machine's NVIDIA GPUs, by what ``nvidia-smi -L`` lists."""

from __future__ import annotations

import re
import subprocess

# "GPU 0: Tesla K80 (UUID: GPU-c43b0acd-…)"; the parts of one (MIG) are indented, and no GPUs.
_LINE = re.compile(r"GPU \d+: (.+?) \(UUID: \S+\)")
_PATIENCE_S = 60.0


def read_gpus(listing: str) -> tuple[str, ...]:
    """Return the names of the GPUs in a listing of ``nvidia-smi -L``, in its order."""
    return tuple(match[1] for line in listing.splitlines() if (match := _LINE.match(line)))


def find_gpus() -> tuple[str, ...]:
    """Return the names of this machine's NVIDIA GPUs; none where nvidia-smi lists none.

    A driver that fails lists none, too, and says so where its user sees it.
    """
    try:
        result = subprocess.run(
            ["nvidia-smi", "-L"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return read_gpus(result.stdout)
