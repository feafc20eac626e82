"""Numbers of a model with their intervals: as text, with the ends in the same unit, and for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.records import finite_or_none
from mpigauge.units import AUTO, MISSING, format_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.document.document import Units
    from mpigauge.stats.interval import Number

TIMES = "\N{MULTIPLICATION SIGN}"


def time(known: Number, chosen: Units) -> str:
    """Return a time with its interval in the same unit: `251 ns (243 - 260)`."""
    unit = units.time_unit((known.estimate or known.high,)) if chosen.time == AUTO else chosen.time
    return _with_ends(known, units.format_time(known.estimate, unit), units.format_time_in, unit)


def rate(known: Number, chosen: Units) -> str:
    """Return a rate with its interval: `11.2 GB/s (10.9 - 11.5)`."""
    if not math.isfinite(known.estimate):
        return MISSING
    unit = units.rate_unit((known.estimate or known.high,)) if chosen.rate == AUTO else chosen.rate
    return _with_ends(known, units.format_rate(known.estimate, unit), units.format_rate_in, unit)


def _with_ends(known: Number, text: str, bare: Callable[[float | None, str], str], unit: str) -> str:
    return units.with_interval(text, known.low, known.high, _end(lambda end: bare(end, unit)))


def _end(write: Callable[[float], str]) -> Callable[[float], str]:
    """Return a function that writes an end of an interval, or "any" if it is infinite."""
    return lambda value: write(value) if math.isfinite(value) else "any"


def size(known: Number | None) -> str:
    """Return a number of bytes that is no message size, with three digits."""
    if known is None:
        return MISSING
    return units.with_interval(f"{_bytes(known.estimate)} B", known.low, known.high, _end(_bytes))


def _bytes(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def factor(known: Number) -> str:
    """Return a factor with its interval: `× 1.42 (1.31 - 1.53)`."""
    text = f"{TIMES} {format_factor(known.estimate)}"
    return units.with_interval(text, known.low, known.high, format_factor)


def record(one: Number | None) -> dict[str, float | None] | None:
    """Return a number and the ends of its interval as JSON has them."""
    if one is None:
        return None
    return {
        "value": finite_or_none(one.estimate),
        "low": finite_or_none(one.low),
        "high": finite_or_none(one.high),
    }
