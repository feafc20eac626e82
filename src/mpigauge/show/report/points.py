"""Charts of points that are no curves against size: residuals, comparisons, states over time, and maps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.document.document import Column, Document, Table
from mpigauge.show.figures import lines, scales
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.show.report import pictures, words
from mpigauge.show.report.cells import short
from mpigauge.show.report.curves import key_of
from mpigauge.show.report.page import Chart, grid_of
from mpigauge.units import AUTO, MISSING, format_factor, format_percent, interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.query.series import Point
    from mpigauge.show.report.page import ReportTable

Quantity = Literal["time", "ratio", "share"]
"""What stands upward: seconds, times as long, or a share of one."""


@dataclass(frozen=True, slots=True, eq=False)
class Dots:
    """Points of one look.

    Attributes:
        look: As `show.figures.line_styles` has it.
        points: With intervals where they have some.
        cells: Of each point its cell by number, or -1.
        joined: Whether a line goes from one to the next.
    """

    label: str
    look: Mapping[str, Any]
    points: Sequence[Point]
    cells: Sequence[int] = ()
    joined: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Axes.

    Attributes:
        across: What stands to the right: sizes in bytes, or seconds.
        levels: Lines across: values that points are held against.
    """

    across: Literal["size", "seconds"]
    across_title: str
    quantity: Quantity
    title: str
    levels: Sequence[float] = field(default=())


def chart(
    name: str, title: str, about: str, frame: Frame, found: Sequence[Dots], table: ReportTable | None
) -> Chart:
    """Points as a picture, and as data."""
    axis: list[pictures.Axis] = []

    def draw(axes: Any) -> None:
        axis.append(_draw(axes, frame, found))

    picture = pictures.drawn(name, draw)
    data = {
        "kind": "points",
        "quantity": frame.quantity,
        "title": frame.title,
        "across": frame.across_title,
        "x": axis[0]._asdict(),
        "log": _log(frame, found),
        "levels": [*frame.levels],
        "curves": [_record(frame, one) for one in found],
    }
    keys = [key_of(one.look, one.label) for one in found]
    return Chart(name, title, about, picture, data, keys, table)


def table(title: str, frame: Frame, found: Sequence[Dots]) -> ReportTable:
    """All points as numbers, in groups by their look."""
    rows = [
        (one.label, point, one.cells[at : at + 1]) for one in found for at, point in enumerate(one.points)
    ]
    size = Column("size", words.SCRIPT["size"], lambda row: int(row[1].x), "B")
    value = Column("value", frame.title, lambda row: row[1].y, write=lambda row, _: _said(frame, row[1].y))
    ends = Column("interval", words.SCRIPT["interval"], lambda row: row[1].low, write=partial(_ends, frame))
    known = any(point.low is not None for one in found for point in one.points)
    columns = [Column("curve", "", lambda row: row[0], left=True), size, value, *([ends] if known else [])]
    laid_out = grid_of(Document(), Table(title, "", rows, columns), lambda row: row[2])
    return replace(laid_out, grouped=True)


def _said(frame: Frame, value: float) -> str:
    return format_percent(value) if frame.quantity == "share" else format_factor(value)


def _ends(frame: Frame, row: Any, _: Units) -> str:
    return interval(row[1].low, row[1].high, partial(_said, frame)) or MISSING


def _record(frame: Frame, one: Dots) -> dict[str, Any]:
    place = _places(frame, [one]).x if frame.across == "size" else float
    columns = {
        "x": [short(place(point.x)) for point in one.points],
        "y": [short(point.y) for point in one.points],
        "low": [short(point.low) for point in one.points],
        "high": [short(point.high) for point in one.points],
    }
    bare = {name: column for name, column in columns.items() if any(each is not None for each in column)}
    return {**bare, "cells": [*one.cells], "joined": one.joined}


def _places(frame: Frame, found: Sequence[Dots]) -> scales.SizeAxis:
    sizes = {point.x for one in found for point in one.points}
    return scales.SizeAxis(sizes, linear=frame.across != "size")


def _log(frame: Frame, found: Sequence[Dots]) -> bool:
    values = [point.y for one in found for point in one.points]
    return (
        frame.quantity != "share"
        and bool(values)
        and min(values) > 0
        and max(values) > LOG_FROM * min(values)
    )


def _draw(axes: Any, frame: Frame, found: Sequence[Dots]) -> pictures.Axis:
    sizes = _places(frame, found)
    for number, one in enumerate(found):
        pieces = [list(one.points)] if one.joined else [[point] for point in one.points]
        lines.curve(axes, str(number), one.look, pieces, sizes.x if frame.across == "size" else float)
    if frame.across == "size":
        sizes.dress(axes)
    else:
        axes.set_xlabel(frame.across_title)
    for level in frame.levels:
        axes.axhline(level, color="0.45", linewidth=0.8, zorder=1)
    _dress(axes, frame, [point.y for one in found for point in one.points], log=_log(frame, found))
    return pictures.axis_of(axes)


def _dress(axes: Any, frame: Frame, values: Sequence[float], *, log: bool) -> None:
    match frame.quantity:
        case "time":
            scales.times("", values, AUTO, linear=not log).dress(axes)
        case "ratio" if log:
            axes.set_yscale("log")
            scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")
        case "share":
            axes.yaxis.set_major_formatter(lambda value, _: format_percent(value))
        case _:
            pass
