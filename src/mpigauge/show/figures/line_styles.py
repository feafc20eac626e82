"""How series look: colour, marker and dashes by what they are, the same in all figures of a result."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from mpigauge.document.phrases import WORDS
from mpigauge.plan import factors as plan_factors
from mpigauge.plan.patterns import known as known_patterns
from mpigauge.query.series import FILE, factors_of
from mpigauge.show.figures.lines import DASHES, IMPORTED_DASHES, MARKERS
from mpigauge.show.figures.style import COLOURS

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query
    from mpigauge.query.series import Series

Group = tuple[str, ...]
Value = tuple[str, ...]

LIBRARY, WHAT, PLACE, RANKS = (
    tuple(name for name in WORDS if name in group)
    for group in (
        plan_factors.LIBRARY | {"setting"},
        {"pattern", "mode"},
        plan_factors.PLACE | {"pair"},
        {"ranks"},
    )
)
BEFORE = (LIBRARY, WHAT, PLACE, RANKS)
"""Factors that are one thing to the reader. The first that differs in a figure has the colours."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What values of factors look like, of all that the results have, whatever a figure shows of it.

    Attributes:
        known: The values of each group, in their order in the results; new ones are added at the end.
        everything: Factors of all that was planned, each with whether it was imported.
    """

    known: dict[Group, list[Value]] = field(default_factory=dict)
    everything: list[tuple[bool, Factors]] = field(default_factory=list)

    def number(self, group: Group, value: Value) -> int:
        """The place of a value among all of its group."""
        values = self.known.setdefault(group, [])
        if value not in values:
            values.append(value)
        return values.index(value)


def looks_of(query: Query, found: Sequence[Series], without: Collection[str] = ()) -> list[dict[str, Any]]:
    """How each is drawn: the colour says in what they differ first, marker and dashes the rest.

    A value has the colour of its place among all values of the results. So a subset of the series looks as
    it does among all, and as in figures of other kinds.

    Args:
        without: Factors that the figure tells otherwise, as by panels.
    """
    known = _known(query)
    groups = varying(found, without) or _alone(known, without)
    colours, *others = [_numbers(known, found, group) for group in groups[:3]]
    colours = _apart(colours, len(COLOURS))
    marks = _apart(others[0] if others else colours, len(MARKERS))
    dashes = _apart(others[1] if len(others) > 1 else colours, len(DASHES))
    looks: list[dict[str, Any]] = []
    for one, *numbers in zip(found, colours, marks, dashes, strict=True):
        looks.append(_unlike(looks, numbers, imported=one.imported))
    return looks


def varying(found: Sequence[Series], without: Collection[str] = ()) -> list[Group]:
    """In what series differ, each thing only where those before it leave some alike.

    That some were imported shows by itself: they have another file and mostly no library.
    """
    return _splitting([(one.imported, one.factors) for one in found], without)


def words_of(one: Series, group: Group, found: Sequence[Series]) -> str:
    """What a series is of a group, without what all are."""
    mine = [name for name in group if len({other.factors.get(name) for other in found}) > 1]
    return ", ".join(one.factors[name] for name in mine if name in one.factors)


def _splitting(found: Sequence[tuple[Hashable, Factors]], without: Collection[str]) -> list[Group]:
    keys: list[tuple[Hashable, ...]] = [(first,) for first, _ in found]
    groups = []
    for group in _groups(factors for _, factors in found):
        mine = tuple(name for name in group if name not in without)
        finer = [(*key, _value(factors, mine)) for key, (_, factors) in zip(keys, found, strict=True)]
        if len({*finer}) > len({*keys}):
            groups.append(mine)
            keys = finer
    return groups


def _groups(everything: Iterable[Factors]) -> list[Group]:
    """All factors: those that are one thing together, the rest each alone, and the file at last."""
    said = {name for group in BEFORE for name in group} | {FILE}
    rest = dict.fromkeys(name for factors in everything for name in factors if name not in said)
    return [*BEFORE, *((name,) for name in rest), (FILE,)]


def _value(factors: Factors, group: Group) -> Value:
    return tuple(factors.get(name, "") for name in group)


def _alone(known: Looks, without: Collection[str]) -> list[Group]:
    """Of a series without others the colour that it has among all."""
    all_of_it = _splitting(known.everything, without)
    return all_of_it[:1] or [WHAT]


def _known(query: Query) -> Looks:
    """All values of all results: modes in the order of their pattern, everything else in that of the plan."""
    found = Looks()
    patterns: dict[str, list[str]] = {}
    for source in query.sources:
        for row in source.rows:
            pattern = source.patterns.get(row.cell.pattern)
            if pattern is not None and not pattern.probes and not pattern.is_floor:
                found.everything.append((row.imported, factors_of(source, row)))
                own = known_patterns().get(pattern.name, pattern)
                patterns.setdefault(pattern.name, [mode.name for mode in own.modes])
    for name, modes in patterns.items():
        there = {factors.get("mode", "") for _, factors in found.everything if factors["pattern"] == name}
        for mode in sorted(there, key=lambda one: modes.index(one) if one in modes else len(modes)):
            found.number(WHAT, (name, mode))
    return found


def _numbers(known: Looks, found: Sequence[Series], group: Group) -> list[int]:
    for _, factors in known.everything:
        known.number(group, _value(factors, group))
    return [known.number(group, _value(one.factors, group)) for one in found]


def _apart(numbers: Sequence[int], most: int) -> list[int]:
    """Places of a list that is so long: of two values with one place the later has the next that is free."""
    places: dict[int, int] = {}
    for number in numbers:
        if number not in places:
            taken = {*places.values()}
            free = (place for step in count() if (place := (number + step) % most) not in taken)
            places[number] = next(free) if len(taken) < most else number % most
    return [places[number] for number in numbers]


def _unlike(others: Sequence[dict[str, Any]], numbers: Sequence[int], *, imported: bool) -> dict[str, Any]:
    """A look; with the next marker while another series has the same."""
    colour, first, dash = numbers
    for marker in range(first, first + len(MARKERS)):
        look = _look(colour, marker, dash, imported=imported)
        if look not in others:
            return look
    return _look(colour, first, dash, imported=imported)


def _look(colour: int, marker: int, dash: int, *, imported: bool) -> dict[str, Any]:
    return {
        "color": COLOURS[colour],
        "marker": MARKERS[marker % len(MARKERS)],
        "linestyle": IMPORTED_DASHES if imported else DASHES[dash],
        "markerfacecolor": "white" if imported else COLOURS[colour],
    }
