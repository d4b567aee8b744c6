"""Scaling, accuracy, epochs, spread and savings: findings by hand, and words that keep apart."""

import pytest
from charting import check_drawing, read_words

from generator.charts.lines import accuracy_curves, scaling
from generator.charts.runs import epoch_strip, spread
from generator.charts.savings import saving_map
from generator.drawing import draw_campaign, draw_workload, show_chart
from generator.reading import read_campaign_folder
from generator.report import make_report
from tests.conftest import ROOT

GPU, CPU = ("w", "pip", "k80"), ("w", "pip", "n1-highcpu-8")
FAST, BIG = ("w", "compiled", "n1-highcpu-8"), ("w", "pip", "n1-highcpu-16")
PRICES = {"k80": 1.0, "n1-highcpu-8": 0.1, "n1-highcpu-16": 0.2}
TIMES = {GPU: [[10.0]], CPU: [[40.0]], FAST: [[30.0]], BIG: [[25.0]]}


def report_of(make_campaign, times=TIMES, prices=PRICES, **card):
    folder = make_campaign(times, baseline=("pip", "k80"), usd_per_hour=prices, **card)
    return make_report(read_campaign_folder(folder), [])


def test_scaling(make_campaign):
    report = report_of(make_campaign)
    for narrow in (False, True):
        chart = scaling(report.cells, narrow=narrow)
        check_drawing(chart)
        # 40 s on 8, 25 s on 16: 1.6 times as fast, where 2 times is ideal.
        assert "1.60 ×" in chart.title
        assert "ideal" in chart.title
        assert "2 ×" in chart.title
        for figure in ("40.0", "25.0", "30.0", "10.0"):
            assert figure in chart.alt
    assert scaling(report.cells[report.cells["vcpus"] < 16]) is None


def test_accuracy(make_campaign):
    # The writer of tests logs an accuracy of 0.5 + epoch / 100: all reach 0.52 in their third
    # epoch, the GPU after 3 × 2 s, at 1 USD an hour; the CPU after 3 × 4 s, at 0.1.
    report = report_of(make_campaign, {GPU: [[2.0, 2.0, 2.0]], CPU: [[4.0, 4.0, 4.0]]})
    for narrow in (False, True):
        time = accuracy_curves(report.cells, report.epochs, "time", narrow=narrow)
        check_drawing(time)
        assert "52.0 %" in time.title
        assert "The GPU is first" in time.title
        assert "6.00 s" in time.title
        cost = accuracy_curves(report.cells, report.epochs, "cost", narrow=narrow)
        check_drawing(cost)
        assert "8 vCPUs, pip" in cost.title
        assert f"${12 * 0.1 / 3600:.6f}" in cost.title
    assert accuracy_curves(report.cells, report.epochs.assign(val_acc=None), "time") is None
    synthetic = report.cells.assign(synthetic=True)
    assert accuracy_curves(synthetic, report.epochs, "time") is None


def test_epochs_show_warm_up_and_throttling(make_campaign):
    times = {CPU: [[9.0, 1.0, 1.0, 1.0, 1.7]]}
    report = report_of(make_campaign, times, warmup=1, profile="quick")
    for narrow in (False, True):
        chart = epoch_strip(report.epochs.assign(label="8 vCPUs, pip"), narrow=narrow)
        check_drawing(chart)
        assert "1.70 ×" in chart.title + chart.alt
    assert epoch_strip(report.epochs.head(0).assign(label=[])) is None


def test_spread(make_campaign):
    # (12 − 9) / 10 and (41 − 39) / 40: 30 % and 5 %, in the middle 17.5 %.
    times = {GPU: [[9.0], [10.0], [12.0]], CPU: [[39.0], [40.0], [41.0]]}
    report = report_of(make_campaign, times)
    assert report.resolution == pytest.approx(0.175)
    for chart in draw_campaign(report)["spread"]:
        check_drawing(chart)
        assert "30 %" in chart.title + chart.alt
        assert "5.0 %" in chart.alt
    assert spread(report.runs.assign(label="x").head(1), 0.1) is None


def test_savings(make_campaign):
    report = report_of(make_campaign)
    for chart in draw_campaign(report)["compiled-saving"]:
        check_drawing(chart)
        # 1 − 30 / 40.
        assert "25 %" in chart.alt
    assert saving_map(report.runs.head(0)) is None


def test_times_of_a_campaign_without_prices(make_campaign):
    times = {GPU: [[10.0]], FAST: [[5.0]], CPU: [[40.0]]}
    report = report_of(make_campaign, times, prices={})
    for chart in draw_campaign(report)["times"]:
        check_drawing(chart)
        assert chart.title == (
            "8 vCPUs, compiled, are measurably faster than the GPU for 1 of 1 workloads, "
            "at 0.500 × the time"
        )
        assert "w: GPU 1.00 ×; 8 vCPUs, pip 4.00 ×; 8 vCPUs, compiled 0.500 ×" in chart.alt
    assert "times" not in draw_campaign(report_of(make_campaign, name="priced"))


def test_no_chart_without_its_data(make_campaign):
    assert draw_workload(report_of(make_campaign, {GPU: [], CPU: []}), "w") == {}
    assert draw_campaign(report_of(make_campaign, {GPU: [], CPU: []}, name="other")) == {}
    unpriced = draw_workload(report_of(make_campaign, prices={}, name="priceless"), "w")
    assert "w-time" in unpriced
    assert "w-cost" not in unpriced
    assert "w-time-against-cost" not in unpriced


def test_all_charts_of_2017():
    report = make_report(read_campaign_folder(ROOT / "runs" / "gce-2017-07"), [])
    drawn = [draw_campaign(report) | draw_workload(report, "mnist_cnn") for _ in range(2)]
    # The same data gives the same bytes.
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 3 + 7
    for pair in drawn[0].values():
        for chart in pair:
            check_drawing(chart)
    words = " ".join(word.text for word in read_words(drawn[0]["mnist_cnn-time"][0].svg_light))
    # From expected.csv: 64 vCPUs, compiled.
    assert "2.92 ×" in words


def test_a_chart_in_markdown(make_campaign):
    charts = draw_workload(report_of(make_campaign), "w")
    text = show_chart(charts, "w-time", "charts")
    assert text.count("![") == 4
    assert "(charts/w-time-narrow-dark.svg#only-dark)" in text
    assert show_chart(charts, "w-nothing", "charts") == ""
