"""Starting together: late rounds do not count, overlap is found as planted, clocks are as good as proven."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.plan.model import JobKey
from mpigauge.result.kernel_data import ClockCheck
from mpigauge.result.records import Visit
from mpigauge.rows.samples import seconds_of
from mpigauge.rows.synchrony import clock_states, in_time, overlap_of, start_of
from mpigauge.stats.interval import interval_of
from tests.made import SMALL, clock, collective, together, visit

if TYPE_CHECKING:
    from mpigauge.result.records import Visit

repeatable = settings(derandomize=True, deadline=None)
CELL = collective()
OVERLAP = collective(mode="overlap")

samples = st.lists(st.integers(1, 10**9), min_size=1, max_size=12)
bounds = st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 10**6)).map(
    lambda ends: (ends[0], ends[0] + ends[1])
)


def some_late(data: st.DataObject, count: int) -> list[int]:
    """Some rounds, but not all."""
    return sorted(data.draw(st.sets(st.integers(0, count - 1), max_size=count - 1)))


# ---- Late rounds ---------------------------------------------------------------------------------


@repeatable
@given(samples, st.data())
def test_late_rounds_do_not_count(times: list[int], data: st.DataObject) -> None:
    late = some_late(data, len(times))
    keep = in_time(together(1, 0, CELL, times, late=late))
    assert [i for i, kept in enumerate(keep) if not kept] == late


@repeatable
@given(samples)
def test_if_all_rounds_are_late_they_count(times: list[int]) -> None:
    all_late = together(1, 0, CELL, times, late=list(range(len(times))))
    assert in_time(all_late).all()
    assert start_of([all_late]) is not None
    assert seconds_of(all_late).tolist() == seconds_of(together(1, 0, CELL, times)).tolist()


@repeatable
@given(samples, st.integers(0, 10**9), st.data())
def test_what_a_late_round_took_changes_nothing(times: list[int], other: int, data: st.DataObject) -> None:
    late = some_late(data, len(times))
    altered = [other if i in late else time for i, time in enumerate(times)]
    skews = [other if i in late else 5 for i in range(len(times))]
    one = together(1, 0, CELL, times, late=late)
    another = together(1, 0, CELL, altered, late=late, skew_ns=skews)
    assert seconds_of(one).tolist() == seconds_of(another).tolist()
    assert start_of([one]) == start_of([another])


@repeatable
@given(st.lists(st.tuples(st.integers(1, 3), samples, st.booleans()), min_size=1, max_size=5), st.data())
def test_the_share_of_late_rounds_is_that_of_all_rounds(
    drawn: list[tuple[int, list[int], bool]], data: st.DataObject
) -> None:
    visits = [
        together(launch, i, CELL, times, late=some_late(data, len(times)) if some else [])
        for i, (launch, times, some) in enumerate(drawn)
    ]
    start = start_of(visits)
    assert start is not None
    assert start.late_share * sum(len(one.samples_ns) for one in visits) == pytest.approx(
        sum(len(one.late) for one in visits)
    )


# ---- How ranks started ---------------------------------------------------------------------------


def test_what_need_not_start_together_has_no_start() -> None:
    assert start_of([]) is start_of([visit(1, 0, SMALL, [200])]) is None
    mixed = [visit(1, 0, SMALL, [200]), together(1, 1, CELL, [100, 100])]
    assert start_of(mixed) == start_of(mixed[1:])


@repeatable
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=300))
def test_skews_are_percentiles_of_all_rounds(skews: list[int]) -> None:
    half = len(skews) // 2
    visits = [
        together(1, i, CELL, [1000] * len(part), skew_ns=part)
        for i, part in enumerate((skews[:half], skews[half:]))
        if part
    ]
    start = start_of(visits)
    assert start is not None
    ordered = sorted(skews)
    not_above = sum(skew * 1e-9 <= start.skew_p50_s * (1 + 1e-12) for skew in skews)
    assert 2 * not_above >= len(skews)
    assert ordered[0] * 1e-9 <= start.skew_p50_s * (1 + 1e-12)
    assert start.skew_p50_s <= start.skew_p99_s <= ordered[-1] * 1e-9 * (1 + 1e-12)
    beyond = sum(skew * 1e-9 > start.skew_p99_s * (1 + 1e-12) for skew in skews)
    assert beyond <= math.ceil(0.01 * (len(skews) - 1))


@repeatable
@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=6), st.integers(1, 10**6))
def test_root_and_ranks_are_medians_of_launches(medians: list[int], factor: int) -> None:
    visits = [
        together(launch, 0, CELL, [median] * 3, root_ns=[median] * 3, local_ns=[factor * median] * 3)
        for launch, median in enumerate(medians)
    ]
    start = start_of(visits)
    assert start is not None
    assert start.root_s is not None
    assert start.local_s is not None
    assert start.root_s == pytest.approx(interval_of(np.array(medians) * 1e-9).estimate)
    assert start.local_s == pytest.approx(factor * start.root_s)


def test_a_launch_counts_once_however_many_visits_it_has() -> None:
    once = [together(1, 0, CELL, [100] * 5), together(2, 0, CELL, [400] * 5)]
    often = [*once, *(together(2, i, CELL, [400] * 50) for i in range(1, 9))]
    assert start_of(often) == start_of(once)


@pytest.mark.parametrize("time_ns", [0, -20])
def test_a_rank_that_took_no_time_has_no_mean(time_ns: int) -> None:
    """Clocks that differ can make an end come before its begin."""
    start = start_of([together(1, 0, CELL, [100] * 3, root_ns=[time_ns] * 3)])
    assert start is not None
    assert start.root_s is None
    assert start.local_s is not None


# ---- Overlap -------------------------------------------------------------------------------------


def overlapping(launch: int, number: int, pure_ns: int, work_ns: int, share: float) -> Visit:
    """A visit in which so much of the operation is hidden."""
    whole_ns = round(work_ns + (1 - share) * pure_ns)
    return together(launch, number, OVERLAP, [whole_ns] * 5, pure_ns=[pure_ns] * 5, work_ns=work_ns)


@repeatable
@given(st.floats(-1, 1), st.integers(10**6, 10**9), st.floats(0.5, 2), st.integers(1, 4))
def test_overlap_is_found_as_planted(share: float, pure_ns: int, work: float, launches: int) -> None:
    work_ns = round(work * pure_ns)
    found = overlap_of([overlapping(i, 0, pure_ns, work_ns, share) for i in range(launches)])
    assert found is not None
    assert found.estimate == pytest.approx(share, abs=1e-5)
    assert found.pure_s == pytest.approx(pure_ns * 1e-9)
    if launches == 1:
        assert found.low is found.high is None
    else:
        assert found.low == pytest.approx(share, abs=1e-4)
        assert found.high == pytest.approx(share, abs=1e-4)


def test_all_or_nothing_can_be_hidden_and_less_than_nothing() -> None:
    for share in (1.0, 0.0, -0.5):
        found = overlap_of([overlapping(1, 0, 10**6, 10**6, share)])
        assert found is not None
        assert found.estimate == pytest.approx(share)


def test_each_visit_is_compared_with_its_own_computation() -> None:
    """A launch that gets slower hides as much as before."""
    drifting = [overlapping(1, i, 10**6 * (1 + i), 10**6 * (1 + i), 0.5) for i in range(8)]
    found = overlap_of(drifting)
    assert found is not None
    assert found.estimate == pytest.approx(0.5)


def test_several_operations_in_a_sample_are_told_apart() -> None:
    one = together(1, 0, OVERLAP, [3000] * 5, pure_ns=[2000] * 5, work_ns=1000, ops=2)
    found = overlap_of([one])
    assert found is not None
    assert found.estimate == pytest.approx(0.5)


def test_late_rounds_hide_nothing() -> None:
    late = together(1, 0, OVERLAP, [1500, 9000, 9000], pure_ns=[1000], work_ns=1000, late=[1, 2])
    found = overlap_of([late])
    assert found is not None
    assert found.estimate == pytest.approx(0.5)


def test_launches_count_alike_and_their_interval_covers() -> None:
    """Nominally 95 % of the intervals hold the mean over launches."""
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(500):
        shares = 0.4 + 0.1 * generator.standard_normal(5)
        found = overlap_of([overlapping(i, 0, 10**6, 10**6, share) for i, share in enumerate(shares)])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert found.estimate == pytest.approx(np.median(shares), abs=1e-5)
        covered += found.low <= 0.4 <= found.high
    assert 0.90 <= covered / 500 <= 0.98
    one, other = overlapping(1, 0, 10**6, 10**6, 0.2), overlapping(2, 0, 10**6, 10**6, 0.6)
    assert overlap_of([one, other]) == overlap_of([one, other, other, other])


def test_what_does_not_overlap_has_none() -> None:
    assert overlap_of([]) is overlap_of([together(1, 0, CELL, [100] * 3)]) is None
    assert overlap_of([together(1, 0, OVERLAP, [100], pure_ns=[0], work_ns=100)]) is None


# ---- Clocks --------------------------------------------------------------------------------------


@repeatable
@given(st.lists(bounds, max_size=5), st.booleans())
def test_no_error_is_larger_than_its_bound(checks: list[tuple[int, int]], shared: bool) -> None:
    (state,) = clock_states([clock(1, low, high, shared=shared) for low, high in [(0, 0), *checks]]).values()
    assert state.shared == shared
    assert 0 <= state.error_s <= state.bound_s
    widest = max((max(abs(low), abs(high)) for low, high in checks), default=0)
    assert state.bound_s == pytest.approx(widest * 1e-9)


@repeatable
@given(bounds)
def test_of_one_clock_only_what_is_proven_is_an_error(check: tuple[int, int]) -> None:
    """No offset within the bounds is smaller than it."""
    (state,) = clock_states([clock(1, *check)]).values()
    nearest = min(abs(check[0]), abs(check[1])) if check[0] * check[1] > 0 else 0
    assert state.error_s == pytest.approx(nearest * 1e-9)


@repeatable
@given(st.integers(-(10**6), 10**6), st.integers(0, 10**6))
def test_of_separate_clocks_the_middle_of_the_bounds_is_the_error(offset: int, reach: int) -> None:
    (state,) = clock_states([clock(1, offset - reach, offset + reach, shared=False)]).values()
    assert state.error_s == pytest.approx(abs(offset) * 1e-9)
    assert state.bound_s == pytest.approx((abs(offset) + reach) * 1e-9)


def test_the_worst_check_of_a_job_counts() -> None:
    checks = (ClockCheck(1, -50, 50), ClockCheck(3, 20, 120))
    clocks = [clock(1), clock(1, checks=checks), clock(2, -10, 90)]
    (state,) = clock_states(clocks).values()
    assert state.shared
    assert (state.error_s, state.bound_s) == pytest.approx((20e-9, 120e-9))
    (same,) = clock_states(clocks[::-1]).values()
    assert same == state


def test_one_launch_with_separate_clocks_makes_the_job_so() -> None:
    clocks = [clock(1), clock(2, 20, 120, shared=False)]
    (state,) = clock_states(clocks).values()
    assert not state.shared
    assert state.error_s == pytest.approx(70e-9)


def test_jobs_have_clocks_of_their_own() -> None:
    wide = clock(1, -500, 500, ranks=4)
    states = clock_states([clock(1), wide, clock(1, mpi="mpich", shared=False)])
    assert set(states) == {
        JobKey("openmpi", "5.0.11", "auto", "same-host", 2),
        JobKey("openmpi", "5.0.11", "auto", "same-host", 4),
        JobKey("mpich", "5.0.11", "auto", "same-host", 2),
    }
    assert states[wide.job].bound_s == pytest.approx(500e-9)
    assert not states[JobKey("mpich", "5.0.11", "auto", "same-host", 2)].shared
    assert clock_states([]) == {}


def test_a_rank_alone_has_nothing_to_compare() -> None:
    (state,) = clock_states([clock(1, ranks=1, checks=())]).values()
    assert (state.shared, state.error_s, state.bound_s) == (True, 0, 0)


def test_an_operation_that_takes_no_time_alone_has_no_overlap() -> None:
    still = [overlapping(1, place, 0, 100, 0.5) for place in range(2)]
    some = [overlapping(1, place, 10**6, 10**6, 0.5) for place in range(2, 6)]
    assert overlap_of(still) is None
    assert overlap_of([*still, *some]) == overlap_of(some)


def test_root_and_ranks_are_medians_of_grouped_data() -> None:
    visits = [
        together(number, 0, CELL, [500] * 40, root_ns=[480] * 30 + [490] * 10, local_ns=[470] * 40)
        for number in range(1, 4)
    ]
    start = start_of(visits, 10.0)
    assert start is not None
    assert start.root_s == pytest.approx((475 + 10 * 0.5 / 0.75) * 1e-9, rel=1e-3)
    assert start.local_s == pytest.approx(470e-9, rel=1e-3)
