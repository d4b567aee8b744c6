"""Brings logs of another benchmark into the run format, as a declared layout says they lie.

A layout (``layouts/NAME.yml``) says which folder is which cell, how files and columns are
named, and what else is known. Figures are copied as text, so that no digit is lost.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from catalog.declared import Declared, DeclaredError, read_declared
from catalog.entries import find_instance
from models.run import (
    CAMPAIGN_NAME,
    EPOCH_COLUMNS,
    LOG_NAME,
    MANIFEST_NAME,
    Baseline,
    CampaignCard,
    CellName,
    DatasetUsed,
    Hardware,
    Manifest,
    Profile,
    RunFormatError,
    Scenario,
    Source,
    Status,
    WorkloadUsed,
    hash_parameters,
    read_manifest,
    read_run,
    run_folder,
    sha256_of,
    write_atomically,
    write_campaign,
    write_manifest,
)

LAYOUTS = Path(__file__).parent / "layouts"


class Place(Declared):
    """What a folder of logs was measured on."""

    build: str
    instance: str


class KnownWorkload(Declared):
    """What is known about a workload beside its logs; ``epochs`` is among its parameters."""

    dataset: str
    parameters: dict[str, Any]


class SourceFields(Declared):
    """Where the logs come from; a run's own ``Source`` adds its file and that file's hash."""

    title: str
    author: str
    date: str
    url: str
    repository: str = ""
    commit: str = ""
    licence: str = ""
    notice: str = ""


class Layout(Declared):
    """How another benchmark's logs lie, and what they are logs of."""

    campaign: str
    title: str
    date: dt.date
    profile: Profile
    baseline: Place
    scenario: Scenario
    price_book: str | None = None
    licence_file: str
    source: SourceFields
    file: str = Field(pattern=r"^[^{}/]*\{workload\}[^{}/]*$")
    folders: dict[str, Place]
    columns: dict[str, str] = Field(default_factory=dict)
    workloads: dict[str, KnownWorkload]


@dataclass(frozen=True)
class Unplaced:
    """A file that gave no run: where, why, and what to do about it."""

    file: str
    line: int | None
    reason: str
    mend: str

    def __str__(self) -> str:
        """Return the one line that people read."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.reason}; {self.mend}"


@dataclass(frozen=True)
class ImportReport:
    """What an import did: runs written, runs that were there already, files left out."""

    folder: Path
    written: int
    unchanged: int
    unplaced: tuple[Unplaced, ...]


class _PlacingError(ValueError):
    def __init__(self, reason: str, mend: str, line: int | None = None) -> None:
        self.reason, self.mend, self.line = reason, mend, line
        super().__init__(reason)


def list_layouts(folder: Path = LAYOUTS) -> list[str]:
    """Return the names of the known layouts, sorted."""
    return sorted(path.stem for path in folder.glob("*.yml"))


def read_layout(name: str, folder: Path = LAYOUTS) -> Layout:
    """Return a layout by name; raise DeclaredError where it is missing or at fault."""
    return read_declared(folder / f"{name}.yml", Layout)


def import_logs(source: Path, layout: Layout, runs_dir: Path) -> ImportReport:
    """Write a layout's logs below ``source`` as a campaign below ``runs_dir``.

    A file is written only where its bytes change: importing twice changes nothing. A log that
    can't be placed is listed, with its reason, and the rest goes on.

    Raises:
        DeclaredError: where the source has no such folder, or no licence to carry along.
    """
    if not source.is_dir():
        raise DeclaredError(source, None, "no such folder", "name the folder that holds the logs")
    licence = source / layout.licence_file
    try:
        licence_text = licence.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        mend = "the figures may only be kept with their licence: put it there"
        raise DeclaredError(licence, None, f"can't be read ({error})", mend) from None
    campaign = runs_dir / layout.campaign
    campaign.mkdir(parents=True, exist_ok=True)
    _write_changed(campaign / "LICENSE", licence_text)
    _place_card(campaign, layout)
    written = unchanged = 0
    unplaced = []
    for file in sorted(source.rglob("*.csv")):
        name = file.relative_to(source).as_posix()
        if any(part.startswith(".") for part in Path(name).parts):
            continue
        try:
            if _import_log(file, name, layout, campaign):
                written += 1
            else:
                unchanged += 1
        except _PlacingError as error:
            unplaced.append(Unplaced(name, error.line, error.reason, error.mend))
    return ImportReport(campaign, written, unchanged, tuple(unplaced))


def campaign_card(layout: Layout) -> CampaignCard:
    """Return a layout's campaign: each of its folders times each of its workloads."""
    cells = sorted(
        (workload, place.build, place.instance)
        for workload in layout.workloads
        for place in layout.folders.values()
    )
    return CampaignCard(
        campaign=layout.campaign,
        title=layout.title,
        date=layout.date.isoformat(),
        profile=layout.profile,
        repeats=1,
        cells=tuple(CellName(workload=w, build=b, instance=i) for w, b, i in cells),
        baseline=Baseline(build=layout.baseline.build, instance=layout.baseline.instance),
        scenario=layout.scenario,
        price_book=layout.price_book,
        source=Source(**layout.source.model_dump()),
    )


