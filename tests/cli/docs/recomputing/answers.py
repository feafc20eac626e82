"""What `mpigauge show` prints without an option: the numbers that sum a result up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.cli.docs.recomputing.ledger import Said, size_of
from tests.cli.docs.recomputing.planted import rate_of
from tests.cli.docs.recomputing.sentences import job_of_limit, limits_of, talking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.cli.docs.recomputing.ledger import Ledger
    from tests.cli.docs.recomputing.reading import Result, Row
    from tests.cli.docs.recomputing.statistics_of import Interval

VALUE = re.compile(r"^([\d.]+(?:e[+-]?\d+)?) (ns|\u00b5s|ms|s|[MG]B/s)(?: +\u00b1([\d.]+) %)?$")
WIDE = re.compile(r" {2,}")
LABELS = {"bandwidth": 1, "both directions": 2}


def check_answer(ledger: Ledger, text: str, result: Result, names: Mapping[str, str]) -> None:
    """One block; doubts and advice below the numbers are not recomputed.

    Args:
        names: What places are called in the result, by what the block calls them.
    """
    columns: list[str] = [""]
    for line in text.splitlines():
        cells = WIDE.split(line.replace("  \u00b1", " \u00b1").strip())
        if line.startswith(" ") and cells != [""]:
            columns = [", ".join(names.get(word, word) for word in cell.split(", ")) for cell in cells]
        elif len(cells) > 1 and not line.startswith(("!", "all ", "figure", "beside")):
            for column, cell in zip(columns, cells[1:], strict=False):
                _check(ledger, cells[0], column, cell, result)
            for more in cells[1 + len(columns) :]:
                ledger.left(more, f"answer, {cells[0]}")
        elif line.startswith(("!", "states", "vm")) or "emulated hosts" in line:
            ledger.left(line, "answer")


def _check(ledger: Ledger, label: str, column: str, cell: str, result: Result) -> None:
    said, rows = Said(ledger, cell), _rows(result, column)
    if label == "eager limit" and cell != "\u2013":
        limits = limits_of(result)
        own = {
            limits[job]
            for row in result.shown
            if row.words >= _words(column) and (job := job_of_limit(row.cell)) in limits
        }
        said.size((0, len(cell)), own.pop() if len(own) == 1 else -1)
    elif match := VALUE.match(cell):
        found = _found(label, rows)
        if found:
            said.number(match.span(1), match[2], *(one.estimate for one in found))
            said.number(match.span(3), "%", *(one.half_width for one in found))
    said.close(f"answer, {label}, {column}")


def _words(column: str) -> set[str]:
    return set(column.split(", ")) - {""}


def _rows(result: Result, column: str) -> list[Row]:
    rows = [row for curve in talking(result) for row in curve if _words(column) <= row.words]
    usual = [row for row in rows if row.placement == "same-host"]
    return usual if len({row.placement for row in rows}) > 1 else rows


def _found(label: str, rows: Sequence[Row]) -> list[Interval]:
    """The number of a label, once for each interval that it may have: `bandwidth, nonblocking, 1 MiB`."""
    name, *more = label.split(", ")
    sizes = {size_of(word) for word in more if word[0].isdigit()}
    modes = {word for word in more if not word[0].isdigit()}
    rows = [row for row in rows if (not sizes or row.bytes in sizes) and modes <= row.words]
    if directions := LABELS.get(name):
        rated = [row for row in rows if row.bytes_per_time and row.directions == directions and _of_two(row)]
        best = max(rated, key=lambda row: row.bytes_per_time / row.seconds, default=None)
        return rate_of(best) if best else []
    pattern, _, mode = name.partition(" ")
    mine = [row for row in rows if row.pattern == ("pingpong" if name == "latency" else pattern)]
    mine = [row for row in mine if not mode or mode in row.words]
    return mine[0].time if mine else []


def _of_two(row: Row) -> bool:
    return row.pattern in ("pingpong", "exchange", "stream")
