"""Two curves size by size, and ratios as facts have them."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.cli.docs.recomputing.reading import NS
from tests.cli.docs.recomputing.statistics_of import Interval, difference, ratio, sides, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.cli.docs.recomputing.reading import Row

MIN_PAIRS = 5
WORDS = {"no difference": "same"}


class Point(NamedTuple):
    """Both curves at one size.

    Attributes:
        pairs: The ratio of each launch; empty if it is not formed launch by launch.
        over: The launches of the other that it rests on.
        under: Those of the base.
    """

    base: Row
    other: Row
    ratio: Interval
    beyond: Interval
    pairs: Mapping[int, float]
    over: Mapping[int, float]
    under: Mapping[int, float]

    @property
    def bytes(self) -> int:
        """The size."""
        return int(self.base.bytes)

    @property
    def extra_s(self) -> float:
        """By how much the other takes longer."""
        return self.other.seconds - self.base.seconds


def points_of(base: Sequence[Row], other: Sequence[Row]) -> list[Point]:
    """Return all sizes that both have, with an interval."""
    one_place = base[0].job == other[0].job or base[0].placement == other[0].placement
    first, second = ({row.bytes: row for row in curve} for curve in (base, other))
    found = []
    for size in sorted(first.keys() & second):
        rows = first[size], second[size]
        alike = one_place and not rows[0].in_state_of(rows[1])
        one = ratio(rows[1].times, rows[0].times, alike=alike, least=MIN_PAIRS)
        if one is not None and one.low is not None:
            over, under, together = sides(rows[1].times, rows[0].times, alike=alike, least=MIN_PAIRS)
            pairs = {n: over[n] / under[n] for n in over} if together else {}
            beyond = _beyond(over, under, rows, paired=together)
            found.append(Point(*rows, one, beyond, pairs, over, under))
    return found


def _beyond(
    over: Mapping[int, float], under: Mapping[int, float], rows: tuple[Row, Row], *, paired: bool
) -> Interval:
    """What the other takes beyond the base, of these launches; without an interval if they make no pairs."""
    base, other = rows
    times = (other.times._replace(by_launch=over), base.times._replace(by_launch=under))
    found = difference(*times, (other.seconds, base.seconds)) if paired else None
    return found or Interval(math.nan)


def ratio_fact(own: Interval | None) -> dict[str, Any]:
    """Return a ratio that is judged alone."""
    if own is None:
        return {}
    word = verdict(own)
    ends = {"low": own.low, "high": own.high}
    return {"estimate": own.estimate, **ends, "launches": own.launches, "verdict": WORDS.get(word, word)}


def of_family(fact: Mapping[str, Any], own: Interval) -> dict[str, Any]:
    """Return a ratio whose interval holds for all cells of a family: one end follows from the other.

    How wide it is, is a matter of all of them, and of draws.
    """
    low = own.estimate**2 / fact["high"] if fact["high"] else None
    return {"estimate": own.estimate, "low": low, "launches": own.launches}


def firsts_of(row: Row) -> dict[int, float]:
    """Return the first round in each launch, in seconds of one operation."""
    found: dict[int, list[float]] = defaultdict(list)
    for visit in row.visits:
        record = visit.record
        if record["trial_ns"] and record["trial_ns"][0] > 0:
            found[visit.launch].append(record["trial_ns"][0] * NS * record["batch"] / record["ops"])
    return {n: math.exp(fmean(map(math.log, mine))) for n, mine in found.items()}
