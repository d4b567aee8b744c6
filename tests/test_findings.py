"""What the data says of its own accord: sentences whose figures are worked out by hand."""

import csv
import re
from statistics import median

import pytest

from generator.findings import (
    find_bests,
    find_break_evens,
    find_compiled_savings,
    find_price_changes,
    find_scaling,
)
from generator.reading import read_campaign_folder
from generator.report import make_report
from models.run import Status
from tests.conftest import ROOT, write_run

REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07"
W = "mnist_mlp"
GPU, SMALL, LARGE = (W, "pip", "k80"), (W, "pip", "n1-highcpu-8"), (W, "pip", "n1-highcpu-16")
TUNED = (W, "compiled", "n1-highcpu-8")
PRICES = {"k80": 1.0, "n1-highcpu-8": 0.1, "n1-highcpu-16": 0.2}
CARD = {"baseline": ("pip", "k80"), "usd_per_hour": PRICES}
GROUPS = (find_bests, find_break_evens, find_compiled_savings, find_price_changes, find_scaling)


def say(folder):
    report = make_report(read_campaign_folder(folder), [])
    return {item.anchor: item.sentence for group in GROUPS for item in group(report)}


@pytest.fixture
def said(make_campaign):
    times = {GPU: [[36.0]], SMALL: [[180.0]], LARGE: [[120.0]], TUNED: [[90.0]]}
    return say(make_campaign(times, **CARD))


def test_the_best_cells(said):
    # 90 s at $0.1 an hour are $0.0025, a quarter of the GPU's 36 s at $1.
    assert said["best-mnist_mlp"] == (
        "mnist_mlp: the GPU is the fastest (36.0 s); 8 vCPUs with compiled TensorFlow are the "
        "cheapest ($0.00250, 0.250 × the GPU's cost), at 2.50 × the fastest's time; nothing beats "
        "the GPU and 8 vCPUs with compiled TensorFlow on both."
    )


def test_what_compiling_buys(said):
    assert said["compiling-n1-highcpu-8"] == (
        "On 8 vCPUs, compiled TensorFlow saves time for 1 of 1 workload: 50 % of pip's time, 50 % "
        "in the median."
    )


def test_where_more_vcpus_stop_paying(said, make_campaign):
    # 180 / 120, at 1.5 × 8 / 16.
    assert said["scaling-pip"] == (
        "With TensorFlow from pip, every step up to 16 vCPUs makes training faster: in the median, "
        "from 8 to 16 vCPUs 1.50 × as fast, at an efficiency of 75 %."
    )
    slower = say(make_campaign({SMALL: [[100.0]], LARGE: [[125.0]]}, name="slower"))
    assert slower["scaling-pip"].startswith("With TensorFlow from pip, vCPUs stop paying after 8:")
    assert "0.800 × as fast, at an efficiency of 40 %" in slower["scaling-pip"]


def test_break_even_prices(said):
    # The GPU costs $0.01: over 180 s that is $0.20 an hour, over 90 s $0.40.
    assert said["break-even-pip-n1-highcpu-8"] == (
        "8 vCPUs with TensorFlow from pip cost less than the GPU for the workload below $0.200 an "
        "hour; at the $0.100 paid, for 1 of 1."
    )
    assert "below $0.400 an hour" in said["break-even-compiled-n1-highcpu-8"]


def test_what_the_prices_change(make_campaign):
    times = {GPU: [[36.0]], TUNED: [[90.0]]}
    folder = make_campaign(times, baseline=("pip", "k80"), price_book="gce-2017-07")
    said = say(folder)
    # 90 × 0.063642 / (36 × 0.745); on demand five times that is dearer than the GPU.
    assert said["prices-as-published"] == (
        "At as-published prices, 8 vCPUs with compiled TensorFlow are the cheapest for 1 of 1 "
        "workloads, at 0.214 × the GPU's cost."
    )
    assert "the GPU is the cheapest for 1 of 1" in said["prices-on-demand"]
    assert said["prices-spot"].endswith("; the GPU has no price in it to compare with.")


def test_what_cant_be_told_is_no_gain(make_campaign):
    # Repeats lie 10 % apart; the two builds 2 %.
    times = {SMALL: [[9.5], [10.0], [10.5]], TUNED: [[9.31], [9.8], [10.29]]}
    said = say(make_campaign(times))
    assert "saves time for 0 of 1 workload" in said["compiling-n1-highcpu-8"]
    assert said["compiling-n1-highcpu-8"].endswith("for 1 there is no measurable difference.")


def test_a_predicted_time_is_said(make_campaign):
    folder = make_campaign({SMALL: [[10.0] * 10], TUNED: []})
    write_run(folder, TUNED, [5.0] * 3, status=Status.PREEMPTED, planned_epochs=10)
    said = say(folder)
    assert said["compiling-n1-highcpu-8"].endswith("(1 time is predicted.)")
    assert "8 vCPUs with compiled TensorFlow (predicted) are the fastest" in said["best-mnist_mlp"]


def test_nothing_measured_says_nothing(make_campaign):
    assert say(make_campaign({SMALL: []})) == {}


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="shared/reference/gce-2017-07 is not here")
def test_the_2017_savings_and_best_cells_from_expected_csv():
    said = say(ROOT / "runs" / "gce-2017-07")
    with (REFERENCE / "expected.csv").open(encoding="utf-8", newline="") as file:
        rows = {(r["workload"], r["build"], r["instance"]): r for r in csv.DictReader(file)}
    workloads = sorted({key[0] for key in rows})
    for size in (8, 16, 32, 64):
        name = f"n1-highcpu-{size}"
        saved = [
            1
            - float(rows[w, "compiled", name]["total_time_s"])
            / float(rows[w, "pip", name]["total_time_s"])
            for w in workloads
        ]
        sentence = said[f"compiling-{name}"]
        assert f"for {sum(saving > 0 for saving in saved)} of 7 workloads" in sentence
        shown = re.search(r"(−?[\d.]+) % in the median", sentence)[1].replace("−", "-")
        assert float(shown) == pytest.approx(100 * median(saved), rel=0.02)
    for workload in workloads:
        cells = [row for key, row in rows.items() if key[0] == workload]
        least = min(float(row["total_time_s"]) for row in cells)
        cost = min(float(row["cost_ratio"]) for row in cells)
        shown = re.search(r"fastest \(([\d,.]+) s", said[f"best-{workload}"])[1]
        assert float(shown.replace(",", "")) == pytest.approx(least, rel=1e-3)
        shown = re.search(r"([\d.]+) × the GPU's cost", said[f"best-{workload}"])[1]
        assert float(shown) == pytest.approx(cost, rel=5e-3)
    assert len(said) == 7 + 8 + 4 + 3 + 2
