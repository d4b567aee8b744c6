"""Break-even prices: each dot at its price, filled where that is more than is paid."""

import itertools
import math
import re

import pandas as pd
import pytest
from charting import SVG, check_drawing, has_shape, make_cells, parse, read_shape, read_words
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.charts.palette import GREY, INK, MUTED, PAIRS, size_colours
from generator.charts.prices import break_even_prices

# The GPU takes 10 s and costs $1, which is $360 an hour. A cell that takes 20 s at $45 an hour
# costs $0.25; at $180 an hour it would cost $1.
ROWS = [
    ("GPU", 1, 1),
    ("16 vCPUs, compiled", 1, 0.5),
    ("8 vCPUs, compiled", 2, 0.25),
    ("8 vCPUs, pip", 4, 0.5),
    ("16 vCPUs, pip", 2, 1),
]


def cells_of(rows, workload="w", **everywhere):
    """Return labelled cells with the label that a line has."""
    cells = make_cells(rows, workload, **everywhere)
    return cells.assign(plain_label=cells["label"].str.replace(" (predicted)", "", regex=False))


def two(first, second):
    """Return the cells of two workloads, a and b."""
    return pd.concat([cells_of(first, "a"), cells_of(second, "b")], ignore_index=True)


def draw(cells, baseline="the GPU", **more):
    """Return the wide and the narrow chart, checked."""
    charts = [break_even_prices(cells, baseline, narrow=n, **more) for n in (False, True)]
    for chart in charts:
        check_drawing(chart)
    return charts


def texts(chart):
    return [word.text for word in read_words(chart.svg_light)]


def read_dot(svg, label, workload="w"):
    """Return the middle of a dot, in pixels, and its style; a dashed one is a path of its own."""
    name = f"dot-{label}-{workload}"
    (dot,) = [node for node in parse(svg).iter(f"{SVG}g") if node.get("id") == name]
    uses = list(dot.iter(f"{SVG}use"))
    if uses:
        return (float(uses[0].get("x")), float(uses[0].get("y"))), uses[0].get("style")
    (path,) = dot.iter(f"{SVG}path")
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
    middle = [(min(side) + max(side)) / 2 for side in (numbers[::2], numbers[1::2])]
    return tuple(middle), path.get("style")


def read_paid(svg, label):
    """Return where the tick of the price paid is, in pixels from the left."""
    (x, top), (same, bottom) = read_shape(svg, f"paid-{label}")[0]
    assert x == same
    assert abs(top - bottom) > 10
    return x


def scale_of(chart):
    """Return what gives the place of a price, from two ticks of the axis."""
    ticks = {}
    for word in read_words(chart.svg_light):
        if re.fullmatch(r"\$[\d.,]+", word.text):
            price = float(word.text[1:].replace(",", ""))
            ticks[price] = (word.left + word.right) / 2
    assert len(ticks) >= 2
    low, *_, high = sorted(ticks)
    octave = (ticks[high] - ticks[low]) / math.log2(high / low)
    return lambda price: ticks[low] + octave * math.log2(price / low)


def test_dots_and_ticks_are_at_their_prices_by_hand():
    # $1 in 20 s, 40 s, 10 s and 20 s, and what was paid for each: $0.25 in 20 s is $45 an hour.
    breaks = {"8-vCPUs-compiled": 180, "8-vCPUs-pip": 90, "16-vCPUs-compiled": 360}
    paid = {"8-vCPUs-compiled": 45, "8-vCPUs-pip": 45, "16-vCPUs-compiled": 180}
    for chart in draw(cells_of(ROWS)):
        place = scale_of(chart)
        for label, price in breaks.items():
            (x, _), _ = read_dot(chart.svg_light, label)
            assert x == pytest.approx(place(price), abs=0.5)
            assert read_paid(chart.svg_light, label) == pytest.approx(place(paid[label]), abs=0.5)
        assert not has_shape(chart.svg_light, "dot-GPU-w")
        assert not has_shape(chart.svg_light, "paid-GPU")


