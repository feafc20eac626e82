"""One job: lines of its journal that cannot be of it are words of other programs, and cost nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
    ],
)
def test_a_visit_that_was_not_asked_for_is_none(border: Border, more: bytes) -> None:
    whole = measured(border, "whole.jsonl", lambda journal: journal)
    found = measured(border, "more.jsonl", after(b'{"launch"', more))
    assert (found.visits, found.failures, found.eager) == (whole.visits, whole.failures, whole.eager)


def test_nothing_is_measured_before_the_launch_has_said_where(border: Border) -> None:
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


def test_a_second_launch_in_one_job_is_none(border: Border) -> None:
    def twice(journal: bytes) -> bytes:
        line = next(line for line in journal.splitlines(keepends=True) if line.startswith(b'{"launch"'))
        return after(b'{"launch"', line)(journal)

    assert len(measured(border, "twice.jsonl", twice).launches) == 1
