"""A wheel for instructions that the CPU lacks is refused before it dies of SIGILL."""

import sys

import pytest

from models import hardware
from models.run import Status, read_manifest
from models.trainer import train_run
from tests.test_trainer import plan_run

CPUINFO = """processor\t: 0
model name\t: A CPU
flags\t\t: fpu sse4_2 avx avx2 fma
"""


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """Return the folder of an environment whose CPU is the one above."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    flags = frozenset(CPUINFO.rpartition(":")[2].split())
    monkeypatch.setattr(hardware, "_read_cpu", lambda: ("A CPU", tuple(sorted(flags))))
    return tmp_path


@pytest.mark.parametrize(
    ("needed", "lacking"),
    [
        ("avx avx2 fma\n", []),
        ("avx avx512f amx_tile\n", ["amx_tile", "avx512f"]),
        ("\n", []),
    ],
)
def test_what_it_needs_and_the_cpu_lacks(prefix, needed, lacking):
    (prefix / "kerascost-cpu-flags.txt").write_text(needed, encoding="utf-8")
    assert hardware.lacking_flags() == lacking


def test_a_tensorflow_that_says_nothing_lacks_nothing(prefix):
    assert hardware.lacking_flags() == []


def test_a_run_says_what_its_cpu_lacks(prefix, monkeypatch):
    # The test itself keeps its CPUs and its signals.
    monkeypatch.setattr(hardware, "use_cpus", lambda count: None)
    monkeypatch.setattr("models.trainer.signal.signal", lambda number, handler: None)
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    (prefix / "kerascost-cpu-flags.txt").write_text("avx512f\n", encoding="utf-8")
    folder = plan_run(prefix)
    assert train_run(folder) == 1
    manifest = read_manifest(folder)
    assert manifest.status is Status.FAILED
    said = "this CPU lacks avx512f, which the TensorFlow of the build pip is compiled for; "
    assert manifest.why.startswith(said)
