"""Sentences say what the tables hold, and no more."""

import pytest

from catalog.claim import read_claim_files
from generator.answers import (
    answer_sentence,
    cell_labels,
    evidence_sentence,
    precision_sentence,
    weaknesses,
)
from generator.reading import read_campaign_folder
from generator.report import choose_shown, make_report
from generator.wording import (
    format_count,
    format_interval,
    format_percent,
    format_ratio,
    format_seconds,
    format_usd,
    join_words,
)
from models.run import DatasetUsed, Status
from tests.conftest import ROOT, write_card, write_run

GPU, CPU = ("mnist_mlp", "pip", "k80"), ("mnist_mlp", "pip", "n1-highcpu-8")
PRICES = {"k80": 1.0, "n1-highcpu-8": 0.1}


def report_on(folder):
    return make_report(read_campaign_folder(folder), [])


def test_nothing_measured_is_said(make_campaign):
    report = report_on(make_campaign({GPU: [], CPU: []}, baseline=("pip", "k80")))
    assert answer_sentence(report).startswith("Nothing has been measured yet")
    assert precision_sentence(report) == "no figures yet"
    assert weaknesses(report) == ["2 cells of 2 are missing."]


def test_one_workload(make_campaign):
    folder = make_campaign(
        {GPU: [[1.0]], CPU: [[4.0]]}, baseline=("pip", "k80"), usd_per_hour=PRICES
    )
    # 4 × 0.1 = 0.4 of the GPU's cost.
    assert answer_sentence(report_on(folder)) == (
        "8 vCPUs with TensorFlow from pip are the cheapest, at 40 % of the GPU's cost. "
        "The GPU is the fastest."
    )


def test_without_prices_it_is_about_time(make_campaign):
    report = report_on(make_campaign({GPU: [[1.0]], CPU: [[4.0]]}, baseline=("pip", "k80")))
    assert answer_sentence(report) == (
        "No machine of this campaign has a price, so the answer is about time alone. "
        "The GPU is the fastest."
    )


def test_what_can_not_be_told_is_said(make_campaign):
    times = {GPU: [[1.0], [2.0], [3.0]], CPU: [[1.1], [2.1], [3.1]]}
    report = report_on(make_campaign(times, baseline=("pip", "k80")))
    assert "Which cell is fastest can't be told" in answer_sentence(report)
    # (3 − 1) / 2 = 1 and (3.1 − 1.1) / 2.1 = 0.952: their median is 0.976.
    assert precision_sentence(report) == (
        "n = 3 runs a cell; identical repeats lie 98 % apart, and smaller differences count as none"
    )


def test_weak_figures_are_said_to_be(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [GPU, CPU], profile="quick")
    made = DatasetUsed(name="made images", kind="synthetic")
    write_run(folder, GPU, [9.0, 1.0, 1.0], warmup=1, profile="quick", dataset=made)
    write_run(folder, CPU, [9.0], warmup=1, profile="quick", status=Status.FAILED, why="x")
    found = " ".join(weaknesses(report_on(folder)))
    for part in (
        "Profile quick",
        "Synthetic data",
        "mnist_mlp",
        "1 cell of 2 is failed",
        "No base",
    ):
        assert part in found


def test_the_evidence_of_2017():
    report = make_report(read_campaign_folder(ROOT / "runs" / "gce-2017-07"), read_claim_files())
    said = {
        item.claim.id: evidence_sentence(item, cell_labels(report))
        for item in report.all_judgements
    }
    assert said["64-like-32"] == (
        "13 of 14 comparisons hold; figures from 0.877 × to 1.27 ×; "
        "fails: mnist_mlp, 64 vCPUs, compiled against 32 vCPUs, compiled."
    )
    assert said["mlp-gpu-fastest"] == "1 of 1 comparison holds; figure 1.08 ×."
    assert said["deep-cnn-compiled"] == "4 of 4 comparisons hold; figures from 12 % to 34 %."
    assert said["onednn-saves"] == "No comparison could be made."


def test_which_campaign_the_start_page_shows(make_campaign):
    reports = [
        report_on(make_campaign({CPU: [[4.0]]}, name="unpriced", date="2026-05-01")),
        report_on(make_campaign({CPU: [[4.0]]}, name="old", usd_per_hour=PRICES)),
        report_on(
            make_campaign({CPU: [[4.0]]}, name="new", usd_per_hour=PRICES, date="2026-03-01")
        ),
        report_on(
            make_campaign({CPU: [[9.0, 4.0]]}, name="quick", usd_per_hour=PRICES, profile="quick")
        ),
        report_on(make_campaign({CPU: []}, name="nothing", usd_per_hour=PRICES, date="2026-09-01")),
    ]
    assert choose_shown(reports).name == "new"
    assert choose_shown(reports, "quick").name == "quick"
    assert choose_shown(reports[-1:]) is None
    with pytest.raises(
        ValueError, match="CAMPAIGN=nope: no such campaign; choose from unpriced, old"
    ):
        choose_shown(reports, "nope")


def test_figures_in_words():
    assert format_ratio(1.0757) == "1.08 ×"
    assert format_ratio(0.04011) == "0.0401 ×"
    assert format_ratio(None) == format_ratio(float("nan")) == "–"
    assert format_ratio(999.6) == "1,000 ×"
    assert format_interval(0.5, 1.25) == "0.500 to 1.25"
    assert format_interval(None, 1.0) == "–"
    assert format_seconds(1357.62) == "1,357.6"
    assert format_seconds(2.345) == "2.35" or format_seconds(2.345) == "2.34"
    assert format_usd(0.048001) == "$0.0480"
    assert format_percent(0.042) == "4.2 %"
    assert format_percent(-0.111) == "−11 %"
    assert format_count(1, "run") == "1 run"
    assert format_count(1234, "run") == "1,234 runs"
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"


def test_what_its_makers_note_comes_first(make_campaign):
    folder = make_campaign({CPU: [[1.0, 2.0]]}, profile="quick", notes=("Another wheel.",))
    first, second, *_ = weaknesses(report_on(folder))
    assert first == "Another wheel."
    assert second.startswith("Profile quick")
