"""Which GPU there is, by recorded listings, and why TensorFlow can't use it."""

import contextlib
import sys
from types import SimpleNamespace

import pytest

from launcher.gpus import find_gpus, read_gpus
from models.gpus import GpuError, explain_no_gpu, use_gpu

# As nvidia-smi -L prints them, of one K80 board, of an A100 cut into parts, and of a laptop.
K80 = """GPU 0: Tesla K80 (UUID: GPU-c43b0acd-16a5-e464-7b56-6a27600c1aaf)
GPU 1: Tesla K80 (UUID: GPU-3c2e1f0a-5d3b-9a67-1c55-0f5b1a7f2d10)
"""
MIG = """GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
  MIG 1g.5gb      Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
  MIG 1g.5gb      Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)
"""
LAPTOP = (
    "GPU 0: NVIDIA GeForce RTX 3060 Laptop GPU (UUID: GPU-11111111-2222-3333-4444-555555555555)"
)
NO_DRIVER = """NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. \
Make sure that the latest NVIDIA driver is installed and running.
"""


@pytest.mark.parametrize(
    ("listing", "names"),
    [
        (K80, ("Tesla K80", "Tesla K80")),
        (MIG, ("NVIDIA A100-SXM4-40GB",)),
        (LAPTOP, ("NVIDIA GeForce RTX 3060 Laptop GPU",)),
        ("No devices were found\n", ()),
        (NO_DRIVER, ()),
        ("", ()),
    ],
)
def test_a_recorded_listing(listing, names):
    assert read_gpus(listing) == names


def test_a_machine_with_a_gpu_and_one_without(fake, monkeypatch, tmp_path):
    assert find_gpus() == ()
    fake("nvidia-smi", f'test "$1" = -L && echo "{LAPTOP}"')
    assert find_gpus() == ("NVIDIA GeForce RTX 3060 Laptop GPU",)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_gpus() == ()


@pytest.mark.parametrize(
    ("has_cuda", "devices", "fault", "said"),
    [
        (False, ["nvidia0"], "", "built without CUDA; install tensorflow[and-cuda]"),
        (True, [], "", "there is no /dev/nvidia0; load the driver, or give the container"),
        (True, ["nvidiactl", "nvidia-uvm"], "", "there is no /dev/nvidia0"),
        (
            True,
            ["nvidia0", "nvidiactl"],
            "libcuda.so.1: cannot open shared object file: No such file or directory",
            "libcuda.so.1: cannot open shared object file: No such file or directory; install the",
        ),
        (True, ["nvidia7"], "", "TF_CPP_MIN_LOG_LEVEL=0 python -m models gpu says which library"),
    ],
)
def test_why_there_is_no_gpu(has_cuda, devices, fault, said):
    assert said in explain_no_gpu(has_cuda, devices, fault)


class FakeConfig:
    """TensorFlow's ``tf.config``, of a machine with the given GPUs."""

    def __init__(self, devices):
        self.devices = devices
        self.visible = None
        self.experimental = self

    def list_physical_devices(self, kind):
        return self.devices if kind == "GPU" else []

    def set_visible_devices(self, devices, kind):
        self.visible = devices

    def get_device_details(self, device):
        return {"device_name": "Tesla K80"}


def fake_tensorflow(devices, matmul):
    """Return a stand-in for TensorFlow: this machine has no GPU to try."""
    return SimpleNamespace(
        config=FakeConfig(devices),
        sysconfig=SimpleNamespace(get_build_info=lambda: {"is_cuda_build": False}),
        device=lambda name: contextlib.nullcontext(),
        linalg=SimpleNamespace(matmul=matmul),
        ones=lambda shape: shape,
    )


def test_the_first_gpu_is_used_alone(monkeypatch):
    result = SimpleNamespace(numpy=lambda: None)
    first, second = SimpleNamespace(name="/gpu:0"), SimpleNamespace(name="/gpu:1")
    tf = fake_tensorflow([first, second], lambda a, b: result)
    monkeypatch.setitem(sys.modules, "tensorflow", tf)
    assert use_gpu() == "Tesla K80"
    assert tf.config.visible == [first]


def test_a_gpu_that_is_listed_and_cannot_compute_is_an_error(monkeypatch):
    def matmul(a, b):
        raise RuntimeError("failed to allocate\n  11.2G")

    monkeypatch.setitem(
        sys.modules, "tensorflow", fake_tensorflow([SimpleNamespace(name="/gpu:0")], matmul)
    )
    with pytest.raises(GpuError, match=r"Tesla K80 can't compute: failed to allocate 11\.2G; free"):
        use_gpu()


def test_no_gpu_is_never_the_cpu_without_a_word(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", fake_tensorflow([], None))
    with pytest.raises(GpuError, match="built without CUDA"):
        use_gpu()


def test_the_launcher_says_which_it_found(fake):
    from typer.testing import CliRunner

    from launcher.__main__ import app

    result = CliRunner().invoke(app, ["gpus"])
    assert (result.exit_code, result.stdout) == (1, "")
    fake("nvidia-smi", f'echo "{LAPTOP}"')
    result = CliRunner().invoke(app, ["gpus"])
    assert (result.exit_code, result.stdout) == (0, "NVIDIA GeForce RTX 3060 Laptop GPU\n")
