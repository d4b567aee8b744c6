"""A training ends with its launcher, in whatever way that ends: no orphan is timed beside."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import ROOT

WAITING = """
import signal, sys, time
from models.parent import end_with_launcher
def stop(number, frame):
    print("asked to stop", flush=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, stop)
end_with_launcher()
print("at work", flush=True)
time.sleep(60)
"""


def start(**environment):
    return subprocess.Popen(
        [sys.executable, "-c", WAITING],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_it_is_asked_to_stop_when_nobody_holds_the_campaign(tmp_path):
    lock = tmp_path / ".lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = start(KERASCOST_LOCK=str(lock))
        assert process.stdout.readline() == "at work\n"
        assert process.poll() is None
    # Closed, and so let go.
    assert process.stdout.readline() == "asked to stop\n"
    assert process.wait(10) == 3
    process.stdout.close()
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_lock_that_nobody_holds_or_that_is_not_there_ends_nothing(tmp_path):
    (tmp_path / ".lock").touch()
    for name in (".lock", "none"):
        process = start(KERASCOST_LOCK=str(tmp_path / name))
        assert process.stdout.readline() == "at work\n"
        time.sleep(0.2)
        assert process.poll() is None
        process.kill()
        process.wait()
        process.stdout.close()


def test_it_is_killed_with_its_parent():
    script = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {WAITING!r}],
    env=os.environ | {{"KERASCOST_PARENT": str(os.getpid())}}, stdout=subprocess.PIPE)
print(child.pid, child.stdout.readline().decode(), flush=True)
os.kill(os.getpid(), {int(signal.SIGKILL)})
"""
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    number = int(result.stdout.split()[0])
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8")
        if stat.rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    raise AssertionError(f"{number} goes on")
