"""Takes prices over from SkyPilot's catalogue: the rows of one region of its ``vms.csv``.

A row with an ``InstanceType`` is a whole machine. One without is an accelerator alone, whose
price excludes its host. Prices are per hour. What is no price is reported, and never taken.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import ValidationError

from catalog.declared import DeclaredError, suggest
from catalog.entries import find_instance, list_instances
from catalog.price_book import Billing, PriceBook, UsdRate

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

SOURCE = "https://github.com/skypilot-org/skypilot-catalog"
ALL = "*"
# SkyPilot writes it where it has no price.
NO_PRICE = 700.0

_Kind = Literal["on-demand", "spot"]
_COLUMNS: dict[_Kind, str] = {"on-demand": "Price", "spot": "SpotPrice"}
_NEEDED = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Region", "Price", "SpotPrice")
# Some providers of SkyPilot's have no zones; and none a currency, unless somebody added it.
_OPTIONAL = ("AvailabilityZone", "Currency")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST_NOTES, _MOST_NAMES, _MOST_CHARACTERS = 50, 5, 60
_COMMENT = "# Made by `python -m catalog skypilot`: make it anew rather than change it by hand.\n"

# What instances are made of.
_Parts = dict[str, tuple[str, ...]]
# Prices per hour, by zone (empty where a row has none), of each instance and kind.
_Offers = dict[str, dict[_Kind, dict[str, float]]]


@dataclass(frozen=True)
class Remark:
    """What was noticed in a list: its 1-based line, if a row says it; the instance, if known."""

    line: int | None
    instance: str
    reason: str
    mend: str

    def __str__(self) -> str:
        """Return all but the line, as one line."""
        return f"{self.instance and self.instance + ': '}{self.reason}; {self.mend}"


@dataclass(frozen=True)
class SkypilotImport:
    """A book of the prices that could be taken over, and remarks in the order of lines."""

    book: PriceBook
    remarks: tuple[Remark, ...]


@dataclass(frozen=True)
class _Row:
    """A row of the list: all its fields, those in use by column, and its instance's name."""

    line: int
    fields: tuple[str, ...]
    cells: Mapping[str, str]
    name: str = ""

    @property
    def zone(self) -> str:
        return self.cells.get("AvailabilityZone", "")


