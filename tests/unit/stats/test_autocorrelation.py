"""The autocorrelation time: recovery of what was planted, and of nothing where nothing was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.stats.autocorrelation import correlation_times
from mpigauge.stats.ragged import ragged_of
from tests.unit.rows.planted import autoregressive, lognormal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values


def correlation_time(visits: Sequence[Values]) -> float:
    """Of one launch."""
    known = [visit for visit in visits if visit.size]
    ordered = ragged_of([np.concatenate(known)]).ascending()
    return float(correlation_times(ragged_of(known), np.zeros(len(known), dtype=np.intp), ordered)[0])


@pytest.mark.truth
@pytest.mark.parametrize("memory", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize(("visits", "rounds"), [(1, 20_000), (20, 1000)])
def test_a_planted_correlation_time_is_recovered(memory: float, visits: int, rounds: int) -> None:
    generator = np.random.default_rng(11)
    times = [correlation_time(autoregressive(generator, visits, rounds, memory)) for _ in range(5)]
    assert np.mean(times) == pytest.approx((1 + memory) / (1 - memory), rel=0.2)


def test_no_correlation_is_seen_across_visits() -> None:
    # Sorted in pairs over the border of two visits: only products across it could tell.
    borders = lognormal(np.random.default_rng(2), (2, 2000))
    visits = [visit for pair in borders.T for visit in (pair[:1], pair[:1])]
    assert correlation_time(visits) == 1.0
    assert correlation_time([np.concatenate(visits)]) > 1.5


def test_a_slow_visit_counts_as_correlation() -> None:
    generator = np.random.default_rng(3)
    visits = [
        factor * visit for factor, visit in zip((1, 1.5, 1, 1.5), lognormal(generator, (4, 100)), strict=True)
    ]
    assert correlation_time(visits) > 20


def test_visits_of_different_lengths_are_taken_together() -> None:
    rounds = np.concatenate(autoregressive(np.random.default_rng(4), 1, 30_000, 0.6))
    visits = np.split(rounds, np.cumsum([1, 0, 999, 5000, 3000, 3000, 10_000]))
    assert correlation_time(visits) == pytest.approx(4.0, rel=0.2)


NEARLY_ONE = np.repeat([2e-8, np.nextafter(2e-8, 1)], 50)
"""Two times with one logarithm."""


@pytest.mark.parametrize(
    "visits",
    [[np.ones(1)], [np.full(100, 1e-6)], [np.zeros(100)], [NEARLY_ONE]],
)
def test_times_that_do_not_vary_count_each(visits: list[Values]) -> None:
    assert correlation_time(visits) == 1.0


def test_a_clock_that_stands_still_is_no_error() -> None:
    times = np.random.default_rng(6).choice([0.0, 1e-9, 2e-9], (4, 100))
    assert correlation_time(list(times)) == pytest.approx(1.0, abs=0.3)
