"""Places, modes, libraries and settings of one result side by side: ratios paired by launch, with verdicts.

Only messages are compared, and only where the ratio has an interval; which ratios are missing is said, too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

from mpigauge import units
from mpigauge.compare.size_ratio import size_runs
from mpigauge.compare.two import NamesOfTwo, as_many_as_fit, clauses, names_of_modes, size_pieces
from mpigauge.document.cell_names import place_name, subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.finding import finding
from mpigauge.document.ratio_words import times_words
from mpigauge.document.state_words import HANDED_OVER
from mpigauge.find.answer import latency_bytes
from mpigauge.find.phrases import headed, in_a_line
from mpigauge.plan.factors import LIBRARY, PLACE
from mpigauge.plan.patterns import known, sampled_alike
from mpigauge.rows.baselines import NAMES, measured_in
from mpigauge.rows.group import STATE, Subject, by_state, each_state, group, subject_of
from mpigauge.rows.ratios import verdict_of
from mpigauge.rows.same_distance import apart, distances_apart
from mpigauge.vocabulary import Contrasted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.curves import Curve
    from mpigauge.compare.size_ratio import SizeRun
    from mpigauge.compare.two import SizePiece
    from mpigauge.document.document import Units
    from mpigauge.document.finding import Finding
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row
    from mpigauge.rows.same_distance import DistanceMismatch
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Distance, Verdict

Differing = Literal["place", Contrasted]
"""What two curves that are compared differ in."""

_MUCH_WIDER = 3.0


@dataclass(frozen=True, slots=True)
class At:
    """A ratio at one size.

    Attributes:
        verdict: On the first of the two, by the one rule.
    """

    bytes: int
    ratio: Ratio
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class PlaceLatency:
    """The latency in each place over that in the nearest.

    Attributes:
        nearest: The cell in the place where it is fastest.
        others: The same message in the other places, from near to far.
        time_s: Its time in the nearest.
        ratios: How many times as long it takes in each of the others.
    """

    nearest: Subject
    others: tuple[Cell, ...]
    time_s: float
    ratios: tuple[At, ...]


@dataclass(frozen=True, slots=True)
class Payoff:
    """The size from which on the fastest place pays, and how much.

    Attributes:
        fast: The cell in the place where the largest message is fastest.
        slow: The same in another place.
        from_bytes: The smallest size from which on `slow` is slower at every size; None if there is none.
        gains: How many times as long `slow` takes there and at the largest size; empty without a size.
        unclear: Larger sizes whose interval is too wide to tell, between neighbours that do.
        pieces: All sizes of both, as they are told together.
        alone_bytes: Sizes that one of both alone has.
    """

    fast: Subject
    slow: Cell
    from_bytes: int | None
    gains: tuple[At, ...]
    unclear: tuple[int, ...]
    pieces: tuple[SizePiece, ...]
    alone_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RelativeCurve:
    """A mode, library or setting in units of the first, at all sizes that both have.

    Attributes:
        of: In what the two differ.
        names: What the other and the first are called.
        runs: The sizes by verdict.
        pieces: The sizes as they are told together.
        alone_bytes: Sizes that one of both alone has.
    """

    of: Contrasted
    other: Cell
    first: Subject
    names: tuple[str, str]
    runs: tuple[SizeRun, ...]
    pieces: tuple[SizePiece, ...]
    alone_bytes: tuple[int, ...]


Comparison = PlaceLatency | Payoff | RelativeCurve


_MAY_DIFFER: Mapping[Differing, frozenset[str]] = {
    "place": PLACE,
    "mode": frozenset({"mode"}),
    "library": LIBRARY,
    "setting": frozenset({"setting"}),
}
"""Factors that two curves may differ in, beside the size; all others they have in common."""


# ---- Places --------------------------------------------------------------------------------------


def latencies_of_places(curves: Sequence[Curve]) -> Iterator[PlaceLatency]:
    """Yield the latency in each place over that in the nearest."""
    for mine, size in _groups(curves, "place", latency_bytes):
        nearest, *others = sorted(mine, key=lambda curve: curve.times[size].estimate)
        found = [(other.cell, at) for other in others for at in _at(other, nearest, [size])]
        if found:
            cells, ratios = zip(*found, strict=True)
            yield PlaceLatency(subject_of([nearest, *others]), cells, nearest.times[size].estimate, ratios)


def payoffs_of_places(curves: Sequence[Curve]) -> Iterator[Payoff]:
    """Yield the size from which on the fastest place pays against each other one, and how much."""
    for mine, largest in _groups(curves, "place", max):
        fastest, *others = sorted(mine, key=lambda curve: curve.times[largest].estimate)
        for other in others:
            yield from _payoff(other, fastest)


def _payoff(slow: Curve, fast: Curve) -> Iterator[Payoff]:
    """Yield one payoff; nothing if no ratio of the two places has an interval."""
    sizes = sorted(slow.times.keys() & fast.times.keys())
    ratios = [slow.over(fast, size) for size in sizes]
    if any(ratios) and (pairs := slow.besides(fast)):
        begin = pays_from(sizes, ratios)
        ends = () if begin is None else dict.fromkeys((begin, sizes[-1]))
        unclear = tuple(size for size in _unclear(sizes, ratios) if begin is not None and size > begin)
        yield Payoff(
            subject_of((fast, slow)),
            slow.cell,
            begin,
            _at(slow, fast, ends),
            unclear,
            size_pieces(pairs),
            _alone(fast, slow),
        )


def pays_from(sizes: Sequence[int], ratios: Sequence[Ratio | None]) -> int | None:
    """Return the smallest size from which on the slow one of two is slower at every size.

    Sizes are asked one after the other from the largest, up to the first that fails: a fixed sequence of
    tests, each at the level of one, so that no correction for their number is needed. A size that cannot
    tell, because its interval is much wider than those of its neighbours, does not end the sequence.

    Args:
        sizes: Rising, in bytes.
        ratios: One for each, of slow over fast.

    Source:
        docs/method-comparison.md#ratios
    """
    begin, unclear = None, set(_unclear(sizes, ratios))
    for size, ratio in zip(reversed(sizes), reversed(ratios), strict=True):
        if verdict_of(ratio) == "slower":
            begin = size
        elif size not in unclear:
            break
    return begin


def _unclear(sizes: Sequence[int], ratios: Sequence[Ratio | None]) -> Iterator[int]:
    """Yield sizes that are perhaps slower, less certain by far than both neighbours, which are slower."""
    for place in range(1, len(sizes) - 1):
        before, here, after = ratios[place - 1 : place + 2]
        if here is None or here.estimate <= 1 or not verdict_of(before) == verdict_of(after) == "slower":
            continue
        around = (_width(before) + _width(after)) / 2
        if verdict_of(here) != "slower" and _width(here) > _MUCH_WIDER * around:
            yield sizes[place]


def _width(ratio: Ratio | None) -> float:
    """Return the width of the interval of a ratio's logarithm; infinite if there is none."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return math.inf
    return math.log(ratio.high / ratio.low)


