"""The plan: which workloads, builds and instances, how often, against what. Typed and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from catalog.declared import Declared, DeclaredError, DeclaredFile, suggest
from catalog.entries import (
    LOCAL_GPU,
    find_instance,
    list_instances,
    list_local_instances,
    read_builds,
)
from models.run import Baseline, CellName, Name, Profile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from catalog.entries import Build

ALL_CPUS = "local-max"
"""The instance name that stands for all of this machine's vCPUs."""

NO_GPU = "an NVIDIA GPU, and nvidia-smi lists none here"

_Price = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Plan(Declared):
    """``plan.yml``.

    Attributes:
        campaign: the campaign's name, a folder below ``runs/``.
        title: its name for readers.
        profile: full, quick or smoke.
        repeats: runs a cell.
        workloads: ``all``, or some.
        builds: some, or a mapping of each to its instances.
        instances: those of the builds that name none.
        baseline: what ratios are taken against.
        gpu_baseline: what they are taken against where this cell can be run.
        usd_per_hour: prices of instances, in USD per hour.
        price_book: a price book of the catalog, by name.
        notes: what a reader must know before the figures, a sentence each.
    """

    campaign: Name
    title: str = ""
    profile: Profile = "quick"
    repeats: int = Field(default=3, ge=1, le=1000)
    workloads: Literal["all"] | tuple[Name, ...] = "all"
    builds: dict[Name, tuple[Name, ...] | None] | tuple[Name, ...]
    instances: tuple[Name, ...] = ()
    baseline: Baseline
    gpu_baseline: Baseline | None = None
    usd_per_hour: dict[Name, _Price] = Field(default_factory=dict)
    price_book: Name | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selection:
    """What narrows a plan; an empty part narrows nothing.

    ``budget_epochs`` stops each run after that many epochs; its total is then predicted. That
    is for the full training: it is the profile where none is named.
    """

    profile: Profile | None = None
    workloads: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    budget_epochs: int | None = None


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan for this machine: its cells in order, and those that are selected.

    ``left_out`` has the plan's builds that can't be run here, each with what it needs.
    """

    campaign: str
    title: str
    profile: Profile
    repeats: int
    cells: tuple[CellName, ...]
    selected: tuple[CellName, ...]
    baseline: Baseline
    usd_per_hour: dict[str, float]
    price_book: str | None
    budget_epochs: int | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_plan(
    path: Path,
    selection: Selection,
    workloads: Collection[str],
    cpus: int,
    lacking: Mapping[str, str] | None = None,
) -> ResolvedPlan:
    """Read a plan, check it against the catalog and this machine, and narrow it.

    Args:
        path: the plan's file.
        selection: what narrows it.
        workloads: the names of all workloads.
        cpus: how many CPUs this process may use.
        lacking: the builds that can't be run here, each with what it needs; those that the
            host alone can't run where None. They are left out, unless they are asked for.

    Raises:
        DeclaredError: for the first fault: its line, and the mend.
    """
    file = DeclaredFile(path)
    plan = file.check(Plan)
    names = _check_workloads(file, plan, workloads)
    if lacking is None:
        lacking = list_lacking(read_builds())
    pairs, left_out = _check_builds(file, plan, cpus, lacking, selection.builds)
    cells = tuple(
        CellName(workload=workload, build=build, instance=instance)
        for workload in names
        for build, instance in pairs
    )
    baseline = Baseline(build=plan.baseline.build, instance=_resolve(plan.baseline.instance, cpus))
    on_gpu = plan.gpu_baseline
    if on_gpu and (on_gpu.build, on_gpu.instance) in pairs:
        baseline = on_gpu
    if (baseline.build, baseline.instance) not in pairs:
        known = ", ".join(f"{build} on {instance}" for build, instance in pairs)
        reason = f"the baseline {baseline.build} on {baseline.instance} is no cell of the plan"
        raise file.fault(("baseline",), reason, f"choose from {known}")
    for instance in plan.usd_per_hour:
        _check_instance(file, ("usd_per_hour", instance), instance, cpus)
    profile = selection.profile or ("full" if selection.budget_epochs else plan.profile)
    other = profile != plan.profile
    return ResolvedPlan(
        campaign=f"{plan.campaign}-{profile}" if other else plan.campaign,
        title=(plan.title or plan.campaign) + (f", {profile}" if other else ""),
        profile=profile,
        # A smoke run tells nothing about a machine: three tell no more.
        repeats=1 if profile == "smoke" else plan.repeats,
        cells=cells,
        selected=_narrow(path, cells, selection, cpus),
        baseline=baseline,
        usd_per_hour={_resolve(name, cpus): usd for name, usd in plan.usd_per_hour.items()},
        price_book=plan.price_book,
        budget_epochs=selection.budget_epochs,
        left_out=left_out,
        notes=plan.notes,
    )


def _resolve(instance: str, cpus: int) -> str:
    return f"local-{cpus}" if instance == ALL_CPUS else instance


def _check_workloads(file: DeclaredFile, plan: Plan, known: Collection[str]) -> list[str]:
    if plan.workloads == "all":
        return sorted(known)
    _check_unique(file, "workloads", plan.workloads)
    for index, name in enumerate(plan.workloads):
        if name not in known:
            reason = f"unknown workload {name!r}"
            raise file.fault(("workloads", index), reason, suggest(name, known))
    return list(plan.workloads)


def _check_unique(file: DeclaredFile, key: str, names: Sequence[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise file.fault((key, index), f"{name!r} stands twice", "keep one of them")


def list_lacking(builds: Mapping[str, Build], gpus: Collection[str] = ()) -> dict[str, str]:
    """Return the builds that the host alone can't run, each with what it needs."""
    lacking = {name: build.needs for name, build in builds.items() if build.needs}
    if not gpus:
        lacking |= {name: NO_GPU for name, build in builds.items() if build.gpu}
    return lacking


