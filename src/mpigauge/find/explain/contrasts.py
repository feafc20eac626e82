"""What differs in one thing alone: places, libraries, settings, modes, in runs of sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.cells import compared_by
from mpigauge.compare.size_ratio import SizePair, SizeRatio, SizeRun, size_pairs, size_runs, sizes_timed
from mpigauge.compare.two import (
    TWICE,
    Clause,
    NamesOfTwo,
    SizePiece,
    amount_of,
    as_many_as_fit,
    clauses,
    names_of_modes,
    piece_at,
    size_pieces,
)
from mpigauge.document.cell_names import place_name, subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import WORDS
from mpigauge.document.size_words import at_size
from mpigauge.find.answer import latency_bytes
from mpigauge.find.comparisons import USUALLY
from mpigauge.find.explain.evidence import against_first
from mpigauge.find.explain.send_modes import handshakes
from mpigauge.find.phrases import CROWDED, EMULATED, WITHIN, extra, headed, in_a_line, rate
from mpigauge.plan.factors import BY_NAME, PLACE
from mpigauge.plan.groups import ranks_in
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import subject_of
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row

BUILD = compared_by("mpi")
"""What two libraries differ in, that may be of a control arm."""

PROTOCOL = BUILD | {"setting"}
"""Factors whose values may differ in their eager limits."""

ORDER = compared_by("order") - {"arm"}
SENDERS = compared_by("senders") - {"arm"}
"""What other orders of the ranks, or other numbers of senders, differ in."""

MODE = frozenset({"mode"})
RANKS = frozenset({"ranks"})

SYNCHRONISED = patterns_with(
    lambda of: of.one_sided and any(of.volumes.wire) and not (of.one_way or of.windowed)
)
"""Patterns whose modes are ways of synchronising, or different operations: topics of their own tell them."""


ONE_ORDER = 2.0
"""Differences at several sizes that are further apart are not one thing that each message waits for."""


@dataclass(frozen=True, slots=True)
class ByLimit:
    """A difference that is nothing but an eager limit.

    Attributes:
        base: That of the base in bytes; None if none was found.
        other: That of the other.
        least_trips: The least of the differences, in round trips of the smallest message; None if they are
            not alike.
        most_trips: The most of them.
        small_elsewhere: Whether there are differences below or above both limits, within the margin.
    """

    base: int | None
    other: int | None
    least_trips: float | None
    most_trips: float | None
    small_elsewhere: bool


@dataclass(frozen=True, slots=True)
class BothRates:
    """Rates of two at one size, in bytes per second."""

    bytes: int
    base_bytes_per_s: float
    other_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two curves that differ in one thing.

    Attributes:
        factors: In what: factors of a cell that go together.
        base: The smallest cell of the curve that the other is held against.
        other: The smallest of the other.
        names: What the other and the base are called.
        points: All sizes that both have.
        runs: These, by verdict.
        pieces: These, as they are told together.
        alone_bytes: Sizes that one of both alone has.
        twice_from: The smallest size from which on one takes at least twice as long at every size, by the
            whole interval; None if there is none, or if it is the smallest of all.
        by_limit: That all sizes that differ by more than the margin lie between the eager limits of the two;
            None if not.
        emulated: Whether the network between the two, or that they send over, is that of a lab.
        crowded: Whether one of them has more ranks than cores.
        waits_above: Eager limit in bytes above which the base waits for the receiver and the other, which
            copies first, does not: the likely reason why that is faster. None where nothing shows it.
        rates: Of windows of messages with other numbers of senders, the rates of all senders together;
            empty of all else.
    """

    factors: frozenset[str]
    base: Subject
    other: Cell
    names: tuple[str, str]
    points: tuple[SizeRatio, ...]
    runs: tuple[SizeRun, ...]
    pieces: tuple[SizePiece, ...]
    alone_bytes: tuple[int, ...]
    twice_from: int | None
    by_limit: ByLimit | None
    emulated: bool
    crowded: bool
    waits_above: int | None = None
    rates: tuple[BothRates, ...] = ()

    @property
    def launches(self) -> int:
        """How many launches it rests on: the fewest of its sizes and of the numbers of several sizes.

        Of sizes that do not differ, no number of several is told.
        """
        pooled = [one.pooled.launches for one in self.pieces if one.pooled and one.verdict in DIFFERENT]
        return min([*(one.ratio.launches for one in self.points), *pooled])

    @property
    def weight(self) -> float:
        """How much it says: the share of its sizes that are decided, how far apart they are, and why."""
        decided = [run for run in self.runs if run.verdict in DIFFERENT]
        far = max((abs(run.worst.ratio.estimate - 1) for run in decided), default=0.0)
        known = self.by_limit is not None
        return sum(len(run.at) for run in decided) / len(self.points) + min(1.0, far) + known


