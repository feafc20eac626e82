"""The split of a result: made once, anew with more visits, and the same for what is left of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import UsageError
from mpigauge.query.query import check_state
from mpigauge.rows.machine import split
from mpigauge.rows.machine.split import NO_SPLIT, Split, is_split, split_of, with_split
from mpigauge.rows.machine.steadiness import only_quiet
from mpigauge.rows.rows import rows
from tests.made import campaign, in_states, launches_of, result_of
from tests.unit.rows.machine.planted_states import SMALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit

LAUNCHES = 4
SAMPLES_NS = {"near": [200] * 9, "far": [800] * 9}


def result() -> Result:
    """Half of the visits near, half far, each launch both."""
    course = [["near"] * 8 + ["far"] * 8] * LAUNCHES
    visits = in_states([SMALL], course, lambda _, state, __: SAMPLES_NS[state], switches=0)
    return result_of(campaign(SMALL), *launches_of([SMALL], range(1, LAUNCHES + 1)), *visits)


def test_visits_are_parted_once_however_often_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = split.split_visits

    def counted(visits: Sequence[Visit]) -> Split:
        asked.append(len(visits))
        return real(visits)

    monkeypatch.setattr(split, "split_visits", counted)
    known = result()
    assert [row.state for row in rows(known)] == ["near", "far"]
    assert rows(known, choice="far")
    assert is_split(known)
    assert asked == [len(known.visits)]
    known.visits.append(known.visits[-1])
    split_of(known)
    assert asked == [len(known.visits) - 1, len(known.visits)]


def test_a_copy_with_other_visits_is_parted_by_itself() -> None:
    known = result()
    assert is_split(known)
    near = [visit for visit in known.visits if split_of(known).of(visit) == "near"]
    assert not is_split(replace(known, visits=near))


def test_what_is_left_of_a_result_keeps_the_states_of_the_whole() -> None:
    known = result()
    left = only_quiet(known)
    assert split_of(left) is split_of(known)
    assert {row.state for row in rows(left)} == {"near", "far"}


def test_a_split_can_be_given() -> None:
    (row,) = rows(with_split(result(), NO_SPLIT))
    assert (row.state, row.states) == (None, ())


def test_a_state_that_a_result_never_had_is_refused_with_those_that_it_had() -> None:
    check_state(result(), "far")
    with pytest.raises(UsageError, match="no such state"):
        check_state(result(), "mid")
    with pytest.raises(UsageError, match="always in one state"):
        check_state(with_split(result(), NO_SPLIT), "far")
