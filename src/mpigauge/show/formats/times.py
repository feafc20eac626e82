"""Times by name, of which services that follow benchmarks over commits keep a history."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.document.cell_names import names_of, told_apart
from mpigauge.errors import UsageError
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.document.document import Document

NS_PER_S = 1e9
FLOORS = patterns_with(lambda pattern: pattern.is_floor)
"""What the instrument itself takes, of which no table tells either."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One time of a document.

    Attributes:
        name: What it is of; no other has it.
        low_ns: Lower end of its interval; None if there is none.
        high_ns: Upper end.
    """

    name: str
    value_ns: float
    low_ns: float | None
    high_ns: float | None
    launches: int
    samples: int


def times_of(document: Document, form: str) -> list[Timed]:
    """Every cell that has a time but the instrument's floor, in the order of the document.

    Raises:
        UsageError: None has: a success without numbers would be taken for one.
    """
    records = timed_records(document, form)
    return [_timed(name, record) for name, record in zip(_names(records), records, strict=True)]


def timed_records(document: Document, form: str) -> list[Mapping[str, Any]]:
    """The records of these cells.

    Raises:
        UsageError: None has a time.
    """
    records = [record for record in cells_in(document) if _ns(record, "estimate") is not None]
    if not records:
        raise UsageError(
            f"format {form} needs times, and there are none here", f"mpigauge show RESULT --format {form}"
        )
    return records


def cells_in(document: Document) -> Iterator[Mapping[str, Any]]:
    """All records but those of the instrument's floor."""
    for record in document.records() if document.records is not None else ():
        if record.get("pattern") not in FLOORS:
            yield record


def _timed(name: str, record: Mapping[str, Any]) -> Timed:
    return Timed(
        name,
        _ns(record, "estimate") or 0.0,
        _ns(record, "low"),
        _ns(record, "high"),
        record["launches"],
        record["samples"],
    )


def _ns(record: Mapping[str, Any], what: str) -> float | None:
    """A time of a record; None for what is no number, in nanoseconds, too."""
    value_s = record.get(f"time_{what}_s")
    return None if value_s is None or not math.isfinite(value_s * NS_PER_S) else value_s * NS_PER_S


def _names(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return told_apart(names_of([subject_of(record) for record in records]))


def subject_of(record: Mapping[str, Any]) -> Subject:
    """Return the cell that a record is of, in its state of the machine."""
    return Subject(cell_of(record), record.get("state"))


def cell_of(record: Mapping[str, Any]) -> Cell:
    """The cell that a record is of."""
    return Cell(**{name: record[name] for name in Cell.__struct_fields__ if name in record})
