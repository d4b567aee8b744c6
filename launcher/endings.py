"""Completes the manifest of a run that ended: what its process could not say any more."""

from __future__ import annotations

import getpass
import signal
import sys
from pathlib import Path

from launcher.workloads import ROOT
from models.run import (
    Manifest,
    RunFormatError,
    Status,
    read_manifest,
    utc_now,
    write_manifest,
)

_TAIL_LINES = 20
_LONGEST_LINE = 300


def judge(folder: Path, started: Manifest, cause: str, output: bytes) -> Manifest:
    """Return a run's manifest after its process ended, completed with what that could not say.

    Args:
        folder: the run's.
        started: its manifest as it began.
        cause: how the process ended, in words.
        output: what it printed.
    """
    try:
        manifest = read_manifest(folder)
    except RunFormatError as error:
        manifest = started.with_changes(status=Status.FAILED, why=scrub(error.reason))
    if manifest.status in (Status.COMPLETE, Status.PREEMPTED):
        return manifest
    tail = _read_tail(output)
    why = manifest.why
    if manifest.status is Status.RUNNING:
        why = f"the training process ended without a word ({cause})"
    failed = manifest.with_changes(
        status=Status.FAILED,
        why=scrub(why) or "no reason given",
        output_tail=tail,
        ended_at=manifest.ended_at or utc_now(),
    )
    write_manifest(folder, failed)
    return failed


def describe_exit(code: int) -> str:
    """Return an exit code in words; a negative one, or one above 128, is that of a signal."""
    number = -code if code < 0 else code - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"exit code {code}"
    if name == "SIGILL":
        return "killed by SIGILL: its TensorFlow has instructions that this CPU lacks"
    return f"killed by {name}"


def _read_tail(output: bytes) -> tuple[str, ...]:
    lines = output.decode("utf-8", "replace").splitlines()
    # What a progress bar overwrote is not output.
    texts = [line.rpartition("\r")[2].rstrip() for line in lines]
    return tuple(scrub(text)[:_LONGEST_LINE] for text in texts if text)[-_TAIL_LINES:]


def scrub(text: str) -> str:
    """Return text without this machine's paths and its user's name: runs are published."""
    text = text.replace(str(ROOT), ".")
    text = text.replace(sys.base_prefix, "<python>")
    home = str(Path.home())
    if home not in ("/", ""):
        text = text.replace(home, "~")
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        return text
    # "root" and the like are no one's name, and stand in many a message.
    return text.replace(user, "<user>") if len(user) > 1 and user != "root" else text


def settle(folder: Path, started: Manifest, status: Status, why: str) -> None:
    """Write a status for a run whose process can't any more."""
    try:
        manifest = read_manifest(folder)
    except RunFormatError:
        manifest = started
    if manifest.status is Status.RUNNING:
        write_manifest(folder, manifest.with_changes(status=status, why=why, ended_at=utc_now()))


def settle_killed(folder: Path, manifest: Manifest) -> None:
    """Mark a run as preempted that says it is running, when nobody runs it."""
    why = "killed, or the machine stopped: it never ended"
    settle(folder, manifest, Status.PREEMPTED, why)
