"""Link maps as charts: a square per pair, in the order of the groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from mpigauge import units
from mpigauge.show.document import Column, Table
from mpigauge.show.figures import map as maps
from mpigauge.show.figures import style
from mpigauge.show.report.cells import short
from mpigauge.show.report.page import Chart, grid_of
from mpigauge.show.report.pictures import LOOK, inline
from mpigauge.show.tables.link_map import quantities
from mpigauge.show.words import report as words

if TYPE_CHECKING:
    from mpigauge.analysis.linkmap import LinkMap
    from mpigauge.show.document import Document
    from mpigauge.show.report.page import Grid

FRAMED: Any = {**LOOK, "axes.grid": False, "axes.spines.top": True, "axes.spines.right": True}


def chart(name: str, shown: LinkMap, table: Grid) -> Chart:
    """Latency and bandwidth of all pairs."""
    with style.style(), mpl.rc_context(FRAMED):
        whole = maps.figure(shown)
        whole.suptitle("")
        picture = inline(whole, name)
    data = {"kind": "matrix", "names": [*shown.names], "panels": [*_panels(shown)]}
    return Chart(name, shown.cell.job.name, words.MATRIX, picture, data, (), table)


def _panels(shown: LinkMap) -> list[dict[str, Any]]:
    count = len(shown.names)
    found = []
    for what, size, unit, get in quantities(shown):
        values: list[list[float | None]] = [[None] * count for _ in range(count)]
        for link in shown.links:
            value = get(link)
            if value is not None and math.isfinite(value):
                i, j = link.ranks
                values[i][j] = values[j][i] = short(value)
        quantity = "time" if unit == "s" else "rate"
        found.append({"title": f"{what}, {units.format_size(size)}", "quantity": quantity, "values": values})
    return found


def table_of(document: Document) -> Grid:
    """A line for every pair."""
    rows = [*document.records()] if document.records is not None else []
    columns = [
        Column("hosts", words.PAIR, lambda one: one["hosts"], left=True),
        Column("latency_s", "latency", lambda one: one.get("latency_s"), "s"),
        Column("rate_bytes_per_s", "bandwidth", lambda one: one.get("rate_bytes_per_s"), "B/s"),
    ]
    return grid_of(document, Table(words.TITLES["map"], "", rows, columns))
