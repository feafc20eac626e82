"""The speeds that a machine ran at, as arithmetic beside every visit tells: docs/method-launches.md#speeds.

Cores have few clock frequencies and change between them many times a second. A chain of dependent steps takes
the same time at each of them to a thousandth, so that what it took says at which one a visit was made.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.rows.machine.conditions import LEAST_NS
from mpigauge.rows.machine.rank_groups import by_seat, seat_numbers, seat_of
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.records import Visit
    from mpigauge.rows.machine.conditions import Flags, Places
    from mpigauge.stats.percentiles import Values

STEADY = 1.05
"""How many times the least the same work may take at what is still one speed."""

NEVER_SHARE = 0.05
"""Of the visits of some ranks, at the usual speed: with fewer they sit on other cores, and have their own."""

LEAST_VISITS = 20
"""Fewer do not show which speeds there are."""

_ENDS = (5, 95)
"""Percentiles of visits between which a machine's speeds are: one odd reading is none."""


class Speeds(NamedTuple):
    """At which speed a machine was for most of the time.

    Attributes:
        usual_s: What the arithmetic took then, median over readings.
        usual_share: Of the visits, those that began and ended so.
    """

    usual_s: float
    usual_share: float


def speeds_of(visits: Sequence[Visit]) -> Speeds | None:
    """Return the speeds of the cores during visits; None if they are known of fewer than 20."""
    known, readings = _readings(visits)
    if known.size < LEAST_VISITS:
        return None
    usual = _usual(readings, seat_numbers([visits[place] for place in known.tolist()]))
    at_it = usual.all(axis=1)
    return Speeds(float(np.median(readings[usual])) * NS, float(at_it.mean()))


def at_other_speeds(visits: Sequence[Visit]) -> Flags:
    """Return which visits began or ended at another speed than the usual, shape ``(visits,)``.

    None of fewer than 20.
    """
    flags: Flags = np.zeros(len(visits), dtype=bool)
    known, readings = _readings(visits)
    if known.size >= LEAST_VISITS:
        seats = seat_numbers([visits[place] for place in known.tolist()])
        flags[known] = ~_usual(readings, seats).all(axis=1)
    return flags


def spans_of(visits: Sequence[Visit]) -> dict[object, float]:
    """Return how far apart the speeds are at which ranks made their visits, as a logarithm.

    Of nine visits in ten, each by the mean of its two readings.

    Returns:
        By what `rank_groups.seat_of` says of their cells; ranks of under 20 visits are left out.
    """
    known, readings = _readings(visits)
    made = [visits[place] for place in known.tolist()]
    logs = np.log(readings.mean(axis=1))
    parts = [mine for mine in by_seat(made) if mine.size >= LEAST_VISITS]
    return {seat_of(made[mine[0]].cell): _span(logs[mine]) for mine in parts}


def _span(logs: Values) -> float:
    fast, slow = np.percentile(logs, _ENDS)
    return float(slow - fast)


def _readings(visits: Sequence[Visit]) -> tuple[Places, Values]:
    """Return places of the visits of which it is known, and their readings in ns, shape ``(visits, 2)``."""
    places = [place for place, visit in enumerate(visits) if visit.alu_ns and min(visit.alu_ns) > LEAST_NS]
    flat = chain.from_iterable(visits[place].alu_ns for place in places)
    return np.array(places, dtype=np.intp), np.fromiter(flat, np.float64, 2 * len(places)).reshape(-1, 2)


def _usual(readings: Values, seats: Places) -> Flags:
    """Return which readings are of the usual speed: the stretch of 5 % that has most of them.

    It is one of the whole machine, so that cells can be held against each other. Ranks that are never there
    have a stretch of their own.
    """
    logs = np.log(readings)
    usual = in_densest(logs)
    for seat in np.unique(seats[~usual.any(axis=1)]):
        mine = seats == seat
        if usual[mine].mean() < NEVER_SHARE:
            usual[mine] = in_densest(logs[mine])
    return usual


def in_densest(logs: Values, width: float = STEADY) -> Flags:
    """Return which values are in the stretch of one width that has most of them; the fastest of equals.

    Args:
        logs: Logarithms.
        width: Ratio of the ends of a stretch.
    """
    ordered = np.sort(logs, axis=None)
    ends = np.searchsorted(ordered, ordered + math.log(width), side="right")
    first = int((ends - np.arange(ordered.size)).argmax())
    flags: Flags = (logs >= ordered[first]) & (logs <= ordered[ends[first] - 1])
    return flags
