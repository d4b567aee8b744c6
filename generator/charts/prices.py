"""At which hourly price a cell would cost what the baseline does, beside the price paid."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.charts import style
from generator.charts.legend import MARKER, Sample, draw_legend, lay_out
from generator.charts.notes import named, note_of, verb
from generator.charts.palette import FAINT, GREY, INK, MUTED, look_of, size_colours
from generator.charts.style import FONT_PX, LINE, SMALL_PX, mark, text_width
from generator.measures import is_no_difference, list_rows
from generator.pricing import break_even_price
from generator.wording import format_interval, format_usd, join_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_WIDE, _NARROW = 680, 360
# In pixels: a line of dots, one of words above it, what parts two instances, the ticks below.
_DOTS, _WORDS, _PART, _TICKS = 26, 15, 6, 30
# How far dots at one price are moved up or down, and from which distance on they are told apart.
_SHIFTS, _APART = (0, -8, 8), 7.5
_CAPTION = "break-even price in USD per hour: right of the price paid is cheaper"
_REACH, _AREA = 11, (2 * MARKER - 1) ** 2

# By how a cell's cost compares: what the legend says, a colour but the instance's, the filling.
_LOOKS = {
    "less": ("costs less than {}", None, True),
    "more": ("costs more", None, False),
    "same": ("≈: no measurable difference", GREY, True),
    "unknown": ("no price to compare", MUTED, False),
}

Row = dict[str, Any]


@dataclass(frozen=True)
class _Dot:
    """A cell's break-even price with its interval, in USD per hour; ``verdict`` is of _LOOKS."""

    workload: str
    price: float
    ends: tuple[float, float] | None
    verdict: str
    predicted: bool


@dataclass(frozen=True)
class _Line:
    """An instance with a build: what is paid for it in USD per hour, and a dot a workload."""

    row: Row
    label: str
    paid: float | None
    dots: list[_Dot]
    cheaper: list[_Dot]
    words: str


@style.styled
def break_even_prices(
    cells: pd.DataFrame, baseline: str, *, resolution: float | None = None, narrow: bool = False
) -> style.Chart | None:
    """Return the hourly prices at which cells cost what the baseline does; None without any.

    Args:
        cells: labelled cells of a campaign; times in seconds, prices in USD per hour.
        baseline: the baseline in words.
        resolution: the campaign's, as a share: a smaller difference of prices is none.
        narrow: for a phone: each label above its dots.
    """
    rows = list_rows(cells)
    lines = _lines(rows, resolution)
    if not any(line.dots for line in lines):
        return None
    width = _NARROW if narrow else _WIDE
    left = max(text_width(line.label, FONT_PX) for line in lines) + 14
    right = max(text_width(line.words) for line in lines) + 14
    # Where words would leave the dots no room, they stand above them: in a line, or in two.
    stacked = narrow or left + right > width * 0.55
    longest = max(text_width(line.label, FONT_PX) + text_width(line.words) for line in lines)
    head = _WORDS * (1 + (longest + 20 > width)) if stacked else 0
    parts = list(dict.fromkeys(line.row["instance"] for line in lines))
    body = len(lines) * (head + _DOTS) + (len(parts) - 1) * _PART
    begin, extent = (30, width - 60) if stacked else (left, width - left - right)
    captions = style.wrap(_CAPTION, width - 8)
    foot = _TICKS + len(captions) * SMALL_PX * LINE
    places, legend = lay_out(_samples(lines, baseline), width - 8)
    title = _title(lines, sorted({row["workload"] for row in rows}), baseline)
    canvas = style.Canvas(width, round(body + foot + legend), title, note_of(rows, resolution))
    axes = canvas.axes(begin, 0, extent, body)
    _set_axis(axes, lines, extent, body)
    colours, pairs = size_colours(line.row["vcpus"] for line in lines)
    for index, line in enumerate(lines):
        top = index * (head + _DOTS) + parts.index(line.row["instance"]) * _PART
        colour = INK if line.row["device"] == "GPU" else colours[line.row["vcpus"]]
        _draw_line(axes, top + head + _DOTS / 2, line, colour)
        y = canvas.top + top + (11 if stacked else _DOTS / 2 + 4)
        canvas.text(4, y, line.label, FONT_PX)
        canvas.text(width - 4, y + max(0, head - _WORDS), line.words, SMALL_PX, MUTED, ha="right")
    canvas.caption(begin + extent / 2, canvas.top + body + _TICKS, captions)
    draw_legend(canvas.paper(4, body + foot - 6, width - 8, legend), places)
    return canvas.finish(_alt(lines, baseline, title), pairs)


