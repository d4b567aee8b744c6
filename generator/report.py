"""A campaign's report: every table that its pages and its published data are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.claims import Judgement, judge_claims
from generator.comparisons import Evidence
from generator.labels import baseline_label, label_cells, sort_by_size
from generator.measures import (
    Cell,
    campaign_resolution,
    cell_table,
    cell_timings,
    epoch_table,
    run_table,
)
from generator.pricing import PriceSource, find_prices
from generator.quality import flag_runs
from generator.ranking import answer_table, mark_unbeaten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from catalog.claim import ClaimFile
    from catalog.price_book import PriceBook, Scenario
    from generator.reading import Campaign, Exclusion
    from generator.timing import Timing


@dataclass(frozen=True)
class Report:
    """A campaign, measured.

    Attributes:
        campaign: as read.
        cells: the cell table, labelled, with ``unbeaten``; in the order that pages show.
        runs: a row a run.
        epochs: a row an epoch of each complete run.
        timings: each cell's, of those that have a figure.
        resolution: how far identical repeats lie apart, as a share; None without repeats.
        answer: a row a workload: fastest, cheapest, what the cheapest gives up.
        judgements: the claims, judged, by file of claims.
        exclusions: what gave no figure, and what is flagged.
        source: where its prices come from.
        scenario: the one whose prices the figures have.
        scenarios: those in which some instance has a price, the campaign's own first.
        prices: USD per hour of each instance, by scenario.
        baseline: the baseline in words ("the GPU"); empty where there is none.
    """

    campaign: Campaign
    cells: pd.DataFrame
    runs: pd.DataFrame
    epochs: pd.DataFrame
    timings: Mapping[Cell, Timing]
    resolution: float | None
    answer: pd.DataFrame
    judgements: Sequence[tuple[ClaimFile, list[Judgement]]]
    exclusions: tuple[Exclusion, ...]
    source: PriceSource
    scenario: Scenario
    scenarios: tuple[Scenario, ...]
    prices: Mapping[Scenario, Mapping[str, float | None]]
    baseline: str

    @property
    def name(self) -> str:
        """The campaign's name."""
        return self.campaign.name

    @property
    def book(self) -> PriceBook | None:
        """The price book, where the prices come from one."""
        return self.source.book

    @property
    def has_costs(self) -> bool:
        """Whether any measured cell has a price."""
        return bool(self.cells["cost_usd"].notna().any())

    @property
    def has_figures(self) -> bool:
        """Whether any cell was measured."""
        return bool(self.cells["time_s"].notna().any())

    @property
    def all_judgements(self) -> list[Judgement]:
        """The claims of all files, judged."""
        return [judgement for _, judgements in self.judgements for judgement in judgements]

    @property
    def claim_sources(self) -> dict[str, dict[str, str]]:
        """Who made each claim, by its id."""
        return {
            judgement.claim.id: entry.source.model_dump()
            for entry, judgements in self.judgements
            for judgement in judgements
        }


def make_report(
    campaign: Campaign,
    claim_files: Sequence[ClaimFile],
    *,
    scenario: Scenario | None = None,
    offered: PriceBook | None = None,
) -> Report:
    """Measure a campaign, price it and judge the claims on it.

    Args:
        campaign: as read.
        claim_files: the claims.
        scenario: which prices to take, where some instance of the campaign has one in it;
            the campaign's own otherwise.
        offered: a price book to price the campaign anew by, where it knows its instances.

    Raises:
        DeclaredError: where its price book is missing or at fault.
    """
    timings = cell_timings(campaign)
    resolution = campaign_resolution(timings)
    source = find_prices(campaign.card, offered)
    scenarios = tuple(source.scenarios)
    chosen = scenario if scenario in scenarios else source.scenario
    prices = {name: source.list_prices(name) for name in sorted({chosen, *scenarios})}
    cells = label_cells(cell_table(campaign, prices[chosen], chosen), campaign)
    cells = sort_by_size(cells.assign(unbeaten=mark_unbeaten(cells)))
    evidence = Evidence(cells, timings, prices, chosen, resolution)
    return Report(
        campaign=campaign,
        cells=cells,
        runs=run_table(campaign),
        epochs=epoch_table(campaign),
        timings=timings,
        resolution=resolution,
        answer=answer_table(cells, timings, resolution),
        judgements=[(entry, judge_claims(entry.claims, evidence)) for entry in claim_files],
        exclusions=tuple(sorted({*campaign.exclusions, *flag_runs(campaign)})),
        source=source,
        scenario=chosen,
        scenarios=scenarios,
        prices=prices,
        baseline=baseline_label(cells),
    )


def check_prices(
    reports: Sequence[Report], offered: PriceBook | None, scenario: Scenario | None
) -> None:
    """Raise ValueError where prices that were asked for price nothing of any campaign."""
    if offered and not any(report.book is offered for report in reports):
        known = ", ".join(sorted({name for item in reports for name in item.source.instances}))
        raise ValueError(
            f"{offered.title}: it prices no instance of any campaign; they are {known}"
        )
    if scenario and not any(report.scenario == scenario for report in reports):
        known = ", ".join(sorted({name for report in reports for name in report.scenarios}))
        raise ValueError(
            f"SCENARIO={scenario}: no campaign has a price in it; there are prices for "
            f"{known or 'none'}"
        )


def choose_shown(reports: Sequence[Report], wanted: str = "") -> Report | None:
    """Return the report that the start page shows; None where none has a figure.

    The one that is wanted; else, by this rule: priced before unpriced, a fuller profile
    before a shorter, a later date before an earlier, then by name.

    Raises:
        ValueError: where the wanted one is not there.
    """
    if wanted:
        for report in reports:
            if report.name == wanted:
                return report
        known = ", ".join(report.name for report in reports) or "none"
        raise ValueError(f"CAMPAIGN={wanted}: no such campaign; choose from {known}")
    profiles = ("full", "quick", "smoke")
    shown = [report for report in reports if report.has_figures]
    # Stable sorts, the least important first.
    shown.sort(key=lambda report: report.name)
    shown.sort(key=lambda report: report.campaign.card.date or "", reverse=True)
    shown.sort(key=lambda report: profiles.index(report.campaign.card.profile))
    shown.sort(key=lambda report: not report.has_costs)
    return shown[0] if shown else None
