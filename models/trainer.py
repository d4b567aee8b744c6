"""Trains one run: the workload that its manifest names, logged epoch by epoch."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from models import clocks, hardware
from models.data.sources import DataError
from models.gpus import GpuError, hide_gpus, use_gpu
from models.manifest import Manifest, Segment, Status, WallSeconds
from models.registry import UnknownWorkloadError, find_workload
from models.run import (
    LOG_NAME,
    EpochRecord,
    EpochWriter,
    hash_parameters,
    read_manifest,
    sha256_of,
    utc_now,
    write_manifest,
)

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from models.workload import Data, Parameters, Workload

COMPLETE, FAILED, PREEMPTED = 0, 1, 3
"""Exit codes of a training process."""

_LONGEST_WHY = 300


class PreemptedError(BaseException):
    """The process was asked to stop. No handler of plain errors should catch it."""


class TrainingError(RuntimeError):
    """A run that can't be trained as its manifest says: one line why."""


@dataclass
class _Progress:
    """What is known of a run while it trains, for the manifest that it leaves."""

    born: float
    trained_from: float | None = None
    trained_until: float | None = None
    stop_asked: bool = False
    changes: dict[str, Any] = field(default_factory=dict)


def train_run(folder: Path) -> int:
    """Train the run that a folder's manifest describes; return the exit code.

    The manifest must be there, with status ``running``, and no log. It is completed whatever
    happens, but for a kill: then the log holds each finished epoch, and the status stays.

    Raises:
        RunFormatError: where the manifest can't be read.
    """
    progress = _Progress(_birth())
    manifest = read_manifest(folder)
    _catch_signals(progress)
    status, why = Status.COMPLETE, ""
    try:
        _train(folder, manifest, progress)
    except PreemptedError:
        status, why = Status.PREEMPTED, "stopped on request"
    except (TrainingError, GpuError, DataError, UnknownWorkloadError) as error:
        status, why = Status.FAILED, str(error)
        sys.stderr.write(f"{why}\n")
    except BaseException as error:  # noqa: BLE001 (whatever Keras raises is why the run failed)
        if progress.stop_asked:
            status, why = Status.PREEMPTED, "stopped on request"
        else:
            status, why = Status.FAILED, _in_one_line(error)
            traceback.print_exc()
    # From here on the manifest is being finished: a signal must not tear it.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    _finish(folder, manifest, progress, status, why)
    return {Status.COMPLETE: COMPLETE, Status.PREEMPTED: PREEMPTED}.get(status, FAILED)


