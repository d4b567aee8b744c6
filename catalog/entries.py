"""The catalog's instances and builds, typed, as its YAML files have them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from catalog.declared import Declared, read_declared

CATALOG = Path(__file__).parent
_LOCAL = re.compile(r"local-([1-9][0-9]*)")
_ANY_SIZE = "local-N"
LOCAL_GPU = "local-gpu"
"""The instance that is this machine with the first of its GPUs."""


class Instance(Declared):
    """A machine type. ``made_of`` names what price lists have apart: a GPU and its host.

    ``vcpus`` is ``N`` for those that are named after their size, ``all`` for a whole machine.
    """

    title: str
    provider: str
    vcpus: int | Literal["N", "all"]
    memory_gib: float | None = Field(default=None, gt=0)
    accelerator: str | None = None
    made_of: tuple[str, ...] = ()
    note: str = ""


class Build(Declared):
    """How TensorFlow was built and switched.

    Attributes:
        title: its name for readers.
        in_words: what a sentence calls it, after "16 vCPUs with".
        wheel: which wheel it is.
        environment: the variables that a run has.
        jit_compile: whether Keras compiles the training step with XLA.
        compiled: whether its TensorFlow was compiled for a CPU.
        image: the name of its image, as in ``localhost/kerascost-pip``.
        gpu: whether it trains on a GPU, and so on instances with one alone.
        needs: why the host alone is not enough.
    """

    title: str
    in_words: str
    wheel: str
    environment: dict[str, str]
    jit_compile: bool
    compiled: bool
    image: str
    gpu: bool = False
    needs: str = ""


class Wheel(Declared):
    """A wheel of TensorFlow that a compiled image may be made of.

    Attributes:
        lock: the compiled image's requirements, a file of ``requirements/``.
        pip_lock: those of the pip image of the same version.
        flags: how it was built, in words.
        cpu_flags: what its code needs of a CPU, as ``/proc/cpuinfo`` has it.
        source: where it is from.
    """

    lock: str
    pip_lock: str
    flags: str
    cpu_flags: tuple[str, ...]
    source: str


class _Wheels(Declared):
    wheels: dict[str, Wheel]


class _Instances(Declared):
    instances: dict[str, Instance]


class _Builds(Declared):
    builds: dict[str, Build]


def _check_size(entries: _Instances) -> _Instances:
    for name, entry in entries.instances.items():
        if (entry.vcpus == "N") != (name == _ANY_SIZE):
            raise ValueError(f"{name}: vcpus is N for {_ANY_SIZE} alone; give a number")
    return entries


@cache
def read_builds(path: Path = CATALOG / "builds.yml") -> dict[str, Build]:
    """Return the catalog's builds by name; raise DeclaredError for a fault in the file."""
    return read_declared(path, _Builds).builds


@cache
def read_wheels(path: Path = CATALOG / "wheels.yml") -> dict[str, Wheel]:
    """Return the catalog's wheels by ``name==version``."""
    return read_declared(path, _Wheels).wheels


@cache
def _read_instances(path: Path) -> dict[str, Instance]:
    return _check_size(read_declared(path, _Instances)).instances


def find_instance(name: str, path: Path = CATALOG / "instances.yml") -> Instance | None:
    """Return an instance by name, `local-N` of any N included; None where there is none."""
    entries = _read_instances(path)
    match = _LOCAL.fullmatch(name)
    if match and _ANY_SIZE in entries:
        size = int(match[1])
        title = "1 vCPU of this machine" if size == 1 else f"{size} vCPUs of this machine"
        return entries[_ANY_SIZE].model_copy(update={"vcpus": size, "title": title})
    return entries.get(name) if name != _ANY_SIZE else None


def list_local_instances(cpus: int) -> list[str]:
    """Return the names of this machine's instances: 1, 2, 4 … vCPUs, all of them, and its GPU."""
    sizes = {1 << power for power in range(cpus.bit_length())} | {cpus}
    return [f"local-{size}" for size in sorted(sizes)] + [LOCAL_GPU]


def list_instances(cpus: int, path: Path = CATALOG / "instances.yml") -> list[str]:
    """Return the names of all instances, this machine's included, for messages."""
    named = {name for name in _read_instances(path) if name != _ANY_SIZE}
    return sorted(named | set(list_local_instances(cpus)))
