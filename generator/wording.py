"""Puts figures into words: one form for a ratio, a time and a sum of money on all pages."""

from __future__ import annotations

import math

EMPTY = "–"


def is_known(value: float | None) -> bool:
    """Return whether there is a figure: neither None nor NaN."""
    return value is not None and not math.isnan(value)


def format_significant(value: float, digits: int = 3) -> str:
    """Return a number with significant digits, without an exponent: 0.0401, 1.08, 1,358."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    return f"{round(value, digits - 1 - exponent):,.{max(0, digits - 1 - exponent)}f}"


def format_ratio(value: float | None) -> str:
    """Return a ratio with three significant digits and its sign: 1.08 ×."""
    return f"{format_significant(value)} ×" if value is not None and is_known(value) else EMPTY


def format_interval(low: float | None, high: float | None) -> str:
    """Return an interval's bounds with three significant digits, or the empty sign."""
    if low is None or high is None or not (is_known(low) and is_known(high)):
        return EMPTY
    return f"{format_significant(low)} to {format_significant(high)}"


def format_seconds(value: float | None) -> str:
    """Return seconds: four significant digits, at most one decimal above 100."""
    if value is None or not is_known(value):
        return EMPTY
    return f"{value:,.1f}" if value >= 100 else format_significant(value)  # noqa: PLR2004


def format_usd(value: float | None) -> str:
    """Return US dollars with three significant digits: $0.0480."""
    if value is None or not is_known(value):
        return EMPTY
    return f"${format_significant(value)}"


def format_percent(value: float | None) -> str:
    """Return a share as per cent, two significant digits: 0.042 is 4.2 %."""
    if value is None or not is_known(value):
        return EMPTY
    # The minus sign: a hyphen would break from its figure.
    return f"{format_significant(100 * value, 2)} %".replace("-", "−")


def format_count(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: 1 run, 63 runs."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def join_words(words: list[str]) -> str:
    """Return words as a list in a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
