"""Laying cells out: some factors down, some across, and a table for each of what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.plan.hosts import SAME_HOST
from mpigauge.plan.model import AUTO
from mpigauge.show.series import FILE, UNSAID, differing, told_apart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from mpigauge.analysis.cells import Row
    from mpigauge.show.pivots.quantities import Quantity
    from mpigauge.show.request import Source
    from mpigauge.show.series import Factors

QUANTITY, RATE = "quantity", "rate"
SIZE = "size"
"""The heading of lines that are sizes, and so in their order."""

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A number of a cell.

    Attributes:
        factors: What decides its place: those of its series, its size and its quantity.
        imported: Whether others have measured it.
    """

    source: Source
    row: Row
    quantity: Quantity
    factors: Factors
    imported: bool


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a table.

    Attributes:
        entries: One a column; None where nothing was planned.
    """

    label: str
    entries: list[Entry | None]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
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
    lines: list[Line]

    @property
    def by_column(self) -> list[list[Entry]]:
        """The entries of each column."""
        columns = zip(*(line.entries for line in self.lines), strict=True)
        return [[entry for entry in column if entry] for column in columns]

    @property
    def entries(self) -> Iterable[Entry]:
        """All of them, line by line."""
        return (entry for line in self.lines for entry in line.entries if entry)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which factors go where.

    Attributes:
        lines: Names of factors.
        columns: Likewise; the last of them make way if there are too many columns.
        most: Columns of a table.
        spill: Whether they become lines then; otherwise tables.
        heading: What the lines are.
    """

    lines: tuple[str, ...]
    columns: tuple[str, ...]
    most: int
    spill: bool
    heading: str


def grids(entries: Sequence[Entry], layout: Layout, about: str) -> list[Grid]:
    """Tables of all entries, each line, column and table in the order of its first entry."""
    lines, columns = _fitting(entries, layout)
    varying = set(differing([entry.factors for entry in entries]))
    made = []
    for group in _tables(entries, lines, columns).values():
        downs, acrosses, places = _places(group, lines, columns, in_order=layout.heading == SIZE)
        inside = {*differing([dict(key) for key in downs]), *differing([dict(key) for key in acrosses])}
        rows = [
            Line(label, [places.get((down, across)) for across in acrosses])
            for down, label in zip(downs, _lines(downs), strict=True)
        ]
        title = _title(group, inside, varying)
        names = _columns(acrosses, group, columns)
        made.append(Grid(title, _about(group, about), layout.heading, names, rows))
    return made


def _places(
    entries: Sequence[Entry], lines: Sequence[str], columns: Sequence[str], *, in_order: bool
) -> tuple[list[Key], list[Key], dict[tuple[Key, Key], Entry]]:
    """Lines and columns in the order of their first entry, or of size, and what stands where they meet."""
    places = {(_key(entry, lines), _key(entry, columns)): entry for entry in entries}
    downs = list(dict.fromkeys(down for down, _ in places))
    if in_order:
        downs.sort(key={down: entry.row.cell.bytes for (down, _), entry in places.items()}.__getitem__)
    return downs, list(dict.fromkeys(across for _, across in places)), places


def _title(entries: Sequence[Entry], inside: Collection[str], varying: Collection[str]) -> str:
    """What is the same for all entries, also what goes without saying if other tables differ in it."""
    same = {name: word for name, word in entries[0].factors.items() if name not in {*inside, FILE, QUANTITY}}
    words = [
        word
        for name, word in same.items()
        if (word not in UNSAID or (name in varying and word != AUTO))
        and all(entry.factors.get(name) == word for entry in entries)
    ]
    return ", ".join(words)


def _key(entry: Entry, names: Iterable[str]) -> Key:
    """In the order of the entry's factors, which is that of its label."""
    wanted = set(names)
    return tuple((name, word) for name, word in entry.factors.items() if name in wanted)


def _tables(entries: Sequence[Entry], lines: Sequence[str], columns: Sequence[str]) -> dict[Key, list[Entry]]:
    placed = {*lines, *columns, FILE}
    tables: dict[Key, list[Entry]] = {}
    for entry in entries:
        key = _key(entry, [name for name in entry.factors if name not in placed])
        tables.setdefault(key, []).append(entry)
    return tables


def _fitting(entries: Sequence[Entry], layout: Layout) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines and columns with as many factors across as there is room for."""
    lines, columns = layout.lines, layout.columns
    if _same_but_for_file(entries):
        columns = (FILE, *columns)
    while len(columns) > 1 and _widest(entries, lines, columns) > layout.most:
        *kept, last = columns
        columns = tuple(kept)
        lines = (*lines, last) if layout.spill else lines
    return lines, columns


def _same_but_for_file(entries: Sequence[Entry]) -> bool:
    """Whether results have cells that nothing but the name of the file tells apart."""
    places = {_key(entry, entry.factors.keys() - {FILE}) for entry in entries}
    return len(places) < len(entries)


def _widest(entries: Sequence[Entry], lines: Sequence[str], columns: Sequence[str]) -> int:
    tables = _tables(entries, lines, columns).values()
    return max((len({_key(entry, columns) for entry in table}) for table in tables), default=0)


def _about(entries: Sequence[Entry], about: str) -> str:
    """With what one operation is, and whether rates count both directions, if that is the same for all."""
    times_of = {entry.source.patterns[entry.row.cell.pattern].time_of for entry in entries}
    words = [about]
    words += [f"one operation: {time_of}" for time_of in times_of if time_of and len(times_of) == 1]
    if {entry.row.directions for entry in entries if entry.quantity.name == RATE} == {2}:
        words.append("rates count both directions")
    return "; ".join(words)


def _lines(keys: Sequence[Key]) -> list[str]:
    """What tells lines apart; of several places, `same-host` is one that is said."""
    found = [dict(key) for key in keys]
    names = differing(found) or list(found[0])
    for unsaid in (UNSAID - {SAME_HOST}, {AUTO}):
        labels = [_words(factors, names, unsaid) for factors in found]
        if len({*labels}) == len(labels) and all(labels):
            break
    return [label or AUTO for label in labels]


def _words(factors: Factors, names: Collection[str], unsaid: Collection[str]) -> str:
    return ", ".join(word for name, word in factors.items() if name in names and word not in unsaid)


def _columns(keys: Sequence[Key], entries: Sequence[Entry], names: Sequence[str]) -> list[str]:
    """What tells columns apart; what nobody may take for their own measurement says so."""
    labels = told_apart([dict(key) for key in keys])
    if len(keys) == 1:
        labels = [_words(dict(keys[0]), names, {AUTO})]
    return [
        _named(label, [entry for entry in entries if _key(entry, names) == key])
        for label, key in zip(labels, keys, strict=True)
    ]


def _named(label: str, members: Sequence[Entry]) -> str:
    known = [entry for entry in members if entry.row.time is not None]
    if known and all(entry.imported for entry in known):
        return f"{label} (imported)".lstrip()
    return label or members[0].factors[FILE]
