"""Totals from a run's first epochs: by hand, and how far off on the logs of 2017."""

import csv
import math
from statistics import median

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from generator.labels import label_cells
from generator.measures import cell_table, cell_timings
from generator.prediction import DRIFT, measure_error, predict_run, predict_total
from generator.reading import read_campaign_folder
from generator.report import make_report
from models.run import Status
from tests.conftest import ROOT, write_card, write_run

REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07" / "logs"
CELL = ("mnist_mlp", "pip", "n1-highcpu-8")
OTHER = ("mnist_mlp", "compiled", "n1-highcpu-8")


def test_by_hand():
    # 5 + 9 × median(2, 2.2, 2.1) = 5 + 9 × 2.1; sd = 0.1, 6 left of 9 others:
    # t(0.975; 2) × 0.1 × √(6 + 36/3) = 4.302653 × 0.1 × 4.242641.
    found = predict_total([5.0, 2.0, 2.2, 2.1], 10)
    assert found.time_s == pytest.approx(23.9)
    half = 4.30265273 * 0.1 * math.sqrt(18)
    assert (found.high, found.low) == pytest.approx((23.9 + half, 23.9 - half))


def test_an_even_run_still_has_an_interval():
    found = predict_total([3.0, 1.0, 1.0], 12)
    assert found.time_s == 3 + 11
    assert (found.low, found.high) == pytest.approx((14 * (1 - DRIFT), 14 * (1 + DRIFT)))
    # Never below what has passed: 13 s of 14.
    assert predict_total([3.0, *[1.0] * 10], 12).low == pytest.approx(14 * (1 - DRIFT))
    assert predict_total([300.0, *[1.0] * 10], 12).low == 310.0


def test_without_a_first_epoch_that_is_unlike_the_others():
    assert predict_total([1.0, 1.2], 6, traced_first=False).time_s == pytest.approx(6 * 1.1)
    assert predict_total([1.0], 6, traced_first=False) is None


@pytest.mark.parametrize(
    ("elapsed", "epochs"), [([], 5), ([1.0], 5), ([1.0, 1.0], 5), ([1] * 5, 5)]
)
def test_too_few_epochs_or_none_left(elapsed, epochs):
    assert predict_total(elapsed, epochs) is None


@given(st.lists(st.floats(0.01, 1e5), min_size=3, max_size=12), st.integers(1, 50))
def test_the_interval_holds_the_prediction_and_what_has_passed(elapsed, left):
    found = predict_total(elapsed, len(elapsed) + left)
    assert math.fsum(elapsed) <= found.low <= found.time_s <= found.high


def read_logs():
    logs = []
    for path in sorted(REFERENCE.rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            logs.append([float(row["elapsed"]) for row in csv.DictReader(file)])
    return logs


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="shared/reference/gce-2017-07 is not here")
def test_the_error_on_the_63_logs_is_what_another_program_got():
    logs = read_logs()
    assert len(logs) == 63
    found = measure_error(logs, 3)
    # 0.39 %, 2.2 % and 3.75 %, as another program got them.
    assert found.runs == 63
    assert found.median == pytest.approx(0.0039, abs=5e-5)
    assert found.ninth_decile == pytest.approx(0.022, abs=5e-4)
    assert found.largest == pytest.approx(0.0375, abs=5e-5)
    # The same by other means: no median but sorting, no SciPy but counting.
    errors = []
    for log in logs:
        second = sorted(log[1:3])
        total = log[0] + (len(log) - 1) * (second[0] + second[1]) / 2
        errors.append(abs(total - sum(log)) / sum(log))
    errors.sort()
    assert found.median == pytest.approx(errors[31], rel=1e-9)
    assert found.largest == pytest.approx(errors[-1], rel=1e-9)
    assert errors[55] <= found.ninth_decile <= errors[57]
    assert found.covered >= 0.95


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="shared/reference/gce-2017-07 is not here")
@pytest.mark.parametrize("known", [4, 5, 6, 8])
def test_the_interval_covers_most_totals(known):
    # 45 logs at least: 41 of them is what chance leaves of 95 % in all but 1 of 20 tries.
    found = measure_error(read_logs(), known)
    assert found.covered >= scipy.stats.binom.ppf(0.05, found.runs, 0.95) / found.runs


def test_no_error_without_longer_logs():
    assert measure_error([[1.0, 1.0, 1.0]], 3) is None
    assert measure_error([], 3) is None


