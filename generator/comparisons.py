"""What a claim's rule compares: each pair of cells, the figure, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from catalog.claim import BestRule, BreakEvenRule, RankingRule, RatioRule, ScalingRule
from generator.ranking import are_alike, cell_of
from generator.statistics import geometric_mean
from generator.timing import Ratio, compare_timings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from catalog.claim import BestMeanRule, Bounded, Rule, Selection
    from catalog.price_book import Scenario
    from generator.measures import Cell
    from generator.timing import Timing

Row = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One comparison that a claim makes: a figure, its interval, and whether the rule holds.

    ``of`` and ``to`` are cells. ``holds`` is None where the data can't tell; ``predicted`` says
    that a time behind it is.
    """

    workload: str
    of: Cell
    to: Cell
    figure: float
    low: float | None
    high: float | None
    holds: bool | None
    predicted: bool = False


@dataclass(frozen=True)
class Evidence:
    """What claims are tested on.

    Attributes:
        cells: a labelled cell table.
        timings: each cell's.
        prices: USD per hour by scenario and instance.
        scenario: the one that a rule uses which names none.
        resolution: the campaign's; None without repeats.
    """

    cells: pd.DataFrame
    timings: Mapping[Cell, Timing]
    prices: Mapping[Scenario, Mapping[str, float | None]]
    scenario: Scenario
    resolution: float | None


@dataclass(frozen=True)
class _Item:
    """A cell with the measure that a rule is about: its time times a factor."""

    row: Row
    timing: Timing
    factor: float

    @property
    def measure(self) -> float:
        return self.timing.time_s * self.factor

    @property
    def cell(self) -> Cell:
        return cell_of(self.row)

    def ratio_to(self, other: _Item) -> Ratio:
        return compare_timings(self.timing, other.timing).scaled(self.factor / other.factor)

    def compare(
        self, other: _Item, ratio: Ratio, holds: bool | None, workload: str = ""
    ) -> Comparison:
        return Comparison(
            workload or self.row["workload"],
            self.cell,
            other.cell,
            ratio.value,
            ratio.low,
            ratio.high,
            holds,
            self.timing.predicted or other.timing.predicted,
        )


def compare_cells(rule: Rule, rows: list[Row], data: Evidence) -> list[Comparison]:
    """Return the comparisons that a rule makes among some cells, by workload."""
    if isinstance(rule, RatioRule):
        return [item for group in _groups(rows) for item in _compare_ratios(rule, group, data)]
    if isinstance(rule, ScalingRule):
        return [item for group in _groups(rows) for item in _compare_sizes(rule, group, data)]
    if isinstance(rule, BreakEvenRule):
        return [item for group in _groups(rows) for item in _compare_prices(rule, group, data)]
    if isinstance(rule, RankingRule):
        return [item for group in _groups(rows) for item in _compare_order(rule, group, data)]
    if isinstance(rule, BestRule):
        return [item for group in _groups(rows) for item in _compare_best(rule, group, data)]
    return _compare_means(rule, rows, data)


def _groups(rows: Iterable[Row]) -> list[list[Row]]:
    """Return rows by workload, in the order of the workloads' names."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["workload"], []).append(row)
    return [groups[workload] for workload in sorted(groups)]


def _is_selected(row: Row, selection: Selection) -> bool:
    return (
        selection.device in (None, row["device"])
        and (not selection.builds or row["build"] in selection.builds)
        and (not selection.instances or row["instance"] in selection.instances)
        and (not selection.vcpus or row["vcpus"] in selection.vcpus)
    )


def _list_items(
    rows: Iterable[Row], data: Evidence, measure: str = "time", scenario: Scenario | None = None
) -> list[_Item]:
    """Return the rows that have a measure, least first; without a price there is no cost."""
    prices = data.prices.get(scenario or data.scenario, {})
    items = []
    for row in rows:
        factor = 1.0 if measure == "time" else prices.get(row["instance"])
        if factor is not None:
            items.append(_Item(row, data.timings[cell_of(row)], factor))
    return sorted(items, key=lambda item: (item.measure, item.cell))


def _compare_ratios(rule: RatioRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    items = _list_items(rows, data, rule.measure, rule.scenario)
    ofs = [item for item in items if _is_selected(item.row, rule.of)]
    tos = [item for item in items if _is_selected(item.row, rule.to)]
    if rule.pick == "least":
        ofs = ofs[:1]
    comparisons = []
    for one in ofs:
        for other in tos:
            if one.cell == other.cell or any(one.row[key] != other.row[key] for key in rule.same):
                continue
            ratio = one.ratio_to(other)
            if rule.figure == "saving":
                ratio = _saving(ratio)
            comparisons.append(one.compare(other, ratio, _hold(rule, ratio)))
    return comparisons


def _saving(ratio: Ratio) -> Ratio:
    return Ratio(
        1 - ratio.value,
        None if ratio.high is None else 1 - ratio.high,
        None if ratio.low is None else 1 - ratio.low,
    )


def _compare_sizes(rule: ScalingRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    items = [
        item
        for item in _list_items(rows, data)
        if item.row["device"] == "CPU" and (not rule.builds or item.row["build"] in rule.builds)
    ]
    factor = rule.from_vcpus / rule.to_vcpus if rule.figure == "efficiency" else 1.0
    comparisons = []
    for small in items:
        for large in items:
            if (small.row["vcpus"], large.row["vcpus"]) == (rule.from_vcpus, rule.to_vcpus) and (
                small.row["build"] == large.row["build"]
            ):
                ratio = small.ratio_to(large).scaled(factor)
                comparisons.append(large.compare(small, ratio, _hold(rule, ratio)))
    return comparisons


def _compare_prices(rule: BreakEvenRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    """Return break-even prices: the baseline's cost over the cell's time, in USD per hour."""
    base = _find_base(_list_items(rows, data, "cost", rule.scenario))
    if base is None:
        return []
    comparisons = []
    for item in _list_items(rows, data):
        if _is_selected(item.row, rule.of) and item.cell != base.cell:
            price = compare_timings(base.timing, item.timing).scaled(base.factor)
            comparisons.append(item.compare(base, price, _hold(rule, price)))
    return comparisons


def _compare_order(rule: RankingRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    items = _list_items(rows, data, rule.measure, rule.scenario)
    bests = [
        next((item for item in items if _is_selected(item.row, selection)), None)
        for selection in rule.order
    ]
    return [
        after.compare(before, after.ratio_to(before), _is_less(before, after, data))
        for before, after in pairwise(bests)
        if before and after and before.cell != after.cell
    ]


def _is_less(one: _Item, other: _Item, data: Evidence) -> bool | None:
    """Return whether one measure is less than another; None where they can't be told apart."""
    if are_alike(one.timing, other.timing, data.resolution, one.factor / other.factor):
        return None
    return one.measure < other.measure


