"""Tables of results in memory, and the fields that they must have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.document.document import Document, Units
from mpigauge.rows.rows import rows
from mpigauge.show.curves import document
from mpigauge.show.formats import render
from tests.made import (
    BLIND,
    LARGE,
    LIMIT,
    RECORDS,
    SMALL,
    campaign,
    collective,
    launch,
    measured,
    result_of,
    visit,
)

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Clock

DESIGN_FIELDS = {
    "pattern",
    "mode",
    "bytes",
    "ranks",
    "mpi",
    "mpi_version",
    "transport",
    "placement",
    "status",
    "reason",
    "launches",
    "samples",
    "time_s",
    "rate_bytes_per_s",
    "cpu_s_per_op",
    "warnings",
}
"""Of a row, by docs/numbers-fields.md#fields-of-json-and-csv. None of them may go; others may come."""

EXTRA_FIELDS = {
    "buffers",
    "window",
    "batch",
    "first_s",
    "limit_bytes",
    "advised_samples",
    "messages_per_s",
    "cpu_share",
    "net_share",
}
COLLECTIVE_FIELDS = {"sync", "datatype", "op", "root", "in_place", "bus_bytes_per_s", "overlap"}
START_FIELDS = {"skew_p50_s", "skew_p99_s", "late_share", "root_s", "local_s"}
CLOCK_FIELDS = {"clock_shared", "clock_error_s", "clock_bound_s"}
PAIR_FIELDS = {"pair", "pairing"}
RATIO_FIELDS = {"kappa", "memcpy_ratio", "copy_ratio", "copy_o0_ratio"}
FIELDS = (
    DESIGN_FIELDS
    | EXTRA_FIELDS
    | COLLECTIVE_FIELDS
    | START_FIELDS
    | CLOCK_FIELDS
    | RATIO_FIELDS
    | PAIR_FIELDS
)
DEEP_FIELDS = {"time_s", "overlap", *RATIO_FIELDS}
DESIGN_TIMES = {"estimate", "low", "high", "mean", "stddev", "min", "p5", "p25", "p75", "p95", "p99", "max"}


def document_of(result: Result, *columns: str, chosen: Units | None = None) -> Document:
    """All that is said of it."""
    return document(result, rows(result), columns, chosen or Units())


SMALL_RESULT = result_of(*RECORDS)
EVEN = 100 * [200]
TWO_LAUNCHES = result_of(
    campaign(SMALL), launch(1), visit(1, 0, SMALL, EVEN), launch(2), visit(2, 0, SMALL, [2 * t for t in EVEN])
)


def foot_of(result: Result) -> str:
    return "\n".join(line.text for line in document_of(result).foot)


DOT = " \N{MIDDLE DOT} "
ALLREDUCE = collective("allreduce", 8)
EVERYTHING = result_of(campaign(SMALL, LARGE, LIMIT, BLIND, ALLREDUCE), *RECORDS[1:])


def known(*cells: Cell, launches: int = 2, clocks: tuple[Clock, ...] = (), **more: object) -> Result:
    """A result in which every operation of a collective takes 1000 ns, and of others as well."""
    numbers = range(1, launches + 1)
    visits = measured(cells, numbers, lambda *_: [1000] * 20, **({"ops": 1} | more))
    return result_of(campaign(*cells), *map(launch, numbers), *clocks, *visits)


def table_of(result: Result, *columns: str, chosen: Units | None = None) -> list[dict[str, str]]:
    """The lines of the only curve of a result, by heading."""
    text = render(document_of(result, *columns, chosen=chosen), "markdown")
    heading, _, *lines = [line for line in text.splitlines() if line.startswith("| ")]
    names = [word.strip() for word in heading.strip("|").split(" | ")]
    return [dict(zip(names, map(str.strip, line.strip("|").split(" | ")), strict=True)) for line in lines]
