"""Claims as declared: a sentence, who made it, and the rule that data can test it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from catalog.declared import Declared, DeclaredError, read_declared
from catalog.entries import CATALOG, Scenario

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


class RatioRule(Declared):
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
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _check_bounds(self) -> RatioRule:
        bounds = (self.above, self.at_least, self.below, self.at_most)
        if all(bound is None for bound in bounds):
            raise ValueError("a rule without a bound; give above, at_least, below or at_most")
        for one, other in ((self.above, self.at_least), (self.below, self.at_most)):
            if one is not None and other is not None:
                raise ValueError("two bounds on one side; keep one of them")
        return self


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


Rule = Annotated[RatioRule | BestRule | BestMeanRule, Field(discriminator="rule")]


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
