"""Neighbouring launches: agreement is found where the machine changes slowly, and hardly by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.rows.machine.serial_correlation import launches_in_time, widening_of
from mpigauge.stats.interval import interval_of

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

CELLS, LAUNCHES = 12, 12


def cells(logs: Values) -> list[dict[int, float]]:
    """Shape ``(cells, launches)``."""
    return [dict(enumerate(1e-6 * np.exp(row), 1)) for row in logs]


def drifting(generator: np.random.Generator, memory: float) -> Values:
    """All cells see one machine, which forgets slowly."""
    machine = generator.normal(0, 0.05, LAUNCHES)
    for place in range(1, LAUNCHES):
        machine[place] = memory * machine[place - 1] + np.sqrt(1 - memory**2) * machine[place]
    seen: Values = machine + generator.normal(0, 0.01, (CELLS, LAUNCHES))
    return seen


@pytest.mark.truth
def test_a_machine_that_changes_slowly_is_found_and_one_that_does_not_is_not() -> None:
    generator = np.random.default_rng(5)
    slow = [launches_in_time(cells(drifting(generator, 0.95))) for _ in range(10)]
    quick = [launches_in_time(cells(drifting(generator, 0.0))) for _ in range(30)]
    told = [one for one in slow if one is not None and one.is_beyond_chance]
    assert len(told) >= 4
    assert sum(one is not None and one.is_beyond_chance for one in quick) <= 2
    assert all(one.factor > 1.2 and one.chance < 0.01 for one in told)


def test_intervals_are_widened_by_what_is_seen_also_where_chance_may_have_made_it() -> None:
    """A test would fire in a third of the cases that need it."""
    generator = np.random.default_rng(6)
    factors = [widening_of(cells(drifting(generator, memory))) for memory in (0.7, 0.0) for _ in range(200)]
    alike, apart = factors[:200], factors[200:]
    assert np.median(alike) > 1.4
    assert np.median(apart) < 1.1
    assert min(factors) == 1.0
    assert max(factors) < 4.36
    slow = cells(drifting(generator, 0.99))
    found = launches_in_time(slow)
    assert found is not None
    assert found.factor == widening_of(slow)


@pytest.mark.parametrize(("memory", "launches"), [(0.5, 10), (0.7, 10), (0.7, 30)])
def test_the_factor_is_what_a_median_of_launches_in_time_needs(memory: float, launches: int) -> None:
    """Of a thousand sets of launches whose memory is known."""
    generator = np.random.default_rng(7)
    times = generator.normal(0, 0.05, (1000, launches))
    for place in range(1, launches):
        times[:, place] = memory * times[:, place - 1] + np.sqrt(1 - memory**2) * times[:, place]

    def held(widening: float) -> float:
        found = [interval_of(np.exp(one), widening=widening) for one in times]
        return float(np.mean([(one.low or 0) <= 1 <= (one.high or 0) for one in found]))

    assert held(1.0) < 0.82
    assert 0.9 <= held(np.sqrt((1 + memory) / (1 - memory))) <= 0.97


def test_few_or_equal_launches_say_nothing() -> None:
    assert launches_in_time([]) is None
    assert launches_in_time(cells(np.arange(5.0)[np.newaxis])) is None
    assert launches_in_time(cells(np.zeros((3, 10)))) is None
    assert widening_of(cells(np.zeros((3, 10)))) == 1.0
