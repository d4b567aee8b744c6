"""What stands below a chart's title: how many runs, which data, how fine a difference shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from generator.charts.style import capital
from generator.wording import format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable


def note_of(rows: Iterable[dict[str, Any]], resolution: float | None = None) -> str:
    """Return what a reader must know of cells to trust their figures.

    Args:
        rows: cells with ``time_s``, ``runs``, ``profile``, ``synthetic`` and ``predicted``.
        resolution: the campaign's, as a share; None where it has no repeats.
    """
    known = [row for row in rows if row.get("time_s") is not None]
    if not known:
        return ""
    parts = []
    counts = sorted({int(row["runs"] or 0) for row in known})
    if counts[-1] <= 1:
        parts.append("one run a cell (n = 1), so no intervals")
    elif counts[0] == counts[-1]:
        parts.append(f"median of {counts[0]} runs a cell, with 95 % intervals")
    else:
        span = f"{counts[0]} to {counts[-1]}"
        parts.append(f"median of {span} runs a cell, with 95 % intervals where n > 1")
    if resolution is not None:
        parts.append(f"resolution {format_percent(resolution)}")
    profiles = sorted({str(row["profile"]) for row in known if row.get("profile")} - {"full"})
    if profiles:
        parts.append(f"profile {' and '.join(profiles)}, not the full training")
    for word in ("synthetic", "predicted"):
        marked = sum(bool(row.get(word)) for row in known)
        thing = "data" if word == "synthetic" else "figures"
        if marked:
            some = "" if marked == len(known) else f" in {marked} of {len(known)} cells"
            parts.append(f"{word} {thing}{some}")
    return capital("; ".join(parts)) + "."


def verb(label: str, singular: str, plural: str) -> str:
    """Return the verb that goes with a cell's label: the GPU takes, 8 vCPUs take."""
    return plural if "vCPUs" in label else singular


def named(label: str, baseline: str = "") -> str:
    """Return a cell's label as a sentence has it: the GPU; 8 vCPUs, compiled, with its comma."""
    if label in ("GPU", "GPU (predicted)"):
        return f"the {label}"
    return f"{label}," if "," in label and label != baseline else label
