"""The launcher's command line: ``python -m launcher run | plan | import | images | gpus``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from catalog.declared import DeclaredError, suggest
from catalog.entries import read_builds
from launcher.engines import EngineError, find_image
from launcher.gpus import find_gpus
from launcher.host import TRAIN, available_cpus
from launcher.images import Wanted, build_image, choose_base, list_recipes
from launcher.imports import import_logs
from launcher.jobs import estimate_remaining
from launcher.plan import ResolvedPlan, Selection, read_plan
from launcher.progress import describe_job, format_duration
from launcher.runners import (
    RUNNERS,
    check_comparable,
    check_gpu,
    choose_engine,
    choose_runner,
    image_name,
)
from launcher.training import Material, look_up, measured_durations, train_plan
from launcher.workloads import WorkloadsError, check_real_data, read_workloads

app = typer.Typer(
    help="Train what a plan asks for, and bring other people's logs in.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

WRONG_INPUT, SOME_FAILED, INTERRUPTED = 2, 1, 130
_PROFILES = ("full", "quick", "smoke")
# The first epoch, and two others: one has no spread.
_LEAST_EPOCHS = 3
_DATA_MODES = ("real", "auto", "synthetic")


PlanFile = Annotated[Path, typer.Option("--plan", help="The plan.", metavar="FILE")]
RunsDir = Annotated[Path, typer.Option(help="Where runs are kept.", metavar="DIR")]
Profile = Annotated[str, typer.Option(help="full, quick or smoke; the plan's own where empty.")]
Workloads = Annotated[str, typer.Option(help="Some of the plan's workloads, with commas.")]
Builds = Annotated[str, typer.Option(help="Some of the plan's builds, with commas.")]
Instances = Annotated[str, typer.Option(help="Some of the plan's instances, with commas.")]
Data = Annotated[str, typer.Option(help="real, auto or synthetic.")]
Epochs = Annotated[
    int,
    typer.Option(help="Stop each run after these, and predict its total; 3 or more, 0: never."),
]
RunnerName = Annotated[str, typer.Option("--runner", help="auto, docker, podman or host.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(WRONG_INPUT)


def _choose(key: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        _fail(f"{key}={value}: {suggest(value, known)}")
    return value


def _split(names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def _prepare(
    plan_file: Path,
    profile: str,
    names: tuple[str, str, str],
    data: str,
    trainer: str,
    epochs: int,
    runner: str,
) -> tuple[ResolvedPlan, Material]:
    """Read and check all that a command is given; end with one line where it is wrong."""
    if epochs and epochs < _LEAST_EPOCHS:
        _fail(f"EPOCHS={epochs}: a prediction needs the first epoch and two others; give 3 or more")
    if profile:
        _choose("PROFILE", profile, _PROFILES)
    mode = _choose("DATA", data or "auto", _DATA_MODES)
    wanted = _choose("RUNNER", runner or "auto", RUNNERS)
    if trainer:
        # A stand-in for the trainer is a command of this machine.
        wanted = "host"
    workloads, builds, instances = map(_split, names)
    try:
        # The names first, of any profile: which one it is, the plan may say.
        known = read_workloads(profile or "quick")
        selection = Selection(
            profile or None,  # type: ignore[arg-type]
            workloads,
            builds,
            instances,
            epochs or None,
        )
        place = choose_runner(wanted, read_builds())
        plan = read_plan(plan_file, selection, known, available_cpus(), place.lacking)
        check_comparable(plan, place)
        if plan.profile != (profile or "quick"):
            known = read_workloads(plan.profile)
        if epochs and all(known[cell.workload].epochs <= epochs for cell in plan.selected):
            typer.echo(
                f"EPOCHS={epochs}: no selected workload has more in profile {plan.profile}, "
                "so nothing is cut short, or predicted.",
                err=True,
            )
        command = shlex.split(trainer) if trainer else TRAIN
        return plan, Material(known, read_builds(), mode, command, place)
    except (DeclaredError, WorkloadsError) as error:
        _fail(str(error))


def _say_where(plan: ResolvedPlan, material: Material) -> None:
    typer.echo(f"Runs are made {material.runner.reason}.", err=True)
    for build, needs in plan.left_out.items():
        typer.echo(f"Left out: {build} needs {needs}.", err=True)


def _check_here(plan: ResolvedPlan, material: Material) -> None:
    """Check once what hundreds of runs would fail for: the real data, and the GPU."""
    if material.data_mode == "real":
        lacking = check_real_data({cell.workload for cell in plan.selected})
        if lacking:
            _fail("\n".join(lacking))
    try:
        check_gpu(plan, material.runner)
    except DeclaredError as error:
        _fail(str(error))


@app.command("run")
def run_command(
    *,
    plan_file: PlanFile = Path("plan.yml"),
    runs_dir: RunsDir = Path("runs"),
    profile: Profile = "",
    workloads: Workloads = "",
    builds: Builds = "",
    instances: Instances = "",
    data: Data = "",
    epochs: Epochs = 0,
    runner: RunnerName = "auto",
    summary: Annotated[
        Path | None,
        typer.Option(help="Write how it went here, to be shown later.", metavar="FILE"),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for another launcher, or give up.")
    ] = True,
    trainer: Annotated[str, typer.Option(hidden=True, envvar="KERASCOST_TRAINER")] = "",
    as_json: AsJson = False,
) -> None:
    """Train what the plan lacks. 0: all complete, 1: some failed, 2: wrong input, 130: stopped."""
    names = (workloads, builds, instances)
    plan, material = _prepare(plan_file, profile, names, data, trainer, epochs, runner)
    console = Console(stderr=True)
    _check_here(plan, material)
    _say_where(plan, material)
    try:
        outcome = train_plan(plan, runs_dir, material, console, wait=wait)
        if summary:
            summary.parent.mkdir(parents=True, exist_ok=True)
            summary.write_text(outcome.as_text() + "\n", encoding="utf-8")
    except DeclaredError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or runs_dir}: {error.strerror}; what is complete is kept")
    if as_json:
        typer.echo(json.dumps(outcome.as_record(), indent=1))
    elif not summary or outcome.interrupted:
        typer.echo(outcome.as_text())
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)
    if outcome.failed:
        raise typer.Exit(SOME_FAILED)


@app.command("plan")
def plan_command(
    *,
    plan_file: PlanFile = Path("plan.yml"),
    runs_dir: RunsDir = Path("runs"),
    profile: Profile = "",
    workloads: Workloads = "",
    builds: Builds = "",
    instances: Instances = "",
    data: Data = "",
    epochs: Epochs = 0,
    runner: RunnerName = "auto",
    as_json: AsJson = False,
) -> None:
    """Print what `run` would do, and do nothing."""
    names = (workloads, builds, instances)
    plan, material = _prepare(plan_file, profile, names, data, "", epochs, runner)
    folder = runs_dir / plan.campaign
    schedule, found = look_up(plan, folder, material)
    seconds = estimate_remaining(schedule.jobs, measured_durations(found, plan.budget_epochs))
    if as_json:
        record = {
            "campaign": plan.campaign,
            "profile": plan.profile,
            "cells": [cell.model_dump() for cell in plan.selected],
            "repeats": plan.repeats,
            "budget_epochs": plan.budget_epochs,
            "to_run": [describe_job(job) for job in schedule.jobs],
            "reused": len(schedule.reused),
            "to_set_aside": len(schedule.stale),
            "estimated_s": seconds,
        }
        typer.echo(json.dumps(record, indent=1))
        return
    for job in schedule.jobs:
        typer.echo(describe_job(job))
    time = f", about {format_duration(seconds)}" if schedule.jobs and seconds is not None else ""
    typer.echo(
        f"{plan.campaign}: {len(plan.selected)} cells × {plan.repeats}; "
        f"{len(schedule.jobs)} runs to make{time}, {len(schedule.reused)} reused."
    )


@app.command("images")
def images_command(
    *,
    runner: RunnerName = "auto",
    base: Annotated[
        str,
        typer.Option(
            "--base-image",
            help="What images are built on; where empty, localhost/kerascost-base if it was made.",
        ),
    ] = "",
    wheel: Annotated[
        str,
        typer.Option(help="The compiled image's TensorFlow: NAME==VERSION, a .whl, source, none."),
    ] = "",
    version: Annotated[str, typer.Option("--tf-version", help="The version to compile.")] = "",
    sha256: Annotated[str, typer.Option("--tf-sha256", help="Of its source archive.")] = "",
    march: Annotated[str, typer.Option(help="The CPU to compile for, as gcc has it.")] = "native",
    cpu_flags: Annotated[
        str, typer.Option(help="What a .whl needs of a CPU, as /proc/cpuinfo has it.")
    ] = "",
    missing: Annotated[
        bool, typer.Option("--missing", help="Build only where there are no images yet.")
    ] = False,
) -> None:
    """Build the images that runs are made in. 0: built, 2: wrong input, or it can't be built."""
    _choose("RUNNER", runner or "auto", RUNNERS)
    console = Console(stderr=True)
    try:
        engine = choose_engine(runner or "auto")
        if missing and any(find_image(engine, image_name(b.image)) for b in read_builds().values()):
            return
        wanted = Wanted(wheel, version, sha256, march, cpu_flags)
        recipes = list_recipes(wanted, has_gpu=bool(find_gpus()))
        base = choose_base(engine, base)
        typer.echo(f"Images are built on {base or 'the base that the Dockerfiles name'}.", err=True)
        for recipe in recipes:
            name, what = image_name(recipe.image), recipe.arguments["TENSORFLOW"]
            with console.status(f"Building {name} ({what}); minutes ..."):
                image, seconds = build_image(engine, recipe, base)
            size = f"{image.size / 1e9:.2f} GB"
            typer.echo(f"{name}: {what}, {size}, {image.digest}, in {seconds:.0f} s")
    except (DeclaredError, EngineError) as error:
        _fail(str(error))


