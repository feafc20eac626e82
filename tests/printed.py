"""Output of other benchmarks: the files, and what each of them must become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers import reading
from mpigauge.result.records import Failure, Imported, Unread
from tests.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record

FOLDER = ROOT / "tests" / "data" / "printed"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".md")


def records_of(path: Path, content: str | None = None) -> list[Record]:
    """What a file becomes, recognised by what is in it; it is written first if its content is given."""
    if content is not None:
        path.write_text(content, encoding="utf-8")
    records = reading.read_any(path)
    assert records is not None
    return records


def said_of(path: Path, content: str | None = None) -> str:
    """What is said of a file: of the lines that were not read, or why nothing was."""
    try:
        records = records_of(path, content)
    except UsageError as refusal:
        return refusal.sentence
    return "\n".join(f"{one.source}: {one.why}" for one in records if isinstance(one, Unread))


def times_of(records: list[Record]) -> dict[Cell, float]:
    """Seconds by cell."""
    return {record.cell: record.time_s for record in records if isinstance(record, Imported)}


def found(name: str) -> dict[tuple[str, str, int, int], float]:
    """Seconds by pattern, mode, size and ranks."""
    times = times_of(records_of(FOLDER / name))
    return {(of.pattern, of.mode, of.bytes, of.ranks): time_s for of, time_s in times.items()}


def failures_of(records: list[Record]) -> list[tuple[str, int, str]]:
    """Pattern, size and kind of what has no number."""
    found = [record for record in records if isinstance(record, Failure) and record.cell is not None]
    return [(one.cell.pattern, one.cell.bytes, one.kind) for one in found if one.cell is not None]
