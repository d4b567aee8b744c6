"""The run format: read, check and write what a run and its campaign leave on disk.

A campaign is a folder of runs::

    CAMPAIGN/campaign.json                                 what was asked for
    CAMPAIGN/unplaced.csv                                  what an import left out, if anything
    CAMPAIGN/INSTANCE/BUILD/WORKLOAD/RUN_ID/run.json       what was run, on what (the manifest)
    CAMPAIGN/INSTANCE/BUILD/WORKLOAD/RUN_ID/epochs.csv     one line an epoch (the log)

This module is the format's one door: its parts (``errors``, ``manifest``, ``epochs``) are
taken from here. It imports no TensorFlow, so that whatever plans, collects or reports can
use it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from models.epochs import (
    EPOCH_COLUMNS,
    LOG_NAME,
    EpochRecord,
    EpochWriter,
    format_epochs,
    read_epochs,
)
from models.errors import RunFormatError, read_text
from models.manifest import (
    NAME_PATTERN,
    WARMUP_EPOCHS,
    Baseline,
    BuildCard,
    CampaignCard,
    CellName,
    DatasetUsed,
    Hardware,
    InstanceCard,
    Manifest,
    Name,
    Profile,
    Scenario,
    Segment,
    Software,
    Source,
    Status,
    WallSeconds,
    WorkloadUsed,
    utc_now,
)

__all__ = [
    "CAMPAIGN_NAME",
    "EPOCH_COLUMNS",
    "LOG_NAME",
    "MANIFEST_NAME",
    "NAME_PATTERN",
    "UNPLACED_COLUMNS",
    "UNPLACED_NAME",
    "WARMUP_EPOCHS",
    "Baseline",
    "BuildCard",
    "CampaignCard",
    "CellName",
    "DatasetUsed",
    "EpochRecord",
    "EpochWriter",
    "Hardware",
    "InstanceCard",
    "Manifest",
    "Name",
    "Profile",
    "Run",
    "RunFormatError",
    "Scenario",
    "Segment",
    "Software",
    "Source",
    "Status",
    "WallSeconds",
    "WorkloadUsed",
    "format_epochs",
    "format_record",
    "hash_parameters",
    "list_run_folders",
    "read_campaign",
    "read_epochs",
    "read_manifest",
    "read_run",
    "run_folder",
    "sha256_of",
    "utc_now",
    "write_atomically",
    "write_campaign",
    "write_manifest",
]

MANIFEST_NAME = "run.json"
CAMPAIGN_NAME = "campaign.json"
UNPLACED_NAME = "unplaced.csv"
"""Files of an imported campaign's source that gave no run; absent where all did."""
UNPLACED_COLUMNS = ("file", "line", "reason", "mend")


@dataclass(frozen=True, slots=True)
class Run:
    """A run as read from disk: its folder, manifest and epochs."""

    folder: Path
    manifest: Manifest
    epochs: tuple[EpochRecord, ...]


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def hash_parameters(parameters: dict[str, Any]) -> str:
    """Return the SHA-256 of a workload's parameters, independent of their order."""
    return sha256_of(json.dumps(parameters, sort_keys=True, separators=(",", ":")).encode())


def run_folder(campaign_folder: Path, manifest: Manifest) -> Path:
    """Return the folder that a run belongs in."""
    return (
        campaign_folder
        / manifest.instance
        / manifest.build
        / manifest.workload.name
        / manifest.run_id
    )


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's text at once: a reader sees the old or the new one, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes a file that only its owner can read; data is for all to read.
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write ``run.json`` into a run's folder, atomically."""
    write_atomically(folder / MANIFEST_NAME, format_record(manifest))


def write_campaign(folder: Path, card: CampaignCard) -> None:
    """Write ``campaign.json`` into a campaign's folder, atomically."""
    write_atomically(folder / CAMPAIGN_NAME, format_record(card))


def format_record(record: BaseModel) -> str:
    """Return the text of ``run.json`` or ``campaign.json``."""
    return json.dumps(record.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


_Record = TypeVar("_Record", bound=BaseModel)


def _read_json(path: Path, record: type[_Record]) -> _Record:
    text = read_text(path)
    try:
        return record.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        reason = f"not JSON ({error.msg})"
        raise RunFormatError(path, reason, "restore the file or run again", error.lineno) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        reason = f"{field}: {first['msg']}" if field else first["msg"]
        line = _line_of(text, first["loc"])
        raise RunFormatError(path, reason, "correct the field or run again", line) from None
    except RecursionError:
        raise RunFormatError(path, "nested too deep", "restore the file or run again") from None


def _line_of(text: str, location: tuple[int | str, ...]) -> int | None:
    """Return the line of the last key of a location that the text names, if any."""
    for key in reversed(location):
        match = re.search(rf'"{re.escape(str(key))}"\s*:', text)
        if match:
            return text.count("\n", 0, match.start()) + 1
    return None


def read_manifest(folder: Path) -> Manifest:
    """Read a run's ``run.json``; raise RunFormatError where it is not as it should be."""
    return _read_json(folder / MANIFEST_NAME, Manifest)


def read_campaign(folder: Path) -> CampaignCard:
    """Read a campaign's ``campaign.json``; raise RunFormatError like read_manifest."""
    card = _read_json(folder / CAMPAIGN_NAME, CampaignCard)
    if card.campaign != folder.name:
        reason = f"it describes {card.campaign!r} but lies in {folder.name!r}"
        raise RunFormatError(folder / CAMPAIGN_NAME, reason, "rename the folder or the campaign")
    return card


def read_run(folder: Path) -> Run:
    """Read and check a run: its manifest, its log, and that the two belong together.

    Raises:
        RunFormatError: for the first fault found.
    """
    manifest = read_manifest(folder)
    place = (manifest.instance, manifest.build, manifest.workload.name, manifest.run_id)
    if place != folder.parts[-4:]:
        reason = f"it describes {'/'.join(place)} but lies in {'/'.join(folder.parts[-4:])}"
        raise RunFormatError(folder / MANIFEST_NAME, reason, "move the folder back")
    complete = manifest.status is Status.COMPLETE
    log = folder / LOG_NAME
    if not complete and not log.exists():
        return Run(folder, manifest, ())
    epochs = read_epochs(log, torn_end=not complete)
    if complete:
        _check_complete(log, manifest, epochs)
    return Run(folder, manifest, epochs)


def _check_complete(log: Path, manifest: Manifest, epochs: tuple[EpochRecord, ...]) -> None:
    if manifest.epochs_sha256 != sha256_of(log.read_bytes()):
        reason = "its SHA-256 is not the one in run.json: the log was changed after the run"
        raise RunFormatError(log, reason, "restore the log or run the cell again")
    wanted = manifest.budget_epochs or manifest.planned_epochs
    if wanted is not None and len(epochs) != wanted:
        reason = f"{len(epochs)} epochs of {wanted} in a complete run"
        raise RunFormatError(log, reason, "run the cell again")
    if manifest.warmup_epochs >= len(epochs):
        reason = f"{len(epochs)} epochs, {manifest.warmup_epochs} of them warm-up: none is timed"
        raise RunFormatError(log, reason, "run the cell again")


def list_run_folders(campaign_folder: Path) -> list[Path]:
    """Return a campaign's run folders, sorted: those four levels down, whole or not."""
    return sorted(
        path
        for path in campaign_folder.glob("*/*/*/*")
        if path.is_dir() and not any(part.startswith(".") for part in path.parts[-4:])
    )
