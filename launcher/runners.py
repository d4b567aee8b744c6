"""Chooses where runs are made: in containers of an engine that answers, or on the host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.declared import DeclaredError
from catalog.entries import read_builds
from launcher.engines import (
    ENGINES,
    Engine,
    EngineError,
    Image,
    find_engine,
    find_image,
    gpu_arguments,
)
from launcher.gpus import find_gpus
from launcher.host import describe_host
from launcher.machines import Machine, read_machine
from launcher.plan import NO_GPU, list_lacking
from launcher.workloads import WorkloadsError, ask_models

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog.entries import Build
    from launcher.engines import EngineName
    from launcher.plan import ResolvedPlan

RUNNERS = ("auto", *ENGINES, "host")
_PREFIX = "localhost/kerascost-"


@dataclass(frozen=True)
class Runner:
    """Where runs are made.

    Attributes:
        engine: the engine of the containers; None is the host.
        images: the images that are there, by their name in the catalog.
        machines: what a run of each build would be made with.
        lacking: the builds that can't be run here, each with what it needs.
        gpu: the name of the GPU that builds on one use; None without one.
        reason: why it was chosen, in a line.
    """

    engine: Engine | None
    images: Mapping[str, Image] = field(default_factory=dict)
    machines: Mapping[str, Machine] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    gpu: str | None = None
    reason: str = ""


def image_name(image: str) -> str:
    """Return the engine's name of an image of the catalog: ``localhost/kerascost-pip``."""
    return f"{_PREFIX}{image}"


def choose_engine(wanted: str) -> Engine:
    """Return an engine by name; for ``auto``, the first that answers.

    Raises:
        EngineError: where none answers, or the host is asked for.
    """
    names = ENGINES if wanted == "auto" else tuple(name for name in ENGINES if name == wanted)
    faults = []
    for name in names:
        try:
            return find_engine(name)
        except EngineError as error:
            faults.append(str(error))
    raise EngineError(f"RUNNER={wanted}: {'; '.join(faults) or 'the host needs no images'}")


def choose_runner(wanted: str, builds: Mapping[str, Build]) -> Runner:
    """Return where runs are made.

    Args:
        wanted: ``docker``, ``podman`` or ``host``; ``auto`` takes the first engine that answers
            and has one of the images, else the host.
        builds: the catalog's.

    Raises:
        DeclaredError: where an engine that was asked for doesn't answer, or has no image.
        WorkloadsError: where this host can't say what it is.
    """
    gpus, here = find_gpus(), describe_host()
    reasons = []
    for name in ENGINES:
        if wanted not in ("auto", name):
            continue
        try:
            return _run_in_containers(name, builds, gpus, here)
        except EngineError as error:
            reasons.append(str(error))
    if wanted in ENGINES:
        mend = "mend that, or take RUNNER=host"
        raise DeclaredError(f"RUNNER={wanted}", None, reasons[0], mend)
    lacking = list_lacking(builds, gpus)
    machines = {name: here for name in builds if name not in lacking}
    why = "; ".join(reasons) or "as asked"
    return Runner(None, {}, machines, lacking, next(iter(gpus), None), f"on the host ({why})")


def _run_in_containers(
    name: EngineName, builds: Mapping[str, Build], gpus: Sequence[str], here: Machine
) -> Runner:
    engine = find_engine(name)
    images = {
        image: found
        for image in sorted({build.image for build in builds.values()})
        if (found := find_image(engine, image_name(image)))
    }
    if not images:
        wanted = " or ".join(sorted({image_name(build.image) for build in builds.values()}))
        raise EngineError(f"{name} {engine.version} answers, and has no {wanted}: make images")
    known = {image: _describe_image(engine, found) for image, found in images.items()}
    for image, machine in known.items():
        if machine.code_sha256 != here.code_sha256:
            # What it would train is not what the plan says.
            raise EngineError(f"{name}: {image_name(image)} has an older models/: make images")
    machines, lacking = {}, {}
    for build, entry in builds.items():
        if entry.image not in known:
            lacking[build] = f"the image {image_name(entry.image)} (make images)"
        elif known[entry.image].lacking_flags:
            flags = ", ".join(known[entry.image].lacking_flags)
            lacking[build] = f"the CPU flags {flags}, which this CPU lacks: it would die of SIGILL"
        elif entry.gpu and not gpus:
            lacking[build] = NO_GPU
        else:
            machines[build] = known[entry.image]
    gpu = next(iter(gpus), None)
    return Runner(
        engine, images, machines, lacking, gpu, f"in containers of {name} {engine.version}"
    )


def check_comparable(plan: ResolvedPlan, runner: Runner) -> None:
    """Check that the selected builds have one version of everything that isn't compared.

    Raises:
        DeclaredError: for the first that has another.
    """
    builds = sorted({cell.build for cell in plan.selected}, key=lambda b: b != plan.baseline.build)
    for build in builds[1:]:
        one, other = runner.machines[builds[0]].software, runner.machines[build].software
        difference = one.find_difference(other)
        if difference:
            reason = f"{builds[0]} and {build} would not be comparable: {difference}"
            mend = "make images of one version (make images), or narrow BUILDS"
            raise DeclaredError(plan.campaign, None, reason, mend)


def check_gpu(plan: ResolvedPlan, runner: Runner) -> None:
    """Check, once before all runs, that TensorFlow can use the GPU that selected cells are for.

    Raises:
        DeclaredError: where it can't: why.
    """
    builds = read_builds()
    wanted = sorted({cell.build for cell in plan.selected if builds[cell.build].gpu})
    for build in wanted:
        try:
            if runner.engine:
                image = runner.images[builds[build].image]
                command = ["run", "--rm", "--network", "none", *gpu_arguments(runner.engine)]
                runner.engine.run(*command, image.digest, "python", "-m", "models", "gpu")
            else:
                ask_models("gpu")
        except (EngineError, WorkloadsError) as error:
            mend = "or leave it out: BUILDS=…"
            raise DeclaredError(f"the build {build!r}", None, str(error), mend) from None


def _describe_image(engine: Engine, image: Image) -> Machine:
    """Return what a run in an image would be made with."""
    command = ["run", "--rm", "--network", "none", image.digest, "python", "-m", "models"]
    try:
        return read_machine(engine.run(*command, "describe"), engine.name)
    except (EngineError, ValueError) as error:
        reason = f"{image.name} can't say what it is ({error}): make images"
        raise EngineError(f"{engine.name}: {reason}") from None
