"""Lines: how time scales with vCPUs, and how accuracy grows with time and with cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl

from generator.charts.notes import named, note_of, verb
from generator.charts.palette import INK, MUTED, RULE, look_of, size_colours
from generator.charts.placing import LEADER_FROM, Box, Label, Point, place_labels
from generator.charts.style import (
    LINE,
    SMALL_PX,
    Canvas,
    Chart,
    behind_words,
    capital,
    doublings,
    mark,
    powers,
    set_ticks,
    styled,
    text_width,
    thin,
)
from generator.measures import list_rows
from generator.wording import format_ratio, format_seconds, format_usd, join_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

_WIDE, _NARROW, _HEIGHT, _FOOT = 680, 360, 250, 42
# Fewer epochs than this are no curve.
_CURVE = 3

Row = dict[str, Any]
Key = tuple[str, str]
Curve = list[Point]


@styled
def scaling(
    cells: pd.DataFrame, *, resolution: float | None = None, narrow: bool = False
) -> Chart | None:
    """Return a workload's time against vCPUs by build; None with fewer than two sizes.

    The dashed line is the ideal: twice the vCPUs, half the time, from the smallest size of
    the build that is fastest there.

    Args:
        cells: labelled cells of one workload.
        resolution: the campaign's, as a share; for the note.
        narrow: for a phone.
    """
    rows = [row for row in list_rows(cells) if row["time_s"] is not None]
    gpus = [row for row in rows if row["device"] == "GPU"]
    builds = _by_size(rows)
    if all(len(sizes) <= 1 for sizes in builds.values()):
        return None
    width = _NARROW if narrow else _WIDE
    canvas = Canvas(width, _HEIGHT + _FOOT, _scaling_title(builds), note_of(rows, resolution))
    every = sorted({size for sizes in builds.values() for size in sizes})
    first = min(sizes[every[0]]["time_s"] for sizes in builds.values() if every[0] in sizes)
    ideal = [first * every[0] / size for size in every]
    values = [row[name] for row in rows for name in ("time_s", "time_low", "time_high")]
    known = [value for value in values if value is not None]
    ticks = powers(min(*known, *ideal) / 1.05, max(known) * 1.05)
    room = max(text_width(words) for words in (*builds, "ideal", "GPU")) + 22
    axes = canvas.axes(62, 4, width - 62 - room, _HEIGHT)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlim(every[0] / 1.12, every[-1] * 1.12)
    axes.set_ylim(ticks[0], ticks[-1])
    axes.plot(every, ideal, color=MUTED, linewidth=1, dashes=(4, 3), gid="ideal")
    ends = [(ideal[-1], "ideal", MUTED)]
    for row in gpus:
        axes.axhline(row["time_s"], color=MUTED, linewidth=1.2)
        ends.append((row["time_s"], row["short_label"], INK))
    colours, pairs = size_colours(every)
    # Side by side where intervals would lie on each other.
    beside = 0.07 if any((row["runs"] or 0) > 1 for row in rows) else 0.0
    for index, (build, sizes) in enumerate(builds.items()):
        shift = 2 ** ((index - (len(builds) - 1) / 2) * beside)
        line = [(size * shift, row) for size, row in sorted(sizes.items())]
        times = [row["time_s"] for _, row in line]
        axes.plot([size for size, _ in line], times, color=INK, linewidth=1.1, zorder=2)
        for size, row in line:
            _draw_time(axes, size, row, colours[row["vcpus"]])
        ends.append((times[-1], build, INK))
    _name_ends(axes, ends, (ticks[0], ticks[-1]))
    shown = thin([float(size) for size in every], 12)
    set_ticks(axes.xaxis, shown, [f"{size:g}" for size in shown])
    shown = thin(ticks, 8)
    set_ticks(axes.yaxis, shown, [f"{tick:,g}" for tick in shown])
    axes.set_xlabel("vCPUs")
    axes.set_ylabel("total time in seconds: lower is faster")
    table = "; ".join([f"{row['label']}: {format_seconds(row['time_s'])} s" for row in rows])
    return canvas.finish(f"{canvas.title}. Total time: {table}.", pairs)


def _by_size(rows: list[Row]) -> dict[str, dict[int, Row]]:
    """Return each build's cells by size, smallest first; of one size the fastest cell."""
    builds: dict[str, dict[int, Row]] = {}
    known = [row for row in rows if row["device"] == "CPU" and row["vcpus"]]
    for row in sorted(known, key=lambda row: (row["build"], row["vcpus"], row["time_s"])):
        builds.setdefault(row["build"], {}).setdefault(row["vcpus"], row)
    return builds


