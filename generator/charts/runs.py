"""Runs one by one: their epochs as strips, and their spread about their cell's median."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from matplotlib.collections import PolyCollection

from generator.charts.palette import FAINT, GREY, INK, MUTED, RULE, WARN
from generator.charts.style import (
    FONT_PX,
    SMALL_PX,
    Canvas,
    Chart,
    mark,
    set_ticks,
    styled,
    text_width,
    whole_steps,
)
from generator.measures import list_rows
from generator.quality import SHARED_CPUS, SLOW
from generator.wording import format_count, format_percent, format_ratio, format_seconds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WIDE, NARROW = 680, 360
_ROW, _FOOT = 26, 52
# A strip's full height is at least this share of the median, and less counts as even: it is
# every machine's noise.
_LEAST = 0.1
# Fewer epochs than this have no typical one (generator.quality).
_ENOUGH = 3
# Figures are written over bars where there is room for them: in pixels an epoch.
_FIGURE_ROOM = 20

Row = dict[str, Any]


@dataclass(frozen=True)
class _Strip:
    """A run's epochs; ``typical`` is the median of those that count, in seconds."""

    name: str
    epochs: list[Row]
    typical: float

    def deviation(self, epoch: Row) -> float:
        """Return how much longer than typical an epoch took, as a share."""
        return float(epoch["elapsed"] / self.typical - 1)

    @property
    def counted(self) -> list[Row]:
        """The epochs after the warm-up."""
        return [epoch for epoch in self.epochs if not epoch["warmup"]]

    def is_slow(self, epoch: Row) -> bool:
        """Return whether an epoch is flagged: as the data quality page flags it."""
        # Epoch 0 traces the graph, also where it counts: it is slow for a known reason.
        enough = sum(other["epoch"] > 0 for other in self.counted) >= _ENOUGH
        late = epoch["epoch"] > 0 and not epoch["warmup"]
        return bool(enough and late and epoch["elapsed"] > SLOW * self.typical)


def _strips(epochs: pd.DataFrame) -> list[_Strip]:
    runs: dict[tuple[str, str], list[Row]] = {}
    for row in list_rows(epochs):
        if row["elapsed"] is not None:
            runs.setdefault((row["label"], row["run_id"]), []).append(row)
    several = len({run for _, run in runs}) > 1
    return [
        _Strip(
            f"{label}, {run}" if several else label,
            rows,
            median(row["elapsed"] for row in rows if not row["warmup"]),
        )
        for (label, run), rows in runs.items()
        if not all(row["warmup"] for row in rows)
    ]


