"""Numbers of a model as text, with the ends of their intervals in the same unit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.units import AUTO, MISSING, format_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.document.document import Units
    from mpigauge.models.model import Known

TIMES = "\N{MULTIPLICATION SIGN}"


def time(number: Known, chosen: Units) -> str:
    """`251 ns (243 - 260)`: the ends in the unit of the number."""
    unit = units.time_unit((number.value or number.high,)) if chosen.time == AUTO else chosen.time
    return _with_ends(number, units.format_time(number.value, unit), units.format_time_in, unit)


def rate(number: Known, chosen: Units) -> str:
    """`11.2 GB/s (10.9 - 11.5)`."""
    if not math.isfinite(number.value):
        return MISSING
    unit = units.rate_unit((number.value or number.high,)) if chosen.rate == AUTO else chosen.rate
    return _with_ends(number, units.format_rate(number.value, unit), units.format_rate_in, unit)


def _with_ends(number: Known, text: str, bare: Callable[[float | None, str], str], unit: str) -> str:
    return units.with_interval(text, number.low, number.high, _end(lambda end: bare(end, unit)))


def _end(write: Callable[[float], str]) -> Callable[[float], str]:
    """Return how an end is written that may be anywhere."""
    return lambda value: write(value) if math.isfinite(value) else "any"


def size(number: Known | None) -> str:
    """Bytes that are no size of a message, but between: three digits."""
    if number is None:
        return MISSING
    return units.with_interval(f"{_bytes(number.value)} B", number.low, number.high, _end(_bytes))


def _bytes(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def factor(number: Known) -> str:
    """`× 1.42 (1.31 - 1.53)`."""
    text = f"{TIMES} {format_factor(number.value)}"
    return units.with_interval(text, number.low, number.high, format_factor)
