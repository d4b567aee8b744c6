"""The pages' tables: billed costs, break-even prices and scenarios, by hand."""

import pytest

from generator.reading import read_campaign_folder
from generator.report import make_report
from generator.tables import answer_rows, break_even_rows, cell_rows, run_rows, scenario_rows
from models.run import WallSeconds
from tests.conftest import write_card, write_run

GPU, CPU = ("w", "pip", "k80"), ("w", "pip", "n1-highcpu-8")


@pytest.fixture
def report(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [GPU, CPU], baseline=("pip", "k80"), price_book="gce-2017-07")
    write_run(folder, GPU, [1800.0, 1800.0])
    wall = WallSeconds(setup=100.5, training=7200.0, teardown=9.6)
    write_run(folder, CPU, [3600.0, 3600.0], wall_s=wall)
    return make_report(read_campaign_folder(folder), [])


def test_billed_and_plain_costs_are_two_things(report):
    gpu, cpu = run_rows(report, "w")
    # Set-up unknown: no billed cost. 7,310.1 s are billed as 7,311, at 0.060 × 1.0607 an hour.
    assert gpu["billed"] == "–"
    assert cpu["billed"] == f"${7311 * 0.063642 / 3600:.3f}"
    assert {row["label"]: row["cost"] for row in cell_rows(report, "w")} == {
        "GPU": "$0.745",
        "8 vCPUs, pip": f"**${7200 * 0.063642 / 3600:.3f}**",
    }


def test_break_even_by_hand(report):
    # The GPU's hour costs 0.745; two hours of the CPU cost that at 0.3725 an hour.
    (row,) = break_even_rows(report)
    assert (row["label"], row["break_even"]) == ("8 vCPUs, pip", "$0.372")


def test_scenarios_by_hand(report):
    # Spot: the GPU has no price, so nothing is relative to it: dollars instead.
    # On demand: 5 × 0.063642 × 2 h.
    (row,) = scenario_rows(report)
    assert row["best"] == {
        "as-published": f"8 vCPUs, pip, {2 * 0.063642 / 0.745:.3f} ×",
        "spot": f"8 vCPUs, pip, ${2 * 0.063642:.3f}",
        "on-demand": f"8 vCPUs, pip, {10 * 0.063642 / 0.745:.3f} ×",
    }


def test_the_answers_row(report):
    (row,) = answer_rows(report)
    assert (row["fastest"]["label"], row["cheapest"]["label"]) == ("GPU", "8 vCPUs, pip")
    assert row["gives_up"] == "2.00 ×"
    assert row["unbeaten"] == ["GPU", "8 vCPUs, pip"]
