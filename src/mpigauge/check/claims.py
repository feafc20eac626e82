"""Whether conclusions of a report hold: of its own printed numbers, and of what was measured here.

A printed number has no interval, so it decides by itself. Of what was measured the interval decides, never
the number: a claim holds, fails, or that is not known. What was not measured is not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.check.claim_file import FILE, TITLE, Claim, Sides, values
from mpigauge.plan.factors import LIBRARY, OF_PATTERN, OPERATION, SIZE
from mpigauge.plan.sizes import size_filter
from mpigauge.rows.group import STATE, in_one_state, row_key
from mpigauge.rows.machine.conditions import in_like_conditions
from mpigauge.rows.ratios import difference, ratio_of
from mpigauge.rows.same_distance import ANYWHERE, distances_apart
from mpigauge.rows.samples import cpu_share, seconds_of, visits_by_launch
from mpigauge.sequences import group_by
from mpigauge.stats.interval import Number, interval_of
from mpigauge.vocabulary import SAME_HOST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from mpigauge.check.claim_file import Bound, Chosen
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Visit
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.group import Key
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import (
        ClaimGap,
        ClaimKind,
        ClaimQuantity,
        ClaimVerdict,
        ExpectationVerdict,
        Quantifier,
    )


@dataclass(frozen=True, slots=True)
class Amount(Number):
    """Number of a cell, in seconds, bytes per second, or without unit.

    Attributes:
        by_launch: Value of each launch, by its number; empty for imported numbers.
        step: Clock step over the number.
        in_parts: Launches that were interrupted and started again.
    """

    by_launch: Mapping[int, float] = field(default_factory=dict)
    step: float = 0.0
    in_parts: frozenset[int] = frozenset()


def time_of(row: Row) -> Amount | None:
    """Return the time of one operation, in seconds."""
    time = row.time
    if time is None:
        return None
    return Amount(*time.ends, len(time.by_launch), time.by_launch, time.step, time.in_parts)


def rate_of(row: Row) -> Amount | None:
    """Return the bytes moved in all directions over the time, in bytes per second."""
    return _rate(row.time, row.rate_bytes_per_s)


def bus_rate_of(row: Row) -> Amount | None:
    """Return the bus bandwidth, in bytes per second."""
    return _rate(row.time, row.bus_bytes_per_s)


def _rate(time: Timing | None, rate: float | None) -> Amount | None:
    if time is None or not rate:
        return None
    moved = rate * time.estimate
    low, high = (moved / end if end else None for end in (time.high, time.low))
    launches = {launch: moved / one for launch, one in time.by_launch.items() if one > 0}
    return Amount(rate, low, high, len(launches), launches, time.step, time.in_parts)


def spread_of(row: Row) -> Amount | None:
    """Return the standard deviation of single operations over their mean; None if samples are batched."""
    time = row.time
    if time is None:
        return None
    if row.imported:
        return Amount(time.stddev / time.estimate) if time.stddev is not None else None
    if row.batch > 1:
        return None
    return _across({number: _spread(mine) for number, mine in visits_by_launch(row.visits).items()})


def _spread(visits: Sequence[Visit]) -> float | None:
    samples = np.concatenate([seconds_of(visit) for visit in visits])
    if samples.size < 2 or samples.mean() <= 0:  # noqa: PLR2004 - one has no deviation
        return None
    return float(samples.std(ddof=1) / samples.mean())


def first_of(row: Row) -> Amount | None:
    """Return the first round of a launch over the typical one."""
    time = row.time
    if time is None:
        return None
    firsts = {visit.launch: visit.first_s for visit in row.visits if visit.first_s > 0}
    known = time.by_launch
    return _across({launch: first / known[launch] for launch, first in firsts.items() if known.get(launch)})


def cpu_of(row: Row, pattern: Pattern | None) -> Amount | None:
    """Return the CPU time over wall time of all ranks, at most 1."""
    launches = visits_by_launch(row.visits).items()
    found = _across({number: cpu_share(row.cell, pattern, mine) for number, mine in launches})
    return found if found is None or found.high is None else replace(found, high=min(1.0, found.high))


def _across(launches: Mapping[int, float | None]) -> Amount | None:
    """Return a number per launch with its interval."""
    known = {number: value for number, value in launches.items() if value is not None}
    if not known:
        return None
    found = interval_of(np.array(list(known.values())))
    return Amount(*found.ends, found.launches, known)


QUANTITIES: Mapping[ClaimQuantity, Callable[[Row, Pattern | None], Amount | None]] = {
    "time": lambda row, _: time_of(row),
    "latency": lambda row, _: time_of(row),
    "bandwidth": lambda row, _: rate_of(row),
    "busbw": lambda row, _: bus_rate_of(row),
    "size": lambda row, _: rate_of(row),
    "spread": lambda row, _: spread_of(row),
    "first": lambda row, _: first_of(row),
    "cpu": cpu_of,
}
"""Function of each quantity; `size` asks which size has the best rate."""

# ---- Cells ---------------------------------------------------------------------------------------

_BYTES = "bytes"
_MAY_DIFFER_TOO = {"mpi": LIBRARY, "pattern": OF_PATTERN, "op": OPERATION}
"""Factors that may differ where another does: two libraries have two versions."""


@dataclass(frozen=True, slots=True, eq=False)
class ClaimSource:
    """Result, or printed table, against which claims are checked.

    Attributes:
        file: Name without ending.
        title: Title of its plan, or of the printed table.
        patterns: Patterns by name.
        in_lab: Whether its hosts are emulated.
    """

    file: str
    rows: Sequence[Row]
    patterns: Mapping[str, Pattern] = field(default_factory=dict)
    in_lab: bool = False
    title: str = ""


class SourceRow(NamedTuple):
    """Row and the result or table that it is from."""

    material: ClaimSource
    row: Row

    @property
    def emulated(self) -> bool:
        """Return whether its messages crossed a network that a plan has emulated."""
        return self.material.in_lab and self.row.cell.placement != SAME_HOST


Pair = tuple[SourceRow, SourceRow]


def chosen_rows(found: Iterable[ClaimSource], *selections: Chosen) -> Iterator[SourceRow]:
    """Yield the rows whose cells match all selections."""
    for material in found:
        for row in material.rows:
            if all(_matches(material, row, selection) for selection in selections):
                yield SourceRow(material, row)


def _matches(material: ClaimSource, row: Row, selection: Chosen) -> bool:
    for name, wants in selection.items():
        if name in (FILE, TITLE):
            if (material.file if name == FILE else material.title) not in values(wants):
                return False
        elif name == _BYTES:
            if row.sized and not size_filter(str(wants))(row.cell.bytes):
                return False
        elif getattr(row.cell, name) not in values(wants):
            return False
    return True


def pairs(found: Sequence[ClaimSource], sides: Sides) -> Iterator[Pair]:
    """Yield pairs of cells, over and under, that differ only in what distinguishes the sides."""
    free = free_factors(sides)
    others = group_by(chosen_rows(found, sides.cells, sides.under), lambda one: key_of(one, free))
    for one in chosen_rows(found, sides.cells, sides.over):
        yield from ((one, other) for other in others.get(key_of(one, free), ()) if in_same_state(one, other))


def in_same_state(one: SourceRow, other: SourceRow) -> bool:
    """Return whether both were measured in the same state of the machine, if either has one."""
    return in_one_state([one.row, other.row])


def free_factors(sides: Sides) -> frozenset[str]:
    """Return the factors in which the two sides may differ."""
    named = {*sides.over, *sides.under}
    free = named.union(*(_MAY_DIFFER_TOO.get(name, ()) for name in named))
    if "placement" in free:
        # States of ranks on two hosts are of the way between them, and mostly there are none.
        free |= {STATE}
    return frozenset(free)


def key_of(one: SourceRow, free: Collection[str]) -> Key:
    """Return all factors of a row but these; rows of other results match only if the file is among them."""
    return (None if FILE in free else id(one.material), *row_key(one.row, free))


def curves(found: Iterable[SourceRow], along: str = _BYTES) -> list[list[SourceRow]]:
    """Return groups of rows that differ in one factor, sorted by it; windows may differ, too."""
    groups = group_by(found, lambda one: key_of(one, {along, "window"}))
    return [sorted(mine, key=lambda one: getattr(one.row.cell, along)) for mine in groups.values()]


# ---- Numbers -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ClaimNumber:
    """Number that a claim is about.

    Attributes:
        of: Row of the cell; for a curve, of the size that the number belongs to.
        against: Row that it was compared with; None if none.
        estimate: Estimate in the unit of the claim's bound; inf is a size beyond all measured ones.
        low: Lower end of its 95 % interval; None if it has none.
        high: Upper end of that interval.
        launches: Number of launches; 0 for printed numbers.
        verdict: Verdict on the number.
    """

    of: SourceRow
    against: SourceRow | None
    estimate: float
    low: float | None = None
    high: float | None = None
    launches: int = 0
    verdict: ExpectationVerdict = "undecided"

    @property
    def row(self) -> Row:
        """Row of its cell."""
        return self.of.row

    @property
    def emulated(self) -> bool:
        """Return whether its messages crossed a network that a plan has emulated."""
        return any(one.emulated for one in self._both)

    @property
    def oversubscribed(self) -> bool:
        """Return whether there were more ranks than cores, so that times include the scheduler's."""
        return any(one.row.oversubscribed for one in self._both)

    @property
    def imported(self) -> bool:
        """Return whether another program has measured it."""
        return any(one.row.imported for one in self._both)

    @property
    def _both(self) -> tuple[SourceRow, ...]:
        return (self.of,) if self.against is None else (self.of, self.against)


