"""Pieces of a history parted in two at every place, and every stretch of one held against the rest of it.

Arrays hold natural logarithms of times, NaN where there is none; ``orders`` is the same sessions in other
orders, all of which are computed at once.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpigauge.stats.percentiles import Values

    Moments = tuple[Values, Values, Values]
    Search = Callable[[Values, Values], Iterator[tuple[list[tuple[int, ...]], Moments]]]
    """Of values and floors: the places of some candidates, and their moments ``(orders, places, cells)``."""

SEGMENT_LEAST = 3
"""Sessions on either side of a change."""

STRETCH_MOST = 60
"""Stretches are sought among so many sessions, the last ones: their number goes by the square."""

NEAR = 2 * SEGMENT_LEAST - 1
"""Sessions around one, of which most are on its side of a change, wherever that is."""

SESSIONS_LEAST = 8
"""Of fewer no order is rare enough to be more than chance, however large a change is."""

ONE_IN = 10
"""One of so many sessions, one at least, is drawn towards those around it."""

PERMUTATIONS = 999
BLUR = 1e-8
"""Variance of a mean of sessions that nothing removes: 0.01 %. Else t of equal values were rounding."""

_ENTRIES_MOST = 1 << 21


def calmed(values: Values) -> Values:
    """Sessions that are far from those around them, drawn towards these: one odd session moves no mean.

    Of the distances to the median of five sessions around, the largest, one in ten, are cut to the next
    largest. A change for three sessions or more stays as it is.

    Args:
        values: Shape ``(orders, sessions, cells)``; a session without a value is around nobody.
    """
    counts = np.isfinite(values[0]).sum(axis=0)
    if counts.size and counts.min() == values.shape[1] >= SESSIONS_LEAST:
        return _drawn(values)
    calm = values.copy()
    for count in np.unique(counts[counts >= SESSIONS_LEAST]):
        cells = np.flatnonzero(counts == count)
        mine = values[:, :, cells]
        known = np.argsort(np.isnan(mine), axis=1, kind="stable")[:, :count]
        np.put_along_axis(mine, known, _drawn(np.take_along_axis(mine, known, axis=1)), axis=1)
        calm[:, :, cells] = mine
    return calm


def _drawn(values: Values) -> Values:
    """As `calmed`, where every session has a value."""
    sessions = values.shape[1]
    middles = _median_of_five(*(values[:, place : place + sessions - NEAR + 1] for place in range(NEAR)))
    middle = middles[:, np.clip(np.arange(sessions) - NEAR // 2, 0, sessions - NEAR)]
    apart = values - middle
    kept = sessions - 1 - max(1, sessions // ONE_IN)
    most = np.partition(np.abs(apart), kept, axis=1)[:, [kept]]
    return np.asarray(middle + np.clip(apart, -most, most))


def _median_of_five(a: Values, b: Values, c: Values, d: Values, e: Values) -> Values:
    """Element by element, in a fifth of the time of a sort."""
    low = np.maximum(np.minimum(a, b), np.minimum(c, d))
    high = np.minimum(np.maximum(a, b), np.maximum(c, d))
    return np.asarray(np.maximum(np.minimum(low, high), np.minimum(e, np.maximum(low, high))))


def steps(values: Values, floor: Values) -> Iterator[tuple[list[tuple[int, ...]], Moments]]:
    """Both sides of every place.

    Args:
        values: Shape ``(orders, sessions, cells)``.
        floor: Variance of a difference that sessions do not average out, shape ``(cells,)``.

    Yields:
        The first session after each place, and second side minus first: difference of means, its standard
        error and degrees of freedom. A place with too few values on a side has a difference of 0.
    """
    known, there, squares = _centred(values)
    counts, sums = np.cumsum(there, axis=1), np.cumsum(known, axis=1)
    places: list[tuple[int, ...]] = [(place,) for place in range(1, values.shape[1])]
    yield places, _moments(counts[:, :-1], counts[:, [-1]], sums[:, :-1], squares, floor)


def stretches(values: Values, floor: Values) -> Iterator[tuple[list[tuple[int, ...]], Moments]]:
    """Every stretch with sessions before and after it, against both of these together.

    Args:
        values: As of `steps`.
        floor: As of `steps`.

    Yields:
        For each first session, the stretches that begin there: that session and the first one after the
        stretch; and stretch minus the rest, as of `steps`.
    """
    sessions = values.shape[1]
    known, there, squares = _centred(values)
    counts, sums = (_from_zero(np.cumsum(one, axis=1)) for one in (there, known))
    for begin in range(_first_stretch(sessions), sessions - 2 * SEGMENT_LEAST + 1):
        ends = np.arange(begin + SEGMENT_LEAST, sessions - SEGMENT_LEAST + 1)
        inside = counts[:, ends] - counts[:, [begin]]
        before, after = counts[:, [begin]], counts[:, [-1]] - counts[:, ends]
        mean, error, freedom = _moments(
            counts[:, [-1]] - inside, counts[:, [-1]], sums[:, [begin]] - sums[:, ends], squares, floor
        )
        enough = np.minimum(before, after) >= SEGMENT_LEAST
        yield [(begin, int(end)) for end in ends], (np.where(enough, mean, 0.0), error, freedom)


def _from_zero(sums: Values) -> Values:
    return np.concatenate([np.zeros_like(sums[:, :1]), sums], axis=1)


def _centred(values: Values) -> tuple[Values, Values, Values]:
    """Values about the mean of their cell, 0 where there is none; where there is one; the sum of squares."""
    there = np.isfinite(values)
    count = there.sum(axis=1, keepdims=True)
    known = np.where(there, values, 0.0)
    known = np.where(there, values - known.sum(axis=1, keepdims=True) / np.maximum(count, 1), 0.0)
    return known, there, (known**2).sum(axis=1, keepdims=True)


def _moments(
    first: Values | int, count: Values | int, sums: Values, squares: Values, floor: Values
) -> Moments:
    """Of two sides, by the number of values of the first and their sum about the mean of all.

    Args:
        count: Of both sides.
        squares: Their sum over both sides.
    """
    second = count - first
    enough = np.minimum(first, second) >= SEGMENT_LEAST
    first, second = np.maximum(first, 1), np.maximum(second, 1)
    # About the mean of all, the sum of the second side is that of the first with the other sign.
    mean = -sums / second - sums / first
    between = sums**2 / first + sums**2 / second
    freedom = np.maximum(first + second - 2, 1)
    variance = np.maximum(squares - between, 0.0) / freedom
    error = np.sqrt(variance * (1 / first + 1 / second) + floor + BLUR)
    return np.where(enough, mean, 0.0), error, freedom


def most_of(search: Search, values: Values, floor: Values) -> Values:
    """The largest |t| over all candidates of a search, shape ``(orders, cells)``."""
    if search is not stretches:
        return _most(search, values, floor)
    # Where every session has a value, which they mostly do, a hundredth of the work is enough.
    whole = np.isfinite(values[0]).all(axis=0)
    found = np.zeros((len(values), values.shape[2]))
    for cells, how in ((whole, _most_of_whole), (~whole, lambda *known: _most(search, *known))):
        if cells.any():
            found[:, cells] = how(values[:, :, cells], floor[cells])
    return found


def _most(search: Search, values: Values, floor: Values) -> Values:
    most = [np.abs(mean / error).max(axis=1) for _, (mean, error, _) in search(values, floor)]
    return np.asarray(np.max(most, axis=0))


def _most_of_whole(values: Values, floor: Values) -> Values:
    """Of stretches without gaps: of one length, the largest |t| is that of the largest sum."""
    sessions = values.shape[1]
    known, _, squares = _centred(values)
    sums = _from_zero(np.cumsum(known, axis=1))
    first = _first_stretch(sessions)
    most = np.zeros((len(values), values.shape[2]))
    for length in range(SEGMENT_LEAST, sessions - SEGMENT_LEAST - first + 1):
        last = sessions - SEGMENT_LEAST - length
        stretch = np.abs(sums[:, first + length : last + length + 1] - sums[:, first : last + 1])
        mean, error, _ = _moments(
            sessions - length, sessions, stretch.max(axis=1, keepdims=True), squares, floor
        )
        np.maximum(most, np.abs(mean / error)[:, 0], out=most)
    return most


def _first_stretch(sessions: int) -> int:
    """Where the first one begins that is looked at."""
    return max(SEGMENT_LEAST, sessions - STRETCH_MOST)


def largest(search: Search, values: Values, floor: Values) -> Values:
    """The largest |t| over all candidates of a search, of each cell in each of other orders of the sessions.

    Args:
        values: Shape ``(sessions, cells)``; what the orders are follows from them.

    Returns:
        Shape ``(permutations, cells)``.
    """
    chance = np.random.default_rng(zlib.crc32(np.nan_to_num(values).tobytes()))
    orders = np.array([chance.permutation(len(values)) for _ in range(PERMUTATIONS)])
    told = np.isfinite(values).sum(axis=0) >= SEGMENTS[search] * SEGMENT_LEAST
    found = np.zeros((PERMUTATIONS, values.shape[1]))
    if told.any():
        known, floor = values[:, told], floor[told]
        at_once = max(1, _ENTRIES_MOST // known.size)
        parts = (orders[begin : begin + at_once] for begin in range(0, PERMUTATIONS, at_once))
        found[:, told] = np.vstack([most_of(search, calmed(known[part]), floor) for part in parts])
    return found


SEGMENTS: dict[Search, int] = {steps: 2, stretches: 3}
"""In how many parts a search puts the sessions; a cell that too few sessions have for them has a t of 0."""
