"""Brings logs of another benchmark into the run format, as a declared mapping says they lie.

``import_logs`` is the way in. A mapping (``launcher/mappings/NAME.yml``, or a user's file) says
which file is a log of which cell, how columns and units are written, and what else is known.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from catalog.declared import DeclaredError
from launcher.imports.mapping import list_mappings, read_mapping
from launcher.imports.placing import count_placed, place_files
from launcher.imports.source import check_commit, open_source
from launcher.imports.writing import (
    check_campaign,
    check_card,
    describe_campaign,
    describe_runs,
    write_changed,
    write_runs,
    write_unplaced,
)
from models.run import CAMPAIGN_NAME, Source, format_record, sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from launcher.imports.mapping import Mapping
    from launcher.imports.placing import PlacedLog, Unplaced

__all__ = ["ImportReport", "import_logs"]


@dataclass(frozen=True)
class ImportReport:
    """What an import did.

    Attributes:
        mapping: the name of the mapping, or its file.
        folder: the campaign's.
        written: runs that were written.
        unchanged: runs that were there already.
        set_aside: earlier runs of the source that it no longer holds, now below ``.stale/``.
        unplaced: what gave no run, with its reason.
        unused: columns that nothing was taken from, and in how many files.
    """

    mapping: str
    folder: Path
    written: int
    unchanged: int
    set_aside: int
    unplaced: tuple[Unplaced, ...]
    unused: tuple[tuple[str, int], ...]

    def as_text(self) -> str:
        """Return the line that says how it went."""
        aside = f", {self.set_aside} earlier ones set aside" if self.set_aside else ""
        left = f", {len(self.unplaced)} left out" if self.unplaced else ""
        return (
            f"{self.folder}: {self.written} runs written, {self.unchanged} unchanged{aside}{left} "
            f"(mapping {self.mapping})."
        )

    def as_record(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            "mapping": self.mapping,
            "folder": str(self.folder),
            "written": self.written,
            "unchanged": self.unchanged,
            "set_aside": self.set_aside,
            "unplaced": [asdict(item) for item in self.unplaced],
            "unused_columns": dict(self.unused),
        }


def import_logs(
    source: str, runs_dir: Path, *, mapping: str = "", campaign: str = ""
) -> ImportReport:
    """Write a source's logs as a campaign below ``runs_dir``.

    A file is written only where its bytes change: importing twice changes nothing. A log that
    can't be placed is listed, with its reason, and the rest goes on.

    Args:
        source: a folder, or a git address.
        runs_dir: where campaigns are kept.
        mapping: a file, or one of the project's by name; the only one that fits where empty.
        campaign: the campaign's name; the mapping's where empty.

    Raises:
        DeclaredError: where source, mapping or campaign are not as they should be, or no file
            of the source could be placed.
    """
    with open_source(source) as folder:
        name = mapping or _choose_mapping(source, folder)
        known = read_mapping(name)
        if campaign:
            known = _rename(known, campaign)
        origin = Source(
            **known.source.model_dump()
            | {"commit": check_commit(source, folder, known.source.commit)}
        )
        target = runs_dir / known.campaign
        check_campaign(target, origin)
        licence = _read_licence(folder, known)
        placing = place_files(folder, known)
        runs, refused = describe_runs(placing.logs, known, known.campaign, origin)
        unplaced = [*placing.unplaced, *refused]
        if not runs:
            _refuse_all(source, name, unplaced)
        whole = origin.model_copy(update={"sha256": _hash_files(placing.logs)})
        card = describe_campaign(runs, known, known.campaign, whole)
        check_card(card, known, name)
        target.mkdir(parents=True, exist_ok=True)
        if licence is not None:
            write_changed(target / "LICENSE", licence)
        write_changed(target / CAMPAIGN_NAME, format_record(card))
        result = write_runs(target, runs)
        unplaced = sorted([*unplaced, *result.refused])
        write_unplaced(target, unplaced)
    return ImportReport(
        mapping=name,
        folder=target,
        written=result.written,
        unchanged=result.unchanged,
        set_aside=result.set_aside,
        unplaced=tuple(unplaced),
        unused=placing.unused,
    )


def _choose_mapping(source: str, folder: Path) -> str:
    """Return the one mapping of the project that fits some file of a source."""
    fitting = [name for name in list_mappings() if count_placed(folder, read_mapping(name))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        reason = f"the mappings {', '.join(fitting)} fit its files"
        raise DeclaredError(source, None, reason, "choose one: MAPPING=…")
    reason = "no mapping of the project fits its files"
    raise DeclaredError(source, None, reason, "write one, and name it: MAPPING=my-mapping.yml")


def _rename(mapping: Mapping, campaign: str) -> Mapping:
    try:
        return type(mapping).model_validate(mapping.model_dump() | {"campaign": campaign})
    except ValueError:
        reason = "it can't be the name of a campaign"
        mend = "begin with a letter or digit; then letters, digits, and . _ -"
        raise DeclaredError(f"CAMPAIGN={campaign}", None, reason, mend) from None


def _read_licence(folder: Path, mapping: Mapping) -> str | None:
    if not mapping.licence_file:
        return None
    path = folder / mapping.licence_file
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        mend = "the figures may only be kept with their licence: put it there"
        raise DeclaredError(path, None, f"can't be read ({error})", mend) from None


def _refuse_all(source: str, mapping: str, unplaced: list[Unplaced]) -> None:
    """Raise DeclaredError: nothing could be placed; the first reason stands for the others."""
    if not unplaced:
        reason = f"it holds no file that ends as those of the mapping {mapping} do"
        raise DeclaredError(source, None, reason, "correct SRC or MAPPING")
    count = "1 file" if len(unplaced) == 1 else f"{len(unplaced)} files"
    first = min(unplaced)
    reason = f"no log could be placed by the mapping {mapping}; of {count}, the first: {first}"
    raise DeclaredError(source, None, reason, "correct SRC or MAPPING")


def _hash_files(logs: tuple[PlacedLog, ...]) -> str:
    """Return the SHA-256 of the files that gave runs: of their paths and SHA-256, sorted."""
    lines = sorted({f"{log.sha256}  {log.file}\n" for log in logs})
    return sha256_of("".join(lines).encode())
