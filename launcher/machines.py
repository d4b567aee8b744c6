"""What a run of a build would be made with: as ``python -m models describe`` says it there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from models.run import Software


@dataclass(frozen=True)
class Machine:
    """What a run would be made with; None where it is unknown.

    ``lacking_flags`` are CPU flags that its TensorFlow needs and the CPU lacks; ``code_sha256``
    tells which version of ``models/`` would make it.
    """

    software: Software = field(default_factory=Software)
    cpu_model: str | None = None
    lacking_flags: tuple[str, ...] = ()
    code_sha256: str | None = None


def read_machine(text: str, runner: str) -> Machine:
    """Return the machine that a description names.

    Args:
        text: what ``describe`` printed.
        runner: ``host``, or the engine of the container that printed it.

    Raises:
        ValueError: where the text is none, such as that of an older image.
    """
    try:
        record = json.loads(text)
        return Machine(
            software=Software.model_validate(record["software"] | {"runner": runner}),
            cpu_model=record["hardware"]["cpu_model"],
            lacking_flags=tuple(record["lacking_flags"]),
            code_sha256=record["code_sha256"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no description: {error}") from None