@app.command("gpus")
def gpus_command() -> None:
    """List this machine's NVIDIA GPUs. 0: there is one, 1: there is none."""
    gpus = find_gpus()
    for gpu in gpus:
        typer.echo(gpu)
    if not gpus:
        typer.echo("nvidia-smi lists no GPU here", err=True)
        raise typer.Exit(1)


@app.command("import")
def import_command(
    source: Annotated[
        str, typer.Argument(help="The folder that holds the logs, or a git address.")
    ],
    *,
    mapping: Annotated[
        str,
        typer.Option(help="How they lie: a file, or a name; the one that fits where empty."),
    ] = "",
    campaign: Annotated[
        str, typer.Option(help="The name of the campaign they become; the mapping's where empty.")
    ] = "",
    runs_dir: RunsDir = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Bring another benchmark's logs in. 0: all placed, 1: some left out, 2: wrong input."""
    try:
        report = import_logs(source, runs_dir, mapping=mapping, campaign=campaign)
    except DeclaredError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or runs_dir}: {error.strerror}")
    for item in report.unplaced:
        typer.echo(str(item), err=True)
    for column, files in report.unused:
        typer.echo(f"column {column!r} of {files} files is not taken over", err=True)
    if as_json:
        typer.echo(json.dumps(report.as_record(), indent=1))
    else:
        typer.echo(report.as_text())
    if report.unplaced:
        raise typer.Exit(SOME_FAILED)


if __name__ == "__main__":
    app(prog_name="python -m launcher")
