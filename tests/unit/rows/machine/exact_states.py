"""States of the machine, visit by visit as the rules are written: slow, and beyond doubt."""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.machine.conditions import condition_of
from mpigauge.rows.machine.split import (
    HEADLINE_SHARE,
    MAX_STATES,
    MAX_WITHIN,
    MIN_EPISODES,
    MIN_FACTOR,
    MIN_SHARE,
)
from mpigauge.stats.kmeans import best_split
from mpigauge.vocabulary import STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.records import Visit
    from mpigauge.rows.machine.conditions import Condition

Said = tuple[str, str, int, float, float, int]
"""Of a state: distance, name, visits, hand-over in s, share of the time, episodes."""


def exact_states(visits: Sequence[Visit]) -> tuple[list[Said], list[str | None]]:
    """Every state, and that in which each visit counts; None where it changed or is not known.

    What is not known counts in the state of four fifths of the time, if any of the same ranks is known.
    """
    said: list[Said] = []
    names: dict[int, str | None] = {}
    waiting: dict[int, str | None] = {}
    for of in ("line", "path"):
        mine = [
            (visit, condition)
            for visit in visits
            if not visit.cell.pair and (condition := condition_of(visit)) is not None and condition.of == of
        ]
        if mine and (found := _names(mine)) is not None:
            said += [_said(of, name, mine, found) for name in STATE_NAMES if name in found]
            names |= {id(visit): name for (visit, _), name in zip(mine, found, strict=True)}
            usual = [name for its, name, *_, share, _ in said if its == of and share > HEADLINE_SHARE]
            seats = {_seat(visit) for visit, _ in mine} if usual else set()
            waiting |= {id(visit): usual[0] for visit in visits if _seat(visit) in seats}
    return said, [names.get(id(visit), waiting.get(id(visit))) for visit in visits]


def _seat(visit: Visit) -> tuple[object, ...]:
    return visit.cell.pattern, visit.cell.job, visit.cell.pair


def _said(of: str, name: str, mine: Sequence[tuple[Visit, Condition]], found: Sequence[str | None]) -> Said:
    members = [pair for pair, its in zip(mine, found, strict=True) if its == name]
    middle = math.fsum(math.log(condition.middle_s) for _, condition in members) / len(members)
    share = math.fsum(visit.elapsed_s for visit, _ in members) / math.fsum(
        visit.elapsed_s for visit, _ in mine
    )
    episodes = [one for one, _ in groupby(filter(None, found))].count(name)
    return of, name, len(members), math.exp(middle), share, episodes


def _names(mine: Sequence[tuple[Visit, Condition]]) -> list[str | None] | None:
    logs = [(math.log(condition.before_s), math.log(condition.after_s)) for _, condition in mine]
    for number in range(MAX_STATES, 1, -1):
        borders, within = best_split(np.array(logs).ravel(), number)
        if not borders or within >= MAX_WITHIN[number]:
            continue
        places = [tuple(sum(border < one for border in borders) for one in pair) for pair in logs]
        heaps: list[list[float]] = [[] for _ in range(number)]
        for pair, its in zip(logs, places, strict=True):
            for one, place in zip(pair, its, strict=True):
                heaps[place].append(one)
        centres = [math.fsum(heap) / len(heap) for heap in heaps]
        found = [its[0] if its[0] == its[1] else None for its in places]
        far = all(b - a > math.log(MIN_FACTOR) for a, b in pairwise(centres))
        often = [state for state in range(number) if _is_often(found, state)]
        if far and len(often) == number and _share_seats(mine, logs, places, found):
            order = STATE_NAMES if number == MAX_STATES else (STATE_NAMES[0], STATE_NAMES[-1])
            return [None if one is None else order[one] for one in found]
    return None


def _is_often(found: Sequence[int | None], state: int) -> bool:
    runs = [(its, len([*run])) for its, run in groupby(one for one in found if one is not None)]
    episodes = sum(its == state and length >= MIN_EPISODES for its, length in runs)
    return state in found and (found.count(state) >= MIN_SHARE * len(found) or episodes >= MIN_EPISODES)


def _share_seats(
    mine: Sequence[tuple[Visit, Condition]],
    logs: Sequence[tuple[float, float]],
    places: Sequence[tuple[int, ...]],
    found: Sequence[int | None],
) -> bool:
    """Whether all states hang together by seats that were in several of them."""
    states = {one for one in found if one is not None}
    links: list[set[int]] = []
    for seat in {(visit.cell.pattern, visit.cell.job) for visit, _ in mine}:
        here = [n for n, (visit, _) in enumerate(mine) if (visit.cell.pattern, visit.cell.job) == seat]
        known = [found[n] for n in here]
        all_logs = [one for n in here for one in logs[n]]
        all_places = [one for n in here for one in places[n]]
        within = sum(
            _squares([one for one, its in zip(all_logs, all_places, strict=True) if its == place])
            for place in set(all_places)
        )
        if within < MAX_WITHIN[2] * _squares(all_logs):
            lasting = {s for s in states if _is_often(known, s) and known.count(s) > known.count(None)}
            links.append(lasting)
    reached = {min(states)}
    for _ in states:
        for link in links:
            reached |= link if link & reached else set()
    return reached == states


def _squares(values: Sequence[float]) -> float:
    middle = math.fsum(values) / len(values)
    return math.fsum((one - middle) ** 2 for one in values)
