"""One line per row, in SI base units."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from mpigauge.document.document import values_of
from mpigauge.document.plain_signs import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.columnar import Columns, ColumnValues
    from mpigauge.document.document import Document


FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that spreadsheets compute; an apostrophe before it makes it text."""

PAIR, RANKS_OF_PAIR = "pair", ("pair_first", "pair_second")
"""Two ranks, "1-3", which spreadsheets would make a date of: a column each."""

ROWS_AT_ONCE = 1 << 14


def render(document: Document) -> str:
    """A heading, then the records of the document, else the rows of all its tables."""
    return "".join(pieces(document))


def pieces(document: Document) -> Iterator[str]:
    """The same, where the document has its records in pieces some of them at once."""
    if document.pieces is not None and document.records is None:
        return _of_columns(document.pieces())
    return _of_records(document)


def _of_records(document: Document) -> Iterator[str]:
    records = [*(_records(document) if document.records is None else document.records())]
    records = [*map(_with_ranks, records)]
    names = list(dict.fromkeys(name for record in records for name in record))
    if document.sparse:
        names = [name for name in names if any(record.get(name) not in (None, "") for record in records)]
    lines = ([value_of(record.get(name)) for name in names] for record in records)
    yield _written([names, *lines])


def _records(document: Document) -> Iterable[Mapping[str, Any]]:
    for table in document.tables:
        title = {"table": table.title} if len(document.tables) > 1 else {}
        yield from (title | values for values in values_of(table))


def _with_ranks(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the ranks of a pair in the place of the pair."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        found |= dict(zip(RANKS_OF_PAIR, ranks_in(value), strict=True)) if name == PAIR else {name: value}
    return found


def ranks_in(pair: Any) -> tuple[int | None, int | None]:
    """Both ranks of a pair; nothing where it is none."""
    first, _, second = str(pair or "").partition("-")
    return (int(first), int(second)) if first.isdigit() and second.isdigit() else (None, None)


def value_of(value: Any) -> Any:
    """Nothing for None, JSON for what has parts; words in one line, and never a formula of a spreadsheet."""
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return printable(json.dumps(value, ensure_ascii=False))
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(FORMULAS) else printable(value)


def _written(lines: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


# ---- Many rows -----------------------------------------------------------------------------------


def _of_columns(found: Iterable[Columns]) -> Iterator[str]:
    for number, columns in enumerate(found):
        lists = dict(_lists(columns))
        if number == 0:
            yield _written([list(lists)])
        count = len(next(iter(lists.values()), ()))
        for first in range(0, count, ROWS_AT_ONCE):
            part = (values[first : first + ROWS_AT_ONCE] for values in lists.values())
            yield _written(zip(*part, strict=True))


def _lists(columns: Columns) -> Iterator[tuple[str, list[Any]]]:
    """A list of what is written for each column."""
    for name, values in columns.items():
        if name != PAIR:
            yield name, _entries(values, value_of)
            continue
        for place, rank in enumerate(RANKS_OF_PAIR):
            yield rank, _entries(values, lambda pair, place=place: value_of(ranks_in(pair)[place]))


def _entries(values: ColumnValues, write: Any) -> list[Any]:
    """Each value that there is written once, numbers left as they are."""
    if values.codes is None:
        return [*values] if values.kind != "text" else [*map(write, values)]
    known = [*map(write, values.data), ""]
    return [*map(known.__getitem__, values.codes.tolist())]
