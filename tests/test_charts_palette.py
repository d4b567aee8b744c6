"""Colours that colour-blind people can tell apart, and that can be seen on either page."""

import itertools

import numpy as np
import pytest

from generator.charts.palette import (
    DARK_PAGE,
    GAINS,
    GREY,
    INK,
    LIGHT_PAGE,
    LOOKS,
    LOSSES,
    MUTED,
    PAIRS,
    SIZE_COLOURS,
    WARN,
    look_of,
    size_colours,
)

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
# deficiency", IEEE TVCG 15 (2009), doi:10.1109/TVCG.2009.113: severity 1.0, for linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
# IEC 61966-2-1: sRGB to XYZ, white D65.
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = XYZ @ np.ones(3)
PAGES = ((0, LIGHT_PAGE), (1, DARK_PAGE))


def linear(colour):
    share = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """Return CIELAB (CIE 15) of linear RGB."""
    share = XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other, sight):
    return float(np.linalg.norm(lab(sight @ linear(one)) - lab(sight @ linear(other))))


def contrast(one, other):
    """Return WCAG's contrast ratio."""
    light, dark = sorted((float(XYZ[1] @ linear(colour)) for colour in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measures_by_known_values():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    # CIELAB of sRGB's red.
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.05)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("theme", "page"), PAGES)
def test_sizes_can_be_told_apart(sight, theme, page):
    ink = PAIRS[INK] if page == DARK_PAGE else INK
    colours = [pair[theme] for pair in SIZE_COLOURS]
    matrix = SIGHT[sight]
    assert min(distance(a, b, matrix) for a, b in itertools.combinations(colours, 2)) >= 16
    # 8 to 64 vCPUs, as in 2017, and 1 to 4, as on a desk, are those that stand together.
    for group in (colours[:3], colours[3:7]):
        assert min(distance(a, b, matrix) for a, b in itertools.combinations(group, 2)) >= 25
    assert min(distance(ink, colour, matrix) for colour in colours) >= 16


@pytest.mark.parametrize(("theme", "page"), PAGES)
def test_words_and_marks_stand_out_from_the_page(theme, page):
    def shown(colour):
        return PAIRS[colour] if theme else colour

    for colour in (INK, MUTED, WARN):
        assert contrast(shown(colour), page) >= 4.5
    assert contrast(shown(GREY), page) >= 3
    for pair in SIZE_COLOURS:
        assert contrast(pair[theme], page) >= 3
    for tint in (*GAINS, *LOSSES):
        assert contrast(shown(INK), tint[theme]) >= 4.5


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("theme", "page"), PAGES)
def test_what_saves_can_be_told_from_what_costs(sight, theme, page):
    for gain, loss in zip(GAINS[1:], LOSSES[1:], strict=True):
        assert distance(gain[theme], loss[theme], SIGHT[sight]) >= 25
        assert gain[theme] != page


def test_a_size_has_one_colour_in_any_company():
    alone, pairs = size_colours([16])
    together, more = size_colours([1, 2, 8, 12, 16, 96, 0])
    assert alone[16] == together[16] == SIZE_COLOURS[4][0]
    assert pairs[alone[16]] == more[together[16]] == SIZE_COLOURS[4][1]
    assert len(set(together.values())) == 7
    assert together[0] == MUTED
    assert size_colours([128])[0][128] == size_colours([512])[0][512]
    # Halfway between the logarithms of 8 and 16: the middle of their colours.
    middle = size_colours([round(8 * 2**0.5)])[0][11]
    ends = [int(SIZE_COLOURS[i][0][1:3], 16) for i in (3, 4)]
    assert int(middle[1:3], 16) == pytest.approx(sum(ends) / 2, abs=1)


def test_builds_differ_by_shape_or_fill():
    looks = [*LOOKS.values(), look_of("nightly")]
    assert len({(look.marker, look.filled) for look in looks}) == len(looks)
    assert len({(look.filled, look.hatch) for look in looks}) == len(looks)


def test_no_dark_colour_is_a_light_one_of_another_meaning():
    sizes = dict(SIZE_COLOURS)
    every = PAIRS | sizes | dict((*GAINS, *LOSSES))
    assert len(every) == len(PAIRS) + len(sizes) + 6
    assert set(every) & set(every.values()) == set()
