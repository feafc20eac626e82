"""A silent job: what is told of it, and for how much longer it is waited for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign import silence
from mpigauge.campaign.launch.ranks import LocalRanks
from mpigauge.campaign.silence import DEAD_S, HOPELESS_S, TELL_S, SilenceWatch

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Job:
    """What is asked of one."""

    last_words: str = ""
    is_alone: bool = False
    launcher_status: int | None = None
    is_input_unread: bool = False
    endless_line: str = ""


class Ranks(LocalRanks):
    """Of which one may be dead."""

    def __init__(self, death: str = "") -> None:
        super().__init__("kernel", list)
        self._death = death

    def death(self) -> str:
        """As it was said."""
        return self._death


class Clock:
    """The seconds that a start has taken."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def awake_s(self) -> float:
        """They."""
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that we set."""
    found = Clock()
    monkeypatch.setattr(silence, "awake_s", found.awake_s)
    return found


def watch(
    job: Job, told: list[str], death: str = "", usual_s: float = 1.0
) -> tuple[SilenceWatch, Callable[[], float]]:
    """A watch on a job, and its look."""
    found = SilenceWatch(Ranks(death), job, told.append, usual_s)
    return found, found.look


def test_a_slow_start_is_reported_once_with_its_output(clock: Clock) -> None:
    job, told = Job("waiting for a node"), list[str]()
    _, look = watch(job, told)
    assert look() == math.inf
    assert told == []
    clock.now_s = TELL_S
    assert [look(), look()] == [math.inf, math.inf]
    assert len(told) == 1
    assert "waiting for a node" in told[0]


def test_a_start_of_the_usual_duration_is_not_reported(clock: Clock) -> None:
    told: list[str] = []
    _, look = watch(Job(), told, usual_s=30)
    clock.now_s = 40
    assert look() == math.inf
    assert told == []


def test_a_dead_rank_ends_the_wait_even_after_the_job_has_begun(clock: Clock) -> None:
    seen, look = watch(Job(), [], "process 12, a rank, is gone")
    assert look() == DEAD_S
    seen.began = True
    assert look() == DEAD_S
    assert seen.every_s > 1


@pytest.mark.parametrize(
    ("words", "alone", "most_s"),
    [
        ("[mpiexec@vm] execvp error on file srun (No such file or directory)", False, HOPELESS_S),
        ("[vm:00000] *** An error occurred in MPI_Init", False, HOPELESS_S),
        ("srun: error: Unable to allocate resources", True, HOPELESS_S),
        ("srun: error: still trying", False, math.inf),
        ("", True, math.inf),
    ],
)
def test_messages_of_a_hopeless_start_shorten_the_wait(
    clock: Clock, words: str, alone: bool, most_s: float
) -> None:
    """An error alone is a warning as long as somebody but the launcher lives."""
    assert watch(Job(words, alone), [])[1]() == most_s


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (Job(launcher_status=-9), "its launcher was ended by SIGKILL"),
        (Job(launcher_status=137), "SIGKILL"),
        (Job(launcher_status=0), "its launcher has ended before its ranks"),
        (Job(launcher_status=3), "its launcher has ended with status 3"),
        (Job(is_input_unread=True), "its launcher does not read its standard input"),
        (Job(endless_line="progress 50%" * 300), "is a line without end: progress 50%"),
        (Job(endless_line="50%", launcher_status=0), "is a line without end: 50%"),
        (Job(endless_line="50%", launcher_status=-9), "its launcher was ended by SIGKILL"),
    ],
)
def test_what_keeps_a_job_from_beginning_is_told_in_seconds(clock: Clock, job: Job, says: str) -> None:
    told: list[str] = []
    seen, look = watch(job, told)
    assert look() == math.inf
    clock.now_s = HOPELESS_S - 1
    assert look() == math.inf
    clock.now_s = HOPELESS_S
    assert look() == 0
    assert says in seen.death
    assert len(seen.death) < 160
    assert seen.is_hopeless == (job.launcher_status is None or says.startswith("is a line"))
    assert told == []  # it is told as why the start failed


def test_a_line_without_end_may_begin_anew(clock: Clock) -> None:
    """As where a rank ends it by a line of its own."""
    job = Job(endless_line="50%50%")
    seen, look = watch(job, [])
    assert look() == math.inf
    clock.now_s, job.endless_line = HOPELESS_S, "0%50%"
    assert look() == 0
    assert seen.death.endswith(": 0%50%")


def test_an_obstacle_that_passes_is_none(clock: Clock) -> None:
    """A launcher may be late to read what rank 0 is sent, and then again."""
    job = Job(is_input_unread=True)
    seen, look = watch(job, [])
    look()
    for at_s, unread in ((HOPELESS_S - 1, False), (HOPELESS_S, True), (HOPELESS_S * 2 - 1, True)):
        clock.now_s, job.is_input_unread = at_s, unread
        assert look() == math.inf
    assert seen.death == ""


def test_what_a_job_lacked_to_begin_does_not_end_one_that_has_begun(clock: Clock) -> None:
    """Its lines come, though a script around the launcher has ended."""
    seen, look = watch(Job(launcher_status=0), [])
    seen.began = True
    for clock.now_s in (0, HOPELESS_S, HOPELESS_S * 2):
        assert look() == math.inf
