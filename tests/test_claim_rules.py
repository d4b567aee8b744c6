"""Claims about scaling, break-even prices and rankings: by hand, and from expected.csv."""

import csv
from collections import defaultdict

import pytest

from catalog.claim import read_claim_files
from generator.reading import read_campaign_folder
from generator.report import make_report
from models.run import Status
from tests.conftest import ROOT, write_card, write_run
from tests.test_claims import REFERENCE, judge

W = "mnist_mlp"
GPU = (W, "pip", "k80")
SMALL, LARGE = (W, "pip", "n1-highcpu-8"), (W, "pip", "n1-highcpu-16")
TUNED = (W, "compiled", "n1-highcpu-16")
BASE = {"baseline": ("pip", "k80"), "usd_per_hour": {"k80": 1.0, "n1-highcpu-8": 0.1}}
SCALING = {"rule": "scaling", "from_vcpus": 8, "to_vcpus": 16}
BREAK_EVEN = {"rule": "break-even", "of": {"device": "CPU"}}
RANKING = {"rule": "ranking", "measure": "time"}


def test_scaling_by_hand(make_campaign):
    folder = make_campaign({SMALL: [[30.0]], LARGE: [[20.0]], TUNED: [[5.0]], GPU: [[9.0]]})
    found = judge(folder, SCALING | {"at_least": 1.5})
    assert (found.verdict, found.smallest, found.largest) == ("supported", 1.5, 1.5)
    assert [(item.of, item.to) for item in found.comparisons] == [(LARGE, SMALL)]
    # 30 × 8 / (20 × 16).
    found = judge(folder, SCALING | {"figure": "efficiency", "below": 0.7})
    assert (found.verdict, found.smallest) == ("refuted", 0.75)
    assert judge(folder, SCALING | {"builds": ["compiled"], "above": 0}).verdict == "no data"
    assert judge(folder, SCALING | {"to_vcpus": 32, "above": 0}).verdict == "no data"


def test_break_even_by_hand(make_campaign):
    folder = make_campaign({GPU: [[10.0]], SMALL: [[40.0]], LARGE: [[20.0]]}, **BASE)
    found = judge(folder, BREAK_EVEN | {"above": 0.3})
    # The GPU costs 10 s × $1 an hour: $0.25 an hour over 40 s, $0.50 over 20 s.
    figures = {item.of: item.figure for item in found.comparisons}
    assert figures == pytest.approx({SMALL: 0.25, LARGE: 0.5})
    assert (found.verdict, found.hold) == ("partly supported", 1)
    only = {"rule": "break-even", "of": {"instances": ["n1-highcpu-8"]}}
    assert judge(folder, only | {"at_most": 0.25}).verdict == "supported"


def test_no_break_even_without_a_priced_baseline(make_campaign):
    times = {GPU: [[10.0]], SMALL: [[40.0]]}
    unpriced = make_campaign(times, name="a", baseline=("pip", "k80"))
    assert judge(unpriced, BREAK_EVEN | {"above": 0}).verdict == "no data"
    without = make_campaign(times, name="b", usd_per_hour={"k80": 1.0})
    assert judge(without, BREAK_EVEN | {"above": 0}).verdict == "no data"


def test_ranking_by_hand(make_campaign):
    order = [{"device": "GPU"}, {"builds": ["compiled"]}, {"device": "CPU", "builds": ["pip"]}]
    times = {GPU: [[9.0]], TUNED: [[18.0]], LARGE: [[20.0]], SMALL: [[30.0]]}
    found = judge(make_campaign(times, name="a"), RANKING | {"order": order})
    # The best of each: 18 / 9, then 20 / 18.
    assert [item.figure for item in found.comparisons] == pytest.approx([2.0, 20 / 18])
    assert found.verdict == "supported"
    swapped = make_campaign({**times, TUNED: [[21.0]]}, name="b")
    found = judge(swapped, RANKING | {"order": order})
    assert (found.verdict, found.hold) == ("partly supported", 1)
    less = make_campaign({GPU: [[9.0]], SMALL: [[30.0]]}, name="c")
    assert judge(less, RANKING | {"order": order}).verdict == "no data"


def test_a_ranking_within_the_resolution_cant_be_told(make_campaign):
    order = [{"builds": ["compiled"]}, {"builds": ["pip"]}]
    # Identical repeats lie 10 % apart; 10.4 against 10.0 can't be told.
    times = {TUNED: [[9.5], [10.0], [10.5]], LARGE: [[9.9], [10.4], [10.94]]}
    found = judge(make_campaign(times), RANKING | {"order": order})
    assert found.verdict == "inconclusive"


def test_what_rests_on_a_prediction_is_counted(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [SMALL, LARGE])
    write_run(folder, SMALL, [30.0] * 10)
    early = {"status": Status.PREEMPTED, "planned_epochs": 10}
    write_run(folder, LARGE, [20.0] * 3, **early)
    found = judge(folder, SCALING | {"above": 1.4})
    (item,) = found.comparisons
    # 300 / 200, by 2.2 % to either side: all of it above 1.4, but not above 1.5.
    assert item.figure == pytest.approx(1.5)
    assert (item.low, item.high) == pytest.approx((1.5 / 1.022, 1.5 / 0.978))
    assert (item.predicted, found.predicted, found.verdict) == (True, 1, "supported")
    assert judge(folder, SCALING | {"above": 1.49}).verdict == "inconclusive"


@pytest.fixture(scope="module")
def expected():
    if not REFERENCE.is_dir():
        pytest.skip("shared/reference/gce-2017-07 is not here")
    with (REFERENCE / "expected.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    times = defaultdict(dict)
    for row in rows:
        size = 0 if row["instance"] == "k80" else int(row["instance"].rpartition("-")[2])
        times[row["workload"]][row["build"], size] = float(row["total_time_s"])
    return times


@pytest.fixture(scope="module")
def judged():
    report = make_report(read_campaign_folder(ROOT / "runs" / "gce-2017-07"), read_claim_files())
    return {item.claim.id: item for item in report.all_judgements}


def agree(found, figures, holds):
    assert sorted(item.figure for item in found.comparisons) == pytest.approx(sorted(figures))
    assert found.hold == sum(map(holds, figures))


def test_our_own_claims_on_the_2017_data(expected, judged):
    builds = ("pip", "compiled")
    agree(
        judged["16-vcpus-pay"],
        [cells[b, 8] / cells[b, 16] for cells in expected.values() for b in builds],
        lambda figure: figure >= 1.5,
    )
    agree(
        judged["64-vcpus-idle"],
        [cells[b, 8] / cells[b, 64] / 8 for cells in expected.values() for b in builds],
        lambda figure: figure < 0.5,
    )
    # 0.745 USD an hour for the GPU.
    agree(
        judged["8-vcpus-at-ten-cents"],
        [0.745 * cells["pip", 0] / cells[b, 8] for cells in expected.values() for b in builds],
        lambda figure: figure > 0.1,
    )
    figures = []
    for cells in expected.values():
        best = {
            b: min(time for (build, size), time in cells.items() if build == b and size)
            for b in builds
        }
        figures.append(best["compiled"] / cells["pip", 0])
        figures.append(best["pip"] / best["compiled"])
    agree(judged["gpu-then-compiled-then-pip"], figures, lambda figure: figure > 1)
