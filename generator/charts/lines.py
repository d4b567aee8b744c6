"""Lines: how time scales with vCPUs, and how accuracy grows with time and with cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from generator.charts.palette import INK, MUTED, RULE, look_of, size_colours
from generator.charts.style import SMALL_PX, Canvas, Chart, powers, set_powers, text_width
from generator.measures import list_rows
from generator.ranking import scaling_table
from generator.wording import format_percent, format_ratio, format_seconds, format_usd, join_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_WIDE, _NARROW, _HEIGHT = 680, 360, 300


def scaling(cells: pd.DataFrame, *, narrow: bool = False) -> Chart | None:
    """Return a workload's time against vCPUs by build; None with fewer than two sizes.

    The dashed line is the ideal: twice the vCPUs, half the time, from the smallest size of
    the build that is fastest there.

    Args:
        cells: labelled cells of one workload.
        narrow: for a phone.
    """
    steps = list_rows(scaling_table(cells))
    if not steps:
        return None
    rows = [row for row in list_rows(cells) if row["time_s"] is not None]
    cpu = [row for row in rows if row["device"] == "CPU" and row["vcpus"]]
    sizes = sorted({row["vcpus"] for row in cpu})
    last = max(steps, key=lambda step: (step["to_vcpus"], step["build"]))
    title = (
        f"From {last['from_vcpus']} to {last['to_vcpus']} vCPUs, {last['build']}: "
        f"{format_ratio(last['speed_up'])} as fast, "
        f"{format_percent(last['efficiency'])} of the ideal"
    )
    width = _NARROW if narrow else _WIDE
    canvas = Canvas(width, _HEIGHT, title)
    builds = sorted({row["build"] for row in cpu})
    room = max(text_width(build) for build in builds) + 14
    axes = canvas.axes(58, 4, width - 58 - room, _HEIGHT - 50)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    times = [row["time_s"] for row in rows]
    start = min((row for row in cpu if row["vcpus"] == sizes[0]), key=lambda row: row["time_s"])
    ideal = [start["time_s"] * sizes[0] / size for size in sizes]
    ticks = powers(min(*times, *ideal), max(times))
    axes.plot(sizes, ideal, color=MUTED, linewidth=1, dashes=(4, 3))
    axes.annotate("ideal", (sizes[-1], ideal[-1]), xytext=(6, -3), **_words(MUTED))
    ends = []
    for build in builds:
        points = sorted((row["vcpus"], row["time_s"]) for row in cpu if row["build"] == build)
        look = look_of(build)
        axes.plot(
            [size for size, _ in points],
            [time for _, time in points],
            color=INK,
            linewidth=1.4,
            marker=look.marker,
            markersize=7,
            markerfacecolor=INK if look.filled else "none",
            markeredgecolor=INK,
            zorder=3,
        )
        ends.append((points[-1], build))
    _label_ends(axes, ends, ticks, _HEIGHT - 50)
    gpus = [row for row in rows if row["device"] == "GPU"]
    for row in gpus:
        axes.axhline(row["time_s"], color=RULE, linewidth=1.2)
        axes.annotate(row["label"], (sizes[0], row["time_s"]), xytext=(2, 3), **_words(MUTED))
    axes.set_ylim(ticks[0], ticks[-1])
    set_powers(axes.xaxis, [float(size) for size in sizes])
    set_powers(axes.yaxis, ticks, [f"{tick:,.4g}" for tick in ticks])
    axes.set_xlabel("vCPUs", fontsize=SMALL_PX)
    axes.set_ylabel("total time in seconds (lower is faster)", fontsize=SMALL_PX)
    table = join_words([f"{row['label']}: {format_seconds(row['time_s'])} s" for row in rows])
    return canvas.finish(f"{title}. Total time: {table}.")


def _words(colour: str) -> dict[str, Any]:
    return {"textcoords": "offset points", "fontsize": SMALL_PX, "color": colour}


def _label_ends(
    axes: Axes,
    ends: list[tuple[tuple[float, float], str]],
    ticks: list[float],
    height: float,
) -> None:
    """Name lines at their right ends, apart from each other where they end close together."""
    low, high = math.log2(ticks[0]), math.log2(ticks[-1])

    def pixels(value: float) -> float:
        return (math.log2(value) - low) / (high - low) * height

    previous = None
    for (x, y), words in sorted(ends, key=lambda end: (end[0][1], end[1])):
        at = pixels(y)
        shown = at if previous is None else max(at, previous + SMALL_PX * 1.2)
        previous = shown
        axes.annotate(words, (x, y), xytext=(8, shown - at - 4), **_words(INK))


def accuracy_curves(
    cells: pd.DataFrame,
    epochs: pd.DataFrame,
    against: Literal["time", "cost"],
    *,
    narrow: bool = False,
) -> Chart | None:
    """Return validation accuracy against time or cost; None where no log has it.

    The baseline, the fastest and the cheapest cell are drawn strong and named; the rest faint.

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
    strong = _strong(rows, curves)
    reached = min(max(acc for _, acc in points) for points in curves.values())
    first = {key: next(x for x, acc in points if acc >= reached) for key, points in curves.items()}
    best = min(first, key=lambda key: (first[key], key))
    show = format_seconds if against == "time" else format_usd
    unit = " s" if against == "time" else ""
    title = (
        f"{format_percent(reached)} accuracy, which every cell reaches: soonest on "
        f"{rows[best]['label']}, after {show(first[best])}{unit}"
        if against == "time"
        else f"{format_percent(reached)} accuracy, which every cell reaches: cheapest on "
        f"{rows[best]['label']}, for {show(first[best])}"
    )
    width = _NARROW if narrow else _WIDE
    canvas = Canvas(width, _HEIGHT, title)
    axes = canvas.axes(48, 4, width - 48 - 12, _HEIGHT - 50)
    axes.set_xscale("log", base=2)
    colours, pairs = size_colours(row["vcpus"] for row in rows.values() if row["device"] == "CPU")
    for key, points in sorted(curves.items()):
        row = rows[key]
        colour = INK if row["device"] == "GPU" else colours[row["vcpus"]]
        look = look_of(row["build"])
        xs, accuracies = zip(*points, strict=True)
        axes.plot(
            xs,
            accuracies,
            color=colour if key in strong else RULE,
            linewidth=2 if key in strong else 0.9,
            linestyle="-" if look.filled or row["device"] == "GPU" else (0, (3, 1.5)),
            zorder=3 if key in strong else 2,
        )
        if key in strong:
            # Curves rise to the right: below them is room.
            axes.annotate(
                row["label"],
                (1, 0),
                xycoords="axes fraction",
                xytext=(-6, 8 + 15 * strong.index(key)),
                ha="right",
                weight="bold",
                **_words(colour),
            )
    axes.axhline(reached, color=MUTED, linewidth=0.9, dashes=(4, 3))
    values = [x for points in curves.values() for x, _ in points]
    ticks = powers(min(values), max(values))
    thinned = ticks[:: 2 if len(ticks) > (7 if narrow else 12) else 1]
    labels = [show(tick).rstrip("0").rstrip(".") for tick in thinned]
    set_powers(axes.xaxis, thinned, labels)
    words = "seconds of training (left is sooner)"
    axes.set_xlabel(words if against == "time" else "USD (left is cheaper)", fontsize=SMALL_PX)
    axes.set_ylabel("validation accuracy", fontsize=SMALL_PX)
    table = join_words(
        [f"{rows[key]['label']}: {show(value)}{unit}" for key, value in sorted(first.items())]
    )
    return canvas.finish(f"{title}. To reach it: {table}.", pairs)


