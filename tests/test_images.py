"""Which images are built, of what, and how a failure is told: without building one."""

import json

import pytest

from catalog.declared import DeclaredError
from catalog.entries import read_wheels
from launcher import images
from launcher.engines import Engine, EngineError
from launcher.images import Recipe, Wanted, build_image, choose_base, list_recipes
from tests.conftest import ROOT

HEX = "a" * 64
PODMAN = Engine("podman", "4.3.1")


def summary(wanted, **more):
    """Return each recipe's image, requirements and TensorFlow."""
    return [
        (recipe.image, recipe.arguments["REQUIREMENTS"], recipe.arguments["TENSORFLOW"])
        for recipe in list_recipes(wanted, has_gpu=more.get("has_gpu", False))
    ]


def todays():
    """Return the version of TensorFlow that the pip image of today has, read by hand."""
    lines = (ROOT / "requirements" / "image.txt").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith("tensorflow-cpu==")]
    return line.partition("==")[2].split()[0]


def test_by_default_a_wheel_that_was_compiled_otherwise():
    assert summary(Wanted()) == [
        ("pip", "image-tensorflow-2.14.0.txt", "tensorflow==2.14.0"),
        ("compiled", "image-intel-tensorflow-2.14.0.txt", "intel-tensorflow==2.14.0"),
    ]
    compiled = list_recipes(Wanted(), has_gpu=False)[1]
    assert compiled.arguments["WHEEL_FROM"] == "given"
    assert compiled.arguments["CPU_FLAGS"] == "avx"


def test_without_a_wheel_todays_pip_alone():
    tensorflow = f"tensorflow-cpu=={todays()}"
    assert summary(Wanted(wheel="none")) == [("pip", "image.txt", tensorflow)]


def test_with_a_gpu_both_pip_images_of_one_version():
    pip, gpu = summary(Wanted(), has_gpu=True)
    assert pip[:2] == ("pip", "image.txt")
    assert gpu[:2] == ("pip-gpu", "image-gpu.txt")
    assert pip[2].partition("==")[2] == gpu[2].partition("==")[2] == todays()


def test_from_source_it_is_compiled_for_a_cpu():
    recipes = list_recipes(Wanted("source", sha256=HEX, march="skylake-avx512"), has_gpu=False)
    assert [recipe.image for recipe in recipes] == ["pip", "compiled"]
    arguments = recipes[1].arguments
    assert arguments["WHEEL_FROM"] == "source"
    assert (arguments["TF_VERSION"], arguments["TF_SHA256"]) == (todays(), HEX)
    assert arguments["MARCH"] == "skylake-avx512"
    assert arguments["TENSORFLOW_FLAGS"] == "--config=opt -march=skylake-avx512"
    older = list_recipes(Wanted("source", "2.14.0", HEX), has_gpu=False)
    assert {r.arguments["REQUIREMENTS"] for r in older} == {"image-tensorflow-2.14.0.txt"}


def test_a_wheel_of_ones_own(tmp_path):
    wheel = tmp_path / "tensorflow_cpu-2.14.0-cp311-cp311-linux_x86_64.whl"
    wheel.write_bytes(b"")
    pip, compiled = list_recipes(Wanted(str(wheel), cpu_flags="avx2 avx512f"), has_gpu=False)
    assert pip.arguments["REQUIREMENTS"] == "image-tensorflow-2.14.0.txt"
    assert compiled.wheel == wheel
    assert compiled.arguments["TENSORFLOW"] == wheel.name
    assert compiled.arguments["CPU_FLAGS"] == "avx2 avx512f"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("source"), "needs the SHA-256 of v.*; give it: TF_SHA256="),
        (Wanted("source", "2.13.0", HEX), "no pip image of TensorFlow 2.13.0 to compare with"),
        (Wanted("intel-tensorflow==2.14"), "did you mean 'intel-tensorflow==2.14.0'"),
        (Wanted("none-such/tensorflow-2.14.0-cp311.whl"), "no such file"),
        (Wanted("tensorflow.whl"), "no version in its name"),
    ],
)
def test_what_cannot_be_built_is_one_line(wanted, said):
    with pytest.raises(DeclaredError, match=said) as error:
        list_recipes(wanted, has_gpu=False)
    assert "\n" not in str(error.value)


def test_every_wheel_of_the_catalog_has_its_requirements():
    for name, wheel in read_wheels().items():
        lock = (ROOT / "requirements" / wheel.lock).read_text(encoding="utf-8")
        assert f"\n{name} " in f"\n{lock}"
        version = name.partition("==")[2]
        pip_lock = (ROOT / "requirements" / wheel.pip_lock).read_text(encoding="utf-8")
        assert f"\ntensorflow=={version} " in f"\n{pip_lock}"


def test_a_failed_build_is_the_engines_last_line_and_a_log(fake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(images, "ROOT", tmp_path)
    fake("podman", 'echo "STEP 4/9"; echo "Error: no space left on device" >&2; exit 125')
    with pytest.raises(EngineError) as error:
        build_image(PODMAN, Recipe("pip", "docker/pip/Dockerfile"), "")
    said = "podman can't build pip: Error: no space left on device; all of it: build/images/pip.log"
    assert str(error.value) == said
    assert "STEP 4/9" in (tmp_path / "build/images/pip.log").read_text(encoding="utf-8")


def test_a_build_that_leaves_no_image_has_failed_whatever_its_exit_code(
    fake, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(images, "ROOT", tmp_path)
    fake("podman", 'test "$1" = build')
    with pytest.raises(EngineError, match="can't build pip: exit code 0"):
        build_image(PODMAN, Recipe("pip", "docker/pip/Dockerfile"), "")


def test_the_command_line_of_a_build(fake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(images, "ROOT", tmp_path)
    monkeypatch.setattr(images, "read_git", lambda: ("c0ffee", True))
    wheel = tmp_path / "tensorflow-2.14.0-cp311.whl"
    wheel.write_bytes(b"a wheel")
    record = json.dumps([{"Id": "b" * 64, "Size": 7}])
    fake("podman", f"""case "$1" in build) echo "$@" ;; image) echo '{record}' ;; esac""")
    recipe = Recipe("compiled", "docker/compiled/Dockerfile", {"MARCH": "native"}, wheel)
    built, _ = build_image(PODMAN, recipe, "localhost/base")
    assert (built.digest, built.size) == (f"sha256:{'b' * 64}", 7)
    line = (tmp_path / "build/images/compiled.log").read_text(encoding="utf-8").strip()
    assert line == (
        "build --file docker/compiled/Dockerfile "
        "--label org.opencontainers.image.revision=c0ffee-dirty "
        "--build-arg MARCH=native --build-arg BASE_IMAGE=localhost/base "
        "--tag localhost/kerascost-compiled ."
    )
    assert (tmp_path / "build/wheels" / wheel.name).read_bytes() == b"a wheel"


def test_a_base_that_was_made_here_is_taken(fake):
    assert choose_base(PODMAN, "debian:12") == "debian:12"
    assert choose_base(PODMAN, "") == ""
    fake("podman", f"echo '{json.dumps([{'Id': 'b' * 64}])}'")
    assert choose_base(PODMAN, "") == "localhost/kerascost-base"
