"""Claims as declared: a sentence, who made it, and the rule that data can test it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from catalog.declared import Declared, DeclaredError, read_declared
from catalog.entries import CATALOG
from catalog.price_book import Scenario

if TYPE_CHECKING:
    from pathlib import Path

Measure = Literal["time", "cost"]
Names = tuple[str, ...]


class Selection(Declared):
    """Some cells of a campaign; what is left out selects all."""

    device: Literal["GPU", "CPU"] | None = None
    builds: Names = ()
    instances: Names = ()
    vcpus: tuple[int, ...] = ()


class Bounded(Declared):
    """What a rule asks of its figure: at least one bound, at most one a side."""

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        bounds = (self.above, self.at_least, self.below, self.at_most)
        if all(bound is None for bound in bounds):
            raise ValueError("a rule without a bound; give above, at_least, below or at_most")
        for one, other in ((self.above, self.at_least), (self.below, self.at_most)):
            if one is not None and other is not None:
                raise ValueError("two bounds on one side; keep one of them")
        return self


class RatioRule(Bounded):
    """Compares cells with others of the same workload: a ratio of the measure, and bounds.

    ``same`` names what else the two have in common. ``pick`` takes, in each workload, the one
    cell of ``of`` with the least measure, instead of every one. ``figure`` says what the bounds
    are for: the ratio, or the saving, 1 − ratio.
    """

    rule: Literal["ratio"]
    measure: Measure
    scenario: Scenario | None = None
    of: Selection
    to: Selection
    same: tuple[Literal["build", "instance"], ...] = ()
    pick: Literal["every", "least"] = "every"
    figure: Literal["ratio", "saving"] = "ratio"


class ScalingRule(Bounded):
    """Compares each build's time on two sizes, in each workload; on CPUs.

    The figure is the speed-up, time on ``from_vcpus`` / time on ``to_vcpus``, or the parallel
    efficiency, that times ``from_vcpus`` / ``to_vcpus``.
    """

    rule: Literal["scaling"]
    from_vcpus: int = Field(ge=1)
    to_vcpus: int = Field(ge=1)
    builds: Names = ()
    figure: Literal["speed-up", "efficiency"] = "speed-up"


class BreakEvenRule(Bounded):
    """Asks at which hourly price a cell costs what the baseline does: bounds in USD per hour."""

    rule: Literal["break-even"]
    scenario: Scenario | None = None
    of: Selection


class RankingRule(Declared):
    """In each workload, the best cells of some selections have this order, least first.

    Each is compared with the one before it; the figure is the ratio of the two, above 1 where
    the order holds. A difference within the campaign's resolution can't tell.
    """

    rule: Literal["ranking"]
    measure: Measure
    scenario: Scenario | None = None
    order: tuple[Selection, ...] = Field(min_length=2)


class BestRule(Declared):
    """In each workload, the cell with the least measure is the one named.

    The figure is that cell's ratio to the campaign's baseline.
    """

    rule: Literal["best"]
    measure: Measure
    scenario: Scenario | None = None
    named: Selection
    among: Selection = Selection()


class BestMeanRule(Declared):
    """Over all workloads, the (build, instance) with the least mean ratio is the one named.

    The mean is geometric, of ratios to the campaign's baseline: one comparison.
    """

    rule: Literal["best-mean"]
    measure: Measure
    scenario: Scenario | None = None
    named: Selection
    among: Selection = Selection()


Rule = Annotated[
    RatioRule | ScalingRule | BreakEvenRule | RankingRule | BestRule | BestMeanRule,
    Field(discriminator="rule"),
]


class Claim(Declared):
    """A sentence that data can support or refute. No workload named is every one."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    sentence: str
    headline: bool = False
    workloads: Names = ()
    rules: tuple[Rule, ...] = Field(min_length=1)


class ClaimSource(Declared):
    """Who made the claims, where and when."""

    title: str
    author: str
    date: str = ""
    url: str = ""


class ClaimFile(Declared):
    """One file of claims: their source, and the claims in the order that pages show."""

    source: ClaimSource
    claims: tuple[Claim, ...]


def read_claim_files(folder: Path = CATALOG / "claims") -> list[ClaimFile]:
    """Return the catalog's claims, by file name.

    Raises:
        DeclaredError: for a fault in a file, or an id that stands twice.
    """
    files: list[ClaimFile] = []
    seen: dict[str, Path] = {}
    for path in sorted(folder.glob("*.yml")):
        entry = read_declared(path, ClaimFile)
        for claim in entry.claims:
            if claim.id in seen:
                reason = f"claim {claim.id!r} stands in {seen[claim.id].name}, too"
                raise DeclaredError(path, None, reason, "give one of them another id")
            seen[claim.id] = path
        files.append(entry)
    return files
