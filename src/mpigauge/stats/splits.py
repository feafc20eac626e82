"""Splits of a history at every place, and comparisons of every stretch of it with the rest.

Arrays hold natural logarithms of times, NaN where there is none; ``orders`` counts permutations of
the sessions, all computed at once.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.limits import ODD_ONE_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpigauge.stats.percentiles import Values

    Moments = tuple[Values, Values, Values]
    Search = Callable[[Values, Values], Iterator[tuple[list[tuple[int, ...]], Moments]]]
    """Takes values and floors; yields places of candidates, and their moments ``(orders, places, cells)``."""

MIN_SEGMENT = 3
"""Sessions on either side of a change."""

MAX_STRETCH_SESSIONS = 60
"""Last sessions among which stretches are sought: their number grows with the square."""

NEAR = 2 * MIN_SEGMENT - 1
"""Neighbouring sessions of one, most of which are on its side of any change."""

MIN_SESSIONS = 8
"""Sessions from which an order can be rarer than chance, however large a change is."""

PERMUTATIONS = 999
BLUR = 1e-8
"""Least variance of a mean of sessions: 0.01 %. Otherwise t of equal values would be rounding."""

TRACE = 1e-6
"""Share of what is cut that stays: of equal values, orders with odd ones would else be as those without."""

_MAX_ENTRIES = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A change of a curve's cells: at once, or little by little.

    Attributes:
        begin: The first session of the piece before it.
        place: The first session after it; of a drift the first that it moved.
        end: The first session that is not of the piece after it.
        mean: Difference of mean logarithms, after minus before; of a drift, end minus begin, shape
            ``(cells,)``.
        error: Its standard error.
        freedom: Degrees of freedom of that.
        reach: How many standard errors an interval takes that holds for all cells and places at once, 95 %.
        p: Adjusted for all cells of all curves, and all places.
        changed: Whether the change is beyond chance and of at least the margin.
        drifts: Whether it goes on from its place to its end.
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
    drifts: bool = False

    @property
    def sides(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Sessions before and after it, as begin and end: for a drift its first third, and its last."""
        if not self.drifts:
            return (self.begin, self.place), (self.place, self.end)
        first = self.place - 1
        third = max(MIN_SEGMENT, (self.end - first) // 3)
        return (first, first + third), (self.end - third, self.end)

    @property
    def rises(self) -> bool:
        """Return whether the cells that changed take longer, in their mean."""
        return bool(self.mean[self.changed].sum() > 0)


def first_with_time(values: Values, place: int) -> int:
    """Return the first session from a place on that has a time: a change shows only there.

    Args:
        values: Shape ``(sessions, cells)``.
    """
    with_time = np.flatnonzero(np.isfinite(values).any(axis=1))
    return int(with_time[with_time >= place][0])


def outliers_damped(values: Values) -> Values:
    """Return sessions with those far from their neighbours drawn towards them: one odd session moves no mean.

    Of the distances to the median of five neighbouring sessions, the largest, one in five, are cut to the
    next largest. A change for three sessions or more stays as it is.

    Args:
        values: Shape ``(orders, sessions, cells)``; a session without a value is no neighbour.
    """
    counts = np.isfinite(values[0]).sum(axis=0)
    if counts.size and counts.min() == values.shape[1] >= MIN_SESSIONS:
        return _damped(values)
    damped = values.copy()
    for count in np.unique(counts[counts >= MIN_SESSIONS]):
        cells = np.flatnonzero(counts == count)
        some = values[:, :, cells]
        known = np.argsort(np.isnan(some), axis=1, kind="stable")[:, :count]
        np.put_along_axis(some, known, _damped(np.take_along_axis(some, known, axis=1)), axis=1)
        damped[:, :, cells] = some
    return damped


def _damped(values: Values) -> Values:
    """Return `outliers_damped` values where every session has a value."""
    sessions = values.shape[1]
    middles = _median_of_five(*(values[:, place : place + sessions - NEAR + 1] for place in range(NEAR)))
    middle = middles[:, np.clip(np.arange(sessions) - NEAR // 2, 0, sessions - NEAR)]
    distances = values - middle
    kept = sessions - 1 - max(1, sessions // ODD_ONE_IN)
    most = np.partition(np.abs(distances), kept, axis=1)[:, [kept]]
    kept_distances = np.clip(distances, -most, most)
    return np.asarray(middle + kept_distances + TRACE * (distances - kept_distances))


def _median_of_five(a: Values, b: Values, c: Values, d: Values, e: Values) -> Values:
    """Return the median element by element, in a fifth of the time of a sort."""
    low = np.maximum(np.minimum(a, b), np.minimum(c, d))
    high = np.minimum(np.maximum(a, b), np.maximum(c, d))
    return np.asarray(np.maximum(np.minimum(low, high), np.minimum(e, np.maximum(low, high))))


def steps(values: Values, floor: Values) -> Iterator[tuple[list[tuple[int, ...]], Moments]]:
    """Yield the difference of both sides at every place.

    Args:
        values: Shape ``(orders, sessions, cells)``.
        floor: Variance of a difference that sessions do not average out, shape ``(cells,)``.

    Yields:
        The first session after each place, and second side minus first: difference of means, its standard
        error and degrees of freedom. A place with too few values on a side has a difference of 0.
    """
    centred, present, squares = _centred(values)
    counts, sums = np.cumsum(present, axis=1), np.cumsum(centred, axis=1)
    places: list[tuple[int, ...]] = [(place,) for place in range(1, values.shape[1])]
    yield places, _moments(counts[:, :-1], counts[:, [-1]], sums[:, :-1], squares, floor)


def stretches(values: Values, floor: Values) -> Iterator[tuple[list[tuple[int, ...]], Moments]]:
    """Yield every stretch with sessions before and after it, against both of these together.

    Args:
        values: Shape ``(orders, sessions, cells)``.
        floor: Variance of a difference that sessions do not average out, shape ``(cells,)``.

    Yields:
        For each first session, the stretches that begin there: that session and the first one after the
        stretch; and moments of stretch minus rest, as `steps` yields them.
    """
    sessions = values.shape[1]
    centred, present, squares = _centred(values)
    counts, sums = (_from_zero(np.cumsum(one, axis=1)) for one in (present, centred))
    for begin in range(_first_stretch(sessions), sessions - 2 * MIN_SEGMENT + 1):
        ends = np.arange(begin + MIN_SEGMENT, sessions - MIN_SEGMENT + 1)
        inside = counts[:, ends] - counts[:, [begin]]
        before, after = counts[:, [begin]], counts[:, [-1]] - counts[:, ends]
        mean, error, freedom = _moments(
            counts[:, [-1]] - inside, counts[:, [-1]], sums[:, [begin]] - sums[:, ends], squares, floor
        )
        enough = np.minimum(before, after) >= MIN_SEGMENT
        yield [(begin, int(end)) for end in ends], (np.where(enough, mean, 0.0), error, freedom)


def _from_zero(sums: Values) -> Values:
    return np.concatenate([np.zeros_like(sums[:, :1]), sums], axis=1)


def _centred(values: Values) -> tuple[Values, Values, Values]:
    """Return values about the mean of their cell (0 if missing), where they exist, and the sum of squares."""
    present = np.isfinite(values)
    count = present.sum(axis=1, keepdims=True)
    known = np.where(present, values, 0.0)
    known = np.where(present, values - known.sum(axis=1, keepdims=True) / np.maximum(count, 1), 0.0)
    return known, present, (known**2).sum(axis=1, keepdims=True)


def _moments(
    first: Values | int, count: Values | int, sums: Values, squares: Values, floor: Values
) -> Moments:
    """Return the difference of means of two sides, its standard error and its degrees of freedom.

    Args:
        count: Number of values of both sides.
        squares: Sum of squares over both sides.
    """
    second = count - first
    enough = np.minimum(first, second) >= MIN_SEGMENT
    first, second = np.maximum(first, 1), np.maximum(second, 1)
    # About the mean of all, the sum of the second side is that of the first with the other sign.
    mean = -sums / second - sums / first
    between = sums**2 / first + sums**2 / second
    freedom = np.maximum(first + second - 2, 1)
    variance = np.maximum(squares - between, 0.0) / freedom
    error = np.sqrt(variance * (1 / first + 1 / second) + floor + BLUR)
    return np.where(enough, mean, 0.0), error, freedom


def largest_t(search: Search, values: Values, floor: Values) -> Values:
    """Return the largest |t| over all candidates of a search, shape ``(orders, cells)``."""
    if search is not stretches:
        return _largest_of_candidates(search, values, floor)
    # Where every session has a value, which they mostly do, a hundredth of the work is enough.
    whole = np.isfinite(values[0]).all(axis=0)
    largest = np.zeros((len(values), values.shape[2]))
    for cells, largest_of in (
        (whole, _largest_without_gaps),
        (~whole, lambda *known: _largest_of_candidates(search, *known)),
    ):
        if cells.any():
            largest[:, cells] = largest_of(values[:, :, cells], floor[cells])
    return largest


def _largest_of_candidates(search: Search, values: Values, floor: Values) -> Values:
    most = [np.abs(mean / error).max(axis=1) for _, (mean, error, _) in search(values, floor)]
    return np.asarray(np.max(most, axis=0))


def _largest_without_gaps(values: Values, floor: Values) -> Values:
    """Return the largest |t| over stretches without gaps: at one length, that of the largest sum."""
    sessions = values.shape[1]
    known, _, squares = _centred(values)
    sums = _from_zero(np.cumsum(known, axis=1))
    first = _first_stretch(sessions)
    most = np.zeros((len(values), values.shape[2]))
    for length in range(MIN_SEGMENT, sessions - MIN_SEGMENT - first + 1):
        last = sessions - MIN_SEGMENT - length
        stretch = np.abs(sums[:, first + length : last + length + 1] - sums[:, first : last + 1])
        mean, error, _ = _moments(
            sessions - length, sessions, stretch.max(axis=1, keepdims=True), squares, floor
        )
        np.maximum(most, np.abs(mean / error)[:, 0], out=most)
    return most


def _first_stretch(sessions: int) -> int:
    """Return the first session at which a stretch is tried."""
    return max(MIN_SEGMENT, sessions - MAX_STRETCH_SESSIONS)


def permuted_largest_t(search: Search, values: Values, floor: Values) -> Values:
    """Return the largest |t| over all candidates of a search, per cell, in permuted orders of sessions.

    Args:
        values: Shape ``(sessions, cells)``; they seed the permutations.

    Returns:
        Shape ``(permutations, cells)``.
    """
    random = np.random.default_rng(zlib.crc32(np.nan_to_num(values).tobytes()))
    orders = np.array([random.permutation(len(values)) for _ in range(PERMUTATIONS)])
    enough = np.isfinite(values).sum(axis=0) >= SEGMENTS[search] * MIN_SEGMENT
    largest = np.zeros((PERMUTATIONS, values.shape[1]))
    if enough.any():
        known, floor = values[:, enough], floor[enough]
        at_once = max(1, _MAX_ENTRIES // known.size)
        parts = (orders[begin : begin + at_once] for begin in range(0, PERMUTATIONS, at_once))
        largest[:, enough] = np.vstack(
            [largest_t(search, outliers_damped(known[part]), floor) for part in parts]
        )
    return largest


SEGMENTS: dict[Search, int] = {steps: 2, stretches: 3}
"""Parts into which a search divides the sessions; a cell with too few sessions for them has a t of 0."""
