"""Trains a plan: runs what is missing, tries what failed once more, and says how it went."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from launcher.campaign import find_runs, lock_campaign, set_aside, update_card
from launcher.containers import describe_container, remove_leftovers, run_in_container
from launcher.endings import settle_killed
from launcher.host import (
    Context,
    InterruptedRunError,
    read_git,
    run_job,
    start_manifest,
)
from launcher.jobs import Job, Schedule, estimate_remaining, next_run_id, schedule_jobs
from launcher.progress import ProgressView, describe_job
from models.run import Manifest, Software, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    from rich.console import Console

    from catalog.entries import Build
    from launcher.jobs import Found
    from launcher.plan import ResolvedPlan
    from launcher.runners import Runner
    from launcher.workloads import KnownWorkload


@dataclass
class Outcome:
    """How the training of a plan went. ``failed`` holds the runs that failed at their last try."""

    folder: Path
    new: int = 0
    reused: int = 0
    stale: int = 0
    failed: list[tuple[Job, Manifest]] = field(default_factory=list)
    interrupted: bool = False

    def as_record(self) -> dict[str, Any]:
        """Return the outcome for `--json`."""
        return {
            "runs": str(self.folder),
            "new": self.new,
            "reused": self.reused,
            "failed": [
                {"run": describe_job(job), "why": manifest.why} for job, manifest in self.failed
            ],
            "set_aside": self.stale,
            "interrupted": self.interrupted,
        }

    def as_text(self) -> str:
        """Return the outcome as the lines that end a call."""
        counts = f"{self.new} new, {self.reused} reused, {len(self.failed)} failed"
        lines = [f"Runs: {counts} (in {self.folder}/)."]
        if self.stale:
            lines.append(
                f"{self.stale} runs of other parameters, builds, data or machines were set "
                f"aside in {self.folder}/.stale/."
            )
        lines += [f"Failed: {describe_job(job)}: {run.why}" for job, run in self.failed]
        if self.interrupted:
            lines.append("Stopped; what is complete is kept, and the next call does the rest.")
        return "\n".join(lines)


@dataclass(frozen=True)
class Material:
    """What a plan is trained with."""

    workloads: Mapping[str, KnownWorkload]
    builds: Mapping[str, Build]
    data_mode: str
    command: Sequence[str]
    runner: Runner


def look_up(plan: ResolvedPlan, folder: Path, material: Material) -> tuple[Schedule, list[Found]]:
    """Return what there is to do for a plan, and the runs that are there; change nothing."""
    found, unreadable = find_runs(folder) if folder.is_dir() else ([], [])
    schedule = schedule_jobs(
        plan,
        found,
        material.workloads,
        material.builds,
        material.data_mode,
        material.runner.machines,
        unreadable,
    )
    return schedule, found


def measured_durations(
    found: Sequence[Found], budget_epochs: int | None = None
) -> dict[str, list[float]]:
    """Return how long complete runs took in all, in seconds, by workload.

    Only runs of as many epochs as a budget allows say how long the next one will take.
    """
    durations: dict[str, list[float]] = {}
    for item in found:
        planned = item.manifest.planned_epochs
        wanted = min(budget_epochs, planned) if budget_epochs and planned else planned
        wall = item.manifest.wall_s
        parts = (wall.setup, wall.training, wall.teardown)
        is_like = (item.manifest.budget_epochs or planned) == wanted
        if item.manifest.status is Status.COMPLETE and None not in parts and is_like:
            total = sum(part for part in parts if part is not None)
            durations.setdefault(item.manifest.workload.name, []).append(total)
    return durations


def train_plan(
    plan: ResolvedPlan,
    runs_dir: Path,
    material: Material,
    console: Console,
    *,
    wait: bool = True,
) -> Outcome:
    """Run what a plan lacks below ``runs_dir/CAMPAIGN/``; the rest goes on when one run fails.

    Raises:
        DeclaredError: where the campaign is another's, or held and there is no waiting.
    """
    folder = runs_dir / plan.campaign
    with lock_campaign(folder, lambda text: console.print(text, markup=False), wait=wait):
        if material.runner.engine:
            remove_leftovers(material.runner.engine, folder)
        schedule, found = look_up(plan, folder, material)
        for item in schedule.killed:
            settle_killed(item.folder, item.manifest)
        set_aside(folder, schedule.stale)
        stale = {item.folder for item in schedule.stale}
        kept = [item for item in found if item.folder not in stale]
        update_card(folder, plan, kept)
        outcome = Outcome(folder, reused=len(schedule.reused), stale=len(stale))
        if schedule.jobs:
            context = Context(
                folder,
                material.data_mode,
                *read_git(),
                gpu=material.runner.gpu,
                command=material.command,
            )
            _run_all(plan, schedule.jobs, material, context, console, outcome, kept)
            # The first run gives the campaign its date.
            update_card(folder, plan, find_runs(folder)[0])
    return outcome


def _run_all(
    plan: ResolvedPlan,
    jobs: Sequence[Job],
    material: Material,
    context: Context,
    console: Console,
    outcome: Outcome,
    found: Sequence[Found],
) -> None:
    durations = measured_durations(found, plan.budget_epochs)
    previous = {
        number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with ProgressView(console, len(jobs)) as view:
            failed = _run_pass(plan, jobs, material, context, view, outcome, durations)
            if failed:
                view.add(len(failed))
                again = [_try_again(job) for job, _ in failed]
                failed = _run_pass(plan, again, material, context, view, outcome, durations)
            outcome.failed = failed
    except InterruptedRunError:
        outcome.interrupted = True
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise InterruptedRunError


def _try_again(job: Job) -> Job:
    return Job(job.cell, job.repeat, next_run_id(job.repeat, {job.run_id}))


def _run_pass(
    plan: ResolvedPlan,
    jobs: Sequence[Job],
    material: Material,
    context: Context,
    view: ProgressView,
    outcome: Outcome,
    durations: dict[str, list[float]],
) -> list[tuple[Job, Manifest]]:
    """Run jobs in order; return those that failed."""
    failed = []
    for index, job in enumerate(jobs):
        view.start(job, estimate_remaining(jobs[index:], durations))
        workload, build = material.workloads[job.cell.workload], material.builds[job.cell.build]
        engine = material.runner.engine
        begin = time.monotonic()
        if engine:
            image = material.runner.images[build.image]
            software = describe_container(engine, image)
            started = start_manifest(job, plan, workload, build, context, software)
            ended = run_in_container(started, context, engine, image)
        else:
            started = start_manifest(job, plan, workload, build, context, Software(runner="host"))
            ended = run_job(started, context)
        seconds = time.monotonic() - begin
        if ended.status is Status.COMPLETE:
            outcome.new += 1
            durations.setdefault(job.cell.workload, []).append(seconds)
        else:
            failed.append((job, ended))
        view.end(job, ended, seconds, estimate_remaining(jobs[index + 1 :], durations))
    return failed
