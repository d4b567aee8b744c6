"""What a container costs: the same training in one and on the host, side by side.

Both have the same Python, TensorFlow and data, the same CPUs and one workload of the profile
quick; a round is a pair of runs, in turn first on the host and first in the container, and gives
two ratios, container over host: of the seconds of the epochs that count, and of the whole run with
its start and end.

    make base-image images RUNNER=podman TF_WHEEL=intel-tensorflow==2.14.0
    python -m benchmarks.container_overhead [--rounds 12] [--engine podman] [--json]

The host's Python must be the image's (Debian's, where the base is of ``make base-image``): a
virtual environment of it, with the image's requirements, is made in ``build/`` first. Two Python
builds of one version differ by more than a container costs, and are refused.

Exit code 1 where the median ratio of the epochs is over 1.05, 2 where nothing could be measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.entries import read_builds
from generator.statistics import median, median_interval
from launcher.containers import describe_container, run_in_container
from launcher.engines import EngineError, find_engine, find_image
from launcher.host import Context, run_job, start_manifest
from launcher.jobs import Job
from launcher.machines import read_machine
from launcher.plan import ResolvedPlan
from launcher.runners import image_name
from launcher.workloads import ROOT, read_workloads
from models.run import Baseline, CellName, Software, Status, read_run

if TYPE_CHECKING:
    from launcher.engines import Engine, Image
    from launcher.machines import Machine
    from models.run import Manifest

# More would not be noise: repeats on a quiet machine lie closer.
BOUND = 0.05
WORKLOAD = "mnist_mlp"
INSTANCE = "local-1"
_VENV = Path("build/overhead-venv")


class OverheadError(RuntimeError):
    """Nothing can be measured: one line why."""


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12, help="pairs to measure (12)")
    parser.add_argument("--engine", default="podman", choices=["podman", "docker"])
    parser.add_argument("--python", default="/usr/bin/python3", help="the image's Python, here")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    arguments = parser.parse_args()
    if arguments.rounds < 2:  # noqa: PLR2004
        parser.error("--rounds: at least 2, for an interval")
    try:
        epochs, whole = measure(arguments.rounds, arguments.engine, arguments.python)
    except (OverheadError, EngineError) as error:
        print(error, file=sys.stderr)
        return 2
    record = {"workload": WORKLOAD, "bound": 1 + BOUND}
    for name, ratios in (("epochs", epochs), ("whole run", whole)):
        low, high = median_interval(ratios) or (min(ratios), max(ratios))
        record[name] = {"ratios": ratios, "median": median(ratios), "low": low, "high": high}
        if not arguments.json:
            print(
                f"{WORKLOAD}, {name}, {len(ratios)} pairs: "
                f"median {median(ratios):.3f} × the host's (95 % interval {low:.3f} to {high:.3f})"
            )
    if arguments.json:
        print(json.dumps(record))
    return 0 if median(epochs) <= 1 + BOUND else 1


def measure(rounds: int, engine_name: str, python: str) -> tuple[list[float], list[float]]:
    """Return the ratios of each pair, container over host: of its epochs, and of the whole run.

    Raises:
        OverheadError: where host and container are not alike, or a run fails.
        EngineError: where no engine answers.
    """
    engine = find_engine("docker" if engine_name == "docker" else "podman")
    image = find_image(engine, image_name("pip"))
    if image is None:
        raise OverheadError(f"{engine.name} has no {image_name('pip')}: make images")
    inside = _describe([engine.name, "run", "--rm", image.digest, "python"], engine.name)
    labels = json.loads(engine.run("image", "inspect", image.digest))[0]["Config"]["Labels"]
    host = _make_host_python(python, labels["kerascost.requirements"])
    outside = _describe([str(host)], engine.name)
    difference = inside.software.find_difference(outside.software)
    if difference or inside.software.wheel_sha256 != outside.software.wheel_sha256:
        raise OverheadError(f"the container and the host differ: {difference or 'their wheels'}")
    epochs, whole = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            context = Context(
                Path(folder) / str(number),
                "synthetic",
                None,
                None,
                command=(str(host), "-m", "models", "train"),
            )
            times: dict[bool, tuple[float, float]] = {}
            for contained in (False, True) if number % 2 == 0 else (True, False):
                times[contained] = _time(context, engine, image, contained=contained)
            epochs.append(times[True][0] / times[False][0])
            whole.append(times[True][1] / times[False][1])
            print(
                f"pair {number + 1:2}: epochs {epochs[-1]:.3f}, run {whole[-1]:.3f} × the host's",
                file=sys.stderr,
            )
    return epochs, whole


def _describe(python: list[str], runner: str) -> Machine:
    command = [*python, "-m", "models", "describe"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["no message"]
        raise OverheadError(f"{' '.join(command[:3])}: {lines[-1]}")
    return read_machine(result.stdout, runner)


def _make_host_python(python: str, requirements: str) -> Path:
    """Return a Python of the host with what the image has."""
    target = _VENV / "bin" / "python"
    done = _VENV / requirements
    if not done.exists():
        print(f"Installing {requirements} into {_VENV}/ (minutes) ...", file=sys.stderr)
        subprocess.run([python, "-m", "venv", "--clear", str(_VENV)], check=True)
        report = _VENV / "report.json"
        install = [str(target), "-m", "pip", "install", "--quiet", "--no-compile"]
        install += ["--disable-pip-version-check", "--require-hashes", "--report", str(report)]
        subprocess.run([*install, "-r", f"requirements/{requirements}"], check=True)
        report.replace(_VENV / "kerascost-install.json")
        done.touch()
    return target.absolute()


def _time(
    context: Context, engine: Engine, image: Image, *, contained: bool
) -> tuple[float, float]:
    """Return the seconds of a run's epochs that count, and of all of it."""
    place = "container" if contained else "host"
    context = replace(context, campaign_folder=context.campaign_folder / place)
    software = describe_container(engine, image) if contained else Software(runner="host")
    started = _start(context, software)
    begin = time.monotonic()
    if contained:
        ended = run_in_container(started, context, engine, image)
    else:
        ended = run_job(started, context)
    seconds = time.monotonic() - begin
    if ended.status is not Status.COMPLETE:
        raise OverheadError(f"a run on the {place} is {ended.status}: {ended.why}")
    run = read_run(context.campaign_folder / INSTANCE / "pip" / WORKLOAD / "r0")
    counted = run.epochs[run.manifest.warmup_epochs :]
    return sum(epoch.elapsed for epoch in counted), seconds


def _start(context: Context, software: Software) -> Manifest:
    cell = CellName(workload=WORKLOAD, build="pip", instance=INSTANCE)
    baseline = Baseline(build="pip", instance=INSTANCE)
    plan = ResolvedPlan("overhead", "", "quick", 1, (cell,), (cell,), baseline, {}, None)
    workload, build = read_workloads("quick")[WORKLOAD], read_builds()["pip"]
    return start_manifest(Job(cell, 0, "r0"), plan, workload, build, context, software)


if __name__ == "__main__":
    sys.exit(main())
