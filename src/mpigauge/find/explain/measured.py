"""Numbers that are formed launch by launch, with their intervals, and curves that have such numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.plan.factors import SIZE
from mpigauge.rows.group import row_key
from mpigauge.sequences import group_by
from mpigauge.stats.interval import interval_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.rows.rows import Row

LAUNCHES_LEAST = 2
"""Fewer have no interval."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A positive number that each launch has one of.

    Attributes:
        estimate: Its centre over launches.
        low: Lower end of its 95 % interval; None where a launch has 0 or there is one only.
        high: Its upper end.
        launches: How many.
    """

    estimate: float
    low: float | None
    high: float | None
    launches: int


def measured(by_launch: Mapping[int, float]) -> Measured:
    """The number of one launch or more.

    Source:
        docs/method.md#launches
    """
    return Measured(*interval_of(np.array(list(by_launch.values()))), len(by_launch))


def single_calls(evidence: Evidence) -> Iterator[list[Row]]:
    """Curves of talking ranks whose samples hold nothing but the operation, sizes rising."""
    for curve in evidence.curves():
        mode = evidence.mode_of(curve[0])
        if mode is None or not (mode.overlaps or mode.in_a_row):
            yield curve


def alike(evidence: Evidence, ignored: frozenset[str]) -> Iterator[list[list[Row]]]:
    """These curves by groups that differ in some factors alone; those that are alone are left out."""
    groups = group_by(single_calls(evidence), lambda curve: row_key(curve[0], ignored | SIZE))
    yield from (curves for curves in groups.values() if len(curves) > 1)
