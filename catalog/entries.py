"""The catalog's entries, typed: instances, builds and price books, read from its YAML files."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from catalog.declared import Declared, read_declared

CATALOG = Path(__file__).parent
_LOCAL = re.compile(r"local-([1-9][0-9]*)")
_ANY_SIZE = "local-N"

Scenario = Literal["as-published", "spot", "on-demand"]


class Instance(Declared):
    """A machine type."""

    title: str
    provider: str
    vcpus: int | Literal["N"]
    memory_gib: float | None = Field(default=None, gt=0)
    accelerator: str | None = None
    note: str = ""


class Build(Declared):
    """How TensorFlow was built and switched."""

    title: str
    wheel: str
    environment: dict[str, str]
    jit_compile: bool
    compiled: bool
    needs: str = ""


class PricePart(Declared):
    """A part of a price, in USD per hour, times its factor."""

    part: str
    usd_per_hour: float = Field(ge=0, allow_inf_nan=False)
    factor: float = Field(default=1.0, gt=0, allow_inf_nan=False)


def _total(parts: tuple[PricePart, ...]) -> float | None:
    total = sum(part.usd_per_hour * part.factor for part in parts)
    # A price of zero is a blank in somebody's list, never a machine that is free.
    return total if total > 0 else None


class InstancePrices(Declared):
    """One instance's prices; an empty list of parts is no price."""

    as_published: Literal["spot", "on-demand"] | None = None
    spot: tuple[PricePart, ...] = ()
    on_demand: tuple[PricePart, ...] = Field(default=(), alias="on-demand")

    def usd_per_hour(self, scenario: Scenario) -> float | None:
        """Return the price in a scenario, in USD per hour; None where there is none."""
        return _total(self.parts(scenario))

    def parts(self, scenario: Scenario) -> tuple[PricePart, ...]:
        """Return what the price in a scenario is made of; nothing where there is none."""
        choice = self.as_published if scenario == "as-published" else scenario
        if choice is None:
            return ()
        return self.spot if choice == "spot" else self.on_demand


class Billing(Declared):
    """The billing rule: seconds are rounded up to whole units, of at least a minimum."""

    unit_s: float = Field(gt=0)
    minimum_s: float = Field(default=0, ge=0)


class PriceBook(Declared):
    """Dated, sourced prices."""

    id: str
    title: str
    date: dt.date
    source: str
    provider: str
    region: str | None = None
    currency: Literal["USD"]
    billing: Billing
    prices: dict[str, InstancePrices]

    def usd_per_hour(self, instance: str, scenario: Scenario) -> float | None:
        """Return an instance's price in USD per hour; None where the book has none."""
        prices = self.prices.get(instance)
        return prices.usd_per_hour(scenario) if prices else None


class _Instances(Declared):
    instances: dict[str, Instance]


class _Builds(Declared):
    builds: dict[str, Build]


def _check_size(entries: _Instances) -> _Instances:
    for name, entry in entries.instances.items():
        if (entry.vcpus == "N") != (name == _ANY_SIZE):
            raise ValueError(f"{name}: vcpus is N for {_ANY_SIZE} alone; give a number")
    return entries


@cache
def read_builds(path: Path = CATALOG / "builds.yml") -> dict[str, Build]:
    """Return the catalog's builds by name; raise DeclaredError for a fault in the file."""
    return read_declared(path, _Builds).builds


@cache
def _read_instances(path: Path) -> dict[str, Instance]:
    return _check_size(read_declared(path, _Instances)).instances


def find_instance(name: str, path: Path = CATALOG / "instances.yml") -> Instance | None:
    """Return an instance by name, `local-N` of any N included; None where there is none."""
    entries = _read_instances(path)
    match = _LOCAL.fullmatch(name)
    if match and _ANY_SIZE in entries:
        size = int(match[1])
        title = "1 vCPU of this machine" if size == 1 else f"{size} vCPUs of this machine"
        return entries[_ANY_SIZE].model_copy(update={"vcpus": size, "title": title})
    return entries.get(name) if name != _ANY_SIZE else None


def list_local_instances(cpus: int) -> list[str]:
    """Return the names of this machine's instances: 1, 2, 4 … vCPUs, and all of them."""
    sizes = {1 << power for power in range(cpus.bit_length())} | {cpus}
    return [f"local-{size}" for size in sorted(sizes)]


def list_instances(cpus: int, path: Path = CATALOG / "instances.yml") -> list[str]:
    """Return the names of all instances, this machine's included, for messages."""
    named = [name for name in _read_instances(path) if name != _ANY_SIZE]
    return sorted(named) + list_local_instances(cpus)


@cache
def read_price_book(name: str, folder: Path = CATALOG / "prices") -> PriceBook:
    """Return a price book by its name; raise DeclaredError where it is missing or at fault."""
    return read_declared(folder / f"{name}.yml", PriceBook)
