"""Styles of series: colour, marker and dashes by their factors, the same in all figures of a result."""

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
GROUPS = (LIBRARY, WHAT, PLACE, RANKS)
"""Groups of factors that belong together. The first that differs in a figure determines the colours."""


@dataclass(frozen=True, slots=True)
class KnownValues:
    """Styles of the values of factors, the same for any part of the results that a figure shows.

    Attributes:
        known: Values of each group, in their order in the results; new ones are added at the end.
        everything: Factors of all that was planned, each with whether it was imported.
    """

    known: dict[Group, list[Value]] = field(default_factory=dict)
    everything: list[tuple[bool, Factors]] = field(default_factory=list)

    def number(self, group: Group, value: Value) -> int:
        """Return the number of a value within its group."""
        values = self.known.setdefault(group, [])
        if value not in values:
            values.append(value)
        return values.index(value)


def styles_of(query: Query, curves: Sequence[Series], without: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the style of each series: colour by the first differing group, marker and dashes by others.

    The colour of a value follows from its number among all values of the results, so that a subset of the
    series looks as it does among all, and as in other kinds of figures.

    Args:
        without: Factors that the figure shows otherwise, such as by panels.
    """
    known = _known(query)
    groups = varying(curves, without) or _groups_of_single(known, without)
    colours, *others = [_numbers(known, curves, group) for group in groups[:3]]
    colours = _distinct(colours, len(COLOURS))
    marks = _distinct(others[0] if others else colours, len(MARKERS))
    dashes = _distinct(others[1] if len(others) > 1 else colours, len(DASHES))
    styles: list[dict[str, Any]] = []
    for curve, *numbers in zip(curves, colours, marks, dashes, strict=True):
        styles.append(_distinct_style(styles, numbers, imported=curve.imported))
    return styles


def varying(curves: Sequence[Series], without: Collection[str] = ()) -> list[Group]:
    """Return the groups in which series differ, each only where those before it leave some alike.

    That a series is imported shows in its file and, mostly, in its missing library.
    """
    return _splitting([(curve.imported, curve.factors) for curve in curves], without)


def words_of(curve: Series, group: Group, curves: Sequence[Series]) -> str:
    """Return the label of a series in a group, without what all series share."""
    names = [name for name in group if len({other.factors.get(name) for other in curves}) > 1]
    return ", ".join(curve.factors[name] for name in names if name in curve.factors)


def _splitting(everything: Sequence[tuple[Hashable, Factors]], without: Collection[str]) -> list[Group]:
    keys: list[tuple[Hashable, ...]] = [(first,) for first, _ in everything]
    groups = []
    for group in _groups(factors for _, factors in everything):
        names = tuple(name for name in group if name not in without)
        finer = [(*key, _value(factors, names)) for key, (_, factors) in zip(keys, everything, strict=True)]
        if len({*finer}) > len({*keys}):
            groups.append(names)
            keys = finer
    return groups


def _groups(everything: Iterable[Factors]) -> list[Group]:
    """Return all groups of factors: those that belong together, then single factors, then the file."""
    grouped = {name for group in GROUPS for name in group} | {FILE}
    rest = dict.fromkeys(name for factors in everything for name in factors if name not in grouped)
    return [*GROUPS, *((name,) for name in rest), (FILE,)]


def _value(factors: Factors, group: Group) -> Value:
    return tuple(factors.get(name, "") for name in group)


def _groups_of_single(known: KnownValues, without: Collection[str]) -> list[Group]:
    """Return the groups for a single series, so that it has the colour that it has among all."""
    all_of_it = _splitting(known.everything, without)
    return all_of_it[:1] or [WHAT]


def _known(query: Query) -> KnownValues:
    """Return all values of all results: modes in the order of their pattern, others in that of the plan."""
    known = KnownValues()
    patterns: dict[str, list[str]] = {}
    for source in query.sources:
        for row in source.rows:
            pattern = source.patterns.get(row.cell.pattern)
            if pattern is not None and not pattern.probes and not pattern.is_floor:
                known.everything.append((row.imported, factors_of(source, row)))
                own = known_patterns().get(pattern.name, pattern)
                patterns.setdefault(pattern.name, [mode.name for mode in own.modes])
    for name, modes in patterns.items():
        measured = {factors.get("mode", "") for _, factors in known.everything if factors["pattern"] == name}
        for mode in sorted(measured, key=lambda mode_: modes.index(mode_) if mode_ in modes else len(modes)):
            known.number(WHAT, (name, mode))
    return known


def _numbers(known: KnownValues, curves: Sequence[Series], group: Group) -> list[int]:
    for _, factors in known.everything:
        known.number(group, _value(factors, group))
    return [known.number(group, _value(curve.factors, group)) for curve in curves]


def _distinct(numbers: Sequence[int], most: int) -> list[int]:
    """Return distinct colour numbers: of two values with the same one the later gets the next free one."""
    places: dict[int, int] = {}
    for number in numbers:
        if number not in places:
            taken = {*places.values()}
            free = (place for step in count() if (place := (number + step) % most) not in taken)
            places[number] = next(free) if len(taken) < most else number % most
    return [places[number] for number in numbers]


def _distinct_style(
    others: Sequence[dict[str, Any]], numbers: Sequence[int], *, imported: bool
) -> dict[str, Any]:
    """Return a style, with the next marker while another series has the same."""
    colour, first, dash = numbers
    for marker in range(first, first + len(MARKERS)):
        style = _style(colour, marker, dash, imported=imported)
        if style not in others:
            return style
    return _style(colour, first, dash, imported=imported)


def _style(colour: int, marker: int, dash: int, *, imported: bool) -> dict[str, Any]:
    return {
        "color": COLOURS[colour],
        "marker": MARKERS[marker % len(MARKERS)],
        "linestyle": IMPORTED_DASHES if imported else DASHES[dash],
        "markerfacecolor": "white" if imported else COLOURS[colour],
    }
