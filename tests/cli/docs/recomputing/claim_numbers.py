"""The numbers of a claim: which cells it is about, and what they have over each other."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.cli.docs.recomputing.curves import MEMORY
from tests.cli.docs.recomputing.ledger import size_of
from tests.cli.docs.recomputing.reading import CELL, RATES, SIZES, TIMES
from tests.cli.docs.recomputing.sentences import firsts_of, job_of_limit, limits_of
from tests.cli.docs.recomputing.statistics_of import Interval, over_launches, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.cli.docs.recomputing.reading import Row

BOUND = re.compile(r"^(>=|<=|>|<) *([\d.]+) *(\S*)$|^([\d.]+) *(\S*) *\.\. *([\d.]+) *(\S*)$")
SCALES = {**RATES, **TIMES, **SIZES, "%": 0.01, "": 1.0}
GOES_WITH = {
    "mpi": ("mpi_version", "label"),
    "pattern": ("mode", "window", "sync", "datatype", "op", "root", "in_place"),
}


class Of(NamedTuple):
    """A row, and what it is chosen by besides its factors."""

    file: str
    title: str
    row: Row


class Number(NamedTuple):
    """One number of a claim."""

    own: Interval
    row: Row


# ---- Bounds --------------------------------------------------------------------------------------


def holds_of(claim: Mapping[str, Any], own: Interval, *, exact: bool) -> str:
    """Whether the whole interval is within the bound."""
    low, high = (own.estimate, own.estimate) if exact else (own.low, own.high)
    if low is None or high is None:
        return "undecided"
    allows = _bound(claim.get("bound", "> 1"))
    inside = [allows(low), allows(high)]
    if all(one == 0 for one in inside):
        return "holds"
    return "fails" if inside[0] == inside[1] else "undecided"


def _bound(text: str) -> Any:
    """On which side of a bound a number is: 0 within."""
    match = BOUND.match(text)
    if match is None:
        raise ValueError(text)
    if match[1]:
        limit = float(match[2]) * SCALES[match[3]]
        compare = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}[match[1]]
        return lambda value: 0 if compare(float(value), limit) else 1
    low, high = float(match[4]) * SCALES[match[5]], float(match[6]) * SCALES[match[7]]
    return lambda value: -1 if value < low else 1 if value > high else 0


# ---- Numbers -------------------------------------------------------------------------------------


def numbers_of(
    whole: Mapping[str, Any], claim: Mapping[str, Any], column: str, found: Sequence[Of]
) -> list[Number]:
    """All numbers of a claim in a column, in the order of the cells; none of other kinds."""
    if "untestable" in claim and column == "here":
        return []
    sides = {}
    for side in ("cells", "over", "under"):
        own = dict(claim.get(side, {}))
        if column == "here":
            own |= _here(own, whole.get("here", {}).get("placement", {}))
        sides[side] = own | claim.get(column, {}).get(side, {})
    return [*_of_kind(claim, sides, found, exact=column == "printed")]


def _of_kind(
    claim: Mapping[str, Any], sides: Mapping[str, Mapping[str, Any]], found: Sequence[Of], *, exact: bool
) -> Iterator[Number]:
    quantity = claim.get("quantity", "time")
    match claim.get("kind"):
        case "ratio" if quantity in ("time", "latency", "bandwidth"):
            yield from (Number(one, over.row) for over, _, one in _ratios(found, sides, quantity))
        case "from" if quantity in ("time", "bandwidth"):
            yield from _from(found, sides, claim, quantity, exact=exact)
        case "grows" if quantity == "time":
            yield from _grows(found, sides, claim.get("along", "bytes"))
        case "value" if quantity in ("cpu", "first"):
            rows = [one.row for one in _chosen(found, sides["cells"])]
            yield from (Number(own, row) for row in rows if (own := _value(row, quantity)) is not None)
        case "peak" if sides["over"]:
            yield from _peaks(found, sides)
        case "peak" if quantity == "bandwidth":
            yield from _peak_rates(found, sides)
        case "peak" if quantity == "size":
            yield from _peak_sizes(found, sides)
        case "limit":
            yield from _limits(found, sides)


def _here(own: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Placements of the report by their names here."""
    if "placement" not in own:
        return {}
    wanted = own["placement"]
    each = [names.get(one, one) for one in (wanted if isinstance(wanted, list) else [wanted])]
    return {"placement": each}


