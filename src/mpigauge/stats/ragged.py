"""Values in parts that follow each other, such as those of launches or visits: all parts treated at once.

A part has a thousand values or fewer, and a step of numpy for each would mostly be overhead.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mpigauge.stats.percentiles import Values

    Counts = NDArray[np.intp]


Item = TypeVar("Item")

VALUES_AT_ONCE = 1 << 15
"""Values at once: enough for numpy to be quick, few enough for memory. All samples of a result as floats
would take several times the size of its file."""


class Ragged(NamedTuple):
    """Arrays of different lengths end to end, none of them empty.

    Attributes:
        values: All values, one array after the other, shape ``(values,)``.
        lengths: How many there are in each part, shape ``(parts,)``.
    """

    values: Values
    lengths: Counts

    @property
    def begins(self) -> Counts:
        """Place in `values` of each part's first value, shape ``(parts,)``."""
        begins: Counts = np.cumsum(self.lengths) - self.lengths
        return begins

    def arrays(self) -> list[Values]:
        """Return the parts as views."""
        ends = [0, *np.cumsum(self.lengths).tolist()]
        return [self.values[begin:end] for begin, end in pairwise(ends)]

    def repeat(self, of_each: Values) -> Values:
        """Return one number per part, repeated for every value of it."""
        return np.repeat(of_each, self.lengths)

    def ascending(self) -> Ragged:
        """Return the parts with the values of each in ascending order."""
        if self.lengths.min() == self.lengths.max():
            rows = self.values.reshape(self.lengths.size, -1)
            return self._replace(values=np.sort(rows, axis=1).ravel())
        ordered = self._replace(values=self.values.copy())
        for part in ordered.arrays():
            part.sort()
        return ordered

    def stacks(self) -> Iterator[tuple[Counts, Values]]:
        """Yield the places of the parts of each length, rising, and the parts, shape ``(parts, values)``."""
        order = np.argsort(self.lengths, kind="stable")
        begins = self.begins
        for places in np.split(order, np.flatnonzero(np.diff(self.lengths[order])) + 1):
            yield places, self.values[begins[places][:, np.newaxis] + np.arange(self.lengths[places[0]])]

    def percentiles(self, percent: int) -> Values:
        """Return a percentile of each part, as `percentiles.percentile`; parts must be in ascending order."""
        whole, rest = np.divmod(percent * (self.lengths - 1), 100)
        begins = self.begins
        lower = self.values[begins + whole]
        upper = self.values[begins + np.minimum(whole + 1, self.lengths - 1)]
        percentiles: Values = lower + (upper - lower) * (rest / 100)
        return percentiles

    def middles(self) -> Values:
        """Return the middle value of each part, the upper one of two; parts must be in ascending order."""
        middles: Values = self.values[self.begins + self.lengths // 2]
        return middles

    def medians(self) -> Values:
        """Return the median of each part; parts must be in ascending order."""
        begins = self.begins
        lower, upper = begins + (self.lengths - 1) // 2, begins + self.lengths // 2
        medians: Values = (self.values[lower] + self.values[upper]) / 2
        return medians

    def sums(self) -> Values:
        """Return the sum of each part."""
        sums: Values = np.add.reduceat(self.values, self.begins)
        return sums

    def centred(self) -> Values:
        """Return every value minus the mean of its part."""
        about: Values = self.values - self.repeat(self.sums() / self.lengths)
        return about


def ragged_of(arrays: Sequence[Values] | Sequence[Counts]) -> Ragged:
    """Return arrays as parts; none may be empty."""
    lengths = np.fromiter((array.size for array in arrays), np.intp, len(arrays))
    return Ragged(np.concatenate(arrays, dtype=np.float64), lengths)


def in_batches(
    items: Iterable[Item], length: Callable[[Item], int], most: int | None = None
) -> Iterator[list[Item]]:
    """Yield lists of items, with about `most` values each; no item is split.

    Args:
        length: How many values an item has.
        most: Values from which a list is full; None for VALUES_AT_ONCE.
    """
    most = most or VALUES_AT_ONCE
    some: list[Item] = []
    values = 0
    for item in items:
        some.append(item)
        values += length(item)
        if values >= most:
            yield some
            some, values = [], 0
    if some:
        yield some
