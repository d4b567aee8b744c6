"""What isn't compared must be equal: a run of other software than the baseline's is no figure."""

import pytest

from generator.reading import read_campaign_folder
from models.run import Software, Status
from tests.conftest import write_card, write_run

BASE = ("mnist_mlp", "pip", "local-1")
OTHER = ("mnist_mlp", "compiled", "local-1")
OURS = {
    "tensorflow": "2.14.0",
    "keras": "2.14.0",
    "python": "3.11.2",
    "python_build": "main, May 12 2026, GCC 12.2.0",
    "wheel_sha256": "aa",
    "runner": "podman",
}


def read(tmp_path, *others, status=Status.COMPLETE, baseline=("pip", "local-1"), **card):
    """Read a campaign of two runs of the baseline's cell, and runs of another's."""
    folder = tmp_path / "runs" / "trial"
    write_card(folder, [BASE, OTHER], baseline=baseline, **card)
    for index in range(2):
        write_run(folder, BASE, [1.0, 2.0 + index], run_id=f"r{index}", software=Software(**OURS))
    for index, changes in enumerate(others):
        write_run(
            folder,
            OTHER,
            [3.0, 4.0 + index],
            run_id=f"r{index}",
            status=status,
            software=Software(**(OURS | {"wheel_sha256": "bb"} | changes)),
        )
    return read_campaign_folder(folder)


def test_another_wheel_is_what_builds_are_compared_for(tmp_path):
    campaign = read(tmp_path, {})
    assert len(campaign.complete_runs) == 3
    assert campaign.exclusions == ()


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"tensorflow": "2.15.0"}, "TensorFlow 2.14.0 and 2.15.0"),
        ({"keras": "3.15.1"}, "Keras 2.14.0 and 3.15.1"),
        ({"python": "3.12.1"}, "Python 3.11.2 and 3.12.1"),
        ({"python_build": "main, GCC 14"}, "Python built main, May 12 2026, GCC 12.2.0 and main, "),
        ({"runner": "host"}, "made in a container and on the host"),
    ],
)
def test_other_software_is_listed_and_no_figure(tmp_path, changes, difference):
    campaign = read(tmp_path, changes)
    assert {run.manifest.build for run in campaign.complete_runs} == {"pip"}
    (found,) = campaign.exclusions
    assert found.file == "local-1/compiled/mnist_mlp/r0/run.json"
    assert difference in found.reason
    assert not found.flagged


def test_what_is_unknown_is_no_difference(tmp_path):
    campaign = read(tmp_path, {"tensorflow": None, "python_build": None, "runner": "unknown"})
    assert len(campaign.complete_runs) == 3


def test_two_engines_are_both_containers(tmp_path):
    assert len(read(tmp_path, {"runner": "docker"}).complete_runs) == 3


def test_two_wheels_in_one_cell_are_not_merged(tmp_path):
    campaign = read(tmp_path, {}, {}, {"wheel_sha256": "cc"})
    assert len(campaign.complete_runs) == 4
    (found,) = campaign.exclusions
    assert (found.file[-11:], found.reason) == (
        "r2/run.json",
        "another wheel than the rest of its cell",
    )


def test_without_a_baseline_most_runs_say_what_is_right(tmp_path):
    campaign = read(tmp_path, {"keras": "3.15.1"}, baseline=None)
    assert {run.manifest.build for run in campaign.complete_runs} == {"pip"}


def test_a_failed_run_is_listed_as_failed(tmp_path):
    (found,) = read(tmp_path, {"keras": "3.15.1"}, status=Status.FAILED).exclusions
    assert found.reason == "failed"
