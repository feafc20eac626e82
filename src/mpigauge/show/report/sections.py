"""The sections of a report. SECTIONS is the one list of them, in their order; the first picture is moved up.

To add one: a function from `PageInputs` to `Section`, a line in SECTIONS and its title in
`show.report.words`. A section without anything to show does not appear.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge
from mpigauge.document.cell_names import subject, varied_in
from mpigauge.document.document import Column, Document, Table
from mpigauge.document.finding import subject_in
from mpigauge.document.phrases import phrases_of
from mpigauge.document.size_words import where
from mpigauge.document.status_words import reason, status_and_reason
from mpigauge.find import answer as machine
from mpigauge.find.fact import rests_on
from mpigauge.find.findings import doubts_of
from mpigauge.find.foot import foot_of
from mpigauge.query.series import size_words
from mpigauge.result.files import as_argument
from mpigauge.rows.group import STATE, group
from mpigauge.rows.reasons import WouldDeadlock
from mpigauge.show import answer
from mpigauge.show.provenance import provenance_of
from mpigauge.show.report import families, relations, words
from mpigauge.show.report.page import Section, Sentence, grid_of, side_by_side
from mpigauge.units import counted
from mpigauge.vocabulary import QUOTED_OF_PAIRS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.find.answer import QuoteLine
    from mpigauge.find.explain.table import Said
    from mpigauge.query.query import Source
    from mpigauge.rows.rows import Row
    from mpigauge.show.provenance import Circumstance
    from mpigauge.show.report.inputs import PageInputs
    from mpigauge.show.report.page import Key, Picture, ReportTable

SAID_FIRST = 3
"""Number of conclusions that are not folded away."""

DOUBTS_FIRST = 4


def answered(inputs: PageInputs) -> Section:
    """Return the section of the answer, the verdicts on it, and the worst doubts."""
    document = answer.document(inputs.sources, inputs.query.units)
    title = words.TITLES["answer"]
    grids = [grid_of(document, table, partial(_quoted, inputs), title) for table in document.tables]
    sentences = [*relations.verdicts(inputs), *_doubts(inputs, DOUBTS_FIRST)]
    origins = answer.origins(inputs.sources)
    lead = [line for line in document.head if line not in origins]
    return Section("answer", title, lead, sentences, grids=grids)


def _quoted(inputs: PageInputs, line: QuoteLine) -> Iterator[int]:
    """Return the cells of a line of the answer."""
    rows = {id(quote.row) for quote in line.quotes if quote is not None}
    for source in inputs.sources:
        yield from (inputs.cells.number(source, row) for row in source.rows if id(row) in rows)


def _doubts(inputs: PageInputs, most: int | None = None) -> Iterator[Sentence]:
    """Return doubts in a line each, the worst of each result first, with their cells."""
    several = len(inputs.sources) > 1
    for source in inputs.sources:
        name = f"{source.name}: " if several else ""
        for doubt in doubts_of(source.result, source.rows)[:most]:
            cells = [inputs.cells.number(source, row) for row in doubt.rows]
            yield Sentence(f"{name}{doubt.told_line}", "doubt", cells)


def conclusions(inputs: PageInputs) -> Section:
    """Return the section of conclusions, each with its cells."""
    sentences = [_sentence(inputs, conclusion) for conclusion in inputs.conclusions]
    return Section(
        "conclusions",
        words.TITLES["conclusions"],
        sentences=sentences[:SAID_FIRST],
        more=sentences[SAID_FIRST:],
    )


def _sentence(inputs: PageInputs, said: Said) -> Sentence:
    several = len(inputs.sources) > 1
    name = f"{said.name}: " if several else ""
    fact = said.conclusion.fact
    sources = [source for source in inputs.sources if source.name in said.name.split(" / ")]
    subject = subject_in(fact)
    numbers = [number for source in sources for number in inputs.cells.find(source, rests_on(fact), subject)]
    text = f"{name}{said.text} ({counted(said.launches, 'launch')})"
    return Sentence(text, cells=numbers)


def provenance(inputs: PageInputs) -> Section:
    """Return the section of provenance, by topic."""
    several = len(inputs.sources) > 1
    grids = [
        _circumstances(f"{source.name}: {title}" if several else title, circumstances)
        for source in inputs.sources
        for title, circumstances in provenance_of(source.result).items()
    ]
    return Section(
        "provenance",
        words.TITLES["provenance"],
        grids=grids,
        terms=[*_commands(inputs)],
        copied=True,
        whole_folded=True,
    )


def _commands(inputs: PageInputs) -> Iterator[tuple[str, str]]:
    """Yield what made the page and its numbers, and the commands that do it again."""
    if any(source.result.launches for source in inputs.sources):
        yield words.MEASURE_AGAIN, words.PLAN
    paths = [Path(source.result.path.name) for source in inputs.sources]
    yield words.THIS_PAGE, " ".join(["mpigauge report", *map(as_argument, paths)])
    yield words.MADE_BY, f"mpigauge {mpigauge.__version__}"
    yield from machine.next_steps(paths, newest=False, varied=True)


def _circumstances(title: str, circumstances: Sequence[Circumstance]) -> ReportTable:
    columns = [
        Column("name", "", lambda circumstance: circumstance[0], left=True),
        Column("value", "", lambda circumstance: circumstance[1], left=True),
    ]
    return grid_of(Document(), Table(title, "", circumstances, columns))


def doubts(inputs: PageInputs) -> Section:
    """Return the section of doubts, and of findings in whole sentences; remedies are for who measures."""
    several = len(inputs.sources) > 1
    more = [
        Sentence(f"{source.name}: {line.text}" if several else line.text, line.tone)
        for source in inputs.sources
        for line in foot_of(source.result, source.rows, remedies=False)
    ]
    return Section("doubts", words.TITLES["doubts"], sentences=[*_doubts(inputs)], more=more)


def planned(inputs: PageInputs) -> Section:
    """Return the section of cells that were left out since their messages would deadlock."""
    sentences = [
        Sentence(text, cells=[inputs.cells.number(source, row) for row in rows])
        for source in inputs.sources
        for text, rows in _blocked(source)
    ]
    return Section("planned", words.TITLES["planned"], sentences=sentences)


def _blocked(source: Source) -> Iterator[tuple[str, list[Row]]]:
    """Yield what would deadlock, a sentence per curve, and the rows that it is about."""
    varied = varied_in(source.rows)
    for curve in group(source.rows, {"bytes", STATE}):
        rows = [row for row in curve if isinstance(row.reason, WouldDeadlock)]
        if rows:
            sizes = where([row.cell.bytes for row in rows], [row.cell.bytes for row in curve], rows[0].cell)
            what, _, why = reason(rows[0]).partition(": ")
            name = subject(rows[0].of, varied)
            yield f"{name}{sizes}: {words.AS_PLANNED.format(why=what)}; {why}", rows


def failures(inputs: PageInputs) -> Section:
    """Return the section of failures, and of cells without a number for another reason than a plan."""
    grids = [
        grid for source in inputs.sources for grid in (_failed(source), _missing(inputs, source)) if grid
    ]
    return Section("failures", words.TITLES["failures"], grids=grids)


def _failed(source: Source) -> ReportTable | None:
    if not source.result.failures:
        return None
    columns = [
        Column("launch", "launch", lambda failure: failure.launch, "1"),
        Column("kind", "kind", lambda failure: failure.kind, left=True),
        Column(
            "cell",
            "cell",
            lambda failure: ", ".join(phrases_of(failure.cell).values()) if failure.cell else "",
            left=True,
        ),
        Column("status", "exit status", lambda failure: failure.status, "1"),
        Column("words", "last words", lambda failure: failure.words, left=True, tone=lambda _: "bad"),
    ]
    return grid_of(Document(), Table(f"{source.name}: {words.FAILED}", "", source.result.failures, columns))


def _missing(inputs: PageInputs, source: Source) -> ReportTable | None:
    unmeasured = [row for row in source.rows if row.time is None and row.limit_bytes is None]
    rows = [row for row in unmeasured if row.status != "ok" and not isinstance(row.reason, WouldDeadlock)]
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
        Document(), Table(f"{source.name}: {words.MISSING}", "", rows, columns), inputs.numbers(source)
    )


def reading(_: PageInputs) -> Section:
    """Return the section on how to read the page."""
    return Section("reading", words.TITLES["reading"], terms=words.READING)


SECTIONS: Mapping[str, Callable[[PageInputs], Section]] = {
    "answer": answered,
    "latency": families.latency,
    "bandwidth": families.bandwidth,
    "modes": families.modes,
    "collectives": families.collectives,
    "memory": families.memory,
    "map": relations.link_maps,
    "conclusions": conclusions,
    "comparison": relations.comparison,
    "doubts": doubts,
    "planned": planned,
    "failures": failures,
    "models": relations.models,
    "states": relations.states,
    "reading": reading,
    "provenance": provenance,
}

MESSAGES = tuple(name for name in SECTIONS if name in QUOTED_OF_PAIRS)
PICTURES = (("map",), MESSAGES, ("modes",), ("collectives",), ("memory",))
"""Sections whose charts can be the first picture of a page, the best first."""


def sections_of(inputs: PageInputs) -> list[Section]:
    """Return all sections that have something to show: the answer with its picture, then the others."""
    made = [make(inputs) for make in _in_turn(inputs)]
    sections = {section.name: section for section in made if not section.empty}
    names = [name for name in _first_picture(sections) if name in sections and sections[name].charts]
    moved = [replace(sections[name].charts[0], numbers=None) for name in names]
    for name in names:
        sections[name] = _without_first_chart(sections[name])
    if "answer" in sections:
        sections["answer"] = replace(sections["answer"], charts=moved)
    ordered = [name for name in dict.fromkeys(["answer", *names, *sections]) if name in sections]
    return side_by_side([sections[name] for name in ordered])


def _without_first_chart(section: Section) -> Section:
    """Return a section whose first chart stands above, with the answer; its numbers stay."""
    first, *charts = section.charts
    grids = [*([first.numbers] if first.numbers is not None else []), *section.grids]
    return replace(section, charts=charts, grids=grids)


def _in_turn(inputs: PageInputs) -> Iterator[Callable[[PageInputs], Section]]:
    """Yield what makes each section, and say which one begins."""
    for number, (name, make) in enumerate(SECTIONS.items(), start=1):
        inputs.begins(f"page: section {number} of {len(SECTIONS)}, {words.TITLES[name]}")
        yield make


def _shown(chart: Picture) -> list[Key]:
    """Return the curves of a chart that are shown at first."""
    return [key for key in chart.keys if not key.hidden]


def _first_picture(sections: Mapping[str, Section]) -> Sequence[str]:
    """Return the sections that are the first picture.

    It is of modes where the charts of messages have one curve each.
    """
    charts = [chart for name in MESSAGES if name in sections for chart in sections[name].charts]
    if "modes" in sections and "map" not in sections and all(len(_shown(chart)) == 1 for chart in charts):
        return ("modes",)
    return next((names for names in PICTURES if any(name in sections for name in names)), ())
