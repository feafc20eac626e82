"""What other speeds of the cores add to intervals, from docs/method.md#speeds and without arrays."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tests.cli.docs.recomputing.reading import Row

Seat = tuple[Any, ...]


def seat_of(row: Row) -> Seat:
    """What cells of the same ranks have in common."""
    return (row.pattern, row.pair, *row.job)


def spans_of(rows: Iterable[Row]) -> dict[Seat, float]:
    """From the 5 to the 95 % point of the arithmetic of visits, as a logarithm."""
    found: dict[Seat, list[float]] = defaultdict(list)
    for row in rows:
        for visit in row.visits:
            if min(visit.record.get("alu_ns") or [0]) > 1e-3:
                found[seat_of(row)].append(math.log(fmean(visit.record["alu_ns"])))
    return {
        seat: _point(sorted(mine), 0.95) - _point(sorted(mine), 0.05)
        for seat, mine in found.items()
        if len(mine) >= 20
    }


def reach_of(row: Row, spans: Mapping[Seat, float]) -> float:
    """What they add to the half-width of the logarithm of a time."""
    span = spans.get(seat_of(row), 0.0)
    if span <= 0.02:
        return 0.0
    known = [one.record for one in row.visits if min(one.record.get("alu_ns") or [0]) > 0]
    times = [math.log(one["middle_ns"]) for one in known]
    speeds = [math.log(sum(one["alu_ns"])) for one in known]
    groups = [one["launch"] for one in known]
    if len(known) - len(set(groups)) - 1 < 8:
        groups = [0] * len(known)
    return 1.96 * span / math.sqrt(12) * exponent_of(times, speeds, groups)


def _point(ordered: Sequence[float], share: float) -> float:
    """A percentile, between neighbours on the line."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def exponent_of(times: Sequence[float], speeds: Sequence[float], groups: Sequence[int]) -> float:
    """Slope of logarithms within groups and its standard error, 0 to 1; 1 if nothing is known."""
    freedom = len(times) - len(set(groups)) - 1
    if freedom <= 0:
        return 1.0
    y, x = _centred(times, groups), _centred(speeds, groups)
    squares = math.fsum(one * one for one in x)
    if squares <= 0:
        return 1.0
    slope = math.fsum(a * b for a, b in zip(x, y, strict=True)) / squares
    left = math.fsum((b - slope * a) ** 2 for a, b in zip(x, y, strict=True))
    return min(max(slope, 0.0) + math.sqrt(left / freedom / squares), 1.0)


def _centred(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    means = {
        group: fmean(one for one, mine in zip(values, groups, strict=True) if mine == group)
        for group in set(groups)
    }
    return [one - means[mine] for one, mine in zip(values, groups, strict=True)]
