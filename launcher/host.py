"""Runs jobs on this machine: one process a run, which leaves its log and its manifest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.entries import find_instance
from launcher.endings import describe_exit, judge, settle
from launcher.jobs import Job, seed_of
from launcher.machines import Machine, read_machine
from launcher.workloads import ROOT, ask_models
from models.run import (
    WARMUP_EPOCHS,
    Hardware,
    Manifest,
    Software,
    Status,
    WorkloadUsed,
    run_folder,
    utc_now,
    write_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from catalog.entries import Build
    from launcher.plan import ResolvedPlan
    from launcher.workloads import KnownWorkload

TRAIN = (sys.executable, "-m", "models", "train")
"""The command that trains the run in the folder that follows it."""

# Nothing else of this process' environment reaches a run: it would be an unknown in it.
_PASSED = (
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "KERAS_HOME",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "NO_PROXY",
    "PATH",
    "SSL_CERT_FILE",
    "TMPDIR",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "https_proxy",
    "http_proxy",
    "no_proxy",
)
# An epoch that is under way ends at once when it is asked to: this is for one that hangs.
_PATIENCE_S = 10.0


class InterruptedRunError(BaseException):
    """This process was asked to stop. No handler of plain errors should catch it."""


@dataclass(frozen=True)
class Context:
    """What all runs of one call share."""

    campaign_folder: Path
    data_mode: str
    git_commit: str | None
    git_dirty: bool | None
    gpu: str | None = None
    command: Sequence[str] = TRAIN


def available_cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def describe_host() -> Machine:
    """Return what a run here would be made with.

    Raises:
        WorkloadsError: where ``python -m models describe`` fails.
    """
    return read_machine(ask_models("describe"), "host")


def read_git(root: Path = ROOT) -> tuple[str | None, bool | None]:
    """Return the repository's commit, and whether tracked files differ; None without git."""

    def ask(*arguments: str) -> str | None:
        try:
            result = subprocess.run(
                ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
            )
        except OSError:
            return None
        return result.stdout.strip() if result.returncode == 0 else None

    commit = ask("rev-parse", "HEAD")
    changes = ask("status", "--porcelain", "--untracked-files=no")
    return commit, None if changes is None else bool(changes)


def count_vcpus(instance: str) -> int:
    """Return how many CPUs a run on an instance of this machine uses."""
    entry = find_instance(instance)
    return entry.vcpus if entry and isinstance(entry.vcpus, int) else available_cpus()


def start_manifest(
    job: Job,
    plan: ResolvedPlan,
    workload: KnownWorkload,
    build: Build,
    context: Context,
    software: Software,
) -> Manifest:
    """Return the manifest that a run starts with."""
    cut = plan.budget_epochs is not None and plan.budget_epochs < workload.epochs
    return Manifest(
        run_id=job.run_id,
        campaign=plan.campaign,
        workload=WorkloadUsed(
            name=workload.name, parameters=workload.parameters, sha256=workload.sha256
        ),
        profile=plan.profile,
        build=job.cell.build,
        instance=job.cell.instance,
        repeat=job.repeat,
        status=Status.RUNNING,
        seed=seed_of(job.repeat),
        planned_epochs=workload.epochs,
        budget_epochs=plan.budget_epochs if cut else None,
        warmup_epochs=WARMUP_EPOCHS[plan.profile],
        jit_compile=build.jit_compile,
        environment=build.environment,
        data_mode=context.data_mode,
        hardware=Hardware(
            vcpus=count_vcpus(job.cell.instance), gpu=context.gpu if build.gpu else None
        ),
        software=software,
        git_commit=context.git_commit,
        git_dirty=context.git_dirty,
        started_at=utc_now(),
    )


def run_job(manifest: Manifest, context: Context) -> Manifest:
    """Make one run; return its manifest as it ended: complete, failed or preempted.

    Raises:
        InterruptedRunError: where this process was asked to stop; the run is then preempted,
            and keeps each epoch that it finished.
    """
    folder = run_folder(context.campaign_folder, manifest)
    folder.mkdir(parents=True)
    write_manifest(folder, manifest)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [*context.command, str(folder.resolve())],
            cwd=ROOT,
            env=_environment(manifest),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C reaches this process alone, which then stops the run in order.
            start_new_session=True,
        )
        try:
            code = process.wait()
        except BaseException:
            _stop(process)
            settle(folder, manifest, Status.PREEMPTED, "stopped on request")
            raise
        output.seek(0)
        return judge(folder, manifest, describe_exit(code), output.read())


def _environment(manifest: Manifest) -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return passed | {
        # The run ends with this process, however that ends (see models.parent).
        "KERASCOST_PARENT": str(os.getpid()),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        **manifest.environment,
    }


def _stop(process: subprocess.Popen[bytes]) -> None:
    # A second Ctrl-C must not leave the run alone on the machine.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    process.terminate()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
