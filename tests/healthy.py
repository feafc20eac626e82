"""Results of a machine on which nothing is wrong, and what can be planted in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.made import RECORDS, campaign, cell, launches_of, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result

LAUNCHES = 10
SAMPLES = 40
CURVES = (("pingpong", "standard", 40), ("pingpong", "nonblocking", 40), ("exchange", "nonblocking", 39))
CELLS = [cell(pattern, 8 * (place + 1), mode) for pattern, mode, count in CURVES for place in range(count)]
"""119 numbers, as a default campaign has."""


def healthy(
    generator: np.random.Generator,
    shared: float,
    planted: Callable[[Cell, int], float] = lambda *_: 1.0,
    begins: float = 1.0,
) -> Result:
    """Ten launches that differ by 2 %, and samples that differ by 3 %.

    Args:
        shared: How much of the variance of launches all cells have in common.
        planted: How many times as long a cell takes in a launch, by its number.
        begins: How many times as long the first quarter of each launch takes.
    """
    of_launches = dict(zip(range(1, LAUNCHES + 1), generator.normal(0, 0.02, LAUNCHES), strict=True))
    first = np.where(np.arange(SAMPLES) < SAMPLES / 4, begins, 1.0)

    def samples_ns(of: Cell, number: int) -> list[int]:
        own = np.sqrt(shared) * of_launches[number] + np.sqrt(1 - shared) * generator.normal(0, 0.02)
        noise = generator.normal(0, 0.03, SAMPLES)
        times = 100_000 * planted(of, number) * first * np.exp(own + noise)
        return [round(time) for time in times]

    numbers = range(1, LAUNCHES + 1)
    return result_of(
        campaign(*CELLS),
        *launches_of(CELLS, numbers),
        *measured(CELLS, numbers, samples_ns),
        RECORDS[-1],
    )
