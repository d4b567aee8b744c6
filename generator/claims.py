"""Tests claims on a campaign's cells: each comparison, what holds, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from catalog.claim import BestMeanRule, BestRule, RatioRule
from generator.measures import list_rows
from generator.ranking import cell_of, compare_times
from generator.statistics import geometric_mean, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from catalog.claim import Claim, Selection
    from catalog.entries import Scenario
    from generator.measures import Cell

Verdict = Literal["supported", "partly supported", "refuted", "inconclusive", "no data"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One comparison that a claim makes: a figure, its interval, and whether the rule holds.

    ``of`` and ``to`` are cells. ``holds`` is None where the data can't tell.
    """

    workload: str
    of: Cell
    to: Cell
    figure: float
    low: float | None
    high: float | None
    holds: bool | None


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict and the comparisons behind it."""

    claim: Claim
    verdict: Verdict
    comparisons: tuple[Comparison, ...]

    @property
    def hold(self) -> int:
        """How many comparisons hold."""
        return sum(comparison.holds is True for comparison in self.comparisons)

    @property
    def smallest(self) -> float | None:
        """The smallest figure."""
        return min((comparison.figure for comparison in self.comparisons), default=None)

    @property
    def largest(self) -> float | None:
        """The largest figure."""
        return max((comparison.figure for comparison in self.comparisons), default=None)


@dataclass(frozen=True)
class Evidence:
    """What claims are tested on.

    Attributes:
        cells: a labelled cell table.
        times: the total times of each cell's runs, in seconds.
        prices: USD per hour by scenario and instance.
        scenario: the one that a rule uses which names none.
        resolution: the campaign's; None without repeats.
    """

    cells: pd.DataFrame
    times: Mapping[Cell, tuple[float, ...]]
    prices: Mapping[Scenario, Mapping[str, float | None]]
    scenario: Scenario
    resolution: float | None


def judge_claims(claims: Iterable[Claim], evidence: Evidence) -> list[Judgement]:
    """Return each claim with its verdict, in the claims' order."""
    rows = [row for row in list_rows(evidence.cells) if cell_of(row) in evidence.times]
    judgements = []
    for claim in claims:
        mine = [row for row in rows if not claim.workloads or row["workload"] in claim.workloads]
        comparisons: list[Comparison] = []
        for rule in claim.rules:
            if isinstance(rule, RatioRule):
                comparisons += _compare_ratios(rule, mine, evidence)
            elif isinstance(rule, BestRule):
                comparisons += _compare_best(rule, mine, evidence)
            else:
                comparisons += _compare_means(rule, mine, evidence)
        verdict = give_verdict([comparison.holds for comparison in comparisons])
        judgements.append(Judgement(claim, verdict, tuple(comparisons)))
    return judgements


def give_verdict(holds: Iterable[bool | None]) -> Verdict:
    """Return the verdict of comparisons that hold, fail, or (None) can't tell.

    Supported: all hold. Refuted: none does. Partly supported: some hold and some fail. Where
    some can't tell and the others agree, neither of the first two is known: inconclusive.
    """
    seen = set(holds)
    if not seen:
        return "no data"
    if {True, False} <= seen:
        return "partly supported"
    if None in seen:
        return "inconclusive"
    return "supported" if True in seen else "refuted"


def _is_selected(row: Row, selection: Selection) -> bool:
    return (
        selection.device in (None, row["device"])
        and (not selection.builds or row["build"] in selection.builds)
        and (not selection.instances or row["instance"] in selection.instances)
        and (not selection.vcpus or row["vcpus"] in selection.vcpus)
    )


def _factor(rule: RatioRule | BestRule | BestMeanRule, row: Row, data: Evidence) -> float | None:
    """Return what a row's time is multiplied by for the rule's measure; None: no price."""
    if rule.measure == "time":
        return 1.0
    return data.prices.get(rule.scenario or data.scenario, {}).get(row["instance"])


def _usable(
    rule: RatioRule | BestRule | BestMeanRule, rows: Iterable[Row], data: Evidence
) -> list[tuple[float, float, Row]]:
    """Return (measure, factor, row) of the rows that have the rule's measure, least first."""
    usable = []
    for row in rows:
        factor = _factor(rule, row, data)
        if factor is not None:
            usable.append((median(data.times[cell_of(row)]) * factor, factor, row))
    return sorted(usable, key=lambda item: (item[0], cell_of(item[2])))


def _by_workload(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["workload"], []).append(row)
    return sorted(groups.items())


