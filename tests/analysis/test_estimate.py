"""The statistics of a cell, by their properties: coverage, equivariance, recovery of what was planted."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.analysis.estimate import (
    STATS,
    Estimate,
    Values,
    correlation_time,
    estimate,
    launch_interval,
    median_interval,
    rounds_per_launch_advice,
    summarise_launch,
    two_kinds,
)
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

repeatable = settings(derandomize=True, deadline=None)


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


# --- median_interval


@pytest.mark.parametrize("count", [6, 10, 70, 71, 5000])
def test_the_median_interval_covers_as_often_as_it_says(count: int) -> None:
    samples = lognormal(np.random.default_rng(count), (2000, count))
    intervals = np.array([median_interval(row) for row in samples])
    covered = np.mean((intervals[:, 0] <= 1e-6) & (intervals[:, 1] >= 1e-6))
    assert 0.94 <= covered <= 0.985


@pytest.mark.parametrize(("count", "low", "high"), [(6, 1, 6), (10, 2, 9), (20, 6, 15), (70, 27, 44)])
def test_small_counts_have_the_ranks_of_the_published_table(count: int, low: int, high: int) -> None:
    assert median_interval(np.arange(1.0, count + 1)) == (low, high)


@pytest.mark.parametrize("count", [1023, 1024, 1025, 10**4, 10**6])
def test_large_counts_have_the_ranks_of_the_normal_approximation(count: int) -> None:
    low, high = median_interval(np.arange(1.0, count + 1))
    assert low == pytest.approx((count - 1.96 * math.sqrt(count)) / 2, abs=1.5)
    assert low + high == count + 1


@repeatable
@given(st.integers(1, 2000), st.floats(0.5, 0.999))
def test_the_low_rank_is_the_largest_that_the_binomial_allows(count: int, level: float) -> None:
    low, high = median_interval(np.arange(1.0, count + 1), level)
    rank = 0 if math.isnan(low) else int(low)
    outcomes_below = sum(math.comb(count, successes) for successes in range(rank))
    assert rank == 0 or rank + high == count + 1
    # Exact integers, divided once: the tolerance is that of the incomplete beta function.
    assert outcomes_below / 2**count <= (1 - level) / 2 * (1 + 1e-9)
    assert (outcomes_below + math.comb(count, rank)) / 2**count >= (1 - level) / 2 * (1 - 1e-9)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_too_few_values_have_no_median_interval(count: int) -> None:
    assert all(math.isnan(end) for end in median_interval(np.arange(1.0, count + 1)))


def test_correlation_widens_the_median_interval_by_its_root() -> None:
    values = np.arange(1.0, 10_001)
    widths = [np.diff(median_interval(values, tau=tau))[0] for tau in (1.0, 4.0, 16.0)]
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.02)
    assert widths[2] == pytest.approx(4 * widths[0], rel=0.02)
    assert all(math.isnan(end) for end in median_interval(values[:100], tau=100.0))


def test_the_widened_interval_covers_the_median_of_correlated_rounds() -> None:
    generator = np.random.default_rng(5)
    covered = []
    for _ in range(300):
        rounds = np.concatenate(autoregressive(generator, 1, 1000, 0.8))
        low, high = median_interval(rounds, tau=9.0)
        covered.append(low <= 1e-6 <= high)
    assert np.mean(covered) >= 0.92


# --- correlation_time


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


@pytest.mark.parametrize("visits", [[], [np.array([])], [np.ones(1)], [np.full(100, 1e-6)], [np.zeros(100)]])
def test_times_that_do_not_vary_count_each(visits: list[Values]) -> None:
    assert correlation_time(visits) == 1.0


def test_a_clock_that_stands_still_is_no_error() -> None:
    times = np.random.default_rng(6).choice([0.0, 1e-9, 2e-9], (4, 100))
    assert correlation_time(list(times)) == pytest.approx(1.0, abs=0.3)


# --- summarise_launch


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


# --- estimate


@pytest.mark.parametrize("launches", [5, 10])
@pytest.mark.parametrize("effect", ["none", "1 % normal", "5 % normal", "5 % two-valued"])
def test_launches_are_the_unit_of_replication(effect: str, launches: int) -> None:
    """The table of method 1.10: skewed rounds with spikes, 200 a launch, 1000 campaigns."""
    generator = np.random.default_rng(len(effect) * 100 + launches)
    shape = (1000, launches, 200)
    effects = {
        "none": np.zeros(shape[:2]),
        "1 % normal": generator.normal(0, 0.01, shape[:2]),
        "5 % normal": generator.normal(0, 0.05, shape[:2]),
        "5 % two-valued": generator.choice([-0.05, 0.05], shape[:2]),
    }[effect]
    samples = np.exp(effects)[:, :, np.newaxis] * _skewed_with_spikes(generator, shape)
    by_launch = [launch_interval(medians)[1:3] for medians in np.median(samples, axis=2)]
    pooled = [median_interval(rounds) for rounds in samples.reshape(1000, -1)]
    # The binomial error of 1000 campaigns is 0.7 %; with five launches of two values 6 % are all of one kind.
    assert 0.92 <= _coverage(by_launch) <= 0.97
    assert (_coverage(pooled) > 0.92) if effect == "none" else (_coverage(pooled) < 0.6)


def _skewed_with_spikes(generator: np.random.Generator, shape: tuple[int, ...]) -> Values:
    """Rounds with median 1: skewed around it, and one in fifty three times as long."""
    normal = generator.standard_normal(shape, dtype=np.float32)
    # The spikes come from the slower half, so that the median stays what it is.
    spikes = (normal > 0) & (generator.random(shape, dtype=np.float32) < 0.04)
    samples = 1 + 0.04 * np.expm1(0.5 * normal.astype(np.float64))
    samples[spikes] *= 3
    return samples


def _coverage(intervals: Sequence[tuple[float | None, float | None]]) -> float:
    return float(
        np.mean([low is not None and high is not None and low <= 1 <= high for low, high in intervals])
    )


def test_an_estimate_is_the_geometric_mean_of_launch_medians_with_the_t_interval() -> None:
    found = estimate(cell(np.random.default_rng(13), [0.0, 0.02, -0.02, 0.01, -0.01, 0.03]))
    logs = np.log(found.launch_medians)
    half = 2.5706 * logs.std(ddof=1) / math.sqrt(6)
    assert found.estimate == pytest.approx(math.exp(logs.mean()))
    assert (found.low, found.high) == pytest.approx(
        (math.exp(logs.mean() - half), math.exp(logs.mean() + half))
    )
    assert found.half_width == pytest.approx(math.expm1(half), rel=1e-4)
    assert (found.rank_low, found.rank_high) == (min(found.launch_medians), max(found.launch_medians))
    assert (found.launches, found.samples) == (6, 6 * 200)


def test_all_rounds_are_described_together() -> None:
    launches = cell(np.random.default_rng(14), [0.0, 0.1], rounds=300)
    rounds = np.concatenate([visit for launch in launches for visit in launch])
    found = estimate(launches)
    described = [found.min, found.p5, found.p25, found.median, found.p75, found.p95, found.p99, found.max]
    assert described == pytest.approx(np.percentile(rounds, [0, 5, 25, 50, 75, 95, 99, 100]).tolist())
    assert (found.mean, found.stddev) == pytest.approx((rounds.mean(), rounds.std(ddof=1)))


@pytest.mark.parametrize(
    ("count", "missing"),
    [(399, {"p5", "p95", "p99"}), (400, {"p99"}), (1999, {"p99"}), (2000, set())],
)
def test_percentiles_need_twenty_rounds_beyond_them(count: int, missing: set[str]) -> None:
    found = estimate([[lognormal(np.random.default_rng(15), (count,))]])
    assert {name for name in ("p5", "p25", "p75", "p95", "p99") if getattr(found, name) is None} == missing


def test_one_launch_has_no_interval() -> None:
    found = estimate(cell(np.random.default_rng(16), [0.0]))
    absent = (
        found.low,
        found.high,
        found.half_width,
        found.rank_low,
        found.rank_high,
        found.launch_share,
        found.kinds,
    )
    assert absent == (None,) * 7
    assert found.estimate == found.launch_medians[0]


@pytest.mark.parametrize("launches", [2, 5])
def test_few_launches_have_no_interval_by_ranks(launches: int) -> None:
    found = estimate(cell(np.random.default_rng(17), [0.0] * launches))
    assert found.low is not None
    assert (found.rank_low, found.rank_high) == (None, None)


def test_a_single_round_is_described() -> None:
    found = estimate([[np.array([2e-6])]])
    assert (found.estimate, found.mean, found.min, found.max, found.stddev) == (2e-6, 2e-6, 2e-6, 2e-6, None)


def test_what_has_no_rounds_is_passed_over_and_nothing_at_all_is_an_error() -> None:
    launches = cell(np.random.default_rng(18), [0.0, 0.01])
    assert estimate([[], *launches, [np.array([])]]) == estimate(launches)
    with pytest.raises(ValueError, match="without rounds"):
        estimate([[], [np.array([])]])


@pytest.mark.parametrize("zeros", [1, 3, 6])
def test_a_launch_median_of_zero_has_no_logarithm_and_no_interval(zeros: int) -> None:
    launches = [[np.zeros(50)]] * zeros + [[np.full(50, 1e-9)]] * (6 - zeros)
    found = estimate(launches)
    assert (found.low, found.high, found.half_width, found.launch_share, found.kinds) == (None,) * 5
    assert found.estimate == np.median(found.launch_medians)
    assert found.rank_low == 0


def test_equal_launches_have_an_interval_without_width() -> None:
    found = estimate([[np.full(50, 0.7e-6)]] * 7)
    assert (found.estimate, found.low, found.high, found.half_width) == (0.7e-6, 0.7e-6, 0.7e-6, 0.0)
    assert (found.launch_share, found.launch_variance, found.kinds) == (None, 0.0, None)


def test_some_rounds_of_zero_change_little() -> None:
    launches = cell(np.random.default_rng(19), [0.0, 0.01, 0.02])
    for launch in launches:
        launch[0][:3] = 0
    found = estimate(launches)
    assert found.min == 0
    assert found.low is not None
    assert found.estimate == pytest.approx(1e-6, rel=0.05)


@pytest.mark.parametrize("stat", STATS)
@pytest.mark.parametrize("factor", [1e-3, 7.0])
def test_scaling_all_times_scales_the_estimate_and_nothing_else(stat: str, factor: float) -> None:
    launches = cell(np.random.default_rng(20), [0.0, 0.1, 0.0, 0.1, 0.1, 0.02, 0.0], rounds=500)
    before = estimate(launches, stat)
    after = estimate([[factor * visit for visit in launch] for launch in launches], stat)
    alike = {"half_width", "launches", "samples", "launch_share", "launch_variance", "round_variance", "tau"}
    alike |= {"correlated_launches", "unsteady_launches"}
    for name in (field.name for field in fields(Estimate)):
        value = getattr(before, name)
        expected = value if value is None or name in alike else np.multiply(value, factor)
        assert getattr(after, name) == (None if value is None else pytest.approx(expected, rel=1e-6)), name


@repeatable
@given(
    st.lists(st.lists(st.lists(st.integers(0, 10**9), max_size=20), max_size=3), min_size=1, max_size=8),
    st.sampled_from(STATS),
)
def test_whatever_was_measured_is_described_in_order(times_ns: list[list[list[int]]], stat: str) -> None:
    launches = [[np.array(visit, dtype=np.float64) * 1e-9 for visit in launch] for launch in times_ns]
    if not any(visit for launch in times_ns for visit in launch):
        return
    found = estimate(launches, stat)
    assert found.min <= found.p25 <= found.median <= found.p75 <= found.max
    assert found.tau >= 1
    if found.low is not None and found.high is not None:
        assert found.low <= found.estimate <= found.high
    assert found.launch_share is None or 0 <= found.launch_share <= 1


def test_the_launch_share_tells_rounds_from_launches() -> None:
    generator = np.random.default_rng(21)
    alike = [estimate(cell(generator, [0.0] * 20)).launch_share for _ in range(20)]
    different = estimate(cell(generator, generator.normal(0, 0.1, 20).tolist())).launch_share
    assert np.mean([share for share in alike if share is not None]) < 0.3
    assert different is not None
    assert different > 0.95


# --- two_kinds


def test_two_kinds_of_launches_are_seen() -> None:
    effects = [0.0, 0.2, 0.0, 0.2, 0.2, 0.001, 0.199, 0.001]
    found = estimate(cell(np.random.default_rng(22), effects, rounds=500))
    assert found.kinds == pytest.approx((1e-6, math.exp(0.2) * 1e-6), rel=0.01)


@pytest.mark.parametrize(
    "effects",
    [
        [0.0, 0.2, 0.0],
        [0.0, 0.001, 0.002, 0.003, 0.2],
        [0.0, 0.001, 0.012, 0.013],
        [0.0, 0.05, 0.1, 0.15, 0.2],
        [0.0, 0.0, 0.0, 0.0],
    ],
    ids=["too few", "one alone", "under 2 %", "evenly spread", "equal"],
)
def test_other_launches_are_of_one_kind(effects: list[float]) -> None:
    assert two_kinds(1e-6 * np.exp(np.array(effects))) is None


# --- rounds_per_launch_advice


def test_the_advice_is_that_of_the_formula() -> None:
    assert rounds_per_launch_advice(1.0, 1e-4, 0.04, 0.0004) == 1000
    assert rounds_per_launch_advice(1.0, 1e-4, 0.0, 0.0004) == 1


@pytest.mark.parametrize("costs", [(1.0, 1e-4, 0.04, 0.0), (0.0, 1e-4, 0.04, 0.1), (1.0, 0.0, 0.04, 0.1)])
def test_there_is_no_advice_without_costs_or_differences(costs: tuple[float, float, float, float]) -> None:
    assert rounds_per_launch_advice(*costs) is None


def test_the_advised_rounds_are_the_cheapest() -> None:
    seconds_per_launch, seconds_per_round, round_variance, launch_variance = 0.5, 1e-5, 0.01, 1e-4

    def cost(rounds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        variance = launch_variance + round_variance / rounds
        return variance * (seconds_per_launch + rounds * seconds_per_round)

    candidates = np.arange(1.0, 20_000)
    advised = rounds_per_launch_advice(seconds_per_launch, seconds_per_round, round_variance, launch_variance)
    assert advised == pytest.approx(candidates[cost(candidates).argmin()], abs=1)
