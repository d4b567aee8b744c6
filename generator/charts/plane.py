"""The start page's picture: time against cost, relative to the baseline, a panel a workload."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.charts.legend import MARKER, Sample, draw_legend, draw_marker, lay_out
from generator.charts.notes import named, note_of, verb
from generator.charts.palette import INK, MUTED, look_of, size_colours
from generator.charts.placing import LEADER_FROM, Box, Label, Point, place_labels
from generator.charts.style import (
    FONT_PX,
    LINE,
    SMALL_PX,
    Canvas,
    Chart,
    behind_words,
    capital,
    mark,
    powers,
    set_ticks,
    styled,
    text_width,
    thin,
)
from generator.measures import list_rows
from generator.wording import format_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

# Width of the picture, columns, height of a panel, in pixels.
_SIZES = {
    "wide": (960, 4, 210),
    "narrow": (360, 2, 170),
    "single": (680, 1, 360),
    "single narrow": (360, 1, 320),
}
_LEFT, _RIGHT, _GUTTER, _TICKS, _AXIS = 56, 8, 20, 20, 14
_TITLE_LINE = round(FONT_PX * 1.2)

Row = dict[str, Any]


@dataclass(frozen=True)
class _Scale:
    """A logarithmic axis: its ends, and its ticks at powers of 2."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Return where a value lies between the ends, from 0 to 1."""
        low = math.log2(self.low)
        return (math.log2(value) - low) / (math.log2(self.high) - low)


