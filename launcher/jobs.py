"""Plan to jobs: what is there already, what is stale, and what to run in which order. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.run import CellName, Manifest, Profile, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from catalog.entries import Build
    from launcher.machines import Machine
    from launcher.plan import ResolvedPlan
    from launcher.workloads import KnownWorkload

BASE_SEED = 20170705
"""The seed of the first repeat; that of repeat r is r more. All cells share them."""

_RUN_ID = re.compile(r"r(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class Found:
    """A run as it lies on disk: its manifest, and whether its log is as it should be."""

    folder: Path
    manifest: Manifest
    is_sound: bool


@dataclass(frozen=True)
class Job:
    """One run to make: a cell, which repeat, and the id that it gets."""

    cell: CellName
    repeat: int
    run_id: str


@dataclass(frozen=True)
class Schedule:
    """What there is to do.

    Attributes:
        jobs: the runs to make, in order.
        reused: complete runs that the plan wanted and has.
        stale: runs of other parameters, builds, data or machines, to be moved away.
        killed: runs that say they are running, though nobody runs them.
    """

    jobs: tuple[Job, ...]
    reused: tuple[Found, ...]
    stale: tuple[Found, ...]
    killed: tuple[Found, ...]


def seed_of(repeat: int) -> int:
    """Return the seed of a repeat."""
    return BASE_SEED + repeat


def schedule_jobs(
    plan: ResolvedPlan,
    found: Sequence[Found],
    workloads: Mapping[str, KnownWorkload],
    builds: Mapping[str, Build],
    data_mode: str,
    machines: Mapping[str, Machine],
    unreadable: Sequence[Path] = (),
) -> Schedule:
    """Return what of a plan is to be run, given the runs that are there.

    Repeats are interleaved: each cell is run once before any is run twice, and every second
    repeat goes through the cells backwards, so that a steady drift hits all cells alike.

    Args:
        plan: what is wanted.
        found: the runs that are there.
        workloads: the workloads of the plan's profile.
        builds: the catalog's.
        data_mode: which data is wanted.
        machines: what a run of each build would be made with here.
        unreadable: run folders whose manifests can't be read; the report lists them, and
            their ids are taken.
    """
    selected = set(plan.selected)
    mine = [item for item in found if _cell_of(item.manifest) in selected]
    stale = tuple(
        item
        for item in mine
        if not is_current(
            item.manifest,
            plan.profile,
            workloads,
            builds,
            data_mode=data_mode,
            machine=machines[item.manifest.build],
        )
    )
    current = [item for item in mine if item not in stale]
    killed = tuple(item for item in current if item.manifest.status is Status.RUNNING)
    complete: dict[tuple[CellName, int], Found] = {}
    # A run of all epochs first: it is worth more than one that a budget cut short.
    for item in sorted(current, key=lambda item: item.manifest.budget_epochs is not None):
        if item.manifest.status is Status.COMPLETE and item.is_sound and _is_enough(item, plan):
            complete.setdefault((_cell_of(item.manifest), item.manifest.repeat), item)
    taken = {(_cell_of(item.manifest), item.folder.name) for item in current}
    for folder in unreadable:
        instance, build, workload, name = folder.parts[-4:]
        for cell in plan.selected:
            if (cell.instance, cell.build, cell.workload) == (instance, build, workload):
                taken.add((cell, name))
    jobs = []
    reused = []
    for repeat in range(plan.repeats):
        cells = plan.selected if repeat % 2 == 0 else plan.selected[::-1]
        for cell in cells:
            if (cell, repeat) in complete:
                reused.append(complete[cell, repeat])
            else:
                run_id = next_run_id(repeat, {name for where, name in taken if where == cell})
                jobs.append(Job(cell, repeat, run_id))
    return Schedule(tuple(jobs), tuple(reused), stale, killed)


def _is_enough(item: Found, plan: ResolvedPlan) -> bool:
    """Return whether a complete run has all epochs, or as many as the plan's budget."""
    done = item.manifest.budget_epochs
    return done is None or (plan.budget_epochs is not None and done >= plan.budget_epochs)


def next_run_id(repeat: int, taken: Iterable[str]) -> str:
    """Return a repeat's next free id: r0, then r0-2, r0-3, and so on."""
    tries = [
        int(match[2] or 1)
        for name in taken
        if (match := _RUN_ID.fullmatch(name)) and int(match[1]) == repeat
    ]
    return f"r{repeat}-{max(tries) + 1}" if tries else f"r{repeat}"


def _cell_of(manifest: Manifest) -> CellName:
    return CellName(
        workload=manifest.workload.name, build=manifest.build, instance=manifest.instance
    )


def is_current(
    manifest: Manifest,
    profile: Profile,
    workloads: Mapping[str, KnownWorkload],
    builds: Mapping[str, Build],
    *,
    data_mode: str,
    machine: Machine,
) -> bool:
    """Return whether a run is what the plan would make now: the same work, build and machine."""
    workload, build = workloads[manifest.workload.name], builds[manifest.build]
    here = (
        (manifest.hardware.cpu_model, machine.cpu_model),
        (manifest.software.wheel_sha256, machine.software.wheel_sha256),
    )
    return (
        manifest.profile == profile
        and manifest.workload.sha256 == workload.sha256
        and manifest.seed == seed_of(manifest.repeat)
        and manifest.jit_compile == build.jit_compile
        and manifest.environment == build.environment
        and _is_wanted_data(manifest, data_mode)
        and not manifest.software.find_difference(machine.software)
        # What a run could not say, or is not known here, is no difference.
        and all(ours == theirs or None in (ours, theirs) for ours, theirs in here)
    )


def _is_wanted_data(manifest: Manifest, data_mode: str) -> bool:
    if data_mode == "real" and manifest.dataset:
        return manifest.dataset.kind == "real"
    if data_mode == "auto":
        return manifest.data_mode in ("auto", "real")
    return manifest.data_mode == data_mode


def estimate_remaining(
    jobs: Sequence[Job], durations: Mapping[str, Sequence[float]]
) -> float | None:
    """Return how many seconds jobs will take: each as long as runs of its workload did.

    A workload without a run yet is taken as the mean of all; None where nothing is known.
    """
    known = [value for values in durations.values() for value in values]
    if not known:
        return None
    mean = sum(known) / len(known)
    return sum(
        sum(values) / len(values) if (values := durations.get(job.cell.workload)) else mean
        for job in jobs
    )