def places(evidence: Evidence) -> Iterator[Contrast]:
    """Yield each place against the nearest."""
    yield from contrasts(evidence, PLACE)


def libraries(evidence: Evidence) -> Iterator[Contrast]:
    """Yield each library against the first."""
    yield from contrasts(evidence, BUILD)


def settings(evidence: Evidence) -> Iterator[Contrast]:
    """Yield each value of a variable that was varied against the first."""
    yield from contrasts(evidence, frozenset({"setting"}))


def modes(evidence: Evidence) -> Iterator[Contrast]:
    """Yield each mode of a pattern against the first, but for those that one-sided topics tell."""
    for fact in contrasts(evidence, MODE):
        if fact.base.cell.pattern not in SYNCHRONISED:
            yield fact


def orders(evidence: Evidence) -> Iterator[Contrast]:
    """Yield each order of the same ranks against the first."""
    for fact in contrasts(evidence, ORDER):
        if {*ranks_in(fact.base.cell, None)} == {*ranks_in(fact.other, None)}:
            yield fact


def senders(evidence: Evidence) -> Iterator[Contrast]:
    """Yield each number of senders against the first."""
    for fact in contrasts(evidence, SENDERS):
        if fact.base.cell.senders != fact.other.senders:
            yield fact


def contrasts(evidence: Evidence, factors: frozenset[str]) -> Iterator[Contrast]:
    """Yield each curve against the first, or the nearest, of those that differ in these factors alone."""
    for base, other in against_first(evidence, factors):
        pairs = size_pairs(base, other, same_place=factors != PLACE, within=evidence.within)
        if pairs:
            alone = tuple(sorted(sizes_timed(base) ^ sizes_timed(other)))
            fact = _contrast(evidence, factors, (base[0], other[0]), pairs, alone)
            of_all = factors == SENDERS and evidence.patterns[fact.base.cell.pattern].windowed
            yield replace(fact, rates=tuple(_rates(base, other, fact.points))) if of_all else fact


def _rates(base: Sequence[Row], other: Sequence[Row], points: Sequence[SizeRatio]) -> Iterator[BothRates]:
    """Yield the rates of two curves at the sizes that both have."""
    sides = [{row.cell.bytes: row.rate_bytes_per_s for row in side} for side in (base, other)]
    for size in (point.bytes for point in points):
        under, over = (side[size] for side in sides)
        if under and over:
            yield BothRates(size, under, over)


def _contrast(
    evidence: Evidence,
    factors: frozenset[str],
    rows: tuple[Row, Row],
    pairs: Sequence[SizePair],
    alone_bytes: tuple[int, ...],
) -> Contrast:
    points = [one.ratio for one in pairs]
    runs = size_runs(points)
    hosts = any("," in row.cell.placement for row in rows)
    return Contrast(
        factors=factors,
        base=subject_of(rows),
        other=rows[1].cell,
        names=_names(evidence, factors, rows[1].cell, rows[0].cell),
        points=tuple(points),
        runs=runs,
        pieces=size_pieces(pairs),
        alone_bytes=alone_bytes,
        twice_from=_twice_from(points),
        by_limit=_by_limit(evidence, factors, rows, runs),
        emulated=factors in {PLACE, ORDER, SENDERS} and evidence.emulated and hosts,
        crowded=any(row.cell.job in evidence.crowded for row in rows),
        waits_above=_waits_above(evidence, rows, points) if factors == MODE else None,
    )


def _names(evidence: Evidence, factors: frozenset[str], other: Cell, base: Cell) -> tuple[str, str]:
    if factors == MODE:
        return names_of_modes(other, base, (row.cell for row in evidence.rows))
    name = name_of(factors)
    return name(other), name(base)


