"""Engines, runners and the command line of a container: with stand-ins, without an engine."""

import dataclasses
import json
import os
import subprocess
from pathlib import Path

import pytest

from catalog.declared import DeclaredError
from catalog.entries import read_builds
from launcher.containers import start_arguments
from launcher.endings import describe_exit
from launcher.engines import Engine, EngineError, Image, exit_state, find_engine, find_image
from launcher.host import Context
from launcher.machines import Machine
from launcher.runners import choose_runner
from models.code import hash_code
from models.run import Hardware, Software
from tests.conftest import ROOT
from tests.test_jobs import found, schedule

IMAGE = Image("localhost/kerascost-pip", "sha256:" + "a" * 64)
DESCRIPTION = {
    "hardware": {"cpu_model": "A CPU"},
    "software": {
        "tensorflow": "2.14.0",
        "keras": "2.14.0",
        "python": "3.11.2",
        "python_build": "main, GCC 12.2.0",
        "wheel_sha256": "ff",
    },
    "lacking_flags": [],
    "code_sha256": "0" * 64,
}
SCRIPT = ROOT / "docker" / "compiled" / "build-wheel.sh"


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that puts a stand-in for an engine on the PATH: a shell script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    for name in ("docker", "podman"):
        make(name, 'echo "Cannot connect to the daemon" >&2; exit 1')
    return make


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


def test_auto_falls_to_the_host_and_says_why(fake):
    runner = choose_runner("auto", read_builds())
    assert runner.engine is None
    assert runner.reason.startswith("on the host (docker version: Cannot connect")
    assert "compiled" not in runner.machines
    assert runner.lacking["compiled"].startswith("an image with a compiled TensorFlow")
    fake("podman", 'test "$1" = info && echo 4.3.1')
    reason = choose_runner("auto", read_builds()).reason
    assert "podman 4.3.1 answers, and has no localhost/kerascost-compiled or" in reason


def test_an_engine_that_was_asked_for_is_never_left_silently(fake):
    with pytest.raises(DeclaredError, match="RUNNER=podman: podman info: Cannot connect"):
        choose_runner("podman", read_builds())


def test_a_runner_knows_what_its_images_hold(fake):
    record = json.dumps([{"Id": "b" * 64, "Config": {"Labels": None}}])
    inside = json.dumps(DESCRIPTION | {"code_sha256": hash_code()})
    fake(
        "podman",
        f"""case "$1 $3" in
        "info "*) echo 4.3.1 ;;
        "image localhost/kerascost-pip") echo '{record}' ;;
        "run "*) echo '{inside}' ;;
        *) exit 1 ;; esac""",
    )
    runner = choose_runner("podman", read_builds())
    assert set(runner.images) == {"pip"}
    assert set(runner.machines) == {"pip", "pip-onednn", "pip-xla"}
    assert runner.lacking["compiled"] == "the image localhost/kerascost-compiled (make images)"
    assert runner.machines["pip"].tensorflow == "2.14.0"
    assert runner.machines["pip"].in_container
    assert runner.reason == "in containers of podman 4.3.1"


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
    inside = Machine("A CPU", "2.0", "3.0", in_container=True)
    ours = found(software=Software(runner="host", tensorflow="2.0", keras="3.0"))
    assert schedule([ours], machine=inside).stale == (ours,)
    theirs = found(software=Software(runner="podman", tensorflow="2.0", keras="3.0"))
    assert schedule([theirs]).stale == (theirs,)
    assert schedule([theirs], machine=inside).reused == (theirs,)
    other = dataclasses.replace(inside, wheel_sha256="ff")
    wheel = found(
        software=Software(runner="podman", tensorflow="2.0", keras="3.0", wheel_sha256="ee")
    )
    assert schedule([wheel], machine=other).stale == (wheel,)


def build_wheel(*arguments):
    return subprocess.run(
        ["sh", str(SCRIPT), *arguments], capture_output=True, text=True, check=False
    )


def test_the_builders_command_line():
    result = build_wheel(
        *("--version", "2.21.0", "--sha256", "a" * 64, "--march", "skylake-avx512", "--dry-run")
    )
    assert result.returncode == 0
    fetch, check, bazel, *_ = result.stdout.splitlines()
    assert fetch.endswith("/tensorflow/tensorflow/archive/refs/tags/v2.21.0.tar.gz")
    assert check == f"echo '{'a' * 64}  tensorflow.tar.gz' | sha256sum --check"
    assert bazel.startswith("bazel build --config=opt --copt=-march=skylake-avx512 ")
    assert bazel.endswith(" //tensorflow/tools/pip_package:wheel")
    older = build_wheel("--version", "2.14.0", "--sha256", "a" * 64, "--dry-run").stdout
    assert older.splitlines()[2].endswith(":build_pip_package")


def test_the_builder_says_what_the_wheel_will_need_of_a_cpu(fake):
    # As gcc 12 -march=icelake-server -dM -E prints them, some of many.
    macros = [
        "AVX",
        "AVX512F",
        "AVX512VNNI",
        "AVX2",
        "FMA",
        "SSE4_2",
        "AVX512VPOPCNTDQ",
        "GFNI",
        "k8",
    ]
    fake("gcc", "\n".join(f'echo "#define __{macro}__ 1"' for macro in macros))
    result = build_wheel("--version", "2.21.0", "--sha256", "a" * 64, "--dry-run")
    wanted = "avx avx2 avx512_vnni avx512_vpopcntdq avx512f fma sse4_2"
    assert result.stdout.splitlines()[3] == f"needs of a CPU: {wanted}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--version '' is no version of TensorFlow"),
        (["--version", "2.21"], "--version '2.21' is no version"),
        (["--version", "2.21.0"], "--sha256 '' is no SHA-256"),
        (["--version", "2.21.0", "--sha256", "a" * 64, "--march", "x;y"], "is no CPU that gcc"),
        (["--jobs"], "--jobs lacks its value"),
        (["--flags", "x"], "unknown argument --flags; choose from --version"),
    ],
)
def test_the_builder_refuses_in_one_line(arguments, message):
    result = build_wheel(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


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
