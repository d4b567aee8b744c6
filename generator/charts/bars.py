"""The report's classic picture: a workload's time or cost, relative to the baseline, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from generator.charts.style import (
    FONT_PX,
    INK,
    MUTED,
    RULE,
    SMALL_PX,
    Canvas,
    Chart,
    behind_words,
    look_of,
    size_colours,
    text_width,
)
from generator.measures import list_rows
from generator.wording import format_interval, format_ratio, join_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WIDE, NARROW = 680, 360
_ROW, _FOOT, _GAP = 25, 46, 8

Measure = Literal["time", "cost"]
_COLUMNS = {
    "time": ("time_ratio", "ratio_low", "ratio_high"),
    "cost": ("cost_ratio", "cost_low", "cost_high"),
}
_BETTER = {"time": "shorter is faster", "cost": "shorter is cheaper"}


def relative_bars(
    cells: pd.DataFrame, measure: Measure, baseline: str, *, narrow: bool = False
) -> Chart | None:
    """Return bars of one workload's cells; None where no cell has the measure's ratio.

    Args:
        cells: labelled cells of one workload, in the order that they are drawn in.
        measure: time or cost.
        baseline: the baseline in words.
        narrow: for a phone.
    """
    rows = list_rows(cells)
    column, low, high = _COLUMNS[measure]
    known = [row for row in rows if row[column] is not None]
    if not known:
        return None
    width = NARROW if narrow else WIDE
    left = max(text_width(row["label"], FONT_PX) for row in rows) + 10
    room = max(text_width(_value_label(row, measure)) for row in rows) + 12
    height = len(rows) * _ROW + _FOOT
    canvas = Canvas(width, height, _title(known, column, measure, baseline))
    axes = canvas.axes(left, 0, width - left - 6, height - _FOOT)
    colours, pairs = size_colours(row["vcpus"] for row in rows if row["device"] == "CPU")
    longest = max(max(row[column], row[high] or 0) for row in known)
    # Room for the words behind the longest bar: no bar is cut, and zero is where bars begin.
    axes.set_xlim(0, max(longest, 1) * (width - left) / max(width - left - room - 6, 60))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axvline(1, color=INK, linewidth=1, dashes=(4, 3), zorder=3)
    for position, row in enumerate(rows):
        _draw_bar(axes, position, row, (column, low, high), measure, colours)
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows], fontsize=FONT_PX, color=INK)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(RULE)
    axes.locator_params(axis="x", nbins=5 if narrow else 8)
    axes.set_xlabel(
        f"{measure} relative to {baseline}" + ("\n" if narrow else " ") + f"({_BETTER[measure]})",
        fontsize=SMALL_PX,
    )
    return canvas.finish(_alt(rows, column, low, high, measure, baseline, canvas.title), pairs)


def _draw_bar(
    axes: Axes,
    position: int,
    row: dict[str, Any],
    columns: tuple[str, str, str],
    measure: Measure,
    colours: dict[int, str],
) -> None:
    value, low, high = (row[name] for name in columns)
    colour = INK if row["device"] == "GPU" else colours[row["vcpus"]]
    end = 0.0
    if value is not None:
        look = look_of(row["build"])
        filled = look.filled or row["device"] == "GPU"
        axes.barh(
            position,
            value,
            height=0.62,
            color=colour if filled else "none",
            edgecolor=colour,
            linewidth=1.4,
            hatch=None if filled else look.hatch or None,
            alpha=0.45 if row["no_difference"] and not row["is_baseline"] else 1,
        )
        end = value
        if low is not None and high is not None:
            axes.plot([low, high], [position, position], color=INK, linewidth=1.3, zorder=4)
            for edge in (low, high):
                ticks = [position - 0.14, position + 0.14]
                axes.plot([edge, edge], ticks, color=INK, linewidth=1.3, zorder=4)
            end = max(value, high)
    axes.annotate(
        _value_label(row, measure),
        (end, position),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL_PX,
        color=INK if value is not None else MUTED,
        bbox=behind_words(),
        style="normal" if value is not None else "italic",
        zorder=5,
    )


def _value_label(row: dict[str, Any], measure: Measure) -> str:
    ratio = row[_COLUMNS[measure][0]]
    if ratio is None:
        if row["status"] in ("missing", "failed"):
            return str(row["status"])
        return "no price" if measure == "cost" else "no baseline"
    if row["is_baseline"]:
        return "1 × (baseline)"
    mark = "≈ " if row["no_difference"] and measure == "time" else ""
    return mark + format_ratio(ratio)


def _title(known: list[dict[str, Any]], column: str, measure: Measure, baseline: str) -> str:
    ranked = sorted(known, key=lambda row: (row[column], row["build"], row["instance"]))
    best = ranked[0]
    word = "fastest" if measure == "time" else "cheapest"
    noun = "time" if measure == "time" else "cost"
    if len(ranked) == 1:
        return f"{_capital(best['label'])} alone has a {noun} here"
    others = [row for row in ranked if row["no_difference"] and not row["is_baseline"]]
    if measure == "time" and best["is_baseline"] and ranked[1] in others:
        return f"No measurable difference between {baseline} and {ranked[1]['label']}"
    if measure == "time" and best in others:
        return f"No cell is measurably faster than {baseline}"
    if best["is_baseline"]:
        second = ranked[1]
        verb = "takes" if measure == "time" else "costs"
        ratio = format_ratio(second[column])
        tail = f"{ratio} as long" if measure == "time" else f"{ratio} as much"
        return f"{_capital(baseline)} is {word}; next, {second['label']}, {verb} {tail}"
    share = format_ratio(best[column])
    return f"{_capital(best['label'])} is {word}, at {share} the {noun} of {baseline}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _alt(
    rows: list[dict[str, Any]],
    column: str,
    low: str,
    high: str,
    measure: Measure,
    baseline: str,
    title: str,
) -> str:
    parts = []
    for row in rows:
        text = f"{row['label']}: {_value_label(row, measure)}"
        if row[column] is not None and row[low] is not None:
            text += f" ({format_interval(row[low], row[high])})"
        parts.append(text)
    return f"{title}. {_capital(measure)} relative to {baseline}: {join_words(parts)}."
