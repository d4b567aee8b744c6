"""Builds the images that runs are made in: which, of what, and how it went."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.declared import DeclaredError, suggest
from catalog.entries import read_wheels
from launcher.engines import EngineError, find_image
from launcher.host import read_git
from launcher.runners import image_name
from launcher.workloads import ROOT

if TYPE_CHECKING:
    from launcher.engines import Engine, Image

OWN_BASE = image_name("base")
"""The base image that ``make base-image`` makes; it is taken where it is there."""

_LOCKS = ROOT / "requirements"
_TODAYS, _TODAYS_GPU = "image.txt", "image-gpu.txt"
_WHEELS = Path("build/wheels")
_LOGS = Path("build/images")
_TENSORFLOW = re.compile(r"^(tensorflow(?:-cpu)?)==(\S+)", re.MULTILINE)
_WHEEL_FILE = re.compile(r"[A-Za-z_]+-(\d+\.\d+\.\d+)-.+\.whl")


@dataclass(frozen=True)
class Wanted:
    """What the compiled image's TensorFlow is to be: ``make images TF_WHEEL=…``.

    Attributes:
        wheel: a wheel of the catalog (``name==version``), a file, ``source`` to compile one, or
            ``none``; where empty, the catalog's first, or none where there is a GPU.
        version: the version to compile; that of today's requirements where empty.
        sha256: of the source archive of that version.
        march: the CPU to compile for, as gcc names it.
        cpu_flags: what a wheel's file needs of a CPU, as ``/proc/cpuinfo`` has it.
    """

    wheel: str = ""
    version: str = ""
    sha256: str = ""
    march: str = "native"
    cpu_flags: str = ""


@dataclass(frozen=True)
class Recipe:
    """An image to build: its name in the catalog, its Dockerfile, and the arguments of that."""

    image: str
    dockerfile: str
    arguments: dict[str, str] = field(default_factory=dict)
    wheel: Path | None = None


def list_recipes(wanted: Wanted, *, has_gpu: bool, locks: Path = _LOCKS) -> list[Recipe]:
    """Return the images to build: all of one version of TensorFlow, or they'd not compare.

    Raises:
        DeclaredError: where there is no such wheel, or no pip image of its version.
    """
    wheels = read_wheels()
    # No version has both a wheel of the catalog and one for a GPU.
    wheel = wanted.wheel or ("none" if has_gpu else next(iter(wheels)))
    if wheel == "none":
        recipes = [_pip_recipe(_TODAYS, locks)]
        return recipes + ([_pip_recipe(_TODAYS_GPU, locks, "pip-gpu")] if has_gpu else [])
    if wheel in wheels:
        entry = wheels[wheel]
        compiled = {
            "WHEEL_FROM": "given",
            "REQUIREMENTS": entry.lock,
            "TENSORFLOW": wheel,
            "TENSORFLOW_FLAGS": entry.flags,
            "CPU_FLAGS": " ".join(entry.cpu_flags),
        }
        return [_pip_recipe(entry.pip_lock, locks), _compiled_recipe(compiled)]
    if wheel == "source":
        version = wanted.version or _read_version(locks / _TODAYS)[1]
        if not wanted.sha256:
            reason = f"compiling TensorFlow {version} needs the SHA-256 of v{version}.tar.gz"
            raise DeclaredError("TF_WHEEL=source", None, reason, "give it: TF_SHA256=…")
        lock = _find_lock(version, locks)
        compiled = {
            "WHEEL_FROM": "source",
            "REQUIREMENTS": lock,
            "TF_VERSION": version,
            "TF_SHA256": wanted.sha256,
            "MARCH": wanted.march,
            "TENSORFLOW": f"{version}, compiled from source",
            "TENSORFLOW_FLAGS": f"--config=opt -march={wanted.march}",
        }
        return [_pip_recipe(lock, locks), _compiled_recipe(compiled)]
    if not wheel.endswith(".whl"):
        raise DeclaredError(
            f"TF_WHEEL={wheel}",
            None,
            "no wheel of catalog/wheels.yml, and no file",
            f"{suggest(wheel, [*wheels, 'source', 'none'])}, or name a .whl",
        )
    match = _WHEEL_FILE.fullmatch(Path(wheel).name)
    if not match or not Path(wheel).is_file():
        reason = "no such file" if match else "no version in its name"
        raise DeclaredError(f"TF_WHEEL={wheel}", None, reason, "name a wheel of TensorFlow")
    lock = _find_lock(match[1], locks)
    compiled = {
        "WHEEL_FROM": "given",
        "REQUIREMENTS": lock,
        "TENSORFLOW": Path(wheel).name,
        "TENSORFLOW_FLAGS": "those of the given wheel",
        "CPU_FLAGS": wanted.cpu_flags,
    }
    return [_pip_recipe(lock, locks), _compiled_recipe(compiled, Path(wheel))]


def _pip_recipe(lock: str, locks: Path, image: str = "pip") -> Recipe:
    arguments = {
        "IMAGE": image,
        "REQUIREMENTS": lock,
        "TENSORFLOW": "==".join(_read_version(locks / lock)),
    }
    return Recipe(image, "docker/pip/Dockerfile", arguments)


def _compiled_recipe(arguments: dict[str, str], wheel: Path | None = None) -> Recipe:
    return Recipe("compiled", "docker/compiled/Dockerfile", arguments, wheel)


def _find_lock(version: str, locks: Path) -> str:
    """Return the pip image's requirements for a version of TensorFlow."""
    if _read_version(locks / _TODAYS)[1] == version:
        return _TODAYS
    name = f"image-tensorflow-{version}.txt"
    if not (locks / name).is_file():
        reason = f"no pip image of TensorFlow {version} to compare with"
        mend = f"write requirements/{name.removesuffix('.txt')}.in like its neighbours; make lock"
        raise DeclaredError(locks / name, None, reason, mend)
    return name


