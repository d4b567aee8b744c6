"""A run's log, ``epochs.csv``: one line an epoch, on disk when its epoch ends."""

from __future__ import annotations

import csv
import io
import math
import os
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from models.errors import RunFormatError, read_text

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

LOG_NAME = "epochs.csv"


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One line of ``epochs.csv``. Times are in seconds; None is an empty field: unknown."""

    epoch: int
    elapsed: float
    loss: float | None = None
    acc: float | None = None
    val_loss: float | None = None
    val_acc: float | None = None
    train_s: float | None = None
    val_s: float | None = None
    cpu_s: float | None = None
    other_cpu_s: float | None = None
    started_at: str | None = None


EPOCH_COLUMNS = tuple(field.name for field in fields(EpochRecord))
REQUIRED_COLUMNS = ("epoch", "elapsed", "loss")
# No epoch takes three centuries: such a number is a fault, and would overflow sums.
_LONGEST_S = 1e10
_DURATIONS = ("elapsed", "train_s", "val_s", "cpu_s", "other_cpu_s")
# Three clock readings are rounded to microseconds each.
_CLOCK_SLACK_S = 1e-4


def format_epoch(record: EpochRecord) -> str:
    """Return a record's line, its end included; floats round-trip, None is empty."""
    values = (getattr(record, name) for name in EPOCH_COLUMNS)
    return ",".join("" if value is None else str(value) for value in values) + "\n"


def format_epochs(records: tuple[EpochRecord, ...]) -> str:
    """Return a whole log's text."""
    return ",".join(EPOCH_COLUMNS) + "\n" + "".join(map(format_epoch, records))


class EpochWriter:
    """Appends epochs to a run's log; a line is on disk before ``write`` returns."""

    def __init__(self, folder: Path) -> None:
        """Create the folder's log with its header; it must not exist yet."""
        self._file = (folder / LOG_NAME).open("x", encoding="utf-8", newline="\n")
        self._file.write(",".join(EPOCH_COLUMNS) + "\n")
        self._sync()

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the log."""
        self._file.close()

    def write(self, record: EpochRecord) -> None:
        """Append one epoch and wait until the disk has it."""
        self._file.write(format_epoch(record))
        self._sync()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())


def read_epochs(path: Path, *, torn_end: bool = False) -> tuple[EpochRecord, ...]:
    """Read and check a log.

    Args:
        path: the log, ``epochs.csv``.
        torn_end: whether a last line without its end is dropped (the run was killed while it
            wrote) and a log with no epoch is allowed, rather than an error.

    Raises:
        RunFormatError: for the first line that is not as it should be.
    """
    text = _check_text(path, read_text(path), torn_end=torn_end)
    if not text.strip():
        if torn_end:
            return ()
        raise RunFormatError(path, "the log is empty", "run the cell again")
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise RunFormatError(path, f"not CSV ({error})", "run the cell again") from None
    columns = _check_header(path, rows[0])
    records = tuple(
        _parse_row(path, line, columns, row) for line, row in enumerate(rows[1:], start=2)
    )
    if not records and not torn_end:
        raise RunFormatError(path, "no epoch below the header", "run the cell again")
    for wanted, record in enumerate(records):
        if record.epoch != wanted:
            reason = f"epoch {record.epoch} where {wanted} should be"
            raise RunFormatError(path, reason, "run the cell again", wanted + 2)
    return records


def _check_text(path: Path, text: str, *, torn_end: bool) -> str:
    if text.startswith("\ufeff"):
        raise RunFormatError(path, "a byte order mark before the header", "remove it", 1)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RunFormatError(path, "a NUL byte", "run the cell again", line)
    if text and not text.endswith("\n"):
        if not torn_end:
            line = text.count("\n") + 1
            raise RunFormatError(path, "the last line is cut off", "run the cell again", line)
        text = text[: text.rfind("\n") + 1]
    return text


def _check_header(path: Path, header: list[str]) -> list[str]:
    for name in REQUIRED_COLUMNS:
        if name not in header:
            raise RunFormatError(path, f"no column {name!r}", "import the log", 1)
    for name in header:
        if name not in EPOCH_COLUMNS:
            raise RunFormatError(path, f"unknown column {name!r}", "import the log", 1)
        if header.count(name) > 1:
            raise RunFormatError(path, f"column {name!r} twice", "keep one", 1)
    return header


def _parse_row(path: Path, line: int, columns: list[str], row: list[str]) -> EpochRecord:
    if len(row) != len(columns):
        reason = f"{len(row)} fields where the header has {len(columns)}"
        raise RunFormatError(path, reason, "run the cell again", line)
    values: dict[str, Any] = {}
    for name, field in zip(columns, row, strict=True):
        try:
            values[name] = _parse_field(name, field)
        except ValueError as error:
            raise RunFormatError(path, str(error), "run the cell again", line) from None
    record = EpochRecord(**values)
    parts = (record.train_s or 0.0) + (record.val_s or 0.0)
    if parts > record.elapsed + _CLOCK_SLACK_S:
        reason = f"train_s + val_s = {parts:g} s is more than elapsed = {record.elapsed:g} s"
        raise RunFormatError(path, reason, "run the cell again", line)
    return record


def _parse_field(name: str, field: str) -> int | float | str | None:
    if name == "epoch":
        # int() would take "1_0" and other scripts' digits.
        if not (field.isascii() and field.isdigit()):
            raise ValueError(f"epoch {field!r} is not a whole number from 0")
        return int(field)
    if field == "":
        if name == "elapsed":
            raise ValueError("elapsed is empty")
        return None
    if name == "started_at":
        datetime.fromisoformat(field)
        return field
    try:
        number = float(field) if "_" not in field else math.nan
    except ValueError:
        raise ValueError(f"{name} {field!r} is not a number") from None
    usable = number <= _LONGEST_S and (number > 0 if name == "elapsed" else number >= 0)
    if name in _DURATIONS and not usable:
        raise ValueError(f"{name} {field!r} is not a positive number of seconds")
    return number
