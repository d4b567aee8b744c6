"""Price books: dated, sourced prices of instances, read from ``prices/*.yml`` or a user's file."""

from __future__ import annotations

import datetime as dt
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from catalog.declared import Declared, DeclaredError, read_declared, suggest
from catalog.entries import CATALOG

Scenario = Literal["as-published", "spot", "on-demand", "own"]
Quoted = Literal["spot", "on-demand", "own"]

SCENARIOS: tuple[Scenario, ...] = ("as-published", "spot", "on-demand", "own")

BOOKS = CATALOG / "prices"
_QUOTED = ("spot", "on-demand", "own")


class PricePart(Declared):
    """A part of a price, per hour in the book's currency, and what a variant of it costs more."""

    part: str
    per_hour: float = Field(ge=0, allow_inf_nan=False)
    premium_percent: float = Field(default=0.0, gt=-100, allow_inf_nan=False)

    @property
    def total(self) -> float:
        """The part with its premium, per hour in the book's currency."""
        return self.per_hour * (1 + self.premium_percent / 100)


class InstancePrices(Declared):
    """One instance's prices; an empty list of parts is no price.

    A bare number instead is the user's own price; instead of a list of parts, a price that
    has one part.
    """

    as_published: Literal["spot", "on-demand"] | None = Field(default=None, alias="as-published")
    spot: tuple[PricePart, ...] = ()
    on_demand: tuple[PricePart, ...] = Field(default=(), alias="on-demand")
    own: tuple[PricePart, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, value: Any) -> Any:  # noqa: ANN401 (as YAML has it)
        if value is None or _is_number(value):
            value = {"own": value}
        if not isinstance(value, dict):
            return value
        spelt = dict(value)
        for key in _QUOTED:
            if key in spelt and spelt[key] is None:
                spelt[key] = ()
            elif _is_number(spelt.get(key)):
                spelt[key] = ({"part": "", "per_hour": spelt[key]},)
        return spelt

    def parts(self, scenario: Scenario) -> tuple[PricePart, ...]:
        """Return what the price in a scenario is made of; nothing where there is none."""
        choice = self.as_published if scenario == "as-published" else scenario
        if choice is None:
            return ()
        return {"spot": self.spot, "on-demand": self.on_demand, "own": self.own}[choice]

    def per_hour(self, scenario: Scenario) -> float | None:
        """Return the price in a scenario, in the book's currency; None where there is none."""
        total = sum(part.total for part in self.parts(scenario))
        # A price of zero is a blank in somebody's list, never a machine that is free.
        return total if total > 0 else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class Billing(Declared):
    """The billing rule: seconds are rounded up to whole units, of at least a minimum."""

    unit_s: float = Field(gt=0, allow_inf_nan=False)
    minimum_s: float = Field(default=0, ge=0, allow_inf_nan=False)


class UsdRate(Declared):
    """What one unit of another currency was in USD, when, and who says so."""

    usd: float = Field(gt=0, allow_inf_nan=False)
    date: dt.date
    source: str


class PriceBook(Declared):
    """Dated, sourced prices.

    Attributes:
        id: its name in the catalog; empty for a user's file.
        title: what a page calls it.
        date: the day that the prices are of.
        source: an address, or what the prices were taken from.
        sha256: that of the file that they were taken from, if any.
        provider: whose machines they are.
        region: where.
        currency: an ISO 4217 code.
        usd_rate: for another currency than USD.
        billing: the billing rule; None where it isn't known.
        notes: what was noticed when the prices were taken over.
        prices: by instance.
    """

    id: str = ""
    title: str = "Own prices"
    date: dt.date
    source: str
    sha256: str = ""
    provider: str = ""
    region: str | None = None
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")
    usd_rate: UsdRate | None = None
    billing: Billing | None = None
    notes: tuple[str, ...] = ()
    prices: dict[str, InstancePrices]

    @model_validator(mode="after")
    def _check_currency(self) -> Self:
        if self.currency == "USD" and self.usd_rate:
            raise ValueError("usd_rate with prices in USD; remove it")
        if self.currency != "USD" and not self.usd_rate:
            raise ValueError(
                f"prices in {self.currency}, and nothing says what one is in USD; add "
                "usd_rate: {usd: …, date: …, source: …}"
            )
        return self

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Those in which some instance has a price."""
        return tuple(
            scenario
            for scenario in SCENARIOS
            if any(prices.per_hour(scenario) for prices in self.prices.values())
        )

    def usd_per_hour(self, instance: str, scenario: Scenario) -> float | None:
        """Return an instance's price in USD per hour; None where the book has none."""
        prices = self.prices.get(instance)
        price = prices.per_hour(scenario) if prices else None
        return price * self.usd_rate.usd if price and self.usd_rate else price


def list_price_books(folder: Path = BOOKS) -> list[str]:
    """Return the names of the catalog's price books, sorted."""
    return sorted(path.stem for path in folder.glob("*.yml"))


@cache
def read_price_book(name: str, folder: Path = BOOKS) -> PriceBook:
    """Return a price book by its name; raise DeclaredError where it is missing or at fault."""
    path = folder / f"{name}.yml"
    book = read_declared(path, PriceBook)
    if book.id != name:
        reason = f"id is {book.id!r}, and the file's name {name!r}"
        raise DeclaredError(path, None, reason, "make them the same")
    return book


def read_price_file(name: str) -> PriceBook:
    """Return the prices of a user's file, or of the catalog's book of that name.

    Raises:
        DeclaredError: where there is neither, or for a fault in the file.
    """
    if name in list_price_books():
        return read_price_book(name)
    path = Path(name)
    if not path.is_file():
        mend = f"name a file, or a price book: {suggest(name, list_price_books())}"
        raise DeclaredError(path, None, "no such file of prices", mend)
    return read_declared(path, PriceBook)
