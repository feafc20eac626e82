"""How much of a campaign is done, and the time left, by a clock that tests set."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mpigauge.cli.screen.progress import CampaignProgress
from mpigauge.plan.model import Measure, Plan

START_S, VISITS, VISIT_S = 4.0, 10, 0.1
LAUNCH_S = START_S + VISITS * VISIT_S


@dataclass
class Watched:
    """A campaign whose jobs start slowly, and its progress.

    Attributes:
        by_clock_s: What the clock says.
    """

    plan: Plan
    jobs: int = 1
    spent_s: float = 0.0
    by_clock_s: float = 100.0

    def __post_init__(self) -> None:
        self.progress = CampaignProgress(self.plan, self.jobs, self.spent_s, lambda: self.by_clock_s)

    def launch(self, number: int, visits: int = VISITS, *, part: int = 1) -> None:
        """A launch as far as so many visits; of all of them, to its end."""
        self.progress.launch_begins(number, part, VISITS)
        self.by_clock_s += START_S
        for _ in range(visits):
            self.progress.visit_begins()
            self.by_clock_s += VISIT_S
            self.progress.visit_ends()
        if visits == VISITS:
            self.progress.launch_ends()

    def left_s(self) -> int:
        """The number in the words that say what is left."""
        return int(self.progress.left().removeprefix("at most ").removesuffix(" s left"))


def plan(launches: int, most: int | None = None, budget_s: float | None = None) -> Plan:
    """A plan of so many launches, or of up to so many."""
    return Plan(
        (Measure("pingpong"),),
        title="a test",
        seed=7,
        launches_min=launches,
        launches_max=most or launches,
        budget_s=budget_s,
    )


def test_the_start_of_the_library_counts_from_the_first_visits_on() -> None:
    """By visits alone it was 4 %, and 120 s left where 49 s were."""
    seen = Watched(plan(12))
    assert (seen.progress.share(), seen.progress.left()) == (0.0, "")
    seen.launch(1, visits=4)
    assert seen.progress.share() == pytest.approx((START_S + 4 * VISIT_S) / (12 * LAUNCH_S))
    assert seen.progress.left() == f"{12 * LAUNCH_S - START_S - 4 * VISIT_S:.0f} s left"


def test_a_library_that_starts_goes_on_with_the_clock() -> None:
    seen = Watched(plan(4))
    seen.launch(1)
    seen.progress.launch_begins(2, 1, VISITS)
    seen.by_clock_s += START_S / 2
    assert seen.progress.share() == pytest.approx((LAUNCH_S + START_S / 2) / (4 * LAUNCH_S))
    seen.by_clock_s += 100 * START_S  # a start that takes longer than all before it
    assert seen.progress.share() == pytest.approx((LAUNCH_S + START_S) / (4 * LAUNCH_S))


def test_nothing_goes_back_and_the_end_is_the_end() -> None:
    seen = Watched(plan(3), jobs=2)
    shares = [seen.progress.share()]
    for number in (1, 2, 3):
        for _ in range(2):
            seen.launch(number)
            shares.append(seen.progress.share())
    assert shares == pytest.approx([0, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])
    assert seen.left_s() == 0


def test_a_campaign_that_may_end_before_says_at_most() -> None:
    seen = Watched(plan(5, 12))
    seen.launch(1)
    assert seen.progress.left() == f"at most {11 * LAUNCH_S:.0f} s left"
    exact = Watched(plan(12))
    exact.launch(1)
    assert exact.progress.left() == f"{11 * LAUNCH_S:.0f} s left"


def test_launches_of_earlier_sessions_are_done_and_took_no_time() -> None:
    seen = Watched(plan(10))
    seen.launch(8)
    assert seen.progress.share() == pytest.approx(8 / 10)
    assert seen.left_s() == round(2 * LAUNCH_S)


def test_a_launch_that_is_continued_is_one_launch() -> None:
    seen = Watched(plan(2))
    seen.launch(1, visits=5)
    seen.launch(1, part=2)
    assert seen.progress.share() == pytest.approx(1 / 2)


def test_a_budget_is_over_with_its_time_or_with_its_launches() -> None:
    seen = Watched(plan(5, 100, budget_s=50.0))
    seen.launch(1)
    assert seen.progress.share() == pytest.approx(LAUNCH_S / 50)
    assert seen.progress.left() == f"at most {50 - LAUNCH_S:.0f} s left"
    resumed = Watched(plan(5, 100, budget_s=50.0), spent_s=20.0)
    resumed.launch(5)
    assert resumed.progress.share() == pytest.approx((20 + LAUNCH_S) / 50)
    assert resumed.left_s() == round(30 - LAUNCH_S)
    few = Watched(plan(2, budget_s=1000.0))
    few.launch(1)
    assert few.progress.share() == pytest.approx(1 / 2)
    assert few.left_s() == round(LAUNCH_S)