def _lines(rows: list[Row], resolution: float | None) -> list[_Line]:
    """Return a line for each build on an instance, from small to large, the baseline left out."""
    bases = {row["workload"]: row for row in rows if row["is_baseline"]}
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        if not row["is_baseline"]:
            order = (row["device"] == "CPU", row["vcpus"], row["instance"])
            groups.setdefault((*order, row["compiled"], row["build"]), []).append(row)
    return [_line(groups[key], bases, resolution) for key in sorted(groups)]


def _line(rows: list[Row], bases: dict[str, Row], resolution: float | None) -> _Line:
    """Return what rows of one instance and build are drawn as; ``bases``: by workload."""
    paid = next((row["usd_per_hour"] for row in rows if row["usd_per_hour"]), None)
    pairs = [(row, _dot(row, bases.get(row["workload"]), paid, resolution)) for row in rows]
    dots = sorted((dot for _, dot in pairs if dot), key=lambda dot: dot.workload)
    cheaper = [dot for dot in dots if dot.verdict == "less"]
    rest = ["no baseline" if row["time_s"] else row["status"] for row, dot in pairs if not dot]
    rest += ["≈" for dot in dots if dot.verdict == "same"]
    words = f"paid {format_usd(paid)}" if paid else "no price"
    words += f": {len(cheaper)} of {len(dots)} cheaper" if paid and dots else ""
    words += "".join([f", {count} {state}" for state, count in sorted(Counter(rest).items())])
    return _Line(rows[0], rows[0]["plain_label"], paid, dots, cheaper, words)


def _dot(row: Row, base: Row | None, paid: float | None, resolution: float | None) -> _Dot | None:
    price = break_even_price(row["time_s"], base["cost_usd"]) if base and row["time_s"] else None
    if base is None or price is None:
        return None
    ends = low = high = None
    if row["ratio_low"] and row["ratio_high"]:
        # The longer it takes, the less an hour of it may cost.
        whole = price * row["time_ratio"]
        ends = (whole / row["ratio_high"], whole / row["ratio_low"])
        low, high = (paid / ends[1], paid / ends[0]) if paid else (None, None)
    verdict = "unknown"
    if paid:
        same = is_no_difference(paid / price, low, high, resolution) or math.isclose(price, paid)
        verdict = "same" if same else "less" if price > paid else "more"
    return _Dot(row["workload"], price, ends, verdict, bool(row["predicted"] or base["predicted"]))


def _set_axis(axes: Axes, lines: list[_Line], extent: float, body: float) -> None:
    """Make an axis of prices, with steps of 2 written out; rows are in pixels from the top."""
    known = [v for line in lines for dot in line.dots for v in (dot.price, *(dot.ends or ()))]
    known += [line.paid for line in lines if line.paid]
    # At least two steps of 2, so that there are two ticks.
    margin = max(1.2, 2 / math.sqrt(max(known) / min(known)))
    low, high = min(known) / margin, max(known) * margin
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    axes.set_ylim(body, 0)
    axes.spines["left"].set_visible(False)
    ticks = {tick: f"${tick:,.6g}" for tick in style.doublings(low, high)}
    shown = style.thin(list(ticks), int(extent / (max(map(text_width, ticks.values())) + 12)))
    style.set_ticks(axes.xaxis, shown, [ticks[tick] for tick in shown])
    style.set_ticks(axes.yaxis, [])


