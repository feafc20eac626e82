"""The budget: what it divides into fits it, and cells follow what launches really take."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mpigauge.campaign.budget import (
    MAX_CELL_S,
    MIN_CELL_S,
    MIN_DEADLINE_S,
    NEVER_S,
    OVERSPENDING,
    Budget,
    JobBudget,
)
from mpigauge.cli.verbs.sbatch import TIME_MOST_S
from mpigauge.plan.model import Plan
from mpigauge.stats.limits import ENOUGH_LAUNCHES

repeatable = settings(derandomize=True, deadline=None)
budgets_s = st.floats(1.0, 1e5)
shares = st.floats(0.0, 1.0)
numbers = st.integers(1, 40)
startups_s = st.floats(0.0, 10.0)


def budget(budget_s: float | None, jobs: int = 1, spent_s: float = 0.0, *, most: int = 30) -> Budget:
    """One whose session begins in this moment."""
    plan = Plan((), budget_s=budget_s, launches_max=max(most, ENOUGH_LAUNCHES))
    return Budget(plan, jobs, spent_s, started_s=time.monotonic())


@repeatable
@given(number=numbers, jobs=st.integers(1, 5))
def test_without_a_budget_no_limit_applies(number: int, jobs: int) -> None:
    endless = budget(None, jobs)
    assert endless.left_s is None
    assert endless.share_s(number) is None
    assert not endless.overspends(number, 1e9, 1e9)
    assert endless.deadline_s(number, 1.0) == NEVER_S
    # What the kernel is told fits its 64 bits, and no allocation of a cluster is longer.
    assert TIME_MOST_S < NEVER_S < 2**63 * 1e-9


@repeatable
@given(total_s=budgets_s, spent=shares)
def test_time_of_earlier_sessions_counts_against_the_budget(total_s: float, spent: float) -> None:
    left_s = budget(total_s, spent_s=spent * total_s).left_s
    assert left_s == pytest.approx((1 - spent) * total_s, rel=1e-6, abs=1.0)


@repeatable
@given(total_s=budgets_s, allowed=shares, spent=shares, number=numbers)
def test_a_session_plans_with_no_more_time_than_its_job_has(
    total_s: float, allowed: float, spent: float, number: int
) -> None:
    """Whatever earlier ones have spent: a scheduler ends the job before the budget does."""
    allowed_s = allowed * total_s
    cut = budget(total_s, spent_s=spent * total_s)
    cut.allowed_s = allowed_s
    assert cut.left_s is not None
    assert cut.left_s <= allowed_s
    share_s = cut.share_s(number)
    assert share_s is not None
    assert share_s <= allowed_s
    assert cut.replications_planned <= budget(total_s).replications_planned
    endless = budget(None)
    endless.allowed_s = allowed_s
    assert endless.left_s is None


@repeatable
@given(total_s=budgets_s, jobs=st.integers(1, 5))
def test_launches_together_take_no_more_than_the_budget(total_s: float, jobs: int) -> None:
    """If each takes its share, whenever it is asked, the last one ends in time."""
    one = budget(total_s, jobs)
    planned = 0
    while (share_s := one.share_s(planned + 1)) and one.left_s and one.left_s > 1e-3 * total_s:
        one.spent_s += share_s * jobs
        planned += 1
        assert planned <= max(one.plan.launches_max, one.plan.launches_min)
    assert planned >= one.plan.launches_min
    assert one.spent_s <= total_s * (1 + 1e-9)


@repeatable
@given(total_s=budgets_s, spent=shares, number=numbers, jobs=st.integers(1, 5), startup_s=startups_s)
def test_a_deadline_leaves_time_for_the_launches_that_an_interval_needs(
    total_s: float, spent: float, number: int, jobs: int, startup_s: float
) -> None:
    one = budget(total_s, jobs, spent * total_s)
    deadline_s = one.deadline_s(number, startup_s)
    assert deadline_s >= MIN_DEADLINE_S
    to_come = max(1, one.plan.launches_min - number + 1) * jobs
    if deadline_s > MIN_DEADLINE_S:
        assert (deadline_s + startup_s) * to_come <= (1 - spent + OVERSPENDING) * total_s + 1e-3


@repeatable
@given(total_s=budgets_s, spent=shares, startup_s=startups_s, replication_s=st.floats(0.0, 1e5))
def test_launches_for_an_interval_may_be_cut_short_and_later_ones_are_whole(
    total_s: float, spent: float, startup_s: float, replication_s: float
) -> None:
    assume(startup_s * 2 < replication_s)
    one = budget(total_s, spent_s=spent * total_s)
    needed, more = (one.overspends(number, startup_s, replication_s) for number in (1, one.plan.launches_min))
    left_s = (1 - spent) * total_s
    assume(abs(left_s - replication_s) > 1 and abs(left_s - 1.5 * startup_s) > 1)
    assert more == (left_s < replication_s)
    assert needed == (left_s < 1.5 * startup_s)
    assert not (needed and not more)


@repeatable
@given(total_s=budgets_s, cells=st.integers(1, 500), took_s=st.lists(st.floats(1e-3, 1e4), max_size=8))
def test_the_time_of_a_cell_stays_within_its_limits(total_s: float, cells: int, took_s: list[float]) -> None:
    one, job = budget(total_s), JobBudget(cells)
    for number, seconds in enumerate([*took_s, 1.0], start=1):
        assert MIN_CELL_S <= job.limits(one, number, 0).cell_s <= MAX_CELL_S
        job.adapt(one, number, seconds, seconds / 2)
        assert job.launch_s == seconds


@pytest.mark.parametrize(("took_s", "direction"), [(100.0, -1), (1.5, 1)])
def test_cells_get_less_time_after_a_long_launch_and_more_after_a_short_one(
    took_s: float, direction: int
) -> None:
    one, job = budget(100.0), JobBudget(cells=100)
    before_s = job.limits(one, 1, 0).cell_s
    job.adapt(one, 1, took_s, took_s / 2)
    assert (job.limits(one, 2, 0).cell_s - before_s) * direction > 0


def launches_made(budget_s: float, least_s: float, samples_s: float, jobs: int = 1, *, most: int = 14) -> int:
    """How many rounds of launches a budget makes that take so long without samples.

    Args:
        samples_s: What samples take in the first one; it falls and rises with the time of a cell.
    """
    plan = Plan((), budget_s=budget_s, launches_max=most)
    one, of_job = Budget(plan, jobs), JobBudget(cells=100)
    start_s, first_s, took_s, number = 0.3 * least_s, 0.0, 0.0, 0
    of_job.startup_s = start_s
    while number < most and not one.overspends(number, start_s * jobs, took_s):
        number += 1
        cell_s = of_job.limits(one, number, 0).cell_s
        first_s = first_s or cell_s
        samples = samples_s * cell_s / first_s
        took_s = (least_s + samples) * jobs
        one.spent_s += took_s
        of_job.adapt(one, number, least_s + samples, samples)
    return number


@pytest.mark.parametrize(
    ("least_s", "samples_s", "made"),
    [(3.0, 2.0, 13), (3.8, 2.0, 10), (4.2, 2.0, 9), (4.5, 0.4, 9), (1.0, 4.0, 14)],
)
def test_samples_are_cut_for_launches(least_s: float, samples_s: float, made: int) -> None:
    """As many as 45 s pay for without them, up to fourteen; nine where they fit at all."""
    assert launches_made(45, least_s, samples_s) >= made


def test_a_round_that_is_expected_to_end_in_time_is_begun() -> None:
    """Also one of few: 15 s of two jobs whose start is most of them make the five that a verdict takes."""
    assert launches_made(15, 1.45, 0.1, jobs=2) == 5


def test_samples_keep_a_quarter_of_their_mean_share() -> None:
    """With less, they would be what a number varies by, and slow cells would lose visits."""
    one, job = budget(45.0, most=14), JobBudget(cells=100)
    job.startup_s = 1.0
    for number in range(1, 9):
        share_s = one.share_s(number, job.least_s)
        assert share_s is not None
        assert job.limits(one, number, 0).cell_s >= 0.249 * (share_s - job.startup_s) / 100
        job.adapt(one, number, 20.0, 0.5)
