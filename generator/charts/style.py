"""What all charts share: colours that mean one thing, type, axes in words, and the SVG itself."""

from __future__ import annotations

import io
import math
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

# The site's two pages: what a colour must be told from.
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#1e2129"

# Each colour of the light page and its counterpart on the dark one.
INK, MUTED, RULE, FAINT, WARN = "#1f2328", "#5b6470", "#c3c9d0", "#e6e9ed", "#b3261e"
PAIRS = {
    LIGHT_PAGE: DARK_PAGE,
    INK: "#e8eaed",
    MUTED: "#a9b1bb",
    RULE: "#4b525c",
    FAINT: "#2f343d",
    WARN: "#ff8a80",
}

# Sizes are steps of matplotlib's plasma, which colour-blind people read as a ramp: the larger,
# the further from the page. The ends keep a contrast of 3 : 1 to either page.
_RAMP = "plasma"
_LIGHT_RAMP, _DARK_RAMP = (0.66, 0.04), (0.46, 0.95)

FONT_PX = 12
SMALL_PX = 11
TITLE_PX = 13.5
# Widths of a character and a line over the size: DejaVu Sans, wider than what readers have.
CHAR, LINE = 0.6, 1.3
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

_RC: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kerascost",
    "path.simplify": False,
    "font.family": "DejaVu Sans",
    "font.size": FONT_PX,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": SMALL_PX,
    "ytick.labelsize": SMALL_PX,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "hatch.linewidth": 1.1,
    "lines.solid_capstyle": "round",
}


@dataclass(frozen=True)
class Chart:
    """A chart: its finding, its words for those who can't see it, and its two SVGs.

    ``width`` and ``height`` are in CSS pixels.
    """

    title: str
    alt: str
    svg_light: str
    svg_dark: str
    width: int
    height: int


@dataclass(frozen=True)
class Look:
    """How a build is drawn: what repeats the colour's meaning by shape and fill."""

    words: str
    marker: str
    filled: bool
    hatch: str


LOOKS = {
    "compiled": Look("filled: compiled TensorFlow", "o", filled=True, hatch=""),
    "pip": Look("hollow: TensorFlow from pip", "o", filled=False, hatch=""),
    "pip-onednn": Look("diamonds, stripes: pip with oneDNN on", "D", filled=False, hatch="////"),
    "pip-xla": Look("triangles, dots: pip with XLA on", "^", filled=False, hatch="...."),
}
_OTHER = Look("squares, crosses: another build", "s", filled=False, hatch="xxxx")


def look_of(build: str) -> Look:
    """Return how a build is drawn."""
    return LOOKS.get(build, _OTHER)


def size_colours(sizes: Iterable[int]) -> tuple[dict[int, str], dict[str, str]]:
    """Return a colour for each size in vCPUs, and the dark counterpart of each colour."""
    ordered = sorted(set(sizes))
    ramp = mpl.colormaps[_RAMP]
    light: dict[int, str] = {}
    pairs: dict[str, str] = {}
    for index, size in enumerate(ordered):
        share = index / (len(ordered) - 1) if len(ordered) > 1 else 0.5
        colours = [
            mpl.colors.to_hex(ramp(start + (end - start) * share))
            for start, end in (_LIGHT_RAMP, _DARK_RAMP)
        ]
        light[size] = colours[0]
        pairs[colours[0]] = colours[1]
    return light, pairs


