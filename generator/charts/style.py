"""What all charts share: type that is measured, axes in words, and the SVG itself."""

from __future__ import annotations

import io
import math
import re
from dataclasses import dataclass
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib import style
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

from generator.charts.palette import INK, LIGHT_PAGE, MUTED, PAIRS, RULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.axes import Axes

FONT_PX = 12
SMALL_PX = 11
TITLE_PX = 13.5
# The height of a line over the size of its letters.
LINE = 1.3
_MARGIN = 4
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

_RC: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kerascost",
    "path.simplify": False,
    "font.family": "DejaVu Sans",
    "font.size": FONT_PX,
    "text.color": INK,
    # Two sums of money in one line are no formula.
    "text.parse_math": False,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.labelsize": SMALL_PX,
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
    "lines.dash_capstyle": "butt",
}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def styled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Draw by our settings alone, whatever a reader's own matplotlibrc says; set none for good."""

    @wraps(function)
    def wrapper(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with style.context(["default", _RC]):
            return function(*args, **kwargs)

    return wrapper


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


class Canvas:
    """A figure of a size in pixels, with its title on top; ``finish`` makes the chart of it."""

    def __init__(self, width: int, height: int, title: str, note: str = "") -> None:
        """Start a figure; ``height`` is what is below title and note, ``top`` where that begins.

        Args:
            width: of the picture, in pixels.
            height: of the picture without title and note, in pixels.
            title: the finding.
            note: what a reader must know to trust it: how many runs, which data.
        """
        self.width, self.title = width, title
        lines = wrap(title, width - 2 * _MARGIN, TITLE_PX, bold=True)
        notes = wrap(note, width - 2 * _MARGIN) if note else []
        title_height = len(lines) * TITLE_PX * LINE
        self.top = round(title_height + len(notes) * SMALL_PX * LINE + 10)
        self.height = height + self.top
        # At 72 dots an inch a point is a pixel.
        self.figure = Figure(figsize=(self.width / 72, self.height / 72), dpi=72)
        FigureCanvasSVG(self.figure)
        for index, line in enumerate(lines):
            y = 2 + (index + 0.8) * TITLE_PX * LINE
            self.text(_MARGIN, y, line, TITLE_PX, weight="bold")
        for index, line in enumerate(notes):
            y = title_height + 3 + (index + 0.8) * SMALL_PX * LINE
            self.text(_MARGIN, y, line, SMALL_PX, MUTED)

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes at a place in pixels, from the top left below the title."""
        bottom = self.height - self.top - top - height
        return self.figure.add_axes(
            (left / self.width, bottom / self.height, width / self.width, height / self.height)
        )

    def paper(self, left: float, top: float, width: float, height: float) -> Axes:
        """Return axes without axes, in pixels from their own top left: for legends."""
        axes = self.axes(left, top, width, height)
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        return axes

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
        self.figure.text(
            x / self.width, 1 - y / self.height, words, fontsize=size, color=colour, **arguments
        )

    def caption(self, middle: float, y: float, lines: list[str], size: float = SMALL_PX) -> None:
        """Write lines below an axis, about its middle if the picture's edges leave room."""
        for index, line in enumerate(lines):
            half = text_width(line, size) / 2
            at = max(half + _MARGIN, min(middle, self.width - half - _MARGIN))
            self.text(at, y + index * size * LINE, line, size, MUTED, ha="center")

    def finish(self, alt: str, pairs: dict[str, str] | None = None) -> Chart:
        """Return the chart: drawn once, and recoloured for the dark page."""
        buffer = io.StringIO()
        self.figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
        light = _clean(buffer.getvalue(), self.title, self.width, self.height)
        dark = _darken(light, PAIRS | (pairs or {}))
        return Chart(self.title, alt, light, dark, self.width, self.height)


def _clean(svg: str, title: str, width: int, height: int) -> str:
    """Return an SVG without its DTD, in pixels, with a title and the reader's own fonts."""
    body = svg[svg.index("<svg") :]
    escaped = title.replace("&", "&amp;").replace("<", "&lt;")
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        f"\n <title>{escaped}</title>"
    )
    body = re.sub(r"<svg[^>]*>", lambda _: head, body, count=1)
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, count=1, flags=re.DOTALL)
    return body.replace("'DejaVu Sans'", _FONTS)


