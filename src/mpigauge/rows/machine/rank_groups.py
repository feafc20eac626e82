"""Visits of the same ranks: those of one pattern in one job, and of one pair or group of it."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.plan.model import JobKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mpigauge.result.records import Visit

    Seats = NDArray[np.intp]

seat_of = attrgetter("pattern", "pair", "group", *JobKey.__struct_fields__)
"""What cells of the same ranks have in common."""


def seat_numbers(visits: Sequence[Visit]) -> Seats:
    """Return a number for each pattern, its ranks and how they were launched, from 0, shape ``(visits,)``."""
    numbers: dict[object, int] = {}
    # Cells of a file are one object for all visits of one.
    known: dict[int, int] = {}
    for visit in visits:
        if id(visit.cell) not in known:
            known[id(visit.cell)] = numbers.setdefault(seat_of(visit.cell), len(numbers))
    return np.fromiter((known[id(visit.cell)] for visit in visits), np.intp, len(visits))


def by_seat(visits: Sequence[Visit]) -> list[Seats]:
    """Return places of the visits of the same ranks, rising; an empty part if there are no visits."""
    numbers = seat_numbers(visits)
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
