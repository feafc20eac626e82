"""What is said of one launch: its statistic, what looks like warm-up, and when rounds are too alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mpigauge.analysis.percentiles import median_interval
from mpigauge.analysis.within_launch import summarise_launch
from mpigauge.errors import UsageError
from mpigauge.vocabulary import STATS
from tests.unit.analysis.planted import lognormal


@pytest.mark.parametrize("stat", STATS)
def test_a_launch_stands_for_its_statistic(stat: str) -> None:
    visits = list(lognormal(np.random.default_rng(7), (4, 250)))
    percents = {"median": 50.0, "min": 0.0, "max": 100.0, **{f"p{p}": float(p) for p in (5, 25, 75, 95, 99)}}
    expected = np.mean(visits) if stat == "mean" else np.percentile(visits, percents[stat])
    summary = summarise_launch(visits, stat)
    assert summary.median == pytest.approx(float(expected), rel=1e-12)
    assert summary.count == 1000
    assert (stat in {"min", "max"}) == math.isnan(summary.low)
    if stat not in {"min", "max"}:
        assert summary.low < summary.median < summary.high


def test_an_unknown_statistic_is_refused_with_the_choice() -> None:
    with pytest.raises(UsageError) as caught:
        summarise_launch([np.ones(9)], "mode")
    assert "median" in caught.value.hint


def test_a_launch_without_rounds_cannot_be_summarised() -> None:
    with pytest.raises(ValueError, match="without rounds"):
        summarise_launch([np.array([])])


@pytest.mark.parametrize(
    ("slow", "visible", "steady"), [(0, 0, True), (40, 40, True), (100, 104, True), (140, 144, False)]
)
def test_leading_slow_rounds_look_like_warmup(slow: int, visible: int, steady: bool) -> None:
    rounds = lognormal(np.random.default_rng(8), (480,), spread=0.05)
    rounds[:slow] *= 2
    summary = summarise_launch(list(rounds.reshape(4, 120)))
    assert (summary.warmup_visible, summary.steady) == (visible, steady)


def test_single_slow_rounds_and_a_coarse_clock_are_steady() -> None:
    rounds = np.round(lognormal(np.random.default_rng(9), (400,), spread=0.001) / 4e-9) * 4e-9
    rounds[::20] *= 10
    assert summarise_launch([rounds]).warmup_visible == 0


def test_a_change_in_the_middle_is_not_steady_and_a_drift_is_correlated() -> None:
    rounds = lognormal(np.random.default_rng(10), (800,), 0.01)
    step, drift = np.repeat([2.0, 1.0], 400), np.linspace(1.0, 2.0, 800)
    assert not summarise_launch(list((step * rounds).reshape(8, 100))).steady
    assert summarise_launch(list((drift * rounds).reshape(8, 100))).correlated


def test_strong_correlation_is_marked_and_rests_on_visits() -> None:
    generator = np.random.default_rng(12)
    levels = np.exp(0.1 * generator.standard_normal((8, 1)))
    visits = levels * lognormal(generator, (8, 40), 0.001)
    summary = summarise_launch(list(visits))
    shuffled = summarise_launch(list(generator.permuted(visits.ravel()).reshape(8, 40)))
    assert summary.correlated
    assert summary.effective == pytest.approx(summary.count / summary.tau)
    assert (summary.low, summary.high) == median_interval(np.median(visits, axis=1))
    assert not shuffled.correlated
