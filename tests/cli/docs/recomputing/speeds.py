"""What other speeds of the cores add to intervals, from docs/method-launches.md#speeds and without arrays."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import datetime
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


def other_minutes(launches: Iterable[Mapping[str, Any]], done: Iterable[Mapping[str, Any]]) -> bool:
    """Whether launches were spread over more than ten minutes, from the first begin to the last end."""
    begins: dict[int, float] = {}
    for one in launches:
        if one["started"]:
            at_s = datetime.fromisoformat(one["started"]).timestamp()
            begins[one["number"]] = min(at_s, begins.get(one["number"], at_s))
    if not begins:
        return False
    last = max(begins, key=lambda number: begins[number])
    took_s = sum(one["elapsed_s"] for one in done if one["launch"] == last)
    return begins[last] + float(took_s) - min(begins.values()) > 600


def reach_of(row: Row, span: float, whole: tuple[float, float]) -> float:
    """What they add to the half-width of the logarithm of a time, by its own visits or all of its ranks."""
    slope, error = min(response_of([row]), whole, key=lambda one: one[1])
    return 1.96 * span / math.sqrt(12) * min(max(slope, 0.0) + error, 1.0)


def response_of(rows: Iterable[Row]) -> tuple[float, float]:
    """Slope of logarithms within launches of each cell, and its standard error."""
    known = [
        (id(row), one.record)
        for row in rows
        for one in row.visits
        if min(one.record.get("alu_ns") or [0]) > 0
    ]
    times = [math.log(one["middle_ns"]) for _, one in known]
    speeds = [math.log(sum(one["alu_ns"])) for _, one in known]
    groups: list[Seat] = [(cell, one["launch"]) for cell, one in known]
    if len(known) - len(set(groups)) - 1 < 8:
        groups = [(cell,) for cell, _ in known]
    return slope_of(times, speeds, groups)


def _point(ordered: Sequence[float], share: float) -> float:
    """A percentile, between neighbours on the line."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def slope_of(times: Sequence[float], speeds: Sequence[float], groups: Sequence[Seat]) -> tuple[float, float]:
    """Slope of logarithms within groups and its standard error; infinite if nothing is known."""
    freedom = len(times) - len(set(groups)) - 1
    if freedom <= 0:
        return 1.0, math.inf
    y, x = _centred(times, groups), _centred(speeds, groups)
    squares = math.fsum(one * one for one in x)
    if squares <= 0:
        return 1.0, math.inf
    slope = math.fsum(a * b for a, b in zip(x, y, strict=True)) / squares
    left = math.fsum((b - slope * a) ** 2 for a, b in zip(x, y, strict=True))
    return slope, math.sqrt(left / freedom / squares)


def _centred(values: Sequence[float], groups: Sequence[Seat]) -> list[float]:
    sums: dict[Seat, list[float]] = defaultdict(list)
    for value, group in zip(values, groups, strict=True):
        sums[group].append(value)
    means = {group: fmean(mine) for group, mine in sums.items()}
    return [value - means[group] for value, group in zip(values, groups, strict=True)]
