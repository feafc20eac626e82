"""Laying cells out: some factors down, some across, and a table for each of what is left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.document.phrases import UNSAID
from mpigauge.query.series import FILE, differing, told_apart
from mpigauge.rows.group import words_key
from mpigauge.sequences import group_by
from mpigauge.vocabulary import AUTO, SAME_HOST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Source
    from mpigauge.rows.rows import Row
    from mpigauge.show.pivots.quantities import Quantity

QUANTITY, RATE, TIME = "quantity", "rate", "time"

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class PivotNumber:
    """A number of a cell.

    Attributes:
        factors: What decides its place: those of its series, its size and its quantity.
    """

    source: Source
    row: Row
    quantity: Quantity
    factors: Factors


@dataclass(frozen=True, slots=True, eq=False)
class PivotLine:
    """A line of a table.

    Attributes:
        entries: One per column; None where nothing was planned.
    """

    label: str
    entries: list[PivotNumber | None]


@dataclass(frozen=True, slots=True, eq=False)
class PivotGrid:
    """A table.

    Attributes:
        title: What all of its entries have in common.
        about: What one entry is.
        heading: What its lines are.
    """

    title: str
    about: str
    heading: str
    columns: list[str]
    lines: list[PivotLine]

    @property
    def by_column(self) -> list[list[PivotNumber]]:
        """The entries of each column."""
        columns = zip(*(line.entries for line in self.lines), strict=True)
        return [[entry for entry in column if entry] for column in columns]

    @property
    def entries(self) -> Iterable[PivotNumber]:
        """All of them, line by line."""
        return (entry for line in self.lines for entry in line.entries if entry)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which factors go where.

    Attributes:
        lines: Names of factors.
        columns: Likewise; the last of them make way if there are too many columns.
        heading: What the lines are.
        interval: How intervals are written, for tables that have some.
        most: Columns of a table.
        spill: Whether factors that make way become lines; otherwise tables.
    """

    lines: tuple[str, ...]
    columns: tuple[str, ...]
    heading: str
    interval: str
    most: int
    spill: bool = False


def grids(entries: Sequence[PivotNumber], layout: Layout, about: str) -> list[PivotGrid]:
    """Tables of all entries, each line, column and table in the order of its first entry, sizes rising.

    Args:
        about: What one entry is.
    """
    lines, columns = _fitting(entries, layout)
    varying = set(differing([entry.factors for entry in entries]))
    return [
        _grid(group, replace(layout, lines=lines, columns=columns), about, varying)
        for group in _tables(entries, lines, columns).values()
    ]


def _grid(entries: Sequence[PivotNumber], layout: Layout, about: str, varying: Collection[str]) -> PivotGrid:
    places = {(_key(entry, layout.lines), _key(entry, layout.columns)): entry for entry in entries}
    first = {down: entry for (down, _), entry in reversed(places.items())}
    downs, acrosses = _downs(places), list(dict.fromkeys(across for _, across in places))
    inside = {*differing([dict(key) for key in downs]), *differing([dict(key) for key in acrosses])}
    interval = layout.interval if _has_intervals(entries) else ""
    words = [*_said_of(about, [*_operations(entries)]), interval, *_directions(entries)]
    return PivotGrid(
        title=_title(entries, inside, varying),
        about="; ".join(filter(None, words)),
        heading=layout.heading,
        columns=_columns(acrosses, entries, layout.columns),
        lines=[
            PivotLine(label, [places.get((down, across)) for across in acrosses])
            for down, label in zip(downs, _lines(downs, [first[down] for down in downs]), strict=True)
        ],
    )


def _downs(places: Mapping[tuple[Key, Key], PivotNumber]) -> list[Key]:
    """Lines; those that differ in size alone have rising sizes, and rates come after times."""
    first = {down: entry for (down, _), entry in places.items()}
    order = {key: number for number, key in enumerate(dict.fromkeys(map(_but_size, first)))}
    return sorted(
        first,
        key=lambda down: (
            order[_but_size(down)],
            first[down].quantity.name == RATE,
            first[down].row.cell.bytes,
        ),
    )


def _but_size(key: Key) -> Key:
    return words_key(dict(key), {"size", QUANTITY})


def _has_intervals(entries: Iterable[PivotNumber]) -> bool:
    return any(entry.quantity.number(entry.row).low is not None for entry in entries)


def _key(entry: PivotNumber, names: Iterable[str]) -> Key:
    """In the order of the entry's factors, which is that of its label."""
    wanted = set(names)
    return tuple((name, word) for name, word in entry.factors.items() if name in wanted)


