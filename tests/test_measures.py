"""Logs become times, ratios and costs: the 2017 figures to 9 digits, the rest by hand."""

import csv
import math
from pathlib import Path

import pytest

from generator.labels import baseline_label, label_cells, sort_by_size
from generator.measures import (
    CELL_COLUMNS,
    campaign_resolution,
    cell_table,
    cell_timings,
    epoch_table,
    is_no_difference,
    list_rows,
    run_table,
)
from generator.pricing import find_prices
from generator.reading import read_campaign_folder
from generator.timing import Timing
from models.run import Status
from tests.conftest import ROOT, write_run

REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07"
MLP = ("mnist_mlp", "pip", "k80")
CPU = ("mnist_mlp", "pip", "n1-highcpu-8")
FAST = ("mnist_mlp", "compiled", "n1-highcpu-8")


def cells_of(folder, prices=None):
    campaign = read_campaign_folder(folder)
    scenario = campaign.card.scenario
    known = find_prices(campaign.card).list_prices(scenario) if prices is None else prices
    table = label_cells(cell_table(campaign, known, scenario), campaign)
    return {(r["workload"], r["build"], r["instance"]): r for r in list_rows(table)}


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="shared/reference/gce-2017-07 is not here")
def test_the_2017_figures_to_nine_digits():
    cells = cells_of(ROOT / "runs" / "gce-2017-07")
    with (REFERENCE / "expected.csv").open(encoding="utf-8") as file:
        expected = list(csv.DictReader(file))
    assert len(expected) == len(cells) == 63
    pairs = (
        ("total_time_s", "time_s"),
        ("total_cost_usd", "cost_usd"),
        ("time_ratio", "time_ratio"),
        ("cost_ratio", "cost_ratio"),
    )
    for row in expected:
        cell = cells[row["workload"], row["build"], row["instance"]]
        assert cell["epochs"] == int(row["epochs"])
        for theirs, ours in pairs:
            assert cell[ours] == pytest.approx(float(row[theirs]), rel=1e-9), (row, ours)


def test_a_cell_by_hand(make_campaign):
    # Medians: baseline 10 s of (9, 10, 12); cell 30 s of (24, 30, 36). At 1 and 0.1 USD an
    # hour the cost ratio is 3 × 0.1 = 0.3.
    folder = make_campaign(
        {MLP: [[4, 5], [5, 5], [6, 6]], CPU: [[12, 12], [15, 15], [18, 18]]},
        baseline=("pip", "k80"),
        usd_per_hour={"k80": 1.0, "n1-highcpu-8": 0.1},
    )
    cells = cells_of(folder)
    base, cell = cells[MLP], cells[CPU]
    assert (base["time_s"], base["time_ratio"], base["cost_ratio"]) == (10, 1, 1)
    assert base["ratio_low"] is None
    assert (cell["time_s"], cell["runs"], cell["epochs"]) == (30, 3, 2)
    assert (cell["time_low"], cell["time_high"]) == (24, 36)
    assert cell["time_ratio"] == 3
    # Of 3 runs a resampled median is the least with 7/27: both ends are the extremes.
    assert (cell["ratio_low"], cell["ratio_high"]) == (24 / 12, 36 / 9)
    assert cell["cost_usd"] == pytest.approx(30 * 0.1 / 3600)
    assert cell["cost_ratio"] == pytest.approx(0.3)
    assert (cell["cost_low"], cell["cost_high"]) == pytest.approx((0.2, 0.4))
    assert cell["status"] == "measured"


def test_warm_up_is_in_no_sum(make_campaign):
    folder = make_campaign({MLP: [[100, 1, 2]]}, warmup=1, profile="quick")
    assert cells_of(folder)[MLP]["time_s"] == 3
    campaign = read_campaign_folder(folder)
    assert list(run_table(campaign)["time_s"]) == [3]
    assert list(epoch_table(campaign)["time_s_cumulative"]) == [0, 1, 3]


