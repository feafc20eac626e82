"""When cells of a history changed for good: binary segmentation, sessions permuted for all cells at once.

Whatever a session does to all of its cells is in the null as it is in the data, as in `compare.max_t`.

Source: docs/method.md#history
"""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.compare.max_t import LEVEL, step_down

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.analysis.percentiles import Values

SEGMENT_LEAST = 3
"""Sessions on either side of a change."""

SESSIONS_LEAST = 8
"""Of fewer no order is rare enough to be more than chance, however large a change is."""

PERMUTATIONS = 999
_BLUR = 1e-8
"""Variance of a mean of sessions that nothing removes: 0.01 %. Else t of equal values were rounding."""

_ENTRIES_MOST = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A change of a curve's cells.

    Attributes:
        begin: The first session of the piece before it.
        place: The first session after it.
        end: The first session that is not of the piece after it.
        mean: Of the logarithms, after over before, shape ``(cells,)``; NaN where it cannot be said.
        error: Its standard error.
        freedom: Degrees of freedom of that.
        reach: How many standard errors an interval takes that holds for all cells and places at once, 95 %.
        p: Adjusted for all cells of all curves, and all places.
        changed: Whether the change is beyond chance and of at least the margin.
    """

    begin: int
    place: int
    end: int
    mean: Values
    error: Values
    freedom: Values
    reach: float
    p: Values
    changed: Values


def steps_of(logs: Sequence[Values], floors: Sequence[Values], margin: float) -> list[list[Step]]:
    """The changes of each of several curves, in their order.

    In each piece the likeliest place is sought; where it is none, the piece is whole, else both sides are
    searched again. That any of unchanged curves is said to have changed has a probability of 5 % at most.

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
        split: Mapping[int, list[int]] = defaultdict(list)
        for member, step in _tested(members, begin, end, logs, floors, margin):
            found[member].append(step)
            split[step.place].append(member)
        for place, mine in split.items():
            pieces += [(mine, begin, place), (mine, place, end)]
    return [sorted(found[member], key=lambda step: step.place) for member in range(len(logs))]


def _tested(
    members: Sequence[int],
    begin: int,
    end: int,
    logs: Sequence[Values],
    floors: Sequence[Values],
    margin: float,
) -> Iterator[tuple[int, Step]]:
    """The curves that change within a piece, each with its step."""
    if end - begin < SESSIONS_LEAST or not members:
        return
    values = np.hstack([logs[member][begin:end] for member in members])
    floor = np.concatenate([floors[member] for member in members])
    owner = np.concatenate([np.full(logs[member].shape[1], member) for member in members])
    mean, error, freedom = (one[0] for one in _splits(values[None], floor))
    t = np.abs(mean / error)
    places = {member: int(t[:, owner == member].max(axis=1).argmax()) for member in members}
    here = np.array([places[member] for member in owner]), np.arange(len(owner))
    null = _largest(values, floor)
    p = step_down(np.vstack([t[here], null]))
    reach = float(np.quantile(null.max(axis=1), 1 - LEVEL))
    enough = (p <= LEVEL) & (t[here] > 0) & (np.abs(mean[here]) >= math.log1p(margin))
    for member in members:
        mine = owner == member
        if enough[mine].any():
            place = begin + _first_with_time(values[:, mine], places[member] + 1)
            difference, sure, counted = (one[here][mine] for one in (mean, error, freedom))
            yield (
                member,
                Step(begin, place, end, difference, sure, counted, reach, p[mine], enough[mine]),
            )


def _first_with_time(values: Values, place: int) -> int:
    """Sessions that do not have the curve are of neither side: the change was seen after them."""
    there = np.flatnonzero(np.isfinite(values).any(axis=1))
    return int(there[there >= place][0])


def _largest(values: Values, floor: Values) -> Values:
    """The largest |t| over all places, of each cell in each permutation, shape ``(permutations, cells)``."""
    chance = np.random.default_rng(zlib.crc32(np.nan_to_num(values).tobytes()))
    orders = [chance.permutation(len(values)) for _ in range(PERMUTATIONS)]
    at_once = max(1, _ENTRIES_MOST // values.size)
    found = []
    for first in range(0, PERMUTATIONS, at_once):
        mean, error, _ = _splits(values[np.array(orders[first : first + at_once])], floor)
        found.append(np.abs(mean / error).max(axis=1))
    return np.vstack(found)


def _splits(values: Values, floor: Values) -> tuple[Values, Values, Values]:
    """Difference of the means on either side of every place, its standard error and degrees of freedom.

    Args:
        values: Shape ``(orders, sessions, cells)``.

    Returns:
        Three arrays of shape ``(orders, sessions - 1, cells)``: of the place after each session but the last.
        A place with too few values on a side has a difference of 0.
    """
    there = np.isfinite(values)
    count = there.sum(axis=1, keepdims=True)
    known = np.where(there, values, 0.0)
    known = np.where(there, values - known.sum(axis=1, keepdims=True) / np.maximum(count, 1), 0.0)
    first = np.cumsum(there, axis=1)[:, :-1]
    second = count - first
    sums = np.cumsum(known, axis=1)[:, :-1]
    enough = np.minimum(first, second) >= SEGMENT_LEAST
    first, second = np.maximum(first, 1), np.maximum(second, 1)
    # About the mean of all, the sum of the second side is that of the first with the other sign.
    mean = -sums / second - sums / first
    between = sums**2 / first + sums**2 / second
    freedom = np.maximum(first + second - 2, 1)
    variance = np.maximum((known**2).sum(axis=1, keepdims=True) - between, 0.0) / freedom
    error = np.sqrt(variance * (1 / first + 1 / second) + floor + _BLUR)
    return np.where(enough, mean, 0.0), error, freedom