@styled
def time_against_cost(
    cells: pd.DataFrame,
    baseline: str,
    titles: Mapping[str, str],
    *,
    resolution: float | None = None,
    narrow: bool = False,
    name_all: bool = False,
) -> Chart | None:
    """Return small panels of all workloads; None where no cell has a cost ratio.

    Args:
        cells: labelled cells.
        baseline: the baseline in words.
        titles: a title for each workload, in the order of the panels.
        resolution: the campaign's, as a share; for the note.
        narrow: two columns, for a phone, instead of four.
        name_all: whether each cell is named, instead of those that nothing beats.
    """
    rows = [
        row
        for row in list_rows(cells)
        if row["time_ratio"] is not None and row["cost_ratio"] is not None
    ]
    names = [name for name in titles if any(row["workload"] == name for row in rows)]
    rows = [row for row in rows if row["workload"] in names]
    if not rows:
        return None
    single = len(names) == 1
    kind = f"single{' narrow' if narrow else ''}" if single else "narrow" if narrow else "wide"
    width, columns, height = _SIZES[kind]
    lines = -(-len(names) // columns)
    panel = (width - _LEFT - _RIGHT - (columns - 1) * _GUTTER) / columns
    heads = {} if single else _heads(names, titles, panel)
    head = max((len(head) for head in heads.values()), default=0) * _TITLE_LINE + (not single) * 8
    line_height = height + head + 10
    body = lines * line_height + _TICKS + _AXIS
    colours, pairs = size_colours(row["vcpus"] for row in rows if not _is_square(row))
    samples = _samples(rows, colours, baseline)
    # The empty panel has room for the legend; where there is none, it goes below.
    empty = lines * columns - len(names)
    room = panel if kind == "wide" and empty else width - 8
    places, legend_height = lay_out(samples, room)
    below = not (kind == "wide" and empty and legend_height <= height)
    if below:
        places, legend_height = lay_out(samples, width - 8)
    canvas = Canvas(
        width,
        round(body + (legend_height + 8 if below else 0)),
        _title(rows, names, baseline),
        note_of(rows, resolution),
    )
    scales = (
        _scale([row[name] for row in rows for name in ("time_ratio", "ratio_low", "ratio_high")]),
        _scale([row[name] for row in rows for name in ("cost_ratio", "cost_low", "cost_high")]),
    )
    for index, name in enumerate(names):
        column, line = index % columns, index // columns
        x, y = _LEFT + column * (panel + _GUTTER), line * line_height + head
        axes = canvas.axes(x, y, panel, height)
        mine = [row for row in rows if row["workload"] == name]
        _draw_panel(axes, mine, scales, colours)
        words = {
            row["row"]: _name_of(row, tiny=columns == 2)  # noqa: PLR2004
            for row in mine
            if name_all or row["unbeaten"]
        }
        bottom, side = index + columns >= len(names), column == 0
        _name(axes, mine, words, scales, (panel, height), -2 if side else 6)
        ticks = thin(list(scales[0].ticks), int(panel / 26), always=1.0)
        set_ticks(axes.xaxis, ticks, None if bottom else [""] * len(ticks))
        ticks = list(scales[1].ticks)
        set_ticks(axes.yaxis, ticks, None if side else [""] * len(ticks))
        for nth, text in enumerate(reversed(heads.get(name, []))):
            canvas.text(x, canvas.top + y - 7 - nth * _TITLE_LINE, text, FONT_PX, weight="bold")
    _write_axes(canvas, (width, body), baseline, narrow=narrow)
    if below:
        paper = canvas.paper(4, body + 6, width - 8, legend_height)
    else:
        x = _LEFT + (columns - empty) * (panel + _GUTTER)
        paper = canvas.paper(x, (lines - 1) * line_height + head + 12, panel, legend_height)
    draw_legend(paper, places)
    return canvas.finish(_alt(rows, names, titles, baseline, canvas.title), pairs)


def _heads(names: list[str], titles: Mapping[str, str], width: float) -> dict[str, list[str]]:
    """Return each panel's title in lines that fit; names are broken behind an underscore."""
    heads = {}
    for name in names:
        lines = [""]
        for part in re.split(r"(?<=[_ -])", titles[name]):
            if lines[-1] and text_width(lines[-1] + part, FONT_PX, bold=True) > width:
                lines.append("")
            lines[-1] += part
        heads[name] = lines
    return heads


def _is_square(row: Row) -> bool:
    """Return whether a cell is drawn as the dark square: a GPU's, or the baseline."""
    return row["device"] == "GPU" or bool(row["is_baseline"])


def _name_of(row: Row, *, tiny: bool) -> str:
    words = str((row.get("tiny_label") if tiny else None) or row["short_label"])
    return f"≈ {words}" if row["no_difference"] and not row["is_baseline"] else words


def _scale(values: list[float | None]) -> _Scale:
    """Return an axis that holds all values and 1, with room at its ends for markers."""
    known = [1.0, *(value for value in values if value)]
    span = math.log2(max(known)) - math.log2(min(known))
    margin = 2 ** max(0.3, span * 0.1)
    low, high = min(known) / margin, max(known) * margin
    ticks = [tick for tick in powers(low, high) if low <= tick <= high]
    return _Scale(low, high, tuple(thin(ticks, 9, always=1.0)))


def _write_axes(canvas: Canvas, size: tuple[float, float], baseline: str, *, narrow: bool) -> None:
    width, body = size
    type_size = SMALL_PX if narrow else FONT_PX
    across = f"time relative to {baseline}: left is faster"
    if text_width(across, type_size) > width - 8:
        across = "relative time: left is faster"
    canvas.caption((_LEFT + width - _RIGHT) / 2, canvas.top + body - 5, [across], type_size)
    up = f"cost relative to {baseline}: down is cheaper"
    panels = body - _TICKS - _AXIS
    if text_width(up, type_size) > panels:
        up = "relative cost: down is cheaper"
    middle = canvas.top + panels / 2
    canvas.text(13, middle, up, type_size, MUTED, rotation=90, ha="center", va="center")


def _draw_panel(
    axes: Axes, rows: list[Row], scales: tuple[_Scale, _Scale], colours: dict[int, str]
) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlim(scales[0].low, scales[0].high)
    axes.set_ylim(scales[1].low, scales[1].high)
    for draw in (axes.axvline, axes.axhline):
        draw(1, color=MUTED, linewidth=0.9, dashes=(4, 3), zorder=1)
    front = _front(rows)
    if len(front) > 1:
        axes.plot(
            [row["time_ratio"] for row in front],
            [row["cost_ratio"] for row in front],
            color=INK,
            linewidth=1.1,
            zorder=2,
            gid=mark("front", front[0]["workload"]),
        )
    for row in rows:
        look = look_of(row["build"])
        square = _is_square(row)
        colour = INK if square else colours[row["vcpus"]]
        x, y = row["time_ratio"], row["cost_ratio"]
        if row["ratio_low"] is not None:
            axes.plot([row["ratio_low"], row["ratio_high"]], [y, y], color=colour, linewidth=1.2)
        if row["cost_low"] is not None:
            axes.plot([x, x], [row["cost_low"], row["cost_high"]], color=colour, linewidth=1.2)
        marker = "s" if square else look.marker
        draw_marker(axes, (x, y), marker, colour, filled=square or look.filled)


def _name(
    axes: Axes,
    rows: list[Row],
    words: dict[int, str],
    scales: tuple[_Scale, _Scale],
    size: tuple[float, float],
    gutter: float,
) -> None:
    def place(time: float, cost: float) -> Point:
        return scales[0].share(time) * size[0], scales[1].share(cost) * size[1]

    points = {row["row"]: place(row["time_ratio"], row["cost_ratio"]) for row in rows}
    lines = [([points[row["row"]] for row in _front(rows)], 12.0)]
    one = place(1, 1)
    lines += [([(one[0], 0), (one[0], size[1])], 4.0), ([(0, one[1]), (size[0], one[1])], 7.0)]
    for row in rows:
        if row["ratio_low"] is not None:
            y = row["cost_ratio"]
            lines.append(([place(row["ratio_low"], y), place(row["ratio_high"], y)], 9.0))
        if row["cost_low"] is not None:
            x = row["time_ratio"]
            lines.append(([place(x, row["cost_low"]), place(x, row["cost_high"])], 9.0))
    labels = [
        Label((points[row],), text_width(text) + 4, SMALL_PX * LINE) for row, text in words.items()
    ]
    # Words may stand in the gutter, where no other panel writes.
    frame = Box(-gutter, 1, size[0] + 6, size[1] + 2)
    boxes = place_labels(labels, [(point, MARKER + 1) for point in points.values()], lines, frame)
    for (label, text), box in zip(words.items(), boxes, strict=True):
        if box is None:
            continue
        x, y = points[label]
        own = box.distance((x, y))
        if own >= LEADER_FROM or any(box.distance(point) < own for point in points.values()):
            near = (min(max(x, box.left), box.right), min(max(y, box.bottom), box.top))
            axes.plot(
                [x / size[0], near[0] / size[0]],
                [y / size[1], near[1] / size[1]],
                transform=axes.transAxes,
                color=MUTED,
                linewidth=0.7,
                zorder=1.5,
            )
        axes.annotate(
            text,
            box.middle,
            xycoords="axes pixels",
            ha="center",
            va="center_baseline",
            fontsize=SMALL_PX,
            color=INK,
            bbox=behind_words(0),
            zorder=3,
            annotation_clip=False,
        )


def _front(rows: list[Row]) -> list[Row]:
    """Return the cells that nothing beats, fastest first."""
    return sorted((row for row in rows if row["unbeaten"]), key=lambda row: row["time_ratio"])


def _samples(rows: list[Row], colours: dict[int, str], baseline: str) -> list[Sample]:
    square = baseline if any(row["is_baseline"] for row in rows) else "GPU"
    samples = [Sample(f"{square}: the baseline", "marker", marker="s")]
    for size, colour in sorted(colours.items()):
        words = "1 vCPU" if size == 1 else f"{size} vCPUs" if size else "size unknown"
        samples.append(Sample(words, "marker", colour=colour))
    looks = {look_of(row["build"]).words: look_of(row["build"]) for row in rows
             if not _is_square(row)}  # fmt: skip
    samples += [
        Sample(words.split(": ", 1)[-1], "marker", look.marker, MUTED, look.filled)
        for words, look in sorted(looks.items())
    ]
    samples.append(Sample("nothing beats these on both", "line"))
    if any(row["ratio_low"] is not None for row in rows):
        samples.append(Sample("95 % intervals", "cross", colour=MUTED))
    if any(row["no_difference"] for row in rows):
        samples.append(Sample(f"≈: time not measurably different from {baseline}"))
    return samples


def _title(rows: list[Row], names: list[str], baseline: str) -> str:
    groups = [[row for row in rows if row["workload"] == name] for name in names]
    cheapest = [min(group, key=lambda row: (row["cost_ratio"], row["label"])) for group in groups]
    label, count = Counter(row["label"] for row in cheapest).most_common(1)[0]
    ratios = sorted(row["cost_ratio"] for row in cheapest if row["label"] == label)
    if len(names) == 1:
        best = cheapest[0]
        if best["is_baseline"]:
            return f"No cell costs less than {baseline}"
        costs, takes = verb(label, "costs", "cost"), verb(label, "takes", "take")
        return (
            f"{capital(named(label))} {costs} {format_ratio(best['cost_ratio'])} {baseline} "
            f"and {takes} {format_ratio(best['time_ratio'])} as long"
        )
    of_all = f"all {count} workloads" if count == len(names) else f"{count} of {len(names)}"
    words = f"{capital(named(label))} {verb(label, 'is', 'are')} cheapest for {of_all}"
    if ratios[0] != 1:
        span = format_ratio(ratios[0])
        if len(ratios) > 1:
            span = f"{span.removesuffix(' ×')} to {format_ratio(ratios[-1])}"
        words += f", at {span} the cost of {baseline}"
    fastest = [min(group, key=lambda row: (row["time_ratio"], row["label"])) for group in groups]
    count = sum(bool(row["is_baseline"] or row["no_difference"]) for row in fastest)
    if not count or ratios[0] == 1:
        return words
    some = "all" if count == len(names) else str(count)
    if any(row["no_difference"] for row in fastest):
        return f"{words}; nothing is measurably faster than {baseline} for {some}"
    return f"{words}; {named(baseline)} {verb(baseline, 'is', 'are')} fastest for {some}"


def _alt(
    rows: list[Row], names: list[str], titles: Mapping[str, str], baseline: str, title: str
) -> str:
    parts = []
    for name in names:
        mine = [row for row in rows if row["workload"] == name]
        shown = mine if len(names) == 1 else _front(mine)
        cells = "; ".join(
            [
                f"{row['label']} (time {format_ratio(row['time_ratio'])}, "
                f"cost {format_ratio(row['cost_ratio'])})"
                for row in shown
            ]
        )
        parts.append(f"{titles[name]}: {cells}")
    which = "" if len(names) == 1 else "; the cells that nothing beats on both"
    return f"{title}. Time against cost relative to {baseline}{which}. {'. '.join(parts)}."
