"""Colours that mean one thing on all pages: a size of instance, the baseline, "no difference".

Each has a counterpart for the dark page, of the same hue, so that a reader who changes the
page's theme does not learn the colours again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# The site's two pages: what a colour must be told from.
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#1e2129"

# INK: words, and the GPU. MUTED: words that matter less. GREY: marks that mean "no measurable
# difference". RULE and FAINT: lines and bands that may be missed without loss. WARN: too slow.
INK, MUTED, GREY, RULE, FAINT = "#1f2328", "#5b6470", "#80868e", "#c3c9d0", "#e6e9ed"
WARN = "#b3261e"
PAIRS = {
    LIGHT_PAGE: DARK_PAGE,
    INK: "#e8eaed",
    MUTED: "#a9b1bb",
    GREY: "#8f969f",
    RULE: "#4b525c",
    FAINT: "#2f343d",
    WARN: "#ff8a80",
}

# How much compiling saves, and how much it costs: from little to much.
GAINS = (("#e3eefb", "#22344a"), ("#b9d5f3", "#274b73"), ("#86b6e8", "#2f659f"))
LOSSES = (("#fdeadb", "#46321f"), ("#fbcfa8", "#6b4417"), ("#f2a86a", "#83500f"))

# For 1, 2, 4 ... 128 vCPUs: greens up to four, then red to navy, darker the larger. Searched
# for, so that under deuteranopia and protanopia too no two come close: at least 16 apart in
# CIELAB, and 25 within 8 to 64 (tests/test_charts_palette.py measures it).
SIZE_COLOURS = (
    ("#5d9f32", "#b8fb89"),
    ("#077d42", "#25b063"),
    ("#085951", "#068c81"),
    ("#e0430f", "#feaa95"),
    ("#cc1280", "#ff88c1"),
    ("#2e45e1", "#9d8eff"),
    ("#011e7d", "#535bfe"),
    ("#5281c2", "#92bbff"),
)


@dataclass(frozen=True)
class Look:
    """How a build is drawn: what repeats the colour's meaning by shape and fill."""

    words: str
    marker: str
    filled: bool
    hatch: str


LOOKS = {
    "compiled": Look("filled: compiled TensorFlow", "o", filled=True, hatch=""),
    "compiled-onednn": Look(
        "filled diamond, striped: compiled with oneDNN on", "D", filled=True, hatch="////"
    ),
    "pip": Look("hollow: TensorFlow from pip", "o", filled=False, hatch=""),
    "pip-onednn": Look("diamond, striped: pip with oneDNN on", "D", filled=False, hatch="////"),
    "pip-xla": Look("triangle, dotted: pip with XLA on", "^", filled=False, hatch="...."),
}
_OTHER = Look("pentagon, crossed: another build", "p", filled=False, hatch="xxxx")


def look_of(build: str) -> Look:
    """Return how a build is drawn."""
    return LOOKS.get(build, _OTHER)


def size_colours(sizes: Iterable[int]) -> tuple[dict[int, str], dict[str, str]]:
    """Return a colour for each size in vCPUs, and the dark counterpart of each colour.

    A size has the same colour in whatever company. One between two powers of 2 gets a mixture
    of theirs; 0, for a size that is unknown, is muted.
    """
    light: dict[int, str] = {}
    pairs: dict[str, str] = {}
    for size in sorted(set(sizes)):
        if size < 1:
            light[size] = MUTED
            continue
        place = min(math.log2(size), len(SIZE_COLOURS) - 1)
        below = min(int(place), len(SIZE_COLOURS) - 2)
        share = place - below
        light[size], dark = (
            _mix(SIZE_COLOURS[below][theme], SIZE_COLOURS[below + 1][theme], share)
            for theme in (0, 1)
        )
        pairs[light[size]] = dark
    return light, pairs


def _mix(first: str, second: str, share: float) -> str:
    parts = [
        round(int(first[i : i + 2], 16) * (1 - share) + int(second[i : i + 2], 16) * share)
        for i in (1, 3, 5)
    ]
    return "#{:02x}{:02x}{:02x}".format(*parts)