def _tables(
    entries: Sequence[PivotNumber], lines: Sequence[str], columns: Sequence[str]
) -> dict[Key, list[PivotNumber]]:
    placed = {*lines, *columns, FILE}
    return group_by(entries, lambda entry: words_key(entry.factors, placed))


def _fitting(entries: Sequence[PivotNumber], layout: Layout) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines and columns with as many factors across as there is room for."""
    lines, columns = layout.lines, layout.columns
    if _same_but_for_file(entries):
        columns = (FILE, *columns)
    while len(columns) > 1 and _widest(entries, lines, columns) > layout.most:
        *kept, last = columns
        columns = tuple(kept)
        lines = (*lines, last) if layout.spill else lines
    return lines, columns


def _same_but_for_file(entries: Sequence[PivotNumber]) -> bool:
    """Whether results have cells that nothing but the name of the file tells apart."""
    places = {words_key(entry.factors, {FILE}) for entry in entries}
    return len(places) < len(entries)


def _widest(entries: Sequence[PivotNumber], lines: Sequence[str], columns: Sequence[str]) -> int:
    tables = _tables(entries, lines, columns).values()
    return max((len({_key(entry, columns) for entry in table}) for table in tables), default=0)


# ---- Words ---------------------------------------------------------------------------------------


def _said_of(about: str, operations: Sequence[str]) -> Iterable[str]:
    """What one entry is, and what operation it is of: `time: one exchange, both messages`."""
    if about == TIME and operations:
        return [f"{about}: {operations[0]}"]
    return [about, *(f"one operation: {one}" for one in operations)]


def _operations(entries: Sequence[PivotNumber]) -> Iterable[str]:
    """What one operation is, if that is the same for all; of times alone without what rates count."""
    rated = any(entry.quantity.name == RATE for entry in entries)
    times_of = {entry.source.patterns[entry.row.cell.pattern].time_of for entry in entries}
    if len(times_of) == 1 and (time_of := times_of.pop()):
        yield time_of if rated else time_of.partition("; ")[0]


def _directions(entries: Iterable[PivotNumber]) -> Iterable[str]:
    """Whether rates count both directions, if that is the same for all."""
    if {entry.row.directions for entry in entries if entry.quantity.name == RATE} == {2}:
        yield "bandwidths count both directions"


def _title(entries: Sequence[PivotNumber], inside: Collection[str], varying: Collection[str]) -> str:
    """What is the same for all entries, also what goes without saying if other tables differ in it."""
    same = {name: word for name, word in entries[0].factors.items() if name not in {*inside, FILE, QUANTITY}}
    words = [
        word
        for name, word in same.items()
        if (word not in UNSAID or (name in varying and word != AUTO))
        and all(entry.factors.get(name) == word for entry in entries)
    ]
    return ", ".join(words)


def _lines(keys: Sequence[Key], entries: Sequence[PivotNumber]) -> list[str]:
    """What tells lines apart; of several places, `same-host` is one that is said.

    Args:
        entries: One of each line.
    """
    found = [dict(key) for key in keys]
    names = differing(found) or list(found[0])
    for unsaid in (UNSAID - {SAME_HOST}, {AUTO}):
        labels = [_words(factors, names, unsaid) for factors in found]
        if len({*labels}) == len(labels) and all(labels):
            break
    return [label or _of_itself(entry) for label, entry in zip(labels, entries, strict=True)]


def _of_itself(entry: PivotNumber) -> str:
    """A line that nothing is to be said of: where it has no size either, it is called what it is."""
    return AUTO if entry.row.sized else entry.factors["pattern"]


def _words(factors: Factors, names: Collection[str], unsaid: Collection[str]) -> str:
    return ", ".join(word for name, word in factors.items() if name in names and word not in unsaid)


def _quantity(entries: Iterable[PivotNumber]) -> str:
    """What a column is called that is alone: the title says already what its numbers are of."""
    kinds = {entry.quantity.heading or entry.quantity.name for entry in entries}
    return kinds.pop() if len(kinds) == 1 else "value"


def _columns(keys: Sequence[Key], entries: Sequence[PivotNumber], names: Sequence[str]) -> list[str]:
    """What tells columns apart; what nobody may take for their own measurement says so.

    Args:
        keys: One per column.
    """
    labels = told_apart([dict(key) for key in keys])
    if len(keys) == 1:
        labels = [_quantity(entries)]
    return [
        _named(label, [entry for entry in entries if _key(entry, names) == key])
        for label, key in zip(labels, keys, strict=True)
    ]


def _named(label: str, members: Sequence[PivotNumber]) -> str:
    known = [entry for entry in members if entry.row.time is not None]
    if known and all(entry.row.imported for entry in known):
        return f"{label} (imported)" if label else "imported"
    return label or members[0].factors[FILE]
