"""Reads the clocks that an epoch is timed by: monotonic, this process's CPU, the machine's."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_STAT = Path("/proc/stat")
# Columns of /proc/stat's first line (proc(5)): user nice system idle iowait irq softirq steal.
# Guest time is in user already.
_BUSY = (0, 1, 2, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class Reading:
    """The clocks at one moment, in seconds; ``machine_cpu`` is None where it is unknown."""

    monotonic: float
    process_cpu: float
    machine_cpu: float | None


def read_clocks() -> Reading:
    """Return the clocks now."""
    return Reading(time.perf_counter(), time.process_time(), read_machine_cpu())


def read_machine_cpu(path: Path = _STAT) -> float | None:
    """Return the CPU seconds that the machine spent since its start, stolen ones included."""
    try:
        with path.open(encoding="ascii") as file:
            fields = file.readline().split()[1:]
        ticks = sum(int(fields[index]) for index in _BUSY)
    except (OSError, ValueError, IndexError):
        return None
    return ticks / os.sysconf("SC_CLK_TCK")


def other_cpu(start: Reading, end: Reading) -> float | None:
    """Return the CPU seconds that others used between two readings; None where unknown.

    The machine's clock ticks 100 times a second: a figure below 0 is its rounding.
    """
    if start.machine_cpu is None or end.machine_cpu is None:
        return None
    own = end.process_cpu - start.process_cpu
    return max(0.0, end.machine_cpu - start.machine_cpu - own)
