"""Runs one by one: their epochs as strips, their spread about the median, and a heat map."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from generator.charts.palette import FAINT, INK, MUTED, RULE, WARN
from generator.charts.style import FONT_PX, SMALL_PX, Canvas, Chart, text_width
from generator.measures import list_rows
from generator.quality import SLOW
from generator.wording import format_count, format_percent, join_words

if TYPE_CHECKING:
    import pandas as pd

_WIDE, _NARROW = 680, 360
_ROW, _FOOT = 22, 40
# A strip shows up to this many times the median: beyond, a bar is cut and its figure written.
_HIGHEST = 2.0


def epoch_strip(epochs: pd.DataFrame, *, narrow: bool = False) -> Chart | None:
    """Return each run's epochs as a strip of bars, as high as the epoch is long.

    Warm-up epochs are hollow; epochs over 1.5 times their run's median are red and have a
    figure. None where there is no run.

    Args:
        epochs: rows of the epoch table of one workload, with ``label``.
        narrow: for a phone.
    """
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in list_rows(epochs):
        runs.setdefault((row["label"], row["run_id"]), []).append(row)
    if not runs:
        return None
    several = len({run for _, run in runs}) > 1
    names = [f"{label}, {run}" if several else label for label, run in runs]
    slow = sum(
        _is_slow(row, typical) for rows, typical in map(_typical, runs.values()) for row in rows
    )
    count = sum(len(rows) for rows in runs.values())
    title = (
        f"{format_count(slow, 'epoch')} of {count} took over {SLOW:g} times the run's median"
        if slow
        else f"Even epochs: none of {count} took over {SLOW:g} times its run's median"
    )
    width = _NARROW if narrow else _WIDE
    canvas = Canvas(width, len(runs) * _ROW + _FOOT, title)
    left = max(text_width(name) for name in names) + 10
    axes = canvas.axes(left, 0, width - left - 8, len(runs) * _ROW)
    longest = max(len(rows) for rows in runs.values())
    axes.set_xlim(-0.6, longest - 0.4)
    axes.set_ylim(len(runs), 0)
    for position, rows in enumerate(runs.values()):
        _, typical = _typical(rows)
        for row in rows:
            share = row["elapsed"] / typical
            colour = WARN if _is_slow(row, typical) else MUTED
            height = min(share, _HIGHEST) / _HIGHEST * 0.9
            axes.bar(
                row["epoch"],
                -height,
                bottom=position + 1,
                width=0.7,
                color="none" if row["warmup"] else colour,
                edgecolor=RULE if row["warmup"] else "none",
                linewidth=1 if row["warmup"] else 0,
            )
        axes.axhline(position + 1, color=FAINT, linewidth=0.8, zorder=0)
    axes.set_yticks([i + 0.6 for i in range(len(runs))], names, fontsize=SMALL_PX, color=INK)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("epoch (hollow: warm-up, not counted)", fontsize=SMALL_PX)
    alt = join_words(
        [
            f"{name}: median {_typical(rows)[1]:.3g} s"
            for name, rows in zip(names, runs.values(), strict=True)
        ]
    )
    return canvas.finish(f"{title}. {alt}.")


def _typical(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], float]:
    return rows, median(row["elapsed"] for row in rows if not row["warmup"])


def _is_slow(row: dict[str, Any], typical: float) -> bool:
    return not row["warmup"] and bool(row["elapsed"] > SLOW * typical)


def spread(runs: pd.DataFrame, resolution: float, *, narrow: bool = False) -> Chart | None:
    """Return each run's time relative to its cell's median; None where cells have one run.

    Args:
        runs: columns ``workload``, ``label`` and ``time_s``, one row a complete run.
        resolution: the campaign's, drawn as a band.
        narrow: for a phone.
    """
    cells: dict[tuple[str, str], list[float]] = {}
    for row in list_rows(runs):
        cells.setdefault((row["workload"], row["label"]), []).append(row["time_s"])
    repeated = {cell: times for cell, times in cells.items() if len(times) > 1}
    if not repeated:
        return None
    widest = max(repeated, key=lambda cell: (_range(repeated[cell]), cell))
    title = (
        f"Identical repeats lie {format_percent(resolution)} apart in the typical cell; "
        f"{format_percent(_range(repeated[widest]))} in the widest, "
        f"{widest[0]} on {widest[1]}"
    )
    width = _NARROW if narrow else _WIDE
    names = [label if narrow else f"{workload}, {label}" for workload, label in repeated]
    row_height = 18
    canvas = Canvas(width, len(repeated) * row_height + _FOOT, title)
    left = max(text_width(name) for name in names) + 10
    axes = canvas.axes(left, 0, width - left - 12, len(repeated) * row_height)
    axes.axvspan(1 - resolution / 2, 1 + resolution / 2, color=FAINT, linewidth=0, zorder=0)
    axes.axvline(1, color=RULE, linewidth=1, zorder=1)
    for position, times in enumerate(repeated.values()):
        typical = median(times)
        axes.plot(
            [time / typical for time in times],
            [position] * len(times),
            marker="o",
            markersize=5,
            markerfacecolor="none",
            markeredgecolor=INK,
            linestyle="none",
            zorder=3,
        )
    axes.set_ylim(len(repeated) - 0.5, -0.5)
    axes.set_yticks(range(len(repeated)), names, fontsize=SMALL_PX, color=INK)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel("run's time relative to its cell's median", fontsize=SMALL_PX)
    alt = join_words(
        [
            f"{workload}, {label}: {format_percent(_range(times))}"
            for (workload, label), times in repeated.items()
        ]
    )
    return canvas.finish(f"{title}. Slowest minus fastest over the median: {alt}.")


def _range(times: list[float]) -> float:
    return (max(times) - min(times)) / median(times)


def saving_map(savings: pd.DataFrame, *, narrow: bool = False) -> Chart | None:
    """Return what compiling saves as a map of workloads by instances; None without a pair.

    Args:
        savings: columns ``workload``, ``instance_label``, ``vcpus`` and ``saving``.
        narrow: for a phone.
    """
    rows = list_rows(savings)
    if not rows:
        return None
    workloads = sorted({row["workload"] for row in rows})
    instances = [
        label for _, label in sorted({(row["vcpus"], row["instance_label"]) for row in rows})
    ]
    values = {(row["workload"], row["instance_label"]): row["saving"] for row in rows}
    best = max(rows, key=lambda row: (row["saving"], row["workload"], row["instance_label"]))
    worst = min(rows, key=lambda row: (row["saving"], row["workload"], row["instance_label"]))
    gains = sum(row["saving"] > 0 for row in rows)
    title = (
        f"Compiling saves time in {gains} of {len(rows)} pairs: at best "
        f"{format_percent(best['saving'])} ({best['workload']}, {best['instance_label']}), "
        f"at worst {format_percent(worst['saving'])}"
    )
    width = _NARROW if narrow else _WIDE
    row_height, head = 28, 22
    canvas = Canvas(width, head + len(workloads) * row_height + 26, title)
    size = SMALL_PX if narrow else FONT_PX
    left = max(text_width(name, size) for name in workloads) + 8
    left = min(left, width * 0.5)
    column = (width - left - 6) / len(instances)
    axes = canvas.axes(left, head, width - left - 6, len(workloads) * row_height)
    axes.set_axis_off()
    axes.set_xlim(0, len(instances))
    axes.set_ylim(len(workloads), 0)
    strongest = max(abs(row["saving"]) for row in rows) or 1
    for y, workload in enumerate(workloads):
        canvas.text(4, canvas.top + head + (y + 0.65) * row_height, workload, size)
        for x, instance in enumerate(instances):
            saving = values.get((workload, instance))
            if saving is not None:
                # The bar's length says what the figure does, to either side of the middle.
                share = saving / strongest * 0.42
                axes.barh(
                    y + 0.78,
                    share,
                    left=x + 0.5,
                    height=0.16,
                    color=INK if saving > 0 else WARN,
                    linewidth=0,
                )
            axes.text(
                x + 0.5,
                y + 0.42,
                format_percent(saving) if saving is not None else "missing",
                ha="center",
                va="center",
                fontsize=size,
                color=INK if saving is None or saving > 0 else WARN,
            )
    for x, label in enumerate(instances):
        instance = label.replace(" vCPUs", "") if narrow else label
        canvas.text(left + (x + 0.5) * column, canvas.top + 14, instance, size, MUTED, ha="center")
    canvas.text(
        4,
        canvas.height - 8,
        "time that compiling saves, by vCPUs; red: it costs time",
        SMALL_PX,
        MUTED,
    )
    alt = join_words(
        [
            f"{row['workload']} on {row['instance_label']}: {format_percent(row['saving'])}"
            for row in rows
        ]
    )
    return canvas.finish(f"{title}. {alt}.")
