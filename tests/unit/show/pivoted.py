"""Results with a time of its own for each cell, and what the tables of papers show of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mpigauge.result.records import Blocked, End
from mpigauge.show.pivots import ANSWER, CURVES, KINDS, SAMPLES
from tests.made import campaign, cell, launches_of, measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record, Visit
    from tests.conftest import Cli

SIZES = (0, 8, 64, 1024)
PLACES = ({"transport": "shm"}, {"transport": "tcp"}, {"transport": "tcp", "placement": "h1,h2"})
MODES = ("blocking", "nonblocking")
LAUNCHES = tuple(range(1, 6))
LIMIT_BYTES = 100
BLOCKED = [cell("exchange", 1024, "blocking", **place) for place in PLACES]
LAID_OUT = [name for name in KINDS if name not in (ANSWER, CURVES, SAMPLES)]


def law_ns(of: Cell) -> int:
    """What one operation takes in the first launch; no two cells take the same."""
    slow = {"shm": 300, "tcp": 5000}[of.transport] * (1 if of.placement == "same-host" else 7)
    factor = {"standard": 10, "nonblocking": 12, "blocking": 11}[of.mode] * (3 if of.mpi == "mpich" else 1)
    return (slow + of.bytes) * factor * of.ranks // 20


def by_law(cells: Sequence[Cell], numbers: Sequence[int]) -> Iterator[Visit]:
    return measured(cells, numbers, lambda of, number: [law_ns(of) * (100 + number)] * 40, ops=100)


def ended(cells: Sequence[Cell], *visits: Visit) -> list[Record]:
    """What follows the first line of a result: launches of these cells, the visits, and the end."""
    return [*launches_of(cells, LAUNCHES), *visits, End("launches", 1.0, "")]


def records_of(cells: Sequence[Cell], *more: Record) -> list[Record]:
    """A result in which all cells are measured but those that would block."""
    able = [of for of in cells if of not in BLOCKED]
    visits = by_law(able, LAUNCHES)
    return [campaign(*cells), *ended(cells, *visits), *more]


EXCHANGE = [cell("exchange", size, mode, **place) for place in PLACES for mode in MODES for size in SIZES]
BLOCKS = [Blocked(1, 900 + i, of, found=True, limit_bytes=LIMIT_BYTES) for i, of in enumerate(BLOCKED)]


def shown(cli: Cli, *words: object) -> str:
    done = cli("show", *words)
    assert (done.status, done.err) == (0, ""), done.err
    return done.out


def tables_of(cli: Cli, *words: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shown(cli, *words, "--format", "json"))["tables"]
    return found


def entries_of(tables: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for table in tables for line in table["lines"] for entry in line["entries"] if entry]
