"""Forms of these tables: the names are those of `show.tables`."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from mpigauge.show import tables
from mpigauge.show.columns import Column
from mpigauge.show.document import DOT, Document, Section, head_of
from mpigauge.show.pivots import kinds
from mpigauge.show.pivots.footnotes import Notes, marks_of
from mpigauge.show.pivots.sentences import findings, sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.show.columns import Units
    from mpigauge.show.pivots.grid import Entry, Grid, Line
    from mpigauge.show.query import Query, Source


def grids_of(query: Query) -> list[Grid]:
    """The tables of the kind asked for.

    Raises:
        UsageError: The results lack what it needs.
    """
    make: Callable[[Query], list[Grid]] = getattr(kinds, query.kind.name)
    return make(query)


def document(query: Query) -> Document:
    """The same as a document, whose rows are lines of the tables."""
    found = grids_of(query)
    notes = Notes(found)
    return Document(
        head=[line for source in query.sources for line in head_of(source.result)],
        sections=[
            Section(_title(query, grid), grid.about, grid.lines, _columns(grid, notes)) for grid in found
        ],
        foot=[*notes.sentences(found), *sentences(query)],
        units=query.units,
        rows=[entry.row for grid in found for entry in grid.entries],
        result=query.sources[0].result,
    )


def _title(query: Query, grid: Grid) -> str:
    return DOT.join(filter(None, [query.kind.name, grid.title]))


def _columns(grid: Grid, notes: Notes) -> list[Column]:
    first = Column("line", grid.heading, lambda line, _: line.label, left=True)
    return [first, *(_column(grid, number, notes) for number in range(len(grid.columns)))]


def _column(grid: Grid, number: int, notes: Notes) -> Column:
    def text(line: Line, chosen: Units) -> str:
        return notes.text(grid, line, number, chosen)

    return Column(str(number), notes.heading(grid, number), text)


def _text(query: Query) -> str:
    return tables.render(document(query), "text")


def _markdown(query: Query) -> str:
    """A caption, a table, and what its letters mean: to paste as it is."""
    found = grids_of(query)
    notes = Notes(found)
    where = list(dict.fromkeys(filter(None, map(_where, query.sources))))
    return "\n".join(_pasted(query, grid, notes, where) for grid in found)


def _pasted(query: Query, grid: Grid, notes: Notes, where: Sequence[str]) -> str:
    columns = _columns(grid, notes)
    lines = [f"**{_title(query, grid)}** ({'; '.join([grid.about, *where])})", ""]
    lines.append(tables.piped(column.heading for column in columns))
    lines.append(tables.piped("---" if column.left else "---:" for column in columns))
    lines += [tables.piped(column.text(line, query.units) for column in columns) for line in grid.lines]
    if meanings := notes.sentences([grid]):
        lines += ["", f"{'; '.join(meanings)}."]
    return "\n".join([*lines, ""])


def _where(source: Source) -> str:
    """Whose numbers they are, in a few words."""
    campaign = source.result.campaign
    machine = campaign.environment
    launches = len({launch.number for launch in source.result.launches})
    words = [campaign.plan.title, machine.host, machine.cpu, campaign.started[:10]]
    words += [f"{launches} launches"] if launches else []
    words += ["emulated network"] if campaign.plan.lab else []
    return ", ".join(filter(None, words))


# ---- For programs --------------------------------------------------------------------------------


def _json(query: Query) -> str:
    """Tables, lines and entries in SI base units: docs/tables.md."""
    found = grids_of(query)
    whole = {
        "table": query.kind.name,
        "tables": [_grid_record(grid) for grid in found],
        "notes": sentences(query),
        "findings": [
            {"file": str(source.result.path), **tables.finding_record(one)}
            for source, one in findings(query, found)
        ],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _grid_record(grid: Grid) -> dict[str, Any]:
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


def entry_record(entry: Entry) -> dict[str, Any]:
    """An entry for programs: what it is of, the number, and its warnings."""
    cell, number, time = entry.row.cell, entry.quantity.number(entry.row), entry.row.time
    return {
        "file": str(entry.source.result.path),
        **asdict(cell),
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
    }


def _csv(query: Query) -> str:
    """One line an entry, in SI base units."""
    out = io.StringIO()
    records = [record for grid in grids_of(query) for record in _flat(grid)]
    writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def _flat(grid: Grid) -> Iterable[dict[str, Any]]:
    for line in grid.lines:
        for column, entry in zip(grid.columns, line.entries, strict=True):
            if entry is not None:
                place = {"title": grid.title, "line": line.label, "column": column}
                record = place | entry_record(entry)
                record["doubts"] = "; ".join(record["doubts"])
                record["warnings"] = " ".join(record["warnings"])
                yield {name: tables.csv_value(value) for name, value in record.items()}


FORMATS: dict[str, Callable[[Query], str]] = {
    "text": _text,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}
