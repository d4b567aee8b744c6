"""The images themselves: labels, layers, users, and what must never be in them."""

import configparser
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from launcher import images
from launcher.engines import EngineError, find_engine, find_image
from launcher.images import Recipe, Wanted, build_image, list_recipes
from launcher.runners import image_name
from tests.conftest import ROOT

pytestmark = pytest.mark.containers

MARKER = "kerascost-marker-8f1c2d"
NAMES = ("pip", "compiled")


@pytest.fixture(scope="module")
def podman():
    return find_engine("podman")


def inspect(engine, name):
    return json.loads(engine.run("image", "inspect", name))[0]


def contains(image, text):
    """Return whether a text stands anywhere in an image: in its layers or its record."""
    wanted, last = text.encode(), b""
    command = ["podman", "save", "--format", "docker-archive", image]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while chunk := process.stdout.read(1 << 24):
            if wanted in last + chunk:
                process.kill()
                return True
            last = chunk[-len(wanted) :]
    assert process.returncode == 0
    return False


@pytest.mark.parametrize("name", NAMES)
def test_an_image_says_what_is_in_it(podman, name):
    labels = inspect(podman, image_name(name))["Config"]["Labels"]
    wheel = {"pip": "tensorflow==2.14.0", "compiled": "intel-tensorflow==2.14.0"}[name]
    assert labels["kerascost.image"] == name
    assert labels["kerascost.tensorflow"] == wheel
    assert labels["kerascost.tensorflow-flags"] not in ("", "unknown")
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", labels["org.opencontainers.image.revision"])


@pytest.mark.parametrize("name", NAMES)
def test_its_user_is_not_root(podman, name):
    assert inspect(podman, image_name(name))["Config"]["User"] == "kerascost"


def test_the_package_index_of_this_machine_is_in_no_image():
    config = configparser.ConfigParser(strict=False)
    config.read(["/etc/pip.conf", Path.home() / ".config/pip/pip.conf"])
    addresses = [config.get("global", "index-url", fallback=""), os.environ.get("PIP_INDEX_URL")]
    own = [text for text in addresses if text and "//pypi.org/" not in text]
    if not own:
        pytest.skip("this machine takes its packages from PyPI")
    for name in NAMES:
        for text in own:
            assert not contains(image_name(name), text), (name, text)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a copy of what images are built of, which builds are then made of."""
    folder = tmp_path / "project"
    for part in ("docker", "models", "requirements"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".dockerignore", folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(images, "ROOT", folder)
    monkeypatch.setattr(images, "image_name", lambda name: f"localhost/kerascost-test-{name}")
    yield folder
    subprocess.run(
        ["podman", "rmi", "--force", "localhost/kerascost-test-pip"],
        capture_output=True,
        check=False,
    )


def test_a_change_in_models_makes_one_layer_anew(podman, project):
    recipe = list_recipes(Wanted(), has_gpu=False)[0]
    (project / "models" / "__init__.py").write_text('"""Changed."""\n', encoding="utf-8")
    build_image(podman, recipe, images.OWN_BASE)
    before = inspect(podman, image_name("pip"))["RootFS"]["Layers"]
    after = inspect(podman, "localhost/kerascost-test-pip")["RootFS"]["Layers"]
    assert after[:-1] == before[:-1]
    assert after[-1] != before[-1]


def test_settings_are_mounted_for_the_build_and_stay_out(podman, project, monkeypatch):
    conf = project.parent / "pip.conf"
    own = Path("/etc/pip.conf")
    conf.write_text((own.read_text() if own.exists() else "") + f"\n# {MARKER}\n", encoding="utf-8")
    engine_conf = os.environ.get("CONTAINERS_CONF")
    text = Path(engine_conf).read_text(encoding="utf-8") if engine_conf else "[containers]\n"
    mounted = re.search(r"^volumes = \[(.*)\]$", text, re.MULTILINE)
    volumes = [
        part for part in (mounted[1].split(", ") if mounted else []) if "pip.conf" not in part
    ]
    volumes.append(f'"{conf}:/etc/pip.conf:ro"')
    line = f"volumes = [{', '.join(volumes)}]"
    text = text.replace(mounted[0], line) if mounted else text + line + "\n"
    (project.parent / "containers.conf").write_text(text, encoding="utf-8")
    monkeypatch.setenv("CONTAINERS_CONF", str(project.parent / "containers.conf"))
    # One small package, and a step that fails where the settings aren't there.
    lock = (ROOT / "requirements" / "image-tensorflow-2.14.0.txt").read_text(encoding="utf-8")
    small = re.search(r"^typing-extensions==.*?(?=^\S)", lock, re.MULTILINE | re.DOTALL)
    (project / "requirements" / "small.txt").write_text(small[0], encoding="utf-8")
    dockerfile = project / "docker" / "pip" / "Dockerfile"
    steps = dockerfile.read_text(encoding="utf-8")
    mark = "RUN python3 -m venv"
    steps = steps.replace(
        mark, f"RUN grep -q $(printf '%s-%s' kerascost marker) /etc/pip.conf\n{mark}"
    )
    dockerfile.write_text(steps, encoding="utf-8")
    recipe = Recipe("pip", "docker/pip/Dockerfile", {"REQUIREMENTS": "small.txt"})
    build_image(podman, recipe, images.OWN_BASE)
    assert contains("localhost/kerascost-test-pip", "typing_extensions")
    assert not contains("localhost/kerascost-test-pip", MARKER)


def test_a_build_that_fails_says_why_in_a_line(engine, project):
    recipe = Recipe("pip", "docker/pip/Dockerfile", {"REQUIREMENTS": "none.txt"})
    with pytest.raises(EngineError, match=r"can't build pip: .*none\.txt") as error:
        build_image(engine, recipe, images.OWN_BASE)
    assert "\n" not in str(error.value)
    log = project / "build" / "images" / "pip.log"
    assert "none.txt" in log.read_text(encoding="utf-8")
    assert find_image(engine, "localhost/kerascost-test-pip") is None
