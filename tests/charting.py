"""Cells to draw, and a drawing's parts to measure: words with their boxes, shapes, markers."""

import re
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree as ET

import pandas as pd

from generator.charts.style import text_width

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"


def make_cells(rows, workload="w", **everywhere):
    """Return labelled cells of (label, time ratio, cost ratio, changes); the first is 10 s, $1.

    A label says what a cell is: ``GPU``, or ``8 vCPUs, pip``.
    """
    records = []
    for label, time, cost, *more in rows:
        gpu = label.startswith("GPU")
        size, build = (0, "pip") if gpu else re.match(r"(\d+) vCPUs?, (.+)", label).groups()
        known = time is not None
        record = {
            "workload": workload,
            "build": build,
            "instance": "gpu" if gpu else f"c{size}",
            "status": "measured" if cost is not None else "unpriced" if known else "missing",
            "runs": 1 if known else 0,
            "time_s": 10 * time if known else None,
            "time_low": None,
            "time_high": None,
            "time_ratio": time,
            "ratio_low": None,
            "ratio_high": None,
            "cost_usd": cost,
            "cost_ratio": cost,
            "cost_low": None,
            "cost_high": None,
            "usd_per_hour": cost / (10 * time) * 3600 if known and cost else None,
            "synthetic": False,
            "predicted": False,
            "profile": "full",
            "label": label,
            "short_label": "GPU" if gpu else f"{size}, {build}",
            "tiny_label": "GPU" if gpu else str(size),
            "instance_label": "GPU" if gpu else f"{size} vCPUs",
            "vcpus": int(size),
            "device": "GPU" if gpu else "CPU",
            "compiled": build == "compiled",
            "is_baseline": gpu,
            "no_difference": False,
            "unbeaten": False,
        }
        records.append(record | everywhere | (more[0] if more else {}))
    frame = pd.DataFrame(records)
    numbers = [name for name in frame if re.search("time_|ratio|cost|low|high|usd", name)]
    frame[numbers] = frame[numbers].astype(float)
    return frame


@dataclass(frozen=True)
class Words:
    """Words in a drawing and the box around them, in pixels from the top left."""

    text: str
    size: float
    fill: str
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other):
        """Return how far two boxes reach into each other, by the lesser side."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0, min(across, down))


def parse(svg):
    """Return an SVG's tree: our own drawing, nothing from outside."""
    return ET.fromstring(svg)  # noqa: S314


def read_words(svg):
    """Return all words of an SVG; a letter reaches from 0.75 above to 0.2 below its line."""
    found = []
    for node in parse(svg).iter(f"{SVG}text"):
        style = dict(part.split(": ", 1) for part in node.get("style").split("; "))
        size = float(style["font-size"].removesuffix("px"))
        text = node.text or ""
        bold = style.get("font-weight") == "700"
        width = text_width(text, size, bold=bold)
        place = node.get("transform")
        if "translate" in place:
            x, y = map(float, re.search(r"translate\((\S+) (\S+)\)", place).groups())
            assert "rotate(-90)" in place
            box = (x - 0.75 * size, y - width, x + 0.2 * size, y)
        else:
            x, y = float(node.get("x")), float(node.get("y"))
            before = width * {"start": 0, "middle": 0.5, "end": 1}[style["text-anchor"]]
            if place.startswith("rotate(-90"):
                # It runs upwards from its place.
                box = (x - 0.75 * size, y + before - width, x + 0.2 * size, y + before)
            else:
                box = (x - before, y - 0.75 * size, x - before + width, y + 0.2 * size)
        # A space that does not break is a space to a reader.
        found.append(Words(text.replace("\N{NO-BREAK SPACE}", " "), size, style["fill"], *box))
    return found


def read_shape(svg, name):
    """Return the corners of the shape with an identifier, and its style."""
    for node in parse(svg).iter(f"{SVG}g"):
        if node.get("id") == name:
            path = node.find(f"{SVG}path")
            return read_corners(path.get("d")), path.get("style")
    raise AssertionError(f"no {name}")


def read_corners(path):
    """Return the corners of a path of straight lines."""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML] (\S+) (\S+)", path)]


def has_shape(svg, name):
    """Return whether there is a shape with an identifier."""
    return f'id="{name}"' in svg


def read_markers(svg):
    """Return the middles of cells' markers (not of ticks, whose lines are thinner)."""
    return [
        (float(node.get("x")), float(node.get("y")))
        for node in parse(svg).iter(f"{SVG}use")
        if "stroke-width: 1.5" in node.get("style")
    ]


def check_drawing(chart):
    """Assert what holds for every chart: words apart, inside and large enough; no bytes amiss."""
    words = read_words(chart.svg_light)
    touching = [
        (one.text, other.text) for one, other in combinations(words, 2) if one.overlap(other) > 0.5
    ]
    assert touching == []
    outside = [
        word.text
        for word in words
        if word.left < -0.5
        or word.top < -0.5
        or word.right > chart.width + 0.5
        or word.bottom > chart.height + 0.5
    ]
    assert outside == []
    assert min(word.size for word in words) >= 11
    root = parse(chart.svg_light)
    assert (root.get("width"), root.get("height")) == (str(chart.width), str(chart.height))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == chart.title
    blank = re.compile(r"#[0-9a-f]{6}(?=[;\"\s])")
    assert blank.sub("", chart.svg_light) == blank.sub("", chart.svg_dark)
    assert chart.svg_light != chart.svg_dark
    addresses = set(re.findall(r"https?://[^\"\s]+", chart.svg_light))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "DOCTYPE" not in chart.svg_light
    assert chart.alt.startswith(chart.title)
    shown = "".join(word.text for word in words)
    assert chart.title.replace(" ", "") in re.sub(r"\s", "", shown)
    identifiers = re.findall(r' id="([^"]*)"', chart.svg_light)
    assert len(identifiers) == len(set(identifiers))
    return words
