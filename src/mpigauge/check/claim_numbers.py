"""The numbers that a claim is about, one by one: each cell, pair of cells or curve that it chooses.

To add a kind of claim: a word of `vocabulary.ClaimKind`, a row in KINDS that yields its numbers, what it
needs in `plan.claim_file`, and its line in docs/formats.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.check.amounts import QUANTITIES, Amount
from mpigauge.check.claim_cells import (
    Found,
    Material,
    chosen,
    curves,
    free_factors,
    in_one_state,
    key_of,
    pairs,
)
from mpigauge.check.claim_kinds import Claim, Sides
from mpigauge.plan.factors import SIZE
from mpigauge.rows.machine.conditions import distances_of, in_like_conditions
from mpigauge.rows.ratios import difference, ratio_of
from mpigauge.rows.same_distance import ANYWHERE
from mpigauge.sequences import group_by
from mpigauge.stats.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.check.bounds import Bound
    from mpigauge.check.claim_cells import Pair
    from mpigauge.rows.group import Key
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import ClaimKind, ClaimQuantity, ExpectationVerdict


@dataclass(frozen=True, slots=True, eq=False)
class ClaimNumber:
    """One number that a claim is about.

    Attributes:
        of: The cell; of a curve, the one that its number belongs to.
        against: What it was held against; None if nothing.
        estimate: In the unit of the claim's bound; inf is a size that no measured one reaches.
        low: Lower end of its 95 % interval; None if it has none.
        high: Its upper end.
        launches: How many it is of; 0 of what is printed.
        verdict: Whether it is as the claim says.
    """

    of: Found
    against: Found | None
    estimate: float
    low: float | None = None
    high: float | None = None
    launches: int = 0
    verdict: ExpectationVerdict = "undecided"

    @property
    def row(self) -> Row:
        """Of its cell."""
        return self.of.row

    @property
    def emulated(self) -> bool:
        """Whether it is of a way that the plan of a lab has made."""
        return any(one.emulated for one in self._both)

    @property
    def oversubscribed(self) -> bool:
        """More ranks than cores: times of the scheduler."""
        return any(one.row.oversubscribed for one in self._both)

    @property
    def imported(self) -> bool:
        """Whether others have measured it."""
        return any(one.row.imported for one in self._both)

    @property
    def _both(self) -> tuple[Found, ...]:
        return (self.of,) if self.against is None else (self.of, self.against)


def verdict_of(number: ClaimNumber, bound: Bound, *, exact: bool) -> ExpectationVerdict:
    """Whether a number is within a bound: undecided without an interval, or if an end of it lies in that.

    Args:
        exact: A printed number: it has no interval and decides by itself.
    """
    low, high = (number.estimate, number.estimate) if exact else (number.low, number.high)
    if low is None or high is None or math.isnan(number.estimate):
        return "undecided"
    if bound.allows(low) and bound.allows(high):
        return "holds"
    return "fails" if bound.excludes(low, high) else "undecided"


# ---- Numbers of two cells ------------------------------------------------------------------------


def _amount(of: Found, quantity: ClaimQuantity) -> Amount | None:
    return QUANTITIES[quantity](of.row, of.material.patterns.get(of.row.cell.pattern))


def _divided(pair: Pair, quantity: ClaimQuantity) -> ClaimNumber | None:
    """What one cell has over what the other has: launch by launch, if both are of one result."""
    over, under = pair
    first, other = _amount(over, quantity), _amount(under, quantity)
    if first is None or other is None or not other.estimate > 0:
        return None
    if not first.by_launch or not other.by_launch:
        return ClaimNumber(over, under, first.estimate / other.estimate)
    ratio = ratio_of(
        *in_like_conditions(first.by_launch, other.by_launch, *_places(over, under)),
        paired=over.material is under.material,
        clock_step=math.hypot(first.step, other.step),
        apart=first.in_parts | other.in_parts,
    )
    if ratio is None:
        return None
    return ClaimNumber(over, under, ratio.estimate, ratio.low, ratio.high, ratio.launches)


def _places(over: Found, under: Found) -> tuple[Distances, Distances]:
    """How far apart the ranks of both were, unless that is what is compared."""
    same = all(
        getattr(over.row.cell, name) == getattr(under.row.cell, name)
        for name in ("transport", "placement", "ranks")
    )
    alike = same and over.material is under.material
    return (distances_of(over.row.visits), distances_of(under.row.visits)) if alike else ANYWHERE


def _ratios(claim: Claim, sides: Sides, found: Sequence[Material], exact: bool) -> Iterator[ClaimNumber]:
    del exact
    yield from _known(_divided(pair, claim.quantity) for pair in pairs(found, sides))


def _grows(claim: Claim, sides: Sides, found: Sequence[Material], exact: bool) -> Iterator[ClaimNumber]:
    """Each step along sizes or ranks, over the one before."""
    del exact
    along = claim.along or "bytes"
    for curve in curves((one for one in chosen(found, sides.cells) if one.row.time), along):
        yield from _known(_divided((later, one), claim.quantity) for one, later in pairwise(curve))


def _known(numbers: Iterable[ClaimNumber | None]) -> Iterator[ClaimNumber]:
    yield from (number for number in numbers if number is not None)


def _differences(claim: Claim, sides: Sides, found: Sequence[Material], exact: bool) -> Iterator[ClaimNumber]:
    """In seconds; between two results there is no interval, since no launch has both."""
    del claim, exact
    for over, under in pairs(found, sides):
        first, other = over.row.time, under.row.time
        if first is None or other is None:
            continue
        held = difference(first, other) if over.material is under.material else None
        launches = len(first.by_launch.keys() & other.by_launch.keys())
        yield ClaimNumber(over, under, *(held or Interval(first.estimate - other.estimate)), launches)


# ---- Numbers of one cell, and of curves ----------------------------------------------------------


def _values(claim: Claim, sides: Sides, found: Sequence[Material], exact: bool) -> Iterator[ClaimNumber]:
    del exact
    for one in chosen(found, sides.cells):
        if amount := _amount(one, claim.quantity):
            yield _plain(one, amount)


def _plain(one: Found, amount: Amount) -> ClaimNumber:
    return ClaimNumber(one, None, amount.estimate, amount.low, amount.high, amount.launches)


def _from(claim: Claim, sides: Sides, found: Sequence[Material], exact: bool) -> Iterator[ClaimNumber]:
    """The smallest measured size from which on a ratio keeps a limit: perhaps, and for certain."""
    free = free_factors(sides) | SIZE

    def curve(number: ClaimNumber) -> Key:
        return key_of(number.of, free), number.of.row.state, number.against and number.against.row.state

    ratios = (number for number in _ratios(claim, sides, found, exact) if number.row.cell.bytes > 0)
    for mine in group_by(ratios, curve).values():
        yield _kept_from(sorted(mine, key=lambda one: one.row.cell.bytes), claim.limit, exact=exact)


def _kept_from(curve: Sequence[ClaimNumber], limit: Bound | None, *, exact: bool) -> ClaimNumber:
    assert limit is not None  # noqa: S101 - the parser has seen to it
    verdicts = {one.row.cell.bytes: verdict_of(one, limit, exact=exact) for one in curve}
    kept = {one.row.cell.bytes: limit.allows(one.estimate) for one in curve}
    number = replace(curve[0], launches=min(one.launches for one in curve))
    return replace(
        number,
        estimate=_onwards(verdicts, lambda size: kept[size]),
        low=_onwards(verdicts, lambda size: verdicts[size] != "fails"),
        high=_onwards(verdicts, lambda size: verdicts[size] == "holds"),
    )


def _onwards(sizes: Iterable[int], holds: Callable[[int], bool]) -> float:
    """The smallest size from which on it holds at every one; inf if it does not at the largest."""
    found = math.inf
    for size in sorted(sizes, reverse=True):
        if not holds(size):
            break
        found = size
    return found


def _peaks(claim: Claim, sides: Sides, found: Sequence[Material], exact: bool) -> Iterator[ClaimNumber]:
    """The best rate of every curve, its size, or how it compares with the best of another."""
    if not sides.two:
        for curve in curves(chosen(found, sides.cells)):
            yield from _peak(curve, claim.quantity, exact=exact)
        return
    free = free_factors(sides) | SIZE
    bests = [_bests(claim, chosen(found, sides.cells, side)) for side in (sides.over, sides.under)]
    for one in bests[0]:
        alike = (other for other in bests[1] if key_of(one, free) == key_of(other, free))
        others = (other for other in alike if in_one_state(one, other))
        yield from _known(_divided((one, other), claim.quantity) for other in others)


def _bests(claim: Claim, found: Iterable[Found]) -> list[Found]:
    return [best for curve in curves(found) if (best := _best(curve, claim.quantity)) is not None]


def _best(curve: Iterable[Found], quantity: ClaimQuantity) -> Found | None:
    known = [(amount.estimate, one) for one in curve if (amount := _amount(one, quantity)) is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def _peak(curve: Sequence[Found], quantity: ClaimQuantity, *, exact: bool) -> Iterator[ClaimNumber]:
    best = _best(curve, quantity)
    amount = _amount(best, quantity) if best is not None else None
    if best is None or amount is None:
        return
    if quantity != "size":
        yield _plain(best, amount)
        return
    size = best.row.cell.bytes
    low, high = (size, size) if exact else _sizes_as_good(curve, amount)
    yield ClaimNumber(best, None, size, low, high, amount.launches)


def _sizes_as_good(curve: Sequence[Found], best: Amount) -> tuple[float | None, float | None]:
    """Between which sizes the best one is: beyond the largest, if that may be the best of those measured."""
    if best.low is None:
        return None, None
    known = [(one.row.cell.bytes, _amount(one, "size")) for one in curve]
    sizes = [size for size, rate in known if rate and rate.high is not None and rate.high >= best.low]
    largest = max(size for size, rate in known if rate is not None)
    return min(sizes), math.inf if max(sizes) == largest else max(sizes)


def _limits(claim: Claim, sides: Sides, found: Sequence[Material], exact: bool) -> Iterator[ClaimNumber]:
    """The eager limit where it was probed, else between which sizes messages begin to block."""
    del claim
    for curve in curves(chosen(found, sides.cells)):
        probed = [one for one in curve if one.row.limit_bytes is not None]
        for one in probed:
            size = float(one.row.limit_bytes or 0)
            yield ClaimNumber(one, None, size, size, size)
        if not probed and (timed := [one for one in curve if one.row.time is not None]):
            largest = timed[-1].row.cell.bytes
            blocked = [one.row.cell.bytes for one in curve if one.row.status == "blocked"]
            high = largest if exact else min(blocked, default=math.inf)
            yield ClaimNumber(timed[-1], None, largest, largest, high)


Numbers = Callable[[Claim, Sides, Sequence[Material], bool], Iterator[ClaimNumber]]

KINDS: Mapping[ClaimKind, Numbers] = {
    "value": _values,
    "ratio": _ratios,
    "difference": _differences,
    "grows": _grows,
    "from": _from,
    "peak": _peaks,
    "limit": _limits,
}
"""How the numbers of each are found; their verdicts come after."""
