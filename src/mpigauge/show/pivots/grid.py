"""Layout of cells in tables: some factors down, some across, and a table per value of the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.document.phrases import UNSAID
from mpigauge.query.series import FILE, differing_factors, distinguishing_labels
from mpigauge.rows.group import STATE, words_key
from mpigauge.sequences import group_by
from mpigauge.vocabulary import AUTO, SAME_HOST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Source
    from mpigauge.rows.rows import Row
    from mpigauge.show.pivots.quantities import Quantity

QUANTITY, RATE, TIME = "quantity", "rate", "time"
LIBRARY = "mpi"

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class PivotNumber:
    """Number of a cell.

    Attributes:
        factors: Factors that decide its place: those of its series, its size and its quantity.
    """

    source: Source
    row: Row
    quantity: Quantity
    factors: Factors


@dataclass(frozen=True, slots=True, eq=False)
class PivotLine:
    """Line of a table.

    Attributes:
        entries: One per column; None where nothing was planned.
    """

    label: str
    entries: list[PivotNumber | None]


@dataclass(frozen=True, slots=True, eq=False)
class PivotGrid:
    """Table of numbers.

    Attributes:
        title: What all entries have in common.
        about: Meaning of an entry, and how its interval is written.
        heading: Heading of the first column.
        subject: The title without the library, for a caption that says it with the source.
        meaning: Meaning of an entry, without how its interval is written.
        operations: What one operation of each pattern is, where patterns share a table of one number each.
    """

    title: str
    about: str
    heading: str
    columns: list[str]
    lines: list[PivotLine]
    subject: str = ""
    meaning: str = ""
    operations: Sequence[str] = ()

    @property
    def by_column(self) -> list[list[PivotNumber]]:
        """Entries of each column."""
        columns = zip(*(line.entries for line in self.lines), strict=True)
        return [[entry for entry in column if entry] for column in columns]

    @property
    def entries(self) -> Iterable[PivotNumber]:
        """All entries, line by line."""
        return (entry for line in self.lines for entry in line.entries if entry)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which factors go down and which across.

    Attributes:
        lines: Factors that go down.
        columns: Factors that go across; the last of them give way if there are too many columns.
        heading: Heading of the first column.
        interval: How intervals are written, for tables with intervals.
        most: Most columns per table.
        spill: Whether factors that give way go down; otherwise they become separate tables.
        few: Tables of at most so many lines become lines of one table, if one of them has a single line; None
            for that table.
    """

    lines: tuple[str, ...]
    columns: tuple[str, ...]
    heading: str
    interval: str
    most: int
    spill: bool = False
    few: int | None = 1


ALL_LINES = 10**6
"""More lines than any table has."""


def grids(entries: Sequence[PivotNumber], layout: Layout, about: str) -> list[PivotGrid]:
    """Return tables of all entries, in the order of their first entries, sizes ascending.

    Args:
        about: Meaning of an entry.
    """
    lines, columns = _fitting(entries, layout)
    varying = set(differing_factors([entry.factors for entry in entries]))
    groups = [*_tables(entries, lines, columns).values()]
    short = [group for group in groups if _lines_of(group, lines) <= (layout.few or 0)]
    if len(short) < 2 or all(_lines_of(group, lines) > 1 for group in short):  # noqa: PLR2004 - to join
        short = []
    placed = replace(layout, lines=lines, columns=columns)
    tables = [_grid(group, placed, about, varying) for group in groups if group not in short]
    return tables + (_joined([entry for group in short for entry in group], layout, about) if short else [])


def _lines_of(entries: Sequence[PivotNumber], lines: Sequence[str]) -> int:
    return len({_key(entry, lines) for entry in entries})


def _joined(entries: Sequence[PivotNumber], layout: Layout, about: str) -> list[PivotGrid]:
    """Return what would be tables of a single line each as lines of one table."""
    across = tuple(name for name in layout.columns if name in {STATE, LIBRARY, QUANTITY})
    unsaid = {QUANTITY} - {*layout.lines, *across}  # what is a time anyway, by whatever name
    plain = [
        replace(entry, factors={name: word for name, word in entry.factors.items() if name not in unsaid})
        for entry in entries
    ]
    names = dict.fromkeys(name for entry in plain for name in entry.factors)
    down = tuple(name for name in names if name not in {*across, FILE})
    return grids(plain, replace(layout, lines=down, columns=across, heading="", spill=True, few=None), about)


def _grid(entries: Sequence[PivotNumber], layout: Layout, about: str, varying: Collection[str]) -> PivotGrid:
    places = {(_key(entry, layout.lines), _key(entry, layout.columns)): entry for entry in entries}
    first = {down: entry for (down, _), entry in reversed(places.items())}
    downs, acrosses = _line_keys(places), list(dict.fromkeys(across for _, across in places))
    inside = {
        *differing_factors([dict(key) for key in downs]),
        *differing_factors([dict(key) for key in acrosses]),
    }
    interval = layout.interval if _has_intervals(entries) else ""
    words, directions = [*_entry_words(about, [*_operations(entries)])], [*_directions(entries)]
    return PivotGrid(
        title=_title(entries, inside, varying),
        about="; ".join(filter(None, [*words, interval, *directions])),
        heading=layout.heading,
        columns=_columns(acrosses, entries, layout.columns),
        lines=[
            PivotLine(label, [places.get((down, across)) for across in acrosses])
            for down, label in zip(downs, _lines(downs, [first[down] for down in downs]), strict=True)
        ],
        subject=_title(entries, {*inside, LIBRARY}, varying),
        meaning="; ".join(filter(None, [*(word for word in words if word != TIME), *directions])),
        operations=[*_operations_by_pattern(entries)] if layout.few is None else [],
    )


