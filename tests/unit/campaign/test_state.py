"""The memory of a campaign: what is done and what is given up, told by the file and by what is appended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.campaign.state import MAX_FAILURES, CampaignState, LaunchKey
from mpigauge.result import writer
from mpigauge.result.reader import load
from mpigauge.result.records import Blocked, Done, End, Failure, Visit
from tests.made import BLIND, LARGE, RECORDS, SMALL, campaign, launch, result_of, visit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpigauge.result.records import Record
    from mpigauge.vocabulary import FailureKind

FIRST, SECOND = (LaunchKey(number, SMALL.job) for number in (1, 2))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[CampaignState]:
    """Of a file that has its first line only."""
    with writer.create(tmp_path / "r.jsonl") as file:
        file.append(campaign(SMALL, LARGE, BLIND))
        yield CampaignState(file)


def failure(number: int, of: object = SMALL, kind: FailureKind = "crash", id_: int | None = 0) -> Failure:
    """The end of a visit, or of a launch if there is no cell."""
    return Failure(number, kind, "words", id_ if of else None, of or None)  # type: ignore[arg-type]


def facts(state: CampaignState) -> tuple[object, ...]:
    """Everything that decides what is still to be done."""
    return (state.visits, state.finished, state.done, state.parts, state.failures)


def test_appended_records_give_the_same_state_as_reading_them(state: CampaignState, tmp_path: Path) -> None:
    """A campaign that goes on knows what the first session knew."""
    for record in RECORDS[1:]:
        state.append(record)
    again = CampaignState(state.file)
    again.load(load(tmp_path / "r.jsonl"))
    assert facts(again) == facts(state)
    assert len(state.visits) == sum(isinstance(record, Visit) for record in RECORDS)


def test_visits_probes_and_blocked_visits_are_not_repeated(state: CampaignState) -> None:
    state.append(visit(1, 0, SMALL, [200]))
    state.append(Blocked(1, 3, BLIND, found=True, limit_bytes=4000))
    assert state.finished == {FIRST: {0, 3}}
    state.finish(FIRST, {5})
    assert state.finished[FIRST] == {0, 3, 5}
    assert SECOND not in state.finished


def test_a_cell_that_fails_in_two_launches_is_given_up(state: CampaignState) -> None:
    for number in range(1, MAX_FAILURES + 1):
        assert not state.is_given_up(SMALL)
        state.append(failure(number))
        assert state.finished[LaunchKey(number, SMALL.job)] == {0}
    assert state.is_given_up(SMALL)
    assert not state.is_given_up(LARGE)


def test_a_cell_that_the_kernel_refuses_is_given_up_at_once(state: CampaignState) -> None:
    state.append(failure(1, kind="refused"))
    assert state.is_given_up(SMALL)


def test_a_failed_launch_counts_against_no_cell(state: CampaignState) -> None:
    state.append(failure(1, None))
    assert not state.failures
    assert not state.finished


def test_parts_are_counted_and_a_launch_is_done_once(state: CampaignState) -> None:
    for part in (1, 2):
        state.append(launch(1, part))
    assert state.parts[FIRST] == 2
    assert FIRST not in state.done
    state.append(Done(1, SMALL.job, 1.5))
    assert state.done == {FIRST}


@settings(derandomize=True, deadline=None)
@given(ended_s=st.lists(st.floats(0, 1e6), max_size=4), launches_s=st.lists(st.floats(0, 1e6), max_size=4))
def test_time_spent_includes_killed_sessions(ended_s: list[float], launches_s: list[float]) -> None:
    records: list[Record] = [End("interrupted", seconds, "") for seconds in ended_s]
    records += [Done(number, SMALL.job, seconds) for number, seconds in enumerate(launches_s)]
    state = CampaignState(None)  # type: ignore[arg-type]
    state.load(result_of(campaign(SMALL), *records))
    assert state.spent_s == max(sum(ended_s), sum(launches_s))


def test_an_incomplete_launch_is_not_done_and_has_its_time_again() -> None:
    before = result_of(
        campaign(SMALL), launch(1), launch(2), Done(1, SMALL.job, 3.0), Done(2, SMALL.job, 4.0)
    )
    before.ends.append(End("budget", 7.5, ""))
    before.incomplete.add(SECOND)
    state = CampaignState(None)  # type: ignore[arg-type]
    state.load(before)
    assert (state.done, state.spent_s) == ({FIRST}, 3.0)