def verdict_of(number: ClaimNumber, bound: Bound, *, exact: bool) -> ExpectationVerdict:
    """Return whether a number is within a bound; undecided if an end lies in its interval.

    Args:
        exact: Whether it is a printed number, which has no interval and decides by itself.
    """
    low, high = (number.estimate, number.estimate) if exact else (number.low, number.high)
    if low is None or high is None or math.isnan(number.estimate):
        return "undecided"
    if bound.allows(low) and bound.allows(high):
        return "holds"
    return "fails" if bound.excludes(low, high) else "undecided"


# ---- Numbers of two cells ------------------------------------------------------------------------


def _amount(of: SourceRow, quantity: ClaimQuantity) -> Amount | None:
    return QUANTITIES[quantity](of.row, of.material.patterns.get(of.row.cell.pattern))


def _divided(pair: Pair, quantity: ClaimQuantity) -> ClaimNumber | None:
    """Return the quantity of one cell over that of the other: launch by launch if both are of one result."""
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


def _places(over: SourceRow, under: SourceRow) -> tuple[Distances, Distances]:
    """Return the distances of the ranks of both, unless distances are what is compared."""
    same = all(
        getattr(over.row.cell, name) == getattr(under.row.cell, name)
        for name in ("transport", "placement", "ranks")
    )
    alike = same and over.material is under.material
    return distances_apart(over.row, under.row) if alike else ANYWHERE