def import_skypilot(
    path: Path,
    *,
    region: str,
    date: dt.date,
    provider: str,
    zone: str | None = None,
    instances: Iterable[str] = (),
    book_id: str,
    title: str,
    currency: str = "USD",
    usd_rate: UsdRate | None = None,
    billing: Billing | None = None,
    source: str = SOURCE,
) -> SkypilotImport:
    """Return a book of one region's prices; of several zones the cheapest, for each kind apart.

    Of several zones, one alone where ``zone`` names it. Of the instances those asked for, or all
    where `*` is among them; where none is, the provider's that the project's catalog has. One that
    is ``made_of`` parts is put together. ``currency`` is theirs where no column of the list says.

    Raises:
        DeclaredError: where the file is no such list, or has no such region or zone.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = f"can't be read ({error.strerror})"
        raise DeclaredError(path, None, reason, "name SkyPilot's vms.csv") from None
    remarks: list[Remark] = []
    rows = _pick(_read_table(_decode(content, path), path, remarks), "Region", region, path)
    rows = rows if zone is None else _pick(rows, "AvailabilityZone", zone, path)
    names, made_of = _choose_names(instances, provider, path)
    named = list(_name_rows(rows, names.union(*made_of.values()), remarks))
    offers = _gather(named, remarks)
    if ALL in names:
        whole = {name for name, of in made_of.items() if set(of) <= set(offers)}
        names = (names | set(offers) | whole) - {ALL}
    prices = _price_all(sorted(names), made_of, offers, region, remarks)
    alone = {row.name for row in named if not row.cells["InstanceType"]} & set(prices)
    remarks.sort(key=lambda remark: (remark.line or 0, remark.instance, remark.reason))
    fields = {"id": book_id, "title": title, "date": date, "source": source, "region": region}
    fields |= {"sha256": hashlib.sha256(content).hexdigest(), "provider": provider}
    fields |= {"currency": _find_currency(rows, currency, path), "usd_rate": usd_rate}
    fields |= {"billing": billing, "notes": _note(remarks, sorted(alone)), "prices": prices}
    try:
        return SkypilotImport(PriceBook.model_validate(fields), tuple(remarks))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        reason, _, mend = first["msg"].removeprefix("Value error, ").partition("; ")
        if first["loc"]:
            reason = f"{'.'.join(map(str, first['loc']))} = {_show(first['input'])}: {reason}"
        raise DeclaredError(path, None, reason, mend or "correct it") from None


def format_book(book: PriceBook) -> str:
    """Return a book as the text of a YAML file; equal books give the same bytes."""
    fields = book.model_dump(by_alias=True, exclude_defaults=True)
    prices = {"prices": dict(sorted(fields.pop("prices").items()))}
    # A currency always: it is what prices are in.
    order = [name for name in PriceBook.model_fields if name in fields or name == "currency"]
    head = {name: fields.get(name, book.currency) for name in order}
    # Anything but ASCII is escaped: PyYAML reads some line ends otherwise than it writes them.
    settings: dict[str, Any] = {"sort_keys": False, "width": 100}
    text = _COMMENT + str(yaml.safe_dump(head, default_flow_style=False, **settings))
    return text + str(yaml.safe_dump(prices, default_flow_style=None, **settings))


def _show(value: object) -> str:
    """Return a foreign text so that it takes little of one line."""
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def _decode(content: bytes, path: Path) -> str:
    fault, place = "a NUL byte, so no text", content.find(b"\0")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fault, place = "not UTF-8", error.start
    if place >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise DeclaredError(path, line, fault, "download it anew")
    if not text.strip():
        raise DeclaredError(path, None, "the file is empty", "download it anew")
    return text


def _read_records(text: str, path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each record that isn't blank, with the line that it begins in."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            fields = tuple(field.strip() for field in next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            raise DeclaredError(path, line, f"not CSV ({error})", "mend its quotes") from None
        if fields not in {(), ("",)}:
            yield line, fields


def _read_table(text: str, path: Path, remarks: list[Remark]) -> list[_Row]:
    """Return the rows under the header; those of another length are remarked on."""
    records = _read_records(text, path)
    line, header = next(records, (1, ()))
    columns = _find_columns(header, line, path)
    rows = []
    for line, fields in records:
        cells = {name: fields[place] for name, place in columns.items() if place < len(fields)}
        if len(fields) == len(header):
            rows.append(_Row(line, fields, cells))
        else:
            name = cells.get("InstanceType") or cells.get("AcceleratorName") or ""
            reason = f"{len(fields)} fields, and the header has {len(header)}"
            remarks.append(Remark(line, _show(name), reason, "the row is left out"))
    if not rows:
        raise DeclaredError(path, None, "no row under the header is as long", "download it anew")
    return rows


def _find_columns(header: tuple[str, ...], line: int, path: Path) -> dict[str, int]:
    """Return the place of each column in use, whatever its capitals."""
    names = [name.casefold() for name in header]
    places = {}
    for name in (*_NEEDED, *_OPTIONAL):
        count = names.count(name.casefold())
        if count > 1 or (not count and name in _NEEDED):
            reason = f"column {name} {'stands twice' if count else 'is missing'}"
            mend = f"give SkyPilot's vms.csv, whose header has {', '.join(_NEEDED)}"
            raise DeclaredError(path, line, reason, mend)
        if count:
            places[name] = names.index(name.casefold())
    return places


def _pick(rows: list[_Row], column: str, name: str, path: Path) -> list[_Row]:
    picked = [row for row in rows if name and row.cells.get(column) == name]
    if not picked:
        known = {value for row in rows if (value := row.cells.get(column, "")).isprintable()} - {""}
        mend = suggest(name, known) if known else "there, no row names one"
        raise DeclaredError(path, None, f"{column} {name!r} is in no row", mend)
    return picked


def _find_currency(rows: list[_Row], currency: str, path: Path) -> str:
    """Return the currency that all rows have, or else that given; raise where they differ."""
    found = {row.cells.get("Currency") or currency for row in rows} | ({currency} - {"USD"})
    if len(found) > 1:
        reason = f"prices in {' and in '.join(sorted(map(_show, found)))}"
        raise DeclaredError(path, None, reason, "give a list in one currency")
    return found.pop()


def _choose_names(instances: Iterable[str], provider: str, path: Path) -> tuple[set[str], _Parts]:
    """Return the names to take over, `*` among them for all, and those made of parts."""
    entries = {name: entry for name in list_instances(1) if (entry := find_instance(name))}
    ours = {name for name, entry in entries.items() if entry.provider == provider}
    names = set(instances) or ours
    if not names:
        reason = f"the catalog has no instance of provider {provider!r}"
        known = suggest(provider, {entry.provider for entry in entries.values()})
        raise DeclaredError(path, None, reason, f"{known}, or name the instances (* for all)")
    composites = (names | ours if ALL in names else names) & set(entries)
    made_of = {name: entries[name].made_of for name in composites}
    return names, {name: parts for name, parts in made_of.items() if parts}


def _name_rows(rows: list[_Row], wanted: set[str], remarks: list[Remark]) -> Iterator[_Row]:
    """Yield the rows wanted under their instance's name; accelerators as `K80` or `K80:2`."""
    for row in rows:
        name, reason = row.cells["InstanceType"], ""
        if not name and (name := row.cells["AcceleratorName"]):
            count = _number(row.cells["AcceleratorCount"])
            if not 0 < count < math.inf:
                reason = f"{row.cells['AcceleratorCount']!r} is no number of accelerators"
            elif count != 1:
                name = f"{name}:{count:g}"
        if not name:
            reason = "neither an instance nor an accelerator"
        elif not wanted & {name, ALL}:
            continue
        elif not name.isprintable():
            reason = "a name that can't be printed"
        if reason:
            remarks.append(Remark(row.line, _show(name), reason, "the row is left out"))
        else:
            yield replace(row, name=name)