def _chosen(found: Iterable[Of], *selections: Mapping[str, Any]) -> list[Of]:
    return [
        one for one in found if all(_so(one, name, of) for each in selections for name, of in each.items())
    ]


def _so(one: Of, name: str, wanted: Any) -> bool:
    if name == "bytes":
        unsized = one.row.pattern in ("barrier", "cacheline", "null")
        return unsized or any(_within(one.row.bytes, part) for part in str(wanted).split(","))
    value = {"file": one.file, "title": one.title}.get(name, one.row.cell.get(name))
    return value in (wanted if isinstance(wanted, list) else [wanted])


def _within(size: int, text: str) -> bool:
    low, _, high = text.strip().partition(":")
    return _size(low) <= size <= _size(high or low)


def _size(text: str) -> int:
    match = re.match(r"([\d.]+) *(\w*)$", text)
    return size_of(f"{match[1]} {match[2] or 'B'}") if match else -1


def _key(one: Of, free: Iterable[str]) -> object:
    without = {*free}
    file = None if "file" in without else one.file
    return (
        file,
        None if "placement" in without else one.row.state,
        *(one.row.cell.get(name) for name in CELL if name not in without),
    )


def _free(sides: Mapping[str, Mapping[str, Any]]) -> set[str]:
    named = {*sides["over"], *sides["under"]}
    return named | {other for name in named for other in GOES_WITH.get(name, ())}


def _ratios(
    found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]], quantity: str
) -> Iterator[tuple[Of, Of, Interval]]:
    others: dict[object, list[Of]] = defaultdict(list)
    free = _free(sides)
    for one in _chosen(found, sides["cells"], sides["under"]):
        others[_key(one, free)].append(one)
    for over in _chosen(found, sides["cells"], sides["over"]):
        for under in others.get(_key(over, free), ()):
            if (own := _divided(over, under, quantity)) is not None:
                yield over, under, own


def _divided(over: Of, under: Of, quantity: str) -> Interval | None:
    if not over.row.timed or not under.row.timed:
        return None
    if quantity == "bandwidth":
        if not over.row.bytes_per_time or not under.row.bytes_per_time:
            return None
        over, under = under, over
    scale = over.row.bytes_per_time / under.row.bytes_per_time if quantity == "bandwidth" else 1.0
    scale = 1 / scale if quantity == "bandwidth" else scale
    if over.row.result is None or under.row.result is None:
        return Interval(over.row.seconds / under.row.seconds * scale)
    same = all(over.row.cell[name] == under.row.cell[name] for name in ("transport", "placement", "ranks"))
    within = over.file == under.file
    own = ratio(over.row.times, under.row.times, paired=within, alike=same and within)
    if own is None:
        return None
    low, high = (None if end is None else end * scale for end in own[1:3])
    return Interval(own.estimate * scale, low, high, own.launches)


def _grows(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]], along: str) -> Iterator[Number]:
    of: dict[object, list[Of]] = defaultdict(list)
    for one in _chosen(found, sides["cells"]):
        if one.row.timed:
            of[_key(one, (along,))].append(one)
    for mine in of.values():
        for one, later in pairwise(sorted(mine, key=lambda one: one.row.cell[along])):
            if (own := _divided(later, one, "time")) is not None:
                yield Number(own, later.row)


