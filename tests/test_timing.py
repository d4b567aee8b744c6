"""Ratios of timings: by hand, and how a prediction's reach widens them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.statistics import ratio_interval
from generator.timing import Timing, compare_timings

times = st.lists(st.floats(0.1, 1e5), min_size=1, max_size=4).map(sorted).map(tuple)
factors = st.floats(1.0, 2.0)


def test_one_run_each_has_no_interval():
    ratio = compare_timings(Timing((3.0,)), Timing((2.0,)))
    assert (ratio.value, ratio.low, ratio.high) == (1.5, None, None)
    assert Timing((3.0,)).interval is None


def test_a_predictions_reach_becomes_the_ratios():
    guess, known = Timing((10.0,), below=1.25, above=1.5), Timing((5.0,))
    assert guess.interval == pytest.approx((8.0, 15.0))
    ratio = compare_timings(guess, known)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((1.6, 2.0, 3.0))
    # Divided by it, what lies above lies below.
    ratio = compare_timings(known, guess)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((1 / 3, 0.5, 0.625))


def test_two_predictions_add_up_in_quadrature():
    one, other = Timing((10.0,), 1.1, 1.1), Timing((10.0,), 1.2, 1.2)
    reach = math.exp(math.hypot(math.log(1.1), math.log(1.2)))
    ratio = compare_timings(one, other)
    assert (ratio.low, ratio.high) == pytest.approx((1 / reach, reach))


def test_several_measured_runs_have_the_bootstraps_interval():
    one, other = (9.0, 10.0, 12.0), (8.0, 9.0, 9.5)
    ratio = compare_timings(Timing(one), Timing(other))
    assert (ratio.low, ratio.high) == ratio_interval(one, other)


def test_a_constant_stretches_all_three():
    ratio = compare_timings(Timing((10.0,), 1.25, 1.5), Timing((5.0,))).scaled(10)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((16.0, 20.0, 30.0))


@given(times, times, factors, factors)
def test_turned_round_it_is_the_same_ratio(one, other, below, above):
    guess, known = Timing(one, below, above), Timing(other)
    forth, back = compare_timings(guess, known), compare_timings(known, guess)
    assert forth.value == pytest.approx(1 / back.value)
    if guess.predicted:
        assert forth.low == pytest.approx(1 / back.high)
        assert forth.high == pytest.approx(1 / back.low)
        assert forth.low <= forth.value * 1.000001
        assert forth.high >= forth.value * 0.999999
