"""Says which run each file of a source is a log of, or why it is none."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.declared import suggest
from catalog.entries import find_instance, read_builds
from launcher.imports.conversion import convert_log, list_unused
from launcher.imports.mapping import KEYS
from launcher.imports.patterns import PathPattern
from launcher.imports.tables import PlacingError, read_table
from models.run import NAME_PATTERN, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping as Names
    from pathlib import Path

    from launcher.imports.mapping import LogFiles, Mapping
    from launcher.imports.tables import LogTable

# As the run format has it (models.manifest.Name).
_LONGEST_NAME = 100

Key = tuple[str, str, str, str]
"""Workload, build and instance by their names here, and the repeat as the source calls it."""


@dataclass(frozen=True, order=True)
class Unplaced:
    """A file that gave no run, or not all of its runs: where, why, and what to do about it."""

    file: str
    line: int
    reason: str
    mend: str

    def __str__(self) -> str:
        """Return the one line that people read."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.reason}; {self.mend}"


@dataclass(frozen=True)
class PlacedLog:
    """A run's log in our columns, and where it comes from.

    Attributes:
        key: whose log it is.
        theirs: the workload, build and instance as the source calls them.
        file: its path below the source's folder.
        sha256: that of the whole file.
        log: the text of ``epochs.csv``.
        lines: the line of the source behind each line of it.
        ended: whether the file's last line has its end.
    """

    key: Key
    theirs: Names[str, str]
    file: str
    sha256: str
    log: str
    lines: tuple[int, ...]
    ended: bool = True


@dataclass(frozen=True)
class Placing:
    """What a source's files are: logs, files left out, and columns that nothing takes."""

    logs: tuple[PlacedLog, ...]
    unplaced: tuple[Unplaced, ...]
    unused: tuple[tuple[str, int], ...]


def list_candidates(folder: Path, mapping: Mapping) -> list[str]:
    """Return the files that may be logs: those that end like a pattern's, hidden ones left out."""
    suffixes = {PathPattern(entry.path).suffix for entry in mapping.files}
    ignored = [PathPattern(text) for text in mapping.not_logs]
    names = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        if hidden or path.suffix not in suffixes or not path.is_file():
            continue
        if not any(
            pattern.matches(name if "/" in pattern.text else path.name) for pattern in ignored
        ):
            names.append(name)
    return sorted(names, key=_natural)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Return what sorts run2 before run10."""
    parts = re.split(r"(\d+)", text)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]


def count_placed(folder: Path, mapping: Mapping) -> int:
    """Return how many of a source's files a mapping's patterns and names fit."""
    count = 0
    for name in list_candidates(folder, mapping):
        try:
            _place_file(name, mapping)
        except PlacingError:
            continue
        count += 1
    return count


def place_files(folder: Path, mapping: Mapping) -> Placing:
    """Read each file of a source and place its runs; what can't be placed is listed."""
    logs: list[PlacedLog] = []
    unplaced: list[Unplaced] = []
    unused: Counter[str] = Counter()
    for name in list_candidates(folder, mapping):
        if not name.isprintable():
            reason = "its name has characters that can't be printed"
            unplaced.append(Unplaced(ascii(name)[1:-1], 0, reason, "rename the file"))
            continue
        try:
            data = (folder / name).read_bytes()
            entry, fields = _place_file(name, mapping)
            known = entry.format or mapping.format
            table = read_table(name, data, known)
            unused.update(list_unused(table, known, list(entry.fields.values())))
            for part in _split_rows(table, entry, fields):
                try:
                    logs.append(_place_log(name, part, data, mapping, entry))
                except PlacingError as error:
                    unplaced.append(Unplaced(name, error.line or 0, error.reason, error.mend))
        except PlacingError as error:
            unplaced.append(Unplaced(name, error.line or 0, error.reason, error.mend))
        except OSError as error:
            unplaced.append(Unplaced(name, 0, f"can't be read ({error.strerror})", "mend it"))
    kept, collided = _set_collisions_apart(logs)
    return Placing(
        tuple(kept), tuple(sorted([*unplaced, *collided])), tuple(sorted(unused.items()))
    )


