"""When cells of a history changed for good, or for a while: sessions permuted for all cells at once.

Whatever a session does to all of its cells is in the null as it is in the data, as in `compare.max_t`.

Source: docs/method-comparison.md#history
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.stats.drifts import with_drifts
from mpigauge.stats.max_t import LEVEL, holm, step_down
from mpigauge.stats.splits import SEGMENT_LEAST, SEGMENTS, SESSIONS_LEAST, calmed, largest, steps, stretches
from mpigauge.stats.step import Step, first_with_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.splits import Search

    Chance = Callable[[Search, "_Piece", "_Likeliest", float], tuple[Values, float]]

STRETCHES_FROM = 3 * SEGMENT_LEAST
"""Sessions from which something can have come and gone."""

LEVEL_OF_STRETCHES = 0.02
"""Their part of the error, where they are sought; the rest is that of steps."""


def steps_of(logs: Sequence[Values], floors: Sequence[Values], margin: float) -> list[list[Step]]:
    """The changes of each of several curves, in their order.

    In each piece the likeliest place is sought; where it is none, the likeliest stretch that differs from
    what is before and after it. Where there is neither, the piece is whole, else its parts are searched
    again. Steps that a line fits better are told as one drift. That any of unchanged curves is said to have
    changed has a probability of 5 % at most.

    Args:
        logs: Of each curve, shape ``(sessions, cells)``, NaN where there is no time; as many sessions each.
        floors: Variance of a difference of each cell that sessions do not average out, shape ``(cells,)``.
        margin: Relative changes that are less do not matter.
    """
    found: Mapping[int, list[Step]] = defaultdict(list)
    whole = range(len(logs)), 0, len(logs[0]) if logs else 0
    pieces: list[tuple[Sequence[int], int, int]] = [whole]
    while pieces:
        members, begin, end = pieces.pop()
        split: Mapping[tuple[int, ...], list[int]] = defaultdict(list)
        for member, mine in _tested(_piece(members, begin, end, logs, floors), margin).items():
            found[member] += mine
            split[tuple(step.place for step in mine)].append(member)
        for places, changed in split.items():
            pieces += [(changed, *ends) for ends in pairwise((begin, *places, end))]
    return [
        with_drifts(_alone(found[member], *curve, margin), *curve, margin)
        for member, curve in enumerate(zip(logs, floors, strict=True))
    ]


def _alone(found: Sequence[Step], logs: Values, floor: Values, margin: float) -> list[Step]:
    """The changes of a curve in the order of time, of each cell between its own before and after it.

    Where it was found, the piece may have held others of that cell: what these did is no part of it.
    """
    ordered = sorted(found, key=lambda step: step.place)
    bounds = [0, *(step.place for step in ordered), len(logs)]
    around = zip(bounds, ordered, bounds[2:])  # noqa: B905 - begin, step and end
    alone = [
        replace(_between(step, ordered, logs, floor, margin), begin=begin, end=end)
        for begin, step, end in around
    ]
    return [step for step in alone if step.changed.any()]


def _between(step: Step, others: Sequence[Step], logs: Values, floor: Values, margin: float) -> Step:
    """A change by the sessions between two others of the same cell alone."""
    spans: dict[tuple[int, int], list[int]] = defaultdict(list)
    for cell in np.flatnonzero(step.changed):
        places = [other.place for other in others if other.changed[cell]]
        begin = max([step.begin, *(place for place in places if place < step.place)])
        spans[begin, min([step.end, *(place for place in places if place > step.place)])].append(int(cell))
    spans.pop((step.begin, step.end), None)
    mean, error, freedom, changed = (
        one.copy() for one in (step.mean, step.error, step.freedom, step.changed)
    )
    for (begin, end), mine in spans.items():
        ((_, moments),) = steps(calmed(logs[None, begin:end, mine]), floor[mine])
        here = [np.broadcast_to(one, moments[0].shape)[0, step.place - begin - 1] for one in moments]
        told = here[0] != 0
        cells = np.array(mine)[told]
        mean[cells], error[cells], freedom[cells] = (one[told] for one in here)
        changed[cells] = np.abs(mean[cells]) >= np.maximum(math.log1p(margin), step.reach * error[cells])
    return replace(step, mean=mean, error=error, freedom=freedom, changed=changed)


def suspected(logs: Sequence[Values], floors: Sequence[Values], margin: float) -> dict[int, Step]:
    """The likeliest change of each curve in sessions too few to be permuted, by Student's t and Holm.

    What it says rests on sessions that vary as normal numbers do, and decides nothing.

    Args:
        logs: As all others of `steps_of`.

    Returns:
        By place of the curve; empty where there are sessions enough, or too few for a change.
    """
    piece = _piece(range(len(logs)), 0, len(logs[0]) if logs else 0, logs, floors)
    if not SEGMENTS[steps] * SEGMENT_LEAST <= len(piece.values) < SESSIONS_LEAST:
        return {}
    return {member: mine[0] for member, mine in _found(steps, piece, margin, LEVEL, _by_student)}


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Some curves within some sessions.

    Attributes:
        begin: The first of these sessions.
        values: Shape ``(sessions, cells of all curves)``.
        owner: The curve of each cell.
    """

    begin: int
    values: Values
    floor: Values
    owner: Values


