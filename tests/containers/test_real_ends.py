"""A run in a container that is killed, removed, left alone or out of memory: what stays of it."""

import signal

import pytest
from typer.testing import CliRunner

from launcher import containers
from launcher.__main__ import app
from tests.conftest import ROOT
from tests.containers.conftest import wait_for

pytestmark = pytest.mark.containers


def ended(campaign):
    """Return the first run's manifest once it isn't running any more, with its epochs' number."""
    wait_for(lambda: campaign.manifest()["status"] != "running")
    return campaign.manifest(), campaign.epochs()


def test_a_killed_container_leaves_a_failed_run_with_its_epochs(started):
    campaign, _ = started
    (name,) = campaign.containers()
    campaign.engine.run("kill", name)
    manifest, epochs = ended(campaign)
    assert (manifest["status"], epochs >= 1) == ("failed", True)
    assert manifest["why"] == "the training process ended without a word (killed by SIGKILL)"


def test_a_container_that_is_asked_to_stop_leaves_a_preempted_run(started):
    campaign, _ = started
    (name,) = campaign.containers()
    campaign.engine.run("kill", "--signal", "TERM", name)
    manifest, epochs = ended(campaign)
    assert (manifest["status"], epochs >= 1) == ("preempted", True)


def test_a_container_that_vanishes_leaves_a_failed_run_with_its_epochs(started):
    campaign, _ = started
    (name,) = campaign.containers()
    campaign.engine.run("rm", "--force", name)
    manifest, epochs = ended(campaign)
    # Some engines ask it to stop before they remove it: the run then says so itself.
    assert manifest["status"] in ("failed", "preempted")
    assert epochs >= 1
    if manifest["status"] == "failed":
        assert "the container vanished" in manifest["why"]


def test_a_launcher_that_is_asked_to_stop_takes_its_container_along(started):
    campaign, launcher = started
    launcher.send_signal(signal.SIGTERM)
    launcher.wait(60)
    assert campaign.containers("--all") == []
    manifest = campaign.manifest()
    assert manifest["status"] == "preempted"
    assert campaign.epochs() >= 1


def test_a_killed_launcher_leaves_no_container_that_goes_on(started):
    campaign, launcher = started
    launcher.kill()
    launcher.wait()
    # It sees that nobody holds the campaign any more, and stops as if it were asked to.
    wait_for(lambda: campaign.containers() == [], 60)
    assert campaign.manifest()["status"] == "preempted"
    assert campaign.epochs() >= 1
    assert containers.remove_leftovers(campaign.engine, campaign.folder) == 1


def test_a_run_without_the_memory_it_needs_fails_and_says_so(campaign, monkeypatch):
    monkeypatch.setattr(containers, "_memory", lambda instance: 150 * 2**20)
    arguments = campaign.command("--builds", "pip")[4:]
    result = CliRunner().invoke(app, ["run", *arguments])
    assert result.exit_code == 1
    manifest = campaign.manifest()
    assert manifest["status"] == "failed"
    assert "ended without a word" in manifest["why"]
    assert "out of memory" in manifest["why"] or "SIGKILL" in manifest["why"]
    # podman's monitor would leave a file here.
    assert not (ROOT / "oom").exists()
