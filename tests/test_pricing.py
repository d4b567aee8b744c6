"""Prices, costs and billing by hand; no price is never a cost of zero."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.declared import DeclaredError
from catalog.price_book import Billing, PriceBook
from generator.pricing import (
    billed_cost,
    billed_seconds,
    break_even_price,
    cost,
    find_prices,
)
from models.run import CampaignCard, CellName

GCE = Billing(unit_s=1, minimum_s=60)
HOURLY = Billing(unit_s=3600)


def book(prices):
    return PriceBook(date=dt.date(2026, 1, 2), source="a quote", prices=prices)


def card(**changes):
    cells = tuple(
        CellName(workload="w", build="pip", instance=name) for name in ("k80", "n1-highcpu-8", "x")
    )
    fields = {"campaign": "c", "title": "C", "profile": "full", "cells": cells}
    return CampaignCard(**(fields | changes))


def test_the_plans_own_price_comes_first_in_its_scenario():
    source = find_prices(card(price_book="gce-2017-07", usd_per_hour={"k80": 2.0}))
    prices = source.list_prices("as-published")
    assert prices["k80"] == 2.0
    assert prices["n1-highcpu-8"] == pytest.approx(0.063642)
    assert prices["x"] is None
    assert source.list_prices("own") == {"k80": 2.0, "n1-highcpu-8": None, "x": None}
    assert source.usd_per_hour("k80", "on-demand") == 0.745
    assert source.parts("k80", "as-published") is None
    assert [part.part for part in source.parts("k80", "on-demand")] == [
        "NVIDIA Tesla K80",
        "n1-standard-1",
    ]


def test_scenarios_with_prices():
    assert find_prices(card()).scenarios == []
    book = find_prices(card(price_book="gce-2017-07"))
    assert book.scenarios == ["as-published", "spot", "on-demand"]
    assert find_prices(card(price_book="gce-2017-07", scenario="spot")).scenarios[0] == "spot"


def test_an_unknown_price_book_is_named():
    with pytest.raises(DeclaredError, match=r"azure\.yml: the file is missing"):
        find_prices(card(price_book="azure"))


def test_an_offered_book_replaces_all_prices_where_it_knows_an_instance():
    campaign = card(price_book="gce-2017-07", usd_per_hour={"x": 3.0})
    own = find_prices(campaign, book({"k80": 0.5}))
    assert (own.scenario, own.scenarios) == ("own", ["own"])
    assert own.list_prices("own") == {"k80": 0.5, "n1-highcpu-8": None, "x": None}
    today = find_prices(campaign, book({"x": {"spot": 0.2, "on-demand": 1}}))
    assert (today.scenario, today.scenarios) == ("spot", ["spot", "on-demand"])
    assert find_prices(campaign, book({"other": 1.0})) == find_prices(campaign)


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
