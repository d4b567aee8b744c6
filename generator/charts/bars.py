"""The report's classic picture: a workload's time or cost, relative to the baseline, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from generator.charts.notes import named, note_of, verb
from generator.charts.palette import FAINT, GREY, INK, MUTED, look_of, size_colours
from generator.charts.style import (
    FONT_PX,
    LINE,
    SMALL_PX,
    Canvas,
    Chart,
    capital,
    mark,
    set_ticks,
    styled,
    text_width,
    whole_steps,
    wrap,
)
from generator.measures import is_no_difference, list_rows
from generator.wording import format_interval, format_ratio

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WIDE, NARROW = 680, 360
_GAP = 6
# A bar of the cell that has no figure: as wide as it is, in pixels, whatever the scale.
_STUB = 12
_PALE = 0.55

Measure = Literal["time", "cost"]
_COLUMNS = {
    "time": ("time_ratio", "ratio_low", "ratio_high"),
    "cost": ("cost_ratio", "cost_low", "cost_high"),
}
_BETTER = {"time": "shorter is faster", "cost": "shorter is cheaper"}
_STATES = {"missing": "missing", "failed": "failed"}


@dataclass(frozen=True)
class _Bar:
    """What a row of the chart shows; ``ratio`` is None where there is no figure."""

    label: str
    words: str
    ratio: float | None
    low: float | None
    high: float | None
    build: str
    vcpus: int
    gpu: bool
    is_baseline: bool
    same: bool
    predicted: bool

    @property
    def end(self) -> float:
        """Where the bar and its interval end."""
        return max(self.ratio or 0, self.high or 0)


@styled
def relative_bars(
    cells: pd.DataFrame,
    measure: Measure,
    baseline: str,
    *,
    resolution: float | None = None,
    narrow: bool = False,
) -> Chart | None:
    """Return bars of one workload's cells; None where no cell has the measure's ratio.

    Args:
        cells: labelled cells of one workload, in the order that they are drawn in.
        measure: time or cost.
        baseline: the baseline in words.
        resolution: the campaign's, as a share: drawn as a band about 1.
        narrow: for a phone: each label above its bar.
    """
    rows = list_rows(cells)
    bars = [_bar(row, measure, resolution) for row in rows]
    known = [bar for bar in bars if bar.ratio is not None]
    if not known:
        return None
    width = NARROW if narrow else WIDE
    row_height = 38 if narrow else 25
    captions = wrap(f"{measure} relative to {baseline} ({_BETTER[measure]})", width - 8)
    foot = round(22 + len(captions) * SMALL_PX * LINE)
    left = 6 if narrow else round(max(text_width(bar.label, FONT_PX) for bar in bars)) + 12
    note = note_of(rows, resolution)
    if any(bar.same for bar in known):
        note += " Grey, ≈: no measurable difference."
    canvas = Canvas(width, len(bars) * row_height + foot, _title(known, measure, baseline), note)
    extent = width - left - 8
    axes = canvas.axes(left, 0, extent, len(bars) * row_height)
    limit = _limit(bars, extent)
    axes.set_xlim(0, limit)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    if resolution is not None:
        axes.axvspan(
            1 / (1 + resolution), min(limit, 1 + resolution), color=FAINT, linewidth=0, zorder=0
        )
    colours, pairs = size_colours(bar.vcpus for bar in bars if not bar.gpu)
    # On a phone, a bar is the lower half of its row.
    shift, thick = (0.2, 0.42) if narrow else (0, 0.62)
    # There, it is broken where labels are.
    reach = 0.3 if narrow else 0.5
    places = [position + shift for position in range(len(bars))]
    axes.vlines(
        [1] * len(bars),
        [place - reach for place in places],
        [place + reach for place in places],
        color=INK,
        linewidth=1,
        linestyle=(0, (4, 3)),
        zorder=3,
        gid="baseline",
    )
    for place, bar in zip(places, bars, strict=True):
        _draw_bar(axes, place, thick, bar, INK if bar.gpu else colours[bar.vcpus])
        _write_value(axes, place, bar, limit / extent)
    if narrow:
        set_ticks(axes.yaxis, [])
        for position, bar in enumerate(bars):
            y = canvas.top + (position + 0.36) * row_height
            canvas.text(left, y, bar.label, FONT_PX)
    else:
        set_ticks(axes.yaxis, range(len(bars)), [bar.label for bar in bars])
        axes.tick_params(axis="y", length=0, labelsize=FONT_PX, labelcolor=INK)
    ticks = whole_steps(limit, 5 if narrow else 8)
    if 1 not in ticks and extent / limit > text_width("1") * 2:
        ticks = sorted({*ticks, 1.0})
    # A figure under the axis' end must not reach over the picture's.
    ticks = [
        tick
        for tick in ticks
        if extent * tick / limit + text_width(f"{tick:,g}") / 2 <= width - left
    ]
    set_ticks(axes.xaxis, ticks, [f"{tick:,g}" for tick in ticks])
    canvas.caption(left + extent / 2, canvas.top + len(bars) * row_height + 30, captions)
    return canvas.finish(_alt(bars, measure, baseline, canvas.title), pairs)


def _bar(row: dict[str, Any], measure: Measure, resolution: float | None) -> _Bar:
    ratio, low, high = (row[name] for name in _COLUMNS[measure])
    same = False
    if ratio is not None and not row["is_baseline"]:
        same = is_no_difference(ratio, low, high, resolution)
        # The table's own verdict on times, which knows the resolution where we are not told.
        same = same or (measure == "time" and bool(row["no_difference"]))
    if ratio is None:
        words = _STATES.get(row["status"], "no price" if measure == "cost" else "no baseline")
    elif row["is_baseline"]:
        words = "1 × (baseline)"
    else:
        words = f"≈ {format_ratio(ratio)}" if same else format_ratio(ratio)
    return _Bar(
        label=row["label"],
        words=words,
        ratio=ratio,
        low=low,
        high=high,
        build=row["build"],
        vcpus=row["vcpus"] or 0,
        gpu=row["device"] == "GPU",
        is_baseline=bool(row["is_baseline"]),
        same=same,
        predicted=bool(row["predicted"]),
    )


def _limit(bars: list[_Bar], extent: float) -> float:
    """Return where the axis ends, so that no bar is cut and all words find room."""
    limit = max([1.0, *(bar.end for bar in bars)]) * 1.04
    for bar in bars:
        room = text_width(bar.words) + 2 * _GAP
        begin = bar.end
        for _ in range(2):
            # Words that would lie on the dashed line begin behind it.
            limit = max(limit, begin / max(1 - room / extent, 0.2))
            if begin < 1 < begin + room * limit / extent:
                begin = 1
    return limit


def _draw_bar(axes: Axes, place: float, thick: float, bar: _Bar, colour: str) -> None:
    if bar.ratio is None:
        return
    look = look_of(bar.build)
    filled = look.filled or bar.gpu
    shown = GREY if bar.same else colour
    axes.barh(
        place,
        bar.ratio,
        height=thick,
        color=shown if filled else "none",
        edgecolor=shown,
        linewidth=1.4,
        # The edge of a figure that was not measured is as open as that of one that is missing.
        linestyle=(0, (2, 1.5)) if bar.predicted else "solid",
        alpha=_PALE if bar.predicted else None,
        hatch=None if filled else look.hatch or None,
        gid=mark("bar", bar.label),
    )
    if bar.low is not None and bar.high is not None:
        cap = thick * 0.24
        axes.plot(
            [bar.low, bar.low, bar.low, bar.high, bar.high, bar.high],
            [place - cap, place + cap, place, place, place - cap, place + cap],
            color=INK,
            linewidth=1.3,
            solid_joinstyle="miter",
            zorder=4,
            gid=mark("interval", bar.label),
        )


def _write_value(axes: Axes, place: float, bar: _Bar, per_pixel: float) -> None:
    """Write a bar's figure behind it; where there is none, a hollow stub and why."""
    known = bar.ratio is not None
    begin = bar.end
    if not known:
        axes.plot(
            [0, _STUB * per_pixel, _STUB * per_pixel, 0],
            [place - 0.2, place - 0.2, place + 0.2, place + 0.2],
            color=MUTED,
            linewidth=1,
            dashes=(2, 1.5),
            gid=mark(bar.words, bar.label),
        )
        begin = _STUB * per_pixel
    if begin < 1 < begin + (text_width(bar.words) + 2 * _GAP) * per_pixel:
        begin = 1
    axes.annotate(
        bar.words,
        (begin, place),
        xytext=(_GAP, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=SMALL_PX,
        color=MUTED if bar.same or not known else INK,
        style="normal" if known else "italic",
        zorder=5,
    )


def _title(known: list[_Bar], measure: Measure, baseline: str) -> str:
    ranked = sorted(known, key=lambda bar: (bar.ratio, not bar.is_baseline, bar.label))
    best, rest = ranked[0], ranked[1:]
    if not rest:
        return f"{capital(best.label)} alone has a {measure}"
    better = "faster" if measure == "time" else "cheaper"
    the_best = "fastest" if measure == "time" else "cheapest"
    if best.is_baseline:
        second = rest[0]
        if second.same:
            return f"No measurable difference between {named(baseline)} and {second.label}"
        takes = verb(second.label, "takes", "take") if measure == "time" else ""
        takes = takes or verb(second.label, "costs", "cost")
        tail = "as long" if measure == "time" else "as much"
        return (
            f"{capital(named(baseline))} {verb(baseline, 'is', 'are')} {the_best}; "
            f"{named(second.label)} {takes} {format_ratio(second.ratio)} {tail}"
        )
    if best.same:
        return f"No cell is measurably {better} than {baseline}"
    is_ = verb(best.label, "is", "are")
    return (
        f"{capital(named(best.label))} {is_} {the_best}: "
        f"{format_ratio(best.ratio)} the {measure} of {baseline}"
    )


def _alt(bars: list[_Bar], measure: Measure, baseline: str, title: str) -> str:
    parts = []
    for bar in bars:
        text = f"{bar.label}: {bar.words}"
        if bar.low is not None and bar.high is not None:
            text += f" ({format_interval(bar.low, bar.high)})"
        parts.append(text)
    return f"{title}. {capital(measure)} relative to {baseline}: {'; '.join(parts)}."
