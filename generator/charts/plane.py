"""The start page's picture: time against cost, relative to the baseline, a panel a workload."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from generator.charts.placing import Box, Point, box_around, place_labels
from generator.charts.style import (
    FONT_PX,
    INK,
    LINE,
    MUTED,
    SMALL_PX,
    Canvas,
    Chart,
    behind_words,
    look_of,
    powers,
    set_powers,
    size_colours,
    text_width,
)
from generator.measures import list_rows
from generator.wording import format_ratio, join_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

_MARKER = 4.5
_SIZES = {"wide": (960, 4, 200), "narrow": (360, 2, 165), "single": (680, 1, 380)}

Rows = list[dict[str, Any]]


def time_against_cost(
    cells: pd.DataFrame,
    baseline: str,
    titles: Mapping[str, str],
    *,
    narrow: bool = False,
    name_all: bool = False,
) -> Chart | None:
    """Return small panels of all workloads; None where no cell has a cost ratio.

    Args:
        cells: labelled cells.
        baseline: the baseline in words.
        titles: a title for each workload.
        narrow: two columns, for a phone, instead of four.
        name_all: whether each cell is named, instead of those that nothing beats.
    """
    rows = [
        row
        for row in list_rows(cells)
        if row["time_ratio"] is not None and row["cost_ratio"] is not None
    ]
    if not rows:
        return None
    names = [name for name in titles if any(row["workload"] == name for row in rows)]
    single = len(names) == 1
    kind = "single" if single and not narrow else "narrow" if narrow else "wide"
    width, columns, panel_height = _SIZES[kind]
    if single and narrow:
        columns, panel_height = 1, 300
    left, right, head, foot = 38, 6, 0 if single else 20, 22
    count = -(-len(names) // columns)
    panel_width = (width - left - right) / columns - (14 if columns > 1 else 0)
    axis_words = (
        f"across: time relative to {baseline}, left is faster; "
        f"up: cost relative to {baseline}, down is cheaper"
    )
    legend = [*_wrap(axis_words, width), *_wrap(_legend(rows), width)]
    body = count * (panel_height + head + 8) + foot + 22
    canvas = Canvas(width, round(body + len(legend) * SMALL_PX * 1.45 + 6), _title(rows, baseline))
    xs = powers(*_ends(rows, "time_ratio", "ratio_low", "ratio_high"))
    ys = powers(*_ends(rows, "cost_ratio", "cost_low", "cost_high"))
    colours, pairs = size_colours(row["vcpus"] for row in rows if row["device"] == "CPU")
    for index, name in enumerate(names):
        column, line = index % columns, index // columns
        x = left + column * (panel_width + 14)
        y = line * (panel_height + head + 8) + head
        axes = canvas.axes(x, y, panel_width, panel_height)
        mine = [row for row in rows if row["workload"] == name]
        named = mine if name_all else [row for row in mine if row["unbeaten"]]
        _draw_panel(axes, mine, (xs, ys), colours)
        words = [row["short_label" if columns != 2 else "tiny_label"] for row in named]  # noqa: PLR2004
        _name(
            axes, list(zip(named, words, strict=True)), mine, (xs, ys), (panel_width, panel_height)
        )
        bottom = index + columns >= len(names)
        set_powers(axes.xaxis, xs, None if bottom else [""] * len(xs))
        set_powers(axes.yaxis, ys, None if column == 0 else [""] * len(ys))
        if not single:
            canvas.text(x, canvas.top + y - 6, titles[name], FONT_PX, weight="bold")
    words_y = canvas.top + body - 6
    for index, text in enumerate(legend):
        canvas.text(4, words_y + index * SMALL_PX * 1.45, text, SMALL_PX, MUTED)
    return canvas.finish(_alt(rows, names, titles, baseline, canvas.title), pairs)


def _wrap(text: str, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split(" "):
        if lines and text_width(f"{lines[-1]} {word}") <= width - 8:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _ends(rows: Rows, column: str, low: str, high: str) -> tuple[float, float]:
    values = [row[name] for row in rows for name in (column, low, high) if row[name] is not None]
    return min(*values, 1.0) / 1.15, max(*values, 1.0) * 1.15


def _draw_panel(
    axes: Axes,
    rows: Rows,
    ticks: tuple[list[float], list[float]],
    colours: dict[int, str],
) -> None:
    xs, ys = ticks
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlim(xs[0], xs[-1])
    axes.set_ylim(ys[0], ys[-1])
    for draw in (axes.axvline, axes.axhline):
        draw(1, color=MUTED, linewidth=0.9, dashes=(4, 3), zorder=1)
    front = _front(rows)
    axes.plot(
        [row["time_ratio"] for row in front],
        [row["cost_ratio"] for row in front],
        color=INK,
        linewidth=1.1,
        zorder=2,
    )
    for row in rows:
        _draw_point(axes, row, colours)


def _draw_point(axes: Axes, row: dict[str, Any], colours: dict[int, str]) -> None:
    look = look_of(row["build"])
    gpu = row["device"] == "GPU"
    colour = INK if gpu or row["is_baseline"] else colours[row["vcpus"]]
    x, y = row["time_ratio"], row["cost_ratio"]
    if row["ratio_low"] is not None:
        axes.plot([row["ratio_low"], row["ratio_high"]], [y, y], color=colour, linewidth=1)
    if row["cost_low"] is not None:
        axes.plot([x, x], [row["cost_low"], row["cost_high"]], color=colour, linewidth=1)
    axes.plot(
        [x],
        [y],
        marker="s" if gpu or row["is_baseline"] else look.marker,
        markersize=2 * _MARKER - 1,
        markerfacecolor=colour if gpu or look.filled or row["is_baseline"] else "none",
        markeredgecolor=colour,
        markeredgewidth=1.5,
        linestyle="none",
        zorder=4,
        clip_on=False,
    )


def _name(
    axes: Axes,
    named: list[tuple[dict[str, Any], str]],
    rows: Rows,
    ticks: tuple[list[float], list[float]],
    size: tuple[float, float],
) -> None:
    def place(row: dict[str, Any]) -> Point:
        return tuple(  # type: ignore[return-value]
            extent
            * (math.log2(value) - math.log2(ends[0]))
            / (math.log2(ends[-1]) - math.log2(ends[0]))
            for value, ends, extent in zip(
                (row["time_ratio"], row["cost_ratio"]), ticks, size, strict=True
            )
        )

    height = SMALL_PX * LINE
    boxes = place_labels(
        [(place(row), text_width(words), height) for row, words in named],
        [box_around(place(row), _MARKER + 1) for row in rows],
        [
            [place(row) for row in _front(rows)],
            *_dashes(place({"time_ratio": 1, "cost_ratio": 1}), size),
        ],
        Box(0, 0, *size),
    )
    for (_, words), box in zip(named, boxes, strict=True):
        axes.annotate(
            words,
            ((box.left + box.right) / 2, (box.bottom + box.top) / 2),
            xycoords="axes pixels",
            ha="center",
            va="center_baseline",
            fontsize=SMALL_PX,
            color=INK,
            bbox=behind_words(0.5),
            zorder=3,
            annotation_clip=False,
        )


def _front(rows: Rows) -> Rows:
    """Return the cells that nothing beats, fastest first."""
    return sorted((row for row in rows if row["unbeaten"]), key=lambda row: row["time_ratio"])


def _dashes(one: Point, size: tuple[float, float]) -> list[list[Point]]:
    """Return the two lines through the baseline, in pixels."""
    return [[(one[0], 0), (one[0], size[1])], [(0, one[1]), (size[0], one[1])]]


def _legend(rows: Rows) -> str:
    looks = {look_of(row["build"]).words: None for row in rows if row["device"] == "CPU"}
    parts = ["numbers: vCPUs" if any("vCPU" in row["label"] for row in rows) else ""]
    if any(row["device"] == "GPU" for row in rows):
        parts.append("square: the GPU")
    else:
        parts.append("square: the baseline")
    parts += sorted(looks)
    parts.append("joined: cells that nothing beats on both")
    return "; ".join(part for part in parts if part) + "."


def _title(rows: Rows, baseline: str) -> str:
    cheapest: dict[str, dict[str, Any]] = {}
    for row in rows:
        best = cheapest.get(row["workload"])
        if best is None or row["cost_ratio"] < best["cost_ratio"]:
            cheapest[row["workload"]] = row
    labels = {row["label"] for row in cheapest.values()}
    ratios = sorted(row["cost_ratio"] for row in cheapest.values())
    if len(labels) == 1:
        scope = f" for all {len(ratios)} workloads" if len(ratios) > 1 else ""
        who = f"{labels.pop()}: cheapest{scope}"
    else:
        who = "The cheapest cells cost"
    span = format_ratio(ratios[0])
    if len(ratios) > 1:
        span = f"{span.removesuffix(' ×')} to {format_ratio(ratios[-1])}"
    joint = ", at" if len(labels) == 0 else ""
    return f"{who}{joint} {span} the cost of {baseline}"


def _alt(rows: Rows, names: list[str], titles: Mapping[str, str], baseline: str, title: str) -> str:
    parts = []
    for name in names:
        front = _front([row for row in rows if row["workload"] == name])
        cells = join_words(
            [
                f"{row['label']} (time {format_ratio(row['time_ratio'])}, "
                f"cost {format_ratio(row['cost_ratio'])})"
                for row in front
            ]
        )
        parts.append(f"{titles[name]}: {cells}")
    start = f"{title}. Time against cost relative to {baseline}; cells that nothing beats on both. "
    return start + "; ".join(parts) + "."
