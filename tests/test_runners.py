"""Where runs are made, and what is checked before the first: with stand-ins for engines."""

import json

import pytest

from catalog.declared import DeclaredError
from catalog.entries import read_builds
from launcher.engines import EngineError
from launcher.machines import Machine, read_machine
from launcher.plan import NO_GPU
from launcher.runners import Runner, check_comparable, choose_engine, choose_runner
from models.code import hash_code
from models.run import Software
from tests.test_jobs import plan

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
    assert runner.machines["pip"].software.tensorflow == "2.14.0"
    assert runner.machines["pip"].software.runner == "podman"
    assert runner.reason == "in containers of podman 4.3.1"


def machine(**software):
    known = {"tensorflow": "2.14.0", "keras": "2.14.0", "python": "3.11.2"}
    return Machine(Software(runner="podman", **(known | software)), "A CPU")


def answer(description, image="localhost/kerascost-pip"):
    """Return the script of a podman that has one image, which describes itself so."""
    record = json.dumps([{"Id": "b" * 64, "Config": {"Labels": None}}])
    return f"""case "$1 $3" in
        "info "*) echo 4.3.1 ;;
        "image {image}") echo '{record}' ;;
        "run "*) echo '{json.dumps(description)}' ;;
        *) exit 1 ;; esac"""


def test_an_image_of_an_older_models_is_not_run(fake):
    fake("podman", answer(DESCRIPTION))
    with pytest.raises(DeclaredError, match="kerascost-pip has an older models/: make images"):
        choose_runner("podman", read_builds())


def test_an_image_that_says_nothing_of_itself_is_not_run(fake):
    fake("podman", answer({"hardware": {}}))
    with pytest.raises(DeclaredError, match=r"can't say what it is .*: make images"):
        choose_runner("podman", read_builds())


def test_a_wheel_for_another_cpu_is_refused_before_it_dies(fake):
    lacking = {"lacking_flags": ["amx_tile", "avx512f"], "code_sha256": hash_code()}
    fake("podman", answer(DESCRIPTION | lacking))
    runner = choose_runner("podman", read_builds())
    assert runner.machines == {}
    needs = "the CPU flags amx_tile, avx512f, which this CPU lacks: it would die of SIGILL"
    assert runner.lacking["pip"] == needs


def test_a_build_for_a_gpu_needs_one(fake):
    fake(
        "podman", answer(DESCRIPTION | {"code_sha256": hash_code()}, "localhost/kerascost-pip-gpu")
    )
    assert choose_runner("podman", read_builds()).lacking["pip-gpu"] == NO_GPU
    fake("nvidia-smi", "echo 'GPU 0: Tesla K80 (UUID: GPU-c43b0acd-16a5-e464-7b56-6a27600c1aaf)'")
    runner = choose_runner("podman", read_builds())
    assert set(runner.machines) == {"pip-gpu"}
    assert runner.gpu == "Tesla K80"


@pytest.mark.parametrize(
    ("software", "difference"),
    [
        ({"keras": "3.15.1"}, "Keras 2.14.0 and 3.15.1"),
        ({"tensorflow": "2.15.0"}, "TensorFlow 2.14.0 and 2.15.0"),
        ({"python": "3.11.7"}, "Python 3.11.2 and 3.11.7"),
    ],
)
def test_builds_of_different_versions_are_not_compared(software, difference):
    runner = Runner(None, machines={"pip": machine(), "pip-xla": machine(**software)})
    with pytest.raises(DeclaredError, match=rf"pip and pip-xla would not be .*: {difference}"):
        check_comparable(plan(), runner)


def test_builds_that_differ_in_the_wheel_are_compared():
    runner = Runner(None, machines={"pip": machine(), "pip-xla": machine(wheel_sha256="ff")})
    check_comparable(plan(), runner)


def test_a_machines_description():
    found = read_machine(json.dumps(DESCRIPTION), "docker")
    assert found.software.runner == "docker"
    assert found.software.wheel_sha256 == "ff"
    assert found.cpu_model == "A CPU"
    for text in ("", "[]", "{}", '{"software": {}, "hardware": 1}', '{"software": {"x": 1}}'):
        with pytest.raises(ValueError, match=r"."):
            read_machine(text, "docker")


def test_an_engine_to_build_images(fake):
    with pytest.raises(EngineError, match=r"RUNNER=auto: docker version: .*; podman info: "):
        choose_engine("auto")
    with pytest.raises(EngineError, match="RUNNER=host: the host needs no images"):
        choose_engine("host")
    fake("podman", "echo 4.3.1")
    assert choose_engine("auto").name == "podman"
