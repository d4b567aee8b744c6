"""The answer in words: sentences that are made from the tables, and say only what they hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from catalog.entries import read_builds
from generator.labels import PREDICTED
from generator.measures import list_rows
from generator.wording import format_count, format_percent, format_ratio, join_words

if TYPE_CHECKING:
    from generator.claims import Judgement
    from generator.comparisons import Comparison
    from generator.report import Report


def answer_sentence(report: Report) -> str:
    """Return the answer in one or two sentences: what is cheapest, what is fastest."""
    if not report.has_figures:
        return "Nothing has been measured yet: no run of this campaign is complete."
    parts = []
    if report.has_costs:
        parts.append(_best_sentence(report, "cheapest", "cost_ratio", "cost"))
    else:
        parts.append("No machine of this campaign has a price, so the answer is about time alone.")
    parts.append(_best_sentence(report, "fastest", "time_ratio", "time"))
    return " ".join(parts)


def _best_sentence(report: Report, column: str, ratio: str, noun: str) -> str:
    cells = {row["row"]: row for row in list_rows(report.cells)}
    rows = [row for row in list_rows(report.answer) if row[column] is not None]
    sure = [row for row in rows if not row[f"{column}_ties"]]
    total = len(rows)
    if not sure:
        scope = " for any workload" if total > 1 else ""
        return f"Which cell is {column} can't be told{scope}: the best ones are too close."
    counts = Counter((cells[row[column]]["label"]) for row in sure)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    phrases = [
        _phrase(name, counts[name], total, column, first=index == 0)
        for index, name in enumerate(names)
    ]
    text = join_words(phrases)
    if len(names) == 1:
        ratios = sorted(value for row in sure if (value := cells[row[column]][ratio]) is not None)
        if ratios and not cells[sure[0][column]]["is_baseline"] and report.baseline:
            text += f", at {_percents(ratios)} of {_possessive(report.baseline)} {noun}"
    text = text[0].upper() + text[1:] + "."
    if len(sure) < total:
        left = format_count(total - len(sure), "other")
        text += f" For the {left} the best cells can't be told apart."
    return text


def _phrase(label: str, count: int, total: int, column: str, *, first: bool) -> str:
    name = in_sentence(label)
    verb = "are" if "vCPUs" in label else "is"
    if total == 1:
        scope = ""
    elif count == total:
        scope = f" for all {total} workloads"
    else:
        scope = f" for {count} of {total} workloads" if first else f" for {count}"
    return f"{name} {verb} the {column}{scope}" if first else f"{name}{scope}"


def in_sentence(label: str) -> str:
    """Return a cell's label as a sentence's subject: 8 vCPUs with compiled TensorFlow."""
    plain = label.removesuffix(PREDICTED)
    if plain != label:
        return in_sentence(plain) + PREDICTED
    if label == "GPU":
        return "the GPU"
    name, _, build = label.partition(", ")
    return f"{name} with {name_build(build)}" if build else name


def name_build(build: str) -> str:
    """Return a build as a sentence names it: compiled TensorFlow."""
    entry = read_builds().get(build)
    return entry.in_words if entry else build


def _possessive(name: str) -> str:
    return f"{name}'s" if name == "the GPU" else f"the baseline's ({name})"


def _percents(ratios: list[float]) -> str:
    low, high = format_percent(ratios[0]), format_percent(ratios[-1])
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def precision_sentence(report: Report) -> str:
    """Return how precise the figures are: the resolution, or that n is 1."""
    most = max((len(timing.values) for timing in report.timings.values()), default=0)
    if most == 0:
        return "no figures yet"
    if report.resolution is None:
        return "one run a cell (n = 1): small differences may be noise"
    counts = sorted({len(timing.values) for timing in report.timings.values()})
    n = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    return (
        f"{n} runs a cell; identical repeats lie {format_percent(report.resolution)} apart, "
        "and smaller differences count as none"
    )


def weaknesses(report: Report) -> list[str]:
    """Return what is weak about a campaign's figures, each in a sentence; most grave first."""
    card = report.campaign.card
    # What its makers know is weak, no rule can know.
    found = list(card.notes)
    if card.profile == "smoke":
        found.append(
            "Profile smoke: a few seconds of training each, to try the path. "
            "Its figures tell nothing about a machine."
        )
    elif card.profile == "quick":
        found.append(
            "Profile quick: few steps of each workload, after a warm-up epoch. "
            "Ratios are indicative; times are not those of a full training."
        )
    synthetic, substitutes = (_data_of(report, kind) for kind in ("synthetic", "substitute"))
    if synthetic:
        workloads = join_words(sorted({workload for workload, _ in synthetic}))
        found.append(
            f"Synthetic data of the real shape was used for {workloads}: "
            "times compare, accuracies don't."
        )
    if substitutes:
        names = join_words([f"{name} ({workload})" for workload, name in substitutes])
        found.append(f"A substitute data set was used: {names}.")
    predicted = int(report.cells["predicted"].sum())
    if predicted:
        found.append(
            f"The times of {format_count(predicted, 'cell')} of {len(report.cells)} are predicted "
            "from the first epochs of runs that stopped early: they are marked (predicted)."
        )
    statuses = Counter(report.cells["status"])
    found += [
        f"{format_count(statuses[status], 'cell')} of {len(report.cells)} "
        f"{'is' if statuses[status] == 1 else 'are'} {status}."
        for status in ("missing", "failed")
        if statuses[status]
    ]
    measured = report.cells[report.cells["time_s"].notna()]
    unpriced = int(measured["cost_usd"].isna().sum())
    if unpriced and report.has_costs:
        found.append(
            f"{format_count(unpriced, 'cell')} of {len(measured)} with a time "
            f"{'has' if unpriced == 1 else 'have'} no price: costs are compared among the others."
        )
    if not report.baseline:
        found.append("No baseline: nothing is compared with anything.")
    flagged = len({item.file for item in report.exclusions if item.flagged})
    if flagged:
        found.append(
            f"{format_count(flagged, 'run is flagged', 'runs are flagged')} as disturbed or cut "
            "short (see data quality)."
        )
    if report.campaign.inferred:
        found.append("The campaign's own record can't be read: its cells are inferred from runs.")
    return found


