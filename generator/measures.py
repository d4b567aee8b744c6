"""Logs to tables: a row an epoch, a row a run, a row a cell. Pure functions of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from generator.prediction import predict_run
from generator.pricing import cost
from generator.quality import timed_epochs
from generator.reading import is_whole
from generator.statistics import median
from generator.timing import Timing, compare_timings
from models.run import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from generator.reading import Campaign
    from models.run import Run, Scenario

Cell = tuple[str, str, str]
"""A cell's workload, build and instance."""

CELL_KEY = ["workload", "build", "instance"]
CELL_COLUMNS = (
    *CELL_KEY,
    "status",
    "runs",
    "epochs",
    "time_s",
    "time_low",
    "time_high",
    "time_ratio",
    "ratio_low",
    "ratio_high",
    "cost_usd",
    "cost_ratio",
    "scenario",
    "predicted",
    "synthetic",
    "profile",
)
"""The published columns of a cell table, in order (``cells.csv``)."""


def epoch_table(campaign: Campaign) -> pd.DataFrame:
    """Return one row an epoch record of each run that gives a figure, warm-up epochs included.

    Columns: the cell's, ``run_id``, ``warmup`` (whether no sum counts it), those of the log,
    and ``time_s_cumulative``, the seconds of the counted epochs up to and with this one.
    """
    rows: list[dict[str, Any]] = []
    for run in campaign.figure_runs:
        manifest = run.manifest
        total = 0.0
        for record in run.epochs:
            warmup = record.epoch < manifest.warmup_epochs
            total += 0.0 if warmup else record.elapsed
            rows.append(
                {
                    "workload": manifest.workload.name,
                    "build": manifest.build,
                    "instance": manifest.instance,
                    "run_id": manifest.run_id,
                    "epoch": record.epoch,
                    "warmup": warmup,
                    "elapsed": record.elapsed,
                    "acc": record.acc,
                    "val_acc": record.val_acc,
                    "cpu_s": record.cpu_s,
                    "other_cpu_s": record.other_cpu_s,
                    "time_s_cumulative": total,
                }
            )
    columns = [*CELL_KEY, "run_id", "epoch", "warmup", "elapsed", "acc", "val_acc"]
    columns += ["cpu_s", "other_cpu_s", "time_s_cumulative"]
    return pd.DataFrame(rows, columns=columns)


def run_table(campaign: Campaign) -> pd.DataFrame:
    """Return one row a run of any status, with the manifest's fields that matter.

    ``time_s`` is the total time of a complete run, and ``train_s`` its training alone, in
    seconds, both without warm-up epochs; they are empty where the run gives no figure. Of a
    run that stopped early and gives its cell's figure, ``time_s`` is ``predicted``, between
    ``time_low`` and ``time_high``.
    """
    predicted = {run.folder for run in campaign.predicted_runs}
    rows = [_run_row(campaign, run, is_predicted=run.folder in predicted) for run in campaign.runs]
    frame = pd.DataFrame(rows, columns=list(_run_row_columns()))
    return frame.sort_values([*CELL_KEY, "repeat", "run_id"], kind="stable", ignore_index=True)


def _run_row_columns() -> tuple[str, ...]:
    return (
        *CELL_KEY,
        "run_id",
        "repeat",
        "status",
        "why",
        "profile",
        "epochs",
        "planned_epochs",
        "budget_epochs",
        "warmup_epochs",
        "steps_per_epoch",
        "predicted",
        "time_s",
        "time_low",
        "time_high",
        "train_s",
        "setup_s",
        "wall_s",
        "cpu_s",
        "other_cpu_s",
        "seed",
        "parameters_sha256",
        "dataset",
        "dataset_kind",
        "dataset_sha256",
        "tensorflow",
        "keras",
        "framework",
        "python",
        "wheel_sha256",
        "image_digest",
        "runner",
        "jit_compile",
        "vcpus",
        "cpu_model",
        "gpu",
        "git_commit",
        "git_dirty",
        "started_at",
        "ended_at",
        "epochs_sha256",
        "source_path",
        "source_sha256",
        "path",
    )


