"""A legend: samples with words beside them, in as many lines as they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from generator.charts.palette import INK, MUTED
from generator.charts.style import LINE, SMALL_PX, text_width, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_SAMPLE, _BETWEEN, _ROW = 16.0, 14.0, SMALL_PX * 1.55
MARKER = 4.5


@dataclass(frozen=True)
class Sample:
    """An entry of a legend.

    Attributes:
        words: what it means.
        kind: a marker, the line that joins, a cross of intervals, or the words alone.
        marker: matplotlib's marker, for a marker.
        colour: of the sample.
        filled: whether the marker is.
    """

    words: str
    kind: Literal["marker", "line", "cross", "words"] = "words"
    marker: str = "o"
    colour: str = INK
    filled: bool = True


@dataclass(frozen=True)
class _Place:
    sample: Sample
    x: float
    y: float
    lines: tuple[str, ...]


def lay_out(samples: Sequence[Sample], width: float) -> tuple[list[_Place], float]:
    """Return where each sample goes in a width, and how high they are together, in pixels."""
    places: list[_Place] = []
    x, y = 0.0, 0.0
    for sample in samples:
        indent = 0 if sample.kind == "words" else _SAMPLE
        wide = indent + text_width(sample.words)
        if x > 0 and x + wide > width:
            x, y = 0.0, y + _ROW
        lines = tuple(wrap(sample.words, width - indent))
        places.append(_Place(sample, x, y, lines))
        y += (len(lines) - 1) * SMALL_PX * LINE
        x = width if len(lines) > 1 else x + wide + _BETWEEN
    return places, y + _ROW


def draw_legend(paper: Axes, places: Sequence[_Place]) -> None:
    """Draw samples on a paper (``Canvas.paper``) that is large enough."""
    for place in places:
        sample, x, y = place.sample, place.x, place.y + _ROW / 2
        indent = 0.0 if sample.kind == "words" else _SAMPLE
        middle = x + _SAMPLE / 2 - 2
        if sample.kind == "marker":
            draw_marker(paper, (middle, y), sample.marker, sample.colour, filled=sample.filled)
        elif sample.kind == "line":
            paper.plot([middle - 6, middle + 6], [y, y], color=sample.colour, linewidth=1.3)
        elif sample.kind == "cross":
            paper.plot([middle - 6, middle + 6], [y, y], color=sample.colour, linewidth=1.2)
            paper.plot([middle, middle], [y - 6, y + 6], color=sample.colour, linewidth=1.2)
        for index, line in enumerate(place.lines):
            paper.text(
                x + indent,
                y + index * SMALL_PX * LINE,
                line,
                fontsize=SMALL_PX,
                color=MUTED if sample.kind == "words" else INK,
                va="center_baseline",
            )


def draw_marker(
    axes: Axes, place: tuple[float, float], marker: str, colour: str, *, filled: bool
) -> None:
    """Draw the marker of a cell."""
    axes.plot(
        [place[0]],
        [place[1]],
        marker=marker,
        markersize=2 * MARKER - 1,
        markerfacecolor=colour if filled else "none",
        markeredgecolor=colour,
        markeredgewidth=1.5,
        linestyle="none",
        zorder=4,
        clip_on=False,
    )