def _ratios(claim: Claim, sides: Sides, found: Sequence[ClaimSource], exact: bool) -> Iterator[ClaimNumber]:
    del exact
    yield from _known(_divided(pair, claim.quantity) for pair in pairs(found, sides))


def _grows(claim: Claim, sides: Sides, found: Sequence[ClaimSource], exact: bool) -> Iterator[ClaimNumber]:
    """Yield each step along sizes or ranks, over the one before."""
    del exact
    along = claim.along or "bytes"
    for curve in curves((one for one in chosen_rows(found, sides.cells) if one.row.time), along):
        yield from _known(_divided((later, one), claim.quantity) for one, later in pairwise(curve))


def _known(numbers: Iterable[ClaimNumber | None]) -> Iterator[ClaimNumber]:
    yield from (number for number in numbers if number is not None)


def _differences(
    claim: Claim, sides: Sides, found: Sequence[ClaimSource], exact: bool
) -> Iterator[ClaimNumber]:
    """Yield differences in seconds; between two results without interval, since no launch has both."""
    del claim, exact
    for over, under in pairs(found, sides):
        first, other = over.row.time, under.row.time
        if first is None or other is None:
            continue
        held = difference(first, other) if over.material is under.material else None
        launches = len(first.by_launch.keys() & other.by_launch.keys())
        yield ClaimNumber(over, under, *(held or Number(first.estimate - other.estimate)).ends, launches)


