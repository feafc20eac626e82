"""Launches spread over time: each in its part, seeded, and woken up by a signal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.campaign.loop import Pacing
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import replication_start_s

repeatable = settings(derandomize=True, deadline=None)
PLAN = Plan((Measure("pingpong"),), seed=7, over_s=3600.0)


@dataclass
class FakeTime:
    """A clock that goes on only while somebody waits; a signal comes at a moment.

    Attributes:
        restless: Every wait ends at once for the first few times, as after a signal that is none of ours.
    """

    now_s: float = 1e9
    signal_at_s: float = float("inf")
    signal: int | None = None
    restless: int = 0
    waits: int = 0

    def wall_s(self) -> float:
        """The time of day."""
        return self.now_s

    def arrives_within(self, seconds: float) -> bool:
        """Waits."""
        self.waits += 1
        if self.waits > self.restless:
            self.now_s = min(self.now_s + seconds, self.signal_at_s)
        if self.now_s >= self.signal_at_s:
            self.signal = 2
        return self.signal is not None

    def clear_wakeup(self) -> None:
        """Nothing is left to be woken up by."""

    def obey(self) -> None:
        """Nobody asks us to stop for a while."""


def spread(time: FakeTime, plan: Plan = PLAN, replications: int = 10, **more: Any) -> Pacing:
    """By that clock."""
    interruption: Any = time
    return Pacing(plan, replications, interruption, time.wall_s, **more)


@repeatable
@given(st.integers(0, 2**40), st.integers(1, 30), st.floats(1, 1e6))
def test_every_replication_begins_in_its_own_part_of_the_time(seed: int, count: int, over_s: float) -> None:
    plan = replace(PLAN, seed=seed, over_s=over_s)
    moments = [replication_start_s(plan, number, count) for number in range(1, count + 1)]
    for place, moment in enumerate(moments):
        assert place * over_s / count <= moment <= (place + 1) * over_s / count
    assert moments == [replication_start_s(plan, number, count) for number in range(1, count + 1)]


def test_the_seed_decides_when_replications_begin() -> None:
    assert replication_start_s(PLAN, 1, 10) != replication_start_s(replace(PLAN, seed=8), 1, 10)


@pytest.mark.parametrize("restless", [0, 3])
def test_launches_begin_when_due(restless: int) -> None:
    time = FakeTime(restless=restless)
    waiting = spread(time)
    for number in range(1, 11):
        waiting.wait(number)
        assert time.now_s == pytest.approx(1e9 + replication_start_s(PLAN, number, 10))


def test_a_signal_ends_the_wait() -> None:
    time = FakeTime(signal_at_s=1e9 + 30)
    spread(time).wait(9)
    assert time.signal == 2
    assert time.now_s == 1e9 + 30


def test_a_campaign_resumed_in_time_keeps_its_schedule() -> None:
    time = FakeTime(now_s=1e9 + 400)
    waiting = spread(time, origin_s=1e9)
    waiting.wait(9)
    assert time.now_s == pytest.approx(1e9 + replication_start_s(PLAN, 9, 10))


def test_a_campaign_resumed_late_begins_at_once_and_keeps_its_intervals() -> None:
    tomorrow = 1e9 + 86_400
    time = FakeTime(now_s=tomorrow)
    waiting = spread(time, origin_s=1e9)
    waiting.wait(4)
    assert time.now_s == tomorrow
    waiting.wait(5)
    assert time.now_s - tomorrow == pytest.approx(
        replication_start_s(PLAN, 5, 10) - replication_start_s(PLAN, 4, 10)
    )
