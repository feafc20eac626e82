"""Neighbouring launches: agreement is found where the machine changes slowly, and hardly by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.rows.machine.serial_correlation import launches_in_time
from mpigauge.stats.interval import interval_of
from tests.unit.rows.planted import estimate

if TYPE_CHECKING:
    from mpigauge.rows.estimate import Timing
    from mpigauge.stats.percentiles import Values

CELLS, LAUNCHES = 12, 12


def cells(logs: Values) -> list[Timing]:
    """Shape ``(cells, launches)``."""
    return [estimate([[np.array([1e-6 * np.exp(value)])] for value in row]) for row in logs]


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
    assert sum(one is not None for one in slow) >= 4
    assert sum(one is not None for one in quick) <= 2
    assert all(one.factor > 1.2 and one.chance < 0.01 for one in slow if one is not None)


def test_intervals_are_widened_by_the_factor_that_is_said() -> None:
    generator = np.random.default_rng(6)
    times = cells(drifting(generator, 0.99))
    found = launches_in_time(times)
    assert found is not None
    before, after = times[0], times[0].widened(found.factor)
    assert after.estimate == before.estimate
    assert before.half_width is not None
    assert after.half_width is not None
    assert np.log1p(after.half_width) == pytest.approx(found.factor * np.log1p(before.half_width))
    assert after.low is not None
    assert before.low is not None
    assert before.high is not None
    assert after.high is not None
    down, up = before.estimate / before.low, before.high / before.estimate
    assert after.estimate / after.low == pytest.approx(down**found.factor)
    assert after.high / after.estimate == pytest.approx(up**found.factor)
    assert down != pytest.approx(up)
    assert after.by_launch == before.by_launch


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