def _scaling_title(builds: Mapping[str, Mapping[int, Row]]) -> str:
    spans = {build: (min(sizes), max(sizes)) for build, sizes in builds.items()}
    low, high = max(spans.values(), key=lambda span: (span[1] / span[0], span))
    gains = {
        build: builds[build][low]["time_s"] / builds[build][high]["time_s"]
        for build, span in spans.items()
        if span == (low, high)
    }
    words = [
        f"{build} {'is' if not index else ''} {format_ratio(gain)}".replace("  ", " ")
        for index, (build, gain) in enumerate(sorted(gains.items()))
    ]
    words[0] += " as fast"
    ideal = format_ratio(high / low).replace(".00", "")
    return f"From {low} to {high} vCPUs {join_words(words)}; ideal is {ideal}"


def _draw_time(axes: Axes, size: float, row: Row, colour: str) -> None:
    look = look_of(row["build"])
    if row["time_low"] is not None and row["runs"] > 1:
        ends = [row["time_low"], row["time_high"]]
        axes.plot(
            [size, size],
            ends,
            color=colour,
            linewidth=1.4,
            zorder=3,
            gid=mark("interval", row["label"]),
        )
    axes.plot(
        [size],
        [row["time_s"]],
        marker=look.marker,
        markersize=8,
        markerfacecolor=colour if look.filled else "none",
        markeredgecolor=colour,
        markeredgewidth=1.5,
        linestyle="none",
        zorder=4,
    )


def _name_ends(axes: Axes, ends: list[tuple[float, str, str]], limits: tuple[float, float]) -> None:
    """Name lines at their right ends, apart from each other where they end close together."""
    low, high = map(math.log2, limits)
    wanted = sorted(
        ((math.log2(value) - low) / (high - low) * _HEIGHT, words, colour)
        for value, words, colour in ends
    )
    shown = spread_apart([at for at, _, _ in wanted], SMALL_PX * 1.25)
    for (_, words, colour), y in zip(wanted, shown, strict=True):
        axes.annotate(
            words,
            (1, y / _HEIGHT),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=SMALL_PX,
            color=colour,
        )


def spread_apart(places: list[float], gap: float) -> list[float]:
    """Return sorted places moved as little as is needed to lie at least a gap apart."""
    groups: list[list[float]] = []
    for place in places:
        # A group is its middle and how many places it holds.
        groups.append([place, 1])
        while len(groups) > 1:
            (below, count), (above, more) = groups[-2:]
            if above - below >= gap * (count + more) / 2:
                break
            middle = (below * count + above * more) / (count + more)
            groups[-2:] = [[middle, count + more]]
    return [
        middle + (index - (count - 1) / 2) * gap
        for middle, count in groups
        for index in range(int(count))
    ]


@styled
def accuracy_curves(
    cells: pd.DataFrame,
    epochs: pd.DataFrame,
    against: Literal["time", "cost"],
    *,
    narrow: bool = False,
) -> Chart | None:
    """Return validation accuracy against time or cost; None where no log has it.

    The baseline, the fastest and the cheapest cell are drawn strong and named; the rest faint.
    Synthetic data have no accuracy worth showing.

    Args:
        cells: labelled cells of one workload.
        epochs: its rows of the epoch table.
        against: time or cost.
        narrow: for a phone.
    """
    rows = {
        (row["build"], row["instance"]): row
        for row in list_rows(cells)
        if row["time_s"] is not None
        and not row["synthetic"]
        and (against == "time" or row["usd_per_hour"] is not None)
    }
    curves = _curves(rows, epochs, against)
    if not curves:
        return None
    reached = min(max(accuracy for _, accuracy in points) for points in curves.values())
    first = {key: next(x for x, acc in points if acc >= reached) for key, points in curves.items()}
    show = _show_seconds if against == "time" else format_usd
    best = min(first, key=lambda key: (first[key], key))
    strong = list(dict.fromkeys([*_strong(rows, curves), best]))
    label = rows[best]["label"]
    title = (
        f"{capital(named(label))} {verb(label, 'is', 'are')} "
        f"{'first' if against == 'time' else 'cheapest'} to {_percent(reached)} validation "
        f"accuracy, which all {len(curves)} cells reach: {show(first[best])}"
    )
    width = _NARROW if narrow else _WIDE
    several = any((rows[key]["runs"] or 0) > 1 for key in curves)
    note = "One run a cell." if not several else "The first run of each cell."
    canvas = Canvas(
        width, _HEIGHT + _FOOT, title, f"{note} Named: baseline, fastest, cheapest and first cell."
    )
    size = (width - 62 - 16, _HEIGHT)
    axes = canvas.axes(62, 4, *size)
    xs = [x for points in curves.values() for x, _ in points]
    ys = [y for points in curves.values() for _, y in points]
    limits = (min(xs) / 1.1, max(xs) * 1.1), (min(ys) - _margin(ys), max(ys) + _margin(ys))
    axes.set_xscale("log", base=2)
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.axhline(reached, color=MUTED, linewidth=0.9, dashes=(4, 3), zorder=1)
    colours, pairs = size_colours(row["vcpus"] for row in rows.values() if row["device"] == "CPU")
    for key, points in sorted(curves.items()):
        row = rows[key]
        colour = INK if row["device"] == "GPU" else colours[row["vcpus"]]
        filled = look_of(row["build"]).filled or row["device"] == "GPU"
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=colour if key in strong else RULE,
            linewidth=2 if key in strong else 0.9,
            linestyle="-" if filled else (0, (3, 1.5)),
            zorder=3 if key in strong else 2,
        )
    _name_curves(axes, {rows[key]["label"]: curves[key] for key in strong}, limits, size)
    ticks = doublings(*limits[0])
    words = [_trim(show(tick)) for tick in ticks]
    step = len(thin(ticks, max(1, int(size[0] / (max(map(text_width, words)) + 12)))))
    stride = -(-len(ticks) // step)
    set_ticks(axes.xaxis, ticks[::stride], words[::stride])
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(6))
    axes.yaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: _percent(value, 4)))
    across = "time of training: left is sooner" if against == "time" else "cost: left is cheaper"
    axes.set_xlabel(across)
    axes.set_ylabel("validation accuracy")
    table = "; ".join([f"{rows[key]['label']}: {show(x)}" for key, x in sorted(first.items())])
    return canvas.finish(f"{title}. To reach it: {table}.", pairs)


