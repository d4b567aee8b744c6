"""Prices, costs and billing by hand; no price is never a cost of zero."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.declared import DeclaredError
from catalog.entries import Billing, read_price_book
from generator.pricing import (
    billed_cost,
    billed_seconds,
    break_even_price,
    cost,
    list_scenarios,
    price_list,
)
from models.run import CampaignCard, CellName

GCE = Billing(unit_s=1, minimum_s=60)
HOURLY = Billing(unit_s=3600)


def card(**changes):
    cells = tuple(
        CellName(workload="w", build="pip", instance=name) for name in ("k80", "n1-highcpu-8", "x")
    )
    fields = {"campaign": "c", "title": "C", "profile": "full", "cells": cells}
    return CampaignCard(**(fields | changes))


@pytest.mark.parametrize(
    ("instance", "usd"),
    [
        # As design.md gives them: 0.700 + 0.045; 0.060 × 1.0607 and its multiples.
        ("k80", 0.745),
        ("n1-highcpu-8", 0.060 * 1.0607),
        ("n1-highcpu-16", 0.060 * 1.0607 * 2),
        ("n1-highcpu-32", 0.060 * 1.0607 * 4),
        ("n1-highcpu-64", 0.509136),
    ],
)
def test_the_2017_prices(instance, usd):
    book = read_price_book("gce-2017-07")
    assert book.usd_per_hour(instance, "as-published") == pytest.approx(usd, rel=1e-12)
    assert book.date == dt.date(2017, 7, 5)


def test_on_demand_is_five_times_spot():
    book = read_price_book("gce-2017-07")
    for size in (8, 16, 32, 64):
        spot = book.usd_per_hour(f"n1-highcpu-{size}", "spot")
        assert book.usd_per_hour(f"n1-highcpu-{size}", "on-demand") == pytest.approx(5 * spot)
    assert book.usd_per_hour("k80", "spot") is None


def test_the_plans_own_price_comes_first():
    prices = price_list(card(price_book="gce-2017-07", usd_per_hour={"k80": 2.0}))
    assert prices["k80"] == 2.0
    assert prices["n1-highcpu-8"] == pytest.approx(0.063642)
    assert prices["x"] is None


def test_scenarios_with_prices():
    assert list_scenarios(card()) == []
    assert list_scenarios(card(price_book="gce-2017-07")) == ["as-published", "spot", "on-demand"]
    assert list_scenarios(card(price_book="gce-2017-07", scenario="spot"))[0] == "spot"


def test_an_unknown_price_book_is_named():
    with pytest.raises(DeclaredError, match=r"azure\.yml: the file is missing"):
        price_list(card(price_book="azure"))


def test_cost_by_hand():
    assert cost(7200, 0.5) == 1.0
    assert cost(7200, None) is None
    assert cost(7200, 0.0) is None


@pytest.mark.parametrize(
    ("wall", "billing", "seconds"),
    [
        (10, GCE, 60),
        (60, GCE, 60),
        (60.001, GCE, 61),
        (90.5, GCE, 91),
        (0, GCE, 60),
        (1, HOURLY, 3600),
        (3600, HOURLY, 3600),
        (3601, HOURLY, 7200),
        (0, HOURLY, 0),
    ],
)
def test_billed_seconds(wall, billing, seconds):
    assert billed_seconds(wall, billing) == seconds


def test_billed_cost_by_hand():
    assert billed_cost(30, 0.6, GCE) == pytest.approx(0.01)
    assert billed_cost(30, None, GCE) is None


@pytest.mark.parametrize("wall", [-1, float("nan"), float("inf")])
def test_no_rental_of_impossible_length(wall):
    with pytest.raises(ValueError, match="rental"):
        billed_seconds(wall, GCE)


@given(st.floats(0.01, 1e6), st.floats(0.001, 100), st.floats(0.01, 1e6))
def test_at_the_break_even_price_costs_are_equal(time, price, base_time):
    base = cost(base_time, price)
    assert cost(time, break_even_price(time, base)) == pytest.approx(base, rel=1e-9)


def test_no_break_even_without_a_baseline():
    assert break_even_price(10, None) is None
    assert break_even_price(10, 0.0) is None
