"""Engines and the command line of a container: with stand-ins, without an engine."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from launcher.containers import start_arguments
from launcher.endings import describe_exit
from launcher.engines import Engine, EngineError, Image, exit_state, find_engine, find_image
from launcher.host import Context
from launcher.machines import Machine
from models.run import Hardware, Software
from tests.conftest import ROOT
from tests.test_jobs import found, schedule

IMAGE = Image("localhost/kerascost-pip", "sha256:" + "a" * 64)


def test_an_engine_that_answers_and_one_that_does_not(fake):
    fake("podman", "echo 4.3.1")
    assert find_engine("podman") == Engine("podman", "4.3.1")
    with pytest.raises(EngineError, match="docker version: Cannot connect to the daemon"):
        find_engine("docker")


def test_an_images_id_has_its_algorithm_whoever_says_it(fake):
    record = [{"Id": "b" * 64}]
    fake("podman", f"echo '{json.dumps(record)}'")
    assert find_image(Engine("podman", "4"), "i") == Image("i", f"sha256:{'b' * 64}")
    fake("docker", f"echo '{json.dumps([{**record[0], 'Id': 'sha256:' + 'c' * 64}])}'")
    assert find_image(Engine("docker", "4"), "i").digest == f"sha256:{'c' * 64}"
    fake("docker", "exit 1")
    assert find_image(Engine("docker", "4"), "i") is None


def test_the_exit_code_is_the_containers_not_the_clients(fake):
    state = [{"State": {"ExitCode": 7, "OOMKilled": False}}]
    fake("docker", f"echo '{json.dumps(state)}'; exit 0")
    assert exit_state(Engine("docker", "4"), "c") == (7, False)
    fake("docker", "exit 1")
    assert exit_state(Engine("docker", "4"), "c") is None


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit code 0"),
        (3, "exit code 3"),
        (137, "killed by SIGKILL"),
        (-9, "killed by SIGKILL"),
        (132, "killed by SIGILL: its TensorFlow has instructions that this CPU lacks"),
    ],
)
def test_exit_codes_in_words(code, words):
    assert describe_exit(code) == words


def test_a_container_has_no_network_and_no_rights(tmp_path, monkeypatch):
    (tmp_path / "keras" / "datasets").mkdir(parents=True)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    manifest = found(hardware=Hardware(vcpus=1)).manifest
    context = Context(tmp_path / "c", "auto", None, None)
    engine = Engine("podman", "4.3.1")
    arguments = start_arguments("n", tmp_path / "run", manifest, context, engine, IMAGE)
    line = " ".join(arguments)
    last = max(os.sched_getaffinity(0))
    for words in (
        f"--cpuset-cpus {last} ",
        "--network none",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--read-only --tmpfs /tmp",
        f"--user {os.getuid()}:{os.getgid()}",
        f"--volume {tmp_path / 'run'}:/run-folder ",
        f"--volume {tmp_path / 'keras' / 'datasets'}:/data/keras/datasets:ro",
        "--env TF_ENABLE_ONEDNN_OPTS=0",
    ):
        assert words in line, words
    assert arguments[-6:] == [IMAGE.digest, "python", "-m", "models", "train", "/run-folder"]
    # Refused in some sandboxes, and not needed.
    assert not {"--init", "--ulimit", "--rm", "--privileged"} & set(arguments)


def test_host_and_container_runs_are_never_in_one_cell():
    contained = Software(runner="podman", tensorflow="2.0", keras="3.0")
    inside = Machine(contained, "A CPU")
    ours = found(software=contained.model_copy(update={"runner": "host"}))
    assert schedule([ours], machine=inside).stale == (ours,)
    theirs = found(software=contained)
    assert schedule([theirs]).stale == (theirs,)
    assert schedule([theirs], machine=inside).reused == (theirs,)
    other = Machine(contained.model_copy(update={"wheel_sha256": "ff"}), "A CPU")
    wheel = found(software=contained.model_copy(update={"wheel_sha256": "ee"}))
    assert schedule([wheel], machine=other).stale == (wheel,)


def test_a_report_keeps_no_address_of_an_index(tmp_path):
    item = {
        "metadata": {"name": "tensorflow", "version": "1", "author": "x"},
        "download_info": {
            "url": "https://user:secret@index.example/simple/tensorflow-1.whl",
            "archive_info": {"hashes": {"sha256": "ff"}},
        },
    }
    source, target = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps({"install": [item]}))
    script = ROOT / "docker" / "trim-report.py"
    subprocess.run(["python3", str(script), str(source), str(target)], check=True)
    assert "example" not in target.read_text()
    (kept,) = json.loads(target.read_text())["install"]
    assert kept["download_info"]["url"] == "tensorflow-1.whl"
    assert kept["download_info"]["archive_info"]["hashes"] == {"sha256": "ff"}


@pytest.mark.parametrize("name", ["pip", "compiled"])
def test_a_dockerfile_pins_its_base_and_changes_models_last(name):
    text = (ROOT / "docker" / name / "Dockerfile").read_text(encoding="utf-8")
    assert "BASE_IMAGE=docker.io/library/python:3.11-slim-bookworm@sha256:" in text
    assert "--require-hashes" in text
    assert "<<" not in text
    final = text[text.rindex("FROM ") :]
    assert final.index("USER kerascost") < final.index("COPY models")
    assert "apt-get" not in final
    for lock in ("image.txt", "image-tensorflow-2.14.0.txt", "image-intel-tensorflow-2.14.0.txt"):
        assert "--hash=sha256:" in Path(ROOT / "requirements" / lock).read_text(encoding="utf-8")
