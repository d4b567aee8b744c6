"""Places labels beside points so that none touches another, a point or a line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels; ``y`` grows downwards or upwards, as its maker likes."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """Return the area that two boxes share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)

    def outside(self, frame: Box) -> float:
        """Return the area of this box that lies outside of a frame."""
        area = (self.right - self.left) * (self.top - self.bottom)
        return area - self.overlap(frame)


def box_around(point: Point, radius: float) -> Box:
    """Return the box of a marker."""
    x, y = point
    return Box(x - radius, y - radius, x + radius, y + radius)


# The places that are tried, nearest first: right, left, below, above, and the corners.
_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
_DISTANCES = (7.0, 12.0, 18.0, 26.0)
# A label over a point hides data; over a line it is only hard to read.
_LINE_WEIGHT, _DISTANCE_WEIGHT, _FRAME_WEIGHT = 0.35, 0.8, 4.0
_STEPS = 30


def place_labels(
    labels: list[tuple[Point, float, float]],
    markers: list[Box],
    lines: list[list[Point]],
    frame: Box,
) -> list[Box]:
    """Return a box for each label.

    Args:
        labels: the point that each names, and the label's width and height, in pixels.
        markers: what must not be covered.
        lines: the corners of lines that are better not covered.
        frame: where labels should stay.
    """
    on_line = [
        box_around((x0 + (x1 - x0) * step / _STEPS, y0 + (y1 - y0) * step / _STEPS), 1.5)
        for line in lines
        for (x0, y0), (x1, y1) in pairwise(line)
        for step in range(_STEPS + 1)
    ]
    placed: list[Box] = []
    for point, width, height in labels:
        best: tuple[float, Box] | None = None
        for distance in _DISTANCES:
            for dx, dy in _DIRECTIONS:
                box = _beside(point, width, height, dx, dy, distance)
                cost = sum(box.overlap(other) for other in (*placed, *markers))
                cost += _LINE_WEIGHT * sum(box.overlap(other) for other in on_line)
                cost += _FRAME_WEIGHT * box.outside(frame) + _DISTANCE_WEIGHT * distance
                if best is None or cost < best[0] - 1e-9:
                    best = cost, box
        if best:
            placed.append(best[1])
    return placed


def _beside(point: Point, width: float, height: float, dx: int, dy: int, distance: float) -> Box:
    x, y = point
    left = x - width / 2 + dx * (width / 2 + distance * (0.75 if dy else 1))
    bottom = y - height / 2 + dy * (height / 2 + distance * (0.75 if dx else 1))
    return Box(left, bottom, left + width, bottom + height)
