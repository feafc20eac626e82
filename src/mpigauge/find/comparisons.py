"""Places, modes, libraries and settings of one result side by side: ratios paired by launch, with verdicts.

Only messages are compared, and only where the ratio has an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.compare.size_ratio import stretches
from mpigauge.find.answer import latency_bytes
from mpigauge.plan.factors import LIBRARY, PLACE
from mpigauge.rows.group import STATE, group
from mpigauge.rows.ratios import verdict_of
from mpigauge.vocabulary import Contrasted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.curves import Curve
    from mpigauge.compare.size_ratio import Stretch
    from mpigauge.plan.model import Cell
    from mpigauge.rows.ratios import Ratio
    from mpigauge.vocabulary import StateName, Verdict


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
        state: The state of the machine that all of it is of; None if that had one only.
    """

    nearest: Cell
    others: tuple[Cell, ...]
    time_s: float
    ratios: tuple[At, ...]
    state: StateName | None = None


@dataclass(frozen=True, slots=True)
class Payoff:
    """From which size on the fastest place pays, and how much.

    Attributes:
        fast: The cell in the place where the largest message is fastest.
        slow: The same in another place.
        from_bytes: The smallest size from which on `slow` is slower at every size; None if there is none.
        gains: How many times as long `slow` takes there and at the largest size; empty without a size.
        unclear: Larger sizes whose interval is too wide to tell, between neighbours that do.
        state: The state of the machine that all of it is of; None if that had one only.
    """

    fast: Cell
    slow: Cell
    from_bytes: int | None
    gains: tuple[At, ...]
    unclear: tuple[int, ...] = ()
    state: StateName | None = None


@dataclass(frozen=True, slots=True)
class RelativeCurve:
    """A mode, library or setting in units of the first, at all sizes that both have.

    Attributes:
        of: In what the two differ.
        runs: The sizes by verdict.
        state: The state of the machine that all of it is of; None if that had one only.
    """

    of: Contrasted
    other: Cell
    first: Cell
    runs: tuple[Stretch, ...]
    state: StateName | None = None


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
            yield PlaceLatency(nearest.cell, cells, nearest.times[size].estimate, ratios, _state(mine))


def payoffs_of_places(curves: Sequence[Curve]) -> Iterator[Payoff]:
    """From which size on the fastest place pays against each other one, and how much."""
    for mine, largest in _groups(curves, "place", max):
        fastest, *others = sorted(mine, key=lambda curve: curve.times[largest].estimate)
        for other in others:
            yield from _payoff(other, fastest)


def _payoff(slow: Curve, fast: Curve) -> Iterator[Payoff]:
    """One; nothing if no ratio of the two has an interval."""
    sizes = sorted(slow.times.keys() & fast.times.keys())
    ratios = [slow.over(fast, size) for size in sizes]
    if any(ratios):
        begin = pays_from(sizes, ratios)
        ends = () if begin is None else dict.fromkeys((begin, sizes[-1]))
        unclear = tuple(size for size in _unclear(sizes, ratios) if begin is not None and size > begin)
        yield Payoff(fast.cell, slow.cell, begin, _at(slow, fast, ends), unclear, _state((slow, fast)))


def pays_from(sizes: Sequence[int], ratios: Sequence[Ratio | None]) -> int | None:
    """The smallest size from which on the slow one of two is slower at every size.

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
    """Sizes that are perhaps slower, less certain by far than both their neighbours, which are slower."""
    for place in range(1, len(sizes) - 1):
        before, here, after = ratios[place - 1 : place + 2]
        if here is None or here.estimate <= 1 or not verdict_of(before) == verdict_of(after) == "slower":
            continue
        around = (_width(before) + _width(after)) / 2
        if verdict_of(here) != "slower" and _width(here) > _MUCH_WIDER * around:
            yield sizes[place]


def _width(ratio: Ratio | None) -> float:
    """Of the interval of its logarithm; infinite if there is none."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return math.inf
    return math.log(ratio.high / ratio.low)


# ---- Modes, libraries and settings ----------------------------------------------------------------


def modes(curves: Sequence[Curve]) -> Iterator[RelativeCurve]:
    """Each mode in units of the first."""
    yield from _contrasts(curves, "mode")


def libraries(curves: Sequence[Curve]) -> Iterator[RelativeCurve]:
    """Each library in units of the first."""
    yield from _contrasts(curves, "library")


def settings(curves: Sequence[Curve]) -> Iterator[RelativeCurve]:
    """Each value of a variable that was varied in units of the first."""
    yield from _contrasts(curves, "setting")


def _contrasts(curves: Sequence[Curve], of: Contrasted) -> Iterator[RelativeCurve]:
    for other, first, state in against_first(curves, of):
        if points := other.besides(first):
            yield RelativeCurve(of, other.cell, first.cell, stretches(points), state)


def against_first(curves: Sequence[Curve], of: Contrasted) -> Iterator[tuple[Curve, Curve, StateName | None]]:
    """Each curve that differs in this, with the first that it is compared with, and their state."""
    for mine, _ in _groups(curves, of, min):
        first, *others = mine
        yield from ((other, first, _state(mine)) for other in others)


# ---- Pairs of curves -----------------------------------------------------------------------------


def _at(over: Curve, under: Curve, sizes: Iterable[int]) -> tuple[At, ...]:
    """Their ratio at each size at which it has an interval."""
    ratios = ((size, over.over(under, size)) for size in sizes)
    return tuple(At(size, ratio, ratio.verdict) for size, ratio in ratios if ratio is not None)


def _state(curves: Iterable[Curve]) -> StateName | None:
    """The state that curves are of; of some it is not known."""
    return next((curve.state for curve in curves if curve.state), None)


def _groups(
    curves: Iterable[Curve], of: Differing, end: Callable[[Iterable[int]], int]
) -> Iterator[tuple[list[Curve], int]]:
    """Curves that differ in one thing, with one end of the sizes that they share."""
    for whole in group(curves, _MAY_DIFFER[of] | {"bytes", STATE}):
        for mine in _in_each_state(whole):
            common = set.intersection(*(set(curve.times) for curve in mine))
            if len(mine) > 1 and common:
                yield mine, end(common)


def _in_each_state(curves: Sequence[Curve]) -> Iterator[list[Curve]]:
    """Curves of one state, with those of which it is not known; all of them if it is of none."""
    for state in dict.fromkeys(curve.state for curve in curves if curve.state) or (None,):
        yield [curve for curve in curves if curve.state in (state, None)]
