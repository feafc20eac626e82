"""Link maps as pictures: a drawing per quantity with a square per pair, in the order of the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from mpigauge.document.document import Column, Table
from mpigauge.show.figures import map as maps
from mpigauge.show.figures import style
from mpigauge.show.report import words
from mpigauge.show.report.page import Picture, grid_of
from mpigauge.show.report.pictures import LOOK, inline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.document.document import Document
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.show.report.page import ReportTable

FRAMED: Any = {**LOOK, "axes.grid": False, "axes.spines.top": True, "axes.spines.right": True}


HALF_A_DIAGONAL = 0.7
"""In sides of a square."""

TITLE_INCHES = 0.5
"""That a figure has above its panels, and a page beside them."""


def picture(name: str, shown: LinkMap, table: ReportTable) -> Picture:
    """Return the latency and the bandwidth of all pairs."""
    return Picture(name, shown.cell.job.name, words.MATRIX, [*_drawings(name, shown)], (), table)


def _drawings(name: str, shown: LinkMap) -> Iterator[str]:
    for number, panel in enumerate(maps.panels(shown)):
        with style.style(), mpl.rc_context(FRAMED):
            whole = maps.figure_of([panel], shown)
            whole.set_figheight(whole.get_figheight() - TITLE_INCHES)
            said, side = maps.squares(whole, panel, shown)
            label = f"{shown.cell.job.name}: {panel.title}"
            yield inline(whole, f"{name}-{number}", label, said, reach=side * HALF_A_DIAGONAL)


def table_of(document: Document) -> ReportTable:
    """Return a table with a line for every pair."""
    rows = [*document.records()] if document.records is not None else []
    columns = [
        Column("hosts", words.PAIR, lambda one: one["hosts"], left=True),
        Column("latency_s", "latency", lambda one: one.get("latency_s"), "s"),
        Column("rate_bytes_per_s", "bandwidth", lambda one: one.get("rate_bytes_per_s"), "B/s"),
    ]
    return grid_of(document, Table(words.TITLES["map"], "", rows, columns))
