"""Ties a training process to the launcher that started it: neither is timed beside an orphan."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import threading
import time

_PR_SET_PDEATHSIG = 1
_PARENT = "KERASCOST_PARENT"
_LOCK = "KERASCOST_LOCK"
# What a run may take to end when it is asked to; the epochs that it finished are on disk.
_PATIENCE_S = 10.0
_KILLED = 128 + signal.SIGKILL


def end_with_launcher() -> None:
    """Have this process end when its launcher dies; without one, nothing is done."""
    _end_with_parent()
    _end_with_lock()


def _end_with_parent() -> None:
    """Have this process killed when its parent dies, on Linux (prctl(2)).

    Each finished epoch is on disk by then.
    """
    parent = os.environ.get(_PARENT)
    if parent is None:
        return
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    # It may have died before the call.
    if parent.isdigit() and os.getppid() != int(parent):
        os.kill(os.getpid(), signal.SIGKILL)


def _end_with_lock() -> None:
    """Have this process end when nobody holds the campaign's lock any more (flock(2)).

    A container's parent is its engine, which outlives the launcher; the launcher's lock doesn't.
    Where it isn't seen to be held (another kernel holds it), nothing is done.
    """
    path = os.environ.get(_LOCK)
    if path is None:
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        threading.Thread(target=_wait_for_lock, args=(descriptor,), daemon=True).start()
    except OSError:
        return
    else:
        os.close(descriptor)


def _wait_for_lock(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    # The next launcher waits for it, and then removes what is left of this run.
    os.close(descriptor)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE_S)
    # The first process of a container can't kill itself.
    os._exit(_KILLED)