# ---- Modes, libraries and settings ----------------------------------------------------------------


def modes(curves: Sequence[Curve]) -> Iterator[RelativeCurve]:
    """Yield each mode in units of the first."""
    yield from _contrasts(curves, "mode")


def libraries(curves: Sequence[Curve]) -> Iterator[RelativeCurve]:
    """Yield each library in units of the first."""
    yield from _contrasts(curves, "library")


def settings(curves: Sequence[Curve]) -> Iterator[RelativeCurve]:
    """Yield each value of a variable that was varied in units of the first."""
    yield from _contrasts(curves, "setting")


def _contrasts(curves: Sequence[Curve], of: Contrasted) -> Iterator[RelativeCurve]:
    for other, first in against_first(curves, of):
        if pairs := other.besides(first):
            runs = size_runs([one.ratio for one in pairs])
            names = _names(of, other.cell, first.cell, curves)
            subject_of_both = subject_of((first, other))
            yield RelativeCurve(
                of, other.cell, subject_of_both, names, runs, size_pieces(pairs), _alone(first, other)
            )


def _alone(first: Curve, other: Curve) -> tuple[int, ...]:
    return tuple(sorted(first.times.keys() ^ other.times.keys()))


def _names(of: Contrasted, other: Cell, first: Cell, curves: Iterable[Curve]) -> tuple[str, str]:
    match of:
        case "mode":
            return names_of_modes(other, first, (curve.cell for curve in curves))
        case "library":
            return other.library, first.library
        case "setting":
            return other.setting, first.setting or USUALLY