def _check_builds(
    file: DeclaredFile,
    plan: Plan,
    cpus: int,
    lacking: Mapping[str, str],
    asked: Collection[str],
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the (build, instance) pairs of a plan, each once, and the builds left out."""
    builds = plan.builds
    if not isinstance(builds, dict):
        _check_unique(file, "builds", builds)
        builds = dict.fromkeys(builds)
    if not builds:
        raise file.fault(("builds",), "no build", suggest("pip", read_builds()))
    known = read_builds()
    pairs: list[tuple[str, str]] = []
    left_out: dict[str, str] = {}
    for index, (build, own) in enumerate(builds.items()):
        place = ("builds", build if isinstance(plan.builds, dict) else index)
        if build not in known:
            raise file.fault(place, f"unknown build {build!r}", suggest(build, known))
        if build in lacking:
            # What nobody asked for by name is left out, as long as something remains.
            if build in asked or not set(builds) - set(lacking):
                reason = f"the build {build!r} needs {lacking[build]}"
                raise file.fault(place, reason, "see to it, or take another build")
            left_out[build] = lacking[build]
            continue
        instances = own or plan.instances
        if not instances:
            reason = f"no instance for the build {build!r}"
            raise file.fault(place, reason, f"name some, such as [{ALL_CPUS}]")
        where = place if own else ("instances",)
        _check_instances(file, where, instances, known[build], cpus)
        pairs += [(build, _resolve(instance, cpus)) for instance in instances]
    # On a machine with one CPU, local-1 and local-max are the same.
    return list(dict.fromkeys(pairs)), left_out


def _check_instances(
    file: DeclaredFile,
    where: tuple[int | str, ...],
    instances: Sequence[str],
    build: Build,
    cpus: int,
) -> None:
    for position, instance in enumerate(instances):
        place = (*where, position)
        if instance in instances[:position]:
            raise file.fault(place, f"{instance!r} stands twice", "keep one of them")
        _check_instance(file, place, instance, cpus)
        entry = find_instance(_resolve(instance, cpus))
        if entry and bool(entry.accelerator) != build.gpu:
            kind = "has a GPU" if entry.accelerator else "has no GPU"
            mend = f"take {LOCAL_GPU} for builds on a GPU, and for them alone"
            use = "is for one" if build.gpu else "is for CPUs"
            reason = f"{instance!r} {kind}, and the build {build.title!r} {use}"
            raise file.fault(place, reason, mend)


def _check_instance(file: DeclaredFile, place: tuple[int | str, ...], name: str, cpus: int) -> None:
    entry = find_instance(_resolve(name, cpus))
    here = [*list_local_instances(cpus), ALL_CPUS]
    if entry is None:
        known = {*list_instances(cpus), ALL_CPUS}
        raise file.fault(place, f"unknown instance {name!r}", suggest(name, known))
    if entry.provider != "local":
        reason = f"the instance {name!r} is not this machine"
        raise file.fault(place, reason, f"choose from {', '.join(here)}")
    if isinstance(entry.vcpus, int) and entry.vcpus > cpus:
        reason = f"{name!r} is larger than this machine, which has {cpus} vCPUs"
        raise file.fault(place, reason, f"choose from {', '.join(here)}")


def _narrow(
    path: Path, cells: tuple[CellName, ...], selection: Selection, cpus: int
) -> tuple[CellName, ...]:
    instances = tuple(_resolve(name, cpus) for name in selection.instances)
    _check_selected(path, "WORKLOADS", selection.workloads, [cell.workload for cell in cells])
    _check_selected(path, "BUILDS", selection.builds, [cell.build for cell in cells])
    _check_selected(path, "INSTANCES", instances, [cell.instance for cell in cells])
    selected = tuple(
        cell
        for cell in cells
        if (not selection.workloads or cell.workload in selection.workloads)
        and (not selection.builds or cell.build in selection.builds)
        and (not instances or cell.instance in instances)
    )
    if not selected:
        pairs = sorted({f"{cell.build} on {cell.instance}" for cell in cells})
        reason = "BUILDS and INSTANCES select no cell of the plan together"
        raise DeclaredError(path, None, reason, f"it has {', '.join(pairs)}")
    return selected


def _check_selected(path: Path, key: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            reason = f"{key}={name} is not in the plan"
            raise DeclaredError(path, None, reason, suggest(name, set(known)))