def _read_version(lock: Path) -> tuple[str, str]:
    """Return the name and version of a lock's TensorFlow."""
    found = dict(_TENSORFLOW.findall(lock.read_text(encoding="utf-8")))
    name = "tensorflow-cpu" if "tensorflow-cpu" in found else "tensorflow"
    if name not in found:
        raise DeclaredError(lock, None, "no TensorFlow in it", "make lock")
    return name, found[name]


def build_image(engine: Engine, recipe: Recipe, base: str) -> tuple[Image, float]:
    """Build an image; return it, and the seconds that took.

    Args:
        engine: what builds it.
        recipe: which.
        base: the image that it is built on; the Dockerfile's own where empty.

    Raises:
        EngineError: where it can't be built; all that the engine said is in a log.
    """
    shutil.rmtree(_WHEELS, ignore_errors=True)
    _WHEELS.mkdir(parents=True)
    if recipe.wheel:
        shutil.copy(recipe.wheel, _WHEELS)
    commit, dirty = read_git()
    command = [engine.name, "build", "--file", recipe.dockerfile]
    # As an argument of the Dockerfile it would be the one that podman's cache has seen first.
    revision = f"{commit or 'unknown'}{'-dirty' if dirty else ''}"
    command += ["--label", f"org.opencontainers.image.revision={revision}"]
    arguments = recipe.arguments | ({"BASE_IMAGE": base} if base else {})
    for name, value in arguments.items():
        command += ["--build-arg", f"{name}={value}"]
    command += ["--tag", image_name(recipe.image), "."]
    log = _LOGS / f"{recipe.image}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with log.open("wb") as output:
        code = subprocess.run(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    # Engines differ in the exit codes of builds that fail; none says what failed.
    built = None if code else find_image(engine, image_name(recipe.image))
    if built is None:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        said = lines[-1].strip() if lines else f"exit code {code}"
        raise EngineError(f"{engine.name} can't build {recipe.image}: {said}; all of it: {log}")
    return built, time.monotonic() - begin


def choose_base(engine: Engine, base: str) -> str:
    """Return what images are built on: what is asked for, else a base made here, else empty."""
    return base or (OWN_BASE if find_image(engine, OWN_BASE) else "")
