"""Fastest, cheapest and unbeaten cells, by hand; what can't be told apart wins nothing."""

import itertools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.measures import list_rows
from generator.ranking import (
    answer_table,
    compiled_saving,
    find_best,
    mark_unbeaten,
    scaling_table,
)
from generator.timing import Timing


def table(rows):
    """Return a cell table of (workload, build, instance, time, price per hour, vCPUs)."""
    records = []
    for workload, build, instance, time, price, vcpus in rows:
        known = time is not None
        records.append(
            {
                "workload": workload,
                "build": build,
                "instance": instance,
                "time_s": time,
                "usd_per_hour": price,
                "cost_usd": time * price / 3600 if known and price else None,
                "time_ratio": time / 10 if known else None,
                "device": "GPU" if vcpus == 0 else "CPU",
                "vcpus": vcpus,
                "predicted": False,
            }
        )
    frame = pd.DataFrame(records)
    return frame.astype({"time_s": float, "cost_usd": float, "usd_per_hour": float})


def once(cells):
    return {
        (row["workload"], row["build"], row["instance"]): Timing((row["time_s"],))
        for row in list_rows(cells)
        if row["time_s"] is not None
    }


THREE = [
    ("w", "pip", "gpu", 10, 3.6, 0),
    ("w", "pip", "c8", 40, 0.36, 8),
    ("w", "compiled", "c8", 20, 0.36, 8),
    ("w", "pip", "c16", 50, 0.72, 16),
    ("w", "pip", "lost", None, 0.1, 4),
]


def test_the_answer_by_hand():
    cells = table(THREE)
    (row,) = list_rows(answer_table(cells, once(cells), None))
    # Costs: 0.01, 0.004, 0.002, 0.01. The GPU is fastest, compiled on c8 cheapest, twice as long.
    assert (row["fastest"], row["cheapest"], row["gives_up"]) == (0, 2, 2.0)
    assert row["unbeaten"] == (0, 2)
    assert row["fastest_ties"] == row["cheapest_ties"] == ()


def test_a_tie_is_no_winner():
    cells = table(THREE[:3])
    times = once(cells) | {
        ("w", "pip", "gpu"): Timing((9.0, 10.0, 24.0)),
        ("w", "compiled", "c8"): Timing((8.0, 20.0, 21.0)),
    }
    best = find_best(cells, "time", times, 0.01)
    assert (best.row, best.ties) == (0, (2,))
    # At 3.6 and 0.36 USD an hour the costs differ tenfold: no interval of these times holds that.
    assert find_best(cells, "cost", times, 0.01).ties == ()


def test_within_the_resolution_is_a_tie():
    cells = table([("w", "pip", "a", 10, 1, 8), ("w", "pip", "b", 10.4, 1, 8)])
    assert find_best(cells, "time", once(cells), 0.05).ties == (1,)
    assert find_best(cells, "time", once(cells), 0.03).ties == ()


def test_nothing_measured_has_no_best():
    cells = table([("w", "pip", "a", None, 1, 8)])
    assert find_best(cells, "time", {}, None) is None
    (row,) = list_rows(answer_table(cells, {}, None))
    assert row["fastest"] is row["cheapest"] is row["gives_up"] is None


pairs = st.tuples(st.integers(1, 8), st.integers(1, 8))


@given(st.lists(pairs, min_size=1, max_size=12))
def test_unbeaten_cells_are_the_pareto_set(points):
    cells = table([("w", "pip", f"i{n}", time, price, 1) for n, (time, price) in enumerate(points)])
    marks = list(mark_unbeaten(cells))
    costs = [time * price for time, price in points]
    for index, (time, _) in enumerate(points):
        beaten = any(
            points[other][0] <= time
            and costs[other] <= costs[index]
            and (points[other][0] < time or costs[other] < costs[index])
            for other in range(len(points))
        )
        assert marks[index] is not beaten
    assert any(marks)


def test_compiled_saving_by_hand():
    (row,) = list_rows(compiled_saving(table(THREE)))
    assert (row["instance"], row["saving"]) == ("c8", 0.5)


def test_scaling_by_hand():
    (row,) = list_rows(scaling_table(table(THREE)))
    # pip: 40 s on 8, 50 s on 16: 0.8 times as fast, 0.8 × 8 / 16 of the ideal.
    assert (row["from_vcpus"], row["to_vcpus"]) == (8, 16)
    assert (row["speed_up"], row["efficiency"]) == pytest.approx((0.8, 0.4))


def test_the_order_of_rows_changes_nothing():
    for rows in itertools.permutations(THREE[:3]):
        cells = table(rows)
        best = find_best(cells, "cost", once(cells), None)
        assert cells.loc[best.row, "build"] == "compiled"
