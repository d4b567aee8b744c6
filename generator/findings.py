"""What the data says of its own accord: sentences with their figures, each under an anchor.

An anchor is made of names alone (workload, build, instance, scenario), so that it stays the same
while the figures change.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from generator.answers import in_sentence, name_build
from generator.measures import cell_table, list_rows
from generator.pricing import break_even_price
from generator.ranking import are_alike, cell_of, scaling_table
from generator.wording import (
    format_count,
    format_percent,
    format_ratio,
    format_seconds,
    format_usd,
    join_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from generator.report import Report

Row = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """A sentence that can be quoted, and its anchor on the conclusions page."""

    anchor: str
    sentence: str


def find_bests(report: Report) -> list[Finding]:
    """Return each workload's best cell by time, by cost, and those that nothing beats on both."""
    cells = {row["row"]: row for row in list_rows(report.cells)}
    return [
        Finding(f"best-{row['workload']}", f"{row['workload']}: {_best_of(row, cells, report)}.")
        for row in list_rows(report.answer)
        if row["fastest"] is not None
    ]


def _best_of(row: Row, cells: dict[int, Row], report: Report) -> str:
    fastest = cells[row["fastest"]]
    relative = _relative(fastest, "time_ratio", report, "time")
    time = f"{format_seconds(fastest['time_s'])} s{relative}"
    first = f"{_subject(fastest)} {_be(fastest)} the fastest ({time})"
    parts = [first + _tied(row["fastest_ties"], cells)]
    if row["cheapest"] is not None:
        cheapest = cells[row["cheapest"]]
        relative = _relative(cheapest, "cost_ratio", report, "cost")
        cost = f"{format_usd(cheapest['cost_usd'])}{relative}"
        second = f"{_subject(cheapest)} {_be(cheapest)} the cheapest ({cost})"
        second += f", at {format_ratio(row['gives_up'])} the fastest's time"
        parts.append(second + _tied(row["cheapest_ties"], cells))
        front = [_subject(cells[label]) for label in row["unbeaten"]]
        mine = [cell for cell in cells.values() if cell["workload"] == row["workload"]]
        unpriced = sum(cell["time_s"] is not None and cell["cost_usd"] is None for cell in mine)
        priced = sum(cell["cost_usd"] is not None for cell in mine)
        among = f" (among the {priced} with a price)" if unpriced else ""
        if len(front) > 1:
            parts.append(f"nothing beats {join_words(front)} on both{among}")
        elif front and priced > 1:
            parts.append(f"{front[0]} beats all others on both{among}")
        elif unpriced:
            parts.append("it is the only one with a price")
    return "; ".join(parts)


def _subject(row: Row) -> str:
    return in_sentence(row["label"])


def _be(row: Row) -> str:
    return "are" if "vCPUs" in row["label"] else "is"


def _relative(row: Row, column: str, report: Report, noun: str) -> str:
    if row[column] is None or row["is_baseline"] or not report.baseline:
        return ""
    return f", {format_ratio(row[column])} {_of_baseline(report)} {noun}"


def _of_baseline(report: Report) -> str:
    return "the GPU's" if report.baseline == "the GPU" else f"that of {report.baseline} in"


def _tied(ties: Sequence[int], cells: dict[int, Row]) -> str:
    if not ties:
        return ""
    names = join_words([_subject(cells[label]) for label in ties])
    return f", with no measurable difference to {names}"


def find_compiled_savings(report: Report) -> list[Finding]:
    """Return what compiling buys on each instance: the range of savings, and how often it does."""
    rows = [row for row in list_rows(report.cells) if row["time_s"] is not None]
    known = {cell_of(row): row for row in rows}
    by_instance: dict[str, list[tuple[Row, Row]]] = {}
    for row in rows:
        plain = known.get((row["workload"], "pip", row["instance"]))
        if row["build"] == "compiled" and plain:
            by_instance.setdefault(row["instance"], []).append((row, plain))
    return [
        Finding(f"compiling-{instance}", _saving_of(pairs, report))
        for instance, pairs in by_instance.items()
    ]


def _saving_of(pairs: list[tuple[Row, Row]], report: Report) -> str:
    savings = [1 - one["time_s"] / plain["time_s"] for one, plain in pairs]
    unsure = sum(_alike(one, plain, report) for one, plain in pairs)
    sure = [
        saving
        for saving, (one, plain) in zip(savings, pairs, strict=True)
        if not _alike(one, plain, report)
    ]
    gains = sum(saving > 0 for saving in sure)
    name = pairs[0][0]["instance_label"]
    text = (
        f"On {name}, compiled TensorFlow saves time for {gains} of "
        f"{format_count(len(pairs), 'workload')}: {_range(savings)} of pip's time, "
        f"{format_percent(median(savings))} in the median"
    )
    if unsure:
        text += f"; for {unsure} there is no measurable difference"
    return f"{text}.{_predicted_of([row for pair in pairs for row in pair])}"


def _range(shares: Sequence[float]) -> str:
    low, high = format_percent(min(shares)), format_percent(max(shares))
    return low if low == high else f"{low} to {high}"


def _alike(one: Row, other: Row, report: Report) -> bool:
    timings = report.timings
    return are_alike(timings[cell_of(one)], timings[cell_of(other)], report.resolution)


