"""Bars begin at zero and end at their ratio; what is missing is named; titles say the finding."""

import re

import matplotlib as mpl
import pytest
from charting import check_drawing, has_shape, make_cells, read_shape, read_words
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.textpath import TextPath

from generator.charts.bars import relative_bars
from generator.charts.notes import note_of
from generator.charts.palette import INK, PAIRS
from generator.charts.style import doublings, text_width, whole_steps, wrap
from generator.measures import list_rows

FIVE = [
    ("GPU", 1.0, 1.0),
    ("8 vCPUs, pip", 2.0, 0.2),
    ("8 vCPUs, compiled", 1.25, 0.125),
    ("16 vCPUs, pip", 1.5, 0.3),
    ("16 vCPUs, compiled", 1.08, 0.216),
]


def both(cells, measure="time", baseline="the GPU", **more):
    """Return the wide and the narrow chart, both checked."""
    charts = [relative_bars(cells, measure, baseline, narrow=n, **more) for n in (False, True)]
    for chart in charts:
        check_drawing(chart)
    return charts


def texts(chart):
    return [word.text.replace("\N{NO-BREAK SPACE}", " ") for word in read_words(chart.svg_light)]


@pytest.mark.parametrize("measure", ["time", "cost"])
def test_bars_begin_at_zero_and_end_at_their_ratio(measure):
    for chart in both(make_cells(FIVE), measure):
        (unit, _), *_ = read_shape(chart.svg_light, "baseline")[0]
        lengths = {}
        for label, *ratios in FIVE:
            corners, _ = read_shape(chart.svg_light, "bar-" + re.sub("[ ,]+", "-", label))
            left, right = min(x for x, _ in corners), max(x for x, _ in corners)
            lengths[label] = ratios[measure == "cost"]
            zero = left
            assert (right - zero) / (unit - zero) == pytest.approx(lengths[label], abs=1e-4)
        (zero_word,) = [word for word in read_words(chart.svg_light) if word.text == "0"]
        assert (zero_word.left + zero_word.right) / 2 == pytest.approx(zero, abs=0.5)


def test_the_dashed_line_is_at_one_and_dashed():
    for chart in both(make_cells(FIVE)):
        corners, style = read_shape(chart.svg_light, "baseline")
        gpu, _ = read_shape(chart.svg_light, "bar-GPU")
        assert corners[0][0] == pytest.approx(max(x for x, _ in gpu))
        assert "stroke-dasharray" in style


def test_the_finding_and_every_figure_are_in_words():
    time, _ = both(make_cells(FIVE))
    assert time.title == "The GPU is fastest; 16 vCPUs, compiled, take 1.08 × as long"
    assert time.alt == (
        "The GPU is fastest; 16 vCPUs, compiled, take 1.08 × as long. Time relative to the GPU: "
        "GPU: 1 × (baseline); 8 vCPUs, pip: 2.00 ×; 8 vCPUs, compiled: 1.25 ×; "
        "16 vCPUs, pip: 1.50 ×; 16 vCPUs, compiled: 1.08 ×."
    )
    cost, _ = both(make_cells(FIVE), "cost")
    assert cost.title == "8 vCPUs, compiled, are cheapest: 0.125 × the cost of the GPU"
    assert {"0.200 ×", "0.125 ×", "0.300 ×", "0.216 ×"} < set(texts(cost))
    assert "cost relative to the GPU (shorter is cheaper)" in texts(cost)


def test_cells_without_a_figure_keep_their_place_hollow_and_named():
    rows = [
        *FIVE,
        ("32 vCPUs, pip", None, None),
        ("32 vCPUs, compiled", None, None, {"status": "failed"}),
        ("64 vCPUs, pip", 1.4, None),
    ]
    for chart in both(make_cells(rows), "cost"):
        words = texts(chart)
        for state in ("missing", "failed", "no price"):
            assert words.count(state) == 1
        for name in ("missing-32-vCPUs-pip", "failed-32-vCPUs-compiled", "no-price-64-vCPUs-pip"):
            _, style = read_shape(chart.svg_light, name)
            assert "fill: none" in style
            assert "stroke-dasharray" in style
        assert not has_shape(chart.svg_light, "bar-32-vCPUs-pip")
        assert {"32 vCPUs, pip", "32 vCPUs, compiled", "64 vCPUs, pip"} < set(words)
        assert "32 vCPUs, pip: missing; 32 vCPUs, compiled: failed" in chart.alt
        assert ": 0 ×" not in chart.alt


