"""Flags runs whose figures count but may not be trusted: shared, throttled or odd ones."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from generator.reading import Exclusion, is_whole
from models.run import LOG_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from generator.reading import Campaign
    from models.run import Run

# A fifth of one CPU used by others: on 2 vCPUs that is 10 % of the machine, more than the
# builds differ by in many cells.
SHARED_CPUS = 0.2
# An epoch or a run half as long again as its fellows is not their spread: repeats on a quiet
# machine stay within a few per cent.
SLOW = 1.5
# Fewer epochs than this have no typical one.
_ENOUGH = 3


def timed_epochs(run: Run) -> tuple[float, ...]:
    """Return the seconds of a run's epochs that count: those after the warm-up."""
    return tuple(epoch.elapsed for epoch in run.epochs[run.manifest.warmup_epochs :])


def flag_runs(campaign: Campaign) -> list[Exclusion]:
    """Return the flags of the runs that give figures, sorted; they count all the same."""
    flags = []
    cells: dict[tuple[str, str, str], list[Run]] = {}
    for run in campaign.figure_runs:
        manifest = run.manifest
        cells.setdefault((manifest.workload.name, manifest.build, manifest.instance), []).append(
            run
        )
        file = (run.folder / LOG_NAME).relative_to(campaign.folder).as_posix()
        flags += [
            Exclusion(file, line, reason, mend, flagged=True)
            for line, reason, mend in (*_shared(run), *_slow_epochs(run))
        ]
    for runs in cells.values():
        flags += _slow_runs(campaign, runs)
    return sorted(flags)


def _shared(run: Run) -> list[tuple[int, str, str]]:
    epochs = run.epochs[run.manifest.warmup_epochs :]
    known = [(epoch.other_cpu_s, epoch.elapsed) for epoch in epochs]
    others = [other for other, _ in known if other is not None]
    if not others or len(others) < len(known):
        return []
    busy = sum(others) / sum(elapsed for _, elapsed in known)
    if busy <= SHARED_CPUS:
        return []
    reason = f"other processes used {busy:.2f} CPUs while it ran"
    return [(0, reason, "run the cell again on a quiet machine")]


def _slow_epochs(run: Run) -> list[tuple[int, str, str]]:
    # Epoch 0 traces the graph, also where it counts: it is slow for a known reason.
    first = max(1, run.manifest.warmup_epochs)
    elapsed = [epoch.elapsed for epoch in run.epochs[first:]]
    if len(elapsed) < _ENOUGH:
        return []
    typical = median(elapsed)
    return [
        (
            # The header is line 1.
            epoch.epoch + 2,
            f"epoch {epoch.epoch} took {epoch.elapsed / typical:.2f} × the run's median epoch",
            "look whether the machine was throttled or shared",
        )
        for epoch in run.epochs[first:]
        if epoch.elapsed > SLOW * typical
    ]


def _slow_runs(campaign: Campaign, runs: Sequence[Run]) -> list[Exclusion]:
    runs = [run for run in runs if is_whole(run)]
    if len(runs) < _ENOUGH:
        return []
    times = [sum(timed_epochs(run)) for run in runs]
    typical = median(times)
    return [
        Exclusion(
            (run.folder / LOG_NAME).relative_to(campaign.folder).as_posix(),
            0,
            f"the run took {time / typical:.2f} × its cell's median",
            "look whether the machine was throttled or shared",
            flagged=True,
        )
        for run, time in zip(runs, times, strict=True)
        if time > SLOW * typical
    ]
