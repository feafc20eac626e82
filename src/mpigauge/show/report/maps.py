"""Link maps as charts: a square per pair, in the order of the groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from mpigauge import units
from mpigauge.document.document import Column, Table
from mpigauge.linkmap.table import quantities
from mpigauge.show.figures import map as maps
from mpigauge.show.figures import style
from mpigauge.show.report import words
from mpigauge.show.report.cells import short
from mpigauge.show.report.page import Chart, grid_of
from mpigauge.show.report.pictures import LOOK, inline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.document.document import Document
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.rows.rows import Row
    from mpigauge.show.report.page import ReportTable

FRAMED: Any = {**LOOK, "axes.grid": False, "axes.spines.top": True, "axes.spines.right": True}


def chart(name: str, shown: LinkMap, table: ReportTable) -> Chart:
    """Latency and bandwidth of all pairs."""
    with style.style(), mpl.rc_context(FRAMED):
        whole = maps.figure(shown)
        whole.suptitle("")
        picture = inline(whole, name)
    data = {"kind": "matrix", "names": [*shown.names], "panels": [*_panels(shown)]}
    return Chart(name, shown.cell.job.name, words.MATRIX, picture, data, (), table)


def _panels(shown: LinkMap) -> list[dict[str, Any]]:
    found = []
    for what, size, unit, get in quantities(shown):
        is_time = unit == "s"
        rows = {link.ranks: link.latency if is_time else link.rate for link in shown.links}
        values = {link.ranks: get(link) for link in shown.links}
        found.append(
            {
                "title": f"{what}, {units.format_size(size)}",
                "quantity": "time" if is_time else "rate",
                "values": _square(shown, {pair: _finite(value) for pair, value in values.items()}),
                "launches": _square(shown, {pair: _launches(row) for pair, row in rows.items()}),
            }
        )
    return found


def _square(shown: LinkMap, by_pair: Mapping[tuple[int, int], float | None]) -> list[list[float | None]]:
    """A line per rank, a place per other rank; both directions of a pair have one value."""
    count = len(shown.names)
    square: list[list[float | None]] = [[None] * count for _ in range(count)]
    for (i, j), value in by_pair.items():
        square[i][j] = square[j][i] = value
    return square


def _finite(value: float | None) -> float | None:
    return short(value) if value is not None and math.isfinite(value) else None


def _launches(row: Row | None) -> int | None:
    return row.time.launches if row is not None and row.time is not None else None


def table_of(document: Document) -> ReportTable:
    """A line for every pair."""
    rows = [*document.records()] if document.records is not None else []
    columns = [
        Column("hosts", words.PAIR, lambda one: one["hosts"], left=True),
        Column("latency_s", "latency", lambda one: one.get("latency_s"), "s"),
        Column("rate_bytes_per_s", "bandwidth", lambda one: one.get("rate_bytes_per_s"), "B/s"),
    ]
    return grid_of(document, Table(words.TITLES["map"], "", rows, columns))
