"""One job: lines of its journal that cannot be of it are words of other programs, and cost nothing."""

from __future__ import annotations

import re
import signal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.errors import EXIT_NOTHING_MEASURED
from mpigauge.result.reader import load
from tests.fuzz.border import Border, PlayedJob, closed, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mpigauge.result.reader import Result

RUN = ("run", "pingpong", "--sizes", "8", "--launches", "1", "--seed", "7", "-q", "-o")


@pytest.fixture
def border(tmp_path: Path) -> Iterator[Border]:
    """Jobs that are played, of a library that is not there."""
    with closed(tmp_path / "machine") as border:
        yield border


def measured(border: Border, name: str, change: Callable[[bytes], bytes]) -> Result:
    """The result of a launch whose journal is changed."""
    border.change = change
    done = run((*RUN, name))
    assert done.status == 0, done.err
    return load(Path(name))


def after(first: bytes, more: bytes) -> Callable[[bytes], bytes]:
    """A change: more lines behind the first that begins so."""

    def change(journal: bytes) -> bytes:
        end = journal.index(b"\n", journal.index(first)) + 1
        return journal[:end] + more + journal[end:]

    return change


@pytest.mark.parametrize(
    "more",
    [
        b'{"begin":99,"at_ns":1,"expect_ns":0}\n',
        b'{"skip":99,"reason":"time"}\n',
        b'{"refused":-1,"reason":"of another program"}\n',
        b'{"end":5}\n',
        b'{"end":5,"tool":"profiler"}\n',
        b'{"skip":1,"reason":"time","tool":"profiler"}\n',
        b'{"refused":1,"reason":"no","tool":"profiler"}\n',
        b'{"tick":1,"round_ns":86400000000000,"tool":"profiler"}\n',
    ],
)
def test_output_of_another_program_is_not_taken_for_the_kernels(border: Border, more: bytes) -> None:
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    found = measured(border, "more.jsonl", after(b'{"launch"', more))
    assert (found.visits, found.failures, found.eager) == (whole.visits, whole.failures, whole.eager)


def test_visits_before_the_launch_line_are_ignored(border: Border) -> None:
    line = b'{"skip":0,"reason":"time"}\n'
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    found = measured(border, "more.jsonl", after(b'{"ready"', line))
    assert (found.visits, found.done[0].skipped) == (whole.visits, whole.done[0].skipped)