def _predicted_of(rows: Sequence[Row]) -> str:
    count = len({row["row"] for row in rows if row["predicted"]})
    if not count:
        return ""
    return f" ({format_count(count, 'time is', 'times are')} predicted.)"


def find_scaling(report: Report) -> list[Finding]:
    """Return, for each build, from which size on more vCPUs stop making training faster.

    A step pays while the median speed-up over the workloads is above 1 by more than the
    campaign's resolution.
    """
    table = scaling_table(report.cells)
    findings = []
    for build in sorted(set(table["build"])):
        steps = []
        mine = table[table["build"] == build]
        for (small, large), group in mine.groupby(["from_vcpus", "to_vcpus"], sort=True):
            steps.append(
                (
                    int(small),
                    int(large),
                    median(group["speed_up"].tolist()),
                    median(group["efficiency"].tolist()),
                )
            )
        findings.append(Finding(f"scaling-{build}", _scaling_of(build, steps, report)))
    return findings


def _scaling_of(build: str, steps: list[tuple[int, int, float, float]], report: Report) -> str:
    near = report.resolution or 0.0
    words = [
        f"from {small} to {large} vCPUs {format_ratio(speed_up)} as fast, at an efficiency of "
        f"{format_percent(efficiency)}"
        for small, large, speed_up, efficiency in steps
    ]
    stop = next((step for step in steps if step[2] <= 1 + near), None)
    if stop:
        text = f"With {name_build(build)}, vCPUs stop paying after {stop[0]}"
    else:
        text = (
            f"With {name_build(build)}, every step up to {steps[-1][1]} vCPUs makes training faster"
        )
    predicted = [row for row in list_rows(report.cells) if row["build"] == build]
    return f"{text}: in the median, {join_words(words)}.{_predicted_of(predicted)}"


def find_break_evens(report: Report) -> list[Finding]:
    """Return below which price each build on each instance costs less than the baseline."""
    rows = list_rows(report.cells)
    base = {row["workload"]: row["cost_usd"] for row in rows if row["is_baseline"]}
    groups: dict[tuple[str, str], list[tuple[float, Row]]] = {}
    for row in rows:
        if row["time_s"] is None or row["is_baseline"]:
            continue
        price = break_even_price(row["time_s"], base.get(row["workload"]))
        if price is not None:
            groups.setdefault((row["build"], row["instance"]), []).append((price, row))
    return [
        Finding(f"break-even-{build}-{instance}", _break_even_of(items, report))
        for (build, instance), items in groups.items()
    ]


def _break_even_of(items: list[tuple[float, Row]], report: Report) -> str:
    row = items[0][1]
    subject = in_sentence(row["plain_label"])
    subject = subject[0].upper() + subject[1:]
    cost = "cost" if _be(row) == "are" else "costs"
    low, high = min(price for price, _ in items), max(price for price, _ in items)
    count = len(items)
    scope = "the workload" if count == 1 else f"all {count} workloads"
    text = f"{subject} {cost} less than {report.baseline} for {scope} "
    text += f"below {format_usd(low)} an hour"
    if count > 1:
        text += f", and for none above {format_usd(high)}"
    paid = row["usd_per_hour"]
    if paid is not None:
        below = sum(price > paid for price, _ in items)
        text += f"; at the {format_usd(paid)} paid, for {below} of {count}"
    return f"{text}.{_predicted_of([item for _, item in items])}"


def find_price_changes(report: Report) -> list[Finding]:
    """Return, for each scenario, which cells are the cheapest, and relative to the baseline."""
    labels = {cell_of(row): row["plain_label"] for row in list_rows(report.cells)}
    findings = []
    for scenario in report.scenarios:
        cells = cell_table(report.campaign, report.prices[scenario], scenario)
        priced = [row for row in list_rows(cells) if row["cost_usd"] is not None]
        best: dict[str, Row] = {}
        for row in sorted(priced, key=lambda row: (row["cost_usd"], *cell_of(row))):
            best.setdefault(row["workload"], row)
        sentence = _scenario_of(scenario, best, labels, report)
        findings.append(Finding(f"prices-{scenario}", sentence))
    return findings


def _scenario_of(
    scenario: str,
    best: dict[str, Row],
    labels: dict[tuple[str, str, str], str],
    report: Report,
) -> str:
    by_label: dict[str, list[str]] = {}
    for workload, row in sorted(best.items()):
        by_label.setdefault(labels[cell_of(row)], []).append(workload)
    ordered = sorted(by_label.items(), key=lambda item: (-len(item[1]), item[0]))
    phrases = [
        f"{in_sentence(label)} {'are' if 'vCPUs' in label else 'is'} the cheapest for "
        f"{len(workloads)} of {len(best)} workloads"
        + (f" ({join_words(workloads)})" if len(ordered) > 1 else "")
        for label, workloads in ordered
    ]
    text = f"At {scenario} prices, {join_words(phrases)}"
    ratios = sorted(row["cost_ratio"] for row in best.values() if row["cost_ratio"] is not None)
    rivals = [row for row in best.values() if not row["is_baseline"]]
    if report.baseline and not ratios and rivals:
        text += f"; {report.baseline} has no price in it to compare with"
    elif report.baseline and rivals and ratios:
        text += f", at {format_ratio(ratios[0])}"
        text += f" to {format_ratio(ratios[-1])}" if ratios[-1] != ratios[0] else ""
        text += f" {_of_baseline(report)} cost"
    return f"{text}.{_predicted_of(list(best.values()))}"
