"""The kinds of tables: which cells each takes, and which of their factors go down and across."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.document.phrases import UNSAID, WORDS
from mpigauge.find.answer import latency_bytes
from mpigauge.plan.factors import PLACE, names_of
from mpigauge.plan.patterns import patterns_with
from mpigauge.query.kinds import maker
from mpigauge.query.series import EAGER, choose_series, factors_of, grouped, size_words, timed_rows
from mpigauge.rows.group import STATE
from mpigauge.show.pivots.grid import ALL_LINES, LIBRARY, QUANTITY, Layout, PivotNumber, grids
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
"""Patterns without communication."""

SIZES_OF_COLLECTIVES = (512, 64 * 2**10)
"""Sizes that a summary has of collectives, if they were measured."""

PLACES = tuple(name for name in WORDS if name in PLACE)
WHAT, HOW, WHERE = (
    tuple(name for name in WORDS if name in names_of(group) and name not in (*PLACES, LIBRARY, "window"))
    for group in ("what", "how", "where")
)

MAKERS: dict[str, Callable[[Query], list[PivotGrid]]] = {}
"""Function that lays out the tables of each kind."""

MAX_COLUMNS = 6
MAX_SUMMARIES = 5
"""Most columns of numbers with both ends of their intervals."""

MAX_GROUPS = 2
"""Most groups of mean, deviation and samples: more are too wide for a telephone."""

ACROSS = (STATE, "mode", LIBRARY, *HOW, *WHERE, *PLACES)
BRACKETS = "in brackets the 95 % interval across launches"
WIDTH = "\N{PLUS-MINUS SIGN}: half the length of the 95 % interval across launches"
SPREAD = "mean and standard deviation of all samples, which are no interval; n: samples in so many launches"

SIZES_DOWN = Layout(("size",), ACROSS, "size", WIDTH, MAX_COLUMNS)
STATISTICS_DOWN = Layout(("size",), (QUANTITY, *ACROSS), "size", "", 3 * MAX_GROUPS)
PLACES_DOWN = Layout(
    (*PLACES, *WHERE, "size"),
    (STATE, "mode", LIBRARY),
    "place",
    BRACKETS,
    MAX_COLUMNS,
    spill=True,
    few=ALL_LINES,
)
ALL_DOWN = Layout(
    (*WHAT, *HOW, "size", QUANTITY), (STATE, LIBRARY, *PLACES, *WHERE), "", BRACKETS, MAX_SUMMARIES
)


@maker(MAKERS, "latency")
def latency(query: Query) -> list[PivotGrid]:
    """Return tables of the latency that the answer quotes."""
    curves = series(query)
    sizes = _latency_sizes_by_pattern(curves)
    entries = [
        entry
        for curve in curves
        for entry in _entries(curve, sizes[curve.factors["pattern"]], _time_of(curve))
    ]
    return grids(entries, PLACES_DOWN, "time")


@maker(MAKERS, "times")
def times(query: Query) -> list[PivotGrid]:
    """Return tables of time against size."""
    return _against_size(query, TIME_BRIEF, "time")


@maker(MAKERS, "rates")
def rates(query: Query) -> list[PivotGrid]:
    """Return tables of rate against size."""
    return _against_size(query, RATE_BRIEF, "bandwidth")


def _against_size(query: Query, quantity: Quantity, about: str) -> list[PivotGrid]:
    curves = series(query, lambda row: _gives(row, quantity))
    entries = [entry for curve in curves for entry in _entries(curve, _sizes(curve), quantity)]
    return grids(entries, SIZES_DOWN, about)


@maker(MAKERS, "statistics")
def statistics(query: Query) -> list[PivotGrid]:
    """Return tables of mean, standard deviation and number of samples."""
    curves = series(query, lambda row: _gives(row, MEAN), everything=True)
    entries = [
        entry
        for curve in curves
        for size in _sizes(curve)
        for quantity in (MEAN, STDDEV, *(() if curve.imported else (SAMPLES,)))
        for entry in _entries(curve, {size}, quantity)
    ]
    return grids(entries, STATISTICS_DOWN, SPREAD)


@maker(MAKERS, "summary")
def summary(query: Query) -> list[PivotGrid]:
    """Return tables of latencies and the rate of the largest message; of collectives, of two sizes."""
    curves = series(query)
    typical, large = (
        _latency_sizes_by_pattern(curves),
        _sizes_by_pattern(curves, lambda curve: _sizes(curve)[-1:]),
    )
    small = _sizes_by_pattern(curves, lambda curve: _quoted(curve, typical[curve.factors["pattern"]]))
    entries: list[PivotNumber] = []
    for curve in curves:
        pattern = curve.factors["pattern"]
        entries += _entries(curve, small[pattern], _time_of(curve))
        if _is_message(curve):
            entries += _entries(curve, large[pattern] - small[pattern], RATE)
    return grids(_as_imported(entries), ALL_DOWN, "")


def _as_imported(entries: Sequence[PivotNumber]) -> list[PivotNumber]:
    """Drop the number of ranks and defaults of a pattern where imported numbers do not have them.

    They stay where entries would share a place otherwise.
    """
    theirs = [entry.factors for entry in entries if entry.row.imported]
    kept = list(entries)
    for name in ("ranks", *HOW):
        kept = _without(kept, name, {factors["pattern"] for factors in theirs if name not in factors})
    return kept


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
    """Return series of messages and collectives, or of all patterns, including cells without a time.

    Raises:
        UsageError: None of these cells was measured.
    """
    pairs = [
        (source, row)
        for source, row in timed_rows(query)
        if keep(row) and (everything or row.cell.pattern not in MEMORY)
    ]
    # Cells without size are in every choice of sizes; alone they do not answer it.
    some = any(row.time is not None and (row.sized or not query.sizes) for _, row in pairs)
    curves = _in_their_states(grouped(pairs if some else [], factors_of))
    for curve in curves:
        curve.rows.sort(key=lambda row: row.cell.bytes)
    return choose_series(query, curves, most=len(curves))


def _in_their_states(curves: Sequence[Series]) -> list[Series]:
    """Move rows that were not measured, which have no state, to the series of their states, if any."""
    kept = []
    for curve in curves:
        others = [
            other
            for other in curves
            if other.source is curve.source
            and other.factors.keys() - curve.factors.keys() == {STATE}
            and curve.factors.items() <= other.factors.items()
        ]
        if others and all(row.time is None for row in curve.rows):
            for other in others:
                other.rows.extend(curve.rows)
        else:
            kept.append(curve)
    return kept


def _gives(row: Row, quantity: Quantity) -> bool:
    """Return whether a row has this number, or would have it had it been measured."""
    if row.time is None:
        return quantity is not RATE_BRIEF or (row.sized and row.cell.bytes > 0)
    return quantity.number(row) is not None


def _entries(curve: Series, sizes: Iterable[int], quantity: Quantity) -> list[PivotNumber]:
    rows = [row for row in curve.rows if row.cell.bytes in set(sizes)]
    return [PivotNumber(curve.source, row, quantity, _factors(curve, row, quantity)) for row in rows]


def _factors(curve: Series, row: Row, quantity: Quantity) -> Factors:
    words = curve.factors | {"size": size_words(row), QUANTITY: quantity.heading or quantity.name}
    return {name: word for name, word in words.items() if word}


def _sizes(curve: Series) -> list[int]:
    return [row.cell.bytes for row in curve.rows]


def _is_message(curve: Series) -> bool:
    return curve.factors["pattern"] in EAGER


def _quoted(curve: Series, typical: Collection[int]) -> list[int]:
    """Return the sizes to quote: of messages 0 and that of the latency, of collectives the usual ones."""
    sizes = _sizes(curve)
    if _is_message(curve):
        return [size for size in sizes if size == 0 or size in typical]
    return [size for size in sizes if size in SIZES_OF_COLLECTIVES] or [*sizes[:1], *sizes[-1:]]


def _time_of(curve: Series) -> Quantity:
    """Return the quantity of a series' time, called latency for one-way messages."""
    return LATENCY if curve.source.patterns[curve.factors["pattern"]].one_way else TIME


