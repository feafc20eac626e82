"""What a campaign goes on for: precision in the states that count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.rows.machine.serial_correlation import widening_of
from mpigauge.rows.precision import widths_asked
from mpigauge.rows.samples import launch_medians
from mpigauge.stats.interval import interval_of
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from tests.made import cell, visit

if TYPE_CHECKING:
    from mpigauge.result.records import Visit

SMALL = cell(size=8)
NEAR, FAR = [40.0, 41.0], [240.0, 250.0]
TIMES_NS = {40.0: 100, 240.0: 300}


def campaign_of(states: list[list[list[float]]]) -> list[Visit]:
    """Visits of one cell, a list of readings a launch; launches differ by 2 %."""
    return [
        visit(number, place, SMALL, [TIMES_NS[line[0]] * (100 + 2 * number)] * 3, line_ns=line)
        for number, launch in enumerate(states, start=1)
        for place, line in enumerate(launch)
    ]


def pooled(visits: list[Visit]) -> float:
    """The precision of the interval over all launches, whatever states they are of, as tables widen it."""
    medians, step = launch_medians(visits, {})
    found = interval_of(np.array([*medians.values()]), step, widening=widening_of([medians])).precision
    assert found is not None
    return found


def test_of_one_state_it_is_the_width_of_the_interval_of_launches() -> None:
    visits = campaign_of([[NEAR] * 4] * 6)
    assert widths_asked(visits)[SMALL] == pooled(visits)


@pytest.mark.parametrize("launches", [1, 2, 5, 6])
def test_of_few_launches_nothing_is_precise_unless_so_few_were_asked_for(launches: int) -> None:
    visits = campaign_of([[NEAR] * 4] * launches)
    assert (widths_asked(visits)[SMALL] is None) is (launches < ENOUGH_LAUNCHES)
    assert (widths_asked(visits, least=5)[SMALL] is None) is (launches < 5)


def test_launches_in_two_states_are_not_taken_for_noise() -> None:
    visits = campaign_of([[NEAR] * 4, [FAR] * 4] * 6)
    apart = widths_asked(visits)[SMALL]
    assert apart is not None
    assert apart < 0.2 < pooled(visits)


@pytest.mark.parametrize(("far", "asked"), [(1, False), (6, True)])
def test_a_state_counts_with_a_fifth_of_the_time(far: int, asked: bool) -> None:
    """One launch while far has no interval: the campaign goes on for it only if that was not rare."""
    visits = campaign_of([[NEAR] * 3] * 6 + [[FAR] * far])
    assert (widths_asked(visits)[SMALL] is None) is asked


def test_the_widest_state_decides() -> None:
    visits = campaign_of([[NEAR] * 4] * 8 + [[FAR] * 8] * 6)
    alone = [launch_medians([one for one in visits if one.line_ns == line], {}) for line in (NEAR, FAR)]
    widths = [interval_of(np.array([*known.values()]), step).precision for known, step in alone]
    assert widths_asked(visits)[SMALL] == max(width for width in widths if width is not None)
