"""Every sample of a result on its own, as columns: of which visit, how long, and whether it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.rows.samples import by_cell, visits_by_launch
from mpigauge.rows.synchrony import in_time
from mpigauge.stats.ragged import in_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mpigauge.result.records import Visit

SAMPLES_AT_ONCE = 1 << 17
"""About as many are made into columns at a time; a visit is never split."""


@dataclass(frozen=True, slots=True, eq=False)
class TidySamples:
    """Samples of some visits, in the order of the file; every array has shape ``(samples,)``.

    Attributes:
        visits: Those that they are of.
        visit: The place of each sample's visit among them.
        number: Of the sample in its visit, from 0.
        time_s: Of one operation.
        counts: Whether it is in the estimate of its cell: not if the payload of its visit was wrong, nor if
            its ranks did not start in time.
    """

    visits: Sequence[Visit]
    visit: NDArray[np.int32]
    number: NDArray[np.int32]
    time_s: NDArray[np.float64]
    counts: NDArray[np.bool_]


def tidy_samples(visits: Sequence[Visit], most: int = SAMPLES_AT_ONCE) -> Iterator[TidySamples]:
    """Yield the samples of visits, some visits at a time; of none, one piece without any.

    Args:
        visits: All of a cell in a launch, or none of them: which samples count depends on the others.
        most: About how many samples are in one piece.
    """
    counting = {id(visit) for visit in _counting(visits)}
    pieces = in_batches(visits, lambda visit: len(visit.samples_ns), most)
    for piece in pieces if visits else [[]]:
        yield _tidy(piece, counting)


def _counting(visits: Sequence[Visit]) -> Iterator[Visit]:
    """Yield the visits of which some samples are in an estimate, by the rule that estimates are made by."""
    for mine in by_cell(visits).values():
        for launch in visits_by_launch(mine).values():
            yield from launch


def _tidy(visits: Sequence[Visit], counting: set[int]) -> TidySamples:
    lengths = [len(visit.samples_ns) for visit in visits]
    times = [np.asarray(visit.samples_ns, dtype=np.float64) * visit.operation_s for visit in visits]
    return TidySamples(
        visits,
        np.repeat(np.arange(len(visits), dtype=np.int32), lengths),
        _whole([np.arange(length, dtype=np.int32) for length in lengths], np.int32),
        _whole(times, np.float64),
        _whole([in_time(visit) & (id(visit) in counting) for visit in visits], np.bool_),
    )


def _whole(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)