def _birth() -> float:
    """Return when this process began, by the monotonic clock: its imports are set-up, too."""
    now = time.perf_counter()
    try:
        with open("/proc/self/stat", encoding="ascii") as file:  # noqa: PTH123 (no path)
            # The 22nd field; the second, the command's name, may hold spaces.
            ticks = int(file.read().rpartition(")")[2].split()[19])
        uptime = time.clock_gettime(time.CLOCK_BOOTTIME)
        return now - max(0.0, uptime - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return now


def _catch_signals(progress: _Progress) -> None:
    def stop(number: int, frame: FrameType | None) -> NoReturn:
        del number, frame
        progress.stop_asked = True
        raise PreemptedError

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def _in_one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or "no message"
    return f"{type(error).__name__}: {text}"[:_LONGEST_WHY]


def _train(folder: Path, manifest: Manifest, progress: _Progress) -> None:
    workload = find_workload(manifest.workload.name)
    parameters = workload.parameters(manifest.profile)
    _check_asked(manifest, parameters)
    if manifest.seed is None or manifest.jit_compile is None:
        raise TrainingError("the manifest lacks seed or jit_compile; plan the run again")
    try:
        hardware.use_cpus(manifest.hardware.vcpus)
    except ValueError as error:
        raise TrainingError(f"{manifest.instance}: {error}; use a smaller instance") from None
    lacking = hardware.lacking_flags()
    if lacking:
        raise TrainingError(
            f"this CPU lacks {', '.join(lacking)}, which the TensorFlow of the build "
            f"{manifest.build} is compiled for; take another CPU, or another build"
        )
    _start_tensorflow(manifest.hardware.vcpus, manifest.seed)
    gpu = None
    if manifest.hardware.gpu:
        gpu = use_gpu()
    else:
        hide_gpus()
    progress.changes |= {
        "hardware": hardware.describe_hardware(manifest.hardware.vcpus, gpu).model_dump(),
        "software": hardware.describe_software(manifest.software).model_dump(),
    }
    data = workload.load(parameters, manifest.data_mode or "auto", manifest.seed)
    steps = -(-parameters["samples"] // parameters["batch_size"])
    progress.changes |= {"dataset": data.used.model_dump(), "steps_per_epoch": steps}
    model = workload.build(parameters, data, manifest.jit_compile)
    with EpochWriter(folder) as writer:
        logger = log_epochs(writer, progress)
        epochs = manifest.budget_epochs or parameters["epochs"]
        fit(model, workload, parameters | {"epochs": epochs}, data, manifest.seed, [logger])


def _check_asked(manifest: Manifest, parameters: Parameters) -> None:
    """Raise where the run that was planned is not the one that would be trained."""
    if manifest.workload.sha256 != hash_parameters(parameters):
        raise TrainingError(
            f"the parameters of {manifest.workload.name} are not those that were planned: "
            "its file has changed since; plan the run again"
        )
    if manifest.planned_epochs not in (None, parameters["epochs"]):
        raise TrainingError(
            f"{manifest.planned_epochs} epochs are planned, and the profile "
            f"{manifest.profile} has {parameters['epochs']}; plan the run again"
        )
    for name, value in sorted(manifest.environment.items()):
        if os.environ.get(name) != value:
            raise TrainingError(
                f"the build {manifest.build} needs {name}={value}, and it is "
                f"{os.environ.get(name, 'not set')}; set it before the start"
            )


def _start_tensorflow(vcpus: int | None, seed: int) -> None:
    """Import TensorFlow with its threads set."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras
    import tensorflow as tf

    if vcpus is not None:
        tf.config.threading.set_intra_op_parallelism_threads(vcpus)
        tf.config.threading.set_inter_op_parallelism_threads(vcpus)
    keras.utils.set_random_seed(seed)


def fit(
    model: Any,  # noqa: ANN401 (a Keras model: this module must load without Keras)
    workload: Workload,
    parameters: Parameters,
    data: Data,
    seed: int,
    callbacks: list[Any],
) -> None:
    """Train a model for its epochs, silently."""
    arguments: dict[str, Any] = {
        "epochs": parameters["epochs"],
        "verbose": 0,
        "callbacks": callbacks,
        "validation_data": data.validation,
    }
    if workload.feed:
        batches = workload.feed(parameters, data, seed)
        size = parameters["batch_size"]
        # The pipeline shuffles.
        model.fit(batches, validation_batch_size=size, shuffle=False, **arguments)
    else:
        model.fit(data.x, data.y, batch_size=parameters["batch_size"], **arguments)


def log_epochs(writer: EpochWriter, progress: Any = None) -> Any:  # noqa: ANN401 (Keras)
    """Return a Keras callback that writes each epoch when it ends.

    Keras ends an epoch after its validation, so the time of that is taken apart. No hook is
    called for a batch: those would cost each step, where an epoch's cost nothing that shows.

    Args:
        writer: where the epochs go.
        progress: a run's progress, to note when its epochs begin and end; or None.
    """
    import keras

    class EpochLogger(keras.callbacks.Callback):  # type: ignore[misc]
        """Times epochs and writes their lines."""

        def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            """Read the clocks."""
            del epoch, logs
            self._val_from: float | None = None
            self._val_until: float | None = None
            self._started_at = utc_now()
            self._start = clocks.read_clocks()
            if progress is not None and progress.trained_from is None:
                progress.trained_from = self._start.monotonic

        def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
            """Note when validation begins."""
            del logs
            self._val_from = time.perf_counter()

        def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
            """Note when validation ends."""
            del logs
            self._val_until = time.perf_counter()

        def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            """Write the epoch's line."""
            end = clocks.read_clocks()
            elapsed = end.monotonic - self._start.monotonic
            val = None
            if self._val_from is not None and self._val_until is not None:
                val = self._val_until - self._val_from
            metrics = logs or {}
            writer.write(
                EpochRecord(
                    epoch=epoch,
                    elapsed=elapsed,
                    loss=_number(metrics.get("loss")),
                    acc=_number(metrics.get("accuracy")),
                    val_loss=_number(metrics.get("val_loss")),
                    val_acc=_number(metrics.get("val_accuracy")),
                    train_s=elapsed - (val or 0.0),
                    val_s=val,
                    cpu_s=end.process_cpu - self._start.process_cpu,
                    other_cpu_s=clocks.other_cpu(self._start, end),
                    started_at=self._started_at,
                )
            )
            if progress is not None:
                progress.trained_until = time.perf_counter()
                if progress.stop_asked:
                    raise PreemptedError

    return EpochLogger()


def _number(value: Any) -> float | None:  # noqa: ANN401 (a Keras metric)
    return None if value is None else float(value)


def _finish(
    folder: Path, manifest: Manifest, progress: _Progress, status: Status, why: str
) -> None:
    """Write the manifest that the run leaves."""
    log = folder / LOG_NAME
    end = time.perf_counter()
    start, until = progress.trained_from, progress.trained_until
    trained = until is not None and start is not None
    wall = WallSeconds(
        setup=(start if start is not None else end) - progress.born,
        training=until - start if until is not None and start is not None else None,
        teardown=end - until if trained and until is not None else None,
    )
    changes = progress.changes | {
        "status": status,
        "why": why,
        "ended_at": utc_now(),
        "wall_s": wall.model_dump(),
        "segments": [
            Segment(started_at=manifest.started_at or utc_now(), first_epoch=0).model_dump()
        ],
    }
    if status is Status.COMPLETE:
        changes["epochs_sha256"] = sha256_of(log.read_bytes())
    write_manifest(folder, manifest.with_changes(**changes))
