"""Reads campaigns: what can be a figure, and what can't, with the reason."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from generator.prediction import predict_run
from models.run import (
    CAMPAIGN_NAME,
    LOG_NAME,
    MANIFEST_NAME,
    UNPLACED_COLUMNS,
    UNPLACED_NAME,
    CampaignCard,
    CellName,
    Run,
    RunFormatError,
    Software,
    Status,
    list_run_folders,
    read_campaign,
    read_run,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Work = tuple[str, int, int, int]

_AGAIN = "run the cell again"


@dataclass(frozen=True, slots=True, order=True)
class Exclusion:
    """A log or a manifest that gave no figure, or gave one and is flagged.

    ``file`` is relative to the campaign's folder; ``line`` is 1-based, 0 where it is the whole
    file; ``flagged`` says that the figure counts all the same.
    """

    file: str
    line: int
    reason: str
    mend: str
    flagged: bool = False


@dataclass(frozen=True)
class Campaign:
    """A campaign as read: its card, its runs of any status, and what was left out.

    ``runs`` holds only runs that belong to the campaign's plan and profile. ``inferred`` says
    that campaign.json could not be read.
    """

    folder: Path
    card: CampaignCard
    runs: tuple[Run, ...]
    exclusions: tuple[Exclusion, ...]
    inferred: bool = False

    @property
    def name(self) -> str:
        """The campaign's name, which is its folder's and a part of its pages' addresses."""
        return self.card.campaign

    @property
    def complete_runs(self) -> tuple[Run, ...]:
        """The runs that were trained to their end: those whose time is measured."""
        return tuple(run for run in self.runs if is_whole(run))

    @property
    def predicted_runs(self) -> tuple[Run, ...]:
        """The runs whose total is predicted: those of cells that have no complete run."""
        measured = {_cell_of(run) for run in self.complete_runs}
        return tuple(
            run
            for run in self.runs
            if not is_whole(run) and _cell_of(run) not in measured and predict_run(run)
        )

    @property
    def figure_runs(self) -> tuple[Run, ...]:
        """The runs that give figures, measured or predicted."""
        chosen = {run.folder for run in (*self.complete_runs, *self.predicted_runs)}
        return tuple(run for run in self.runs if run.folder in chosen)


def is_whole(run: Run) -> bool:
    """Return whether a run is complete, and not by a budget of fewer epochs than it has."""
    manifest = run.manifest
    return manifest.status is Status.COMPLETE and (
        manifest.planned_epochs is None or len(run.epochs) >= manifest.planned_epochs
    )


def _cell_of(run: Run) -> tuple[str, str, str]:
    manifest = run.manifest
    return manifest.workload.name, manifest.build, manifest.instance


@dataclass
class _Reader:
    folder: Path
    exclusions: list[Exclusion] = field(default_factory=list)

    def exclude(self, file: Path, line: int | None, reason: str, mend: str) -> None:
        try:
            name = file.relative_to(self.folder).as_posix()
        except ValueError:
            name = file.name
        # A path in a message would be this machine's.
        reason = reason.replace(f"{self.folder}/", "")
        self.exclusions.append(Exclusion(name, line or 0, reason, mend))

    def flag_run(self, run: Run, reason: str, mend: str) -> None:
        name = (run.folder / MANIFEST_NAME).relative_to(self.folder).as_posix()
        self.exclusions.append(Exclusion(name, 0, reason, mend, flagged=True))

    def exclude_error(self, error: RunFormatError) -> None:
        self.exclude(error.file, error.line, error.reason, error.mend)

    def exclude_run(self, run: Run, reason: str, mend: str, name: str = MANIFEST_NAME) -> None:
        if run.manifest.source:
            # It was made elsewhere: nobody here can run it again.
            mend = mend.replace(_AGAIN, "mend the log or its mapping, and import it again")
        self.exclude(run.folder / name, None, reason, mend)


def read_campaigns(runs_dirs: Iterable[Path]) -> tuple[list[Campaign], list[Exclusion]]:
    """Read each campaign below some folders; of two with one name, the first is taken.

    Args:
        runs_dirs: folders that hold campaigns (``runs/``); one that is absent holds none.

    Returns:
        The campaigns, sorted by name, and what can't be one: a folder with no run that can be
        read and no card.
    """
    folders: dict[str, Path] = {}
    for runs_dir in runs_dirs:
        if runs_dir.is_dir():
            for folder in sorted(runs_dir.iterdir()):
                if folder.is_dir() and not folder.name.startswith("."):
                    folders.setdefault(folder.name, folder)
    campaigns, unreadable = [], []
    for name in sorted(folders):
        found = read_campaign_folder(folders[name])
        if isinstance(found, Campaign):
            campaigns.append(found)
        else:
            unreadable.extend(found)
    return campaigns, sorted(unreadable)


