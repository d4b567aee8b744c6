"""Gives claims their verdicts, from the comparisons that their rules make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from generator.comparisons import Comparison, Evidence, compare_cells
from generator.measures import list_rows
from generator.ranking import cell_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog.claim import Claim

Verdict = Literal["supported", "partly supported", "refuted", "inconclusive", "no data"]


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

    @property
    def predicted(self) -> int:
        """How many comparisons rest on a time that is predicted from few epochs."""
        return sum(comparison.predicted for comparison in self.comparisons)


def judge_claims(claims: Iterable[Claim], evidence: Evidence) -> list[Judgement]:
    """Return each claim with its verdict, in the claims' order."""
    rows = [row for row in list_rows(evidence.cells) if cell_of(row) in evidence.timings]
    judgements = []
    for claim in claims:
        mine = [row for row in rows if not claim.workloads or row["workload"] in claim.workloads]
        comparisons = tuple(
            comparison for rule in claim.rules for comparison in compare_cells(rule, mine, evidence)
        )
        verdict = give_verdict([comparison.holds for comparison in comparisons])
        judgements.append(Judgement(claim, verdict, comparisons))
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
