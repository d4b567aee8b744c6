"""Turns rows of another benchmark's log into our log: columns, units, and epoch numbers.

Arithmetic is decimal and exact; a text that says the same in both formats is kept as it is.
"""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

from launcher.imports.tables import PlacingError
from models.run import EPOCH_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launcher.imports.mapping import LogFormat
    from launcher.imports.tables import LogTable

_SECONDS = {"s": Decimal(1), "ms": Decimal("0.001"), "min": Decimal(60), "h": Decimal(3600)}
_TIMES = ("elapsed", "train_s", "val_s", "cpu_s", "other_cpu_s")
_ACCURACIES = ("acc", "val_acc")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_TEXTS = ("epoch", "started_at")
# Beyond what any sum or product of measured seconds has: nothing is rounded.
_DIGITS = 700


def choose_columns(table: LogTable, known: LogFormat) -> dict[str, int]:
    """Return where each of our columns stands in a table.

    Raises:
        PlacingError: where the table lacks a column that a log needs.
    """
    places = {}
    for column in EPOCH_COLUMNS:
        theirs = known.columns.get(column, column)
        if theirs in table.header and not (column == "epoch" and known.number_rows):
            places[column] = table.header.index(theirs)
    for column in ("epoch", "elapsed"):
        if column not in places and not (column == "epoch" and known.number_rows):
            theirs = known.columns.get(column, column)
            mend = f"name the one that holds {column!r} in the mapping's columns"
            if column == "epoch":
                mend += ", or set number_rows: true"
            reason = f"no column {theirs!r} among {', '.join(table.header)}"
            raise PlacingError(reason, mend, 1)
    return places


def list_unused(table: LogTable, known: LogFormat, fields: Sequence[str] = ()) -> list[str]:
    """Return a table's columns that nothing is taken from, sorted."""
    used = {known.columns.get(column, column) for column in EPOCH_COLUMNS} | set(fields)
    return sorted(set(table.header) - used)


def convert_log(
    table: LogTable, rows: Sequence[tuple[int, tuple[str, ...]]], known: LogFormat
) -> tuple[str, list[int]]:
    """Return a run's log in our columns, and the line of the source behind each of its lines.

    Args:
        table: the file's.
        rows: those of this run, in the file's order.
        known: how the log is written.

    Raises:
        PlacingError: for the first field that can't be what it should be, with its line.
    """
    with localcontext(prec=_DIGITS):
        return _convert_rows(table, rows, known)


def _convert_rows(
    table: LogTable, rows: Sequence[tuple[int, tuple[str, ...]]], known: LogFormat
) -> tuple[str, list[int]]:
    places = choose_columns(table, known)
    records: list[tuple[int, dict[str, str]]] = []
    for number, (line, row) in enumerate(rows):
        fields = {column: row[place] for column, place in places.items()}
        fields["epoch"] = str(number) if known.number_rows else _shift(fields["epoch"], known, line)
        for column in fields.keys() - set(_TEXTS):
            fields[column] = _convert(column, fields[column], known, line)
        records.append((line, fields))
    if not known.number_rows:
        # A table of many runs may hold them in any order: the numbers tell it.
        records.sort(key=lambda record: _order(record[1]["epoch"]))
    if known.time.cumulative:
        _take_differences(records)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(EPOCH_COLUMNS)
    for _, fields in records:
        writer.writerow(fields.get(column, "") for column in EPOCH_COLUMNS)
    return text.getvalue(), [1, *(line for line, _ in records)]


def _order(epoch: str) -> tuple[int, str]:
    return (int(epoch), epoch) if epoch.isdecimal() else (-1, epoch)


def _shift(text: str, known: LogFormat, line: int) -> str:
    """Return an epoch's number from 0; a whole number may be written as 1.0."""
    number = _number(text, "epoch", line)
    if number != number.to_integral_value():
        raise PlacingError(f"epoch {text!r} is no whole number", "restore the log", line)
    shifted = int(number) - known.first_epoch
    if shifted < 0:
        reason = f"epoch {text!r} where epochs begin at {known.first_epoch}"
        raise PlacingError(reason, "correct first_epoch in the mapping", line)
    return str(shifted)


def _convert(column: str, text: str, known: LogFormat, line: int) -> str:
    """Return a field in our unit: seconds, or a share."""
    if known.decimal != ".":
        text = text.replace(known.decimal, ".")
    if not text:
        return text
    if column in _TIMES and known.time.unit != "s":
        return _plain(_seconds(text, column, known.time.unit, line))
    if column in _ACCURACIES and known.accuracy == "percent":
        share = _number(text, column, line) / 100
        if not 0 <= share <= 1:
            raise PlacingError(f"{column} {text!r} is no percentage", "restore the log", line)
        return _plain(share)
    if not text.isascii():
        raise PlacingError(f"{column} {text!r} is no number", "restore the log", line)
    return text


def _seconds(text: str, column: str, unit: str, line: int) -> Decimal:
    if unit in _SECONDS:
        return _number(text, column, line) * _SECONDS[unit]
    parts = text.split(":")
    if len(parts) != len(unit.split(":")):
        reason = f"{column} {text!r} is not written as {unit}"
        raise PlacingError(reason, "correct time.unit in the mapping", line)
    total = Decimal(0)
    for place, part in enumerate(parts):
        number = _number(part, column, line)
        if place and number >= 60:  # noqa: PLR2004 (seconds of a minute, minutes of an hour)
            raise PlacingError(f"{column} {text!r} is not written as {unit}", "mend it", line)
        if number < 0 or part.startswith("-"):
            raise PlacingError(f"{column} {text!r} is negative", "restore the log", line)
        total = total * 60 + number
    return total


def _number(text: str, column: str, line: int) -> Decimal:
    number = Decimal(text) if _DECIMAL.fullmatch(text) else Decimal("NaN")
    # A number that no machine has measured would take for ever to write out.
    if not number.is_finite() or abs(number.adjusted()) > 300:  # noqa: PLR2004 (a float's reach)
        raise PlacingError(f"{column} {text!r} is no number", "restore the log", line)
    return number


def _plain(number: Decimal) -> str:
    """Return a number without an exponent, and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _take_differences(records: list[tuple[int, dict[str, str]]]) -> None:
    """Turn seconds from the run's start into seconds of each epoch."""
    before = Decimal(0)
    for line, fields in records:
        passed = _number(fields["elapsed"], "elapsed", line)
        if passed <= before:
            reason = f"elapsed {fields['elapsed']!r} is not more than the epoch's before"
            raise PlacingError(reason, "correct time.cumulative in the mapping", line)
        fields["elapsed"] = _plain(passed - before)
        before = passed
