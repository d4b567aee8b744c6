"""The command line of what goes into a container: ``python -m models list | train | …``."""

from __future__ import annotations

import json
import os
from pathlib import Path  # noqa: TC003 (typer reads it)
from typing import Annotated

import typer

from models import hardware
from models.code import hash_code
from models.data.sources import DataError, find_real
from models.gpus import GpuError, use_gpu
from models.manifest import Software
from models.parent import end_with_launcher
from models.registry import UnknownWorkloadError, find_workload, list_workloads
from models.run import RunFormatError, hash_parameters
from models.trainer import train_run
from models.workload import PROFILES

app = typer.Typer(
    help="List the workloads, and train a run.", no_args_is_help=True, add_completion=False
)


def _complain(error: Exception, code: int = 2) -> typer.Exit:
    typer.echo(str(error), err=True)
    return typer.Exit(code)


@app.command("list")
def list_command(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print all about them.")] = False
) -> None:
    """List the workloads."""
    records = []
    for name in list_workloads():
        try:
            workload = find_workload(name)
        except UnknownWorkloadError as error:
            raise _complain(error) from None
        profiles = {}
        for profile in PROFILES:
            parameters = workload.parameters(profile)
            profiles[profile] = {
                "epochs": parameters["epochs"],
                "parameters": parameters,
                "sha256": hash_parameters(parameters),
            }
        records.append(
            {
                "name": name,
                "title": workload.title,
                "description": workload.description,
                "profiles": profiles,
            }
        )
    if as_json:
        typer.echo(json.dumps({"workloads": records}, indent=1, ensure_ascii=False))
    else:
        for record in records:
            typer.echo(f"{record['name']:<26} {record['title']}")


@app.command("check")
def check_command(
    names: Annotated[list[str], typer.Argument(help="The workloads whose data to look for.")],
) -> None:
    """Check that real data is at hand. 0: all is, 1: a line for each file that is not."""
    problems = {}
    for name in names:
        try:
            source = find_workload(name).source
            find_real(source, "real")
        except UnknownWorkloadError as error:
            raise _complain(error) from None
        except DataError as error:
            problems[source.file] = str(error)
    for problem in problems.values():
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)


@app.command("describe")
def describe_command() -> None:
    """Print what a run here would be made with, as JSON: hardware, software, and this code."""
    record = {
        "hardware": hardware.describe_hardware().model_dump(),
        "software": hardware.describe_software(Software()).model_dump(),
        "lacking_flags": hardware.lacking_flags(),
        "code_sha256": hash_code(),
    }
    typer.echo(json.dumps(record, indent=1))


@app.command("gpu")
def gpu_command() -> None:
    """Check that TensorFlow can use a GPU, and print its name. 0: it can, 1: why not."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        typer.echo(use_gpu())
    except GpuError as error:
        raise _complain(error, 1) from None


@app.command("train")
def train_command(
    run_folder: Annotated[Path, typer.Argument(help="The run's folder, with its run.json.")],
) -> None:
    """Train the run that a folder's run.json describes. 0: complete, 1: failed, 3: preempted."""
    end_with_launcher()
    try:
        code = train_run(run_folder.resolve())
    except RunFormatError as error:
        raise _complain(error) from None
    # TensorFlow's threads can take seconds to end, or never do: all that counts is on disk.
    os._exit(code)


if __name__ == "__main__":
    app(prog_name="python -m models")