def _darken(svg: str, pairs: dict[str, str]) -> str:
    def swap(match: re.Match[str]) -> str:
        return pairs.get(match[0], match[0])

    # Identifiers are hexadecimal too: "#" of a reference is followed by a letter and more.
    return re.sub(r"#[0-9a-f]{6}\b(?=[;\"\s])", swap, svg)


def mark(*words: str) -> str:
    """Return an identifier for a part of an SVG: letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]+", "-", " ".join(words)).strip("-")


def behind_words(pad: float = 1.0) -> dict[str, Any]:
    """Return the box that keeps a line from running through words: of the page's colour."""
    return {"facecolor": LIGHT_PAGE, "edgecolor": "none", "pad": pad}


@cache
def _advance(letter: str, *, bold: bool) -> float:
    """Return a letter's width over the type's size, in DejaVu Sans: wider than readers' fonts."""
    font = get_font(
        findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal"))
    )
    font.set_size(100, 72)
    # 16.16 fixed point; unhinted, so that it grows evenly with the size.
    return font.load_char(ord(letter)).linearHoriAdvance / 65536 / 100


def text_width(words: str, size: float = SMALL_PX, *, bold: bool = False) -> float:
    """Return how wide words are, in pixels, in the widest of the fonts that readers have."""
    return sum(_advance(letter, bold=bold) for letter in words) * size


# What stays on one line: a figure and its sign or noun.
_GLUE = re.compile(r"(?<=\d) (?=[×%s]\b|[×%]|vCPU)|(?<=≈) ")


def wrap(words: str, width: float, size: float = SMALL_PX, *, bold: bool = False) -> list[str]:
    """Return words in lines of at most a width in pixels; figures stay with their units."""
    lines: list[str] = []
    for word in _GLUE.sub("\N{NO-BREAK SPACE}", words).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def capital(words: str) -> str:
    """Return words with a capital at the start, as a sentence begins."""
    return words[:1].upper() + words[1:]


def format_power(value: float) -> str:
    """Return a tick of a logarithmic axis: ¼, ½, 1, 2, 4; 1/8 and less as fractions."""
    if value >= 1:
        return f"{value:,.0f}"
    return {0.5: "½", 0.25: "¼", 0.125: "⅛"}.get(value, f"1/{1 / value:,.0f}")


def powers(low: float, high: float) -> list[float]:
    """Return the powers of 2 that enclose two positive numbers."""
    first, last = math.floor(math.log2(low) + 1e-9), math.ceil(math.log2(high) - 1e-9)
    return [2.0**power for power in range(first, max(last, first + 1) + 1)]


def thin(ticks: list[float], room: int, always: float | None = None) -> list[float]:
    """Return every tick, or every second, third …, so that there are at most ``room``.

    Args:
        ticks: in order.
        room: how many there is room for, at least one.
        always: the tick that stays, where it is one of them.
    """
    step = -(-len(ticks) // room)
    start = ticks.index(always) % step if always in ticks else 0
    return ticks[start::step]


def doublings(low: float, high: float) -> list[float]:
    """Return ticks between two positive numbers, each twice the one before, from a round one."""
    power = 10.0 ** math.floor(math.log10(low))
    first = next(power * digit for digit in (1, 2, 3, 4, 5, 6, 8, 10) if power * digit >= low)
    ticks = [first]
    while ticks[-1] * 2 <= high:
        ticks.append(ticks[-1] * 2)
    return ticks


def whole_steps(high: float, room: int, least: float = 0.0) -> list[float]:
    """Return ticks from 0 to a positive number, ``room`` of them at most beside 0.

    They are 1, 2 or 5 times a power of 10 apart, and ``least`` at least.
    """
    power = 10.0 ** math.floor(math.log10(high / room))
    step = next(power * digit for digit in (1, 2, 5, 10) if high / (power * digit) <= room)
    step = max(step, least)
    return [step * count for count in range(int(high / step + 1e-9) + 1)]


def set_ticks(
    axis: Any,  # noqa: ANN401 (matplotlib's XAxis or YAxis)
    ticks: Iterable[float],
    labels: Iterable[str] | None = None,
) -> None:
    """Put ticks at given places on an axis, and no others; as powers of 2 without labels."""
    places = list(ticks)
    axis.set_major_locator(mpl.ticker.FixedLocator(places))
    axis.set_minor_locator(mpl.ticker.NullLocator())
    words = list(labels) if labels is not None else [format_power(tick) for tick in places]
    axis.set_major_formatter(mpl.ticker.FixedFormatter(words))
