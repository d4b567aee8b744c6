"""EPOCHS=3: each run stops early, says so, is predicted, and gives way to a whole one."""

import csv
import dataclasses
import subprocess

import pytest

from generator.measures import cell_table
from generator.reading import read_campaign_folder
from launcher.training import measured_durations
from models.run import Status, WallSeconds, read_run
from tests.test_jobs import CELLS, found, names, plan, schedule
from tests.test_launcher import Place

BUDGET = dataclasses.replace(plan(repeats=1, selected=CELLS[:1]), budget_epochs=3)


@pytest.mark.parametrize(
    ("done", "budget", "to_run"),
    [
        (None, 3, 0),  # A run of all epochs is worth more than any budget.
        (3, 3, 0),
        (5, 3, 0),
        (3, 5, 1),
        (3, None, 1),
        (None, None, 0),
    ],
)
def test_a_run_is_reused_where_it_has_as_many_epochs(done, budget, to_run):
    wanted = dataclasses.replace(BUDGET, budget_epochs=budget)
    found_runs = [found(planned_epochs=20, budget_epochs=done)]
    assert len(schedule(found_runs, wanted).jobs) == to_run


def test_a_whole_run_is_made_beside_a_cut_one():
    wanted = dataclasses.replace(BUDGET, budget_epochs=None)
    cut = found(planned_epochs=20, budget_epochs=3)
    assert names(schedule([cut], wanted).jobs) == [("a", "pip", "r0-2")]
    assert schedule([cut], wanted).stale == ()


def test_only_like_runs_tell_how_long_the_next_one_takes():
    wall = WallSeconds(setup=1, training=2, teardown=3)
    items = [
        found(planned_epochs=20, wall_s=wall),
        found(
            planned_epochs=20, budget_epochs=3, wall_s=WallSeconds(setup=1, training=1, teardown=0)
        ),
    ]
    assert measured_durations(items) == {"a": [6]}
    assert measured_durations(items, 3) == {"a": [2]}
    assert measured_durations(items, 4) == {}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def run(place, *arguments):
    arguments = ("--workloads", "mnist_mlp", *arguments)
    return subprocess.run(**place.command(*arguments), capture_output=True, check=False)


def test_a_budget_is_for_the_full_profile_and_is_predicted_from(place):
    result = run(place, "--epochs", "3")
    assert result.returncode == 0, result.stderr
    folder = place.folder / "runs" / "trial-full"
    (log,) = folder.rglob("epochs.csv")
    manifest = read_run(log.parent).manifest
    assert (manifest.profile, manifest.status) == ("full", Status.COMPLETE)
    assert (manifest.planned_epochs, manifest.budget_epochs) == (20, 3)
    with log.open(encoding="utf-8", newline="") as file:
        seconds = [float(row["elapsed"]) for row in csv.DictReader(file)]
    assert len(seconds) == 3
    campaign = read_campaign_folder(folder)
    (time,) = cell_table(campaign, {}, "own")["time_s"]
    assert time == pytest.approx(seconds[0] + 19 * (seconds[1] + seconds[2]) / 2)
    assert campaign.exclusions[0].flagged
    # Again: nothing to do. Without the budget: a whole run, and the cut one is out.
    assert "1 reused" in run(place, "--epochs", "3").stdout
    assert run(place, "--profile", "full").returncode == 0
    campaign = read_campaign_folder(folder)
    assert (len(campaign.complete_runs), campaign.predicted_runs) == (1, ())
    assert not cell_table(campaign, {}, "own")["predicted"].any()


def test_a_budget_that_cuts_nothing_says_so(place):
    result = run(place, "--epochs", "3", "--profile", "smoke")
    assert "EPOCHS=3: no selected workload has more in profile smoke" in result.stderr
    (manifest,) = [read_run(log.parent).manifest for log in place.campaign.rglob("epochs.csv")]
    assert manifest.budget_epochs is None


@pytest.mark.parametrize("epochs", ["1", "2", "-3"])
def test_too_small_a_budget_is_one_line(place, epochs):
    result = run(place, "--epochs", epochs)
    assert result.returncode == 2
    assert result.stderr == (
        f"EPOCHS={epochs}: a prediction needs the first epoch and two others; give 3 or more\n"
    )