def _find_base(items: Iterable[_Item]) -> _Item | None:
    return next((item for item in items if item.row["is_baseline"]), None)


def _is_within(rule: Bounded, figure: float) -> bool:
    return (
        (rule.above is None or figure > rule.above)
        and (rule.at_least is None or figure >= rule.at_least)
        and (rule.below is None or figure < rule.below)
        and (rule.at_most is None or figure <= rule.at_most)
    )


def _hold(rule: Bounded, ratio: Ratio) -> bool | None:
    """Return whether a figure holds; None where its interval crosses a bound of the rule."""
    if ratio.low is None or ratio.high is None:
        return _is_within(rule, ratio.value)
    inside = {_is_within(rule, value) for value in (ratio.low, ratio.value, ratio.high)}
    if inside == {False}:
        # Both ends outside and on different sides: the interval covers the whole range.
        lower = rule.above if rule.above is not None else rule.at_least
        upper = rule.below if rule.below is not None else rule.at_most
        covers = (
            lower is not None and upper is not None and ratio.low <= lower and ratio.high >= upper
        )
        return None if covers else False
    return True if inside == {True} else None


def _compare_best(rule: BestRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    items = _list_items(rows, data, rule.measure, rule.scenario)
    ranked = [item for item in items if _is_selected(item.row, rule.among)]
    named = next((item for item in ranked if _is_selected(item.row, rule.named)), None)
    rival = next((item for item in ranked if not _is_selected(item.row, rule.named)), None)
    base = _find_base(items)
    # One cell alone is the best of nothing.
    if named is None or base is None or len(ranked) < 2:  # noqa: PLR2004
        return []
    holds = True if rival is None else _is_less(named, rival, data)
    return [named.compare(base, named.ratio_to(base), holds)]


def _compare_means(rule: BestMeanRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    """Return one comparison: the named pair's mean, and whether no other's is less.

    Intervals are not carried into means: the resolution alone decides what can't be told.
    """
    measures: dict[tuple[str, str], list[float]] = {}
    items_of: dict[tuple[str, str], _Item] = {}
    groups = _groups(rows)
    for group in groups:
        items = _list_items(group, data, rule.measure, rule.scenario)
        base = _find_base(items)
        if base is None:
            return []
        for item in items:
            if _is_selected(item.row, rule.among):
                pair = (item.row["build"], item.row["instance"])
                measures.setdefault(pair, []).append(item.measure / base.measure)
                items_of[pair] = item
    means = sorted(
        (geometric_mean(values) or 0.0, pair)
        for pair, values in measures.items()
        if len(values) == len(groups)
    )
    named = [item for item in means if _is_selected(items_of[item[1]].row, rule.named)]
    others = [item for item in means if not _is_selected(items_of[item[1]].row, rule.named)]
    if not named or not others:
        return []
    (mean, pair), (next_mean, next_pair) = named[0], others[0]
    holds: bool | None = mean < next_mean
    if data.resolution is not None and abs(mean / next_mean - 1) <= data.resolution:
        holds = None
    everything = "all workloads"
    predicted = any(timing.predicted for timing in data.timings.values())
    best, next_best = (everything, *pair), (everything, *next_pair)
    return [Comparison(everything, best, next_best, mean, None, None, holds, predicted)]