def stopped(folder, cell, elapsed, epochs=10, **changes):
    """Write a run that stopped after some epochs."""
    fields = {"status": Status.PREEMPTED, "planned_epochs": epochs, "why": "taken away"}
    return write_run(folder, cell, elapsed, **(fields | changes))


def test_a_stopped_run_gives_a_predicted_cell_marked_everywhere(tmp_path):
    folder = tmp_path / "trial"
    prices = {"n1-highcpu-8": 1.0}
    write_card(folder, [CELL, OTHER], baseline=("pip", "n1-highcpu-8"), usd_per_hour=prices)
    write_run(folder, CELL, [3.0, *[1.0] * 9])
    stopped(folder, OTHER, [4.0, 2.0, 2.0])
    campaign = read_campaign_folder(folder)
    cells = label_cells(cell_table(campaign, prices, "own"), campaign)
    cells = cells.set_index("build")
    # 4 + 9 × 2, with at least 2.2 % to either side; the baseline has 12 s.
    assert cells.loc["compiled", "time_s"] == 22.0
    assert cells.loc["compiled", "time_ratio"] == pytest.approx(22 / 12)
    assert cells.loc["compiled", ["time_low", "time_high"]].tolist() == pytest.approx(
        [22 / (1 / (1 - DRIFT)), 22 * (1 + DRIFT)]
    )
    assert cells.loc["compiled", "ratio_low"] < 22 / 12 < cells.loc["compiled", "ratio_high"]
    assert cells["predicted"].to_dict() == {"compiled": True, "pip": False}
    assert cells["label"].to_dict() == {
        "compiled": "8 vCPUs, compiled (predicted)",
        "pip": "8 vCPUs, pip",
    }
    (flag,) = campaign.exclusions
    assert flag.flagged
    assert flag.reason == "preempted after 3 of 10 epochs: taken away: its total is predicted"
    report = make_report(campaign, [])
    assert report.runs.set_index("build")["predicted"].to_dict() == {
        "compiled": True,
        "pip": False,
    }


def test_a_measured_run_beats_a_predicted_one(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [CELL])
    write_run(folder, CELL, [3.0, *[1.0] * 9])
    stopped(folder, CELL, [9.0, 9.0, 9.0], run_id="r1", repeat=1)
    campaign = read_campaign_folder(folder)
    assert cell_timings(campaign)[CELL].values == (12.0,)
    assert not cell_timings(campaign)[CELL].predicted
    (item,) = campaign.exclusions
    assert not item.flagged
    assert item.reason.endswith("its cell has complete runs")


def test_a_run_that_was_to_stop_is_predicted_and_flagged(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [CELL])
    stopped(folder, CELL, [4.0, 2.0, 2.0], status=Status.COMPLETE, why="", budget_epochs=3)
    campaign = read_campaign_folder(folder)
    assert cell_timings(campaign)[CELL].values == (22.0,)
    assert [item.reason for item in campaign.exclusions] == [
        "stopped after 3 of 10 epochs, as planned: its total is predicted"
    ]


def test_a_failed_or_too_short_run_is_never_predicted(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [CELL, OTHER])
    stopped(folder, CELL, [4.0, 2.0, 2.0], status=Status.FAILED)
    stopped(folder, OTHER, [4.0, 2.0])
    campaign = read_campaign_folder(folder)
    assert campaign.figure_runs == ()
    assert all(predict_run(run) is None for run in campaign.runs)
    statuses = cell_table(campaign, {}, "own").set_index("build")["status"].to_dict()
    assert statuses == {"pip": "failed", "compiled": "missing"}


def test_several_predicted_runs_give_their_median(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [CELL])
    for repeat, seconds in enumerate((2.0, 3.0, 2.5)):
        stopped(folder, CELL, [4.0, seconds, seconds], run_id=f"r{repeat}", repeat=repeat)
    timing = cell_timings(read_campaign_folder(folder))[CELL]
    assert timing.time_s == median([4 + 9 * 2.0, 4 + 9 * 3.0, 4 + 9 * 2.5])
    # Each is 2.2 % wide to either side, so that the middle one's ends are the middle ends.
    assert (timing.below, timing.above) == pytest.approx((1 / (1 - DRIFT), 1 + DRIFT))
    low, high = timing.interval
    # The spread of the three, and the reach of the prediction, in quadrature as factors.
    reach = math.hypot(math.log(26.5 / 22), math.log(1 / (1 - DRIFT)))
    assert low == pytest.approx(26.5 * math.exp(-reach))
    reach = math.hypot(math.log(31 / 26.5), math.log(1 + DRIFT))
    assert high == pytest.approx(26.5 * math.exp(reach))
