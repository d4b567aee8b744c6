"""The GPU of a run: used where it is asked for, hidden where it is not; never one for the other."""

from __future__ import annotations

import ctypes
from pathlib import Path

_DRIVER = "libcuda.so.1"
_DEVICES = Path("/dev")


class GpuError(RuntimeError):
    """TensorFlow can't use the GPU that a run is for: one line why, and what to do."""


def use_gpu() -> str:
    """Have TensorFlow use the first GPU alone; return its name.

    Raises:
        GpuError: where it lists none, or can't compute on it.
    """
    import tensorflow as tf

    devices = tf.config.list_physical_devices("GPU")
    if not devices:
        has_cuda = bool(tf.sysconfig.get_build_info().get("is_cuda_build"))
        raise GpuError(explain_no_gpu(has_cuda, _list_devices(), _load_driver()))
    tf.config.set_visible_devices(devices[:1], "GPU")
    details = tf.config.experimental.get_device_details(devices[0])
    name = str(details.get("device_name", devices[0].name))
    try:
        # One that is listed may still be too old, or full.
        with tf.device("/GPU:0"):
            tf.linalg.matmul(tf.ones((2, 2)), tf.ones((2, 2))).numpy()
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise GpuError(f"{name} can't compute: {text}; free it, or renew its driver") from error
    return name


def hide_gpus() -> None:
    """Have TensorFlow use no GPU, whatever the machine has: the run is for its CPU."""
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        tf.config.set_visible_devices([], "GPU")


def explain_no_gpu(has_cuda: bool, devices: list[str], driver_fault: str) -> str:
    """Return why TensorFlow lists no GPU, and what to do.

    Args:
        has_cuda: whether this TensorFlow was built for CUDA.
        devices: the names of NVIDIA's device files, ``nvidia0`` for the first GPU.
        driver_fault: why the driver's library can't be loaded; empty where it can.
    """
    if not has_cuda:
        reason = "this TensorFlow was built without CUDA"
        return f"{reason}; install tensorflow[and-cuda] (requirements/train-gpu.txt)"
    if not any(name.removeprefix("nvidia").isdecimal() for name in devices):
        reason = "there is no /dev/nvidia0"
        return f"{reason}; load the driver, or give the container its GPU (NVIDIA's toolkit)"
    if driver_fault:
        return f"{driver_fault}; install the NVIDIA driver"
    reason = "TensorFlow lists no GPU, though CUDA, the device and the driver are here"
    return f"{reason}; TF_CPP_MIN_LOG_LEVEL=0 python -m models gpu says which library it lacks"


def _list_devices() -> list[str]:
    return sorted(path.name for path in _DEVICES.glob("nvidia*"))


def _load_driver() -> str:
    try:
        ctypes.CDLL(_DRIVER)
    except OSError as error:
        return str(error)
    return ""