def test_intervals_are_drawn_where_there_are_several_runs():
    several = {"runs": 3, "ratio_low": 1.2, "ratio_high": 1.4}
    cells = make_cells([("GPU", 1, 1, {"runs": 3}), ("8 vCPUs, pip", 1.3, 0.3, several)])
    for chart in both(cells):
        (unit, _), *_ = read_shape(chart.svg_light, "baseline")[0]
        bar, _ = read_shape(chart.svg_light, "bar-8-vCPUs-pip")
        zero = min(x for x, _ in bar)
        ends = sorted({x for x, _ in read_shape(chart.svg_light, "interval-8-vCPUs-pip")[0]})
        assert [(x - zero) / (unit - zero) for x in ends] == pytest.approx([1.2, 1.4], abs=1e-4)
        assert not has_shape(chart.svg_light, "interval-GPU")
        assert "8 vCPUs, pip: 1.30 × (1.20 to 1.40)" in chart.alt
        assert "Median of 3 runs a cell, with 95 % intervals." in " ".join(texts(chart))


def test_no_measurable_difference_looks_like_it():
    same = {"runs": 3, "ratio_low": 0.9, "ratio_high": 1.1, "no_difference": True}
    cells = make_cells([("GPU", 1, 1, {"runs": 3}), ("8 vCPUs, pip", 0.98, 0.3, same)])
    time, _ = both(cells, resolution=0.05)
    assert time.title == "No cell is measurably faster than the GPU"
    assert "≈ 0.980 ×" in texts(time)
    _, style = read_shape(time.svg_light, "bar-8-vCPUs-pip")
    # Its time can't be told apart; what it costs can.
    cost, _ = both(cells.assign(cost_low=0.27, cost_high=0.33), "cost", resolution=0.05)
    assert "0.300 ×" in texts(cost)
    assert read_shape(cost.svg_light, "bar-8-vCPUs-pip")[1] != style
    behind = make_cells([("GPU", 1, 1), ("8 vCPUs, pip", 1.02, 0.3, {"no_difference": True})])
    assert both(behind)[0].title == "No measurable difference between the GPU and 8 vCPUs, pip"


def test_what_weakens_the_figures_is_said():
    rows = list_rows(make_cells(FIVE, synthetic=True, profile="quick"))
    assert note_of(rows, 0.042) == (
        "One run a cell (n = 1), so no intervals; resolution 4.2 %; "
        "profile quick, not the full training; synthetic data."
    )
    rows[0]["runs"] = 3
    rows[1]["synthetic"] = False
    rows[1]["predicted"] = True
    assert note_of(rows) == (
        "Median of 1 to 3 runs a cell, with 95 % intervals where n > 1; profile quick, not the "
        "full training; synthetic data in 4 of 5 cells; predicted figures in 1 of 5 cells."
    )
    assert note_of([]) == ""


def test_local_builds_differ_by_more_than_colour():
    builds = ("pip", "pip-onednn", "pip-xla", "compiled", "nightly")
    base = {"is_baseline": True}
    rows = [(f"2 vCPUs, {build}", 1 + i / 4, None) for i, build in enumerate(builds)]
    cells = make_cells([(*rows[0], base), *rows[1:]])
    for chart in both(cells, baseline="2 vCPUs, pip"):
        styles = [read_shape(chart.svg_light, f"bar-2-vCPUs-{build}")[1] for build in builds]
        fills = [re.search(r"fill: ([^;]+)", style)[1] for style in styles]
        assert len(set(fills)) == 5
        strokes = {re.search(r"stroke: ([^;]+)", style)[1] for style in styles}
        assert len(strokes) == 1
    assert relative_bars(cells, "cost", "2 vCPUs, pip") is None
    title = "2 vCPUs, pip, are fastest; 2 vCPUs, pip-onednn, take 1.25 × as long"
    assert both(cells, baseline="2 vCPUs, pip")[0].title == title


