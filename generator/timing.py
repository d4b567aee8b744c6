"""A cell's timing: the total times of its runs, and how sure each of them is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from generator.statistics import Interval, median, median_interval, ratio_interval


@dataclass(frozen=True)
class Timing:
    """The total times of a cell's runs, in seconds, sorted.

    ``below`` and ``above`` say how far a predicted time may lie off, as factors of at least 1:
    the truth is between time / below and time × above. Both are 1 for times that were measured.
    """

    values: tuple[float, ...]
    below: float = 1.0
    above: float = 1.0

    @property
    def predicted(self) -> bool:
        """Whether the times are predicted from the first epochs of runs."""
        return self.below > 1 or self.above > 1

    @property
    def time_s(self) -> float:
        """The cell's time: the median."""
        return median(self.values)

    @property
    def interval(self) -> Interval | None:
        """The interval of the time, in seconds; None for one run that was measured."""
        spread = median_interval(self.values)
        if not self.predicted:
            return spread
        return _widen(self.time_s, spread, (self.below,), (self.above,))


@dataclass(frozen=True)
class Ratio:
    """A ratio of two cells' measures, with its interval where one is known."""

    value: float
    low: float | None
    high: float | None

    def scaled(self, factor: float) -> Ratio:
        """Return the ratio times a constant, such as a ratio of prices."""
        return Ratio(
            self.value * factor,
            None if self.low is None else self.low * factor,
            None if self.high is None else self.high * factor,
        )


def compare_timings(one: Timing, other: Timing) -> Ratio:
    """Return the ratio of two cells' times, one / other.

    Its interval is the bootstrap's where both have several runs. Where either is predicted, it
    is wider: the spread and what each prediction may lie off add up in quadrature, as factors.
    """
    value = one.time_s / other.time_s
    spread = ratio_interval(one.values, other.values)
    if one.predicted or other.predicted:
        spread = _widen(value, spread, (one.below, other.above), (one.above, other.below))
    low, high = spread or (None, None)
    return Ratio(value, low, high)


def _widen(
    value: float, spread: Interval | None, below: tuple[float, ...], above: tuple[float, ...]
) -> Interval:
    low, high = spread or (value, value)
    down = math.hypot(math.log(value / low), *map(math.log, below))
    up = math.hypot(math.log(high / value), *map(math.log, above))
    return value * math.exp(-down), value * math.exp(up)
