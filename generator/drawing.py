"""Draws a report's charts and writes them: each wide and narrow, light and dark."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from generator.charts.bars import relative_bars
from generator.charts.lines import accuracy_curves, scaling
from generator.charts.plane import time_against_cost
from generator.charts.prices import break_even_prices
from generator.charts.runs import epoch_strip, spread
from generator.charts.savings import saving_map
from generator.charts.times import relative_times
from generator.measures import CELL_KEY
from generator.ranking import compiled_saving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from generator.charts.style import Chart
    from generator.report import Report

Pair = tuple["Chart", "Chart"]
"""A chart as it is wide, and as it is narrow."""


def draw_campaign(report: Report) -> dict[str, Pair]:
    """Return the charts about a whole campaign, by name; those without data are left out."""
    cells, base, near = report.cells, report.baseline, report.resolution
    titles = {name: name for name in sorted(set(cells["workload"]))}
    labels = cells[["instance", "instance_label", "vcpus"]].drop_duplicates()
    savings = compiled_saving(cells).merge(labels, on="instance")
    runs = report.runs[report.runs["time_s"].notna()].merge(
        cells[[*CELL_KEY, "label"]], on=CELL_KEY
    )
    drawn = {
        "time-against-cost": _both(time_against_cost, cells, base, titles, resolution=near),
        "compiled-saving": _both(saving_map, savings, resolution=near),
        "break-even": _both(break_even_prices, cells, base, resolution=near),
    }
    if not report.has_costs:
        # A campaign with costs has the better picture, above.
        drawn["times"] = _both(relative_times, cells, base, near)
    if near is not None:
        drawn["spread"] = _both(spread, runs, near)
    return _known(drawn)


def draw_workload(report: Report, workload: str) -> dict[str, Pair]:
    """Return the charts about one workload, by name; those without data are left out."""
    cells = report.cells[report.cells["workload"] == workload].reset_index(drop=True)
    epochs = report.epochs[report.epochs["workload"] == workload]
    # In the cells' order, not the epochs': from small to large.
    labelled = cells[["build", "instance", "label"]].merge(epochs, on=["build", "instance"])
    base, near = report.baseline, report.resolution
    plane = partial(time_against_cost, resolution=near, name_all=True)
    drawn = {
        "time": _both(relative_bars, cells, "time", base, resolution=near),
        "cost": _both(relative_bars, cells, "cost", base, resolution=near),
        "time-against-cost": _both(plane, cells, base, {workload: workload}),
        "scaling": _both(scaling, cells, resolution=near),
        "accuracy-time": _both(accuracy_curves, cells, epochs, "time"),
        "accuracy-cost": _both(accuracy_curves, cells, epochs, "cost"),
        "epochs": _both(epoch_strip, labelled),
    }
    return {f"{workload}-{name}": pair for name, pair in _known(drawn).items()}


def _both(
    draw: Callable[..., Chart | None],
    *data: Any,  # noqa: ANN401 (what the chart draws)
    **options: Any,  # noqa: ANN401
) -> list[Chart | None]:
    """Return a chart as it is wide, and as it is narrow."""
    return [draw(*data, narrow=narrow, **options) for narrow in (False, True)]


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
