"""Pictures of charts that are of no family of cells: residuals, comparisons and states over time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.document.document import Column, Document, Table
from mpigauge.show.report import pictures, said, words
from mpigauge.show.report.page import Picture, grid_of
from mpigauge.units import MISSING

if TYPE_CHECKING:
    from mpigauge.query.series import Point
    from mpigauge.show.chart import Chart
    from mpigauge.show.report.page import ReportTable


def picture(name: str, title: str, about: str, chart: Chart, table: ReportTable | None) -> Picture:
    """Return a chart with its legend and its table."""
    drawing = pictures.drawn(name, title, chart)
    return Picture(name, title, about, [drawing], [*map(pictures.key_of, chart.curves)], table, chart)


def table(title: str, chart: Chart) -> ReportTable:
    """Return all points as numbers, in groups by their curve."""
    rows = [
        (one.label, point, one.cells[at : at + 1])
        for one in chart.curves
        for at, point in enumerate(one.points)
    ]

    def ends(point: Point) -> str:
        if point.low is None or point.high is None:
            return MISSING
        return said.interval(point.low, point.high, chart.quantity)

    value = Column(
        "value",
        chart.what,
        lambda row: row[1].y,
        write=lambda row, _: said.written(row[1].y, chart.quantity),
    )
    columns = [
        Column("curve", "", lambda row: row[0], left=True),
        Column("size", words.SIZE, lambda row: int(row[1].x), "B"),
        value,
    ]
    if any(point.low is not None for point in chart.points):
        columns.append(
            Column("interval", words.INTERVAL, lambda row: row[1].low, write=lambda row, _: ends(row[1]))
        )
    laid_out = grid_of(Document(), Table(title, "", rows, columns), lambda row: row[2])
    return replace(laid_out, grouped=True)
