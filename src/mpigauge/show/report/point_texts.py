"""Texts of points in charts: number, interval, launches and doubts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.warning_sentences import label as doubt_label
from mpigauge.show.report import words
from mpigauge.vocabulary import OF_A_POINT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.query.series import Point
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Quantity

DASH = " \N{EN DASH} "


def of_row(label: str, what: str, row: Row, point: Point, quantity: Quantity, chosen: Units) -> str:
    """Return the text of a point of a curve against size."""
    lines = [f"{label}, {units.format_size(row.cell.bytes)}", *of_value(what, point, quantity, chosen)]
    if row.time is not None:
        lines += _of_samples(row.time, chosen if quantity == "time" else None)
    if row.warnings:
        doubts = ", ".join(doubt_label(warning.kind) for warning in row.warnings)
        lines.append(f"{words.DOUBTS}: {doubts}")
    return "\n".join(lines)


def of_value(
    what: str, point: Point, quantity: Quantity, chosen: Units = AUTOMATIC, none: str = words.NO_INTERVAL
) -> list[str]:
    """Return the lines of a value and its interval.

    Args:
        none: Text for an unknown interval; may be empty.
    """
    value = f"{what}: {written(point.y, quantity, chosen)}"
    if point.low is None or point.high is None:
        return [value, none] if none else [value]
    return [value, f"{words.INTERVAL}: {interval(point.low, point.high, quantity, chosen)}"]


def interval(low: float, high: float, quantity: Quantity, chosen: Units = AUTOMATIC) -> str:
    """Return the ends of an interval."""
    if quantity == "time":
        return units.interval_of_times(low, high, chosen.time)
    if quantity == "rate":
        return units.interval_of_rates(low, high, chosen.rate)
    return f"{written(low, quantity)}{DASH}{written(high, quantity)}"


def written(value: float, quantity: Quantity, chosen: Units = AUTOMATIC) -> str:
    """Return a value with its unit, as in tables."""
    write: dict[Quantity, Callable[[float], str]] = {
        "time": lambda number: units.format_time(number, chosen.time),
        "rate": lambda number: units.format_rate(number, chosen.rate),
        "ratio": units.format_factor,
        "share": units.format_percent,
    }
    return write[quantity](value)


def _of_samples(time: Timing, chosen: Units | None) -> Iterator[str]:
    """Yield the numbers of launches and samples, and percentiles of the samples."""
    if time.launches:
        yield f"{words.LAUNCHES}: {time.launches}, {time.samples} {words.SAMPLES}"
    if chosen is None:
        return
    known: Sequence[tuple[str, float | None]] = [(name, getattr(time, name)) for name in OF_A_POINT]
    spread = [f"{name} {units.format_time(value, chosen.time)}" for name, value in known if value is not None]
    if spread:
        yield f"{words.SAMPLES}: {', '.join(spread)}"
