"""Makes a run in a container: no network, no rights, read-only but for the run's own folder."""

from __future__ import annotations

import hashlib
import os
import secrets
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.entries import find_instance
from launcher.campaign import campaign_lock
from launcher.endings import describe_exit, judge, settle
from launcher.engines import Engine, EngineError, Image, exit_state, gpu_arguments
from models.run import Manifest, Software, Status, run_folder, write_manifest

if TYPE_CHECKING:
    from launcher.host import Context

_RUN_FOLDER = "/run-folder"
_KERAS_HOME = "/data/keras"
# Data sets of packages, which loaders look for where Debian puts them.
_DATA = (Path("/usr/share/datasets"),)
_LOCK = "/campaign.lock"
_LABEL = "kerascost.campaign-folder"
# What a run may take to end when it is asked to; then it is killed.
_PATIENCE_S = 10


def describe_container(engine: Engine, image: Image) -> Software:
    """Return what is known of a container's software before it runs."""
    return Software(runner=engine.name, engine_version=engine.version, image_digest=image.digest)


def run_in_container(
    manifest: Manifest, context: Context, engine: Engine, image: Image
) -> Manifest:
    """Make one run; return its manifest as it ended. No container is left behind.

    Raises:
        InterruptedRunError: where this process was asked to stop; the run is then preempted,
            and keeps each epoch that it finished.
    """
    folder = run_folder(context.campaign_folder, manifest)
    folder.mkdir(parents=True)
    write_manifest(folder, manifest)
    name = f"kerascost-{secrets.token_hex(6)}"
    output = b""
    try:
        try:
            engine.run(*start_arguments(name, folder.resolve(), manifest, context, engine, image))
            _wait(engine, name)
        except EngineError as error:
            output = str(error).encode()
        except BaseException:
            _stop(engine, name)
            settle(folder, manifest, Status.PREEMPTED, "stopped on request")
            raise
        state = exit_state(engine, name)
        output = output or _read_output(engine, name)
    finally:
        _remove(engine, name)
    return judge(folder, manifest, _describe_end(state, output), output)


def start_arguments(
    name: str, folder: Path, manifest: Manifest, context: Context, engine: Engine, image: Image
) -> list[str]:
    """Return the engine's arguments that start a run: the same for docker and podman."""
    cpus = sorted(os.sched_getaffinity(0))
    used = cpus[-(manifest.hardware.vcpus or len(cpus)) :]
    arguments = ["run", "--detach", "--name", name]
    arguments += ["--label", f"{_LABEL}={_mark(context.campaign_folder)}"]
    arguments += [
        "--cpuset-cpus",
        ",".join(map(str, used)),
        "--memory",
        f"{_memory(manifest.instance)}b",
    ]
    arguments += ["--network", "none", "--cap-drop", "ALL"]
    arguments += ["--security-opt", "no-new-privileges", "--read-only", "--tmpfs", "/tmp"]  # noqa: S108 (the container's own)
    # What it writes belongs to whoever started it.
    arguments += ["--user", f"{os.getuid()}:{os.getgid()}"]
    arguments += ["--volume", f"{folder}:{_RUN_FOLDER}"]
    keras = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras") / "datasets"
    mounts = [(keras, f"{_KERAS_HOME}/datasets"), *((path, str(path)) for path in _DATA)]
    for source, target in mounts:
        if source.is_dir():
            arguments += ["--volume", f"{source.resolve()}:{target}:ro"]
    lock = campaign_lock(context.campaign_folder)
    if lock.exists():
        # The run ends with the launcher that holds it (see models.parent).
        arguments += [
            "--volume",
            f"{lock.resolve()}:{_LOCK}:ro",
            "--env",
            f"KERASCOST_LOCK={_LOCK}",
        ]
    if manifest.hardware.gpu:
        arguments += gpu_arguments(engine)
    environment = {
        "HOME": "/tmp",  # noqa: S108 (the container's own)
        "KERAS_HOME": _KERAS_HOME,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        **manifest.environment,
    }
    for variable, value in sorted(environment.items()):
        arguments += ["--env", f"{variable}={value}"]
    return [*arguments, image.digest, "python", "-m", "models", "train", _RUN_FOLDER]


def _memory(instance: str) -> int:
    """Return the bytes of memory that a run may use: the instance's, else all of the machine's."""
    entry = find_instance(instance)
    if entry and entry.memory_gib:
        return int(entry.memory_gib * 2**30)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def remove_leftovers(engine: Engine, campaign_folder: Path) -> int:
    """Remove the containers that an earlier, killed launcher left; return how many.

    The campaign must be held (``lock_campaign``): a launcher at work would lose its own.
    """
    mine = f"label={_LABEL}={_mark(campaign_folder)}"
    names = engine.run("ps", "--all", "--quiet", "--filter", mine).split()
    for name in names:
        _remove(engine, name)
    return len(names)


def _mark(campaign_folder: Path) -> str:
    """Return what tells a campaign's containers, without this machine's paths."""
    return hashlib.sha256(str(campaign_folder.resolve()).encode()).hexdigest()[:16]


def _wait(engine: Engine, name: str) -> None:
    """Wait until a container has ended; an engine that fails to wait says so by its state."""
    process = subprocess.Popen(
        [engine.name, "wait", name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Ctrl-C reaches the launcher alone.
        start_new_session=True,
    )
    try:
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise


def _stop(engine: Engine, name: str) -> None:
    # A second Ctrl-C must not leave the container alone on the machine.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    try:
        engine.run("stop", "--time", str(_PATIENCE_S), name, timeout=3 * _PATIENCE_S)
    except EngineError:
        # It is removed by force right after.
        return


def _read_output(engine: Engine, name: str) -> bytes:
    result = subprocess.run(
        [engine.name, "logs", name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    # Of a container that is gone there is only what the engine says of that.
    return b"" if result.returncode else result.stdout


def _remove(engine: Engine, name: str) -> None:
    try:
        engine.run("rm", "--force", "--volumes", name, timeout=3 * _PATIENCE_S)
    except EngineError:
        # It was never made, or is gone.
        return


def _describe_end(state: tuple[int, bool] | None, output: bytes) -> str:
    if state is None:
        lines = output.decode("utf-8", "replace").splitlines()
        return lines[-1] if lines else "the container vanished"
    code, out_of_memory = state
    return "out of memory" if out_of_memory else describe_exit(code)
