"""The pages' tables: rows of words, made from a report's figures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from catalog.entries import find_instance
from generator.answers import row_of
from generator.labels import PREDICTED
from generator.measures import cell_table, list_rows
from generator.prediction import measure_error
from generator.pricing import billed_cost, break_even_price
from generator.ranking import scaling_table
from generator.wording import (
    format_interval,
    format_percent,
    format_ratio,
    format_seconds,
    format_usd,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.price_book import PricePart
    from generator.report import Report

Row = dict[str, Any]

# From the fewest that a prediction needs; beyond these, few workloads have epochs left.
_KNOWN_EPOCHS = (3, 4, 5, 6, 8)
# "sha256:" and twelve digits: as engines show a digest.
_SHORT_DIGEST = 19


def answer_rows(report: Report) -> list[Row]:
    """Return the answer's rows: a workload's fastest and cheapest cell, and what that costs.

    ``fastest`` and ``cheapest`` are cell rows or None; ``*_ties`` are labels of those that
    can't be told from them; ``gives_up`` is in words; ``unbeaten`` are labels.
    """
    cells = list_rows(report.cells)
    labels = {row["row"]: row["label"] for row in cells}
    return [
        {
            "workload": row["workload"],
            "fastest": row_of(cells, row["fastest"]),
            "fastest_ties": [labels[tie] for tie in row["fastest_ties"]],
            "cheapest": row_of(cells, row["cheapest"]),
            "cheapest_ties": [labels[tie] for tie in row["cheapest_ties"]],
            "gives_up": format_ratio(row["gives_up"]),
            "unbeaten": [labels[cell] for cell in row["unbeaten"]],
        }
        for row in list_rows(report.answer)
    ]


def cell_rows(report: Report, workload: str) -> list[Row]:
    """Return a workload's cells in words, the best of each column marked."""
    rows = [row for row in list_rows(report.cells) if row["workload"] == workload]
    best = {
        name: min((row[name] for row in rows if row[name] is not None), default=None)
        for name in ("time_s", "cost_usd")
    }
    shown = []
    for row in rows:
        fastest = row["time_s"] is not None and row["time_s"] == best["time_s"]
        cheapest = row["cost_usd"] is not None and row["cost_usd"] == best["cost_usd"]
        words = [
            word
            for word, is_so in (
                ("baseline", row["is_baseline"]),
                ("fastest", fastest),
                ("cheapest", cheapest),
                ("nothing beats it", row["unbeaten"] and not (fastest or cheapest)),
                ("no measurable difference from the baseline", row["no_difference"]),
                ("predicted from the first epochs", row["predicted"]),
            )
            if is_so
        ]
        shown.append(
            {
                "label": row["label"],
                "anchor": f"{row['workload']}-{row['build']}-{row['instance']}",
                "status": row["status"],
                "time": _best(format_seconds(row["time_s"]), fastest),
                "time_ratio": _best(format_ratio(row["time_ratio"]), fastest),
                "interval": format_interval(row["ratio_low"], row["ratio_high"]),
                "cost": _best(format_usd(row["cost_usd"]), cheapest),
                "cost_ratio": _best(format_ratio(row["cost_ratio"]), cheapest),
                "cost_interval": format_interval(row["cost_low"], row["cost_high"]),
                "n": row["runs"],
                "remark": ", ".join(words),
            }
        )
    return shown


def _best(text: str, is_best: bool) -> str:
    return f"**{text}**" if is_best else text


def software_rows(report: Report) -> list[Row]:
    """Return what each build's figures were made with, in words: a row a combination."""
    counts: Counter[tuple[str, ...]] = Counter()
    for run in report.campaign.figure_runs:
        manifest, software = run.manifest, run.manifest.software
        place = f"{software.runner} {software.engine_version or ''}".strip()
        counts[
            manifest.build,
            # The rest of a wheel's name says for which machines it is.
            " ".join((software.wheel or f"TensorFlow-{software.tensorflow}").split("-")[:2]),
            software.keras or "unknown",
            software.python or "unknown",
            " ".join(f"{name}={value}" for name, value in sorted(manifest.environment.items())),
            place,
            (software.image_digest or "")[:_SHORT_DIGEST],
        ] += 1
    columns = ("build", "wheel", "keras", "python", "environment", "place", "digest")
    return [
        dict(zip(columns, key, strict=True)) | {"runs": count}
        for key, count in sorted(counts.items())
    ]


def price_rows(report: Report) -> list[Row]:
    """Return each instance's prices in words, by scenario, and what they are made of."""
    shown = []
    seen = report.cells.drop_duplicates("instance")
    for row in list_rows(seen):
        instance = row["instance"]
        parts = report.source.parts(instance, report.scenario)
        entry = find_instance(instance)
        shown.append(
            {
                "instance": instance,
                "label": row["instance_label"],
                "provider": entry.provider if entry else "unknown",
                "prices": [
                    format_usd(report.prices[scenario].get(instance))
                    for scenario in report.scenarios
                ],
                "parts": "the plan's own" if parts is None else _add_up(parts, report),
            }
        )
    return shown


def _add_up(parts: Sequence[PricePart], report: Report) -> str:
    """Return a price's parts in words, in the book's currency."""
    currency = report.book.currency if report.book else "USD"
    words = []
    for part in parts:
        amount = format_usd(part.per_hour) if currency == "USD" else f"{part.per_hour:g} {currency}"
        premium = f" + {part.premium_percent:g} %" if part.premium_percent else ""
        words.append(f"{part.part} {amount}{premium}".strip())
    return " + ".join(words)