def _compare_ratios(rule: RatioRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    comparisons = []
    for workload, group in _by_workload(rows):
        ofs = _usable(rule, (row for row in group if _is_selected(row, rule.of)), data)
        tos = _usable(rule, (row for row in group if _is_selected(row, rule.to)), data)
        if rule.pick == "least":
            ofs = ofs[:1]
        for measure, factor, row in ofs:
            for other_measure, other_factor, other in tos:
                if cell_of(row) == cell_of(other):
                    continue
                if any(row[key] != other[key] for key in rule.same):
                    continue
                times, other_times = data.times[cell_of(row)], data.times[cell_of(other)]
                low, high = ratio_interval(times, other_times) or (None, None)
                scale = factor / other_factor
                figure = measure / other_measure
                low = low * scale if low is not None else None
                high = high * scale if high is not None else None
                if rule.figure == "saving":
                    figure = 1 - figure
                    low, high = (
                        1 - high if high is not None else None,
                        1 - low if low is not None else None,
                    )
                holds = _hold(rule, figure, low, high)
                comparisons.append(
                    Comparison(workload, cell_of(row), cell_of(other), figure, low, high, holds)
                )
    return comparisons


def _is_within(rule: RatioRule, figure: float) -> bool:
    return (
        (rule.above is None or figure > rule.above)
        and (rule.at_least is None or figure >= rule.at_least)
        and (rule.below is None or figure < rule.below)
        and (rule.at_most is None or figure <= rule.at_most)
    )


def _hold(rule: RatioRule, figure: float, low: float | None, high: float | None) -> bool | None:
    """Return whether a figure holds; None where its interval crosses a bound of the rule."""
    if low is None or high is None:
        return _is_within(rule, figure)
    inside = {_is_within(rule, value) for value in (low, figure, high)}
    if inside == {False}:
        # Both ends outside and on different sides: the interval covers the whole range.
        lower = rule.above if rule.above is not None else rule.at_least
        upper = rule.below if rule.below is not None else rule.at_most
        covers = lower is not None and upper is not None and low <= lower and high >= upper
        return None if covers else False
    return True if inside == {True} else None


def _compare_best(rule: BestRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    comparisons = []
    for workload, group in _by_workload(rows):
        ranked = _usable(rule, (row for row in group if _is_selected(row, rule.among)), data)
        named = [item for item in ranked if _is_selected(item[2], rule.named)]
        base = next((item for item in _usable(rule, group, data) if item[2]["is_baseline"]), None)
        if not named or base is None or len(ranked) < 2:  # noqa: PLR2004 (none to compare with)
            continue
        measure, factor, row = named[0]
        rivals = [item for item in ranked if not _is_selected(item[2], rule.named)]
        holds: bool | None = ranked[0][2] is row
        if any(
            compare_times(
                data.times[cell_of(other)],
                data.times[cell_of(row)],
                data.resolution,
                other_factor / factor,
            )
            for _, other_factor, other in rivals[:1]
        ):
            holds = None
        low, high = ratio_interval(data.times[cell_of(row)], data.times[cell_of(base[2])]) or (
            None,
            None,
        )
        scale = factor / base[1]
        comparisons.append(
            Comparison(
                workload,
                cell_of(row),
                cell_of(base[2]),
                measure / base[0],
                low * scale if low is not None else None,
                high * scale if high is not None else None,
                holds,
            )
        )
    return comparisons


def _compare_means(rule: BestMeanRule, rows: list[Row], data: Evidence) -> list[Comparison]:
    """Return one comparison: the named pair's mean, and whether no other's is less.

    Intervals are not carried into means: the resolution alone decides what can't be told.
    """
    measures: dict[tuple[str, str], dict[str, float]] = {}
    rows_of: dict[tuple[str, str], Row] = {}
    groups = _by_workload(rows)
    for workload, group in groups:
        usable = _usable(rule, group, data)
        base = next((measure for measure, _, row in usable if row["is_baseline"]), None)
        if base is None:
            return []
        for measure, _, row in usable:
            if _is_selected(row, rule.among):
                pair = (row["build"], row["instance"])
                measures.setdefault(pair, {})[workload] = measure / base
                rows_of[pair] = row
    means = {
        pair: geometric_mean(values.values()) or 0.0
        for pair, values in measures.items()
        if len(values) == len(groups)
    }
    named = sorted(
        (mean, pair) for pair, mean in means.items() if _is_selected(rows_of[pair], rule.named)
    )
    others = sorted(
        (mean, pair) for pair, mean in means.items() if not _is_selected(rows_of[pair], rule.named)
    )
    if not named or not others:
        return []
    mean, (build, instance) = named[0]
    holds: bool | None = mean < others[0][0]
    if data.resolution is not None and abs(mean / others[0][0] - 1) <= data.resolution:
        holds = None
    everything = "all workloads"
    best, next_best = (everything, build, instance), (everything, *others[0][1])
    return [Comparison(everything, best, next_best, mean, None, None, holds)]