# ---- Numbers of one cell, and of curves ----------------------------------------------------------


def _values(claim: Claim, sides: Sides, found: Sequence[ClaimSource], exact: bool) -> Iterator[ClaimNumber]:
    del exact
    for one in chosen_rows(found, sides.cells):
        if amount := _amount(one, claim.quantity):
            yield _plain(one, amount)


def _plain(one: SourceRow, amount: Amount) -> ClaimNumber:
    return ClaimNumber(one, None, amount.estimate, amount.low, amount.high, amount.launches)


def _from(claim: Claim, sides: Sides, found: Sequence[ClaimSource], exact: bool) -> Iterator[ClaimNumber]:
    """Yield the smallest measured size from which on a ratio keeps a limit, with an interval."""
    free = (free_factors(sides) | SIZE) - {STATE}

    def curve(number: ClaimNumber) -> Key:
        return key_of(number.of, free), number.against and key_of(number.against, free)

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
    """Return the smallest size from which on a condition holds; infinite if it fails at the largest."""
    found = math.inf
    for size in sorted(sizes, reverse=True):
        if not holds(size):
            break
        found = size
    return found


def _peaks(claim: Claim, sides: Sides, found: Sequence[ClaimSource], exact: bool) -> Iterator[ClaimNumber]:
    """Yield the best rate of every curve, its size, or its ratio to the best of another."""
    if not sides.two:
        for curve in curves(chosen_rows(found, sides.cells)):
            yield from _peak(curve, claim.quantity, exact=exact)
        return
    free = free_factors(sides) | SIZE
    bests = [_bests(claim, chosen_rows(found, sides.cells, side)) for side in (sides.over, sides.under)]
    for one in bests[0]:
        alike = (other for other in bests[1] if key_of(one, free) == key_of(other, free))
        others = (other for other in alike if in_same_state(one, other))
        yield from _known(_divided((one, other), claim.quantity) for other in others)


def _bests(claim: Claim, found: Iterable[SourceRow]) -> list[SourceRow]:
    return [best for curve in curves(found) if (best := _best(curve, claim.quantity)) is not None]


