"""Times with known properties, to be found again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.estimate import Estimate, Launches, estimates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values


def lognormal(generator: np.random.Generator, shape: tuple[int, ...], spread: float = 0.1) -> Values:
    """Times around one microsecond."""
    return 1e-6 * np.exp(spread * generator.standard_normal(shape))


def cell(
    generator: np.random.Generator,
    effects: Sequence[float],
    visits: int = 4,
    rounds: int = 50,
    spread: float = 0.05,
) -> list[list[Values]]:
    """One launch for each effect on log t."""
    return [list(math.exp(effect) * lognormal(generator, (visits, rounds), spread)) for effect in effects]


def autoregressive(generator: np.random.Generator, visits: int, rounds: int, memory: float) -> list[Values]:
    """Visits of an AR(1) process with known integrated time ``(1 + memory) / (1 - memory)``."""
    log_times = generator.standard_normal((visits, rounds))
    log_times[:, 0] /= math.sqrt(1 - memory**2)
    for index in range(1, rounds):
        log_times[:, index] += memory * log_times[:, index - 1]
    return list(1e-6 * np.exp(0.05 * log_times))


def estimate(
    launches: Sequence[Sequence[Values]],
    stat: str = "median",
    steps_s: Sequence[Sequence[float]] | None = None,
    numbers: Sequence[int] | None = None,
) -> Estimate:
    """What is said of one cell; None is a clock without steps, and launches 1, 2, 3 and so on."""
    steps_s = steps_s or [()] * len(launches)
    numbers = numbers or range(1, len(launches) + 1)
    return next(estimates([Launches(numbers, launches, steps_s)], stat))
