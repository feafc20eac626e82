"""Quantities in tables: a number of a cell, its interval, and how both are written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from mpigauge import units
from mpigauge.query.series import rate_point
from mpigauge.stats.interval import Number

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.document.document import Units
    from mpigauge.rows.rows import Row


@dataclass(frozen=True, slots=True)
class Quantity:
    """Number that a cell has.

    Attributes:
        name: Name in JSON.
        unit: SI unit: s, B/s or 1.
        number: Returns the number and its interval.
        text: Returns the number as people read it.
        marked: Whether warnings are marked at it; of several numbers of a cell one suffices.
        heading: Heading of lines or columns, if it differs from the name.
    """

    name: str
    unit: Literal["s", "B/s", "1"]
    number: Callable[[Row], Number | None]
    text: Callable[[Row, Units], str]
    marked: bool = True
    heading: str = ""


def _time(row: Row) -> Number | None:
    return row.time


def _rate(row: Row) -> Number | None:
    point = rate_point(row)
    return Number(point.y, point.low, point.high) if point else None


def _mean(row: Row) -> Number | None:
    return _alone(row.time.mean if row.time else None)


def _stddev(row: Row) -> Number | None:
    return _alone(row.time.stddev if row.time else None)


def _samples(row: Row) -> Number | None:
    return _alone(row.time.samples or None if row.time else None)


def _alone(value: float | None) -> Number | None:
    return None if value is None else Number(value)


def _time_text(number: Number | None, chosen: Units) -> str:
    return units.format_time(number.estimate if number else None, chosen.time)


def _rate_text(number: Number | None, chosen: Units) -> str:
    return units.format_rate(number.estimate if number else None, chosen.rate)


def _with_ends(row: Row, chosen: Units) -> str:
    """Return `12.3 µs` and both ends in the same unit."""
    number = _time(row)
    text = _time_text(number, chosen)
    if number is None:
        return text
    unit = units.time_unit((number.estimate,)) if chosen.time == units.AUTO else chosen.time
    return _ends(text, number, lambda end: units.format_time_in(end, unit))


def _rate_with_ends(row: Row, chosen: Units) -> str:
    """Return `1.23 GB/s` and both ends in the same unit."""
    number = _rate(row)
    text = _rate_text(number, chosen)
    if number is None:
        return text
    unit = units.rate_unit((number.estimate,)) if chosen.rate == units.AUTO else chosen.rate
    return _ends(text, number, lambda end: units.format_rate_in(end, unit))


def _ends(text: str, number: Number, written: Callable[[float | None], str]) -> str:
    half_width = number.half_width
    if half_width is None:
        return text
    if half_width >= units.MAX_REACH - 1:
        return f"{text} ({units.format_relative(half_width)})"
    return units.with_interval(text, number.low, number.high, written)


def _with_width(row: Row, chosen: Units) -> str:
    """Return `12.3 µs ±4.1 %`; both ends of an uneven interval."""
    number = _time(row)
    if number is not None and number.is_uneven:
        return _with_ends(row, chosen)
    return _width(_time_text(number, chosen), number)


def _rate_with_width(row: Row, chosen: Units) -> str:
    """Return `1.23 GB/s ±4.1 %`; both ends of an uneven interval."""
    number = _rate(row)
    if number is not None and number.is_uneven:
        return _rate_with_ends(row, chosen)
    return _width(_rate_text(number, chosen), number)


def _width(text: str, number: Number | None) -> str:
    half_width = number.half_width if number else None
    return text if half_width is None else f"{text} {units.format_relative(half_width)}"


def _count_text(row: Row, _: Units) -> str:
    """Return the numbers of samples and launches."""
    time = row.time
    return f"{time.samples} in {time.launches}" if time and time.samples else units.MISSING


TIME = Quantity("time", "s", _time, _with_ends)
LATENCY = replace(TIME, heading="latency")
RATE = Quantity("rate", "B/s", _rate, _rate_with_ends, heading="bandwidth")
TIME_BRIEF = Quantity("time", "s", _time, _with_width)
RATE_BRIEF = Quantity("rate", "B/s", _rate, _rate_with_width, heading="bandwidth")
MEAN = Quantity("mean", "s", _mean, lambda row, chosen: _time_text(_mean(row), chosen))
STDDEV = Quantity("std. dev.", "s", _stddev, lambda row, chosen: _time_text(_stddev(row), chosen), False)
SAMPLES = Quantity("n", "1", _samples, _count_text, False)
