"""Ties a training process to the launcher that started it: neither is timed beside an orphan."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_VARIABLE = "KERASCOST_PARENT"


def end_with_parent() -> None:
    """Have this process killed when its launcher dies, on Linux (prctl(2)).

    Each finished epoch is on disk by then. Without a launcher, or elsewhere, nothing is done.
    """
    parent = os.environ.get(_VARIABLE)
    if parent is None:
        return
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    # It may have died before the call.
    if parent.isdigit() and os.getppid() != int(parent):
        os.kill(os.getpid(), signal.SIGKILL)