def _draw_line(axes: Axes, y: float, line: _Line, colour: str) -> None:
    """Draw a line about a height in pixels; dots that would hide each other go up and down."""
    axes.axhline(y, color=FAINT, linewidth=0.8, zorder=0)
    if line.paid:
        axes.vlines(line.paid, y - _REACH, y + _REACH, INK, lw=2, gid=mark("paid", line.label))
    marker = "s" if line.row["device"] == "GPU" else look_of(line.row["build"]).marker
    taken: list[tuple[float, float]] = []
    for dot in sorted(line.dots, key=lambda dot: dot.price):
        x = float(axes.transData.transform((dot.price, y))[0])
        free = [s for s in _SHIFTS if all(math.dist((x, s), one) >= _APART for one in taken)]
        taken.append((x, [*free, 0][0]))
        _, own, filled = _LOOKS[dot.verdict]
        shown, at, part = own or colour, y + taken[-1][1], f"{line.label} {dot.workload}"
        if dot.ends:
            axes.plot(dot.ends, [at, at], color=shown, linewidth=1.4, gid=mark("interval", part))
        # The edge of a figure that was not measured is open, as that of bars is.
        look: dict[str, Any] = {"linestyle": (0, (2, 1.5)), "alpha": 0.55} if dot.predicted else {}
        look |= {"facecolor": shown if filled else "none", "edgecolor": shown, "linewidth": 1.5}
        look |= {"marker": marker, "zorder": 4, "clip_on": False, "gid": mark("dot", part)}
        axes.scatter(dot.price, at, _AREA, **look)


def _samples(lines: list[_Line], baseline: str) -> list[Sample]:
    dots = [dot for line in lines for dot in line.dots]
    samples = [Sample("a dot a workload")]
    if any(line.paid for line in lines):
        samples.append(Sample("price paid", "marker", marker="|"))
    samples += [
        Sample(words.format(baseline), "marker", colour=colour or INK, filled=filled)
        for verdict, (words, colour, filled) in _LOOKS.items()
        if any(dot.verdict == verdict for dot in dots)
    ]
    if any(dot.ends for dot in dots):
        samples.append(Sample("95 % interval", "line", colour=MUTED))
    return samples + [Sample("pale, dashed: predicted")] * any(dot.predicted for dot in dots)


def _title(lines: list[_Line], workloads: list[str], baseline: str) -> str:
    priced = [line for line in lines if line.paid and line.dots]
    if not priced:
        best = max(lines, key=lambda line: min((dot.price for dot in line.dots), default=0))
        prices = sorted(dot.price for dot in best.dots)
        span = " to ".join(dict.fromkeys(map(format_usd, (prices[0], prices[-1]))))
        words = f"{named(best.label)} {verb(best.label, 'costs', 'cost')} as much as {baseline}"
        return f"{style.capital(words)} at {span} per hour"
    most = max(len(line.cheaper) for line in priced)
    if not most:
        return f"At the prices paid, nothing measurably costs less than {baseline}"
    winners = [line for line in priced if len(line.cheaper) == most]
    scope = f"{most} of {len(workloads)} workloads{' each' if len(winners) > 1 else ''}"
    if most == len(workloads):
        scope = f"all {most} workloads" if most > 1 else workloads[0]
    guess = " (predicted)" if any(dot.predicted for one in winners for dot in one.cheaper) else ""
    who = _names(winners, lines)
    return f"At the prices paid, {who} less than {named(baseline)} for {scope}{guess}"


def _names(winners: list[_Line], lines: list[_Line]) -> str:
    """Return who costs, with the verb: an instance alone where each build does; many as a count."""
    builds, chosen = (Counter(line.row["instance"] for line in some) for some in (lines, winners))
    whole = {name for name, count in chosen.items() if builds[name] == count > 1}
    labels = [x.row["instance_label"] if x.row["instance"] in whole else x.label for x in winners]
    names = list(dict.fromkeys(named(label) for label in labels))
    if len(names) > (2 if any("," in name for name in names) else 3):
        return f"{len(winners)} of {len(lines)} pairs of instance and build cost"
    return f"{join_words(names)} {verb(names[0], 'costs', 'cost') if len(names) == 1 else 'cost'}"


def _alt(lines: list[_Line], baseline: str, title: str) -> str:
    parts = []
    for line in lines:
        prices = [
            f"{dot.workload} {'≈ ' if dot.verdict == 'same' else ''}{format_usd(dot.price)}"
            + (f" ({format_interval(*dot.ends)})" if dot.ends else "")
            + (" (predicted)" if dot.predicted else "")
            for dot in line.dots
        ]
        parts.append(f"{line.label} ({line.words}): {', '.join(prices) or 'no figure'}")
    about = f"Price per hour in USD at which each costs as much as {baseline}"
    return f"{title}. {about}: {'; '.join(parts)}."
