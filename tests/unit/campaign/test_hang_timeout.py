"""Patience: how long a launch may be silent, by what it does and how large it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.silence import MIN_SILENCE_S, HangTimeout
from mpigauge.plan.patterns import KernelDescription, known
from mpigauge.plan.visit_order import PlannedVisit
from tests.made import cell, collective

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

DESCRIPTION = KernelDescription(2, large_counts=True, datatypes=(), patterns=tuple(known().values()))
MIB = 2**20


STARTUP_S = 60.0


def patience(*cells: Cell, hosts: int = 1, startup_s: float = STARTUP_S) -> HangTimeout:
    """Of a launch with a visit of each."""
    visits = [PlannedVisit(number, one, None) for number, one in enumerate(cells)]
    return HangTimeout(visits, hosts, DESCRIPTION, startup_s)


def test_the_timeout_of_a_start_is_a_minute_and_grows_with_ranks() -> None:
    assert STARTUP_S < patience(collective("barrier", 0, ranks=2)).seconds() < 1.1 * STARTUP_S
    assert patience(collective("barrier", 0, ranks=10_000)).seconds() > 5 * STARTUP_S
    assert patience(collective("barrier", 0, ranks=2), startup_s=600).seconds() > 600


@pytest.mark.parametrize("gigabits_per_s", [1, 10])
def test_an_alltoall_of_many_ranks_per_host_may_take_what_a_slow_network_needs(
    gigabits_per_s: float,
) -> None:
    ranks, hosts = 512, 64
    waiting = patience(collective("alltoall", size=MIB, ranks=ranks), hosts=hosts)
    waiting.begin(0, 0.0)
    out_of_a_host_bytes = ranks / hosts * (ranks - ranks / hosts) * MIB
    assert waiting.seconds() > 2 * out_of_a_host_bytes * 8 / (gigabits_per_s * 1e9)


def test_the_timeout_of_a_small_message_is_short() -> None:
    waiting = patience(cell("pingpong", size=8), cell("pingpong", size=64 * MIB))
    waiting.begin(0, 0.0)
    assert MIN_SILENCE_S <= waiting.seconds() < 1.1 * MIN_SILENCE_S
    waiting.begin(1, 0.0)
    assert waiting.seconds() > 100 * MIN_SILENCE_S


def test_ranks_on_several_hosts_have_time_to_connect() -> None:
    """A first packet that is lost three times is sent again 15 s after the connection was asked for."""
    waiting = patience(cell("pingpong", size=8), hosts=2)
    waiting.begin(0, 0.0)
    assert waiting.seconds() > 15
    waiting.begin(0, 1e-3)
    assert waiting.seconds() == pytest.approx(MIN_SILENCE_S, rel=0.01)


def test_the_expected_time_of_a_visit_counts_else_its_slow_rounds() -> None:
    waiting = patience(cell("pingpong", size=64 * MIB))
    waiting.begin(0, 2.0)
    assert waiting.seconds() == pytest.approx(MIN_SILENCE_S + 20)
    waiting.begin(0, 0.0)
    waiting.slow_round(3.0)
    assert waiting.seconds() == pytest.approx(MIN_SILENCE_S + 60)


def test_no_line_makes_the_timeout_negative() -> None:
    waiting = patience(cell("pingpong", 8))
    waiting.begin(0, -1e6)
    assert waiting.seconds() >= MIN_SILENCE_S


def test_between_visits_the_timeout_covers_the_largest_cell() -> None:
    waiting = patience(cell("pingpong", size=8), cell("pingpong", size=64 * MIB))
    waiting.begin(0, 0.0)
    waiting.running.clear()
    assert waiting.seconds() > 100 * MIN_SILENCE_S
