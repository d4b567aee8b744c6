"""Intervals are those of the bootstrap: exact for few runs, SciPy's for many."""

import itertools
import math
from fractions import Fraction
from statistics import median as plain_median

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from generator.statistics import (
    geometric_mean,
    median,
    median_interval,
    ratio_interval,
    resampled_medians,
)

numbers = st.floats(0.01, 1e6)


def enumerate_medians(values):
    """Return the chance of each median of a resample, by trying all resamples."""
    chances = {}
    for sample in itertools.product(values, repeat=len(values)):
        key = plain_median(sample)
        chances[key] = chances.get(key, 0) + Fraction(1, len(values) ** len(values))
    return chances


@pytest.mark.parametrize(
    "values", [(1.0, 2.0), (1.0, 2.0, 4.0), (1.0, 2.0, 4.0, 8.0), (3, 5, 6, 9, 12)]
)
def test_resampled_medians_are_those_of_all_resamples(values):
    found = {}
    for value, chance in zip(*resampled_medians(values), strict=True):
        found[float(value)] = found.get(float(value), 0) + float(chance)
    wanted = enumerate_medians(values)
    assert {value for value, chance in found.items() if chance > 1e-12} == {
        float(value) for value in wanted
    }
    for value, chance in wanted.items():
        assert found[float(value)] == pytest.approx(float(chance), abs=1e-12)


def test_interval_of_three_is_their_range():
    # The least median of a resample is the smallest value with a chance of 7/27 > 2.5 %.
    assert median_interval([3.0, 1.0, 2.0]) == (1.0, 3.0)


def test_one_value_has_no_interval():
    assert median_interval([1.0]) is None
    assert ratio_interval([1.0, 2.0], [1.0]) is None


def test_ratio_of_two_pairs_by_hand():
    # Medians of resamples of (2, 4): 2 with 1/4, 3 with 1/2, 4 with 1/4. So the smallest ratio
    # to (1, 2) is 2/2 with 1/16 > 2.5 %, the largest 4/1.
    assert ratio_interval([2.0, 4.0], [1.0, 2.0]) == (1.0, 4.0)


def test_many_values_agree_with_a_resampling_of_our_own():
    random = np.random.default_rng(1)
    values = random.lognormal(0, 0.2, 60)
    low, high = median_interval(list(values))
    medians = np.median(random.choice(values, size=(20000, 60)), axis=1)
    # 20,000 resamples leave a percentile uncertain by far less than the width.
    slack = (high - low) * 0.15
    assert low == pytest.approx(np.percentile(medians, 2.5), abs=slack)
    assert high == pytest.approx(np.percentile(medians, 97.5), abs=slack)


def test_exact_and_resampled_meet_where_they_change():
    random = np.random.default_rng(2)
    values = tuple(random.normal(10, 1, 25))
    low, high = median_interval(values)
    other = scipy.stats.bootstrap(
        (np.array(values),), np.median, method="percentile", n_resamples=20000, rng=3
    ).confidence_interval
    assert (low, high) == pytest.approx((other.low, other.high), abs=0.15)


@given(st.lists(numbers, min_size=2, max_size=9), st.randoms())
def test_an_interval_holds_the_median_and_no_order(values, random):
    low, high = median_interval(values)
    assert min(values) <= low <= median(values) <= high <= max(values)
    shuffled = list(values)
    random.shuffle(shuffled)
    assert median_interval(shuffled) == (low, high)


@given(
    st.lists(numbers, min_size=2, max_size=6),
    st.lists(numbers, min_size=2, max_size=6),
    st.sampled_from([0.5, 2.0, 4.0]),
)
def test_a_ratio_scales_with_its_values(values, base, factor):
    low, high = ratio_interval(values, base)
    scaled = ratio_interval([value * factor for value in values], base)
    assert scaled == (pytest.approx(low * factor), pytest.approx(high * factor))


def test_geometric_mean():
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert geometric_mean([]) is None
    for wrong in ([0.0], [-1.0], [math.inf], [math.nan]):
        with pytest.raises(ValueError, match="positive"):
            geometric_mean(wrong)


def test_no_median_of_nothing():
    with pytest.raises(ValueError, match="no value"):
        median([])
