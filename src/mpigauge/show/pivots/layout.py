"""Tables as papers have them, as a document: a column is a column of the grid, a row a line of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.context import context_record, flat_context
from mpigauge.document.document import DOT, Column, Document, Line, Table
from mpigauge.document.finding import finding_record
from mpigauge.document.origin_words import origin_of
from mpigauge.document.records import subject_record
from mpigauge.find.sessions import sessions_lines, sessions_records
from mpigauge.show.head import head_of
from mpigauge.show.pivots import kinds
from mpigauge.show.pivots.footnotes import Notes, marks_of
from mpigauge.show.pivots.sentences import findings, sentences
from mpigauge.show.records import flat_sessions, sessions_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mpigauge.document.document import Units
    from mpigauge.query.query import Query
    from mpigauge.show.pivots import grid
    from mpigauge.show.pivots.grid import PivotGrid, PivotNumber


def document(query: Query) -> Document:
    """The tables of the kind asked for.

    Raises:
        UsageError: The results lack what it needs.
    """
    found = kinds.MAKERS[query.kind.name](query)
    notes = Notes(found)
    said = [*sentences(query), *sessions_lines(query.sources)]
    return Document(
        head=[line for source in query.sources for line in head_of(source.result)],
        tables=[_table(query, one, notes) for one in found],
        foot=[Line(text) for text in (*notes.sentences(found), *said)],
        units=query.units,
        source="; ".join(dict.fromkeys(filter(None, (origin_of(one.result) for one in query.sources)))),
        data=lambda: _record(query, found, said),
        records=lambda: _traced(query, (record for one in found for record in _flat(one))),
        schema="table",
        contexts=[context_record(source.result, source.stat) for source in query.sources],
    )


def _traced(query: Query, records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each with where it comes from, by its file."""
    known = {str(source.result.path): flat_context(source.result, source.stat) for source in query.sources}
    yield from ({**record, **known[record["file"]]} for record in records)


def _table(query: Query, one: PivotGrid, notes: Notes) -> Table:
    title = DOT.join(filter(None, [query.kind.name, one.title]))
    return Table(title, one.about, one.lines, _columns(one, notes), notes.sentences([one]))


def _columns(one: PivotGrid, notes: Notes) -> list[Column]:
    first = Column("line", one.heading, lambda line: line.label, left=True, goes=None)
    return [first, *(_column(one, number, notes) for number in range(len(one.columns)))]


def _column(one: PivotGrid, number: int, notes: Notes) -> Column:
    def value(line: grid.PivotLine) -> float | None:
        entry = line.entries[number]
        return entry.quantity.number(entry.row).value if entry else None

    def write(line: grid.PivotLine, chosen: Units) -> str:
        return notes.text(one, line, number, chosen)

    return Column(str(number), notes.heading(one, number), value, write=write, goes=None)


# ---- For programs --------------------------------------------------------------------------------


def _record(query: Query, found: list[PivotGrid], said: list[str]) -> dict[str, Any]:
    """Tables, lines and entries in SI base units: docs/tables.md."""
    return {
        "table": query.kind.name,
        "tables": [_grid_record(one) for one in found],
        "notes": said,
        "findings": [
            *(
                {"file": str(source.result.path), **finding_record(one)}
                for source, one in findings(query, found)
            ),
            *sessions_records(query.sources),
        ],
    }


def _grid_record(grid: PivotGrid) -> dict[str, Any]:
    lines = [
        {"line": line.label, "entries": [entry and entry_record(entry) for entry in line.entries]}
        for line in grid.lines
    ]
    return {
        "title": grid.title,
        "about": grid.about,
        "heading": grid.heading,
        "columns": grid.columns,
        "lines": lines,
    }


def entry_record(entry: PivotNumber) -> dict[str, Any]:
    """An entry for programs: what it is of, the number, and its warnings."""
    _cell, number, time = entry.row.cell, entry.quantity.number(entry.row), entry.row.time
    return {
        "file": str(entry.source.result.path),
        **subject_record(entry.row.of),
        "quantity": entry.quantity.name,
        "unit": entry.quantity.unit,
        "value": number.value,
        "low": number.low,
        "high": number.high,
        "launches": time.launches if time else 0,
        "samples": time.samples if time else 0,
        "status": entry.row.status,
        "doubts": marks_of(entry),
        "warnings": [warning.kind for warning in entry.row.warnings],
        "sessions": sessions_record(entry.row.sessions),
    }


def _flat(grid: PivotGrid) -> Iterable[dict[str, Any]]:
    for line in grid.lines:
        for column, entry in zip(grid.columns, line.entries, strict=True):
            if entry is not None:
                place = {"title": grid.title, "line": line.label, "column": column}
                record = place | entry_record(entry)
                record["doubts"] = "; ".join(record["doubts"])
                record["warnings"] = " ".join(record["warnings"])
                yield record | flat_sessions(record.pop("sessions"))