def _run_row(campaign: Campaign, run: Run, *, is_predicted: bool) -> dict[str, Any]:
    manifest = run.manifest
    complete = is_whole(run)
    prediction = predict_run(run) if is_predicted else None
    timed = run.epochs[manifest.warmup_epochs :]
    wall = (manifest.wall_s.setup, manifest.wall_s.training, manifest.wall_s.teardown)
    known_wall = [part for part in wall if part is not None]

    def total(name: str) -> float | None:
        values = [getattr(record, name) for record in timed]
        return sum(values) if complete and values and None not in values else None

    return {
        "workload": manifest.workload.name,
        "build": manifest.build,
        "instance": manifest.instance,
        "run_id": manifest.run_id,
        "repeat": manifest.repeat,
        "status": manifest.status.value,
        "why": manifest.why,
        "profile": manifest.profile,
        "epochs": len(run.epochs),
        "planned_epochs": manifest.planned_epochs,
        "budget_epochs": manifest.budget_epochs,
        "warmup_epochs": manifest.warmup_epochs,
        "steps_per_epoch": manifest.steps_per_epoch,
        "predicted": is_predicted,
        "time_s": sum(timed_epochs(run)) if complete else prediction and prediction.time_s,
        "time_low": prediction and prediction.low,
        "time_high": prediction and prediction.high,
        "train_s": total("train_s"),
        "setup_s": manifest.wall_s.setup,
        "wall_s": sum(known_wall) if len(known_wall) == len(wall) else None,
        "cpu_s": total("cpu_s"),
        "other_cpu_s": total("other_cpu_s"),
        "seed": manifest.seed,
        "parameters_sha256": manifest.workload.sha256,
        "dataset": manifest.dataset.name if manifest.dataset else None,
        "dataset_kind": manifest.dataset.kind if manifest.dataset else None,
        "dataset_sha256": manifest.dataset.sha256 if manifest.dataset else None,
        "tensorflow": manifest.software.tensorflow,
        "keras": manifest.software.keras,
        "framework": manifest.software.framework,
        "python": manifest.software.python,
        "wheel_sha256": manifest.software.wheel_sha256,
        "image_digest": manifest.software.image_digest,
        "runner": manifest.software.runner,
        "jit_compile": manifest.jit_compile,
        "vcpus": manifest.hardware.vcpus,
        "cpu_model": manifest.hardware.cpu_model,
        "gpu": manifest.hardware.gpu,
        "git_commit": manifest.git_commit,
        "git_dirty": manifest.git_dirty,
        "started_at": manifest.started_at,
        "ended_at": manifest.ended_at,
        "epochs_sha256": manifest.epochs_sha256,
        "source_path": manifest.source.path if manifest.source else None,
        "source_sha256": manifest.source.sha256 if manifest.source else None,
        "path": run.folder.relative_to(campaign.folder).as_posix(),
    }


def cell_timings(campaign: Campaign) -> dict[Cell, Timing]:
    """Return the timing of each cell that has a figure: of its complete runs where it has any.

    Else the total times of its runs that stopped early are predicted. The median of several lies
    between the median of the intervals' lower ends and that of the upper ones.
    """
    times: dict[Cell, list[float]] = {}
    lows: dict[Cell, list[float]] = {}
    highs: dict[Cell, list[float]] = {}
    for run in campaign.figure_runs:
        manifest = run.manifest
        cell = (manifest.workload.name, manifest.build, manifest.instance)
        prediction = None if is_whole(run) else predict_run(run)
        if prediction is None:
            times.setdefault(cell, []).append(sum(timed_epochs(run)))
        else:
            times.setdefault(cell, []).append(prediction.time_s)
            lows.setdefault(cell, []).append(prediction.low)
            highs.setdefault(cell, []).append(prediction.high)
    timings = {}
    for cell, values in times.items():
        reach = (1.0, 1.0)
        if cell in lows:
            time = median(values)
            reach = (time / median(lows[cell]), median(highs[cell]) / time)
        timings[cell] = Timing(tuple(sorted(values)), *reach)
    return timings


def campaign_resolution(timings: Mapping[Cell, Timing]) -> float | None:
    """Return a campaign's resolution: how far identical repeats lie apart, as a share.

    It is the median over the cells of (slowest − fastest) / median of their runs; None where
    every cell has one run.
    """
    spreads = [
        (timing.values[-1] - timing.values[0]) / timing.time_s
        for timing in timings.values()
        if len(timing.values) > 1
    ]
    return median(spreads) if spreads else None