def test_dots_are_filled_right_of_the_price_paid_and_hollow_left_of_it():
    rows = [("GPU", 1, 1), ("8 vCPUs, pip", 2, 0.5), ("16 vCPUs, pip", 2, 1.5)]
    colours, _ = size_colours([8, 16])
    for chart in draw(cells_of(rows)):
        (x, _), style = read_dot(chart.svg_light, "8-vCPUs-pip")
        assert x > read_paid(chart.svg_light, "8-vCPUs-pip")
        assert f"fill: {colours[8]}" in style
        (x, _), style = read_dot(chart.svg_light, "16-vCPUs-pip")
        assert x < read_paid(chart.svg_light, "16-vCPUs-pip")
        assert "fill: none" in style
        assert f"stroke: {colours[16]}" in style
        assert {"costs less than the GPU", "costs more", "price paid"} < set(texts(chart))


def test_lines_go_from_small_to_large_with_builds_of_an_instance_together():
    wanted = ["8-vCPUs-pip", "8-vCPUs-compiled", "16-vCPUs-pip", "16-vCPUs-compiled"]
    for chart in draw(cells_of(ROWS)):
        heights = [read_dot(chart.svg_light, label)[0][1] for label in wanted]
        assert heights == sorted(heights)
        first, second, third = (b - a for a, b in itertools.pairwise(heights))
        assert first == pytest.approx(third)
        assert first < second


def test_the_axis_says_what_it_is_in_steps_of_2():
    for chart in draw(cells_of(ROWS)):
        caption = "break-even price in USD per hour: right of the price paid is cheaper"
        assert caption in " ".join(texts(chart))
        ticks = [float(word[1:]) for word in texts(chart) if re.fullmatch(r"\$[\d.]+", word)]
        assert ticks == [40, 80, 160, 320]


def test_the_finding_and_every_figure_are_in_words():
    chart, _ = draw(cells_of([ROWS[0], ROWS[3], ROWS[2]]))
    assert chart.title == "At the prices paid, 8 vCPUs cost less than the GPU for w"
    assert chart.alt == (
        "At the prices paid, 8 vCPUs cost less than the GPU for w. Price per hour in USD at which "
        "each costs as much as the GPU: 8 vCPUs, pip (paid $45.0: 1 of 1 cheaper): w $90.0; "
        "8 vCPUs, compiled (paid $45.0: 1 of 1 cheaper): w $180."
    )
    assert texts(chart).count("paid $45.0: 1 of 1 cheaper") == 2


def title(first, second=None, **more):
    cells = two(first, second) if second else cells_of(first)
    return draw(cells, **more)[0].title


def test_titles_are_right_for_any_data():
    # An hour of 8 vCPUs is $45 throughout.
    gpu, pip, compiled = ROWS[0], ("8 vCPUs, pip", 4, 0.5), ("8 vCPUs, compiled", 2, 0.25)
    slow = ("8 vCPUs, compiled", 16, 2)
    assert title([gpu, pip, compiled], [gpu, pip, slow]) == (
        "At the prices paid, 8 vCPUs, pip, cost less than the GPU for all 2 workloads"
    )
    assert title([gpu, pip], [gpu, ("8 vCPUs, pip", 16, 2)]) == (
        "At the prices paid, 8 vCPUs, pip, cost less than the GPU for 1 of 2 workloads"
    )
    assert title([gpu, ("8 vCPUs, pip", 16, 2)]) == (
        "At the prices paid, nothing measurably costs less than the GPU"
    )
    one = [gpu, ("1 vCPU, pip", 4, 0.5), ("1 vCPU, compiled", 2, 0.25)]
    singular = cells_of(one).replace({"instance_label": {"1 vCPUs": "1 vCPU"}})
    assert draw(singular)[0].title == "At the prices paid, 1 vCPU costs less than the GPU for w"
    many = [gpu, *((f"{2**n} vCPUs, pip", 2, 0.5) for n in range(1, 5))]
    assert title(many) == (
        "At the prices paid, 4 of 4 pairs of instance and build cost less than the GPU for w"
    )
    # A cell that is missing is a workload for which nothing is known, not a cheap one.
    assert title([gpu, pip], [gpu, ("8 vCPUs, pip", None, None)]) == (
        "At the prices paid, 8 vCPUs, pip, cost less than the GPU for 1 of 2 workloads"
    )


