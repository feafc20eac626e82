"""The kinds of tables: which cells each takes, and which of their factors go down and across."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.document.phrases import UNSAID, WORDS
from mpigauge.find.answer import latency_bytes
from mpigauge.plan.factors import PLACE, names_of
from mpigauge.plan.patterns import patterns_with
from mpigauge.query.kinds import maker
from mpigauge.query.series import EAGER, chosen, factors_of, grouped, size_words, timed
from mpigauge.rows.group import STATE
from mpigauge.show.pivots.grid import QUANTITY, Layout, PivotNumber, grids
from mpigauge.show.pivots.quantities import (
    LATENCY,
    MEAN,
    RATE,
    RATE_BRIEF,
    SAMPLES,
    STDDEV,
    TIME,
    TIME_BRIEF,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.pivots.grid import PivotGrid
    from mpigauge.show.pivots.quantities import Quantity

MEMORY = patterns_with(lambda pattern: pattern.in_memory)
"""Patterns that are no communication."""

QUOTED_BYTES = (512, 64 * 2**10)
"""Of collectives, where they were measured."""

PLACES = tuple(name for name in WORDS if name in PLACE)
LIBRARY = "mpi"
WHAT, HOW, WHERE = (
    tuple(name for name in WORDS if name in names_of(group) and name not in (*PLACES, LIBRARY, "window"))
    for group in ("what", "how", "where")
)

MAKERS: dict[str, Callable[[Query], list[PivotGrid]]] = {}
"""Of each kind, the function that lays its tables out."""

COLUMNS_MOST = 6
SUMMARIES_MOST = 5
"""Columns of numbers with both ends of their intervals."""

GROUPS_MOST = 2
"""Of mean, deviation and samples: more are too wide for a telephone."""

ACROSS = (STATE, "mode", LIBRARY, *HOW, *WHERE, *PLACES)
BRACKETS = "in brackets the 95 % interval across launches"
WIDTH = "\N{PLUS-MINUS SIGN}: half-width of the 95 % interval across launches, its larger side"
SPREAD = "mean and standard deviation of all samples, which are no interval; n: samples in so many launches"

SIZES_DOWN = Layout(("size",), ACROSS, "size", WIDTH, COLUMNS_MOST)
STATISTICS_DOWN = Layout(("size",), (QUANTITY, *ACROSS), "size", "", 3 * GROUPS_MOST)
PLACES_DOWN = Layout(
    (*PLACES, *WHERE, "size"), (STATE, "mode", LIBRARY), "place", BRACKETS, COLUMNS_MOST, spill=True
)
ALL_DOWN = Layout(
    (*WHAT, *HOW, "size", QUANTITY), (STATE, LIBRARY, *PLACES, *WHERE), "", BRACKETS, SUMMARIES_MOST
)


@maker(MAKERS, "latency")
def latency(query: Query) -> list[PivotGrid]:
    """Time of the message that the answer quotes."""
    found = series(query)
    sizes = _typical(found)
    entries = [
        entry for one in found for entry in _entries(one, sizes[one.factors["pattern"]], _time_of(one))
    ]
    return grids(entries, PLACES_DOWN, "time")


@maker(MAKERS, "times")
def times(query: Query) -> list[PivotGrid]:
    """Time against size."""
    return _against_size(query, TIME_BRIEF, "time")


@maker(MAKERS, "rates")
def rates(query: Query) -> list[PivotGrid]:
    """Rate against size."""
    return _against_size(query, RATE_BRIEF, "bandwidth")


def _against_size(query: Query, quantity: Quantity, about: str) -> list[PivotGrid]:
    found = series(query, lambda row: _gives(row, quantity))
    entries = [entry for one in found for entry in _entries(one, _sizes(one), quantity)]
    return grids(entries, SIZES_DOWN, about)


@maker(MAKERS, "statistics")
def statistics(query: Query) -> list[PivotGrid]:
    """Mean, standard deviation and number of samples."""
    found = series(query, lambda row: _gives(row, MEAN), everything=True)
    entries = [
        entry
        for one in found
        for size in _sizes(one)
        for quantity in (MEAN, STDDEV, *(() if one.imported else (SAMPLES,)))
        for entry in _entries(one, {size}, quantity)
    ]
    return grids(entries, STATISTICS_DOWN, SPREAD)


@maker(MAKERS, "summary")
def summary(query: Query) -> list[PivotGrid]:
    """Latencies and the rate of the largest message; of collectives, time at two sizes."""
    found = series(query)
    typical, large = _typical(found), _union(found, lambda one: _sizes(one)[-1:])
    small = _union(found, lambda one: _quoted(one, typical[one.factors["pattern"]]))
    entries: list[PivotNumber] = []
    for one in found:
        pattern = one.factors["pattern"]
        entries += _entries(one, small[pattern], _time_of(one))
        if _is_message(one):
            entries += _entries(one, large[pattern] - small[pattern], RATE)
    return grids(_as_others_say_it(entries), ALL_DOWN, "")


def _as_others_say_it(entries: Sequence[PivotNumber]) -> list[PivotNumber]:
    """Without the number of ranks, and without what goes unsaid, where others do not say it of a pattern.

    As far as that leaves every entry a place of its own.
    """
    theirs = [entry.factors for entry in entries if entry.row.imported]
    found = list(entries)
    for name in ("ranks", *HOW):
        found = _without(found, name, {one["pattern"] for one in theirs if name not in one})
    return found


def _without(entries: list[PivotNumber], name: str, patterns: Collection[str]) -> list[PivotNumber]:
    less = [
        replace(entry, factors={other: word for other, word in entry.factors.items() if other != name})
        if entry.factors["pattern"] in patterns and (name == "ranks" or entry.factors.get(name) in UNSAID)
        else entry
        for entry in entries
    ]
    places = {(*sorted(entry.factors.items()),) for entry in less}
    return less if len(places) == len(less) else entries


# ---- Cells ---------------------------------------------------------------------------------------


def series(
    query: Query, keep: Callable[[Row], bool] = lambda _: True, *, everything: bool = False
) -> list[Series]:
    """Series of messages and collectives, or of all patterns; also those that were planned in vain.

    Raises:
        UsageError: Nothing of them was measured.
    """
    pairs = [
        (source, row)
        for source, row in timed(query)
        if keep(row) and (everything or row.cell.pattern not in MEMORY)
    ]
    # What has no size is in every choice of sizes, and alone is no answer to it.
    some = any(row.time is not None and (row.sized or not query.sizes) for _, row in pairs)
    found = _in_their_states(grouped(pairs if some else [], factors_of))
    for one in found:
        one.rows.sort(key=lambda row: row.cell.bytes)
    return chosen(query, found, most=len(found))


def _in_their_states(found: Sequence[Series]) -> list[Series]:
    """What was not measured is of no state: it goes to the series that are of one, where there are such."""
    kept = []
    for one in found:
        others = [
            other
            for other in found
            if other.source is one.source
            and other.factors.keys() - one.factors.keys() == {STATE}
            and one.factors.items() <= other.factors.items()
        ]
        if others and all(row.time is None for row in one.rows):
            for other in others:
                other.rows.extend(one.rows)
        else:
            kept.append(one)
    return kept


def _gives(row: Row, quantity: Quantity) -> bool:
    """Whether it has this number, or would have if it had been measured."""
    if row.time is None:
        return quantity is not RATE_BRIEF or (row.sized and row.cell.bytes > 0)
    return quantity.number(row).value is not None


def _entries(one: Series, sizes: Iterable[int], quantity: Quantity) -> list[PivotNumber]:
    rows = [row for row in one.rows if row.cell.bytes in set(sizes)]
    return [PivotNumber(one.source, row, quantity, _factors(one, row, quantity)) for row in rows]


def _factors(one: Series, row: Row, quantity: Quantity) -> Factors:
    words = one.factors | {"size": size_words(row), QUANTITY: quantity.heading or quantity.name}
    return {name: word for name, word in words.items() if word}


def _sizes(one: Series) -> list[int]:
    return [row.cell.bytes for row in one.rows]


def _is_message(one: Series) -> bool:
    return one.factors["pattern"] in EAGER


def _quoted(one: Series, typical: Collection[int]) -> list[int]:
    """Of messages the empty one and that of the latency, of collectives the sizes that reports quote."""
    sizes = _sizes(one)
    if _is_message(one):
        return [size for size in sizes if size == 0 or size in typical]
    return [size for size in sizes if size in QUOTED_BYTES] or [*sizes[:1], *sizes[-1:]]


def _time_of(one: Series) -> Quantity:
    """Its time, called a latency where that is of a message one way."""
    return LATENCY if one.source.patterns[one.factors["pattern"]].one_way else TIME


def _typical(found: Sequence[Series]) -> dict[str, set[int]]:
    """By pattern, the size of the latency that all of its series have; without one, that of each."""
    patterns = dict.fromkeys(one.factors["pattern"] for one in found)
    return {
        name: _latency_sizes([one for one in found if one.factors["pattern"] == name]) for name in patterns
    }


def _latency_sizes(found: Sequence[Series]) -> set[int]:
    measured = [{row.cell.bytes for row in one.rows if row.time is not None} for one in found]
    known = [sizes for sizes in measured if sizes] or [set(_sizes(one)) for one in found]
    common = set.intersection(*known)
    return {latency_bytes(sizes) for sizes in ([common] if common else known)}


def _union(found: Sequence[Series], sizes: Callable[[Series], list[int]]) -> dict[str, set[int]]:
    """By pattern, the sizes of all of its series."""
    union: dict[str, set[int]] = {}
    for one in found:
        union.setdefault(one.factors["pattern"], set()).update(sizes(one))
    return union
