"""Places labels beside points so that none touches another, a point or, if possible, a line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels; ``y`` grows downwards or upwards, as its maker likes."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> Point:
        """Its middle."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def overlaps(self, other: Box) -> bool:
        """Return whether two boxes share an area."""
        return (
            min(self.right, other.right) > max(self.left, other.left)
            and min(self.top, other.top) > max(self.bottom, other.bottom)
        )  # fmt: skip

    def within(self, frame: Box) -> bool:
        """Return whether this box lies in a frame."""
        return (
            frame.left <= self.left
            and self.right <= frame.right
            and frame.bottom <= self.bottom
            and self.top <= frame.top
        )

    def distance(self, point: Point) -> float:
        """Return how far a point is from this box; 0 inside."""
        across = max(self.left - point[0], 0, point[0] - self.right)
        return math.hypot(across, max(self.bottom - point[1], 0, point[1] - self.top))


@dataclass(frozen=True)
class Label:
    """What names a point, or any of a curve's points: where they are, and how large the words are.

    All in pixels.
    """

    points: tuple[Point, ...]
    width: float
    height: float


def box_around(point: Point, radius: float) -> Box:
    """Return the box of a marker."""
    x, y = point
    return Box(x - radius, y - radius, x + radius, y + radius)


# The places that are tried, best first: right, left, below, above, and the corners.
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
_DISTANCES = (6.0, 9.0, 13.0, 18.0, 25.0, 34.0, 46.0, 60.0)
# A pixel of distance costs 1; words that are closer to another point than to their own cost as
# much as these pixels, and so does the leader that distant words need.
_DOUBT_COST, _LEADER_COST = 24.0, 8.0
LEADER_FROM = 11.0
_STEP = 3.0
_ALL_ORDERS = 5


def place_labels(
    labels: Sequence[Label],
    markers: Sequence[tuple[Point, float]],
    lines: Iterable[tuple[Sequence[Point], float]],
    frame: Box,
) -> list[Box | None]:
    """Return a box for each label; None where none fits.

    No box touches another or a marker, and all are within the frame. Of the ways that were
    tried the one is returned that places most labels, at the least cost.

    Args:
        labels: what to place.
        markers: the middle of every marker and its radius, those of the labels' points too.
        lines: the corners of lines that are better not covered, and what it costs, in pixels.
        frame: where labels must stay.
    """
    dots = [(x, y, cost) for line, cost in lines for x, y in _dots(line)]
    blocks = [box_around(point, radius) for point, radius in markers]
    choices = []
    for label in labels:
        others = [point for point, _ in markers if point not in label.points]
        choices.append(
            sorted(
                (
                    (_cost(box, distance, label, others, dots), order, box)
                    for order, (distance, box) in enumerate(_candidates(label))
                    if box.within(frame) and not any(map(box.overlaps, blocks))
                ),
                key=lambda choice: choice[:2],
            )
        )
    # Whoever is placed first has the first choice: try who that should be.
    best: tuple[tuple[int, float], list[Box | None]] | None = None
    for order in _orders([len(choice) for choice in choices]):
        placed: list[Box | None] = [None] * len(labels)
        missing, total = 0, 0.0
        for index in order:
            taken = [box for box in placed if box]
            for cost, _, box in choices[index]:
                if not any(map(box.overlaps, taken)):
                    placed[index] = box
                    total += cost
                    break
            else:
                missing += 1
        if best is None or (missing, total) < best[0]:
            best = (missing, total), placed
    return best[1] if best else []


def _orders(counts: list[int]) -> Iterator[tuple[int, ...]]:
    """Return orders to place labels in: all of a few labels, else those with few choices first."""
    if len(counts) <= _ALL_ORDERS:
        yield from permutations(range(len(counts)))
        return
    by_choice = sorted(range(len(counts)), key=lambda index: (counts[index], index))
    for start in range(len(counts)):
        yield (by_choice[start], *by_choice[:start], *by_choice[start + 1 :])


def _candidates(label: Label) -> Iterator[tuple[float, Box]]:
    for distance, (dx, dy), (x, y) in product(_DISTANCES, _DIRECTIONS, label.points):
        # In a corner both distances count.
        gap = distance * (0.7 if dx and dy else 1)
        left = x - label.width / 2 + dx * (label.width / 2 + gap)
        bottom = y - label.height / 2 + dy * (label.height / 2 + gap)
        yield distance, Box(left, bottom, left + label.width, bottom + label.height)


def _cost(
    box: Box,
    distance: float,
    label: Label,
    others: list[Point],
    dots: list[tuple[float, float, float]],
) -> float:
    covered = max(
        (cost for x, y, cost in dots if box.left <= x <= box.right and box.bottom <= y <= box.top),
        default=0.0,
    )
    own = min(box.distance(point) for point in label.points)
    doubt = any(box.distance(point) < own for point in others)
    leader = own >= LEADER_FROM
    return distance + covered + _DOUBT_COST * doubt + _LEADER_COST * leader


def _dots(line: Sequence[Point]) -> Iterator[Point]:
    """Return points along a line, close together."""
    for (x0, y0), (x1, y1) in pairwise(line):
        count = max(1, math.ceil(math.hypot(x1 - x0, y1 - y0) / _STEP))
        for step in range(count + 1):
            yield x0 + (x1 - x0) * step / count, y0 + (y1 - y0) * step / count