class Canvas:
    """A figure of a size in pixels, with its title on top; ``finish`` makes the chart of it."""

    def __init__(self, width: int, height: int, title: str) -> None:
        """Start a figure; the title is wrapped, and ``top`` is where it ends, in pixels."""
        self.width, self.title = width, title
        per_line = int((width - 8) / (TITLE_PX * CHAR))
        self._lines = textwrap.wrap(title, per_line) or [""]
        self.top = round(len(self._lines) * TITLE_PX * LINE + 10)
        self.height = height + self.top
        with mpl.rc_context(_RC):
            # At 72 dots an inch a point is a pixel.
            self.figure = Figure(figsize=(self.width / 72, self.height / 72), dpi=72)
            FigureCanvasSVG(self.figure)
            for index, line in enumerate(self._lines):
                self.text(4, 2 + (index + 0.8) * TITLE_PX * LINE, line, TITLE_PX, weight="bold")

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes at a place in pixels, from the top left below the title."""
        with mpl.rc_context(_RC):
            bottom = self.height - self.top - top - height
            return self.figure.add_axes(
                (
                    left / self.width,
                    bottom / self.height,
                    width / self.width,
                    height / self.height,
                )
            )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = SMALL_PX,
        colour: str = INK,
        **arguments: Any,  # noqa: ANN401 (matplotlib's)
    ) -> None:
        """Write words with their baseline at pixels from the top left of the whole picture."""
        with mpl.rc_context(_RC):
            self.figure.text(
                x / self.width, 1 - y / self.height, words, fontsize=size, color=colour, **arguments
            )

    def finish(self, alt: str, pairs: dict[str, str] | None = None) -> Chart:
        """Return the chart: drawn once, and recoloured for the dark page."""
        with mpl.rc_context(_RC):
            buffer = io.StringIO()
            self.figure.savefig(
                buffer,
                format="svg",
                transparent=True,
                metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
            )
        light = _clean(buffer.getvalue(), self.title, self.width, self.height)
        return Chart(
            self.title, alt, light, _darken(light, PAIRS | (pairs or {})), self.width, self.height
        )


def _clean(svg: str, title: str, width: int, height: int) -> str:
    """Return an SVG without its DTD, in pixels, with a title and the reader's own fonts."""
    body = svg[svg.index("<svg") :]
    escaped = title.replace("&", "&amp;").replace("<", "&lt;")
    body = re.sub(
        r"<svg[^>]*>",
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        f"\n <title>{escaped}</title>",
        body,
        count=1,
    )
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, count=1, flags=re.DOTALL)
    return body.replace("'DejaVu Sans'", _FONTS)


def _darken(svg: str, pairs: dict[str, str]) -> str:
    def swap(match: re.Match[str]) -> str:
        return pairs.get(match[0], match[0])

    # Identifiers are hexadecimal too: "#" of a reference is followed by a letter and more.
    return re.sub(r"#[0-9a-f]{6}\b(?=[;\"\s])", swap, svg)


def behind_words(pad: float = 1.0) -> dict[str, Any]:
    """Return the box that keeps a line from running through words: of the page's colour."""
    return {"facecolor": LIGHT_PAGE, "edgecolor": "none", "pad": pad}


def text_width(words: str, size: float = SMALL_PX) -> float:
    """Return about how wide words are, in pixels: rather too much than too little."""
    return len(words) * size * CHAR


def format_power(value: float) -> str:
    """Return a tick of a logarithmic axis: ¼, ½, 1, 2, 4; 1/8 and less as fractions."""
    if value >= 1:
        return f"{value:g}"
    return {0.5: "½", 0.25: "¼", 0.125: "⅛"}.get(value, f"1/{1 / value:g}")


def powers(low: float, high: float) -> list[float]:
    """Return the powers of 2 that enclose two positive numbers."""
    first, last = math.floor(math.log2(low) + 1e-9), math.ceil(math.log2(high) - 1e-9)
    return [2.0**power for power in range(first, max(last, first + 1) + 1)]


def set_powers(
    axis: Any,  # noqa: ANN401 (matplotlib's XAxis or YAxis)
    ticks: list[float],
    labels: list[str] | None = None,
) -> None:
    """Put ticks at powers of 2 on a logarithmic axis, and no others."""
    axis.set_major_locator(mpl.ticker.FixedLocator(ticks))
    axis.set_minor_locator(mpl.ticker.NullLocator())
    words = labels if labels is not None else [format_power(tick) for tick in ticks]
    axis.set_major_formatter(mpl.ticker.FixedFormatter(words))
