"""Bootstrap intervals of medians, and means of ratios: pure functions of numbers.

With few runs a bootstrap needs no random numbers: which medians a resample can have, and how
likely each is, has a closed form (Efron, "Bootstrap methods: another look at the jackknife",
1979, section 3, for odd n). So the intervals here are exact up to 25 runs; beyond, they are
SciPy's percentile bootstrap with a fixed seed.

What they can't do: an interval of the median of 3 runs is the runs' range, which holds the
true median with a probability of 75 % (1 - 2 / 2^3), whatever the 95 % of its name.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.special
import scipy.stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

Interval = tuple[float, float]

_LEVEL = 0.95
_EXACT_UP_TO = 25
_RESAMPLES = 9999
_SEED = 20170705
# Probabilities are sums of rounded terms: a tail of exactly 2.5 % must count as one.
_ROUNDING = 1e-12


def median(values: Sequence[float]) -> float:
    """Return the median; raise ValueError where there is no value."""
    if not len(values):
        raise ValueError("no value to take a median of")
    return float(np.median(np.asarray(values, dtype=float)))


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean of positive numbers, the mean for ratios; None of none.

    Raises:
        ValueError: where a value is not positive and finite.
    """
    numbers = list(values)
    if not numbers:
        return None
    if not all(math.isfinite(number) and number > 0 for number in numbers):
        raise ValueError(f"a geometric mean needs positive numbers, not {numbers}")
    return math.exp(math.fsum(map(math.log, numbers)) / len(numbers))


def median_interval(values: Sequence[float], level: float = _LEVEL) -> Interval | None:
    """Return the percentile bootstrap interval of a median; None with fewer than 2 values."""
    numbers = _sorted(values)
    if len(numbers) < 2:  # noqa: PLR2004 (one value has no spread)
        return None
    if len(numbers) > _EXACT_UP_TO:
        return _resample((numbers,), lambda sample, axis: np.median(sample, axis=axis), level)
    return _percentiles(*resampled_medians(numbers), level)


def ratio_interval(
    values: Sequence[float], baseline: Sequence[float], level: float = _LEVEL
) -> Interval | None:
    """Return the percentile bootstrap interval of median(values) / median(baseline).

    Both samples are resampled, independently.

    Returns:
        The interval; None where either sample has fewer than 2 values: the ratio's spread
        is then unknown.

    Raises:
        ValueError: where a value is not positive and finite.
    """
    above, below = _sorted(values), _sorted(baseline)
    if min(len(above), len(below)) < 2:  # noqa: PLR2004
        return None
    if above[0] <= 0 or below[0] <= 0:
        raise ValueError("a ratio of medians needs positive numbers")
    if max(len(above), len(below)) > _EXACT_UP_TO:
        return _resample(
            (above, below),
            lambda one, other, axis: np.median(one, axis=axis) / np.median(other, axis=axis),
            level,
        )
    medians, chances = resampled_medians(above)
    divisors, their_chances = resampled_medians(below)
    ratios = np.divide.outer(medians, divisors).ravel()
    return _percentiles(ratios, np.multiply.outer(chances, their_chances).ravel(), level)


def resampled_medians(values: Sequence[float] | Numbers) -> tuple[Numbers, Numbers]:
    """Return the medians that resamples of n values can have, and the chance of each.

    Returns:
        Two arrays of equal length: n entries where n is odd, n (n + 1) / 2 where it is even
        (means of two of the values). The chances sum to 1.
    """
    numbers = _sorted(values)
    count = len(numbers)
    ranks = np.arange(count + 1)
    middle = (count + 1) // 2
    if count % 2:
        # The median is at most the k-th value when at least `middle` draws are among the
        # first k.
        at_most = scipy.stats.binom.sf(middle - 1, count, ranks / count)
        return numbers, np.diff(at_most)
    # With 2m draws the median is the mean of the m-th and the next. They are the values
    # i < j when m draws are up to i, one of them i, and m are from j on, one of them j.
    rank = ranks[1:]
    first, second = np.meshgrid(rank, rank, indexing="ij")
    chances = (
        _halves(count, first, second)
        - _halves(count, first - 1, second)
        - _halves(count, first, second + 1)
        + _halves(count, first - 1, second + 1)
    )
    # Both are the value i when more than m draws are up to i, and fewer than m up to i - 1.
    more = scipy.stats.binom.sf(middle, count, ranks / count)
    split = _halves(count, rank - 1, rank) - _halves(count, rank - 1, rank + 1)
    np.fill_diagonal(chances, np.diff(more) - split)
    upper = np.triu_indices(count)
    # Half of each, for their sum may overflow where they don't.
    means = np.add.outer(numbers / 2, numbers / 2)
    return means[upper], np.clip(chances[upper], 0.0, 1.0)


def _halves(count: int, first: npt.NDArray[np.int_], second: npt.NDArray[np.int_]) -> Numbers:
    """Return the chance that half of the draws are up to a rank, and half from another on."""
    half = count // 2
    inside = np.clip(first, 0, None) * np.clip(count - second + 1, 0, None) / count**2
    ways: float = math.comb(count, half)
    chances: Numbers = np.asarray(ways * inside**half, dtype=float)
    return chances


def _percentiles(values: Numbers, chances: Numbers, level: float) -> Interval:
    order = np.argsort(values, kind="stable")
    values, chances = values[order], chances[order]
    tail = (1 - level) / 2 - _ROUNDING
    low = int(np.argmax(np.cumsum(chances) >= tail))
    high = int(np.argmax(np.cumsum(chances[::-1]) >= tail))
    return float(values[low]), float(values[len(values) - 1 - high])


def _resample(
    samples: tuple[Numbers, ...], statistic: Callable[..., Any], level: float
) -> Interval:
    result = scipy.stats.bootstrap(
        samples,
        statistic,
        n_resamples=_RESAMPLES,
        confidence_level=level,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(_SEED),
    )
    interval = result.confidence_interval
    return float(interval.low), float(interval.high)


def _sorted(values: Sequence[float] | Numbers) -> Numbers:
    """Return values as a sorted array: an interval must not depend on their order."""
    numbers = np.sort(np.asarray(values, dtype=float))
    if not np.isfinite(numbers).all():
        raise ValueError("a value is not finite")
    return numbers