def _place_file(name: str, mapping: Mapping) -> tuple[LogFiles, dict[str, str]]:
    """Return the one way to read a file's path: the entry that fits, and their names by field."""
    readings: dict[tuple[tuple[str, str], ...], tuple[LogFiles, dict[str, str]]] = {}
    faults: list[tuple[int, PlacingError]] = []
    for entry in mapping.files:
        for fields in PathPattern(entry.path).matches(name):
            told = entry.constants | fields
            unknown = []
            for key in told.keys() & set(KEYS):
                try:
                    _resolve(key, told[key], mapping)
                except PlacingError as error:
                    unknown.append(error)
            if unknown:
                faults.append((len(unknown), min(unknown, key=lambda item: item.reason)))
            else:
                readings[tuple(sorted(told.items()))] = (entry, told)
    if len(readings) == 1:
        return next(iter(readings.values()))
    if readings:
        ways = " or ".join(
            "/".join(fields[key] for key in (*KEYS, "run") if key in fields)
            for _, fields in readings.values()
        )
        raise PlacingError(
            f"its path can be read as {ways}", "make the mapping's patterns tell them apart"
        )
    if faults:
        # The reading with the fewest unknown names is the likeliest to be meant.
        raise min(faults, key=lambda item: (item[0], item[1].reason))[1]
    patterns = ", ".join(entry.path for entry in mapping.files)
    raise PlacingError(
        f"its path is like none of {patterns}",
        "add a pattern to the mapping's files, or one to not_logs if it is no log",
    )


def _resolve(key: str, name: str, mapping: Mapping) -> str:
    """Return what a name of the source is called here; PlacingError where nothing says."""
    declared = getattr(mapping, f"{key}s")
    if name in declared:
        ours: str = declared[name].name or name
    elif (key == "build" and name in read_builds()) or (key == "instance" and find_instance(name)):
        ours = name
    else:
        hint = f" ({suggest(name, declared)})" if declared else ""
        raise PlacingError(
            f"unknown {key} {name!r}{hint}", f"add it to the mapping's {key}s, if it is one"
        )
    if not re.fullmatch(NAME_PATTERN, ours) or len(ours) > _LONGEST_NAME:
        reason = f"{key} {ours[:_LONGEST_NAME]!r} can't be a folder's name"
        raise PlacingError(reason, f"give it a name in the mapping's {key}s")
    return ours


@dataclass(frozen=True)
class _Part:
    """The rows of one run of a file, and what the file calls that run."""

    table: LogTable
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    fields: dict[str, str]


def _split_rows(table: LogTable, entry: LogFiles, fields: dict[str, str]) -> list[_Part]:
    """Return the rows of each run of a file, in the order in which the runs begin."""
    if not entry.fields:
        return [_Part(table, table.rows, fields)]
    for column in entry.fields.values():
        if column not in table.header:
            reason = f"no column {column!r} among {', '.join(table.header)}"
            raise PlacingError(reason, "correct the mapping's fields", 1)
    places = {key: table.header.index(column) for key, column in entry.fields.items()}
    parts: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    for line, row in table.rows:
        parts[tuple(row[place] for place in places.values())].append((line, row))
    return [
        _Part(table, tuple(rows), fields | dict(zip(places, names, strict=True)))
        for names, rows in parts.items()
    ]


def _place_log(name: str, part: _Part, data: bytes, mapping: Mapping, entry: LogFiles) -> PlacedLog:
    known = entry.format or mapping.format
    try:
        workload, build, instance = (_resolve(key, part.fields[key], mapping) for key in KEYS)
    except PlacingError as error:
        raise PlacingError(error.reason, error.mend, part.rows[0][0]) from None
    log, lines = convert_log(part.table, part.rows, known)
    key = (workload, build, instance, part.fields.get("run", ""))
    theirs = {name: part.fields[name] for name in KEYS}
    return PlacedLog(key, theirs, name, sha256_of(data), log, tuple(lines), part.table.ended)


def _set_collisions_apart(logs: list[PlacedLog]) -> tuple[list[PlacedLog], list[Unplaced]]:
    """Return the logs that alone claim to be their run, and the others, each with its rival."""
    claims: dict[Key, list[PlacedLog]] = defaultdict(list)
    for log in logs:
        claims[log.key].append(log)
    kept, collided = [], []
    for log in logs:
        rivals = [other.file for other in claims[log.key] if other is not log]
        if rivals:
            reason = f"a log of {'/'.join(filter(None, log.key))}, as {rivals[0]} is"
            mend = "tell repeats apart by {run} in the mapping's path, or remove the copy"
            collided.append(Unplaced(log.file, 0, reason, mend))
        else:
            kept.append(log)
    return kept, collided
