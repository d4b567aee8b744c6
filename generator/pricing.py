"""What a cell costs: prices by instance, cost, billed cost, and the price to break even."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalog.entries import Billing, PriceBook, Scenario, read_price_book

if TYPE_CHECKING:
    from models.run import CampaignCard

SECONDS_PER_HOUR = 3600
SCENARIOS: tuple[Scenario, ...] = ("as-published", "spot", "on-demand")
# A unit that a rounding error begins is not a unit used.
_UNIT_SLACK = 1e-9


def find_price_book(card: CampaignCard) -> PriceBook | None:
    """Return the price book that a campaign names, if any; raise DeclaredError like its reader."""
    return read_price_book(card.price_book) if card.price_book else None


def price_list(card: CampaignCard, scenario: Scenario | None = None) -> dict[str, float | None]:
    """Return the hourly price of each of a campaign's instances, in USD.

    A price that the plan itself gives comes first, and is the same in every scenario; then
    that of the price book. None is no price: a price of zero is none, too.

    Args:
        card: the campaign's card.
        scenario: which of the book's prices; the card's own where None.
    """
    book = find_price_book(card)
    chosen = scenario or card.scenario
    instances = {cell.instance for cell in card.cells} | set(card.usd_per_hour)
    if card.baseline:
        instances.add(card.baseline.instance)
    if book:
        instances.update(book.prices)
    return {
        name: _usable(card.usd_per_hour.get(name))
        or (_usable(book.usd_per_hour(name, chosen)) if book else None)
        for name in sorted(instances)
    }


def list_scenarios(card: CampaignCard) -> list[Scenario]:
    """Return the scenarios in which some cell of a campaign has a price, its own first."""
    instances = {cell.instance for cell in card.cells}
    ordered = [card.scenario, *(name for name in SCENARIOS if name != card.scenario)]
    priced = []
    for scenario in ordered:
        prices = price_list(card, scenario)
        if any(prices[instance] is not None for instance in instances):
            priced.append(scenario)
    return priced


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
