"""What a run of a build would be made with: as ``python -m models describe`` says it there."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """What a run would be made with; None where it is unknown.

    ``lacking_flags`` are CPU flags that its TensorFlow needs and the CPU lacks; ``code_sha256``
    tells which version of ``models/`` would make it.
    """

    cpu_model: str | None = None
    tensorflow: str | None = None
    keras: str | None = None
    python: str | None = None
    python_build: str | None = None
    wheel_sha256: str | None = None
    in_container: bool = False
    lacking_flags: tuple[str, ...] = ()
    code_sha256: str | None = None


def read_machine(text: str, *, in_container: bool) -> Machine:
    """Return the machine that a description names.

    Raises:
        ValueError: where the text is none, such as that of an older image.
    """
    try:
        record = json.loads(text)
        software = record["software"]
        return Machine(
            cpu_model=record["hardware"]["cpu_model"],
            tensorflow=software["tensorflow"],
            keras=software["keras"],
            python=software["python"],
            python_build=software["python_build"],
            wheel_sha256=software["wheel_sha256"],
            in_container=in_container,
            lacking_flags=tuple(record["lacking_flags"]),
            code_sha256=record["code_sha256"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no description: {error}") from None


def find_difference(one: Machine, other: Machine) -> str:
    """Return in which software two machines differ whose runs are to be compared; empty: none.

    As in ``Keras 2.14.0 and 3.15.1``. What is unknown is no difference, and the wheel is what
    builds are compared for.
    """
    pairs = (
        ("TensorFlow", one.tensorflow, other.tensorflow),
        ("Keras", one.keras, other.keras),
        ("Python", one.python, other.python),
        ("Python built", one.python_build, other.python_build),
    )
    differing = (
        f"{name} {ours} and {theirs}"
        for name, ours, theirs in pairs
        if ours != theirs and None not in (ours, theirs)
    )
    return next(differing, "")