def _latency_sizes_by_pattern(curves: Sequence[Series]) -> dict[str, set[int]]:
    """Return, by pattern, the size of the latency that most of its series have; otherwise that of each."""
    patterns = dict.fromkeys(curve.factors["pattern"] for curve in curves)
    return {
        name: _latency_sizes([curve for curve in curves if curve.factors["pattern"] == name])
        for name in patterns
    }


def _latency_sizes(curves: Sequence[Series]) -> set[int]:
    measured = [{row.cell.bytes for row in curve.rows if row.time is not None} for curve in curves]
    known = [sizes for sizes in measured if sizes] or [set(_sizes(curve)) for curve in curves]
    counts = Counter(size for sizes in known for size in sizes)
    # A series that was hardly measured, as in a rare state of the machine, does not choose for the others.
    common = {size for size, count in counts.items() if 2 * count > len(known)}
    return {latency_bytes(sizes) for sizes in ([common] if common else known)}


def _sizes_by_pattern(curves: Sequence[Series], sizes: Callable[[Series], list[int]]) -> dict[str, set[int]]:
    """Return, by pattern, the sizes of all its series."""
    union: dict[str, set[int]] = {}
    for curve in curves:
        union.setdefault(curve.factors["pattern"], set()).update(sizes(curve))
    return union
