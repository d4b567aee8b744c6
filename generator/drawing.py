"""Draws a report's charts and writes them: each wide and narrow, light and dark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from generator.charts.bars import relative_bars
from generator.charts.lines import accuracy_curves, scaling
from generator.charts.plane import time_against_cost
from generator.charts.runs import epoch_strip, spread
from generator.charts.savings import saving_map
from generator.charts.times import relative_times
from generator.measures import CELL_KEY
from generator.ranking import compiled_saving

if TYPE_CHECKING:
    from pathlib import Path

    from generator.charts.style import Chart
    from generator.report import Report

Pair = tuple["Chart", "Chart"]
"""A chart as it is wide, and as it is narrow."""


def draw_campaign(report: Report) -> dict[str, Pair]:
    """Return the charts about a whole campaign, by name; those without data are left out."""
    near = report.resolution
    titles = {name: name for name in sorted(set(report.cells["workload"]))}
    labels = report.cells[["instance", "instance_label", "vcpus"]].drop_duplicates()
    savings = compiled_saving(report.cells).merge(labels, on="instance")
    runs = report.runs[report.runs["time_s"].notna()].merge(
        report.cells[[*CELL_KEY, "label"]], on=CELL_KEY
    )
    drawn = {
        "time-against-cost": [
            time_against_cost(report.cells, report.baseline, titles, resolution=near, narrow=narrow)
            for narrow in (False, True)
        ],
        # A campaign with costs has the better picture, above.
        "times": [
            None
            if report.has_costs
            else relative_times(report.cells, report.baseline, report.resolution, narrow=narrow)
            for narrow in (False, True)
        ],
        "compiled-saving": [
            saving_map(savings, resolution=near, narrow=narrow) for narrow in (False, True)
        ],
        "spread": [
            spread(runs, report.resolution, narrow=narrow)
            if report.resolution is not None
            else None
            for narrow in (False, True)
        ],
    }
    return _known(drawn)


def draw_workload(report: Report, workload: str) -> dict[str, Pair]:
    """Return the charts about one workload, by name; those without data are left out."""
    cells = report.cells[report.cells["workload"] == workload].reset_index(drop=True)
    epochs = report.epochs[report.epochs["workload"] == workload]
    # In the cells' order, not the epochs': from small to large.
    labelled = cells[["build", "instance", "label"]].merge(epochs, on=["build", "instance"])
    base, near = report.baseline, report.resolution
    both = (False, True)
    drawn = {
        "time": [
            relative_bars(cells, "time", base, resolution=near, narrow=narrow) for narrow in both
        ],
        "cost": [
            relative_bars(cells, "cost", base, resolution=near, narrow=narrow) for narrow in both
        ],
        "time-against-cost": [
            time_against_cost(
                cells,
                base,
                {workload: workload},
                resolution=near,
                narrow=narrow,
                name_all=True,
            )
            for narrow in both
        ],
        "scaling": [scaling(cells, resolution=near, narrow=narrow) for narrow in both],
        "accuracy-time": [accuracy_curves(cells, epochs, "time", narrow=narrow) for narrow in both],
        "accuracy-cost": [accuracy_curves(cells, epochs, "cost", narrow=narrow) for narrow in both],
        "epochs": [epoch_strip(labelled, narrow=narrow) for narrow in both],
    }
    return {f"{workload}-{name}": pair for name, pair in _known(drawn).items()}


def _known(drawn: dict[str, list[Chart | None]]) -> dict[str, Pair]:
    return {name: (wide, narrow) for name, (wide, narrow) in drawn.items() if wide and narrow}


def write_charts(folder: Path, charts: dict[str, Pair]) -> None:
    """Write charts as NAME-wide-light.svg and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, pair in charts.items():
        for width, chart in zip(("wide", "narrow"), pair, strict=True):
            for theme, svg in (("light", chart.svg_light), ("dark", chart.svg_dark)):
                path = folder / f"{name}-{width}-{theme}.svg"
                path.write_text(svg, encoding="utf-8", newline="\n")


def show_chart(charts: dict[str, Pair], name: str, folder: str) -> str:
    """Return the Markdown that shows a chart; empty where there is none of this name.

    The page shows one of four pictures: by its theme, and by how wide it is. The others have
    no alternative text, for nobody should be told the same four times.
    """
    if name not in charts:
        return ""
    images = []
    for width, chart in zip(("wide", "narrow"), charts[name], strict=True):
        alt = re.sub(r"([\[\]\\])", r"\\\1", chart.alt)
        for theme in ("light", "dark"):
            file = f"{folder}/{name}-{width}-{theme}.svg#only-{theme}"
            size = f"width={chart.width} height={chart.height}"
            images.append(f"![{alt}]({file}){{ .chart .{width} loading=lazy {size} }}")
    return "\n".join(images)