def _gather(rows: list[_Row], remarks: list[Remark]) -> _Offers:
    """Return what rows offer: each once, and nothing where two of them contradict each other."""
    seen: dict[tuple[str, ...], int] = {}
    held: dict[tuple[str, _Kind, str], tuple[int, float]] = {}
    disputed = set()
    for row in rows:
        twin = seen.setdefault(row.fields, row.line)
        if twin != row.line:
            remarks.append(Remark(row.line, row.name, f"the same as line {twin}", "counted once"))
            continue
        for kind, price in _read_prices(row, remarks).items():
            line, other = held.setdefault((row.name, kind, row.zone), (row.line, price))
            if other != price:
                disputed.add((row.name, kind, row.zone))
                reason = f"{kind} price {price} contradicts line {line}, which has {other}"
                remarks.append(Remark(row.line, row.name, reason, "neither is taken"))
    offers: _Offers = {row.name: {"on-demand": {}, "spot": {}} for row in rows}
    for (name, kind, zone), (_, price) in held.items():
        if (name, kind, zone) not in disputed:
            offers[name][kind][zone] = price
    remarks.extend(_remark_no_spot(rows, offers))
    return offers


def _remark_no_spot(rows: list[_Row], offers: _Offers) -> Iterator[Remark]:
    """Yield a remark for each instance that has a blank spot price, at the first one's line."""
    blank: dict[str, int] = {}
    for row in rows:
        if not row.cells["SpotPrice"]:
            blank.setdefault(row.name, row.line)
    for name, line in blank.items():
        reason = "no spot price in some rows" if offers[name]["spot"] else "no spot price"
        yield Remark(line, name, reason, "left blank")