def _import_log(file: Path, name: str, layout: Layout, campaign: Path) -> bool:
    """Write one log's run; return whether anything changed."""
    place, workload = _place_of(name, layout)
    data = file.read_bytes()
    log = _convert_log(data, layout.columns)
    manifest = _describe(name, layout, place, workload, log).with_changes(
        source=layout.source.model_dump() | {"path": name, "sha256": sha256_of(data)}
    )
    target = run_folder(campaign, manifest)
    # Checked where nobody looks, so that a broken log never lies among the runs.
    with tempfile.TemporaryDirectory() as scratch:
        trial = run_folder(Path(scratch), manifest)
        trial.mkdir(parents=True)
        write_atomically(trial / LOG_NAME, log)
        write_manifest(trial, manifest)
        try:
            read_run(trial)
        except RunFormatError as error:
            raise _PlacingError(error.reason, "restore the log", error.line) from None
        manifest_text = (trial / MANIFEST_NAME).read_text(encoding="utf-8")
    _refuse_own_run(target)
    target.mkdir(parents=True, exist_ok=True)
    changed = _write_changed(target / LOG_NAME, log)
    return _write_changed(target / MANIFEST_NAME, manifest_text) or changed


def _place_of(name: str, layout: Layout) -> tuple[Place, str]:
    folder, _, file = name.rpartition("/")
    place = layout.folders.get(folder)
    if place is None:
        raise _PlacingError(
            f"{folder or '.'} is no folder of the layout {layout.campaign}",
            "add it to the layout's folders, if it holds logs",
        )
    prefix, _, suffix = layout.file.partition("{workload}")
    match = re.fullmatch(f"{re.escape(prefix)}(.+){re.escape(suffix)}", file)
    if match is None:
        raise _PlacingError(f"the name is not like {layout.file}", "rename the file")
    if match[1] not in layout.workloads:
        raise _PlacingError(f"unknown workload {match[1]!r}", "add it to the layout's workloads")
    return place, match[1]


def _convert_log(data: bytes, renames: dict[str, str]) -> str:
    """Return a log in our columns, each field's text as it was, or raise _PlacingError."""
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _PlacingError(f"not CSV in UTF-8 ({error})", "restore the log") from None
    if not rows:
        raise _PlacingError("the log is empty", "restore the log")
    header = [renames.get(column, column) for column in rows[0]]
    for column in header:
        if column not in EPOCH_COLUMNS:
            mend = "map it in the layout's columns"
            raise _PlacingError(f"unknown column {column!r}", mend, 1)
        if header.count(column) > 1:
            raise _PlacingError(f"column {column!r} twice", "restore the log", 1)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(EPOCH_COLUMNS)
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            reason = f"{len(row)} fields where the header has {len(header)}"
            raise _PlacingError(reason, "restore the log", line)
        fields = dict(zip(header, row, strict=True))
        writer.writerow(fields.get(column, "") for column in EPOCH_COLUMNS)
    return text.getvalue()


def _describe(name: str, layout: Layout, place: Place, workload: str, log: str) -> Manifest:
    """Return the manifest of a log's run; what nobody wrote down stays empty."""
    known = layout.workloads[workload]
    instance = find_instance(place.instance)
    if instance is None or not isinstance(instance.vcpus, int):
        raise _PlacingError(f"{name}: unknown instance {place.instance!r}", "add it to the catalog")
    return Manifest(
        run_id="r0",
        campaign=layout.campaign,
        workload=WorkloadUsed(
            name=workload, parameters=known.parameters, sha256=hash_parameters(known.parameters)
        ),
        profile=layout.profile,
        build=place.build,
        instance=place.instance,
        status=Status.COMPLETE,
        planned_epochs=known.parameters.get("epochs"),
        dataset=DatasetUsed(name=known.dataset, kind="real"),
        hardware=Hardware(vcpus=instance.vcpus, gpu=instance.accelerator),
        epochs_sha256=sha256_of(log.encode()),
    )


def _refuse_own_run(target: Path) -> None:
    """Raise where a run that was measured here lies in the way of an imported one."""
    if (target / MANIFEST_NAME).exists():
        try:
            ours = read_manifest(target).source is None
        except RunFormatError:
            return
        if ours:
            reason = f"{'/'.join(target.parts[-5:])} holds a run that was not imported"
            raise _PlacingError(reason, "move that run away, or import into another folder")


def _place_card(campaign: Path, layout: Layout) -> None:
    card = campaign_card(layout)
    with tempfile.TemporaryDirectory() as scratch:
        write_campaign(Path(scratch), card)
        text = (Path(scratch) / CAMPAIGN_NAME).read_text(encoding="utf-8")
    _write_changed(campaign / CAMPAIGN_NAME, text)


def _write_changed(path: Path, text: str) -> bool:
    """Write a file where its bytes change; return whether they did."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    write_atomically(path, text)
    return True
