"""What a run runs on and in: CPU, memory, versions, and the wheel that pip installed."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from models.manifest import Hardware, Software

_CPUINFO = Path("/proc/cpuinfo")
# pip's report of the installation, kept where the environment is (see the Makefile).
_INSTALL_REPORT = "kerascost-install.json"
# What a TensorFlow that was compiled for some CPU needs of it, one line, as /proc/cpuinfo says it.
_CPU_FLAGS = "kerascost-cpu-flags.txt"
_TENSORFLOW = (
    "tensorflow-cpu",
    "tensorflow",
    "intel-tensorflow",
    "tensorflow-intel",
    "tf-nightly",
)


def use_cpus(count: int | None) -> None:
    """Bind this process to a number of the CPUs that it may use; None binds nothing.

    The last ones are taken: the first CPU serves the machine's interrupts.

    Raises:
        ValueError: where there are fewer.
    """
    available = sorted(os.sched_getaffinity(0))
    if count is None:
        return
    if count > len(available):
        raise ValueError(f"{count} vCPUs are asked for, and {len(available)} are here")
    os.sched_setaffinity(0, set(available[-count:]))


def describe_hardware(vcpus: int | None = None, gpu: str | None = None) -> Hardware:
    """Return the machine: its CPU's model and flags, its memory in bytes, what is in use of it."""
    model, flags = _read_cpu()
    return Hardware(
        cpu_model=model,
        cpu_flags=flags,
        vcpus=vcpus or len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        gpu=gpu,
    )


def _read_cpu(path: Path = _CPUINFO) -> tuple[str | None, tuple[str, ...]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return platform.processor() or None, ()
    fields: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = fields.get("flags") or fields.get("Features") or ""
    return fields.get("model name"), tuple(sorted(flags.split()))


def lacking_flags() -> list[str]:
    """Return the CPU flags that the installed TensorFlow needs and this CPU lacks, sorted.

    Without them it would die of SIGILL, a minute or an epoch into a run. A TensorFlow that says
    nothing of its needs, lacks nothing.
    """
    try:
        needed = (Path(sys.prefix) / _CPU_FLAGS).read_text(encoding="utf-8").split()
    except OSError:
        return []
    return sorted(set(needed) - set(_read_cpu()[1]))


def describe_software(software: Software) -> Software:
    """Return what is known of the software, completed: versions, wheel and its SHA-256."""
    name = next((name for name in _TENSORFLOW if _version(name)), None)
    wheel, sha256 = _read_wheel(Path(sys.prefix) / _INSTALL_REPORT, name)
    return software.model_copy(
        update={
            "tensorflow": _version(name) if name else None,
            "keras": _version("keras"),
            "python": platform.python_version(),
            "python_build": ", ".join([*platform.python_build(), platform.python_compiler()]),
            "wheel": wheel,
            "wheel_sha256": sha256,
        }
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _read_wheel(report: Path, package: str | None) -> tuple[str | None, str | None]:
    """Return the file name and SHA-256 of the wheel that pip's report names for a package."""
    try:
        installed: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    except (OSError, ValueError, KeyError):
        return None, None
    for item in installed:
        # A wheel may spell its name with underscores.
        if str(item.get("metadata", {}).get("name")).replace("_", "-") == package:
            download = item.get("download_info", {})
            hashes = download.get("archive_info", {}).get("hashes", {})
            return download.get("url", "").rpartition("/")[2] or None, hashes.get("sha256")
    return None, None