Key = tuple[str, str]
Curve = list[tuple[float, float]]


def _curves(
    rows: dict[Key, dict[str, Any]], epochs: pd.DataFrame, against: str
) -> dict[Key, Curve]:
    """Return each cell's accuracy against time or cost, of its first run that has it all."""
    curves: dict[Key, Curve] = {}
    for (build, instance, _), run in epochs.groupby(["build", "instance", "run_id"], sort=True):
        key = (str(build), str(instance))
        timed = run[~run["warmup"]]
        if key not in rows or key in curves or timed["val_acc"].isna().any() or len(timed) < 3:  # noqa: PLR2004
            continue
        factor = 1.0 if against == "time" else rows[key]["usd_per_hour"] / 3600
        curves[key] = [
            (float(time) * factor, float(accuracy))
            for time, accuracy in zip(timed["time_s_cumulative"], timed["val_acc"], strict=True)
        ]
    return curves


def _strong(rows: dict[Key, dict[str, Any]], curves: dict[Key, Curve]) -> list[Key]:
    """Return the cells to name: the baseline, the fastest and the cheapest."""
    keys = [key for key in sorted(rows) if key in curves]
    wanted = [key for key in keys if rows[key]["is_baseline"]]
    cpu = [key for key in keys if rows[key]["device"] == "CPU"] or keys
    wanted.append(min(cpu, key=lambda key: (rows[key]["time_s"], key)))
    priced = [key for key in cpu if rows[key]["cost_usd"] is not None]
    if priced:
        wanted.append(min(priced, key=lambda key: (rows[key]["cost_usd"], key)))
    return list(dict.fromkeys(wanted))
