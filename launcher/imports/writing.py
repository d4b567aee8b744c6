"""Writes placed logs as a campaign in the run format; what is as it was, is left alone."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.declared import DeclaredError, suggest
from catalog.entries import find_instance, read_builds
from catalog.price_book import list_price_books
from launcher.campaign import find_runs, set_aside
from launcher.imports.placing import Unplaced
from models.run import (
    CAMPAIGN_NAME,
    LOG_NAME,
    MANIFEST_NAME,
    UNPLACED_COLUMNS,
    UNPLACED_NAME,
    Baseline,
    BuildCard,
    CampaignCard,
    CellName,
    Hardware,
    InstanceCard,
    Manifest,
    RunFormatError,
    Software,
    Source,
    Status,
    WorkloadUsed,
    format_record,
    hash_parameters,
    read_campaign,
    read_manifest,
    read_run,
    run_folder,
    sha256_of,
    write_atomically,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launcher.imports.mapping import Mapping, WorkloadFacts
    from launcher.imports.placing import PlacedLog


@dataclass(frozen=True)
class Written:
    """What writing a campaign did: runs written, as they were, set aside, and not written."""

    written: int
    unchanged: int
    set_aside: int
    refused: tuple[Unplaced, ...]


@dataclass(frozen=True)
class ImportedRun:
    """A placed log with its manifest."""

    placed: PlacedLog
    manifest: Manifest


def describe_runs(
    logs: Sequence[PlacedLog], mapping: Mapping, campaign: str, source: Source
) -> tuple[list[ImportedRun], list[Unplaced]]:
    """Return the manifest of each log, and the logs that can't be runs."""
    repeats: dict[tuple[str, ...], int] = {}
    runs, unplaced = [], []
    for log in logs:
        facts = mapping.workloads.get(log.theirs["workload"])
        planned = facts.planned_epochs if facts else None
        count = log.log.count("\n") - 1
        if planned is not None and count > planned:
            reason = f"{count} epochs, where the mapping has {planned} of {log.key[0]}"
            unplaced.append(Unplaced(log.file, 0, reason, "correct the mapping, or the log"))
            continue
        if planned is not None and count < planned and not log.ended:
            reason = "the last line has no end: it may be cut off"
            mend = "remove it, or end it if it is whole"
            unplaced.append(Unplaced(log.file, log.lines[-1], reason, mend))
            continue
        repeat = repeats[log.key[:3]] = repeats.get(log.key[:3], -1) + 1
        manifest = _describe_run(log, mapping, facts, campaign, repeat)
        changes = {"source": source.model_dump() | {"path": log.file, "sha256": log.sha256}}
        runs.append(ImportedRun(log, manifest.with_changes(**changes)))
    return runs, unplaced


def _describe_run(
    log: PlacedLog, mapping: Mapping, facts: WorkloadFacts | None, campaign: str, repeat: int
) -> Manifest:
    """Return the manifest of a log's run; what nobody wrote down stays empty."""
    workload, build, instance, _ = log.key
    planned = facts.planned_epochs if facts else None
    count = log.log.count("\n") - 1
    stopped = planned is not None and count < planned
    parameters = facts.parameters if facts else {}
    built = mapping.builds.get(log.theirs["build"])
    machine = _describe_instance(log.theirs["instance"], instance, mapping)
    return Manifest(
        run_id=f"r{repeat}",
        campaign=campaign,
        workload=WorkloadUsed(
            name=workload,
            parameters=parameters,
            sha256=hash_parameters(parameters) if parameters else None,
        ),
        profile=mapping.profile,
        build=build,
        instance=instance,
        repeat=repeat,
        status=Status.PREEMPTED if stopped else Status.COMPLETE,
        why=f"the log has {count} of {planned} epochs" if stopped else "",
        planned_epochs=planned,
        dataset=facts.dataset if facts and facts.dataset else None,
        software=Software(
            tensorflow=built.tensorflow if built else None,
            keras=built.keras if built else None,
            framework=built.framework if built else None,
        ),
        hardware=Hardware(vcpus=machine.vcpus, gpu=machine.accelerator),
        epochs_sha256=sha256_of(log.log.encode()),
    )


def _describe_instance(theirs: str, ours: str, mapping: Mapping) -> InstanceCard:
    """Return an instance's facts: the mapping's, and the catalog's where it says nothing."""
    declared = mapping.instances.get(theirs)
    entry = find_instance(ours)
    vcpus = declared.vcpus if declared else None
    if vcpus is None and entry and isinstance(entry.vcpus, int):
        vcpus = entry.vcpus
    return InstanceCard(
        title=(declared.title if declared else "") or (entry.title if entry else ""),
        vcpus=vcpus,
        memory_gib=(declared.memory_gib if declared else None)
        or (entry.memory_gib if entry else None),
        accelerator=(declared.accelerator if declared else None)
        or (entry.accelerator if entry else None),
    )