def _best(curve: Iterable[SourceRow], quantity: ClaimQuantity) -> SourceRow | None:
    known = [(amount.estimate, one) for one in curve if (amount := _amount(one, quantity)) is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def _peak(curve: Sequence[SourceRow], quantity: ClaimQuantity, *, exact: bool) -> Iterator[ClaimNumber]:
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


def _sizes_as_good(curve: Sequence[SourceRow], best: Amount) -> tuple[float | None, float | None]:
    """Return the range of sizes with the best rate; infinite if the largest one may be best."""
    if best.low is None:
        return None, None
    known = [(one.row.cell.bytes, _amount(one, "size")) for one in curve]
    sizes = [size for size, rate in known if rate and rate.high is not None and rate.high >= best.low]
    largest = max(size for size, rate in known if rate is not None)
    return min(sizes), math.inf if max(sizes) == largest else max(sizes)


def _limits(claim: Claim, sides: Sides, found: Sequence[ClaimSource], exact: bool) -> Iterator[ClaimNumber]:
    """Yield the eager limit as probed, else the range of sizes in which messages begin to block."""
    del claim
    for curve in curves(chosen_rows(found, sides.cells)):
        probed = [one for one in curve if one.row.limit_bytes is not None]
        for one in probed:
            size = float(one.row.limit_bytes or 0)
            yield ClaimNumber(one, None, size, size, size)
        if not probed and (timed := [one for one in curve if one.row.time is not None]):
            largest = timed[-1].row.cell.bytes
            blocked = [one.row.cell.bytes for one in curve if one.row.status == "blocked"]
            high = largest if exact else min(blocked, default=math.inf)
            yield ClaimNumber(timed[-1], None, largest, largest, high)


Numbers = Callable[[Claim, Sides, Sequence[ClaimSource], bool], Iterator[ClaimNumber]]

KINDS: Mapping[ClaimKind, Numbers] = {
    "value": _values,
    "ratio": _ratios,
    "difference": _differences,
    "grows": _grows,
    "from": _from,
    "peak": _peaks,
    "limit": _limits,
}
"""Functions that find the numbers of each kind."""


# ---- Verdicts ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ClaimResult:
    """Numbers of a claim in some tables or results, and their verdict.

    Attributes:
        numbers: Numbers that the claim is about.
        verdict: Verdict on all of them; None if there are none that count.
        gap: Reason why there is none.
    """

    numbers: tuple[ClaimNumber, ...]
    verdict: ExpectationVerdict | None = None
    gap: ClaimGap | None = None

    def count(self, verdict: ExpectationVerdict) -> int:
        """Return how many numbers have this verdict."""
        return sum(number.verdict == verdict for number in self.numbers)


_VERDICTS: Mapping[ExpectationVerdict, ClaimVerdict] = {
    "holds": "confirmed",
    "fails": "refuted",
    "undecided": "undecided",
}
_GAPS: Mapping[ClaimGap, ClaimVerdict] = {
    "untestable": "untestable",
    "planted": "untestable",
    "unmeasured": "untested",
}


@dataclass(frozen=True, slots=True, eq=False)
class CheckedClaim:
    """Claim with both results.

    Attributes:
        printed: Result for the report's own tables.
        here: Result for measurements here.
    """

    claim: Claim
    printed: ClaimResult
    here: ClaimResult

    @property
    def verdict(self) -> ClaimVerdict:
        """Verdict by what was measured here."""
        if self.here.verdict is not None:
            return _VERDICTS[self.here.verdict]
        return _GAPS[self.here.gap or "unmeasured"]


def check_claim(claim: Claim, printed: Sequence[ClaimSource], here: Sequence[ClaimSource]) -> CheckedClaim:
    """Return a claim, checked against the tables of its report and against results."""
    return CheckedClaim(claim, _result(claim, claim.printed, printed, exact=True), _here(claim, here))


def _here(claim: Claim, found: Sequence[ClaimSource]) -> ClaimResult:
    if claim.untestable:
        return ClaimResult((), gap="untestable")
    held = _result(claim, claim.here, found, exact=False)
    real = tuple(number for number in held.numbers if not number.emulated)
    if not claim.planted or len(real) == len(held.numbers):
        return held
    if not real:
        return replace(held, verdict=None, gap="planted")
    return ClaimResult(real, _verdict_of_all(claim.quantifier, real))


def _result(claim: Claim, sides: Sides, found: Sequence[ClaimSource], *, exact: bool) -> ClaimResult:
    if claim.kind is None or claim.bound is None or not sides.chosen:
        return ClaimResult((), gap="unmeasured")
    bare = KINDS[claim.kind](claim, sides, found, exact)
    numbers = tuple(replace(one, verdict=verdict_of(one, claim.bound, exact=exact)) for one in bare)
    if not numbers:
        return ClaimResult((), gap="unmeasured")
    return ClaimResult(numbers, _verdict_of_all(claim.quantifier, numbers))


def _verdict_of_all(quantifier: Quantifier, numbers: Sequence[ClaimNumber]) -> ExpectationVerdict:
    """Return the verdict on all, most or any numbers, valid however undecided ones turn out."""
    holds = sum(number.verdict == "holds" for number in numbers)
    fails = sum(number.verdict == "fails" for number in numbers)
    count = len(numbers)
    needed = {"all": count, "most": count // 2 + 1, "any": 1}[quantifier]
    if holds >= needed:
        return "holds"
    return "fails" if count - fails < needed else "undecided"
