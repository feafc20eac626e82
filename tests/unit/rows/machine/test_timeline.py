"""When visits were made, whatever became of their launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.rows.machine.sessions import visits_begin_s
from tests.made import campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.result.records import Launch

SMALL = cell(size=8)


def started(number: int, second: int, part: int = 1) -> Launch:
    return replace(launch(number, part), started=f"2026-01-01T00:00:{second:02d}+00:00")


def test_visits_come_after_the_start_of_their_launch() -> None:
    visits = [visit(number, place, SMALL, [200], at_s=0.5 + place) for number in (1, 2) for place in (0, 1)]
    found = visits_begin_s(result_of(campaign(SMALL), started(1, 10), started(2, 15), *visits))
    assert found == pytest.approx([0.5, 1.5, 5.5, 6.5])


def test_a_launch_that_was_started_again_has_two_starts() -> None:
    visits = [visit(1, place, SMALL, [200], at_s=at_s) for place, at_s in enumerate((0.5, 1.5, 0.5))]
    found = visits_begin_s(result_of(campaign(SMALL), started(1, 10), started(1, 20, part=2), *visits))
    assert found == pytest.approx([0.5, 1.5, 10.5])


def test_nothing_begins_before_what_came_before_it_is_over() -> None:
    """Starts are whole seconds, so that launches seem to begin too early."""
    visits = [visit(1, 0, SMALL, [200], at_s=0.9), visit(2, 0, SMALL, [200], at_s=0.0)]
    found = visits_begin_s(result_of(campaign(SMALL), started(1, 10), started(2, 10), *visits))
    assert found == pytest.approx([0.9, 1.0])


def test_of_an_import_visits_follow_each_other() -> None:
    visits = [visit(1, place, SMALL, [200]) for place in range(3)]
    unknown = replace(launch(1), started="")
    assert visits_begin_s(result_of(campaign(SMALL), unknown, *visits)) == pytest.approx([0.0, 0.1, 0.2])
