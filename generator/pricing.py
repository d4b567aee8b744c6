"""What a cell costs: prices by instance, cost, billed cost, and the price to break even."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.price_book import SCENARIOS, read_price_book

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog.price_book import Billing, PriceBook, PricePart, Scenario
    from models.run import CampaignCard

SECONDS_PER_HOUR = 3600
# A unit that a rounding error begins is not a unit used.
_UNIT_SLACK = 1e-9


@dataclass(frozen=True)
class PriceSource:
    """Where a campaign's prices come from.

    Attributes:
        instances: those that the campaign is about.
        book: the price book; None where there is none.
        given: prices that the plan itself gives, in USD per hour by instance. They are the
            user's own, and come before the book's in the campaign's own scenario.
        scenario: the campaign's own.
    """

    instances: tuple[str, ...]
    book: PriceBook | None
    given: Mapping[str, float]
    scenario: Scenario

    def usd_per_hour(self, instance: str, scenario: Scenario) -> float | None:
        """Return a price in USD per hour; None is no price: a price of zero is none, too."""
        given = _usable(self.given.get(instance)) if self._takes_given(scenario) else None
        booked = self.book.usd_per_hour(instance, scenario) if self.book else None
        return given or _usable(booked)

    def parts(self, instance: str, scenario: Scenario) -> tuple[PricePart, ...] | None:
        """Return the parts of a book's price; None where the plan gives the price itself."""
        if self._takes_given(scenario) and _usable(self.given.get(instance)):
            return None
        prices = self.book.prices.get(instance) if self.book else None
        return prices.parts(scenario) if prices else ()

    def list_prices(self, scenario: Scenario) -> dict[str, float | None]:
        """Return the hourly price of each of the campaign's instances, in USD, by name."""
        return {name: self.usd_per_hour(name, scenario) for name in self.instances}

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios in which some instance has a price, the campaign's own first."""
        ordered = [self.scenario, *(name for name in SCENARIOS if name != self.scenario)]
        return [name for name in ordered if any(self.list_prices(name).values())]

    def _takes_given(self, scenario: Scenario) -> bool:
        return scenario in ("own", self.scenario)


def find_prices(card: CampaignCard, offered: PriceBook | None = None) -> PriceSource:
    """Return where a campaign's prices come from.

    Args:
        card: the campaign's.
        offered: a book to price the campaign anew by. Where it has a price for any instance of
            the campaign, all are taken from it: prices of two books are never mixed.

    Raises:
        DeclaredError: where the price book that the campaign names is missing or at fault.
    """
    instances = {cell.instance for cell in card.cells}
    if card.baseline:
        instances.add(card.baseline.instance)
    names = tuple(sorted(instances))
    if offered:
        anew = PriceSource(names, offered, {}, card.scenario)
        known = anew.scenarios
        if known:
            # A price that somebody gives of their own accord is the one that they pay.
            first = "own" if "own" in known else known[0]
            return PriceSource(names, offered, {}, first)
    book = read_price_book(card.price_book) if card.price_book else None
    return PriceSource(names, book, card.usd_per_hour, card.scenario)


def cost(time_s: float, usd_per_hour: float | None) -> float | None:
    """Return the cost of seconds in USD, not rounded to billing units; None without a price."""
    price = _usable(usd_per_hour)
    return None if price is None else time_s * price / SECONDS_PER_HOUR


def billed_seconds(wall_s: float, billing: Billing) -> float:
    """Return the seconds that a rental is billed for: whole units, and at least the minimum.

    Raises:
        ValueError: where `wall_s` is negative or not finite.
    """
    if not (math.isfinite(wall_s) and wall_s >= 0):
        raise ValueError(f"a rental of {wall_s} s")
    units = math.ceil(wall_s / billing.unit_s - _UNIT_SLACK)
    return max(units * billing.unit_s, billing.minimum_s)


def billed_cost(wall_s: float, usd_per_hour: float | None, billing: Billing) -> float | None:
    """Return what a rental of `wall_s` seconds is billed, in USD; None without a price.

    Never to be mixed with `cost`: the rental holds set-up and lost work, too.
    """
    return cost(billed_seconds(wall_s, billing), usd_per_hour)


def break_even_price(time_s: float, baseline_cost_usd: float | None) -> float | None:
    """Return the hourly price, in USD, at which a cell costs exactly what the baseline does.

    Args:
        time_s: the cell's total time in seconds.
        baseline_cost_usd: what the baseline of its workload costs, in USD.

    Returns:
        The price; None where the baseline has no cost or the cell no time.
    """
    usable = _usable(baseline_cost_usd)
    if usable is None or not (math.isfinite(time_s) and time_s > 0):
        return None
    return usable / time_s * SECONDS_PER_HOUR


def _usable(price: float | None) -> float | None:
    if price is None or not math.isfinite(price) or price <= 0:
        return None
    return price