def test_without_a_cost_of_the_baseline_there_is_no_chart():
    assert break_even_prices(cells_of([("GPU", 1, None), *ROWS[1:]]), "the GPU") is None
    assert break_even_prices(cells_of(ROWS[1:]), "the GPU") is None
    assert break_even_prices(cells_of(ROWS[:1]), "the GPU") is None
    missing = [ROWS[0], ("8 vCPUs, pip", None, None)]
    assert break_even_prices(cells_of(missing), "the GPU") is None


def test_an_unpriced_line_has_dots_and_no_tick():
    rows = [*ROWS, ("64 vCPUs, pip", 2, None)]
    for chart in draw(cells_of(rows)):
        (x, _), style = read_dot(chart.svg_light, "64-vCPUs-pip")
        assert x == pytest.approx(scale_of(chart)(180), abs=0.5)
        assert "fill: none" in style
        assert f"stroke: {MUTED}" in style
        assert not has_shape(chart.svg_light, "paid-64-vCPUs-pip")
        assert {"no price", "no price to compare"} < set(texts(chart))
        assert "64 vCPUs, pip (no price): w $180" in chart.alt
    alone, _ = draw(cells_of([ROWS[0], ("64 vCPUs, pip", 2, None)]))
    assert alone.title == "64 vCPUs, pip, cost as much as the GPU at $180 per hour"
    assert "price paid" not in texts(alone)


def test_cells_without_a_figure_are_named():
    failed = ("8 vCPUs, pip", None, None, {"status": "failed", "usd_per_hour": 45.0})
    missing = ("8 vCPUs, compiled", None, None)
    cells = two([*ROWS[:1], *ROWS[2:4]], [ROWS[0], failed, missing])
    for chart in draw(cells):
        assert "paid $45.0: 1 of 1 cheaper, 1 failed" in texts(chart)
        assert "paid $45.0: 1 of 1 cheaper, 1 missing" in texts(chart)
        assert not has_shape(chart.svg_light, "dot-8-vCPUs-pip-b")
        assert "8 vCPUs, pip (paid $45.0: 1 of 1 cheaper, 1 failed): a $90.0;" in chart.alt
    # A line of which nothing is known keeps its place.
    for chart in draw(cells_of([*ROWS, ("64 vCPUs, pip", None, None)])):
        assert "no price, 1 missing" in texts(chart)
        assert "64 vCPUs, pip (no price, 1 missing): no figure" in chart.alt


def test_no_measurable_difference_looks_like_it():
    near = [*ROWS[:1], ("8 vCPUs, pip", 2, 0.97), ("8 vCPUs, compiled", 2, 0.97)]
    for chart in draw(cells_of(near), resolution=0.05):
        _, style = read_dot(chart.svg_light, "8-vCPUs-pip")
        assert f"fill: {GREY}" in style
        assert "≈: no measurable difference" in texts(chart)
        assert chart.title == "At the prices paid, nothing measurably costs less than the GPU"
        assert "8 vCPUs, pip (paid $175: 0 of 1 cheaper, 1 ≈): w ≈ $180" in chart.alt
    # Without repeats, a difference is one.
    _, style = read_dot(draw(cells_of(near))[0].svg_light, "8-vCPUs-pip")
    assert GREY not in style