def _twice_from(points: Sequence[SizeRatio]) -> int | None:
    """Return from which size on the same one is twice as slow, by the whole interval."""
    begin = None
    for slower in (True, False):
        for one in reversed(points):
            low, high = one.ratio.low or 0.0, one.ratio.high or 1.0
            if not (low >= TWICE if slower else high <= 1 / TWICE):
                break
            begin = one.bytes
    return begin if begin != points[0].bytes else None


# ---- Eager limits --------------------------------------------------------------------------------


def _by_limit(
    evidence: Evidence, factors: frozenset[str], rows: tuple[Row, Row], runs: Sequence[SizeRun]
) -> ByLimit | None:
    """Return the eager limits if all that differs so that it matters lies between those of the two."""
    limits = [evidence.limits.get(row.cell.job) for row in rows]
    reach = [
        limit or evidence.eager_at_least.get(row.cell.job) for limit, row in zip(limits, rows, strict=True)
    ]
    if not factors <= PROTOCOL or None in reach or limits[0] == limits[1]:
        return None
    low, high = sorted(size for size in reach if size is not None)
    sizes = {one.bytes for run in runs for one in run.at}
    differing = [one for run in runs if run.verdict in DIFFERENT for one in run.at]
    between = [one for one in differing if low < one.bytes <= high]
    elsewhere = [one for one in differing if one not in between]
    if not between or elsewhere or len(between) == len(sizes):
        return None
    least, most = _round_trips(rows[0], between)
    little = any(one.ratio.small for run in runs for one in run.at)
    return ByLimit(limits[0], limits[1], least, most, little)


def _waits_above(evidence: Evidence, rows: tuple[Row, Row], points: Sequence[SizeRatio]) -> int | None:
    """Return the eager limit if waiting above it is what makes a mode slower than one that copies first.

    A mode that always waits shows what that costs and that the other one waits, too. What is faster is all
    above the limit, by no more than that, and nothing there is slower.

    Source:
        docs/method-comparison.md#conclusions
    """
    copying = evidence.mode_of(rows[1])
    if copying is None or not copying.attaches_buffer:
        return None
    faster = [one for one in points if one.verdict == "faster"]
    for wait in handshakes(evidence):
        above = [one for one in points if one.bytes > wait.limit_bytes]
        if wait.base == rows[0].of and wait.without and faster and all(one in above for one in faster):
            gains_s = [-(one.beyond_s or one.extra_s) for one in faster]
            slower = any(one.verdict == "slower" for one in above)
            return None if slower or max(gains_s) > (wait.small.high_s or 0.0) else wait.limit_bytes
    return None


def _round_trips(base: Row, between: Sequence[SizeRatio]) -> tuple[float, float] | tuple[None, None]:
    """Return the differences in round trips of the smallest message, least and most; None if far apart."""
    if base.time is None or base.time.estimate <= 0:
        return None, None
    trips = sorted(abs(one.extra_s) / (2 * base.time.estimate) for one in between)
    return (trips[0], trips[-1]) if trips[-1] <= ONE_ORDER * trips[0] else (None, None)


# ---- Sentence ------------------------------------------------------------------------------------

NO_LIMIT = "none found"