def _piece(
    members: Sequence[int], begin: int, end: int, logs: Sequence[Values], floors: Sequence[Values]
) -> _Piece:
    values = [logs[member][begin:end] for member in members]
    owner = [np.full(one.shape[1], member) for member, one in zip(members, values, strict=True)]
    floor = [floors[member] for member in members]
    if not values:
        return _Piece(begin, np.empty((0, 0)), np.empty(0), np.empty(0))
    return _Piece(begin, np.hstack(values), np.concatenate(floor), np.concatenate(owner))


def _tested(piece: _Piece, margin: float) -> dict[int, list[Step]]:
    """The curves that change within a piece: at one place, or from one to another."""
    sessions = len(piece.values)
    if sessions < SESSIONS_LEAST:
        return {}
    if sessions < STRETCHES_FROM:
        return dict(_found(steps, piece, margin, LEVEL, _by_orders))
    found = dict(_found(steps, piece, margin, LEVEL - LEVEL_OF_STRETCHES, _by_orders))
    if set(piece.owner.tolist()) == found.keys():
        return found
    return dict(_found(stretches, piece, margin, LEVEL_OF_STRETCHES, _by_orders)) | found


def _found(
    search: Search, piece: _Piece, margin: float, level: float, chance: Chance
) -> Iterator[tuple[int, list[Step]]]:
    """What one search finds with this error, over all curves of a piece."""
    likeliest = _likeliest(search, piece)
    p, reach = chance(search, piece, likeliest, level)
    enough = (p <= level) & (likeliest.t > 0) & (np.abs(likeliest.mean) >= math.log1p(margin))
    for member, places in likeliest.places.items():
        mine = piece.owner == member
        if enough[mine].any():
            ends = [piece.begin + first_with_time(piece.values[:, mine], at) for at in places]
            bounds = (piece.begin, *ends, piece.begin + len(piece.values))
            mean, error, freedom = (one[mine] for one in (likeliest.mean, likeliest.error, likeliest.freedom))
            around = zip(bounds, bounds[1:], bounds[2:])  # noqa: B905 - three in a row
            # After a stretch it is as before it: the same difference the other way.
            yield (
                member,
                [
                    Step(*three, sign * mean, error, freedom, reach, p[mine], enough[mine])
                    for sign, three in zip((1.0, -1.0), around, strict=False)
                ],
            )


@dataclass(frozen=True, slots=True, eq=False)
class _Likeliest:
    """Of each curve the candidate of a search that is farthest from chance.

    Attributes:
        places: Of each curve.
        mean: With error and freedom as of `Step`, of each cell at its curve's places.
    """

    places: dict[int, tuple[int, ...]]
    mean: Values
    error: Values
    freedom: Values

    @property
    def t(self) -> Values:
        """Of each cell."""
        return np.abs(self.mean / self.error)


def _likeliest(search: Search, piece: _Piece) -> _Likeliest:
    candidates = list(search(calmed(piece.values[None]), piece.floor))
    places = [place for mine, _ in candidates for place in mine]
    moments = [np.concatenate([known[at][0] for _, known in candidates]) for at in range(3)]
    t = np.abs(moments[0] / moments[1])
    members = dict.fromkeys(piece.owner.tolist())
    best = {member: int(t[:, piece.owner == member].max(axis=1).argmax()) for member in members}
    here = np.array([best[member] for member in piece.owner]), np.arange(len(piece.owner))
    mean, error, freedom = (one[here] for one in moments)
    return _Likeliest({member: places[at] for member, at in best.items()}, mean, error, freedom)


def _by_orders(search: Search, piece: _Piece, likeliest: _Likeliest, level: float) -> tuple[Values, float]:
    """Adjusted p of each cell, and how many standard errors an interval for all of them takes."""
    null = largest(search, piece.values, piece.floor)
    return step_down(np.vstack([likeliest.t, null])), float(np.quantile(null.max(axis=1), 1 - level))


def _by_student(_: Search, piece: _Piece, likeliest: _Likeliest, level: float) -> tuple[Values, float]:
    """As `_by_orders`, where sessions are too few: every place of every cell is one of many."""
    places = len(piece.values) - SEGMENTS[steps] * SEGMENT_LEAST + 1
    alone = 2 * special.stdtr(likeliest.freedom, -likeliest.t)
    reach = special.stdtrit(likeliest.freedom, 1 - level / 2 / places / len(likeliest.t))
    return np.minimum(holm(alone) * places, 1.0), float(reach.max())
