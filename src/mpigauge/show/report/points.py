"""Pictures of charts that are no family of cells: residuals, comparisons and states over time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.document.document import Column, Document, Table
from mpigauge.show.report import pictures, point_texts, words
from mpigauge.show.report.page import Picture, grid_of
from mpigauge.units import MISSING

if TYPE_CHECKING:
    from mpigauge.query.series import Point
    from mpigauge.show.chart import Chart
    from mpigauge.show.report.page import ReportTable


def picture(name: str, title: str, about: str, chart: Chart, table: ReportTable | None) -> Picture:
    """Return a chart with its legend and its table."""
    drawing, notes = pictures.drawn(name, title, chart)
    return Picture(name, title, about, [drawing], [*map(pictures.key_of, chart.curves)], table, chart, notes)


def table(title: str, chart: Chart) -> ReportTable:
    """Return all points as numbers, grouped by curve."""
    rows = [
        (curve.label, point, curve.cells[at : at + 1])
        for curve in chart.curves
        for at, point in enumerate(curve.points)
    ]

    def ends(point: Point) -> str:
        if point.low is None or point.high is None:
            return MISSING
        return point_texts.interval(point.low, point.high, chart.quantity)

    value = Column(
        "value",
        chart.what,
        lambda row: row[1].y,
        write=lambda row, _: point_texts.written(row[1].y, chart.quantity),
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
