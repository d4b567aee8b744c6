"""One run, trained: what it logs, and what it leaves however it ends."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from models import clocks, hardware
from models.clocks import Reading
from models.registry import find_workload
from models.run import (
    Hardware,
    Manifest,
    Software,
    Status,
    WorkloadUsed,
    hash_parameters,
    read_manifest,
    read_run,
    run_folder,
    write_manifest,
)
from tests.conftest import ROOT


def plan_run(tmp_path, name="mnist_mlp", profile="smoke", **changes):
    """Write a run's first manifest, as the launcher does; return its folder."""
    parameters = find_workload(name).parameters(profile)
    fields = {
        "run_id": "r0",
        "campaign": "trial",
        "workload": WorkloadUsed(
            name=name, parameters=parameters, sha256=hash_parameters(parameters)
        ),
        "profile": profile,
        "build": "pip",
        "instance": "local-1",
        "status": Status.RUNNING,
        "seed": 1,
        "planned_epochs": parameters["epochs"],
        "warmup_epochs": 1,
        "jit_compile": False,
        "environment": {"TF_ENABLE_ONEDNN_OPTS": "0"},
        "data_mode": "synthetic",
        "hardware": Hardware(vcpus=1),
        "software": Software(runner="host"),
        "started_at": "2026-01-02T03:04:05.000Z",
    }
    manifest = Manifest(**(fields | changes))
    folder = run_folder(tmp_path / "trial", manifest)
    folder.mkdir(parents=True)
    write_manifest(folder, manifest)
    return folder


def command(folder, **environment):
    return {
        "args": [sys.executable, "-m", "models", "train", str(folder)],
        "cwd": ROOT,
        "env": os.environ | {"TF_ENABLE_ONEDNN_OPTS": "0"} | environment,
        "text": True,
    }


def train(folder, **environment):
    return subprocess.run(**command(folder, **environment), capture_output=True, check=False)


@pytest.mark.train
def test_a_run_says_all_about_itself(tmp_path):
    folder = plan_run(tmp_path)
    result = train(folder)
    assert result.returncode == 0, result.stderr
    manifest = read_run(folder).manifest
    assert manifest.software.tensorflow
    assert manifest.software.keras.startswith("3.")
    assert manifest.software.runner == "host"
    assert manifest.hardware.vcpus == 1
    assert manifest.hardware.memory_bytes > 1e8
    assert manifest.hardware.cpu_model
    assert manifest.dataset.kind == "synthetic"
    assert len(manifest.dataset.sha256) == 64
    assert manifest.wall_s.setup > 0
    epochs = read_run(folder).epochs
    assert manifest.wall_s.training == pytest.approx(sum(e.elapsed for e in epochs), abs=0.5)
    assert manifest.segments[0].first_epoch == 0
    text = (folder / "run.json").read_text() + (folder / "epochs.csv").read_text()
    assert os.path.expanduser("~/") not in text  # noqa: PTH111
    # On one vCPU a process can't use more CPU time than passes.
    for epoch in epochs:
        assert epoch.cpu_s <= epoch.elapsed * 1.1 + 0.05


@pytest.mark.train
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_stop_keeps_finished_epochs(tmp_path, number):
    # The quick profile's warm-up is over seconds before the last epoch ends.
    folder = plan_run(tmp_path, "imdb_bidirectional_lstm", "quick")
    process = subprocess.Popen(**command(folder), stderr=subprocess.PIPE)
    log = folder / "epochs.csv"
    for _ in range(1200):
        if log.is_file() and log.read_text().count("\n") > 1:
            break
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate(timeout=60)
    run = read_run(folder)
    assert 1 <= len(run.epochs) < 3
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        assert run.manifest.status is Status.RUNNING
    else:
        assert process.returncode == 3
        assert run.manifest.status is Status.PREEMPTED
        assert run.manifest.ended_at


def test_other_parameters_than_planned_are_refused(tmp_path):
    folder = plan_run(tmp_path)
    planned = read_manifest(folder)
    changed = planned.workload.model_copy(update={"sha256": "0" * 64})
    write_manifest(folder, planned.with_changes(workload=changed.model_dump()))
    result = train(folder)
    assert result.returncode == 1
    assert "not those that were planned" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert read_manifest(folder).status is Status.FAILED
    assert "plan the run again" in read_manifest(folder).why


def test_another_environment_than_the_builds_is_refused(tmp_path):
    folder = plan_run(tmp_path)
    assert train(folder, TF_ENABLE_ONEDNN_OPTS="1").returncode == 1
    assert "needs TF_ENABLE_ONEDNN_OPTS=0, and it is 1" in read_manifest(folder).why


def test_more_vcpus_than_there_are_is_refused(tmp_path):
    folder = plan_run(tmp_path, instance="local-999", hardware=Hardware(vcpus=999))
    assert train(folder).returncode == 1
    assert "999 vCPUs are asked for" in read_manifest(folder).why


def test_an_unknown_workload_is_refused(tmp_path):
    used = WorkloadUsed(name="mnist_mpl", sha256="0")
    folder = plan_run(tmp_path, workload=used)
    assert train(folder).returncode == 1
    assert "no workload 'mnist_mpl'; choose from" in read_manifest(folder).why


@pytest.mark.train
def test_real_data_that_is_not_there_fails_with_its_name(tmp_path):
    folder = plan_run(tmp_path, data_mode="real")
    refused = {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    places = {"KERAS_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    result = train(folder, **places, **refused)
    assert result.returncode == 1
    assert "mnist.npz is missing" in read_manifest(folder).why
    assert "731c5ac602752760c8e48fbffcf8c3b8" in read_manifest(folder).why


def test_a_folder_without_a_manifest_is_one_line(tmp_path):
    result = train(tmp_path)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "run.json: the file is missing" in result.stderr


def test_what_others_used_is_the_machines_less_our_own():
    start, end = Reading(0.0, 5.0, 100.0), Reading(2.0, 6.5, 104.0)
    assert clocks.other_cpu(start, end) == 2.5
    assert clocks.other_cpu(start, Reading(2.0, 9.5, 104.0)) == 0.0
    assert clocks.other_cpu(start, Reading(2.0, 6.5, None)) is None


def test_the_machines_clock_by_hand(tmp_path):
    stat = tmp_path / "stat"
    # user nice system idle iowait irq softirq steal guest guest_nice, in hundredths of a second.
    stat.write_text("cpu  100 20 30 9999 888 4 5 6 77 0\ncpu0 1 1 1 1\n")
    ticks = os.sysconf("SC_CLK_TCK")
    assert clocks.read_machine_cpu(stat) == pytest.approx((100 + 20 + 30 + 4 + 5 + 6) / ticks)
    assert clocks.read_machine_cpu(tmp_path / "none") is None
    stat.write_text("garbage\n")
    assert clocks.read_machine_cpu(stat) is None


def test_the_wheel_is_named_by_pips_report(tmp_path):
    item = {
        "metadata": {"name": "tensorflow-cpu", "version": "2"},
        "download_info": {
            "url": "https://pypi.org/packages/tensorflow_cpu-2-cp311.whl",
            "archive_info": {"hashes": {"sha256": "ab" * 32}},
        },
    }
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"install": [item]}))
    found = hardware._read_wheel(report, "tensorflow-cpu")
    assert found == ("tensorflow_cpu-2-cp311.whl", "ab" * 32)
    assert hardware._read_wheel(report, "tensorflow") == (None, None)
    report.write_text("{")
    assert hardware._read_wheel(report, "tensorflow-cpu") == (None, None)
