"""Tables as papers have them, as a document: columns and lines of a grid become columns and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.context import context_record, flat_context
from mpigauge.document.document import DOT, Column, Document, Line, Measured, Table
from mpigauge.document.finding import finding_record
from mpigauge.document.origin_words import origin_of, source_of
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
    from mpigauge.show.pivots.grid import PivotGrid, PivotLine, PivotNumber


def document(query: Query) -> Document:
    """Return the tables of the requested kind.

    Raises:
        UsageError: The results lack what the kind needs.
    """
    grids = kinds.MAKERS[query.kind.name](query)
    notes = Notes(grids)
    operations = dict.fromkeys(text for grid in grids for text in grid.operations)
    lines = [*sentences(query), *sessions_lines(query.sources)]
    return Document(
        head=[line for source in query.sources for line in head_of(source.result)],
        tables=[_table(query, grid, notes) for grid in grids],
        foot=[Line(text) for text in (*notes.sentences(grids), *operations, *lines)],
        units=query.units,
        source="; ".join(dict.fromkeys(filter(None, (origin_of(source.result) for source in query.sources)))),
        machine="; ".join(dict.fromkeys(source_of(source.result) for source in query.sources)),
        data=lambda: _record(query, grids, lines),
        records=lambda: _with_provenance(query, (record for grid in grids for record in _flat(grid))),
        schema="table",
        contexts=[context_record(source.result, source.stat) for source in query.sources],
    )


def _with_provenance(query: Query, records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return records with their provenance, by file."""
    known = {str(source.result.path): flat_context(source.result, source.stat) for source in query.sources}
    yield from ({**record, **known[record["file"]]} for record in records)


def _table(query: Query, grid: PivotGrid, notes: Notes) -> Table:
    title = DOT.join(filter(None, [query.kind.name, grid.title]))
    return Table(
        title,
        grid.about,
        grid.lines,
        _columns(grid, notes),
        [*notes.sentences([grid]), *grid.operations],
        caption=": ".join(filter(None, [query.kind.name.capitalize(), grid.subject])),
        meaning=grid.meaning,
    )


def _columns(grid: PivotGrid, notes: Notes) -> list[Column]:
    first = Column("line", grid.heading, lambda line: line.label, left=True, goes=None)
    return [first, *(_column(grid, number, notes) for number in range(len(grid.columns)))]


def _column(grid: PivotGrid, number: int, notes: Notes) -> Column:
    def value(line: PivotLine) -> float | None:
        entry = line.entries[number]
        of_entry = entry.quantity.number(entry.row) if entry else None
        return of_entry.estimate if of_entry else None

    def write(line: PivotLine, chosen: Units) -> str:
        return notes.text(grid, line, number, chosen)

    def measured(line: PivotLine) -> Measured | None:
        entry = line.entries[number]
        of_entry = entry.quantity.number(entry.row) if entry else None
        if entry is None or of_entry is None or entry.quantity.unit == "1":
            return None
        return Measured(of_entry, entry.quantity.unit, notes.letters_of(grid, line, number))

    heading = notes.heading(grid, number)
    return Column(str(number), heading, value, write=write, goes=None, number=measured)


# ---- For programs --------------------------------------------------------------------------------


def _record(query: Query, grids: list[PivotGrid], lines: list[str]) -> dict[str, Any]:
    """Return tables, lines and entries in SI base units: docs/tables.md."""
    return {
        "table": query.kind.name,
        "tables": [_grid_record(grid) for grid in grids],
        "notes": lines,
        "findings": [
            *(
                {"file": str(source.result.path), **finding_record(finding)}
                for source, finding in findings(query, grids)
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
        "value": number.estimate if number else None,
        "low": number.low if number else None,
        "high": number.high if number else None,
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
