"""The facts of `mpigauge explain --claims`: numbers of either column, and what they make of a claim."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.cells import PUBLISHED
from tests.cli.docs.recomputing.points import firsts_of
from tests.cli.docs.recomputing.reading import MEMORY, RATES, SIZES, TIMES
from tests.cli.docs.recomputing.shown import rate_of
from tests.cli.docs.recomputing.statistics_of import Interval, over_launches, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.cli.docs.recomputing.cells import Book
    from tests.cli.docs.recomputing.reading import Row

BOUND = re.compile(r"^(>=|<=|>|<) *([\d.]+) *(\S*)$|^([\d.]+) *(\S*) *\.\. *([\d.]+) *(\S*)$")
SCALES = {**RATES, **TIMES, **SIZES, "%": 0.01, "": 1.0}


def of_claims(said: Mapping[str, Any], book: Book) -> Iterator[tuple[str, Any, Callable[[], Any]]]:
    """Yield all numbers and verdicts of claims, each with what recomputes it."""
    claims = [one for report in said["reports"] for one in report["claims"]]
    for claim in claims:
        for column in ("printed", "here"):
            for one in claim[column]["numbers"]:
                where = f"claim {column}, {claim['kind']} {claim['quantity']}, {claim['name']}"
                fact = {name: one[name] for name in ("estimate", "low", "high", "launches", "verdict")}
                yield where, fact, partial(_of_number, claim, one, book)
        holds = [one["verdict"] for one in claim["here"]["numbers"]]
        if claim["verdict"] in ("confirmed", "refuted", "undecided") and holds:
            yield f"claim {claim['name']}", claim["verdict"], partial(_verdict, claim["quantifier"], holds)
    fact = {"conclusions": said["conclusions"], "verdicts": said["verdicts"]}
    verdicts = Counter(dict.fromkeys(said["verdicts"], 0))
    verdicts.update(one["verdict"] for one in claims)
    yield "claims", fact, lambda: {"conclusions": len(claims), "verdicts": dict(verdicts)}


def _verdict(quantifier: str, holds: Sequence[str]) -> str:
    """What the numbers here make of a claim."""
    yes, no, many = holds.count("holds"), holds.count("fails"), len(holds)
    return {
        "all": "refuted" if no else "confirmed" if yes == many else "undecided",
        "most": "confirmed" if 2 * yes > many else "refuted" if 2 * (many - no) <= many else "undecided",
        "any": "confirmed" if yes else "refuted" if no == many else "undecided",
    }[quantifier]


def _of_number(claim: Mapping[str, Any], fact: Mapping[str, Any], book: Book) -> dict[str, Any]:
    own = _own(claim, fact, book)
    if own is None:
        return {}
    verdict = _holds(claim["bound"] or "> 1", own, exact=fact["imported"])
    ends = {name: None if end == math.inf else end for name, end in (("low", own.low), ("high", own.high))}
    return {"estimate": own.estimate, **ends, "launches": own.launches, "verdict": verdict}


def _own(claim: Mapping[str, Any], fact: Mapping[str, Any], book: Book) -> Interval | None:
    """The number of a cell, or of two; None of a kind that is not recomputed."""
    kind, quantity = claim["kind"], claim["quantity"]
    if kind == "limit":
        return _limit(fact, book)
    if kind == "from":
        return _from(claim, fact, book)
    row = book.row(fact["file"], fact, fact["state"])
    if fact["against"]:
        under = book.row(fact["against_file"], fact["against"], fact["state"])
        return _divided(row, under, quantity) if quantity in ("time", "bandwidth") else None
    return _of_one(quantity, row, book.alike(fact["file"], fact, fact["state"], "bytes", "window"))


def _limit(fact: Mapping[str, Any], book: Book) -> Interval:
    """The eager limit; of a form that has none, the largest size that was timed, or more."""
    if fact["imported"]:
        return Interval(fact["bytes"], fact["bytes"], fact["bytes"])
    if fact["pattern"] == "eager":
        size = book.limit(fact["file"], fact)
        return Interval(size, size, size)
    largest = book.curve(fact["file"], fact, fact["state"])[-1].bytes
    return Interval(largest, largest, math.inf)


def _of_one(quantity: str, row: Row, curve: Sequence[Row]) -> Interval | None:
    match quantity:
        case "cpu":
            return _core_share(row)
        case "first":
            firsts = firsts_of(row)
            return over_launches([firsts[n] / row.medians[n] for n in firsts])
        case "bandwidth":
            return rate_of(row) if row.result else Interval(row.bytes_per_time / row.seconds)
        case "size":
            return _peak_size(curve)
    return None


# ---- Bounds --------------------------------------------------------------------------------------


def _holds(bound: str, own: Interval, *, exact: bool) -> str:
    """Whether the whole interval is within the bound."""
    low, high = (own.estimate, own.estimate) if exact else (own.low, own.high)
    if low is None or high is None:
        return "undecided"
    inside = [_side(bound, low), _side(bound, high)]
    if all(one == 0 for one in inside):
        return "holds"
    return "fails" if inside[0] == inside[1] else "undecided"


def _side(bound: str, value: float) -> int:
    """On which side of a bound a number is: 0 within."""
    match = BOUND.match(bound)
    if match is None:
        raise ValueError(bound)
    if match[1]:
        limit = float(match[2]) * SCALES[match[3]]
        compare = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}[match[1]]
        return 0 if compare(float(value), limit) else 1
    low, high = float(match[4]) * SCALES[match[5]], float(match[6]) * SCALES[match[7]]
    return -1 if value < low else 1 if value > high else 0


# ---- Numbers -------------------------------------------------------------------------------------


def _divided(over: Row, under: Row, quantity: str) -> Interval | None:
    scale = 1.0
    if quantity == "bandwidth":
        over, under = under, over
        scale = under.bytes_per_time / over.bytes_per_time
    if over.result is None or under.result is None:
        return Interval(over.seconds / under.seconds * scale)
    within = over.result is under.result
    same = all(over.cell[name] == under.cell[name] for name in ("transport", "placement", "ranks"))
    own = ratio(over.times, under.times, paired=within, alike=same and within and not over.in_state_of(under))
    if own is None:
        return None
    low, high = (None if end is None else end * scale for end in (own.low, own.high))
    return Interval(own.estimate * scale, low, high, own.launches)


def _from(claim: Mapping[str, Any], fact: Mapping[str, Any], book: Book) -> Interval:
    """The smallest size from which on a ratio keeps a limit: by estimates, perhaps, for certain."""
    sides = ((fact["file"], fact), (fact["against_file"], fact["against"]))
    over, under = (
        {
            row.bytes: row
            for name in _tables_with(file, imported=fact["imported"])
            for row in book.curve(name, cell, fact["state"])
        }
        for file, cell in sides
    )
    sizes = sorted((size for size in over.keys() & under.keys() if size), reverse=True)
    found = [(size, _divided(over[size], under[size], claim["quantity"])) for size in sizes]
    known = [(size, own) for size, own in found if own is not None]
    words = [_holds(claim["limit"], own, exact=fact["imported"]) for _, own in known]
    kept = [_side(claim["limit"], own.estimate) == 0 for _, own in known]
    size, low, high = (
        _onwards([size for size, _ in known], good)
        for good in (kept, [word != "fails" for word in words], [word == "holds" for word in words])
    )
    return Interval(size, low, high, min(own.launches for _, own in known))


def _tables_with(file: str, *, imported: bool) -> list[str]:
    """All printed tables of the report that a table is of; a result alone."""
    same_report = PUBLISHED.glob(f"{file.partition('-')[0]}-*.csv")
    return sorted(path.stem for path in same_report) if imported else [file]


def _onwards(sizes: Sequence[int], good: Sequence[bool]) -> float:
    """Of sizes from the largest down the last before the first that is not good."""
    count = next((n for n, one in enumerate(good) if not one), len(good))
    return sizes[count - 1] if count else math.inf


def _core_share(row: Row) -> Interval:
    active = 2 if row.pattern in ("pingpong", "exchange") else 1 if row.pattern in MEMORY else row.ranks
    shares = [
        min(1.0, median(one.record["cpu_ns"] / (active * one.record["wall_ns"]) for one in mine))
        for mine in row.launches.values()
    ]
    own = over_launches(shares)
    return own._replace(high=own.high and min(1.0, own.high))


def _peak_size(curve: Sequence[Row]) -> Interval:
    """The size of the best rate, with those whose rate may be as good."""
    best = max(curve, key=lambda row: row.bytes_per_time / row.seconds)
    if best.result is None:
        return Interval(best.bytes, best.bytes, best.bytes)
    least = best.bytes_per_time / (best.time.high or math.nan)
    good = [row.bytes for row in curve if row.bytes_per_time / (row.time.low or math.nan) >= least]
    high = math.inf if max(good) == max(row.bytes for row in curve) else max(good)
    return Interval(best.bytes, min(good), high, len(best.medians))
