"""Numbers that fall into few groups, on a line: exact k-means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from mpigauge.stats.percentiles import Values

    Counts = npt.NDArray[np.int64]


class SumsOfSquares:
    """Sums of squares about the mean, of any run of sorted values, in constant time.

    Args:
        values: Sorted, shape ``(n,)``.
        counts: How often there is each.
    """

    def __init__(self, values: Values, counts: Counts) -> None:
        # About the mean of all, so that squares of what is far from 0 do not swallow small differences.
        centred = values - np.average(values, weights=counts)
        self._count, self._first, self._second = (
            np.concatenate(([0.0], np.cumsum(counts * power)))
            for power in (np.ones_like(centred), centred, centred**2)
        )

    def of(self, begin: Counts | int, end: Counts | int) -> Values:
        """Return the sums of squares of the runs from `begin` to before `end`; 0 for empty ones."""
        count = self._count[end] - self._count[begin]
        first = self._first[end] - self._first[begin]
        squares: Values = np.maximum(
            self._second[end] - self._second[begin] - first**2 / np.maximum(count, 1), 0.0
        )
        return squares


def best_split(values: Values, number: int) -> tuple[list[float], float]:
    """Return the best split into so many groups: the borders, and the share of squares within groups.

    Neighbours of a group are neighbours on the line, so that only borders are to be chosen: dynamic
    programming over the sorted values finds the least sum of squares that there is. n values take
    O(n log n).

    Args:
        values: Shape ``(n,)``, in any order.
        number: 1 to 3.

    Returns:
        Values in the middle between neighbouring groups, rising; the sum of squares within groups over that
        of all values, 0 if all are equal. No border for more groups than there are different values.

    Source:
        Wang and Song, Ckmeans.1d.dp, The R Journal 3/2 (2011).
    """
    ordered, counts = np.unique(values, return_counts=True)
    size = ordered.size
    if number == 1 or size < number:
        return [], 1.0 if size > 1 else 0.0
    sums = SumsOfSquares(ordered, counts)
    whole = float(sums.of(0, size))
    lasts = np.arange(1, size)
    heads = sums.of(0, lasts)
    if number == 2:  # noqa: PLR2004
        breaks: list[int] = []
    else:
        firsts = _first_breaks(sums, size)[lasts]
        heads = sums.of(0, firsts) + sums.of(firsts, lasts)
    left = heads + sums.of(lasts, size)
    best = int(left.argmin())
    breaks = [int(lasts[best])] if number == 2 else [int(firsts[best]), int(lasts[best])]  # noqa: PLR2004
    return [float(ordered[at - 1] + ordered[at]) / 2 for at in breaks], float(left[best]) / whole


def _first_breaks(sums: SumsOfSquares, size: int) -> Counts:
    """Return where the first `end` values are best split into two, for every `end`.

    The place never goes back as `end` grows, so that each half of the ends only looks between what the ends
    around it have found: divide and conquer, all ends of one depth at once.
    """
    breaks = np.zeros(size + 1, dtype=np.int64)
    breaks[size] = _best_between(sums, np.array([size]), np.array([1]), np.array([size - 1]))[0]
    step = 1 << (size - 1).bit_length()
    breaks[0] = 1
    while step > 1:
        ends = np.arange(step // 2, size, step)
        lows = np.maximum(breaks[ends - step // 2], 1)
        highs = np.maximum(np.minimum(breaks[np.minimum(ends + step // 2, size)], ends - 1), lows)
        breaks[ends] = _best_between(sums, ends, lows, highs)
        step //= 2
    return breaks


def _best_between(sums: SumsOfSquares, ends: Counts, lows: Counts, highs: Counts) -> Counts:
    """Return the best place of the break for each end, between its low and its high, both included."""
    lengths = highs - lows + 1
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    places = np.arange(lengths.sum()) - np.repeat(starts - lows, lengths)
    ends_of_places = np.repeat(ends, lengths)
    left = sums.of(0, places) + sums.of(places, ends_of_places)
    least = np.minimum.reduceat(left, starts)
    hits = np.flatnonzero(left == np.repeat(least, lengths))
    first = np.searchsorted(hits, starts)
    best: Counts = places[hits[first]]
    return best
