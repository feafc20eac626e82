"""The stop rule: what it asks, how often, and what a campaign keeps for it."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.campaign.loop import EVERY_UP_TO, StopRule, last_evaluated
from mpigauge.campaign.state import CampaignState
from mpigauge.result.compact import essential_launch, essential_visit
from mpigauge.result.kernel_data import RankPlace
from mpigauge.result.records import Done
from mpigauge.rows import samples
from mpigauge.rows.clock_resolution import clock_resolution
from mpigauge.rows.precision import widths_asked
from mpigauge.rows.samples import LaunchMedianCache
from tests.made import JOB, LINES_NS, SMALL, collective, in_states, launch, together, visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Launch, Visit

ALLREDUCE = collective()
COURSE = [["near"] * 4, ["far"] * 4, ["near", "far"] * 2] * 3


def visits_of(course: Sequence[Sequence[str]] = COURSE) -> list[Visit]:
    """Visits of a machine that changes, of a cell with and one without a common start."""
    return list(
        in_states([SMALL, ALLREDUCE], course, lambda _, state, n: [int(LINES_NS[state]) * 10 + n % 3] * 20)
    )


def coarse(number: int) -> Launch:
    """A launch of 50 ranks, of which the last one has a clock with long steps."""
    places = [RankPlace(f"node{rank}", "0", 0, 1 + 24 * (rank == 49), 25, 40, 0.0) for rank in range(50)]
    return replace(launch(number), ranks_at=tuple(places))


# ---- What is kept --------------------------------------------------------------------------------


def test_reduced_visits_give_the_same_widths() -> None:
    visits = visits_of()
    assert widths_asked([essential_visit(one) for one in visits]) == widths_asked(visits)
    assert len(widths_asked(visits)) == 2


def test_reduced_launches_give_the_same_clock_steps() -> None:
    launches = [coarse(number) for number in range(1, 4)]
    visits = [visit(number, 0, SMALL, [200, 225, 250]) for number in range(1, 4)]
    kept = [essential_launch(one) for one in launches]
    assert clock_resolution(kept, visits) == clock_resolution(launches, visits) == {JOB: 25.0}
    assert all(len(one.ranks_at) == 1 for one in kept)


def test_a_campaign_keeps_four_bytes_per_sample() -> None:
    """Ten thousand samples of a collective, which come in four lists of integers."""
    rounds, number = 1000, 50
    made = [together(1, place, ALLREDUCE, list(range(2**20, 2**20 + rounds))) for place in range(number)]
    tracemalloc.start()
    kept = [essential_visit(one) for one in made]
    bytes_ = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(kept) == number
    assert bytes_ < 1.5 * 4 * rounds * number


class Sink:
    """Stands for the result file."""

    def append(self, record: object) -> None:
        """Nowhere."""


@pytest.mark.parametrize("keeps", [True, False])
def test_samples_are_kept_only_for_the_stop_rule(keeps: bool) -> None:
    state = CampaignState(Sink(), keeps_visits=keeps)  # type: ignore[arg-type]
    for record in (launch(1), visit(1, 0, SMALL, [200] * 9), visit(1, 1, SMALL, [200] * 5)):
        state.append(record)
    assert (len(state.visits), len(state.launches)) == ((2, 1) if keeps else (0, 0))
    assert state.visits_made == 2
    (progress,) = state.progress.values()
    assert (progress.cells, progress.samples) == ({SMALL}, 14)


def test_ids_of_finished_launches_are_not_kept() -> None:
    state = CampaignState(Sink(), keeps_visits=False)  # type: ignore[arg-type]
    for number in range(1, 20):
        state.append(visit(number, 0, SMALL, [200]))
        assert len(state.finished) == len(state.progress) == 1
        state.append(Done(number, JOB, 1.0))
    assert (state.finished, state.progress) == ({}, {})
    assert len(state.done) == 19


def test_a_median_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[object] = []

    def median_of(*words: object) -> float:
        computed.append(words)
        return 1e-6 * len(computed)

    monkeypatch.setattr(samples, "median_of", median_of)
    visits, medians = visits_of([["near"] * 4] * 6), LaunchMedianCache()
    first = widths_asked(visits, medians=medians)
    assert len(computed) == 2 * 6
    assert widths_asked(visits, medians=medians) == first
    assert len(computed) == 2 * 6


def test_known_medians_give_the_same_widths() -> None:
    """Also where more visits have changed which of them are of one state."""
    visits, medians = visits_of(), LaunchMedianCache()
    for number in range(1, 10):
        mine = [one for one in visits if one.launch <= number]
        assert widths_asked(mine, medians=medians) == widths_asked(mine)


# ---- How often it is asked -----------------------------------------------------------------------


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 10**6))
def test_the_rule_is_evaluated_often_enough(number: int) -> None:
    asked = last_evaluated(number)
    assert number - number / EVERY_UP_TO <= asked <= number
    assert last_evaluated(asked) == asked
    assert asked == number or number > EVERY_UP_TO


class Counting:
    """Widths of nothing, and how many visits were looked at."""

    def __init__(self) -> None:
        self.looked = 0

    def __call__(self, visits: Sequence[Visit], *_: object) -> dict[Cell, float | None]:
        """Counts them."""
        self.looked += len(visits)
        return {SMALL: 0.01 if len(visits) > 3 else None}


def looked_at(launches: int) -> int:
    """Visits looked at in a campaign of so many launches, each asked about many times."""
    visits: list[Visit] = []
    counting = Counting()
    rule = StopRule(0.05, visits, [], widths=counting)
    for number in range(1, launches + 1):
        visits.append(visit(number, 0, SMALL, [200]))
        assert all(rule.precise_after(number) == ({SMALL} if number > 3 else set()) for _ in range(3))
    return counting.looked


def test_evaluations_take_time_linear_in_the_campaign() -> None:
    few, many = looked_at(500), looked_at(5000)
    assert many / few < 1.5 * 10


def test_the_answer_for_a_replication_depends_on_earlier_ones_only() -> None:
    """A campaign that is continued has later launches already; the order of visits must come out the same."""
    visits, launches = visits_of(), [launch(number) for number in range(1, 10)]
    for number in range(1, 10):
        alone = StopRule(
            0.05,
            [one for one in visits if one.launch <= number],
            [one for one in launches if one.number <= number],
        )
        assert StopRule(0.05, visits, launches).precise_after(number) == alone.precise_after(number)
