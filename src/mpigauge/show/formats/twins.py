"""Times under the names of other benchmarks: a block per table of theirs, and what has no such name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, fields

import mpigauge
from mpigauge.document.phrases import phrases_of, state_words
from mpigauge.document.plain_signs import printable
from mpigauge.errors import UsageError
from mpigauge.plan.benchmarks import BY_CELL, LEFT_OUT, OWN, OWN_CELL
from mpigauge.plan.model import Cell
from mpigauge.rows.estimate import centre_of
from mpigauge.show.formats.times import cell_of, subject_of, timed_records
from mpigauge.units import span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpigauge.document.document import Document
    from mpigauge.plan.benchmarks import Counterpart

ROW_FACTORS = {"pattern", "mode", "bytes"}
USUAL = {field.name: field.default for field in fields(Cell)}


@dataclass(frozen=True, slots=True)
class Block:
    """Table in the terms of another benchmark.

    Attributes:
        cell: First cell of the table.
        rows: Records of its cells by size.
        comments: Lines on source and factors, for human readers.
    """

    twin: Counterpart
    cell: Cell
    rows: Sequence[Mapping[str, Any]]
    comments: Sequence[str]


def blocks_of(
    document: Document, form: str, name_of: Callable[[Counterpart], str]
) -> tuple[list[Block], list[str]]:
    """Return the tables of a document under other names, and lines that name what has no such name.

    Args:
        name_of: Returns the name of a twin; "" if it has none there.

    Raises:
        UsageError: The document has no times, or none under such a name.
    """
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    without: dict[str, None] = {}
    for record in timed_records(document, form):
        cell = cell_of(record)
        twin = _twin_of(cell)
        if twin is None or not name_of(twin) or not _has_its_numbers(twin, record):
            without[printable(f"{cell.pattern} {cell.mode}")] = None
        else:
            groups.setdefault(_key(cell, record), []).append(record)
    if not groups:
        names = ", ".join(without)
        raise UsageError(f"format {form} has no name for {names}", "use --format csv or json for those")
    return [_block(rows) for rows in groups.values()], _left_out(without)


def _twin_of(cell: Cell) -> Counterpart | None:
    """Return the twin of a cell, if any: none has a queue in front, or other groups at work beside it."""
    return None if cell.depth or cell.groups else BY_CELL.get((cell.pattern, cell.mode))


def _has_its_numbers(twin: Counterpart, record: Mapping[str, Any]) -> bool:
    return not twin.hides or (
        record.get("overlap_estimate") is not None and bool(record.get("overlap_pure_s"))
    )


def _key(cell: Cell, record: Mapping[str, Any]) -> tuple[Any, ...]:
    """What all rows of one table have in common."""
    return *(value for name, value in asdict(cell).items() if name != "bytes"), *state_words(
        subject_of(record)
    )


def _block(rows: Sequence[Mapping[str, Any]]) -> Block:
    ordered = sorted(rows, key=lambda record: record["bytes"])
    cell = cell_of(ordered[0])
    return Block(BY_CELL[cell.pattern, cell.mode], cell, ordered, _comments(cell, ordered))


def _comments(cell: Cell, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    phrases = phrases_of(cell)
    labels = [phrase for name, phrase in phrases.items() if name not in ROW_FACTORS]
    labels += state_words(subject_of(rows[0]))
    factors = {name: value for name, value in asdict(cell).items() if name not in ROW_FACTORS}
    known = {name: value for name, value in factors.items() if value != USUAL[name]}
    return [
        f"{OWN}{mpigauge.__version__}: {_statistic(rows)}; {printable(', '.join(labels))}",
        f"{OWN_CELL}{json.dumps(known)}",
    ]


def _statistic(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return which statistic the numbers are: other programs print means of one launch in their place."""
    launches = sorted({record["launches"] for record in rows})
    if launches == [0]:
        return "imported numbers of others"
    several = span(str(launches[0]), str(launches[-1]))
    centre = " or ".join(dict.fromkeys(map(centre_of, launches))).replace("-", " ")
    return f"{rows[0]['statistic']} of each launch, {centre} over {several} launches"


def _left_out(names: Mapping[str, None]) -> list[str]:
    return [f"{LEFT_OUT}{', '.join(names)}: no benchmark there means the same"] if names else []
