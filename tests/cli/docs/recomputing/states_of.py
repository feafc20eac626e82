"""The states of a machine, as docs/method-launches.md says, exactly and without arrays."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.docs.recomputing.schema import fields_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tests.cli.docs.recomputing.reading import Visit

JOB = fields_of("JobKey")
NAMES = {2: ("near", "far"), 3: ("near", "mid", "far")}
MAX_WITHIN = {2: 0.1, 3: 0.05}
LINE_MOST_NS = 3000
HEADLINE = 0.8


class States(NamedTuple):
    """Which visit was in which state.

    Attributes:
        names: By the place of a visit in time; None between two states.
        usual: Of lines and of paths the state with more than 80 % of the time.
        handed: What tells the state of a visit.
    """

    names: Mapping[int, str | None]
    usual: Mapping[str, str]
    handed: Mapping[int, str]


def handed_over(visit: Visit) -> tuple[str, tuple[float, float]] | None:
    """What was handed over before and after, ns."""
    for of, most in (("line", LINE_MOST_NS), ("path", math.inf)):
        pair = visit.record.get(f"{of}_ns")
        if pair and all(1e-3 < one < most for one in pair):
            return of, (pair[0], pair[1])
    return None


def states_of(visits: Iterable[Visit]) -> States:
    """Of all visits of a result, those of a map left out."""
    kinds: dict[str, list[tuple[Visit, tuple[float, float]]]] = defaultdict(list)
    for visit in visits:
        known = handed_over(visit)
        if known and not visit.record["cell"].get("pair"):
            kinds[known[0]].append((visit, (math.log(known[1][0]), math.log(known[1][1]))))
    names: dict[int, str | None] = {}
    handed: dict[int, str] = {}
    usual: dict[str, str] = {}
    for of, mine in kinds.items():
        mine.sort(key=lambda one: one[0].order)
        found = _states([logs for _, logs in mine], [visit for visit, _ in mine])
        if found is None:
            continue
        spent: dict[str | None, float] = defaultdict(float)
        for (visit, _), name in zip(mine, found, strict=True):
            names[visit.order] = name
            handed[visit.order] = of
            spent[name] += visit.record["elapsed_s"]
        often = [name for name, s in spent.items() if name and s > HEADLINE * sum(spent.values())]
        usual |= dict.fromkeys([of] if often else [], *often)
    return States(names, usual, handed)


def _states(logs: Sequence[tuple[float, float]], visits: Sequence[Visit]) -> list[str | None] | None:
    values = sorted(value for pair in logs for value in pair)
    for number in (3, 2):
        borders, within = groups(values, number)
        if not borders or within >= MAX_WITHIN[number]:
            continue
        places = [tuple(sum(value > border for border in borders) for value in pair) for pair in logs]
        members: dict[int, list[float]] = defaultdict(list)
        for pair, mine in zip(logs, places, strict=True):
            for value, place in zip(pair, mine, strict=True):
                members[place].append(value)
        centres = [fmean(members[place]) for place in sorted(members)]
        if min(b - a for a, b in itertools.pairwise(centres)) <= math.log(1.3):
            continue
        found = [mine[0] if mine[0] == mine[1] else None for mine in places]
        if len(_often(found)) == number and _same_ranks(found, number, logs, places, visits):
            return [None if place is None else NAMES[number][place] for place in found]
    return None


def _often(found: Sequence[int | None]) -> set[int]:
    """Those with 2 % of the visits, or two episodes of two visits at least."""
    known = [place for place in found if place is not None]
    runs: list[list[int]] = []
    for place in known:
        if runs and runs[-1][0] == place:
            runs[-1][1] += 1
        else:
            runs.append([place, 1])
    long = Counter(place for place, length in runs if length >= 2)
    counts = Counter(known)
    return {place for place in counts if counts[place] >= 0.02 * len(found) or long[place] >= 2}


def _same_ranks(
    found: Sequence[int | None],
    number: int,
    logs: Sequence[tuple[float, float]],
    places: Sequence[tuple[int, ...]],
    visits: Sequence[Visit],
) -> bool:
    """Whether one comes from each to any other by ranks that were in both, with little left within."""
    seats: dict[object, list[int]] = defaultdict(list)
    for place, visit in enumerate(visits):
        cell = visit.record["cell"]
        seats[(cell["pattern"], *(cell.get(name) for name in JOB))].append(place)
    reached = {place: {place} for place in range(number)}
    for mine in seats.values():
        here = [found[place] for place in mine]
        lasting = [place for place in _often(here) if here.count(place) > here.count(None)]
        values: dict[int, list[float]] = defaultdict(list)
        for visit_place in mine:
            for value, place in zip(logs[visit_place], places[visit_place], strict=True):
                values[place].append(value)
        whole = _squares([value for one in values.values() for value in one])
        if sum(map(_squares, values.values())) < MAX_WITHIN[2] * whole:
            together = set().union(*(reached[place] for place in lasting))
            reached |= dict.fromkeys(together, together)
    return len(reached[0]) == number


def _squares(values: Sequence[float]) -> float:
    centre = fmean(values)
    return sum((value - centre) ** 2 for value in values)


def groups(ordered: Sequence[float], number: int) -> tuple[list[float], float]:
    """The best cut of sorted values into two or three groups, and what is left of the squares."""
    counts = Counter(ordered)
    values = sorted(counts)
    size, centre = len(values), fmean(ordered)
    if size < number:
        return [], 1.0
    zeroth, first, second = [0.0], [0.0], [0.0]
    for value in values:
        off, count = value - centre, counts[value]
        zeroth.append(zeroth[-1] + count)
        first.append(first[-1] + count * off)
        second.append(second[-1] + count * off * off)

    def cost(begin: int, end: int) -> float:
        total = first[end] - first[begin]
        return second[end] - second[begin] - total * total / ((zeroth[end] - zeroth[begin]) or 1)

    whole = cost(0, size)
    if number == 2:
        best = min(range(1, size), key=lambda at: cost(0, at) + cost(at, size))
        breaks = [best]
    else:
        heads = _heads(size, cost)
        last = min(range(2, size), key=lambda at: cost(0, heads[at]) + cost(heads[at], at) + cost(at, size))
        breaks = [heads[last], last]
    ends = [0, *breaks, size]
    left = sum(cost(begin, end) for begin, end in itertools.pairwise(ends))
    return [(values[at - 1] + values[at]) / 2 for at in breaks], left / whole if whole else 0.0


def _heads(size: int, cost: Callable[[int, int], float]) -> list[int]:
    """The best cut into two of the first so many values: it never falls as they become more."""
    heads = [1] * (size + 1)
    todo = [(2, size, 1, size)]
    while todo:
        begin, end, low, high = todo.pop()
        if begin > end:
            continue
        at = (begin + end) // 2
        best = min(range(low, min(high, at - 1) + 1), key=lambda cut: cost(0, cut) + cost(cut, at))
        heads[at] = best
        todo += [(begin, at - 1, low, best), (at + 1, end, best, high)]
    return heads
