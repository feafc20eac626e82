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

    from mpigauge.document.columnar import Columns, Values
    from mpigauge.document.document import Document


FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of formulas in spreadsheets; an apostrophe before them makes a text."""

PAIR, RANKS_OF_PAIR = "pair", ("pair_first", "pair_second")
"""Column of a pair such as "1-3", which spreadsheets would take for a date, and the two that replace it."""

ROWS_AT_ONCE = 1 << 14


def render(document: Document) -> str:
    """Return a heading and the records of the document, or the rows of all its tables if it has none."""
    return "".join(pieces(document))


def pieces(document: Document) -> Iterator[str]:
    """Return the text of `render` in pieces, where the document has its records in pieces."""
    if document.pieces is not None and document.records is None:
        return _lines_of_columns(document.pieces())
    return _lines_of_records(document)


def _lines_of_records(document: Document) -> Iterator[str]:
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
    """Return a record with the two ranks of a pair in place of the pair."""
    split: dict[str, Any] = {}
    for name, value in record.items():
        split |= dict(zip(RANKS_OF_PAIR, ranks_in(value), strict=True)) if name == PAIR else {name: value}
    return split


def ranks_in(pair: Any) -> tuple[int | None, int | None]:
    """Return both ranks of a pair; (None, None) if it is no pair."""
    first, _, second = str(pair or "").partition("-")
    return (int(first), int(second)) if first.isdigit() and second.isdigit() else (None, None)


def value_of(value: Any) -> Any:
    """Return a CSV value: empty for None, JSON for lists and dicts, texts on one line and not as formulas."""
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


def _lines_of_columns(batches: Iterable[Columns]) -> Iterator[str]:
    for number, columns in enumerate(batches):
        lists = dict(_lists(columns))
        if number == 0:
            yield _written([list(lists)])
        count = len(next(iter(lists.values()), ()))
        for first in range(0, count, ROWS_AT_ONCE):
            part = (values[first : first + ROWS_AT_ONCE] for values in lists.values())
            yield _written(zip(*part, strict=True))


def _lists(columns: Columns) -> Iterator[tuple[str, list[Any]]]:
    """Return a list of CSV values per column."""
    for name, values in columns.items():
        if name != PAIR:
            yield name, _entries(values, value_of)
            continue
        for place, rank in enumerate(RANKS_OF_PAIR):
            yield rank, _entries(values, lambda pair, place=place: value_of(ranks_in(pair)[place]))


def _entries(values: Values, write: Any) -> list[Any]:
    """Return CSV values; each distinct value is written once, numbers are left as they are."""
    if values.codes is None:
        return [*values] if values.kind != "text" else [*map(write, values)]
    known = [*map(write, values.data), ""]
    return [*map(known.__getitem__, values.codes.tolist())]
