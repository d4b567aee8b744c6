"""What compiling saves, as a heat map: workloads by instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.patches import Rectangle

from generator.charts.palette import GAINS, INK, LOSSES, MUTED
from generator.charts.style import (
    FONT_PX,
    SMALL_PX,
    Canvas,
    Chart,
    styled,
    text_width,
    wrap,
)
from generator.measures import list_rows
from generator.wording import format_percent

if TYPE_CHECKING:
    import pandas as pd

_WIDE, _NARROW = 680, 360
_ROW, _HEAD, _FOOT = 28, 22, 8
# Shares of pip's time from which on a cell is tinted more: a tenth is worth a rebuild.
_STEPS = (0.1, 0.25)

Row = dict[str, Any]


@styled
def saving_map(
    savings: pd.DataFrame, *, resolution: float | None = None, narrow: bool = False
) -> Chart | None:
    """Return what compiling saves as a map of workloads by instances; None without a pair.

    Args:
        savings: columns ``workload``, ``instance_label``, ``vcpus``, ``saving``
            (1 − time(compiled) / time(pip)) and ``predicted``.
        resolution: the campaign's, as a share: smaller savings are none.
        narrow: for a phone.
    """
    rows = [row for row in list_rows(savings) if row["saving"] is not None]
    if not rows:
        return None
    workloads = sorted({row["workload"] for row in rows})
    instances = [
        label for _, label in sorted({(row["vcpus"], row["instance_label"]) for row in rows})
    ]
    values = {(row["workload"], row["instance_label"]): row["saving"] for row in rows}
    predicted = {(row["workload"], row["instance_label"]) for row in rows if row["predicted"]}
    size = SMALL_PX if narrow else FONT_PX
    width = _NARROW if narrow else _WIDE
    note = "Time saved over pip, by size of instance. Blue: saves time; orange: costs time."
    if resolution is not None:
        note += f" ≈: within the resolution, {format_percent(resolution)}."
    if predicted:
        note += " *: predicted from the first epochs."
    height = len(workloads) * _ROW
    canvas = Canvas(width, _HEAD + height + _FOOT, _title(rows, resolution), note)
    room = width * 0.46 if narrow else width
    names = {name: _fit(name, room, size) for name in workloads}
    left = max(text_width(line, size) for lines in names.values() for line in lines) + 14
    column = (width - left - 4) / len(instances)
    axes = canvas.paper(left, _HEAD, width - left - 4, height)
    for y, workload in enumerate(workloads):
        for nth, line in enumerate(names[workload]):
            shift = 0.64 if len(names[workload]) == 1 else 0.42 + nth * 0.42
            canvas.text(4, canvas.top + _HEAD + (y + shift) * _ROW, line, size)
        for x, instance in enumerate(instances):
            saving = values.get((workload, instance))
            same = saving is not None and resolution is not None and abs(saving) <= resolution
            axes.add_patch(
                Rectangle(
                    (x * column + 1, y * _ROW + 1),
                    column - 2,
                    _ROW - 2,
                    facecolor="none" if saving is None or same else _tint(saving),
                    edgecolor="none" if saving is not None else MUTED,
                    linewidth=1,
                    linestyle=(0, (2, 1.5)),
                )
            )
            words = "missing" if saving is None else format_percent(saving)
            if (workload, instance) in predicted:
                words += " *"
            axes.text(
                (x + 0.5) * column,
                (y + 0.5) * _ROW,
                f"≈ {words}" if same else words,
                ha="center",
                va="center_baseline",
                fontsize=size,
                style="italic" if saving is None else "normal",
                color=MUTED if saving is None or same else INK,
            )
    for x, label in enumerate(instances):
        words = label.replace(" vCPUs", "") if narrow else label
        middle = left + (x + 0.5) * column
        canvas.text(middle, canvas.top + 15, words, size, MUTED, ha="center")
    if narrow:
        canvas.text(4, canvas.top + 15, "vCPUs", size, MUTED)
    alt = "; ".join(
        [
            f"{row['workload']} on {row['instance_label']}: {format_percent(row['saving'])}"
            + (" (predicted)" if row["predicted"] else "")
            for row in rows
        ]
    )
    return canvas.finish(f"{canvas.title}. {alt}.", dict((*GAINS, *LOSSES)))


def _fit(name: str, room: float, size: float) -> list[str]:
    """Return a name in lines that fit, broken behind an underscore where it is too long."""
    if text_width(name, size) <= room or "_" not in name:
        return wrap(name, room, size)
    middle = min(
        (index for index, letter in enumerate(name) if letter == "_"),
        key=lambda index: abs(index - len(name) / 2),
    )
    return [name[: middle + 1], name[middle + 1 :]]


def _tint(saving: float) -> str:
    step = sum(abs(saving) >= limit for limit in _STEPS)
    return (GAINS if saving > 0 else LOSSES)[step][0]


def _title(rows: list[Row], resolution: float | None) -> str:
    ranked = sorted(rows, key=lambda row: (row["saving"], row["workload"], row["instance_label"]))
    worst, best = ranked[0], ranked[-1]
    gains = sum(row["saving"] > (resolution or 0) for row in rows)
    title = f"Compiling saves time in {gains} of {len(rows)} pairs"
    if gains:
        where = f"{best['workload']}, {best['instance_label']}"
        title += f": up to {format_percent(best['saving'])} ({where})"
    if worst["saving"] < -(resolution or 0):
        where = f"{worst['workload']}, {worst['instance_label']}"
        title += f"; it costs up to {format_percent(-worst['saving'])} ({where})"
    return title
