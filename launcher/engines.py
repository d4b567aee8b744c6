"""Container engines: docker and podman by one command line; where they differ, it is here."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

EngineName = Literal["docker", "podman"]
ENGINES: tuple[EngineName, ...] = ("docker", "podman")
# An engine that doesn't answer at once has no daemon behind it.
_PATIENCE_S = 20.0
# How each says its version only if there is an engine behind the command.
_ASK = {
    "docker": ("version", "--format", "{{.Server.Version}}"),
    "podman": ("info", "--format", "{{.Version.Version}}"),
}


class EngineError(RuntimeError):
    """An engine can't do what it was asked: one line what it said."""


@dataclass(frozen=True)
class Engine:
    """A container engine that answers."""

    name: EngineName
    version: str

    def run(self, *arguments: str, timeout: float | None = None) -> str:
        """Run a command of the engine; return what it prints.

        Raises:
            EngineError: where it fails, or takes longer than ``timeout`` seconds.
        """
        return _call([self.name, *arguments], timeout)


@dataclass(frozen=True)
class Image:
    """An image as the engine has it: its name, its digest (``sha256:…``), its size in bytes."""

    name: str
    digest: str
    size: int = 0


def find_engine(name: EngineName) -> Engine:
    """Return an engine by name.

    Raises:
        EngineError: where it isn't installed, or nothing answers behind it.
    """
    version = _call([name, *_ASK[name]], _PATIENCE_S).strip()
    if not version:
        raise EngineError(f"{name}: no version in its answer")
    return Engine(name, version)


def find_image(engine: Engine, name: str) -> Image | None:
    """Return an image that the engine has; None where it has none of that name."""
    try:
        text = engine.run("image", "inspect", name, timeout=_PATIENCE_S)
    except EngineError:
        return None
    record: dict[str, Any] = json.loads(text)[0]
    digest = str(record["Id"])
    # Podman leaves the algorithm out.
    digest = digest if digest.startswith("sha256:") else f"sha256:{digest}"
    return Image(name, digest, int(record.get("Size", 0)))


def gpu_arguments(engine: Engine) -> list[str]:
    """Return the arguments of ``run`` that give a container the machine's first GPU.

    Podman takes ``--gpus`` without a word and does nothing; both need NVIDIA's container toolkit.
    """
    if engine.name == "docker":
        return ["--gpus", "device=0"]
    return ["--device", "nvidia.com/gpu=0"]


def exit_state(engine: Engine, container: str) -> tuple[int, bool] | None:
    """Return a container's exit code, and whether it ran out of memory; None where it is gone.

    The client's own exit code is not asked: through podman's socket ``docker run`` returns 0
    for a container that failed.
    """
    try:
        text = engine.run("container", "inspect", container, timeout=_PATIENCE_S)
    except EngineError:
        return None
    state = json.loads(text)[0]["State"]
    return int(state["ExitCode"]), bool(state.get("OOMKilled"))


def _call(command: Sequence[str], timeout: float | None) -> str:
    try:
        # Where a container runs out of memory, podman's monitor leaves a file where it was started.
        with tempfile.TemporaryDirectory() as place:
            result = subprocess.run(
                command,
                cwd=place,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout,
                check=False,
            )
    except FileNotFoundError:
        raise EngineError(f"{command[0]}: not installed") from None
    except subprocess.TimeoutExpired:
        raise EngineError(f"{command[0]} {command[1]}: no answer in {timeout:g} s") from None
    if result.returncode:
        lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
        reason = lines[-1] if lines else f"exit code {result.returncode}"
        raise EngineError(f"{command[0]} {command[1]}: {reason}")
    return result.stdout