def _line_keys(places: Mapping[tuple[Key, Key], PivotNumber]) -> list[Key]:
    """Return the lines; those that differ in size only are sorted by it, and rates come after times."""
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
    numbers = (entry.quantity.number(entry.row) for entry in entries)
    return any(number is not None and number.low is not None for number in numbers)


def _key(entry: PivotNumber, names: Iterable[str]) -> Key:
    """Return factors in the order of the entry's factors, which is that of its label."""
    wanted = set(names)
    return tuple((name, word) for name, word in entry.factors.items() if name in wanted)


def _tables(
    entries: Sequence[PivotNumber], lines: Sequence[str], columns: Sequence[str]
) -> dict[Key, list[PivotNumber]]:
    placed = {*lines, *columns, FILE}
    return group_by(entries, lambda entry: words_key(entry.factors, placed))


def _fitting(entries: Sequence[PivotNumber], layout: Layout) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return factors down and across, with as many factors across as there is room for."""
    lines, columns = layout.lines, layout.columns
    if _same_but_for_file(entries):
        columns = (FILE, *columns)
    while len(columns) > 1 and _widest(entries, lines, columns) > layout.most:
        *kept, last = columns
        columns = tuple(kept)
        lines = (*lines, last) if layout.spill else lines
    return lines, columns


def _same_but_for_file(entries: Sequence[PivotNumber]) -> bool:
    """Return whether results have cells that differ in nothing but the name of the file."""
    places = {words_key(entry.factors, {FILE}) for entry in entries}
    return len(places) < len(entries)


def _widest(entries: Sequence[PivotNumber], lines: Sequence[str], columns: Sequence[str]) -> int:
    tables = _tables(entries, lines, columns).values()
    return max((len({_key(entry, columns) for entry in table}) for table in tables), default=0)


# ---- Words ---------------------------------------------------------------------------------------


def _entry_words(about: str, operations: Sequence[str]) -> Iterable[str]:
    """Return the meaning of an entry and its operation: `time: one exchange, both messages`."""
    if about == TIME and operations:
        return [f"{about}: {operations[0]}"]
    return [about, *(f"one operation: {operation}" for operation in operations)]


def _operations(entries: Sequence[PivotNumber]) -> Iterable[str]:
    """Return what one operation is, if it is the same for all; without rates if there are times only."""
    rated = any(entry.quantity.name == RATE for entry in entries)
    cells = ((entry.source.patterns[entry.row.cell.pattern], entry.row.cell.mode) for entry in entries)
    times_of = {pattern.time_of_mode(mode) for pattern, mode in cells}
    if len(times_of) == 1 and (time_of := times_of.pop()):
        yield time_of if rated else time_of.partition("; ")[0]


def _operations_by_pattern(entries: Sequence[PivotNumber]) -> Iterable[str]:
    """Return what the time of each pattern is: `pingpong: one way: half a round trip`."""
    patterns = {entry.row.cell.pattern: (entry.source.patterns, entry.row.cell.mode) for entry in entries}
    times_of = {name: known[name].time_of_mode(mode) for name, (known, mode) in patterns.items()}
    alike = group_by(times_of, lambda pattern: times_of[pattern].partition("; ")[0])
    if len(alike) > 1:
        yield from (f"{', '.join(names)}: {time}" for time, names in alike.items() if time)


def _directions(entries: Iterable[PivotNumber]) -> Iterable[str]:
    """Return whether rates count both directions, if that is the same for all."""
    if {entry.row.directions for entry in entries if entry.quantity.name == RATE} == {2}:
        yield "bandwidths count both directions"


def _title(entries: Sequence[PivotNumber], inside: Collection[str], varying: Collection[str]) -> str:
    """Return what is the same for all entries, including defaults that other tables differ in."""
    same = {name: word for name, word in entries[0].factors.items() if name not in {*inside, FILE, QUANTITY}}
    words = [
        word
        for name, word in same.items()
        if (word not in UNSAID or (name in varying and word != AUTO))
        and all(entry.factors.get(name) == word for entry in entries)
    ]
    return ", ".join(words)


def _lines(keys: Sequence[Key], entries: Sequence[PivotNumber]) -> list[str]:
    """Return labels that distinguish lines; of several placements even `same-host` is named.

    Args:
        entries: One entry per line.
    """
    factors_of_lines = [dict(key) for key in keys]
    names = differing_factors(factors_of_lines) or list(factors_of_lines[0])
    for unsaid in (UNSAID - {SAME_HOST}, {AUTO}):
        labels = [_words(factors, names, unsaid) for factors in factors_of_lines]
        if len({*labels}) == len(labels) and all(labels):
            break
    return [label or _default_label(entry) for label, entry in zip(labels, entries, strict=True)]


def _default_label(entry: PivotNumber) -> str:
    """Return the label of a line that differs from no other and has no size."""
    return AUTO if entry.row.sized else entry.factors["pattern"]


def _words(factors: Factors, names: Collection[str], unsaid: Collection[str]) -> str:
    return ", ".join(word for name, word in factors.items() if name in names and word not in unsaid)


def _quantity(entries: Sequence[PivotNumber]) -> str:
    """Return the heading of a single column; the title already describes its numbers."""
    for kinds in (
        {entry.quantity.heading or entry.quantity.name for entry in entries},
        {entry.quantity.name for entry in entries},
    ):
        if len(kinds) == 1:
            return kinds.pop()
    return "value"


def _columns(keys: Sequence[Key], entries: Sequence[PivotNumber], names: Sequence[str]) -> list[str]:
    """Return labels that distinguish columns; imported numbers are labelled as such.

    Args:
        keys: Keys of the columns.
    """
    labels = distinguishing_labels([dict(key) for key in keys])
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