def list_hidden(runs_dirs: Sequence[Path]) -> list[tuple[str, Path, Path]]:
    """Return the campaigns that lie in several folders: the name, which counts, which is hidden."""
    first: dict[str, Path] = {}
    hidden = []
    for runs_dir in runs_dirs:
        for folder in sorted(runs_dir.iterdir()) if runs_dir.is_dir() else ():
            if folder.is_dir() and not folder.name.startswith("."):
                kept = first.setdefault(folder.name, folder)
                if kept != folder and (folder / CAMPAIGN_NAME).is_file():
                    hidden.append((folder.name, kept, folder))
    return hidden


def read_campaign_folder(folder: Path) -> Campaign | list[Exclusion]:
    """Read one campaign; return why not where its folder holds nothing that can be read."""
    reader = _Reader(folder)
    card: CampaignCard | None = None
    try:
        card = read_campaign(folder)
    except RunFormatError as error:
        reader.exclude_error(error)
    found = []
    for run_folder in list_run_folders(folder):
        try:
            found.append(read_run(run_folder))
        except RunFormatError as error:
            reader.exclude_error(error)
    inferred = card is None
    if card is None:
        card = _infer_card(folder.name, found)
        if card is None:
            return [
                Exclusion(f"{folder.name}/{item.file}", item.line, item.reason, item.mend)
                for item in reader.exclusions
            ]
    reader.exclusions += _read_unplaced(folder)
    runs = _keep_members(reader, card, found)
    runs = _keep_same_work(reader, card, runs)
    runs = _keep_same_software(reader, card, runs)
    runs = _keep_originals(reader, runs)
    measured = {_cell_of(run) for run in runs if is_whole(run)}
    for run in runs:
        _explain_status(reader, run, measured=_cell_of(run) in measured)
    return Campaign(folder, card, tuple(runs), tuple(sorted(reader.exclusions)), inferred)


def _read_unplaced(folder: Path) -> list[Exclusion]:
    """Return what an import left out, as it listed it beside the runs."""
    path = folder / UNPLACED_NAME
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return [Exclusion(UNPLACED_NAME, 0, f"can't be read ({error})", "import again")]
    found = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) == len(UNPLACED_COLUMNS) and (row[1].isdecimal() or not row[1]):
            file, line, reason, mend = row
            found.append(Exclusion(f"{file} (of the source)", int(line or 0), reason, mend))
        else:
            found.append(Exclusion(UNPLACED_NAME, number, "not as it was written", "import again"))
    return found


def _infer_card(name: str, runs: Sequence[Run]) -> CampaignCard | None:
    """Return a card for runs whose campaign.json is lost: their cells, without a baseline."""
    mine = [run.manifest for run in runs if run.manifest.campaign == name]
    if not mine:
        return None
    profiles = Counter(manifest.profile for manifest in mine)
    profile = min(profiles, key=lambda item: (-profiles[item], item))
    cells = {(m.workload.name, m.build, m.instance) for m in mine}
    return CampaignCard(
        campaign=name,
        title=f"{name} (its {CAMPAIGN_NAME} can't be read)",
        profile=profile,
        cells=tuple(CellName(workload=w, build=b, instance=i) for w, b, i in sorted(cells)),
    )


def _keep_members(reader: _Reader, card: CampaignCard, runs: Sequence[Run]) -> list[Run]:
    cells = {(cell.workload, cell.build, cell.instance) for cell in card.cells}
    kept = []
    for run in runs:
        manifest = run.manifest
        if manifest.campaign != card.campaign:
            reason = f"a run of campaign {manifest.campaign!r} in {card.campaign!r}"
            reader.exclude_run(run, reason, "move it to its campaign")
        elif manifest.profile != card.profile:
            reason = f"profile {manifest.profile} in a campaign of profile {card.profile}"
            reader.exclude_run(run, reason, "give it a campaign of its own")
        elif (manifest.workload.name, manifest.build, manifest.instance) not in cells:
            reader.exclude_run(run, f"its cell is not in {CAMPAIGN_NAME}", "add the cell there")
        else:
            kept.append(run)
    return kept