def run_rows(report: Report, workload: str) -> list[Row]:
    """Return a workload's runs in words, each with the way to its log and manifest."""
    labels = {
        (row["workload"], row["build"], row["instance"]): row["label"]
        for row in list_rows(report.cells)
    }
    shown = []
    for row in list_rows(report.runs):
        if row["workload"] != workload:
            continue
        cell = (row["workload"], row["build"], row["instance"])
        billed = None
        if report.book and report.book.billing and row["wall_s"] is not None:
            price = report.prices[report.scenario].get(row["instance"])
            billed = billed_cost(row["wall_s"], price, report.book.billing)
        shown.append(
            row
            | {
                "label": labels[cell],
                "anchor": f"{row['workload']}-{row['build']}-{row['instance']}-{row['run_id']}",
                "time": format_seconds(row["time_s"]) + (PREDICTED if row["predicted"] else ""),
                "setup": format_seconds(row["setup_s"]),
                "others": format_seconds(row["other_cpu_s"]),
                "billed": format_usd(billed),
                "framework_used": _name_framework(row),
                "has_log": (report.campaign.folder / row["path"] / "epochs.csv").is_file(),
            }
        )
    return shown


def _name_framework(row: Row) -> str:
    """Return what a run was trained with, in words."""
    if row["tensorflow"]:
        return f"TensorFlow {row['tensorflow']}"
    return row["framework"] or "unknown"


def scaling_rows(report: Report) -> list[Row]:
    """Return how each build scales from size to size: the median over workloads, in words."""
    table = scaling_table(report.cells)
    if table.empty:
        return []
    grouped = table.groupby(["from_vcpus", "to_vcpus", "build"], sort=True)
    medians = grouped[["speed_up", "efficiency"]].median().reset_index()
    counts = grouped["workload"].count().reset_index()["workload"]
    gains = (table.assign(gain=table["speed_up"] > 1)).groupby(
        ["from_vcpus", "to_vcpus", "build"], sort=True
    )["gain"]
    return [
        {
            "from": row["from_vcpus"],
            "to": row["to_vcpus"],
            "build": row["build"],
            "speed_up": format_ratio(row["speed_up"]),
            "efficiency": format_percent(row["efficiency"]),
            "workloads": int(count),
            "gain": int(gain),
        }
        for row, count, gain in zip(list_rows(medians), counts, gains.sum(), strict=True)
    ]


def scenario_rows(report: Report) -> list[Row]:
    """Return what each workload's cheapest cell is in each scenario that has prices."""
    shown: dict[str, Row] = {}
    for scenario in report.scenarios:
        table = cell_table(report.campaign, report.prices[scenario], scenario)
        labels = {
            (row["workload"], row["build"], row["instance"]): row["label"]
            for row in list_rows(report.cells)
        }
        priced = [row for row in list_rows(table) if row["cost_usd"] is not None]
        for row in sorted(priced, key=lambda row: (row["workload"], row["cost_usd"])):
            line = shown.setdefault(row["workload"], {"workload": row["workload"], "best": {}})
            label = labels[row["workload"], row["build"], row["instance"]]
            known = row["cost_ratio"] is not None
            figure = format_ratio(row["cost_ratio"]) if known else format_usd(row["cost_usd"])
            words = f"{label}, {figure}"
            line["best"].setdefault(scenario, words)
    return [shown[workload] for workload in sorted(shown)]


def break_even_rows(report: Report) -> list[Row]:
    """Return the hourly price at which each cell would cost what the baseline does."""
    rows = list_rows(report.cells)
    base = {row["workload"]: row["cost_usd"] for row in rows if row["is_baseline"]}
    return [
        {
            "workload": row["workload"],
            "label": row["label"],
            "anchor": f"{row['workload']}-{row['build']}-{row['instance']}",
            "price": format_usd(row["usd_per_hour"]),
            "break_even": format_usd(break_even_price(row["time_s"], base.get(row["workload"]))),
        }
        for row in rows
        if row["time_s"] is not None
        and not row["is_baseline"]
        and break_even_price(row["time_s"], base.get(row["workload"])) is not None
    ]


def prediction_rows(reports: Sequence[Report]) -> list[Row]:
    """Return how far totals lie from what their first epochs predict, by campaign, in words.

    Measured on runs of the full profile that were trained to their end and are longer than what
    the prediction knows.
    """
    shown = []
    for report in reports:
        if report.campaign.card.profile != "full":
            continue
        logs = [[record.elapsed for record in run.epochs] for run in report.campaign.complete_runs]
        for known in _KNOWN_EPOCHS:
            error = measure_error(logs, known)
            if error:
                shown.append(
                    {
                        "campaign": report.name,
                        "epochs": known,
                        "runs": error.runs,
                        "median": format_percent(error.median),
                        "ninth_decile": format_percent(error.ninth_decile),
                        "largest": format_percent(error.largest),
                        "covered": format_percent(error.covered),
                        "half_width": format_percent(error.half_width),
                    }
                )
    return shown


def facts_of_workload(report: Report, workload: str) -> Row:
    """Return what a workload is, from the manifests of its runs: parameters and data."""
    runs = [run for run in report.campaign.runs if run.manifest.workload.name == workload]
    parameters: dict[str, Any] = runs[0].manifest.workload.parameters if runs else {}
    data = sorted(
        {
            (run.manifest.dataset.name, run.manifest.dataset.kind, run.manifest.dataset.note)
            for run in runs
            if run.manifest.dataset
        }
    )
    layers = str(parameters.get("layers", ""))
    return {
        "layers": layers,
        "parameters": [
            (name.replace("_", " "), _plain(value))
            for name, value in sorted(parameters.items())
            if name != "layers"
        ],
        "data": [{"name": name, "kind": kind, "note": note} for name, kind, note in data],
    }


def _plain(value: object) -> str:
    if isinstance(value, list):
        return " × ".join(str(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