def against_first(curves: Sequence[Curve], of: Contrasted) -> Iterator[tuple[Curve, Curve]]:
    """Yield each curve that differs in one thing, with the first of its group.

    A message one way is not held against the call that receives one.
    """
    for mine, _ in _groups(curves, of, min):
        first, *others = mine
        pattern, mode = known().get(first.cell.pattern), first.cell.mode
        yield from ((other, first) for other in others if sampled_alike(pattern, mode, other.cell.mode))


# ---- Pairs of curves -----------------------------------------------------------------------------


def _at(over: Curve, under: Curve, sizes: Iterable[int]) -> tuple[At, ...]:
    """Return the ratio of two curves at each size at which it has an interval."""
    ratios = ((size, over.over(under, size)) for size in sizes)
    return tuple(At(size, ratio, ratio.verdict) for size, ratio in ratios if ratio is not None)


def _groups(
    curves: Iterable[Curve], of: Differing, end: Callable[[Iterable[int]], int]
) -> Iterator[tuple[list[Curve], int]]:
    """Yield curves that differ in one thing, with one end of the sizes that they share."""
    for whole in group(curves, _MAY_DIFFER[of] | {"bytes", STATE}):
        for mine in each_state(whole):
            common = set.intersection(*(set(curve.times) for curve in mine))
            if len(mine) > 1 and common:
                yield mine, end(common)


# ---- Sentences about comparisons -----------------------------------------------------------------

USUALLY = "usual setting"
"""Of a variable that is left alone."""


def comparison(fact: Comparison, varied: Collection[str], chosen: Units = AUTOMATIC) -> Finding:
    """Return a comparison as a finding.

    Args:
        varied: Factors in which cells of its result differ.
    """
    match fact:
        case PlaceLatency():
            return finding("place-latency", fact, _latency(fact, varied, chosen))
        case Payoff():
            return finding("payoff", fact, _payoff_sentence(fact, varied))
        case RelativeCurve():
            return finding("contrast", fact, _contrast(fact, varied))


def _latency(fact: PlaceLatency, varied: Collection[str], chosen: Units) -> str:
    size = units.format_size(fact.ratios[0].bytes)
    nearest = (
        f"{size} takes {units.format_time(fact.time_s, chosen.time)} over {place_name(fact.nearest.cell)}"
    )
    others = [
        f"{times_words(at.ratio)} as long over {place_name(other)}"
        for other, at in zip(fact.others, fact.ratios, strict=True)
    ]
    return f"{subject(fact.nearest, varied, PLACE)}: {'; '.join([nearest, *others])}"


def _payoff_sentence(fact: Payoff, varied: Collection[str]) -> str:
    """Return how much longer the slow place takes, and from which size on that holds at every size."""
    fast, slow = place_name(fact.fast.cell), place_name(fact.slow)
    name = subject(fact.fast, varied, PLACE)
    if fact.from_bytes is None:
        return f"{name}: {fast} is not certainly faster than {slow} at the largest size"
    unclear = ", ".join(units.format_size(size) for size in fact.unclear)
    but = f" (at {unclear} too noisy to tell)" if unclear else ""
    parts = clauses(NamesOfTwo(slow, fast), fact.pieces, fact.fast.cell, fact.alone_bytes)
    told = as_many_as_fit(parts, partial(headed, name), in_a_line)[0]
    return f"{told}; {fast} is faster at every size from {units.format_size(fact.from_bytes)} on{but}"


def _contrast(fact: RelativeCurve, varied: Collection[str]) -> str:
    about = subject(fact.first, varied, _MAY_DIFFER[fact.of])
    parts = clauses(NamesOfTwo(*fact.names), fact.pieces, fact.first.cell, fact.alone_bytes)
    return as_many_as_fit(parts, partial(headed, about), in_a_line)[0]


# ---- Missing ratios ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RanksApart:
    """Ratios of two things that are missing, all of their sizes together.

    Attributes:
        between: In what the two differ: modes, libraries, or a message and the copy that it is measured by.
        other: A cell of the one.
        first: The same of the other.
        of: What was handed over.
        other_s: How long that took in the one, median of the sizes without a ratio.
        first_s: And in the other.
        missing: How many sizes have none for this reason.
        sizes: How many both have.
    """

    between: Literal["mode", "library", "baseline"]
    other: Cell
    first: Cell
    of: Distance
    other_s: float
    first_s: float
    missing: int
    sizes: int


class _Pair(NamedTuple):
    """Two cells of one size, and what keeps them from having a ratio."""

    other: Cell
    first: Cell
    why: DistanceMismatch | None


