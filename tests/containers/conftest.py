"""Engines for tests in real containers: podman, and docker's command line on podman's socket.

They need the images: ``make images RUNNER=podman``, then ``make test-containers``.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from launcher.engines import find_engine
from tests.conftest import ROOT

PLAN = """
campaign: live
workloads: [mnist_mlp]
profile: {profile}
repeats: 1
builds: {{pip: [local-1], compiled: [local-1]}}
baseline: {{build: pip, instance: local-1}}
"""
PATIENCE_S = 120


def wait_for(condition, seconds=PATIENCE_S):
    """Return what a condition returns once that is true; fail where it stays false."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"still not so after {seconds} s")


@pytest.fixture(scope="session", params=["podman", "docker"])
def engine(request, tmp_path_factory):
    """Return an engine that answers: both are wanted, so that neither is left untested."""
    if request.param == "podman":
        yield find_engine("podman")
        return
    assert shutil.which("docker"), "docker's command line is not installed (docker.io)"
    socket = tmp_path_factory.mktemp("podman") / "podman.sock"
    address = f"unix://{socket}"
    # Its monitors leave files where it was started.
    command = ["podman", "system", "service", "--time=0", address]
    service = subprocess.Popen(command, cwd=socket.parent)
    before = os.environ.get("DOCKER_HOST")
    os.environ["DOCKER_HOST"] = address
    try:
        wait_for(socket.exists)
        yield find_engine("docker")
    finally:
        service.terminate()
        service.wait()
        os.environ.pop("DOCKER_HOST")
        if before is not None:
            os.environ["DOCKER_HOST"] = before


@dataclass
class Campaign:
    """A campaign that a launcher runs in containers, in a folder of its own."""

    engine: object
    folder: Path
    plan: Path

    def command(self, *arguments):
        """Return the launcher's command line."""
        where = ["--plan", str(self.plan), "--runs-dir", str(self.folder.parent)]
        runner = ["--runner", self.engine.name, "--data", "synthetic"]
        return [sys.executable, "-m", "launcher", "run", *where, *runner, *arguments]

    def run(self, *arguments):
        """Run the launcher to its end; return what it did."""
        return subprocess.run(
            self.command(*arguments), cwd=ROOT, capture_output=True, text=True, check=False
        )

    def start(self, *arguments):
        """Start the launcher; return its process."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def manifest(self, build="pip", run_id="r0"):
        """Return a run's manifest, as it lies there."""
        folder = self.folder / "local-1" / build / "mnist_mlp" / run_id
        return json.loads((folder / "run.json").read_text(encoding="utf-8"))

    def epochs(self, build="pip", run_id="r0"):
        """Return how many epochs a run's log has."""
        log = self.folder / "local-1" / build / "mnist_mlp" / run_id / "epochs.csv"
        return max(0, len(log.read_text(encoding="utf-8").splitlines()) - 1) if log.exists() else 0

    def containers(self, *arguments):
        """Return the ids of the campaigns' containers; with ``--all``, ended ones, too."""
        mine = ("--filter", "label=kerascost.campaign-folder")
        return self.engine.run("ps", "--quiet", *arguments, *mine).split()


@pytest.fixture
def campaign(engine, tmp_path):
    """Return a campaign of the full profile, whose runs last long enough to be ended."""
    plan = tmp_path / "plan.yml"
    plan.write_text(PLAN.format(profile="full"), encoding="utf-8")
    found = Campaign(engine, tmp_path / "runs" / "live", plan)
    assert found.containers("--all") == []
    yield found
    left = found.containers("--all")
    for name in left:
        engine.run("rm", "--force", name)
    assert left == []


@pytest.fixture
def started(campaign):
    """Return a campaign whose first run has finished an epoch, and its launcher."""
    launcher = campaign.start("--builds", "pip")
    try:
        wait_for(lambda: campaign.epochs() or launcher.poll() is not None)
        assert launcher.poll() is None
        yield campaign, launcher
    finally:
        if launcher.poll() is None:
            launcher.send_signal(signal.SIGTERM)
        launcher.wait(PATIENCE_S)
