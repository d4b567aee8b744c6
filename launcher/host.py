"""Runs jobs on this machine: one process a run, which leaves its log and its manifest."""

from __future__ import annotations

import getpass
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from launcher.jobs import Job, Machine, seed_of
from launcher.workloads import ROOT
from models.run import (
    WARMUP_EPOCHS,
    Hardware,
    Manifest,
    RunFormatError,
    Software,
    Status,
    WorkloadUsed,
    read_manifest,
    run_folder,
    utc_now,
    write_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_TAIL_LINES = 20
_LONGEST_LINE = 300
# An epoch that is under way ends at once when it is asked to: this is for one that hangs.
_PATIENCE_S = 10.0
_TENSORFLOW = ("tensorflow-cpu", "tensorflow")


class InterruptedRunError(BaseException):
    """This process was asked to stop. No handler of plain errors should catch it."""


@dataclass(frozen=True)
class Context:
    """What all runs of one call share."""

    campaign_folder: Path
    data_mode: str
    git_commit: str | None
    git_dirty: bool | None
    command: Sequence[str] = TRAIN


def available_cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def describe_machine() -> Machine:
    """Return what a run here would be made with."""
    tensorflow = next((found for name in _TENSORFLOW if (found := _version(name))), None)
    return Machine(_cpu_model(), tensorflow, _version("keras"))


def _cpu_model(path: Path = Path("/proc/cpuinfo")) -> str | None:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return next((line.partition(":")[2].strip() for line in lines if "model name" in line), None)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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


def start_manifest(
    job: Job, plan: ResolvedPlan, workload: KnownWorkload, build: Build, context: Context
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
        hardware=Hardware(vcpus=int(job.cell.instance.rpartition("-")[2])),
        software=Software(runner="host"),
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
            _settle(folder, manifest, Status.PREEMPTED, "stopped on request")
            raise
        return _judge(folder, manifest, code, output)


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


def _judge(folder: Path, started: Manifest, code: int, output: BinaryIO) -> Manifest:
    """Return a run's manifest after its process ended, completed with what that could not say."""
    try:
        manifest = read_manifest(folder)
    except RunFormatError as error:
        manifest = started.with_changes(status=Status.FAILED, why=scrub(error.reason))
    if manifest.status in (Status.COMPLETE, Status.PREEMPTED):
        return manifest
    tail = _read_tail(output)
    why = manifest.why
    if manifest.status is Status.RUNNING:
        cause = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        why = f"the training process ended without a word ({cause})"
    failed = manifest.with_changes(
        status=Status.FAILED,
        why=scrub(why) or "no reason given",
        output_tail=tail,
        ended_at=manifest.ended_at or utc_now(),
    )
    write_manifest(folder, failed)
    return failed


def _read_tail(output: BinaryIO) -> tuple[str, ...]:
    output.seek(0)
    lines = output.read().decode("utf-8", "replace").splitlines()
    # What a progress bar overwrote is not output.
    texts = [line.rpartition("\r")[2].rstrip() for line in lines]
    return tuple(scrub(text)[:_LONGEST_LINE] for text in texts if text)[-_TAIL_LINES:]


def scrub(text: str) -> str:
    """Return text without this machine's paths and its user's name: runs are published."""
    text = text.replace(str(ROOT), ".")
    text = text.replace(sys.base_prefix, "<python>")
    home = str(Path.home())
    if home not in ("/", ""):
        text = text.replace(home, "~")
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        return text
    # "root" and the like are no one's name, and stand in many a message.
    return text.replace(user, "<user>") if len(user) > 1 and user != "root" else text


def _settle(folder: Path, started: Manifest, status: Status, why: str) -> None:
    """Write a status for a run whose process can't any more."""
    try:
        manifest = read_manifest(folder)
    except RunFormatError:
        manifest = started
    if manifest.status is Status.RUNNING:
        write_manifest(folder, manifest.with_changes(status=status, why=why, ended_at=utc_now()))


def settle_killed(folder: Path, manifest: Manifest) -> None:
    """Mark a run as preempted that says it is running, when nobody runs it."""
    why = "killed, or the machine stopped: it never ended"
    _settle(folder, manifest, Status.PREEMPTED, why)
