"""Forms of these tables: the names are those of `show.tables`."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from mpigauge.show import tables
from mpigauge.show.columns import Column
from mpigauge.show.document import DOT, Document, Section, head_of
from mpigauge.show.pivots import kinds
from mpigauge.show.pivots.doubts import Notes, doubts_of
from mpigauge.show.pivots.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.show.columns import Units
    from mpigauge.show.pivots.grid import Entry, Grid, Line
    from mpigauge.show.request import Request, Source


def grids_of(request: Request) -> list[Grid]:
    """The tables of the kind asked for.

    Raises:
        UsageError: The results lack what it needs.
    """
    make: Callable[[Request], list[Grid]] = getattr(kinds, request.kind.name)
    return make(request)


def document(request: Request) -> Document:
    """The same as a document, whose rows are lines of the tables."""
    found = grids_of(request)
    notes = Notes(found)
    return Document(
        head=[line for source in request.sources for line in head_of(source.result)],
        sections=[
            Section(_title(request, grid), grid.about, grid.lines, _columns(grid, notes)) for grid in found
        ],
        foot=[*notes.sentences(found), *sentences(request)],
        units=request.units,
        rows=[entry.row for grid in found for entry in grid.entries],
        result=request.sources[0].result,
    )


def _title(request: Request, grid: Grid) -> str:
    return DOT.join(filter(None, [request.kind.name, grid.title]))


def _columns(grid: Grid, notes: Notes) -> list[Column]:
    first = Column("line", grid.heading, lambda line, _: line.label, left=True)
    return [first, *(_column(grid, number, notes) for number in range(len(grid.columns)))]


def _column(grid: Grid, number: int, notes: Notes) -> Column:
    def text(line: Line, chosen: Units) -> str:
        return notes.text(grid, line, number, chosen)

    return Column(str(number), notes.heading(grid, number), text)


def _text(request: Request) -> str:
    return tables.render(document(request), "text")


def _markdown(request: Request) -> str:
    """A caption, a table, and what its letters mean: to paste as it is."""
    found = grids_of(request)
    notes = Notes(found)
    where = list(dict.fromkeys(filter(None, map(_where, request.sources))))
    return "\n".join(_pasted(request, grid, notes, where) for grid in found)


def _pasted(request: Request, grid: Grid, notes: Notes, where: Sequence[str]) -> str:
    columns = _columns(grid, notes)
    lines = [f"**{_title(request, grid)}** ({'; '.join([grid.about, *where])})", ""]
    lines.append(tables.piped(column.heading for column in columns))
    lines.append(tables.piped("---" if column.left else "---:" for column in columns))
    lines += [tables.piped(column.text(line, request.units) for column in columns) for line in grid.lines]
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


def _json(request: Request) -> str:
    """Tables, lines and entries in SI base units: docs/tables.md."""
    found = grids_of(request)
    notes = sentences(request)
    whole = {"table": request.kind.name, "tables": [_grid_record(grid) for grid in found], "notes": [*notes]}
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
    """An entry for programs: what it is of, the number, and its doubts."""
    cell, number, time = entry.row.cell, entry.quantity.number(entry.row), entry.row.time
    return {
        "file": str(entry.source.result.path),
        "pattern": cell.pattern,
        "mode": cell.mode,
        "bytes": cell.bytes,
        "ranks": cell.ranks,
        "mpi": cell.mpi,
        "mpi_version": cell.mpi_version,
        "transport": cell.transport,
        "placement": cell.placement,
        "quantity": entry.quantity.name,
        "unit": entry.quantity.unit,
        "value": number.value,
        "low": number.low,
        "high": number.high,
        "launches": time.launches if time else 0,
        "samples": time.samples if time else 0,
        "status": entry.row.status,
        "doubts": doubts_of(entry),
    }


def _csv(request: Request) -> str:
    """One line an entry, in SI base units."""
    out = io.StringIO()
    records = [record for grid in grids_of(request) for record in _flat(grid)]
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
                yield {name: tables.csv_value(value) for name, value in record.items()}


FORMATS: dict[str, Callable[[Request], str]] = {
    "text": _text,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}
