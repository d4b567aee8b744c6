"""The launcher loses no finished run, whatever happens, and says in one line what is wrong."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from launcher.endings import scrub
from models.run import Status, read_campaign, read_manifest
from tests.conftest import ROOT

PLAN = """campaign: trial
title: A trial
profile: smoke
repeats: 1
workloads: [mnist_cnn, mnist_mlp]
builds: {pip: [local-max]}
baseline: {build: pip, instance: local-max}
"""
CPUS = f"local-{len(os.sched_getaffinity(0))}"
CNN, MLP = f"mnist_cnn/pip/{CPUS}", f"mnist_mlp/pip/{CPUS}"


class Place:
    """A folder with a plan and runs, and the commands that work on them."""

    def __init__(self, folder):
        self.folder = folder
        self.campaign = folder / "runs" / "trial"
        (folder / "plan.yml").write_text(PLAN)
        self.tell({})

    def tell(self, what):
        (self.folder / "told.json").write_text(json.dumps(what))

    def command(self, *arguments, runs="runs"):
        trainer = f"{sys.executable} -m tests.fake_trainer"
        return {
            "args": [
                *(sys.executable, "-m", "launcher", "run", "--plan", self.folder / "plan.yml"),
                *("--runs-dir", self.folder / runs, *arguments),
            ],
            "cwd": ROOT,
            "env": os.environ
            | {"KERASCOST_TRAINER": trainer, "PYTHONPATH": str(ROOT), "SECRET": "x"},
            "text": True,
        }

    def run(self, *arguments):
        return subprocess.run(**self.command(*arguments), capture_output=True, check=False)

    def start(self, *arguments):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(**self.command(*arguments), **pipes)

    def manifest(self, name, run_id="r0"):
        workload, build, instance = name.split("/")
        return read_manifest(self.campaign / instance / build / workload / run_id)

    def wait_for(self, name, run_id="r0"):
        """Wait until a run has its first epoch on disk."""
        workload, build, instance = name.split("/")
        log = self.campaign / instance / build / workload / run_id / "epochs.csv"
        for _ in range(400):
            if log.is_file() and log.read_text().count("\n") > 1:
                return log
            time.sleep(0.05)
        raise AssertionError(f"{log} has no epoch")


@pytest.fixture
def place(tmp_path, monkeypatch):
    # The fake finds what it is told beside the runs folder: six levels above a run.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return Place(tmp_path)


def test_runs_are_made_once_and_reused(place):
    first = place.run("--summary", place.folder / "build" / "summary.txt")
    assert first.returncode == 0, first.stderr
    assert first.stdout == ""
    summary = (place.folder / "build" / "summary.txt").read_text()
    assert summary.startswith("Runs: 2 new, 0 reused, 0 failed (in ")
    assert "[2/2] mnist_mlp" in first.stderr
    assert "\x1b" not in first.stdout + first.stderr
    card = (place.campaign / "campaign.json").read_bytes()
    log = (place.campaign / CPUS / "pip/mnist_mlp/r0/epochs.csv").read_bytes()
    second = place.run("--json")
    record = json.loads(second.stdout)
    assert (record["new"], record["reused"], record["failed"]) == (0, 2, [])
    assert (place.campaign / "campaign.json").read_bytes() == card
    assert (place.campaign / CPUS / "pip/mnist_mlp/r0/epochs.csv").read_bytes() == log
    manifest = place.manifest(MLP)
    assert manifest.status is Status.COMPLETE
    assert manifest.software.runner == "host"
    assert manifest.environment == {"TF_ENABLE_ONEDNN_OPTS": "0"}
    assert not any("SECRET" in text for text in (log.decode(), manifest.model_dump_json()))


def test_a_failure_is_tried_once_more_and_the_rest_goes_on(place):
    place.tell({f"{CNN}/r0": "fail", f"{CNN}/r0-2": "fail"})
    result = place.run()
    assert result.returncode == 1
    assert "Runs: 1 new, 0 reused, 1 failed" in result.stdout
    assert "Failed: mnist_cnn, pip, " in result.stdout
    assert ": no memory" in result.stdout
    assert place.manifest(MLP).status is Status.COMPLETE
    failed = place.manifest(CNN, "r0-2")
    assert failed.status is Status.FAILED
    assert failed.output_tail[-1].endswith("no memory")
    assert os.path.expanduser("~") + " " not in failed.output_tail[-1]  # noqa: PTH111
    assert str(ROOT) not in failed.output_tail[-1]
    place.tell({})
    assert "Runs: 1 new, 1 reused, 0 failed" in place.run().stdout
    assert place.manifest(CNN, "r0-3").status is Status.COMPLETE


def test_a_retry_that_works_is_no_failure(place):
    place.tell({f"{CNN}/r0": "fail"})
    result = place.run()
    assert result.returncode == 0
    assert "2 new, 0 reused, 0 failed" in result.stdout


@pytest.mark.parametrize(("what", "why"), [("mute", "exit code 0"), ("die", "SIGKILL")])
def test_a_process_that_ends_without_a_word_has_failed(place, what, why):
    place.tell({f"{CNN}/r0": what, f"{CNN}/r0-2": what})
    assert place.run().returncode == 1
    assert place.manifest(CNN).status is Status.FAILED
    assert why in place.manifest(CNN).why


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_keeps_finished_epochs(place, number):
    place.tell({f"{MLP}/r0": "hang"})
    process = place.start()
    log = place.wait_for(MLP)
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Runs: 1 new" in out
    assert "Stopped" in out
    assert place.manifest(MLP).status is Status.PREEMPTED
    assert log.read_text().count("\n") == 2
    place.tell({})
    assert "Runs: 1 new, 1 reused, 0 failed" in place.run().stdout
    assert log.read_text().count("\n") == 2


def test_a_kill_loses_no_finished_run(place):
    place.tell({f"{MLP}/r0": "hang"})
    process = place.start()
    log = place.wait_for(MLP)
    process.kill()
    process.communicate(timeout=20)
    kept = (place.campaign / CPUS / "pip/mnist_cnn/r0/epochs.csv").read_bytes()
    place.tell({})
    again = place.run()
    assert "Runs: 1 new, 1 reused, 0 failed" in again.stdout
    assert (place.campaign / CPUS / "pip/mnist_cnn/r0/epochs.csv").read_bytes() == kept
    killed = place.manifest(MLP)
    assert killed.status is Status.PREEMPTED
    assert "killed" in killed.why
    assert log.read_text().count("\n") == 2
    assert place.manifest(MLP, "r0-2").status is Status.COMPLETE


def test_a_run_dies_with_its_launcher(place):
    place.tell({f"{CNN}/r0": "hang"})
    process = place.start()
    log = place.wait_for(CNN)
    process.kill()
    process.communicate(timeout=20)
    for _ in range(200):
        listed = subprocess.run(
            ["pgrep", "-f", str(log.parent)], capture_output=True, text=True, check=False
        )
        if not listed.stdout.strip():
            return
        time.sleep(0.05)
    raise AssertionError("the training process outlived its launcher")


def test_a_second_launcher_waits_or_says_so(place):
    place.tell({f"{CNN}/r0": "hang"})
    first = place.start()
    place.wait_for(CNN)
    refused = place.run("--no-wait")
    assert refused.returncode == 2
    assert "another launcher is training this campaign; wait" in refused.stderr
    second = place.start()
    for _ in range(200):
        if "waiting" in (line := second.stderr.readline()):
            break
    assert "waiting until it has ended" in line
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=20)
    place.tell({})
    out, _ = second.communicate(timeout=30)
    assert "Runs: 2 new" in out or second.returncode == 1


def test_runs_of_something_else_are_set_aside(place):
    place.run()
    path = place.campaign / CPUS / "pip/mnist_mlp/r0/run.json"
    path.write_text(path.read_text().replace('"seed": 20170705', '"seed": 1'))
    result = place.run()
    assert "Runs: 1 new, 1 reused, 0 failed" in result.stdout
    assert "1 runs of other parameters" in result.stdout
    aside = place.campaign / ".stale" / CPUS / "pip/mnist_mlp/r0/run.json"
    assert '"seed": 1' in aside.read_text()


def test_a_price_needs_no_new_run(place):
    place.run()
    assert read_campaign(place.campaign).usd_per_hour == {}
    (place.folder / "plan.yml").write_text(PLAN + "usd_per_hour: {local-max: 0.5}\n")
    assert "Runs: 0 new, 2 reused" in place.run().stdout
    card = read_campaign(place.campaign)
    assert (card.usd_per_hour, card.scenario) == ({CPUS: 0.5}, "own")


def test_real_data_that_is_not_there_is_said_once(place, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(place.folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.folder / "cache"))
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    result = place.run("--data", "real")
    assert result.returncode == 2
    # Both workloads want the same file: one line.
    assert len(result.stderr.splitlines()) == 1
    assert "mnist.npz is missing, and can't be downloaded; put the file of https" in result.stderr
    assert "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1" in result.stderr
    assert not place.campaign.exists()


def test_a_broken_manifest_is_left_and_its_cell_run_again(place):
    place.run()
    path = place.campaign / CPUS / "pip/mnist_mlp/r0/run.json"
    path.write_text("{")
    assert "Runs: 1 new, 1 reused, 0 failed" in place.run().stdout
    assert path.read_text() == "{"
    assert place.manifest(MLP, "r0-2").status is Status.COMPLETE


def test_narrowing_takes_nothing_out_of_the_campaign(place):
    place.run()
    result = place.run("--workloads", "mnist_mlp")
    assert "Runs: 0 new, 1 reused" in result.stdout
    assert len(read_campaign(place.campaign).cells) == 2


def test_an_imported_campaign_is_not_trained_into(place):
    source = (ROOT / "runs/gce-2017-07/campaign.json").read_text()
    place.campaign.mkdir(parents=True)
    (place.campaign / "campaign.json").write_text(source.replace("gce-2017-07", "trial", 1))
    result = place.run()
    assert result.returncode == 2
    assert "holds runs of Max Woolf; give the plan's campaign another name" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "fast"], "PROFILE=fast: choose from full, quick, smoke"),
        (["--data", "reel"], "DATA=reel: did you mean 'real'? choose from auto, real, synthetic"),
        (["--workloads", "mnist"], "WORKLOADS=mnist is not in the plan"),
        (["--builds", "pip-xla"], "BUILDS=pip-xla is not in the plan"),
        (["--instances", "local-512"], "INSTANCES=local-512 is not in the plan"),
    ],
)
def test_a_wrong_value_names_the_right_ones(place, arguments, message):
    result = place.run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not place.campaign.exists()


def test_a_wrong_plan_is_one_line_and_exit_2(place):
    (place.folder / "plan.yml").write_text(PLAN.replace("repeats", "repeat"))
    result = place.run()
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert "plan.yml:4: unknown key 'repeat'" in result.stderr


def test_the_plan_command_changes_nothing(place):
    arguments = place.command("--json")
    arguments["args"][3] = "plan"
    result = subprocess.run(**arguments, capture_output=True, check=True)
    record = json.loads(result.stdout)
    assert record["to_run"] == [f"mnist_cnn, pip, {CPUS}, r0", f"mnist_mlp, pip, {CPUS}, r0"]
    assert not place.campaign.exists()


def test_messages_name_no_user_and_no_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("LOGNAME", "ada")
    assert scrub(f"/home/ada/x {ROOT}/models ada@host") == "~/x ./models <user>@host"