def test_degenerate_cells_are_drawn_or_left():
    assert relative_bars(make_cells([("GPU", None, None)]), "time", "") is None
    alone = both(make_cells([("GPU", 1, 1)]))[0]
    assert alone.title == "GPU alone has a time"
    wild = make_cells([("GPU", 1, 1), ("8 vCPUs, pip", 1000, 0.001), ("16 vCPUs, pip", 0.001, 1e4)])
    assert "1,000 ×" in texts(both(wild)[0])
    assert both(wild)[0].title == "16 vCPUs, pip, are fastest: 0.00100 × the time of the GPU"
    assert "10,000 ×" in texts(both(wild, "cost")[0])
    odd = make_cells(FIVE[:2]).assign(label=["a <b> & $1 to $2", "Z" * 30])
    assert "a <b> & $1 to $2" in texts(both(odd, baseline="<b> & c")[0])


def test_the_same_cells_give_the_same_bytes_whatever_the_readers_settings():
    first = relative_bars(make_cells(FIVE), "time", "the GPU")
    before = dict(mpl.rcParams)
    again = relative_bars(make_cells(FIVE), "time", "the GPU")
    assert dict(mpl.rcParams) == before
    with mpl.rc_context({"font.size": 20, "axes.grid": True, "svg.fonttype": "path"}):
        changed = relative_bars(make_cells(FIVE), "time", "the GPU")
    assert first == again == changed


def test_dark_swaps_each_colour_for_its_own():
    chart = relative_bars(make_cells(FIVE), "time", "the GPU")
    _, light = read_shape(chart.svg_light, "bar-GPU")
    _, dark = read_shape(chart.svg_dark, "bar-GPU")
    assert f"fill: {INK}" in light
    assert f"fill: {PAIRS[INK]}" in dark
    left = set(re.findall(r"#[0-9a-f]{6}(?=[;\"])", chart.svg_dark)) & {
        color for color in PAIRS if color not in PAIRS.values()
    }
    assert left == set()


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(1e-3, 1e3), st.sampled_from(["", "missing", "failed"])),
        min_size=1,
        max_size=9,
    )
)
def test_no_ratios_make_words_touch(ratios):
    rows = [("GPU", 1, 1)]
    for i, (ratio, status) in enumerate(ratios):
        rows.append((f"{2**i} vCPUs, pip", None if status else ratio, None, {"status": status}))
    both(make_cells(rows))


def test_widths_are_those_of_the_widest_font():
    for words in ("The GPU is fastest", "0.0401 × (8, compiled)", "WWW iii"):
        box = TextPath((0, 0), words, size=100).get_extents()
        assert text_width(words, 100) == pytest.approx(box.width, rel=0.04)


def test_lines_keep_figures_with_their_units():
    lines = wrap("about 0.115 × the cost of 16 vCPUs, and 30.4 s", 60)
    assert max(map(text_width, lines)) <= 60
    assert not any(re.search(r"\d$", line) for line in lines)
    assert " ".join(lines).replace("\N{NO-BREAK SPACE}", " ") == (
        "about 0.115 × the cost of 16 vCPUs, and 30.4 s"
    )


def test_ticks_by_hand():
    assert whole_steps(2.7, 8) == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5])
    assert whole_steps(1000, 5) == [0, 200, 400, 600, 800, 1000]
    assert doublings(0.0007, 0.006) == pytest.approx([0.0008, 0.0016, 0.0032])
    assert doublings(3.2, 40) == pytest.approx([4, 8, 16, 32])