def test_intervals_are_those_of_the_ratio_the_other_way_round():
    # 10 s to 40 s long, $1 is $360 to $90 an hour.
    several = {"runs": 3, "ratio_low": 1, "ratio_high": 4}
    rows = [("GPU", 1, 1, {"runs": 3}), ("8 vCPUs, pip", 2, 0.7, several)]
    for chart in draw(cells_of(rows)):
        ends = sorted(x for x, _ in read_shape(chart.svg_light, "interval-8-vCPUs-pip-w")[0])
        place = scale_of(chart)
        assert ends == pytest.approx([place(90), place(360)], abs=0.5)
        # $126 an hour was paid, which the interval holds.
        assert GREY in read_dot(chart.svg_light, "8-vCPUs-pip")[1]
        assert "w ≈ $180 (90.0 to 360)" in chart.alt
        assert "95 % interval" in texts(chart)


def test_a_predicted_cell_is_pale_and_dashed_and_says_so():
    rows = [*ROWS[:1], ("8 vCPUs, pip", 4, 0.5, {"predicted": True}), ROWS[2]]
    for chart in draw(cells_of(rows)):
        _, style = read_dot(chart.svg_light, "8-vCPUs-pip")
        assert "stroke-dasharray" in style
        assert "opacity: 0.55" in style
        assert "stroke-dasharray" not in read_dot(chart.svg_light, "8-vCPUs-compiled")[1]
        assert "pale, dashed: predicted" in texts(chart)
        assert chart.title.endswith("for w (predicted)")
        assert "w $90.0 (predicted)" in chart.alt
    # What is held against a predicted baseline is a prediction, too.
    rows = [("GPU", 1, 1, {"predicted": True}), ROWS[2]]
    assert "w $180 (predicted)" in draw(cells_of(rows))[0].alt


def test_another_gpu_is_a_dark_square():
    cells = cells_of(ROWS)
    cells.loc[1, ["device", "plain_label", "instance_label"]] = ["GPU", "T4", "T4"]
    for chart in draw(cells):
        _, style = read_dot(chart.svg_light, "T4")
        assert f"fill: {INK}" in style
        first, second = (read_dot(chart.svg_light, at)[0][1] for at in ("T4", "8-vCPUs-pip"))
        assert first < second


def test_dots_at_one_price_do_not_hide_each_other():
    cells = pd.concat([cells_of(ROWS, name) for name in "abc"], ignore_index=True)
    for chart in draw(cells):
        places = [read_dot(chart.svg_light, "8-vCPUs-pip", name)[0] for name in "abc"]
        (x, _), *_ = places
        assert [place[0] for place in places] == pytest.approx([x] * 3, abs=0.01)
        heights = sorted(y for _, y in places)
        assert [b - a for a, b in itertools.pairwise(heights)] == pytest.approx([8, 8])


def test_both_themes_and_widths_and_the_same_bytes_again():
    cells = two(ROWS, ROWS)
    wide, narrow = draw(cells)
    assert (wide.width, narrow.width) == (680, 360)
    assert (wide, narrow) == tuple(draw(cells))
    _, pairs = size_colours([8, 16])
    for chart in (wide, narrow):
        for light, dark in ({INK: PAIRS[INK]} | pairs).items():
            assert light in chart.svg_light
            assert light not in chart.svg_dark
            assert dark in chart.svg_dark
    # On a phone a line's label is above its dots.
    (label,) = [word for word in read_words(narrow.svg_light) if word.text == "8 vCPUs, pip"]
    assert label.bottom < read_dot(narrow.svg_light, "8-vCPUs-pip", "a")[0][1]


def test_long_names_find_room():
    cells = cells_of(ROWS).assign(plain_label=lambda table: "n1-highcpu-custom, " + table["label"])
    for chart in draw(cells):
        assert "n1-highcpu-custom, 8 vCPUs, pip" in texts(chart)


ratios = st.floats(1e-3, 1e3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(ratios, ratios), min_size=1, max_size=4), st.booleans())
def test_any_figures_are_drawn_with_words_apart(figures, priced):
    rows = [
        (f"{2**n} vCPUs, pip", time, cost if priced else None)
        for n, (time, cost) in enumerate(figures, start=1)
    ]
    draw(cells_of([ROWS[0], *rows]), resolution=0.02)