def _show_seconds(value: float) -> str:
    return f"{format_seconds(value)} s"


def _percent(share: float, digits: int = 0) -> str:
    figure = f"{100 * share:.{digits}g}" if digits else f"{100 * share:.1f}"
    return f"{figure} %"


def _trim(words: str) -> str:
    """Return a figure without zeros behind its point: $0.00200 is $0.002, 40.0 s is 40 s."""
    figure, space, unit = words.partition(" ")
    return (figure.rstrip("0").rstrip(".") if "." in figure else figure) + space + unit


def _margin(values: list[float]) -> float:
    return max((max(values) - min(values)) * 0.06, 1e-3)


def _name_curves(
    axes: Axes,
    curves: Mapping[str, Curve],
    limits: tuple[tuple[float, float], tuple[float, float]],
    size: tuple[float, float],
) -> None:
    """Name curves beside them, where there is room."""
    (left, right), (bottom, top) = limits

    def place(x: float, y: float) -> Point:
        across = math.log2(x / left) / math.log2(right / left)
        return across * size[0], (y - bottom) / (top - bottom) * size[1]

    points = {words: tuple(place(x, y) for x, y in curve) for words, curve in curves.items()}
    labels = [Label(at, text_width(words) + 4, SMALL_PX * LINE) for words, at in points.items()]
    markers = [(point, 2.0) for at in points.values() for point in at]
    boxes = place_labels(
        labels,
        markers,
        [(at, 60.0) for at in points.values()],
        Box(2, 2, size[0] + 10, size[1]),
    )
    for (words, at), box in zip(points.items(), boxes, strict=True):
        if box is None:
            continue
        near = min(at, key=box.distance)
        if box.distance(near) >= LEADER_FROM:
            x = min(max(near[0], box.left), box.right)
            y = min(max(near[1], box.bottom), box.top)
            axes.plot(
                [near[0] / size[0], x / size[0]],
                [near[1] / size[1], y / size[1]],
                transform=axes.transAxes,
                color=MUTED,
                linewidth=0.7,
            )
        axes.annotate(
            words,
            box.middle,
            xycoords="axes pixels",
            ha="center",
            va="center_baseline",
            fontsize=SMALL_PX,
            color=INK,
            bbox=behind_words(0),
            zorder=5,
            annotation_clip=False,
        )


def _curves(rows: Mapping[Key, Row], epochs: pd.DataFrame, against: str) -> dict[Key, Curve]:
    """Return each cell's accuracy against time or cost, of its first run that has it all."""
    curves: dict[Key, Curve] = {}
    for (build, instance, _), run in epochs.groupby(["build", "instance", "run_id"], sort=True):
        key = (str(build), str(instance))
        timed = run[~run["warmup"].astype(bool)]
        known = timed["val_acc"].notna().all() and len(timed) >= _CURVE
        if key not in rows or key in curves or not known:
            continue
        factor = 1.0 if against == "time" else rows[key]["usd_per_hour"] / 3600
        curves[key] = [
            (float(time) * factor, float(accuracy))
            for time, accuracy in zip(timed["time_s_cumulative"], timed["val_acc"], strict=True)
        ]
    return curves


def _strong(rows: Mapping[Key, Row], curves: Mapping[Key, Curve]) -> list[Key]:
    """Return the cells to name: the baseline, and of the CPUs the fastest and the cheapest."""
    keys = [key for key in sorted(rows) if key in curves]
    wanted = [key for key in keys if rows[key]["is_baseline"]]
    cpu = [key for key in keys if rows[key]["device"] == "CPU"] or keys
    wanted.append(min(cpu, key=lambda key: (rows[key]["time_s"], key)))
    priced = [key for key in cpu if rows[key]["cost_usd"] is not None]
    if priced:
        wanted.append(min(priced, key=lambda key: (rows[key]["cost_usd"], key)))
    return list(dict.fromkeys(wanted))