def _keep_same_work(reader: _Reader, card: CampaignCard, runs: Sequence[Run]) -> list[Run]:
    """Leave out runs of other parameters or epochs: a ratio compares the same work only.

    The baseline's parameters are the right ones; without one, those of most runs.
    """
    by_workload: dict[str, Counter[tuple[bool, Work]]] = {}
    for run in runs:
        manifest = run.manifest
        if manifest.status is Status.COMPLETE:
            counts = by_workload.setdefault(manifest.workload.name, Counter())
            counts[_is_baseline(run, card), _work_of(run)] += 1
    right = {
        workload: min(counts, key=lambda key: (not key[0], -counts[key], key[1]))[1]
        for workload, counts in by_workload.items()
    }
    kept = []
    for run in runs:
        name = run.manifest.workload.name
        mine, theirs = _work_of(run), right.get(name)
        gives_figures = run.manifest.status in (Status.COMPLETE, Status.PREEMPTED)
        if not gives_figures or theirs is None or mine == theirs:
            kept.append(run)
        elif mine[0] == theirs[0] and mine[2:] == theirs[2:]:
            reason = f"{mine[1]} epochs of {name}, where the rest of the campaign has {theirs[1]}"
            reader.exclude_run(run, reason, _AGAIN)
        else:
            reason = f"other parameters of {name} than the rest of the campaign"
            reader.exclude_run(run, reason, _AGAIN)
    return kept


def _work_of(run: Run) -> Work:
    """Return what a run's work is told by: its parameters, epochs, warm-up and steps."""
    manifest = run.manifest
    return (
        manifest.workload.sha256 or "",
        manifest.planned_epochs or len(run.epochs),
        manifest.warmup_epochs,
        manifest.steps_per_epoch or 0,
    )


def _keep_same_software(reader: _Reader, card: CampaignCard, runs: Sequence[Run]) -> list[Run]:
    """Leave out runs that differ in what isn't compared: versions, and whether in a container.

    The baseline's software is the right one; without one, that of most runs. The runs of one cell
    have one wheel, that of most.
    """
    software: Counter[tuple[bool, str]] = Counter()
    wheels: dict[tuple[str, str, str], Counter[str]] = {}
    examples: dict[str, Software] = {}
    for run in runs:
        manifest = run.manifest
        if manifest.status is Status.COMPLETE:
            key = manifest.software.model_dump_json()
            examples[key] = manifest.software
            software[_is_baseline(run, card), key] += 1
            wheels.setdefault(_cell_of(run), Counter())[manifest.software.wheel_sha256 or ""] += 1
    if not software or card.source:
        return list(runs)
    right = examples[min(software, key=lambda key: (not key[0], -software[key], key[1]))[1]]
    kept = []
    for run in runs:
        mine, counts = run.manifest.software, wheels.get(_cell_of(run), Counter())
        wheel = min(counts, key=lambda key: (-counts[key], key), default="")
        difference = right.find_difference(mine)
        if run.manifest.status not in (Status.COMPLETE, Status.PREEMPTED):
            kept.append(run)
        elif difference:
            reason = f"other software than the rest of the campaign ({difference})"
            reader.exclude_run(run, reason, _AGAIN)
        elif wheel and mine.wheel_sha256 not in (None, wheel):
            reader.exclude_run(run, "another wheel than the rest of its cell", _AGAIN)
        else:
            kept.append(run)
    return kept


def _is_baseline(run: Run, card: CampaignCard) -> bool:
    mine = run.manifest.build, run.manifest.instance
    return card.baseline is not None and mine == (card.baseline.build, card.baseline.instance)


def _keep_originals(reader: _Reader, runs: Sequence[Run]) -> list[Run]:
    """Leave out copies: one log counts once, however many folders it lies in."""
    seen: dict[str, Run] = {}
    kept = []
    for run in runs:
        digest = run.manifest.epochs_sha256
        if run.manifest.status is Status.COMPLETE and digest:
            first = seen.setdefault(digest, run)
            if first is not run:
                where = first.folder.relative_to(reader.folder).as_posix()
                reader.exclude_run(run, f"the same log as {where}", "remove the copy", LOG_NAME)
                continue
        kept.append(run)
    return kept


def _explain_status(reader: _Reader, run: Run, *, measured: bool) -> None:
    """List why a run gives no figure, or only a predicted one.

    Args:
        reader: the campaign's.
        run: the run.
        measured: whether its cell has a complete run.
    """
    manifest = run.manifest
    why = f": {manifest.why}" if manifest.why else ""
    done = f"after {len(run.epochs)} of {manifest.planned_epochs or 'unknown'} epochs"
    if manifest.status is Status.FAILED:
        reader.exclude_run(run, f"failed{why}", "mend what it says, and run the cell again")
        return
    if is_whole(run):
        return
    if manifest.status is Status.RUNNING:
        reader.exclude_run(run, "still running, or killed", f"wait, or {_AGAIN}")
        return
    preempted = manifest.status is Status.PREEMPTED
    ended = f"preempted {done}{why}" if preempted else f"stopped {done}, as planned"
    if measured:
        reader.exclude_run(run, f"{ended}; its cell has complete runs", "none is needed")
    elif predict_run(run):
        reader.flag_run(run, f"{ended}: its total is predicted", "run all epochs to measure it")
    else:
        reader.exclude_run(run, ended, _AGAIN)
