"""Reads another benchmark's files, CSV or Parquet, as tables of text."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from launcher.imports.mapping import LogFormat

PARQUET = ".parquet"


class PlacingError(ValueError):
    """Why a log can't become a run: the reason, the mend, and the 1-based line if there is one."""

    def __init__(self, reason: str, mend: str, line: int | None = None) -> None:
        """Keep the reason, what to do, and the line."""
        self.reason, self.mend, self.line = reason, mend, line
        super().__init__(reason)


@dataclass(frozen=True)
class LogTable:
    """A file's columns, and its rows as text, each with its 1-based line.

    ``ended`` says that the last line has its end: one without may be cut off.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    ended: bool = True


def read_table(name: str, data: bytes, known: LogFormat) -> LogTable:
    """Return a file's table; raise PlacingError where it has none.

    The line of a Parquet file's row is its number, from 1.
    """
    table = _read_parquet(data) if name.endswith(PARQUET) else _read_csv(data, known)
    for column in table.header:
        if table.header.count(column) > 1:
            raise PlacingError(f"column {column!r} twice", "restore the log", 1)
    if not table.rows:
        raise PlacingError("the log has no epochs", "restore the log")
    return table


def _read_csv(data: bytes, known: LogFormat) -> LogTable:
    if not data.strip():
        raise PlacingError("the log is empty", "restore the log")
    try:
        text = data.decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=known.delimiter, strict=True)
        rows = [(reader.line_num, [field.strip() for field in row]) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise PlacingError(f"not CSV in UTF-8 ({error})", "restore the log") from None
    rows = [(line, row) for line, row in rows if row]
    if not rows:
        raise PlacingError("the log is empty", "restore the log")
    if known.header:
        header = list(known.header)
    else:
        _, header = rows.pop(0)
    for line, row in rows:
        if len(row) != len(header):
            reason = f"{len(row)} fields where the header has {len(header)}"
            raise PlacingError(reason, "restore the log", line)
    ended = data.endswith((b"\n", b"\r"))
    return LogTable(tuple(header), tuple((line, tuple(row)) for line, row in rows), ended=ended)


def _read_parquet(data: bytes) -> LogTable:
    # Only this kind of file needs it, and it takes a while to load.
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    try:
        table = parquet.read_table(pa.BufferReader(data))
        columns = table.to_pydict()
    except (pa.ArrowException, OSError, ValueError) as error:
        first = (str(error).splitlines() or ["unknown"])[0]
        raise PlacingError(f"not Parquet ({first})", "restore the log") from None
    texts = [[_as_text(value) for value in values] for values in columns.values()]
    rows = zip(*texts, strict=True)
    return LogTable(tuple(columns), tuple((number, row) for number, row in enumerate(rows, 1)))


def _as_text(value: object) -> str:
    if value is None or value != value:  # noqa: PLR0124 (NaN alone differs from itself)
        return ""
    return str(value)
