"""The sections of a report. SECTIONS is the one list of them, in the order of the page.

To add one: a function from `Given` to `Section`, a line in SECTIONS and its title in `show.report.words`.
One without anything to show does not appear.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mpigauge.document.document import Column, Document, Table
from mpigauge.document.finding import subject_in
from mpigauge.document.phrases import phrases_of
from mpigauge.document.status_words import status_and_reason
from mpigauge.find import answer as machine
from mpigauge.find.answer import answers
from mpigauge.find.doubts import doubt_line
from mpigauge.find.foot import foot_of
from mpigauge.query.series import size_words
from mpigauge.show import answer
from mpigauge.show.provenance import provenance_of
from mpigauge.show.report import families, relations, words
from mpigauge.show.report.page import Section, Sentence, grid_of
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.find.answer import QuoteLine
    from mpigauge.find.explain.table import Said
    from mpigauge.query.query import Query, Source
    from mpigauge.show.provenance import Circumstance
    from mpigauge.show.report.given import Given
    from mpigauge.show.report.page import ReportTable

SAID_FIRST = 8
"""Conclusions that are seen at once."""

DOUBTS_FIRST = 4


def answered(given: Given) -> Section:
    """The numbers that answer for the results, the verdicts on them, and the worst doubts."""
    document = answer.document(given.sources, given.query.units)
    title = words.TITLES["answer"]
    grids = [grid_of(document, table, partial(_quoted, given), title) for table in document.tables]
    said = [*relations.verdicts(given), *_doubts(given, DOUBTS_FIRST)]
    lead = [line for line in document.head if line not in machines_of(given.query)]
    return Section("answer", title, lead, said, grids=grids)


def machines_of(query: Query) -> list[str]:
    """Whose numbers they are, each once."""
    return list(dict.fromkeys(machine.machine_of(source.result) for source in query.sources))


def _quoted(given: Given, line: QuoteLine) -> Iterator[int]:
    """The cells of a line of the answer."""
    rows = {id(quote.row) for quote in line.quotes if quote is not None}
    for source in given.sources:
        yield from (given.cells.number(source, row) for row in source.rows if id(row) in rows)


def _doubts(given: Given, most: int | None = None) -> Iterator[Sentence]:
    """Doubts in a line each, the worst of each result first, with the cells that have them."""
    told = [
        answer.AnswerColumn(one, each) for one in given.sources for each in answers(one.rows, one.patterns)
    ]
    several = len(given.sources) > 1
    for source in given.sources:
        name = f"{source.name}: " if several else ""
        for doubt in answer.doubts_in(source, told)[:most]:
            cells = [given.cells.number(source, row) for row in doubt.rows]
            yield Sentence(f"{name}{doubt_line(doubt)}", "doubt", cells)


def conclusions(given: Given) -> Section:
    """What follows, each with the cells that it rests on."""
    found = [_sentence(given, one) for one in given.said]
    return Section(
        "conclusions", words.TITLES["conclusions"], sentences=found[:SAID_FIRST], more=found[SAID_FIRST:]
    )


def _sentence(given: Given, one: Said) -> Sentence:
    several = len(given.sources) > 1
    name = f"{one.name}: " if several else ""
    fact = one.conclusion.fact
    mine = [source for source in given.sources if source.name in one.name.split(" / ")]
    of, cells = subject_in(fact), given.cells
    numbers = [number for source in mine for number in cells.find(source, fact.rests_on, of)]
    text = f"{name}{one.text} ({counted(one.launches, 'launch')})"
    return Sentence(text, cells=numbers)


def provenance(given: Given) -> Section:
    """Every circumstance, by what it is about."""
    several = len(given.sources) > 1
    grids = [
        _circumstances(f"{source.name}: {title}" if several else title, found)
        for source in given.sources
        for title, found in provenance_of(source.result).items()
    ]
    return Section("provenance", words.TITLES["provenance"], grids=grids, copied=True)


def _circumstances(title: str, found: Sequence[Circumstance]) -> ReportTable:
    columns = [
        Column("name", "", lambda one: one[0], left=True),
        Column("value", "", lambda one: one[1], left=True),
    ]
    return grid_of(Document(), Table(title, "", found, columns))


def doubts(given: Given) -> Section:
    """All that is found and doubtful, in whole sentences with what to do."""
    several = len(given.sources) > 1
    more = [
        Sentence(f"{source.name}: {line.text}" if several else line.text, line.tone)
        for source in given.sources
        for line in foot_of(source.result, source.rows)
    ]
    return Section("doubts", words.TITLES["doubts"], sentences=[*_doubts(given)], more=more)


def failures(given: Given) -> Section:
    """What went wrong, and cells without a number."""
    grids = [grid for source in given.sources for grid in (_failed(source), _missing(given, source)) if grid]
    return Section("failures", words.TITLES["failures"], grids=grids)


def _failed(source: Source) -> ReportTable | None:
    if not source.result.failures:
        return None
    columns = [
        Column("launch", "launch", lambda one: one.launch, "1"),
        Column("kind", "kind", lambda one: one.kind, left=True),
        Column(
            "cell",
            "cell",
            lambda one: ", ".join(phrases_of(one.cell).values()) if one.cell else "",
            left=True,
        ),
        Column("status", "exit status", lambda one: one.status, "1"),
        Column("words", "last words", lambda one: one.words, left=True, tone=lambda _: "bad"),
    ]
    return grid_of(Document(), Table(f"{source.name}: {words.FAILED}", "", source.result.failures, columns))


def _missing(given: Given, source: Source) -> ReportTable | None:
    rows = [row for row in source.rows if row.time is None and row.limit_bytes is None and row.status != "ok"]
    if not rows:
        return None
    columns = [
        Column(
            "cell",
            "cell",
            lambda row: ", ".join(filter(None, [*phrases_of(row.cell).values(), size_words(row)])),
            left=True,
        ),
        Column("why", "status", status_and_reason, left=True, tone=lambda _: "doubt"),
    ]
    return grid_of(
        Document(), Table(f"{source.name}: {words.MISSING}", "", rows, columns), given.numbers(source)
    )


def reading(_: Given) -> Section:
    """How to read all of it."""
    return Section("reading", words.TITLES["reading"], terms=words.READING)


SECTIONS: Mapping[str, Callable[[Given], Section]] = {
    "answer": answered,
    "conclusions": conclusions,
    "provenance": provenance,
    "latency": families.latency,
    "bandwidth": families.bandwidth,
    "modes": families.modes,
    "collectives": families.collectives,
    "memory": families.memory,
    "map": relations.link_maps,
    "states": relations.states,
    "comparison": relations.comparison,
    "models": relations.models,
    "doubts": doubts,
    "failures": failures,
    "reading": reading,
}


def sections_of(given: Given) -> list[Section]:
    """All that have something to show."""
    found = [make(given) for make in SECTIONS.values()]
    return [one for one in found if not one.empty]