def test_missing_failed_and_unpriced_are_three_things(make_campaign):
    other = ("mnist_cnn", "pip", "k80")
    folder = make_campaign(
        {MLP: [[1, 1]], CPU: [[2, 2]], FAST: [], other: []},
        baseline=("pip", "k80"),
        usd_per_hour={"k80": 1.0},
    )
    write_run(folder, FAST, [1.0], status=Status.FAILED, why="no memory", epochs_sha256=None)
    cells = cells_of(folder)
    assert {cell: row["status"] for cell, row in cells.items()} == {
        MLP: "measured",
        CPU: "unpriced",
        FAST: "failed",
        other: "missing",
    }
    assert cells[CPU]["time_ratio"] == 2
    for cell in (FAST, other):
        assert cells[cell]["time_s"] is cells[cell]["cost_usd"] is None
    assert cells[CPU]["cost_usd"] is cells[CPU]["cost_ratio"] is None


def test_a_preempted_run_is_no_figure_and_no_failure(make_campaign):
    folder = make_campaign({MLP: [[1, 1]], CPU: []}, baseline=("pip", "k80"))
    write_run(folder, CPU, [2.0], status=Status.PREEMPTED, planned_epochs=2, epochs_sha256=None)
    assert cells_of(folder)[CPU]["status"] == "missing"


def test_without_a_measured_baseline_there_is_no_ratio(make_campaign):
    folder = make_campaign({MLP: [], CPU: [[2, 2]]}, baseline=("pip", "k80"))
    row = cells_of(folder)[CPU]
    assert row["time_s"] == 4
    assert row["time_ratio"] is None


def test_resolution_by_hand():
    # (12 - 9) / 10 and (36 - 24) / 30: their median is 0.35; a cell of one run says nothing.
    times = {"a": (9.0, 10.0, 12.0), "b": (24.0, 30.0, 36.0), "c": (5.0,)}
    timings = {cell: Timing(values) for cell, values in times.items()}
    assert campaign_resolution(timings) == pytest.approx(0.35)
    assert campaign_resolution({"c": Timing((5.0,))}) is None


@pytest.mark.parametrize(
    ("ratio", "low", "high", "resolution", "same"),
    [
        (1.04, None, None, 0.05, True),
        (1.25, None, None, 0.25, True),
        (0.8, None, None, 0.25, True),
        (0.79, None, None, 0.25, False),
        (0.96, None, None, 0.05, True),
        (1.06, None, None, 0.05, False),
        (1.5, 0.99, 2.0, 0.05, True),
        (1.5, 1.2, 2.0, 0.05, False),
        (1.0001, None, None, None, False),
    ],
)
def test_no_measurable_difference(ratio, low, high, resolution, same):
    assert is_no_difference(ratio, low, high, resolution) is same


def test_columns_are_those_published():
    design = Path(ROOT.parent / "shared" / "design.md")
    if not design.is_file():
        pytest.skip("shared/design.md is not here")
    line = next(
        line for line in design.read_text().splitlines() if line.startswith("- `cells.csv`")
    )
    assert line.split("`")[3] == ",".join(CELL_COLUMNS)


def test_labels_and_order(make_campaign):
    big = ("mnist_mlp", "pip", "n1-highcpu-16")
    folder = make_campaign({MLP: [], CPU: [], FAST: [], big: []}, baseline=("pip", "k80"))
    campaign = read_campaign_folder(folder)
    table = sort_by_size(label_cells(cell_table(campaign, {}, "spot"), campaign))
    assert list(table["label"]) == ["GPU", "8 vCPUs, pip", "8 vCPUs, compiled", "16 vCPUs, pip"]
    assert list(table["short_label"])[-1] == "16, pip"
    assert baseline_label(table) == "the GPU"


def test_instances_of_one_size_keep_their_names(make_campaign):
    twin = ("mnist_mlp", "pip", "local-8")
    folder = make_campaign({CPU: [], twin: []})
    campaign = read_campaign_folder(folder)
    table = label_cells(cell_table(campaign, {}, "spot"), campaign)
    assert set(table["label"]) == {"n1-highcpu-8, pip", "local-8, pip"}


def test_times_are_sums_of_what_the_log_says(make_campaign, dice):
    seconds = [dice.uniform(0.1, 9) for _ in range(50)]
    folder = make_campaign({MLP: [seconds]})
    (timing,) = cell_timings(read_campaign_folder(folder)).values()
    assert timing.time_s == pytest.approx(math.fsum(seconds), rel=1e-12)
