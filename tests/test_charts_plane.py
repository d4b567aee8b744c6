"""Time against cost: the cells that nothing beats are joined and named, and no words touch."""

import itertools
import math
import re
from pathlib import Path

import pandas as pd
import pytest
from charting import (
    check_drawing,
    has_shape,
    make_cells,
    read_markers,
    read_shape,
    read_words,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.charts.placing import Box, Label, box_around, place_labels
from generator.charts.plane import time_against_cost
from generator.reading import read_campaigns
from generator.report import make_report

ROOT = Path(__file__).parents[1]
MARKER = 4.5
BEST = {"unbeaten": True}
ROWS = [
    ("GPU", 1, 1, BEST),
    ("8 vCPUs, pip", 3, 0.3),
    ("8 vCPUs, compiled", 2, 0.125, BEST),
    ("16 vCPUs, pip", 1.7, 0.5),
    ("16 vCPUs, compiled", 1.25, 0.25, BEST),
]


def many(count, rows=ROWS):
    names = [f"workload_{i}" for i in range(count)]
    cells = pd.concat([make_cells(rows, name) for name in names], ignore_index=True)
    return cells, {name: name for name in names}


def draw(cells, titles, **more):
    """Return the wide and the narrow chart, checked, with no label on a marker."""
    charts = []
    for narrow in (False, True):
        chart = time_against_cost(cells, "the GPU", titles, narrow=narrow, **more)
        words = check_drawing(chart)
        for x, y in read_markers(chart.svg_light):
            marker = box_around((x, y), MARKER)
            hidden = [
                word.text
                for word in words
                if Box(word.left, word.top, word.right, word.bottom).overlaps(marker)
            ]
            assert hidden == []
        charts.append(chart)
    return charts


def test_places_on_the_axes_are_logarithms():
    chart, _ = draw(make_cells(ROWS), {"w": "w"})
    # The GPU's square is at (1, 1); twice the time is as far to the right on all of the axis.
    places = read_markers(chart.svg_light)[: len(ROWS)]
    (x0, y0), rest = places[0], places[1:]
    scale = [
        ((x - x0) / math.log2(time), (y - y0) / math.log2(cost))
        for (x, y), (_, time, cost, *_) in zip(rest, ROWS[1:], strict=True)
    ]
    across, down = zip(*scale, strict=True)
    assert across == pytest.approx([across[0]] * 4, rel=1e-3)
    assert down == pytest.approx([down[0]] * 4, rel=1e-3)
    # Right is slower; in an SVG, down is more: cheaper is further down.
    assert across[0] > 0
    assert down[0] < 0


def test_panels_share_their_axes():
    rows = [*ROWS[:-1], ("16 vCPUs, compiled", 8, 16)]
    cells, titles = many(2, ROWS)
    cells = pd.concat([cells, make_cells(rows, "workload_2")], ignore_index=True)
    chart, _ = draw(cells, titles | {"workload_2": "workload_2"})
    places = read_markers(chart.svg_light)
    first, second, third = (places[i : i + 5] for i in (0, 5, 10))
    for panel in (second, third):
        shift = panel[0][0] - first[0][0]
        for (x, y), (left, top) in list(zip(panel, first, strict=True))[:4]:
            assert (x - shift, y) == pytest.approx((left, top), abs=0.01)


def test_cells_that_nothing_beats_are_joined_fastest_first_and_named():
    cells, titles = many(3)
    chart, narrow = draw(cells, titles)
    words = [word.text for word in read_words(chart.svg_light)]
    assert words.count("GPU") == words.count("8, compiled") == words.count("16, compiled") == 3
    assert "8, pip" not in words
    small = [word.text for word in read_words(narrow.svg_light)]
    assert small.count("8") == small.count("16") == 3
    line, _ = read_shape(chart.svg_light, "front-workload-0")
    places = read_markers(chart.svg_light)
    assert line == [pytest.approx(places[i], abs=0.01) for i in (0, 4, 2)]
    named, _ = draw(make_cells(ROWS), {"w": "w"}, name_all=True)
    words = [word.text for word in read_words(named.svg_light)]
    assert {"8, pip", "16, pip", "8, compiled", "16, compiled", "GPU"} < set(words)


def test_axes_and_legend_are_in_words():
    for chart in draw(*many(7)):
        words = {word.text for word in read_words(chart.svg_light)}
        assert {
            "time relative to the GPU: left is faster",
            "cost relative to the GPU: down is cheaper",
            "the GPU: the baseline",
            "8 vCPUs",
            "16 vCPUs",
            "compiled TensorFlow",
            "TensorFlow from pip",
            "nothing beats these on both",
            "½",
            "1",
            "2",
        } < words
    assert [chart.width for chart in draw(*many(7))] == [960, 360]


def test_the_finding_by_hand():
    cells, titles = many(2)
    # In the second workload 8 vCPUs cost a fifth, and are faster than the GPU.
    second = (cells["workload"] == "workload_1") & (cells["label"] == "8 vCPUs, compiled")
    cells.loc[second, ["cost_ratio", "time_ratio"]] = [0.2, 0.5]
    chart, _ = draw(cells, titles)
    assert chart.title == (
        "8 vCPUs, compiled, are cheapest for all 2 workloads, at 0.125 to 0.200 × the cost of "
        "the GPU; the GPU is fastest for 1"
    )
    assert "workload_0: GPU (time 1.00 ×, cost 1.00 ×)" in chart.alt
    assert "8 vCPUs, compiled (time 0.500 ×, cost 0.200 ×)" in chart.alt
    one, _ = draw(make_cells(ROWS), {"w": "w"})
    assert one.title == "8 vCPUs, compiled, cost 0.125 × the GPU and take 2.00 × as long"
    for label, *_ in ROWS:
        assert label in one.alt


def test_crosses_where_there_are_several_runs():
    ends = {"runs": 3, "ratio_low": 1.5, "ratio_high": 2.5, "cost_low": 0.1, "cost_high": 0.16}
    rows = [ROWS[0], ("8 vCPUs, compiled", 2, 0.125, BEST | ends)]
    chart, _ = draw(make_cells(rows), {"w": "w"})
    words = {word.text for word in read_words(chart.svg_light)}
    assert "95 % intervals" in words
    (x0, y0), (x1, y1) = read_markers(chart.svg_light)[:2]
    octave, cost_octave = x1 - x0, (y1 - y0) / math.log2(0.125)
    flat = [x0 + octave * math.log2(value) for value in (1.5, 2.5)]
    high = [y0 + cost_octave * math.log2(value) for value in (0.1, 0.16)]
    for wanted in ([(x, y1) for x in flat], [(x1, y) for y in high]):
        path = "M {:.3f} {:.3f} \nL {:.3f} {:.3f}".format(*itertools.chain(*wanted))
        near = [
            [float(number) for number in re.findall(r"-?[\d.]+", found)]
            for found in re.findall(r'd="(M [^"]*?)"', chart.svg_light)
        ]
        flat_wanted = list(itertools.chain(*wanted))
        assert any(numbers == pytest.approx(flat_wanted, abs=0.01) for numbers in near), path


def test_a_time_that_cannot_be_told_from_the_baselines_says_so():
    rows = [ROWS[0], ("8 vCPUs, compiled", 1.01, 0.125, BEST | {"no_difference": True})]
    chart, _ = draw(make_cells(rows), {"w": "w"})
    words = {word.text for word in read_words(chart.svg_light)}
    assert "≈ 8, compiled" in words
    assert "≈: time not measurably different from the GPU" in words


def test_degenerate_planes():
    assert time_against_cost(make_cells([("GPU", 1, None)]), "", {"w": "w"}) is None
    assert time_against_cost(make_cells(ROWS), "the GPU", {}) is None
    alone, _ = draw(make_cells(ROWS[:1]), {"w": "w"})
    assert alone.title == "No cell costs less than the GPU"
    assert not has_shape(alone.svg_light, "front-w")
    wild = [ROWS[0], ("8 vCPUs, pip", 1000, 0.001, BEST), ("16 vCPUs, pip", 0.001, 1000, BEST)]
    draw(make_cells(wild), {"w": "w"}, name_all=True)
    same = [(f"{2**i} vCPUs, pip", 2, 0.5, BEST) for i in range(7)]
    draw(make_cells([ROWS[0], *same]), {"w": "w"}, name_all=True)
    long = "a_workload_with_a_name_of_many_words_and_more"
    cells, titles = many(5)
    draw(cells, dict.fromkeys(titles, long))


@pytest.fixture(scope="module")
def report_2017():
    campaigns, _ = read_campaigns([ROOT / "runs"])
    (campaign,) = [item for item in campaigns if item.name == "gce-2017-07"]
    return make_report(campaign, [])


def test_the_2017_picture_has_no_words_that_touch(report_2017):
    cells = report_2017.cells
    names = sorted(set(cells["workload"]))
    chart, _ = draw(cells, {name: name for name in names})
    assert chart.title == (
        "8 vCPUs, compiled, are cheapest for all 7 workloads, at 0.0401 to 0.341 × the cost of "
        "the GPU; the GPU is fastest for 6"
    )
    assert len(read_markers(chart.svg_light)) == 63 + 7
    for name in names:
        one = cells[cells["workload"] == name]
        for single in draw(one, {name: name}, name_all=True):
            words = [word.text for word in read_words(single.svg_light)]
            # Nine cells, and each has found a place for its name.
            assert sum(bool(re.fullmatch(r"GPU|\d+, \w+", word)) for word in words) == 9


points = st.tuples(st.floats(20, 180), st.floats(20, 180))


@settings(max_examples=60, deadline=None)
@given(st.lists(points, min_size=1, max_size=8, unique=True), st.integers(10, 70))
def test_labels_never_touch_each_other_or_a_marker(places, width):
    labels = [Label((point,), width, 14) for point in places]
    frame = Box(0, 0, 200, 200)
    boxes = place_labels(labels, [(point, 5) for point in places], [(places, 9)], frame)
    found = [box for box in boxes if box]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(found, 2))
    assert not any(box.overlaps(box_around(point, 5)) for box in found for point in places)
    assert all(box.within(frame) for box in found)
    if len(places) == 1:
        assert len(found) == 1


def test_labels_go_where_there_is_room_by_hand():
    frame = Box(0, 0, 200, 100)
    alone = place_labels([Label(((50, 50),), 40, 10)], [((50, 50), 5)], [], frame)
    assert alone == [Box(56, 45, 96, 55)]
    # A marker to the right: the label goes to the left.
    markers = [((50, 50), 5), ((70, 50), 5)]
    assert place_labels([Label(((50, 50),), 40, 10)], markers, [], frame) == [Box(4, 45, 44, 55)]
    # No room at all.
    assert place_labels([Label(((50, 50),), 300, 10)], markers, [], frame) == [None]
