"""The whole path, small: `make all` in a folder of its own, and a figure followed to its page."""

import csv
import html
import json
import os
import re
import shutil
import subprocess

import pytest

from tests.conftest import PLAIN_ENVIRONMENT, ROOT

pytestmark = pytest.mark.train
ARGUMENTS = ("PROFILE=smoke", "RUNNER=host", "WORKLOADS=mnist_mlp", "INSTANCES=local-max")
LOCAL = f"local-{len(os.sched_getaffinity(0))}"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a copy of the project, with this one's packages and none of its runs."""
    folder = tmp_path_factory.mktemp("clone") / "kerascost"
    skip = shutil.ignore_patterns(".git", ".venv", "build", "site", ".*_cache", "tests", "runs")
    shutil.copytree(ROOT, folder, ignore=skip)
    # The project's campaigns, not those that were made here.
    shutil.copytree(ROOT / "runs", folder / "runs", ignore=_skip_own_campaigns)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def _skip_own_campaigns(folder, names):
    return [name for name in names if name.startswith("local") and folder == str(ROOT / "runs")]


def run_make(place, *arguments):
    return subprocess.run(
        ["make", *arguments],
        cwd=place,
        env=PLAIN_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def make(place, *arguments):
    result = run_make(place, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def said(place):
    return make(place, "all", *ARGUMENTS)


def plain(cell):
    return html.unescape(re.sub(r"<[^>]+>", "", cell)).strip()


def test_it_ends_by_saying_what_it_did_and_where_to_look(said):
    assert "Report: site/index.html" in said
    assert "Runs: 2 new, 0 reused, 0 failed (in runs/local-smoke/)." in said
    assert "make serve" in said.splitlines()[-1]


def test_a_figure_from_the_log_to_the_page(place, said):
    log = place / "runs/local-smoke" / LOCAL / "pip/mnist_mlp/r0/epochs.csv"
    with log.open(encoding="utf-8") as file:
        epochs = list(csv.DictReader(file))
    assert len(epochs) == 2
    # Epoch 0 warms up: the total time is the other's.
    seconds = float(epochs[1]["elapsed"])
    with (place / "site/data/local-smoke/cells.csv").open(encoding="utf-8") as file:
        cells = {(row["build"], row["instance"]): row for row in csv.DictReader(file)}
    cell = cells["pip", LOCAL]
    assert float(cell["time_s"]) == seconds
    assert (cell["status"], cell["profile"], cell["runs"]) == ("unpriced", "smoke", "1")
    page = (place / "site/campaigns/local-smoke/workloads/mnist_mlp.html").read_text("utf-8")
    rows = [
        [plain(part) for part in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    ]
    (shown,) = [row for row in rows if row and row[0].endswith("pip")]
    assert float(shown[1].replace(",", "")) == pytest.approx(seconds, rel=5e-3)
    assert shown[2] == "1.00 ×"
    published = place / "site/data/local-smoke/runs" / LOCAL / "pip/mnist_mlp/r0/epochs.csv"
    assert published.read_bytes() == log.read_bytes()
    index = json.loads((place / "site/data/index.json").read_text())
    assert index["shown"] == "gce-2017-07"


def test_a_smoke_figure_is_never_shown_as_a_full_one(place, said):
    text = (place / "site/campaigns/local-smoke/index.html").read_text("utf-8")
    assert "Profile smoke" in text
    start = (place / "site/index.html").read_text("utf-8")
    assert "profile full" in start.split("<table")[0]


def test_nothing_changed_nothing_done(place, said):
    before = (place / "site/index.html").stat().st_mtime_ns
    again = make(place, "all", *ARGUMENTS)
    assert "Runs: 0 new, 2 reused, 0 failed" in again
    assert "nothing has changed" in again
    assert (place / "site/index.html").stat().st_mtime_ns == before


def test_a_wrong_value_stops_it_with_one_line(place, said):
    result = run_make(place, "all", "WORKLOADS=mnist")
    assert result.returncode == 2
    own = [line for line in result.stderr.splitlines() if not line.startswith("make")]
    assert len(own) == 1
    assert "WORKLOADS=mnist is not in the plan; did you mean" in own[0]