def headline(fact: Contrast, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how much longer one takes than the other: as much of the sentence as a line has room for."""
    return in_brief(fact, varied, chosen)[0]


def in_brief(
    fact: Contrast,
    varied: Collection[str],
    chosen: Units = AUTOMATIC,
    has_room: Callable[[str], bool] = in_a_line,
) -> tuple[str, tuple[SizePiece, ...]]:
    """Return as much of the sentence of a contrast as there is room for, and the pieces that it tells."""
    about = subject(fact.base, varied, fact.factors)
    return as_many_as_fit(_parts(fact, chosen), partial(headed, about), has_room)


def sentence(fact: Contrast, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how much longer one takes than the other at all sizes, and what follows from that."""
    about, parts = subject(fact.base, varied, fact.factors), _parts(fact, chosen)
    return headed(about, "; ".join([*(part.text for part in parts), *_more(fact)]))


def _parts(fact: Contrast, chosen: Units) -> list[Clause]:
    """Return what is said of all pieces, that eager limits alone make the difference, and the times."""
    first, *rest = clauses(sides_of(fact), fact.pieces, fact.base.cell, fact.alone_bytes)
    limit = [] if fact.by_limit is None else [Clause(_limit(fact.by_limit), ())]
    if fact.waits_above is not None:
        rest.append(Clause(_waits(fact, fact.waits_above), ()))
    times = ", ".join(_times(fact, piece, chosen) for piece in fact.pieces if piece.verdict in DIFFERENT)
    return [first, *limit, *rest, *([Clause(times, ())] if times else [])]


def _times(fact: Contrast, piece: SizePiece, chosen: Units) -> str:
    """Return both times, or rates, at the size of a piece whose ratio is farthest from 1."""
    points = [point for point in fact.points if point.bytes in piece.sizes_bytes]
    worst = max(points, key=lambda point: abs(math.log(point.ratio.estimate)))
    where = at_size(fact.base.cell, worst.bytes)
    for one in fact.rates:
        if one.bytes == worst.bytes:
            both = (rate(each, chosen=chosen) for each in (one.other_bytes_per_s, one.base_bytes_per_s))
            return f"{' against '.join(both)}{where}"
    other, base = (units.format_time(each, chosen.time) for each in (worst.other_s, worst.base_s))
    return f"{other} against {base}{where} ({extra(worst.extra_s, chosen)})"


def sides_of(fact: Contrast) -> NamesOfTwo:
    """Return how the two are called, and by what they are held against each other."""
    many, base_many = (is_many(fact.factors, cell) for cell in (fact.other, fact.base.cell))
    return NamesOfTwo(*fact.names, many, base_many, bool(fact.rates))


def is_many(factors: frozenset[str], cell: Cell) -> bool:
    """Return whether the value of some factors is a noun in the plural, such as `2 senders`."""
    return factors == RANKS or (factors == SENDERS and cell.senders != 1)


def name_of(factors: frozenset[str]) -> Callable[[Cell], str]:
    """Return how two cells that differ in these factors alone are told from each other."""
    if factors == PLACE:
        return place_name
    if factors == BUILD:
        return lambda cell: cell.library
    factor = next(name for name in factors if not any(name in BY_NAME[one].brings for one in factors))
    return lambda cell: WORDS[factor](cell) or BY_NAME[factor].without or USUALLY


def at_latency(fact: Contrast) -> SizePiece:
    """Return how the two differ at the size whose time is called the latency."""
    size = latency_bytes(point.bytes for point in fact.points)
    return piece_at(next(point for point in fact.points if point.bytes == size))


def _more(fact: Contrast) -> Iterator[str]:
    """Yield what the latency alone says, and what follows from all sizes together."""
    alone = at_latency(fact)
    if alone.verdict in DIFFERENT and alone not in fact.pieces:
        yield f"{amount_of(alone, sides_of(fact))} at {units.format_size(alone.sizes_bytes[0])}"
    if fact.twice_from is not None:
        largest = units.format_size(fact.points[-1].bytes)
        yield f"by a factor of {TWICE:g} or more from {units.format_size(fact.twice_from)} to {largest}"
    if fact.by_limit is not None:
        yield _wait(fact.by_limit)
    if fact.emulated:
        yield EMULATED
    if fact.crowded:
        yield CROWDED


def _limit(fact: ByLimit) -> str:
    base, other = (
        NO_LIMIT if limit is None else units.format_size(limit) for limit in (fact.base, fact.other)
    )
    beyond = f"beyond {WITHIN} " if fact.small_elsewhere else ""
    return f"{beyond}only between their eager limits ({other} against {base})"


def _waits(fact: Contrast, limit_bytes: int) -> str:
    copying, waiting = fact.names
    return f"above {units.format_size(limit_bytes)} {waiting} waits for the receiver, {copying} copies first"


def _wait(fact: ByLimit) -> str:
    if fact.least_trips is None or fact.most_trips is None:
        return "one waits for the receiver there, the other does not"
    trips = units.span(*map(units.format_factor, (fact.least_trips, fact.most_trips)))
    return f"that is the wait for the receiver: {trips} round trips of the smallest message"
