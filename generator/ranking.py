"""Which cell is fastest, which is cheapest, and which ones nothing beats on both."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from generator.measures import is_no_difference, list_rows
from generator.timing import Timing, compare_timings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from generator.measures import Cell

Measure = Literal["time", "cost"]
VALUE = {"time": "time_s", "cost": "cost_usd"}


@dataclass(frozen=True)
class Best:
    """The best cell of a workload by a measure, and those that can't be told from it.

    Positions are index labels of the cell table that they were taken from.
    """

    row: int
    ties: tuple[int, ...]


def are_alike(one: Timing, other: Timing, resolution: float | None, factor: float = 1) -> bool:
    """Return whether two cells' times, the first's times a factor, can't be told apart."""
    ratio = compare_timings(one, other).scaled(factor)
    return is_no_difference(ratio.value, ratio.low, ratio.high, resolution)


def find_best(
    cells: pd.DataFrame,
    measure: Measure,
    timings: Mapping[Cell, Timing],
    resolution: float | None,
) -> Best | None:
    """Return the best cell of one workload; None where no cell has the measure.

    Args:
        cells: the workload's rows of a cell table.
        measure: by what.
        timings: every cell's.
        resolution: the campaign's; None without repeats.
    """
    known = [row for row in list_rows(cells) if row[VALUE[measure]] is not None]
    if not known:
        return None
    known.sort(key=lambda row: (row[VALUE[measure]], row["build"], row["instance"]))
    best, *rest = known
    ties = tuple(
        row["row"]
        for row in rest
        if are_alike(
            timings[cell_of(row)],
            timings[cell_of(best)],
            resolution,
            row["usd_per_hour"] / best["usd_per_hour"] if measure == "cost" else 1,
        )
    )
    return Best(best["row"], ties)


def cell_of(row: Mapping[str, Any]) -> Cell:
    """Return the cell that a row of a cell table is about."""
    return row["workload"], row["build"], row["instance"]


def mark_unbeaten(cells: pd.DataFrame) -> pd.Series[bool]:
    """Return which cells nothing beats on both time and cost (the Pareto set), by workload.

    A cell is beaten where another of its workload takes at most its time and costs at most
    as much, and is better in one. A cell without a time or a cost is in no such set.
    """
    rows = [row for row in list_rows(cells) if None not in (row["time_s"], row["cost_usd"])]
    unbeaten = {
        row["row"]
        for row in rows
        if not any(
            other["workload"] == row["workload"]
            and (other["time_s"], other["cost_usd"]) != (row["time_s"], row["cost_usd"])
            and other["time_s"] <= row["time_s"]
            and other["cost_usd"] <= row["cost_usd"]
            for other in rows
        )
    }
    return pd.Series([row in unbeaten for row in cells.index], index=cells.index, dtype=bool)


def answer_table(
    cells: pd.DataFrame, timings: Mapping[Cell, Timing], resolution: float | None
) -> pd.DataFrame:
    """Return the answer: a row a workload.

    Columns: ``workload``; ``fastest`` and ``cheapest`` (index labels of ``cells``, NA where
    there is none), ``fastest_ties`` and ``cheapest_ties`` (tuples of them), ``gives_up``
    (time of the cheapest over that of the fastest; NaN where one is missing) and
    ``unbeaten`` (the cells that nothing beats on both, fastest first).
    """
    marks = mark_unbeaten(cells)
    rows = []
    for workload in sorted(set(cells["workload"])):
        group = cells[cells["workload"] == workload]
        fastest = find_best(group, "time", timings, resolution)
        cheapest = find_best(group, "cost", timings, resolution)
        gives_up = None
        if fastest and cheapest:
            time = {row["row"]: row["time_s"] for row in list_rows(group)}
            gives_up = time[cheapest.row] / time[fastest.row]
        front = group[marks[group.index]].sort_values("time_s", kind="stable")
        rows.append(
            {
                "workload": workload,
                "fastest": fastest.row if fastest else None,
                "fastest_ties": fastest.ties if fastest else (),
                "cheapest": cheapest.row if cheapest else None,
                "cheapest_ties": cheapest.ties if cheapest else (),
                "gives_up": gives_up,
                "unbeaten": tuple(int(row) for row in front.index),
            }
        )
    columns = ["workload", "fastest", "fastest_ties", "cheapest", "cheapest_ties"]
    frame = pd.DataFrame(rows, columns=[*columns, "gives_up", "unbeaten"])
    frame[["fastest", "cheapest"]] = frame[["fastest", "cheapest"]].astype("Int64")
    frame["gives_up"] = frame["gives_up"].astype(float)
    return frame


def compiled_saving(cells: pd.DataFrame) -> pd.DataFrame:
    """Return what compiling saves: 1 − time(compiled) / time(pip), by workload and instance.

    Columns: ``workload``, ``instance``, ``saving`` (a share of pip's time; negative where
    compiled is slower), and ``predicted``: whether one of the two times is. A row wherever
    both have a time.
    """
    known = {cell_of(row): row for row in list_rows(cells) if row["time_s"] is not None}
    rows = []
    for (workload, build, instance), row in sorted(known.items()):
        plain = known.get((workload, "pip", instance))
        if build == "compiled" and plain:
            rows.append(
                {
                    "workload": workload,
                    "instance": instance,
                    "saving": 1 - row["time_s"] / plain["time_s"],
                    "predicted": row["predicted"] or plain["predicted"],
                }
            )
    return pd.DataFrame(rows, columns=["workload", "instance", "saving", "predicted"])


def scaling_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how time scales with vCPUs: each CPU cell against the next smaller one.

    Parallel efficiency = (time on a vCPUs × a) / (time on b vCPUs × b), a < b. Columns:
    ``workload``, ``build``, ``from_vcpus``, ``to_vcpus``, ``speed_up`` (time on a / time on
    b) and ``efficiency``. ``cells`` must be labelled (``label_cells``).
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in list_rows(cells.sort_values("vcpus", kind="stable")):
        if row["time_s"] is not None and row["device"] == "CPU" and row["vcpus"]:
            group = groups.setdefault((row["workload"], row["build"]), [])
            if not group or group[-1]["vcpus"] < row["vcpus"]:
                group.append(row)
    rows = []
    for (workload, build), group in sorted(groups.items()):
        for small, large in pairwise(group):
            speed_up = small["time_s"] / large["time_s"]
            rows.append(
                {
                    "workload": workload,
                    "build": build,
                    "from_vcpus": small["vcpus"],
                    "to_vcpus": large["vcpus"],
                    "speed_up": speed_up,
                    "efficiency": speed_up * small["vcpus"] / large["vcpus"],
                }
            )
    columns = ["workload", "build", "from_vcpus", "to_vcpus", "speed_up", "efficiency"]
    return pd.DataFrame(rows, columns=columns)