def _data_of(report: Report, kind: str) -> list[tuple[str, str]]:
    """Return the workloads that used data of a kind, each with its name, sorted."""
    return sorted(
        {
            (run.manifest.workload.name, run.manifest.dataset.name)
            for run in report.campaign.figure_runs
            if run.manifest.dataset and run.manifest.dataset.kind == kind
        }
    )


def evidence_sentence(judgement: Judgement, labels: dict[tuple[str, str], str]) -> str:
    """Return what a verdict rests on: how many comparisons hold, the range, what fails."""
    count = len(judgement.comparisons)
    if not count or judgement.smallest is None or judgement.largest is None:
        return "No comparison could be made."
    hold = f"{judgement.hold} of {format_count(count, 'comparison')} hold"
    hold += "s" if count == 1 else ""
    low, high = (show_figure(judgement, end) for end in (judgement.smallest, judgement.largest))
    figures = f"figure {low}" if low == high else f"figures from {low} to {high}"
    text = f"{hold}; {figures}"
    open_ones = sum(comparison.holds is None for comparison in judgement.comparisons)
    if open_ones:
        text += f"; {open_ones} can't be told"
    if judgement.predicted:
        text += f"; {judgement.predicted} of them rest on predicted times"
    fails = [comparison for comparison in judgement.comparisons if comparison.holds is False]
    if fails and len(fails) <= 2 and judgement.hold:  # noqa: PLR2004 (more is a list, not a line)
        text += f"; fails: {join_words([name_comparison(item, labels) for item in fails])}"
    return text + "."


def show_figure(judgement: Judgement, value: float) -> str:
    """Return a figure of a claim in words: a saving in per cent, or a ratio."""
    saving = any(getattr(rule, "figure", "") == "saving" for rule in judgement.claim.rules)
    return format_percent(value) if saving else format_ratio(value)


def name_comparison(comparison: Comparison, labels: dict[tuple[str, str], str]) -> str:
    """Return a comparison in words: mnist_mlp, 64 vCPUs, pip against 32 vCPUs, pip."""
    of = labels.get(comparison.of[1:], "/".join(comparison.of[1:]))
    to = labels.get(comparison.to[1:], "/".join(comparison.to[1:]))
    return f"{comparison.workload}, {of} against {to}"


def cell_labels(report: Report) -> dict[tuple[str, str], str]:
    """Return the label of each (build, instance)."""
    return {(row["build"], row["instance"]): row["plain_label"] for row in list_rows(report.cells)}


def row_of(rows: list[dict[str, Any]], label: int | None) -> dict[str, Any] | None:
    """Return the row with an index label; None for None."""
    return next((row for row in rows if row["row"] == label), None) if label is not None else None
