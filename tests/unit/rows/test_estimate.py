"""The statistics of a cell, by their properties: coverage, equivariance, recovery of what was planted."""

from __future__ import annotations

import math
import weakref
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.rows.estimate import Estimate, Launches, estimates, rounds_per_launch_advice
from mpigauge.stats.interval import interval_of
from mpigauge.stats.percentiles import median_interval
from mpigauge.vocabulary import STATS
from tests.unit.rows.planted import cell, estimate, lognormal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.stats.percentiles import Values

repeatable = settings(derandomize=True, deadline=None)


@pytest.mark.truth
@pytest.mark.parametrize("launches", [5, 10])
@pytest.mark.parametrize("effect", ["none", "1 % normal", "5 % normal", "5 % two-valued"])
def test_launches_are_the_unit_of_replication(effect: str, launches: int) -> None:
    """docs/method-launches.md#launches, simulated: skewed rounds with spikes, 200 per launch, 1000 times."""
    generator = np.random.default_rng(len(effect) * 100 + launches)
    shape = (1000, launches, 200)
    effects = {
        "none": np.zeros(shape[:2]),
        "1 % normal": generator.normal(0, 0.01, shape[:2]),
        "5 % normal": generator.normal(0, 0.05, shape[:2]),
        "5 % two-valued": generator.choice([-0.05, 0.05], shape[:2]),
    }[effect]
    samples = np.exp(effects)[:, :, np.newaxis] * _skewed_with_spikes(generator, shape)
    by_launch = [interval_of(medians).ends[1:] for medians in np.median(samples, axis=2)]
    pooled = [median_interval(rounds) for rounds in samples.reshape(1000, -1)]
    # The binomial error of 1000 campaigns is 0.7 %. Of two values, five launches are of one kind in 6 %, and
    # ten are eight to two in 9 %, where the end lies between both values, as the middle does.
    assert (0.87 if "two" in effect else 0.92) <= _coverage(by_launch) <= 0.97
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


def test_an_estimate_is_the_median_of_launch_medians_with_its_interval() -> None:
    found = estimate(cell(np.random.default_rng(13), [0.0, 0.02, -0.02, 0.01, -0.01, 0.03]))
    medians = [*found.by_launch.values()]
    right = interval_of(np.array(medians))
    assert (found.estimate, found.low, found.high, found.half_width) == (*right.ends, right.half_width)
    assert found.statistic == "median"
    assert found.geometric_mean == pytest.approx(math.exp(np.log(medians).mean()))
    assert (found.rank_low, found.rank_high) == (min(medians), max(medians))
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
    assert found.estimate == found.by_launch[1]


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
    later, found = estimate([[], *launches, [np.array([])]]), estimate(launches)
    assert later == replace(found, by_launch=dict(zip((2, 3), found.by_launch.values(), strict=True)))
    with pytest.raises(ValueError, match="without rounds"):
        estimate([[], [np.array([])]])


@pytest.mark.parametrize("zeros", [1, 3, 6])
def test_a_launch_median_of_zero_has_no_logarithm_and_no_interval(zeros: int) -> None:
    launches = [[np.zeros(50)]] * zeros + [[np.full(50, 1e-9)]] * (6 - zeros)
    found = estimate(launches)
    assert (found.low, found.high, found.half_width, found.launch_share, found.kinds) == (None,) * 5
    assert found.estimate == np.median([*found.by_launch.values()])
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
    alike = {
        "half_width",
        "launches_half_width",
        "launches",
        "samples",
        "launch_variance",
        "round_variance",
        "in_parts",
    }
    alike |= {
        "widening",
        "promised",
        "launch_share",
        "visit_share",
        "round_share",
        "outliers",
        "drifts",
    }
    alike |= {"step"}
    for name in (field.name for field in fields(Estimate)):
        value, scaled = (_numbers(getattr(one, name)) for one in (before, after))
        expected = value if value is None or name in alike else np.multiply(value, factor)
        assert scaled == (None if value is None else _near(expected)), name


def _numbers(value: Any) -> Any:
    return [*value.values()] if isinstance(value, dict) else value


def _near(expected: object) -> object:
    return expected if isinstance(expected, frozenset) else pytest.approx(expected, rel=1e-6, abs=1e-12)


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
    if found.low is not None and found.high is not None:
        assert found.low <= found.estimate <= found.high
    if found.launch_share is not None:
        shares = (found.launch_share, found.visit_share or 0.0, found.round_share or 0.0)
        assert min(shares) >= 0
        assert sum(shares) == pytest.approx(1)


def test_the_launch_share_tells_rounds_from_launches() -> None:
    generator = np.random.default_rng(21)
    alike = [estimate(cell(generator, [0.0] * 20)).launch_share for _ in range(20)]
    different = estimate(cell(generator, generator.normal(0, 0.1, 20).tolist())).launch_share
    assert np.mean([share for share in alike if share is not None]) < 0.3
    assert different is not None
    assert different > 0.95


@pytest.mark.parametrize(
    ("launch", "visit", "round_", "most"),
    [(0.1, 0.01, 0.05, "launch_share"), (0.0, 0.05, 0.01, "visit_share"), (0.0, 0.0, 0.3, "round_share")],
)
def test_each_share_is_that_of_what_was_planted(
    launch: float, visit: float, round_: float, most: str
) -> None:
    generator = np.random.default_rng(24)
    shares: dict[str, list[float]] = {"launch_share": [], "visit_share": [], "round_share": []}
    for _ in range(20):
        logs = generator.normal(0, launch, (10, 1, 1)) + generator.normal(0, visit, (10, 8, 1))
        times = 1e-6 * np.exp(logs + generator.normal(0, round_, (10, 8, 40)))
        found = estimate([list(one) for one in times])
        for name, mine in shares.items():
            mine.append(getattr(found, name))
    assert max(shares, key=lambda name: float(np.mean(shares[name]))) == most
    assert np.mean(shares[most]) > 0.5


def test_rounds_that_do_not_vary_give_no_advice() -> None:
    found = estimate([[np.full(50, time_s)] for time_s in (1e-6, 1.1e-6, 1.05e-6)])
    assert found.round_variance is None


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


def test_samples_of_a_cell_go_as_soon_as_it_is_described() -> None:
    made: list[weakref.ref[Values]] = []

    def cells() -> Iterator[Launches]:
        for _ in range(20):
            samples = np.full(50_000, 1e-6)
            made.append(weakref.ref(samples))
            yield Launches([1], [[samples]], [()])

    live = [sum(one() is not None for one in made) for _ in estimates(cells())]
    assert len(live) == 20
    assert max(live) <= 2


def test_a_pool_of_samples_is_described_as_its_visits_are() -> None:
    generator = np.random.default_rng(5)
    pool = lognormal(generator, (30,))
    visits = [[pool[:7], pool[7:12]], [pool[12:]]]
    apart = estimate([[visit.copy() for visit in mine] for mine in visits])
    assert next(estimates([Launches([1, 2], visits, [(), ()], pool)])) == apart