def _read_prices(row: _Row, remarks: list[Remark]) -> dict[_Kind, float]:
    """Return a row's prices per hour; remark on what is none, but on no blank spot price."""
    prices: dict[_Kind, float] = {}
    for kind, column in _COLUMNS.items():
        text = row.cells[column]
        fault = _judge(text)
        if not fault:
            prices[kind] = _number(text)
        elif text or kind != "spot":
            reason = f"{kind} price {_show(text)} {fault}" if text else f"no {kind} price"
            remarks.append(Remark(row.line, row.name, reason, f"no {kind} price is taken from it"))
    if prices.get("spot", 0) > prices.get("on-demand", math.inf):
        reason = f"spot price {prices['spot']} is above on-demand, {prices['on-demand']}"
        remarks.append(Remark(row.line, row.name, reason, "kept; look it up"))
    return prices


def _number(text: str) -> float:
    """Return a decimal number; nan where the text is none (`1_000` is none)."""
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def _judge(text: str) -> str:
    """Return why a field is no price; nothing where it is one."""
    price = _number(text)
    if not math.isfinite(price):
        return "is no finite number"
    if price == NO_PRICE:
        return "is what SkyPilot writes where it has none"
    return "" if price > 0 else "is not above zero"


def _price_all(
    names: list[str], made_of: _Parts, offers: _Offers, region: str, remarks: list[Remark]
) -> dict[str, dict[_Kind, Any]]:
    """Return the prices of all instances that have one; remark on those that lack their parts."""
    prices = {}
    for name in names:
        parts = (name,) if name in offers else made_of.get(name, (name,))
        missing = [part for part in parts if part not in offers]
        if missing:
            which = "" if missing == [name] else f" ({' and '.join(missing)})"
            reason = f"not in the list for this region{which}"
            remarks.append(Remark(None, _show(name), reason, "left out"))
            continue
        found = {kind: _price(parts, kind, offers, region) for kind in _COLUMNS}
        for kind in _COLUMNS:
            if not found[kind] and parts != (name,):
                lacking = " and ".join(part for part in parts if not offers[part][kind])
                why = f"{lacking} has none" if lacking else "no zone has all of its parts"
                remarks.append(Remark(None, name, f"no {kind} price: {why}", "left blank"))
        if any(found.values()):
            prices[name] = {kind: priced for kind, priced in found.items() if priced}
    return prices


def _price(
    parts: tuple[str, ...], kind: _Kind, offers: _Offers, region: str
) -> list[dict[str, Any]]:
    """Return the parts of a price in the cheapest zone that has them all; nothing if none has."""
    best, least = [], math.inf
    for zone in sorted({zone for part in parts for zone in offers[part][kind]}):
        # A row without a zone holds in each of the region's.
        found = [offers[part][kind].get(zone, offers[part][kind].get("")) for part in parts]
        prices = [price for price in found if price is not None]
        if len(prices) == len(parts) and sum(prices) < least:
            best, least = list(zip(parts, prices, strict=True)), sum(prices)
            place = _show(zone or region)
    return [{"part": f"{part} ({place})", "per_hour": price} for part, price in best]


def _note(remarks: list[Remark], alone: list[str]) -> list[str]:
    """Return a book's notes: which prices exclude their host, and the first remarks."""
    notes = []
    if alone:
        others = " and others" if len(alone) > _MOST_NAMES else ""
        names = ", ".join(alone[:_MOST_NAMES]) + others
        notes.append(f"{names}: the price of the accelerator alone, which excludes its host")
    notes += [f"line {r.line}: {r}" if r.line else str(r) for r in remarks[:_MOST_NOTES]]
    more = len(remarks) - _MOST_NOTES
    return [*notes, f"and {more} more"] if more > 0 else notes
