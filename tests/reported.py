"""Results made for reports, their pages, and pages as a browser's parser sees them."""

from __future__ import annotations

import random
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mpigauge.ask import VERBS
from mpigauge.mpi.kinds import KINDS
from mpigauge.query.query import Query, sources_of
from mpigauge.result.records import Done, Eager, End, Failure
from mpigauge.rows.machine.split import is_split
from mpigauge.show.report.build import page_of
from mpigauge.show.report.render import render
from mpigauge.show.report.words import TITLES
from tests.made import campaign, cell, collective, in_states, launches_of, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Record
    from mpigauge.show.report.page import Page

SIZES = (0, 8, 512, 65536, 2**20)
LAUNCHES = range(1, 7)
LIMIT = cell("eager", 2**22)
EVIL = """<img src=x onerror="alert(1)"></script><script>alert(2)</script>&lt;b&gt;"""


def samples_ns(of: Cell, number: int) -> list[int]:
    """By size; the synchronous mode takes half as long again, and launches differ by about 1 %."""
    luck = random.Random(f"{of.pattern} {of.mode} {of.bytes} {of.mpi_version} {of.pair} {number}")
    base = (50_000 + of.bytes / 4) * (1.5 if of.mode == "synchronous" else 1.0) * luck.gauss(1, 0.01)
    return [round(base * luck.gauss(1, 0.02)) for _ in range(20)]


def cells_of(**more: Any) -> list[Cell]:
    """Messages in two modes, a collective, a barrier and copies."""
    return [
        *(cell(size=size, mode=mode, **more) for mode in ("standard", "synchronous") for size in SIZES),
        *(collective("allreduce", size, **more) for size in SIZES[1:]),
        collective("barrier", 0, **more),
        *(cell("memcpy", size, **more) for size in SIZES[1:]),
    ]


def rich(**more: Any) -> list[Record]:
    """A result with something for most sections; fields of its cells may be told."""
    cells = cells_of(**more)
    limit = replace(LIMIT, **more)
    lost = cell(size=2**24, **more)
    return [
        campaign(*cells, limit, lost, title="a report"),
        *launches_of(cells, LAUNCHES),
        *measured(cells, LAUNCHES, samples_ns),
        *(eager(limit, number) for number in LAUNCHES),
        Failure(2, "crash", "these are my last words", 1, lost, 139),
        *(Done(number, cells[0].job, 1.5) for number in LAUNCHES),
        End("launches", 9.0, "2026-01-01T00:00:00+00:00"),
    ]


def eager(of: Cell, number: int) -> Eager:
    """A launch that found the limit between two sizes."""
    return Eager(
        number,
        0,
        of,
        found=True,
        control_held=True,
        limit_bytes=4000,
        longer_bytes=4000,
        max_bytes=2**22,
        probes=40,
    )


def changing() -> list[Record]:
    """A result of a machine that was near for most of the time, and far now and then."""
    cells = [cell(size=size) for size in SIZES[1:]]
    course = [["near"] * 9 + ["far"] * 2] * 6
    far = {"near": 1.0, "far": 2.0}
    visits = in_states(
        cells, course, lambda of, state, number: [round(each * far[state]) for each in samples_ns(of, number)]
    )
    return [campaign(*cells), *launches_of(cells, LAUNCHES), *visits, End("launches", 9.0, "")]


def mapped(ranks: int = 4) -> list[Record]:
    """A map of all pairs; the last one talks slowly to everybody."""
    pairs = [(i, j) for j in range(ranks) for i in range(j)]
    cells = [
        cell(size=size, ranks=ranks, pair=f"{i}-{j}", pairing="tournament")
        for i, j in pairs
        for size in (8, 65536)
    ]

    def slow_ns(of: Cell, number: int) -> list[int]:
        factor = 3 if of.pair.endswith(f"-{ranks - 1}") else 1
        return [factor * each for each in samples_ns(of, number)]

    visits = measured(cells, LAUNCHES, slow_ns)
    return [campaign(*cells), *launches_of(cells, LAUNCHES), *visits, End("launches", 9.0, "")]


def many(count: int = 500) -> list[Record]:
    """A result of so many cells at least, as a suite on several libraries has them."""
    sizes = [0, *(2**power for power in range(23))]
    versions = [f"5.0.{number}" for number in range(-(-count // (2 * len(sizes))))]
    cells = [
        one
        for version in versions
        for size in sizes
        for one in (cell(size=size, mpi_version=version), cell("memcpy", size, mpi_version=version))
    ]
    visits = measured(cells, LAUNCHES, samples_ns)
    return [campaign(*cells), *launches_of(cells, LAUNCHES), *visits, End("launches", 9.0, "")]


def page(*results: Result, **more: Any) -> Page:
    """The page of results in memory."""
    query = Query(VERBS["report"], sources_of(results, "median"), **more)
    each = query
    if any(is_split(source.result) for source in query.sources):
        each = Query(VERBS["report"], sources_of(results, "median", "all"), **more)
    gives_way = {kind.name: kind.yield_variables for kind in KINDS if kind.yield_variables}
    return page_of(query, each, gives_way)


def made(records: Iterable[Record]) -> Page:
    """The page of records."""
    return page(result_of(*records))


class Seen(HTMLParser):
    """A page as a parser sees it.

    Attributes:
        elements: Names and attributes of all elements.
        texts: All that is read as text.
        scripts: The contents of scripts, and the types of these.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[str, str]] = []
        self._inside = ""
        self._kind = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside, self._kind = tag, dict(attrs).get("type") or ""

    def handle_endtag(self, _: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append((self._kind, data))
        elif self._inside != "style":
            self.texts.append(data)

    @property
    def names(self) -> set[str]:
        """Of all elements."""
        return {name for name, _ in self.elements}

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.texts)

    @property
    def told(self) -> str:
        """All of it before the last section, which says how the page is made again."""
        return self.text.rpartition(TITLES["provenance"])[0]


def seen(one: Page) -> Seen:
    """A page, parsed."""
    return Seen(render(one))