def _from(
    found: Sequence[Of],
    sides: Mapping[str, Mapping[str, Any]],
    claim: Mapping[str, Any],
    quantity: str,
    *,
    exact: bool,
) -> Iterator[Number]:
    """The smallest size from which on a ratio keeps a limit: by estimates, perhaps, for certain."""
    free = {*_free(sides), "bytes", "window"}
    of: dict[object, list[tuple[Row, Interval]]] = defaultdict(list)
    for over, _, own in _ratios(found, sides, quantity):
        if over.row.bytes:
            of[_key(over, free)].append((over.row, own))
    limit = {"bound": claim["limit"]}
    for mine in of.values():
        rows = sorted(mine, key=lambda one: -one[0].bytes)
        words = [holds_of(limit, own, exact=exact) for _, own in rows]
        kept = [_bound(claim["limit"])(own.estimate) == 0 for _, own in rows]
        size, low, high = (
            _onwards([row.bytes for row, _ in rows], good)
            for good in (kept, [word != "fails" for word in words], [word == "holds" for word in words])
        )
        yield Number(Interval(size, low, high, min(own.launches for _, own in rows)), rows[-1][0])


def _onwards(sizes: Sequence[int], good: Sequence[bool]) -> float:
    """Of sizes from the largest down the last before the first that is not good."""
    count = next((n for n, one in enumerate(good) if not one), len(good))
    return sizes[count - 1] if count else math.inf


def _value(row: Row, quantity: str) -> Interval | None:
    if not row.visits:
        return None
    if quantity == "first":
        firsts = firsts_of(row)
        return over_launches([firsts[n] / row.medians[n] for n in firsts]) if firsts else None
    active = 2 if row.pattern in ("pingpong", "exchange") else 1 if row.pattern in MEMORY else row.ranks
    shares = {
        n: min(1.0, median(one.record["cpu_ns"] / (active * one.record["wall_ns"]) for one in mine))
        for n, mine in row.launches.items()
    }
    own = over_launches([*shares.values()])
    return own._replace(high=None if own.high is None else min(1.0, own.high))


def _bests(found: Sequence[Of]) -> list[Of]:
    of: dict[object, list[Of]] = defaultdict(list)
    for one in found:
        if one.row.timed and one.row.bytes_per_time:
            of[_key(one, ("bytes", "window"))].append(one)
    return [max(mine, key=lambda one: one.row.bytes_per_time / one.row.seconds) for mine in of.values()]


def _peaks(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    free = {*_free(sides), "bytes", "window"}
    over, under = (_bests(_chosen(found, sides["cells"], sides[side])) for side in ("over", "under"))
    for one in over:
        for other in under:
            if (
                _key(one, free) == _key(other, free)
                and (own := _divided(one, other, "bandwidth")) is not None
            ):
                yield Number(own, one.row)


def _peak_rates(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    for one in _bests(_chosen(found, sides["cells"])):
        bytes_, time = one.row.bytes_per_time, one.row.time[0]
        low, high = (None if end is None else bytes_ / end for end in (time.high, time.low))
        yield Number(Interval(bytes_ / time.estimate, low, high, time.launches), one.row)


def _peak_sizes(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    mine = [one for one in _chosen(found, sides["cells"]) if one.row.timed and one.row.bytes_per_time]
    for best in _bests(mine):
        curve = [one for one in mine if _key(one, ("bytes", "window")) == _key(best, ("bytes", "window"))]
        size = best.row.bytes
        if best.row.result is None:
            yield Number(Interval(size, size, size), best.row)
            continue
        least = best.row.bytes_per_time / (best.row.time[0].high or math.nan)
        good = [
            one.row.bytes
            for one in curve
            if one.row.bytes_per_time / (one.row.time[0].low or math.nan) >= least
        ]
        last = max(one.row.bytes for one in curve)
        high = math.inf if max(good) == last else max(good)
        yield Number(Interval(size, min(good), high, len(best.row.medians)), best.row)


def _limits(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    """The eager limit of each job that has probed it; of printed tables the largest size."""
    for best in {id(one): one for one in _chosen(found, sides["cells"])}.values():
        if best.row.probed and best.row.result is not None:
            size = limits_of(best.row.result)[job_of_limit(best.row.cell)]
            yield Number(Interval(size, size, size), best.row)
    of: dict[object, list[Of]] = defaultdict(list)
    for one in _chosen(found, sides["cells"]):
        if one.row.result is None:
            of[_key(one, ("bytes", "window"))].append(one)
    for mine in of.values():
        size = max(one.row.bytes for one in mine)
        yield Number(Interval(size, size, size), mine[0].row)