def describe_campaign(
    runs: Sequence[ImportedRun], mapping: Mapping, campaign: str, source: Source
) -> CampaignCard:
    """Return the campaign's card: the cells that were to be, and facts that no catalog has."""
    found = {(m.workload.name, m.build, m.instance) for m in (run.manifest for run in runs)}
    workloads = sorted({workload for workload, _, _ in found})
    if mapping.expected:
        cells = {
            (workload, item.build, instance)
            for item in mapping.expected
            for instance in item.instances
            for workload in item.workloads or workloads
        }
    else:
        cells = {
            (workload, build, instance) for workload in workloads for _, build, instance in found
        }
    cells |= found
    repeats = max((run.manifest.repeat + 1 for run in runs), default=1)
    instances = {
        run.manifest.instance: _describe_instance(
            run.placed.theirs["instance"], run.manifest.instance, mapping
        )
        for run in runs
        if find_instance(run.manifest.instance) is None
    }
    builds = {}
    for run in runs:
        facts = mapping.builds.get(run.placed.theirs["build"])
        if run.manifest.build not in read_builds():
            builds[run.manifest.build] = BuildCard(
                title=facts.title if facts else "",
                compiled=bool(facts and facts.compiled),
                framework=facts.framework if facts else None,
            )
    baseline = mapping.baseline
    return CampaignCard(
        campaign=campaign,
        title=mapping.title,
        date=mapping.date.isoformat() if mapping.date else None,
        profile=mapping.profile,
        repeats=repeats,
        cells=tuple(CellName(workload=w, build=b, instance=i) for w, b, i in sorted(cells)),
        baseline=Baseline(build=baseline.build, instance=baseline.instance) if baseline else None,
        scenario=mapping.scenario,
        price_book=mapping.price_book,
        usd_per_hour=mapping.usd_per_hour,
        instances=dict(sorted(instances.items())),
        builds=dict(sorted(builds.items())),
        source=source,
    )


def check_card(card: CampaignCard, mapping: Mapping, name: str) -> None:
    """Raise DeclaredError where a mapping names a baseline, instance or price book that isn't."""
    pairs = sorted({(cell.build, cell.instance) for cell in card.cells})
    if card.baseline and (card.baseline.build, card.baseline.instance) not in pairs:
        reason = f"the baseline {card.baseline.build} on {card.baseline.instance} is no cell"
        known = ", ".join(f"{build} on {instance}" for build, instance in pairs)
        raise DeclaredError(name, None, reason, f"choose from {known}")
    instances = {instance for _, instance in pairs}
    instances |= {facts.name or theirs for theirs, facts in mapping.instances.items()}
    for instance in card.usd_per_hour:
        if instance not in instances:
            reason = f"usd_per_hour has {instance!r}, which is no instance of the mapping"
            raise DeclaredError(name, None, reason, suggest(instance, instances))
    if card.price_book and card.price_book not in list_price_books():
        reason = f"no price book {card.price_book!r}"
        raise DeclaredError(name, None, reason, suggest(card.price_book, list_price_books()))


def check_campaign(folder: Path, source: Source) -> None:
    """Raise DeclaredError where a folder holds a campaign that this source's is not to replace."""
    try:
        card = read_campaign(folder)
    except RunFormatError as error:
        if (folder / CAMPAIGN_NAME).exists():
            raise DeclaredError(
                error.file, error.line, error.reason, "restore it, or remove the campaign"
            ) from None
        return
    mend = "give this import another name: CAMPAIGN=…"
    if card.source is None:
        raise DeclaredError(folder, None, "the campaign was measured here, not imported", mend)
    if (card.source.title, card.source.author) != (source.title, source.author):
        reason = f"the campaign holds the logs of {card.source.author}, {card.source.title!r}"
        raise DeclaredError(folder, None, reason, mend)


def write_runs(folder: Path, runs: Sequence[ImportedRun]) -> Written:
    """Write runs below a campaign's folder, where their bytes change.

    Earlier runs of the same source that it no longer holds are set aside, none is deleted.
    """
    written = unchanged = 0
    refused = []
    kept = set()
    for run in runs:
        try:
            target = run_folder(folder, run.manifest)
            texts = _check_run(run)
            _refuse_own_run(target)
        except RunFormatError as error:
            line = run.placed.lines[error.line - 1] if error.line else 0
            refused.append(Unplaced(run.placed.file, line, error.reason, "restore the log"))
            continue
        kept.add(target)
        target.mkdir(parents=True, exist_ok=True)
        changes = [write_changed(target / name, text) for name, text in texts.items()]
        if True in changes:
            written += 1
        else:
            unchanged += 1
    found, _ = find_runs(folder)
    orphans = [item for item in found if item.manifest.source and item.folder not in kept]
    set_aside(folder, orphans)
    return Written(written, unchanged, len(orphans), tuple(refused))


def _check_run(run: ImportedRun) -> dict[str, str]:
    """Return a run's files, checked where nobody looks: a broken log never lies among runs."""
    texts = {LOG_NAME: run.placed.log, MANIFEST_NAME: format_record(run.manifest)}
    with tempfile.TemporaryDirectory() as scratch:
        trial = run_folder(Path(scratch), run.manifest)
        trial.mkdir(parents=True)
        for name, text in texts.items():
            write_atomically(trial / name, text)
        read_run(trial)
    return texts


def _refuse_own_run(target: Path) -> None:
    """Raise where a run that was measured here lies in the way of an imported one."""
    if (target / MANIFEST_NAME).exists() and read_manifest(target).source is None:
        reason = f"{'/'.join(target.parts[-5:])} holds a run that was not imported"
        raise RunFormatError(target, reason, "move it away")


def write_unplaced(folder: Path, unplaced: Sequence[Unplaced]) -> None:
    """Keep the list of what gave no run beside the runs; remove it where it is empty."""
    path = folder / UNPLACED_NAME
    if not unplaced:
        path.unlink(missing_ok=True)
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(UNPLACED_COLUMNS)
    writer.writerows((item.file, item.line or "", item.reason, item.mend) for item in unplaced)
    write_changed(path, text.getvalue())


def write_changed(path: Path, text: str) -> bool:
    """Write a file where its bytes change; return whether they did."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    write_atomically(path, text)
    return True
