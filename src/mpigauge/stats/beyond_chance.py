"""Whether more of many rows are marked than chance marks, where one launch made a number of each row.

A row is marked where chance hardly does so: of a hundred healthy rows one or two are. Rows share launches, so
that marks come together, and their number follows no binomial law. What chance gives is therefore drawn: new
launches are random mixtures of those that were made, the same for all rows. A mixture is normally
distributed and has the covariance that the launches have between rows. (Putting the launches of all rows into
another order, as permutations do, would change neither the farthest launch of a row nor its groups.)

Source: Langsrud, Rotation tests, Statistics and Computing 15 (2005), of which this is the version for rows
that lack some launches.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from mpigauge.stats.percentiles import Values

    Flags = npt.NDArray[np.bool_]
    Places = npt.NDArray[np.intp]

    Strengths = Callable[[Values, Values], Values]
    """From one number a launch, shape ``(rows, launches)``, and steps of the clock, shape ``(rows,)``, to how
    many times its limit each row is, for each kind of mark, shape ``(kinds, rows)``: marked above 1."""

DRAWS = 499
"""New sets of launches: the rarest chance that they can tell is 1 of 500."""

_AT_A_TIME = 100
_NO_LONGER_RARE = 12
"""So many sets that are as marked say that a count is nothing rare: no more are drawn."""

_NUMBERS_AT_A_TIME = 2_000_000
_SEED = 20


class RowSet(NamedTuple):
    """Rows that have numbers of the same launches.

    Attributes:
        rows: Their places among all rows, shape ``(rows,)``.
        launches: Places of their launches among all launches, shape ``(launches,)``.
        values: One number a launch, shape ``(rows, launches)``.
        clock_steps: The step of the clock over each time, shape ``(rows,)``.
    """

    rows: Places
    launches: Places
    values: Values
    clock_steps: Values


def chances(sets: Sequence[RowSet], strengths: Strengths, families: Flags, *, centred: bool) -> Values:
    """Return how often chance marks as many rows as clearly, for kinds of marks and families of rows.

    What is compared is the sum, over marked rows, of the logarithm of how far beyond its limit each is: so
    many rows that are hardly marked count as much as few that are clearly marked.

    Args:
        sets: All rows, those of the same launches together.
        strengths: How marked rows are.
        families: Which rows belong to each family, shape ``(families, rows)``.
        centred: Whether the mean over launches is any; else it is 0 where nothing is wrong.

    Returns:
        Shape ``(kinds, families)``; 1 where no row is marked.
    """
    seen = _marks(sets, strengths, families, [one.values[np.newaxis] for one in sets])[:, :, 0]
    generator = np.random.default_rng(_SEED)
    launches = 1 + max((int(one.launches.max()) for one in sets), default=0)
    largest = max((one.values.size for one in sets), default=1)
    at_a_time = max(1, min(_AT_A_TIME, _NUMBERS_AT_A_TIME // largest))
    drawn, as_marked = 0, np.zeros(seen.shape)
    while drawn < DRAWS and bool((seen > 0).any()) and float(as_marked[seen > 0].min()) < _NO_LONGER_RARE:
        many = min(at_a_time, DRAWS - drawn)
        mixtures = generator.standard_normal((many, launches, launches))
        found = _marks(sets, strengths, families, [_mixed(one, mixtures, centred=centred) for one in sets])
        as_marked += (found >= seen[:, :, np.newaxis]).sum(axis=2)
        drawn += many
    return np.where(seen > 0, (1 + as_marked) / (1 + drawn), 1.0)


def _mixed(rows: RowSet, mixtures: Values, *, centred: bool) -> Values:
    """Return new launches of rows, shape ``(draws, rows, launches)``, of the variance that theirs have."""
    about = rows.values - rows.values.mean(axis=1, keepdims=True) if centred else rows.values
    freedom = max(1, rows.launches.size - centred)
    mine = mixtures[:, rows.launches[:, np.newaxis], rows.launches]
    found: Values = about @ mine.transpose(0, 2, 1) / math.sqrt(freedom)
    return found


def _marks(sets: Sequence[RowSet], strengths: Strengths, families: Flags, values: Sequence[Values]) -> Values:
    """Return how marked each family is, shape ``(kinds, families, draws)``."""
    total: Values = np.zeros(1)
    for rows, mine in zip(sets, values, strict=True):
        draws, count, launches = mine.shape
        steps = np.tile(rows.clock_steps, draws)
        found = strengths(mine.reshape(draws * count, launches), steps).reshape(-1, draws, count)
        beyond = np.log(np.maximum(found, 1.0))
        total = total + np.einsum("kdr,fr->kfd", beyond, families[:, rows.rows].astype(float))
    return total