@styled
def epoch_strip(epochs: pd.DataFrame, *, narrow: bool = False) -> Chart | None:
    """Return each run's epochs as a strip of bars about the run's median epoch.

    A bar up is a slower epoch, a bar down a faster one, all to one scale; warm-up epochs are
    hollow. Epochs over SLOW times the median are red, and whatever leaves the strip has its
    figure. A dot marks epochs during which other processes used CPUs. None where no run has an
    epoch that counts.

    Args:
        epochs: rows of the epoch table of one workload, with ``label``.
        narrow: for a phone.
    """
    strips = _strips(epochs)
    if not strips:
        return None
    slow = sum(strip.is_slow(epoch) for strip in strips for epoch in strip.counted)
    usual = [
        abs(strip.deviation(epoch))
        for strip in strips
        for epoch in strip.counted
        if epoch["epoch"] > 0 and not strip.is_slow(epoch)
    ]
    scale = max([_LEAST, *(min(deviation, SLOW - 1) for deviation in usual)])
    shared = any(_is_shared(epoch) for strip in strips for epoch in strip.counted)
    full = format_percent(scale)
    notes = [f"Up: slower than the run's median epoch, down: faster; full height: {full}."]
    if any(epoch["warmup"] for strip in strips for epoch in strip.epochs):
        notes.append("Hollow: warm-up, not counted.")
    if shared:
        notes.append(f"Dot: other processes used over {SHARED_CPUS:g} CPUs.")
    width = NARROW if narrow else WIDE
    height = len(strips) * _ROW
    canvas = Canvas(width, height + _FOOT, _strip_title(strips, slow), " ".join(notes))
    left = max(text_width(strip.name) for strip in strips) + 10
    words = [f"{format_seconds(strip.typical)} s" for strip in strips]
    right = max(text_width(text) for text in [*words, "median"]) + 12
    axes = canvas.axes(left, 14, width - left - right, height)
    last = max(epoch["epoch"] for strip in strips for epoch in strip.epochs)
    axes.set_xlim(-0.6, last + 0.6)
    axes.set_ylim(len(strips), 0)
    per_epoch = (width - left - right) / (last + 1.2)
    _draw_strips(axes, strips, scale, per_epoch)
    set_ticks(axes.yaxis, [i + 0.5 for i in range(len(strips))], [s.name for s in strips])
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    ticks = whole_steps(max(last, 1), max(2, min(10, int(per_epoch * last / 24))), 1)
    set_ticks(axes.xaxis, ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel("epoch")
    at = width - right + 8
    canvas.text(at, canvas.top + 8, "median", SMALL_PX, MUTED)
    for position, text in enumerate(words):
        canvas.text(at, canvas.top + 14 + (position + 0.66) * _ROW, text, SMALL_PX)
    return canvas.finish(f"{canvas.title}. {_strip_alt(strips)}.")


def _draw_strips(axes: Axes, strips: list[_Strip], scale: float, per_epoch: float) -> None:
    bars: dict[str, list[list[tuple[float, float]]]] = {GREY: [], WARN: [], "warmup": []}
    dots: list[tuple[float, float]] = []
    for position, strip in enumerate(strips):
        middle = position + 0.5
        for epoch in strip.epochs:
            x, deviation = epoch["epoch"], strip.deviation(epoch)
            length = max(-1.0, min(1.0, deviation / scale)) * 0.4
            if epoch["warmup"]:
                bars["warmup"].append(_rectangle(x, middle - 0.4, middle + 0.4))
            else:
                colour = WARN if strip.is_slow(epoch) else GREY
                bars[colour].append(_rectangle(x, middle, middle - length))
            outside = abs(deviation) > scale * 1.001
            if outside and per_epoch >= _FIGURE_ROOM:
                axes.text(
                    x,
                    middle if epoch["warmup"] else middle + 0.22,
                    f"{deviation + 1:.1f}×",
                    fontsize=SMALL_PX,
                    ha="center",
                    va="center",
                    color=WARN if strip.is_slow(epoch) else MUTED,
                )
            if _is_shared(epoch) and not epoch["warmup"]:
                dots.append((x, position + 0.93))
    for colour, shapes in bars.items():
        hollow = colour == "warmup"
        axes.add_collection(
            PolyCollection(
                shapes,
                facecolors="none" if hollow else colour,
                edgecolors=GREY if hollow else "none",
                linewidths=1 if hollow else 0,
                gid=mark("epochs", "hollow" if hollow else "slow" if colour == WARN else "even"),
            )
        )
    axes.hlines(
        [position + 0.5 for position in range(len(strips))],
        -0.5,
        max(epoch["epoch"] for strip in strips for epoch in strip.epochs) + 0.5,
        color=RULE,
        linewidth=0.8,
        zorder=0.5,
    )
    if dots:
        axes.plot(*zip(*dots, strict=True), "o", color=MUTED, markersize=3, gid="shared")


def _rectangle(x: float, y0: float, y1: float) -> list[tuple[float, float]]:
    return [(x - 0.36, y0), (x + 0.36, y0), (x + 0.36, y1), (x - 0.36, y1)]


def _is_shared(epoch: Row) -> bool:
    other = epoch.get("other_cpu_s")
    return other is not None and bool(other > SHARED_CPUS * epoch["elapsed"])


def _strip_title(strips: list[_Strip], slow: int) -> str:
    late = [
        (strip.deviation(epoch) + 1, strip.name)
        for strip in strips
        for epoch in strip.counted
        if epoch["epoch"] > 0
    ]
    if not late:
        return "One epoch a run: nothing to compare"
    worst, name = max(late)
    count = format_count(len(late), "epoch")
    if slow:
        verb = "takes" if slow == 1 else "take"
        return (
            f"{slow:,} of {count} {verb} over {SLOW:g} times the run's median: "
            f"up to {format_ratio(worst)} ({name})"
        )
    even = "Even" if worst <= 1 + _LEAST else f"No epoch over {SLOW:g} times its run's median"
    return f"{even}: the slowest of {count} takes {format_ratio(worst)} ({name})"


def _strip_alt(strips: list[_Strip]) -> str:
    parts = []
    for strip in strips:
        elapsed = [epoch["elapsed"] for epoch in strip.counted]
        parts.append(
            f"{strip.name}: median {format_seconds(strip.typical)} s, "
            f"{format_seconds(min(elapsed))} to {format_seconds(max(elapsed))} s"
        )
    return "; ".join(parts)


@styled
def spread(runs: pd.DataFrame, resolution: float, *, narrow: bool = False) -> Chart | None:
    """Return each run's time relative to its cell's median; None where cells have one run.

    Args:
        runs: columns ``workload``, ``label`` and ``time_s``, one row a complete run.
        resolution: the campaign's, as a share: drawn as a band.
        narrow: for a phone.
    """
    cells: dict[str, dict[str, list[float]]] = {}
    for row in list_rows(runs):
        if row["time_s"] is not None:
            of_workload = cells.setdefault(row["workload"], {})
            of_workload.setdefault(row["label"], []).append(row["time_s"])
    repeated = [
        (workload, label, times)
        for workload, of_workload in cells.items()
        for label, times in of_workload.items()
        if len(times) > 1
    ]
    if not repeated:
        return None
    widest = max(repeated, key=lambda cell: (_range(cell[2]), cell[:2]))
    title = (
        f"Repeats of a cell lie {format_percent(resolution)} apart in the typical cell, "
        f"{format_percent(_range(widest[2]))} in the widest ({widest[0]}, {widest[1]})"
    )
    width = NARROW if narrow else WIDE
    # A line for each workload's name, then its cells.
    lines: list[tuple[str, str, list[float]]] = []
    for workload, label, times in repeated:
        if not any(line[0] == workload for line in lines):
            lines.append((workload, "", []))
        lines.append((workload, label, times))
    row_height = 18
    note = "A ring is a run. Band: the resolution; closer than that, cells can't be told apart."
    canvas = Canvas(width, len(lines) * row_height + 38, title, note)
    left = max(text_width(label) for _, label, _ in lines) + 22
    axes = canvas.axes(left, 0, width - left - 14, len(lines) * row_height)
    axes.axvspan(1 - resolution / 2, 1 + resolution / 2, color=FAINT, linewidth=0, zorder=0)
    axes.axvline(1, color=RULE, linewidth=1, zorder=1)
    values: list[float] = []
    for position, (workload, label, times) in enumerate(lines):
        if not label:
            y = canvas.top + (position + 0.7) * row_height
            canvas.text(4, y, workload, FONT_PX, weight="bold")
            continue
        shares = [time / median(times) for time in times]
        values += shares
        axes.plot([min(shares), max(shares)], [position] * 2, color=GREY, linewidth=1, zorder=2)
        axes.plot(
            shares,
            [position] * len(shares),
            "o",
            markersize=6,
            markerfacecolor="none",
            markeredgecolor=INK,
            zorder=3,
            gid=mark("runs", workload, label),
        )
    margin = max(max(values) - min(values), resolution) * 0.05
    low = min(*values, 1 - resolution / 2) - margin
    axes.set_xlim(low, max(*values, 1 + resolution / 2) + margin)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    cell_lines = [i for i, line in enumerate(lines) if line[1]]
    set_ticks(axes.yaxis, cell_lines, [lines[i][1] for i in cell_lines])
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=5 if narrow else 8)
    axes.set_xlabel("run's time relative to its cell's median")
    alt = "; ".join(
        [f"{workload}, {label}: {format_percent(_range(times))}" for workload, label, times in
         repeated]
    )  # fmt: skip
    return canvas.finish(f"{title}. Slowest minus fastest over the median: {alt}.")


def _range(times: list[float]) -> float:
    return (max(times) - min(times)) / median(times)
