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
"""Enough for numpy to be quick, and few beside a result: all samples as floating-point numbers would be
several times as long as its file."""


class Parts(NamedTuple):
    """Values in parts, none of which is empty.

    Attributes:
        values: Those of one part after those of the other, shape ``(values,)``.
        lengths: How many there are in each part, shape ``(parts,)``.
    """

    values: Values
    lengths: Counts

    @property
    def begins(self) -> Counts:
        """Where each part begins."""
        begins: Counts = np.cumsum(self.lengths) - self.lengths
        return begins

    def each(self) -> list[Values]:
        """The parts, as views."""
        ends = [0, *np.cumsum(self.lengths).tolist()]
        return [self.values[begin:end] for begin, end in pairwise(ends)]

    def spread(self, of_each: Values) -> Values:
        """One number of each part, for every value of it."""
        return np.repeat(of_each, self.lengths)

    def in_order(self) -> Parts:
        """The same parts, the values of each in ascending order."""
        if self.lengths.min() == self.lengths.max():
            rows = self.values.reshape(self.lengths.size, -1)
            return self._replace(values=np.sort(rows, axis=1).ravel())
        ordered = self._replace(values=self.values.copy())
        for part in ordered.each():
            part.sort()
        return ordered

    def stacks(self) -> Iterator[tuple[Counts, Values]]:
        """Places of the parts of each length, rising, and these parts, shape ``(parts, values)``."""
        order = np.argsort(self.lengths, kind="stable")
        begins = self.begins
        for mine in np.split(order, np.flatnonzero(np.diff(self.lengths[order])) + 1):
            yield mine, self.values[begins[mine][:, np.newaxis] + np.arange(self.lengths[mine[0]])]

    def percentiles(self, percent: int) -> Values:
        """Of parts in ascending order, as `percentiles.percentile`."""
        whole, rest = np.divmod(percent * (self.lengths - 1), 100)
        begins = self.begins
        lower = self.values[begins + whole]
        upper = self.values[begins + np.minimum(whole + 1, self.lengths - 1)]
        percentiles: Values = lower + (upper - lower) * (rest / 100)
        return percentiles

    def middles(self) -> Values:
        """Return the middle value of parts in ascending order, the upper one of two."""
        middles: Values = self.values[self.begins + self.lengths // 2]
        return middles

    def medians(self) -> Values:
        """Of parts in ascending order."""
        begins = self.begins
        lower, upper = begins + (self.lengths - 1) // 2, begins + self.lengths // 2
        medians: Values = (self.values[lower] + self.values[upper]) / 2
        return medians

    def sums(self) -> Values:
        """Of each part."""
        sums: Values = np.add.reduceat(self.values, self.begins)
        return sums

    def about_means(self) -> Values:
        """Every value without the mean of its part."""
        about: Values = self.values - self.spread(self.sums() / self.lengths)
        return about


def parts_of(arrays: Sequence[Values] | Sequence[Counts]) -> Parts:
    """Each array a part, and none of them empty."""
    lengths = np.fromiter((array.size for array in arrays), np.intp, len(arrays))
    return Parts(np.concatenate(arrays, dtype=np.float64), lengths)


def some_at_once(
    items: Iterable[Item], length: Callable[[Item], int], most: int | None = None
) -> Iterator[list[Item]]:
    """Yield items, which are never split, in lists of about so many values each.

    Args:
        length: How many values an item has.
        most: How many a list has at most, but for its last item; None for VALUES_AT_ONCE.
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