def modes_apart(curves: Sequence[Curve]) -> Iterator[RanksApart]:
    """Yield modes without ratios, by pattern, library and place."""
    pairs = _pairs(curves, "mode")
    yield from _folded("mode", pairs, lambda cell: (cell.pattern, cell.mode, cell.job))


def libraries_apart(curves: Sequence[Curve]) -> Iterator[RanksApart]:
    """Yield libraries without ratios, all patterns and places of a pair of them together."""
    yield from _folded(
        "library", _pairs(curves, "library"), lambda cell: (cell.mpi, cell.mpi_version, cell.label)
    )


def copies_apart(rows: Sequence[Row]) -> Iterator[RanksApart]:
    """Yield messages without their cost in copies, by pattern, mode, kind of copy and job."""
    found: list[_Pair] = []
    for mine, beside in by_state(rows):
        times = {row.cell: row for row in beside if row.time is not None}
        cells = {row.cell for row in mine}
        found += [
            _Pair(cell, stick, _apart(times[cell], times[stick]))
            for cell, stick in measured_in(times)
            if cell in cells
        ]
    yield from _folded("baseline", found, lambda cell: (cell.pattern, cell.mode, cell.job))


def _apart(over: Row, under: Row) -> DistanceMismatch | None:
    if over.time is None or under.time is None or NAMES[under.cell.pattern, under.cell.mode] in over.ratios:
        return None
    return apart(over.time, under.time, distances_apart(over, under))


def _pairs(curves: Sequence[Curve], of: Contrasted) -> Iterator[_Pair]:
    for other, first in against_first(curves, of):
        for size in sorted(other.times.keys() & first.times.keys()):
            yield _Pair(other.cell, first.cell, other.apart(first, size))


def _folded(
    between: Literal["mode", "library", "baseline"], pairs: Iterable[_Pair], key: Callable[[Cell], object]
) -> Iterator[RanksApart]:
    """Yield one fact for each pair of things that lacks ratios."""
    sizes: Counter[tuple[object, object]] = Counter()
    missing: dict[tuple[object, object, Distance], list[tuple[Cell, Cell, DistanceMismatch]]] = defaultdict(
        list
    )
    for other, first, why in pairs:
        sizes[key(other), key(first)] += 1
        if why is not None:
            missing[key(other), key(first), why.of].append((other, first, why))
    for (left, right, of), mine in missing.items():
        other, first, _ = mine[0]
        other_s, first_s = median(why.over_s for *_, why in mine), median(why.under_s for *_, why in mine)
        yield RanksApart(between, other, first, of, other_s, first_s, len(mine), sizes[left, right])


# ---- Sentences about missing ratios --------------------------------------------------------------


def ranks_apart_finding(fact: RanksApart) -> Finding:
    """Return a fact about missing ratios as a finding."""
    return finding("ranks-apart", fact, ranks_apart_line(fact))


def ranks_apart_line(fact: RanksApart) -> str:
    """Return a line: `no ratio of MPICH 4.2.3 and Open MPI 5.0.11: their ranks were 40.0 ns and ...`."""
    some = f" at {fact.missing} of {fact.sizes} sizes" if fact.missing < fact.sizes else ""
    return (
        f"no ratio of {_pair(fact)}{some}: {_distances(fact.other_s, fact.first_s)} ({HANDED_OVER[fact.of]})"
    )


def missing_ratios(found: Sequence[DistanceMismatch]) -> str:
    """Return the line of missing ratios for a figure; empty if none is missing."""
    if not found:
        return ""
    sizes = "1 size" if len(found) == 1 else f"{len(found)} sizes"
    return f"no ratio at {sizes}: {_distances(found[0].over_s, found[0].under_s)}"


def _pair(fact: RanksApart) -> str:
    match fact.between:
        case "library":
            return f"{_library(fact.other)} and {_library(fact.first)}"
        case "mode":
            of = f"{fact.first.pattern} {fact.other.mode} and {fact.first.mode}"
        case "baseline":
            of = f"{_operation_apart(fact.other)} and {_operation_apart(fact.first)}"
    return f"{of} ({fact.first.job.name})"


def _distances(one_s: float, other_s: float) -> str:
    return f"their ranks were {units.format_time(one_s)} and {units.format_time(other_s)} apart"


def _library(cell: Cell) -> str:
    return cell.library


def _operation_apart(cell: Cell) -> str:
    return f"{cell.pattern} {cell.mode}"