def cell_table(
    campaign: Campaign, prices: Mapping[str, float | None], scenario: Scenario
) -> pd.DataFrame:
    """Return one row a cell of the plan, those without a figure included.

    Args:
        campaign: the campaign.
        prices: USD per hour of each instance; None where it has no price.
        scenario: which prices those are.

    Returns:
        CELL_COLUMNS, and beside them ``usd_per_hour``, ``cost_low`` and ``cost_high`` (the
        interval of the cost ratio), ``is_baseline`` and ``no_difference``: the time is within
        the resolution of the baseline's, or the interval of their ratio holds 1. Times are in
        seconds, costs in USD; what is unknown is NaN. Sorted by workload, build, instance.
    """
    timings = cell_timings(campaign)
    states = _states_without_figure(campaign)
    resolution = campaign_resolution(timings)
    runs = {
        (run.manifest.workload.name, run.manifest.build, run.manifest.instance): run
        for run in campaign.figure_runs
    }
    synthetic = {
        (run.manifest.workload.name, run.manifest.build, run.manifest.instance)
        for run in campaign.figure_runs
        if run.manifest.dataset and run.manifest.dataset.kind == "synthetic"
    }
    rows = []
    for name in sorted(campaign.card.cells, key=lambda c: (c.workload, c.build, c.instance)):
        cell = (name.workload, name.build, name.instance)
        base = _baseline_of(campaign, name.workload)
        price = prices.get(name.instance)
        row: dict[str, Any] = dict(zip(CELL_KEY, cell, strict=True))
        row |= {
            "runs": len(timings[cell].values) if cell in timings else 0,
            "scenario": scenario,
            "predicted": cell in timings and timings[cell].predicted,
            "synthetic": cell in synthetic,
            "profile": campaign.card.profile,
            "usd_per_hour": price,
            "is_baseline": cell == base,
            "no_difference": False,
        }
        if cell in timings:
            row["status"] = "unpriced" if price is None else "measured"
            row["epochs"] = _total_epochs(runs[cell])
            row |= _figures(timings[cell], price)
            if base in timings:
                base_price = prices.get(base[2]) if base else None
                row |= _ratios(timings[cell], timings[base], price, base_price, cell == base)
                row["no_difference"] = cell != base and is_no_difference(
                    row["time_ratio"], row["ratio_low"], row["ratio_high"], resolution
                )
        else:
            row["status"] = states.get(cell, "missing")
        rows.append(row)
    extra = ["usd_per_hour", "cost_low", "cost_high", "is_baseline", "no_difference"]
    frame = pd.DataFrame(rows, columns=[*CELL_COLUMNS, *extra])
    ends = ("_s", "_low", "_high", "_ratio", "_usd", "_hour")
    numbers = [name for name in frame.columns if str(name).endswith(ends)]
    frame[numbers] = frame[numbers].astype(float)
    frame["epochs"] = frame["epochs"].astype("Int64")
    return frame


def _baseline_of(campaign: Campaign, workload: str) -> Cell | None:
    baseline = campaign.card.baseline
    return (workload, baseline.build, baseline.instance) if baseline else None


def _states_without_figure(campaign: Campaign) -> dict[Cell, str]:
    """Return `failed` for cells with a failed run; a preempted run leaves its cell missing."""
    return {
        (run.manifest.workload.name, run.manifest.build, run.manifest.instance): "failed"
        for run in campaign.runs
        if run.manifest.status is Status.FAILED
    }


def _total_epochs(run: Run) -> int:
    """Return how many epochs a run's total time is that of: those of the plan, if predicted."""
    if is_whole(run) or run.manifest.planned_epochs is None:
        return len(timed_epochs(run))
    return run.manifest.planned_epochs - run.manifest.warmup_epochs


def _figures(timing: Timing, price: float | None) -> dict[str, float | None]:
    time = timing.time_s
    low, high = timing.interval or (None, None)
    return {"time_s": time, "time_low": low, "time_high": high, "cost_usd": cost(time, price)}


def _ratios(
    timing: Timing,
    base: Timing,
    price: float | None,
    base_price: float | None,
    is_baseline: bool,
) -> dict[str, float | None]:
    if is_baseline:
        # By definition, not by measurement: it has no interval.
        return {"time_ratio": 1.0, "cost_ratio": 1.0 if price is not None else None}
    ratio = compare_timings(timing, base)
    ratios = {"time_ratio": ratio.value, "ratio_low": ratio.low, "ratio_high": ratio.high}
    if price is not None and base_price is not None:
        # Prices are constants: they stretch the interval, and do not widen it.
        costs = ratio.scaled(price / base_price)
        ratios["cost_ratio"] = (timing.time_s * price) / (base.time_s * base_price)
        ratios["cost_low"], ratios["cost_high"] = costs.low, costs.high
    return ratios


def is_no_difference(
    ratio: float, low: float | None, high: float | None, resolution: float | None
) -> bool:
    """Return whether a ratio of times tells nothing apart.

    It does not where it lies within the resolution of 1, or where its interval holds 1.
    Without repeats neither is known, and the figure stands as it is. It is the same whichever
    of the two cells is divided by the other.
    """
    within = resolution is not None and max(ratio, 1 / ratio) <= 1 + resolution
    return within or (low is not None and high is not None and low <= 1 <= high)


def list_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table's rows as records, with None for what is unknown and ``row``, its label."""
    rows = []
    for label, values in zip(table.index, table.itertuples(index=False, name=None), strict=True):
        record: dict[str, Any] = {"row": label}
        for name, value in zip(table.columns, values, strict=True):
            # A tuple is a value too, which isna() would take apart.
            unknown = not isinstance(value, tuple) and bool(pd.isna(value))
            record[str(name)] = None if unknown else value
        rows.append(record)
    return rows
