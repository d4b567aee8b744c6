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


class Instance(Declared):
    """A machine type. ``made_of`` names what price lists have apart: a GPU and its host."""

    title: str
    provider: str
    vcpus: int | Literal["N"]
    memory_gib: float | None = Field(default=None, gt=0)
    accelerator: str | None = None
    made_of: tuple[str, ...] = ()
    note: str = ""


class Build(Declared):
    """How TensorFlow was built and switched; ``image`` is the folder of ``docker/`` it is in."""

    title: str
    wheel: str
    environment: dict[str, str]
    jit_compile: bool
    compiled: bool
    image: str
    needs: str = ""


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
    """Return the names of this machine's instances: 1, 2, 4 … vCPUs, and all of them."""
    sizes = {1 << power for power in range(cpus.bit_length())} | {cpus}
    return [f"local-{size}" for size in sorted(sizes)]


def list_instances(cpus: int, path: Path = CATALOG / "instances.yml") -> list[str]:
    """Return the names of all instances, this machine's included, for messages."""
    named = [name for name in _read_instances(path) if name != _ANY_SIZE]
    return sorted(named) + list_local_instances(cpus)
