"""Times by name, for services that keep a history of benchmarks over commits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.document.cell_names import duplicates_numbered, names_of
from mpigauge.errors import UsageError
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import FLOORS
from mpigauge.rows.group import STATE, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.document.document import Document

NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class CellTime:
    """Time of a cell.

    Attributes:
        name: Unique name of the cell.
        low_ns: Lower end of its interval; None if there is none.
        high_ns: Upper end of its interval; None if there is none.
    """

    name: str
    value_ns: float
    low_ns: float | None
    high_ns: float | None
    launches: int
    samples: int


def times_of(document: Document, form: str) -> list[CellTime]:
    """Return all cells with a time, except the instrument's floor, in the order of the document.

    Raises:
        UsageError: No cell has a time: output without numbers would look like success.
    """
    records = timed_records(document, form)
    return [_timed(name, record) for name, record in zip(_names(records), records, strict=True)]


def timed_records(document: Document, form: str) -> list[Mapping[str, Any]]:
    """Return the records of all cells with a time, except the instrument's floor.

    Raises:
        UsageError: No cell has a time.
    """
    records = [record for record in cells_in(document) if _ns(record, "estimate") is not None]
    if not records:
        raise UsageError(
            f"format {form} needs times, and there are none here",
            "mpigauge show --all says what was asked for, and why it has no time",
        )
    return records


def cells_in(document: Document) -> Iterator[Mapping[str, Any]]:
    """Return all records except those of the instrument's floor."""
    for record in document.records() if document.records is not None else ():
        if record.get("pattern") not in FLOORS:
            yield record


def _timed(name: str, record: Mapping[str, Any]) -> CellTime:
    return CellTime(
        name,
        _ns(record, "estimate") or 0.0,
        _ns(record, "low"),
        _ns(record, "high"),
        record["launches"],
        record["samples"],
    )


def _ns(record: Mapping[str, Any], what: str) -> float | None:
    """Return a time of a record in nanoseconds; None if it is no finite number."""
    value_s = record.get(f"time_{what}_s")
    return None if value_s is None or not math.isfinite(value_s * NS_PER_S) else value_s * NS_PER_S


def _names(records: Sequence[Mapping[str, Any]]) -> list[str]:
    return duplicates_numbered(names_of([subject_of(record) for record in records]))


def subject_of(record: Mapping[str, Any]) -> Subject:
    """Return the cell that a record is of, in its state of the machine."""
    return Subject(cell_of(record), record.get(STATE))


def cell_of(record: Mapping[str, Any]) -> Cell:
    """Return the cell of a record."""
    return Cell(**{name: record[name] for name in Cell.__struct_fields__ if name in record})
