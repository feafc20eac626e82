"""What is said of one launch: its statistic, and what looks like warm-up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.errors import UsageError
from mpigauge.rows.within_launch import LaunchSummary, summarise_launches
from mpigauge.vocabulary import STATS
from tests.unit.rows.planted import lognormal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values


def summarise_launch(visits: Sequence[Values], stat: str = "median") -> LaunchSummary:
    return next(summarise_launches([(visits, ())], stat))


@pytest.mark.parametrize("stat", STATS)
def test_a_launch_stands_for_its_statistic(stat: str) -> None:
    visits = list(lognormal(np.random.default_rng(7), (4, 250)))
    percents = {"median": 50.0, "min": 0.0, "max": 100.0, **{f"p{p}": float(p) for p in (5, 25, 75, 95, 99)}}
    expected = np.mean(visits) if stat == "mean" else np.percentile(visits, percents[stat])
    summary = summarise_launch(visits, stat)
    assert summary.median == pytest.approx(float(expected), rel=1e-12)
    assert summary.count == 1000


def test_an_unknown_statistic_is_refused_with_the_choice() -> None:
    with pytest.raises(UsageError) as caught:
        summarise_launch([np.ones(9)], "mode")
    assert "median" in caught.value.hint


def test_a_launch_without_rounds_cannot_be_summarised() -> None:
    with pytest.raises(ValueError, match="without rounds"):
        summarise_launch([np.array([])])


def test_a_launch_that_begins_slowly_drifts_and_one_with_single_slow_rounds_does_not() -> None:
    rounds = lognormal(np.random.default_rng(8), (480,), spread=0.05)
    spikes = rounds.copy()
    spikes[::20] *= 10
    drift = summarise_launch(list(spikes.reshape(4, 120))).drift
    assert drift is not None
    assert abs(drift) < 0.03
    rounds[:120] *= 1.5
    slow = summarise_launch(list(rounds.reshape(4, 120))).drift
    assert slow == pytest.approx(math.log(1.5), abs=0.03)
    assert summarise_launch([rounds[:31]]).drift is None