def test_processes_of_a_job_that_no_signal_ends_are_named(
    border: Border, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may hold a core, or a card, beside what is measured next."""
    monkeypatch.setattr(PlayedJob, "undead", ("123 (mpigauge-kernel, state D)",))
    border.change = lambda journal: journal
    done = run(("run", "pingpong", "--sizes", "8", "--launches", "2", "--seed", "7", "-o", "r.jsonl"))
    result = load(Path("r.jsonl"))
    assert [(one.kind, one.launch) for one in result.failures] == [("undead", 1), ("undead", 2)]
    for words in (done.err, *(one.words for one in result.failures)):
        assert "could not be ended: 123 (mpigauge-kernel, state D)" in words
    # What was measured is as good as it was: they are named, and no cell failed.
    assert done.status == 0
    assert {visit.launch for visit in result.visits} == {1, 2}


def test_a_second_launch_line_of_a_job_is_ignored(border: Border) -> None:
    def twice(journal: bytes) -> bytes:
        line = next(line for line in journal.splitlines(keepends=True) if line.startswith(b'{"launch"'))
        return after(b'{"launch"', line)(journal)

    assert len(measured(border, "twice.jsonl", twice).launches) == 1


def test_groups_that_crash_at_once_fail_together(border: Border) -> None:
    border.change = until_two_have_begun
    run(
        (
            "run",
            "barrier",
            "--np",
            "4",
            "--groups",
            "2",
            "--launches",
            "1",
            "--seed",
            "7",
            "-q",
            "-o",
            "r.jsonl",
        )
    )
    failed = [one for one in load(Path("r.jsonl")).failures if one.cell]
    assert {(one.cell.groups, one.cell.group) for one in failed if one.cell} == {("2", "0,1"), ("2", "2,3")}
    assert len({one.id for one in failed}) == len(failed)


def until_two_have_begun(journal: bytes) -> bytes:
    """The journal of a job that crashes while two visits run."""
    lines = journal.splitlines(keepends=True)
    begun = [line.startswith(b'{"begin"') for line in lines]
    second = next((place for place, pair in enumerate(pairwise(begun), start=1) if all(pair)), len(lines))
    return b"".join(lines[: second + 1])


# ---- A signal meant for us, too -------------------------------------------------------------------

STEP_OF_SLURM = """\
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
=   EXIT CODE: 15
[mpiexec@node0] main (mpiexec.c:270): process manager error waiting for completion"""


@pytest.mark.parametrize(
    ("words", "is_failure"),
    [
        (STEP_OF_SLURM, False),
        ("=   KILLED BY SIGNAL: 15 (Terminated)", False),
        ("slurmstepd: error: *** STEP 7.1 ON node1 CANCELLED AT 2026-11-26 DUE TO JOB REQUEUE ***", False),
        ("prterun noticed that process rank 1 exited on signal 15 (Terminated).", False),
        ("=   KILLED BY SIGNAL: 11 (Segmentation fault)", True),
        ("=   EXIT CODE: 152", True),
    ],
)
def test_ranks_that_a_scheduler_ends_before_it_tells_us_are_no_crash(
    border: Border, monkeypatch: pytest.MonkeyPatch, words: str, is_failure: bool
) -> None:
    def is_told(interruption: Interruption, seconds: float) -> bool:
        """Be told only where somebody waits for it."""
        if seconds > 0:
            interruption.signal = signal.SIGTERM
        return seconds > 0

    monkeypatch.setattr(Interruption, "arrives_within", is_told)
    monkeypatch.setattr(PlayedJob, "last_words", words)
    border.change = lambda journal: journal[: journal.index(b'{"visit"')]
    run((*RUN, "r.jsonl"))
    assert bool(load(Path("r.jsonl")).failures) == is_failure


@pytest.mark.parametrize("told", [True, False])
def test_ranks_that_wait_for_those_that_a_signal_has_ended_are_no_timeout(
    border: Border, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """A scheduler's signal reaches ranks, too; while ours may still finish their visit, they say nothing."""
    lines = PlayedJob.lines

    def silent(job: PlayedJob, *args: Any) -> Iterator[bytes]:
        for line in lines(job, *args):
            if line.startswith(b'{"visit"'):
                break
            yield line
        raise TimeoutError

    monkeypatch.setattr(PlayedJob, "lines", silent)
    monkeypatch.setattr(Interruption, "arrives_within", lambda *_: told)
    border.change = lambda journal: journal
    run((*RUN, "r.jsonl"))
    assert {one.kind for one in load(Path("r.jsonl")).failures} == (set() if told else {"timeout"})


# ---- Ended by somebody else -----------------------------------------------------------------------

ORPHANS = """\
--------------------------------------------------------------------------
MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD
  Proc: [[47430,1],0]
  Errorcode: 113

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
You may or may not see output from other processes, depending on
exactly when Open MPI kills them.
--------------------------------------------------------------------------"""


@pytest.mark.parametrize(
    ("words", "status"),
    [(ORPHANS, 1), ("=   KILLED BY SIGNAL: 15 (Terminated)", 143), ("", -signal.SIGKILL), ("", 0), ("", 113)],
)
def test_a_launch_that_somebody_else_ends_is_no_fault_of_its_cell(
    border: Border, monkeypatch: pytest.MonkeyPatch, words: str, status: int
) -> None:
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    starts = iter([True])
    monkeypatch.setattr(Interruption, "arrives_within", lambda *_: False)
    monkeypatch.setattr(PlayedJob, "last_words", words)
    monkeypatch.setattr(PlayedJob, "wait", lambda *_: status)

    def cut(journal: bytes) -> bytes:
        return until_a_visit_runs(journal) if next(starts, False) else journal

    found = measured(border, "r.jsonl", cut)
    (failure,) = found.failures
    assert failure.cell is None
    assert failure.id is not None
    assert {visit.cell for visit in found.visits} == {visit.cell for visit in whole.visits}
    assert failure.id in {visit.id for visit in found.visits}
    assert [launch.part for launch in found.launches] == [1, 2]


def test_a_cell_in_which_a_launch_is_always_ended_is_given_up(
    border: Border, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guard against lack of memory ends what takes the most, and the next start would be ended, too."""
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    bad = next(visit.id for visit in whole.visits if visit.cell.pattern == "pingpong")
    monkeypatch.setattr(Interruption, "arrives_within", lambda *_: False)
    monkeypatch.setattr(PlayedJob, "last_words", "=   KILLED BY SIGNAL: 15 (Terminated)")
    border.change = lambda journal: until_a_visit_runs(journal, bad)
    run((*RUN, "r.jsonl"))
    found = load(Path("r.jsonl"))
    assert [(one.id, one.cell is None) for one in found.failures] == [(bad, True), (bad, False)]
    assert bad not in {visit.id for visit in found.visits}
    assert found.visits  # of the other cell


def until_a_visit_runs(journal: bytes, number: int | None = None) -> bytes:
    """The journal of a job that ends while a visit runs: the second, or the one of a number."""
    begin = b'{"begin":' if number is None else b'{"begin":%d,' % number
    first = journal.find(begin)
    at = journal.find(begin, first + 1) if number is None else first
    return journal if at < 0 else journal[: journal.index(b"\n", at) + 1]


# ---- Lines that are torn or lost -----------------------------------------------------------------


def torn(line: bytes) -> bytes:
    """In two lines, as launchers do that carry output in pieces."""
    return line[: len(line) // 2] + b"\n" + line[len(line) // 2 :]


def of_visits(
    change: Callable[[bytes], bytes], which: Callable[[bytes, int], bool]
) -> Callable[[bytes], bytes]:
    """A change of some lines of visits, by the line and by the number of the start."""
    starts = 0

    def changed(journal: bytes) -> bytes:
        nonlocal starts
        starts += 1
        lines = journal.splitlines(keepends=True)
        return b"".join(
            change(line) if line.startswith(b'{"visit"') and which(line, starts) else line for line in lines
        )

    return changed


@pytest.mark.parametrize(("one_in", "change"), [(1, torn), (3, torn), (1, lambda _: b""), (4, lambda _: b"")])
def test_visits_with_torn_or_lost_lines_are_repeated(
    border: Border, one_in: int, change: Callable[[bytes], bytes]
) -> None:
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    seen: list[bytes] = []

    def is_meant(line: bytes, start: int) -> bool:
        seen.append(line)
        return start == 1 and len(seen) % one_in == 0

    found = measured(border, "r.jsonl", of_visits(change, is_meant))
    assert {visit.id for visit in found.visits} == {visit.id for visit in whole.visits}
    assert len(found.visits) == len(whole.visits)
    (failure,) = found.failures
    lost = len(whole.visits) // one_in
    assert (failure.kind, failure.cell) == ("crash", None)
    first, *words = failure.words.splitlines()
    assert re.match(rf"mpigauge: journal incomplete: {lost} of \d+ visits without an answer", first)
    assert sum(word.startswith('{"visit"') for word in words) == (change is torn)
    assert [launch.part for launch in found.launches] == [1, 2]


def test_a_job_with_an_unreadable_journal_is_given_up_soon(border: Border) -> None:
    border.change = of_visits(torn, lambda *_: True)
    done = run((*RUN, "r.jsonl"))
    assert done.status == EXIT_NOTHING_MEASURED
    assert "journal incomplete: " in done.err
    assert "raise --budget" not in done.err
    result = load(Path("r.jsonl"))
    assert len(result.launches) == 3
    assert {failure.cell for failure in result.failures} == {None}


def test_a_visit_whose_line_is_always_torn_fails_and_no_other(border: Border) -> None:
    """As one that is longer than any other, where a launcher has a limit."""
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    cells = {visit.id: visit.cell for visit in whole.visits}
    bad = next(number for number, of in cells.items() if of.pattern == "pingpong")
    border.change = of_visits(torn, lambda line, _: line.startswith(b'{"visit":%d,' % bad))
    done = run((*RUN, "r.jsonl"))
    result = load(Path("r.jsonl"))
    assert {visit.id for visit in result.visits} == cells.keys() - {bad}
    assert [failure.cell for failure in result.failures] == [None, cells[bad]]
    assert done.status == 0  # the cell has its other visits


def test_a_repeated_line_counts_once(border: Border) -> None:
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    found = measured(border, "r.jsonl", of_visits(lambda line: 2 * line, lambda *_: True))
    assert found.visits == whole.visits
    assert not found.failures
