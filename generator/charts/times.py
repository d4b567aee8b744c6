"""Times of all workloads at a glance, relative to the baseline: for campaigns without prices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from generator.charts.legend import Sample, draw_legend, draw_marker, lay_out
from generator.charts.notes import named, note_of, verb
from generator.charts.palette import FAINT, INK, MUTED, look_of, size_colours
from generator.charts.style import (
    FONT_PX,
    Canvas,
    Chart,
    capital,
    powers,
    set_ticks,
    styled,
    text_width,
    thin,
)
from generator.measures import list_rows
from generator.wording import format_interval, format_ratio

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Row = dict[str, Any]

_WIDE, _NARROW = 680, 360
_LINE, _FOOT = 15, 44


@styled
def relative_times(
    cells: pd.DataFrame, baseline: str, resolution: float | None, *, narrow: bool = False
) -> Chart | None:
    """Return each cell's time ratio as a point, a band a workload; None where none has one.

    Args:
        cells: labelled cells, in the order that they are drawn in.
        baseline: the baseline in words.
        resolution: the campaign's, as a share; a ratio within it is drawn in a grey band.
        narrow: for a phone.
    """
    rows = [row for row in list_rows(cells) if row["time_ratio"] is not None]
    others = [row for row in rows if not row["is_baseline"]]
    if not others:
        return None
    names = sorted({row["workload"] for row in others})
    width = _NARROW if narrow else _WIDE
    colours, pairs = size_colours(row["vcpus"] for row in others)
    places, legend_height = lay_out(_samples(others, colours, baseline, resolution), width - 8)
    groups = [[row for row in rows if row["workload"] == name] for name in names]
    # On a phone a workload's name stands above its points.
    head = 1 if narrow else 0
    heights = [(len(group) + head) * _LINE + 8 for group in groups]
    left = 8 if narrow else round(max(text_width(name, FONT_PX) for name in names) + 12)
    body = sum(heights)
    canvas = Canvas(
        width, round(body + _FOOT + legend_height), _title(rows, names, baseline), note_of(rows)
    )
    extent = width - left - 12
    axes = canvas.axes(left, 0, extent, body)
    ends = [row[name] for row in rows for name in ("time_ratio", "ratio_low", "ratio_high")]
    known = [1.0, *(value for value in ends if value)]
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(known) / 1.15, max(known) * 1.15)
    axes.set_ylim(body, 0)
    axes.spines["left"].set_visible(False)
    if resolution is not None:
        axes.axvspan(1 / (1 + resolution), 1 + resolution, color=FAINT, linewidth=0, zorder=0)
    axes.axvline(1, color=INK, linewidth=1, dashes=(4, 3), zorder=1, gid="baseline")
    top = 0.0
    for name, group, height in zip(names, groups, heights, strict=True):
        axes.axhline(top + height, color=FAINT, linewidth=0.8, zorder=0)
        y = canvas.top + top + (_LINE if narrow else height / 2 + 4)
        canvas.text(4, y, name, FONT_PX)
        for position, row in enumerate(group, start=head):
            _draw_row(axes, top + 4 + (position + 0.5) * _LINE, row, colours)
        top += height
    ticks = [tick for tick in powers(*axes.get_xlim()) if _is_inside(tick, axes.get_xlim())]
    set_ticks(axes.xaxis, thin(ticks, max(2, int(extent / 34)), always=1.0))
    set_ticks(axes.yaxis, [])
    caption = f"time relative to {baseline}: left is faster"
    canvas.caption(left + extent / 2, canvas.top + body + 32, [caption])
    draw_legend(canvas.paper(4, body + _FOOT - 4, width - 8, legend_height), places)
    return canvas.finish(_alt(groups, names, canvas.title), pairs)


def _is_inside(tick: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= tick <= limits[1]


def _draw_row(axes: Axes, y: float, row: Row, colours: dict[int, str]) -> None:
    base = bool(row["is_baseline"])
    look = look_of(row["build"])
    colour = INK if base else colours[row["vcpus"]]
    if row["ratio_low"] is not None:
        axes.plot([row["ratio_low"], row["ratio_high"]], [y, y], color=colour, linewidth=1.4)
    marker = "s" if base else look.marker
    draw_marker(axes, (row["time_ratio"], y), marker, colour, filled=base or look.filled)


def _samples(
    rows: list[Row], colours: dict[int, str], baseline: str, resolution: float | None
) -> list[Sample]:
    samples = [Sample(f"{baseline}: the baseline", "marker", marker="s")]
    for size, build in sorted({(row["vcpus"], row["build"]) for row in rows}):
        look = look_of(build)
        words = f"1 vCPU, {build}" if size == 1 else f"{size} vCPUs, {build}"
        samples.append(Sample(words, "marker", look.marker, colours[size], look.filled))
    if any(row["ratio_low"] is not None for row in rows):
        samples.append(Sample("95 % interval", "line", colour=MUTED))
    if resolution is not None:
        samples.append(Sample("grey band: within it, no measurable difference"))
    return samples


def _title(rows: list[Row], names: list[str], baseline: str) -> str:
    faster = [
        row
        for row in rows
        if not row["is_baseline"] and not row["no_difference"] and row["time_ratio"] < 1
    ]
    if not faster:
        return f"No cell is measurably faster than {baseline}"
    counts = Counter(row["label"] for row in faster)
    label = min(counts, key=lambda name: (-counts[name], name))
    ratios = sorted(row["time_ratio"] for row in faster if row["label"] == label)
    span = format_ratio(ratios[0])
    if len(ratios) > 1:
        span = f"{span.removesuffix(' ×')} to {format_ratio(ratios[-1])}"
    scope = f"for {counts[label]} of {len(names)} workloads"
    return (
        f"{capital(named(label))} {verb(label, 'is', 'are')} measurably faster than {baseline} "
        f"{scope}, at {span} the time"
    )


def _alt(groups: list[list[Row]], names: list[str], title: str) -> str:
    parts = []
    for name, group in zip(names, groups, strict=True):
        cells = []
        for row in group:
            words = f"{row['label']} {format_ratio(row['time_ratio'])}"
            if row["ratio_low"] is not None:
                words += f" ({format_interval(row['ratio_low'], row['ratio_high'])})"
            cells.append(words)
        parts.append(f"{name}: {'; '.join(cells)}")
    return f"{title}. {'. '.join(parts)}."
