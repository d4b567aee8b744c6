"""Chooses where runs are made: in containers of an engine that answers, or on the host."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.declared import DeclaredError
from launcher.engines import ENGINES, Engine, EngineError, Image, find_engine, find_image
from launcher.host import describe_machine
from launcher.jobs import Machine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog.entries import Build
    from launcher.engines import EngineName

RUNNERS = ("auto", *ENGINES, "host")
_PREFIX = "localhost/kerascost-"
# Asked inside, where the packages are; importing TensorFlow would take seconds.
_PROBE = """
import json, pathlib, re, sys
from importlib.metadata import distributions
report = json.loads(pathlib.Path(sys.prefix, "kerascost-install.json").read_text())
plain = lambda name: re.sub("[-_.]+", "-", name).lower()
hashes = {plain(item["metadata"]["name"]): item["download_info"]["archive_info"]["hashes"]
          for item in report["install"]}
found = {plain(item.metadata["Name"]): item.version for item in distributions()}
name = next((n for n in ("tensorflow-cpu", "tensorflow", "intel-tensorflow") if n in found), None)
print(json.dumps({"tensorflow": found.get(name), "keras": found.get("keras"),
                  "wheel_sha256": hashes.get(name, {}).get("sha256")}))
"""


@dataclass(frozen=True)
class Runner:
    """Where runs are made.

    Attributes:
        engine: the engine of the containers; None is the host.
        images: the images that are there, by their name in the catalog.
        machines: what a run of each build would be made with; builds that can't be run here are
            left out.
        reason: why it was chosen, in a line.
    """

    engine: Engine | None
    images: Mapping[str, Image] = field(default_factory=dict)
    machines: Mapping[str, Machine] = field(default_factory=dict)
    reason: str = ""


def image_name(image: str) -> str:
    """Return the engine's name of an image of the catalog: ``localhost/kerascost-pip``."""
    return f"{_PREFIX}{image}"


def choose_runner(wanted: str, builds: Mapping[str, Build]) -> Runner:
    """Return where runs are made.

    Args:
        wanted: ``docker``, ``podman`` or ``host``; ``auto`` takes the first engine that answers
            and has one of the images, else the host.
        builds: the catalog's.

    Raises:
        DeclaredError: where an engine that was asked for doesn't answer, or has no image.
    """
    if wanted == "host":
        return _run_on_host(builds, "on the host, as asked")
    reasons = []
    for name in ENGINES:
        if wanted not in ("auto", name):
            continue
        try:
            return _run_in_containers(name, builds)
        except EngineError as error:
            reasons.append(str(error))
    if wanted != "auto":
        mend = "mend that, or take RUNNER=host"
        raise DeclaredError(f"RUNNER={wanted}", None, reasons[0], mend)
    return _run_on_host(builds, f"on the host ({'; '.join(reasons)})")


def _run_on_host(builds: Mapping[str, Build], reason: str) -> Runner:
    here = describe_machine()
    machines = {name: here for name, build in builds.items() if not build.needs}
    return Runner(None, {}, machines, reason)


def _run_in_containers(name: EngineName, builds: Mapping[str, Build]) -> Runner:
    engine = find_engine(name)
    images = {
        image: found
        for image in sorted({build.image for build in builds.values()})
        if (found := find_image(engine, image_name(image)))
    }
    if not images:
        wanted = " or ".join(sorted({image_name(build.image) for build in builds.values()}))
        raise EngineError(f"{name} {engine.version} answers, and has no {wanted}: make images")
    known = {image: _probe(engine, found) for image, found in images.items()}
    machines = {
        build: known[entry.image] for build, entry in builds.items() if entry.image in known
    }
    return Runner(engine, images, machines, f"in containers of {name} {engine.version}")


def _probe(engine: Engine, image: Image) -> Machine:
    """Return what a run in an image would be made with."""
    command = ["run", "--rm", "--network", "none", image.digest, "python", "-c", _PROBE]
    try:
        found = json.loads(engine.run(*command))
    except ValueError:
        raise EngineError(f"{engine.name}: {image.name} is no image of this project") from None
    return Machine(
        describe_machine().cpu_model,
        found["tensorflow"],
        found["keras"],
        found["wheel_sha256"],
        in_container=True,
    )
