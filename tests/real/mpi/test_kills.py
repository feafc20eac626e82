"""Campaigns that are killed at random, a few of those that `python -m tests.real.kills` makes."""

from __future__ import annotations

import pytest

from tests.real import kills

KILLS, SEED = 12, 2026

pytestmark = [pytest.mark.mpi, pytest.mark.truth, pytest.mark.thorough]


def test_nothing_is_lost_and_nothing_is_left_after_the_next_start() -> None:
    done = list(kills.blows(KILLS, SEED))
    print("\n".join(kills.table(done)))
    assert len(done) == KILLS
    for blow in done:
        assert (blow.lost, blow.left, blow.wrong) == (0, [], []), (blow.library, blow.victim)
