"""Predicts the total time of a run that stopped after some of its epochs.

The total is that of the first epoch, in which TensorFlow traces its graph, and the median of
the others as often as there are others. Where a warm-up epoch is left out of every sum, all
counted epochs are others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

import scipy.stats

from models.run import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from models.run import Run

LEAST_OTHERS = 2
"""Epochs after the first that a prediction needs: one has no spread."""

DRIFT = 0.022
"""What an interval reaches to either side at least, as a share of the total. Epochs of one run
follow each other in time: their spread says nothing about a machine that slows down or speeds
up later. Predicted from 3 epochs, 9 of 10 of the logs of 2017 are nearer to their total than
this (the methods page has the errors as measured)."""

_TAIL = 0.975


@dataclass(frozen=True)
class Prediction:
    """A predicted total time, in seconds, with its 95 % interval."""

    time_s: float
    low: float
    high: float


def predict_total(
    elapsed: Sequence[float], epochs: int, *, traced_first: bool = True
) -> Prediction | None:
    """Return the total time of all epochs, from the first few.

    The interval is Student's prediction interval for the sum of the epochs that are left, as if
    they were drawn like those that are known, and at least ``DRIFT`` wide to either side.
    Neither goes below what has passed already.

    Args:
        elapsed: seconds of the epochs that are known, in order, without warm-up epochs.
        epochs: how many there were to be.
        traced_first: whether the first of them is unlike the others.

    Returns:
        The prediction; None where fewer than LEAST_OTHERS epochs are known beside the first,
        or none is left to predict.
    """
    first = list(elapsed[:1]) if traced_first else []
    others = list(elapsed[len(first) :])
    left = epochs - len(elapsed)
    if len(others) < LEAST_OTHERS or left < 1:
        return None
    passed = math.fsum(elapsed)
    total = max(passed, math.fsum(first) + (epochs - len(first)) * median(others))
    spread = stdev(others, fmean(others))
    factor = float(scipy.stats.t.ppf(_TAIL, len(others) - 1))
    half = factor * spread * math.sqrt(left + left**2 / len(others))
    half = max(half, DRIFT * total)
    return Prediction(total, max(passed, total - half), total + half)


def predict_run(run: Run) -> Prediction | None:
    """Return the total time of a run that stopped early, from its epochs; None where it can't be.

    Only a run that ended on its own or was stopped is: what went wrong with a failed one may
    be in its times, too, and one that is still running will tell.
    """
    manifest = run.manifest
    stopped = manifest.status in (Status.COMPLETE, Status.PREEMPTED)
    if manifest.planned_epochs is None or not stopped:
        return None
    skipped = manifest.warmup_epochs
    return predict_total(
        [record.elapsed for record in run.epochs[skipped:]],
        manifest.planned_epochs - skipped,
        traced_first=skipped == 0,
    )


@dataclass(frozen=True)
class PredictionError:
    """How far predictions from the first ``epochs`` epochs lie from totals that are known.

    Errors are shares of the total; ``covered`` is the share of the totals that lie within
    their prediction's interval; ``half_width`` is the median interval's, as a share.
    """

    epochs: int
    runs: int
    median: float
    ninth_decile: float
    largest: float
    covered: float
    half_width: float


def measure_error(logs: Iterable[Sequence[float]], epochs: int) -> PredictionError | None:
    """Return how well whole logs are predicted from their first epochs; None where none can be.

    Args:
        logs: seconds of each epoch of each whole run; those that are no longer than ``epochs``
            are left out.
        epochs: how many epochs a prediction knows.
    """
    errors, widths, inside = [], [], 0
    for log in logs:
        prediction = predict_total(log[:epochs], len(log))
        if prediction is None:
            continue
        total = math.fsum(log)
        errors.append(abs(prediction.time_s / total - 1))
        widths.append((prediction.high - prediction.low) / 2 / prediction.time_s)
        inside += prediction.low <= total <= prediction.high
    if not errors:
        return None
    decile = float(scipy.stats.scoreatpercentile(errors, 90))
    return PredictionError(
        epochs,
        len(errors),
        median(errors),
        decile,
        max(errors),
        inside / len(errors),
        median(widths),
    )
