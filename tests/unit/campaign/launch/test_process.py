"""Running jobs: their lines and last words as they come, and an end that leaves nobody behind."""

from __future__ import annotations

import errno
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch import process
from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.launchers import Ending
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.campaign.launch.process_tree import descendants, is_zombie
from mpigauge.errors import EnvironmentLacksError
from mpigauge.vocabulary import GAP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_S = 120.0
"""Long enough for any machine; no test waits for it unless it fails."""


@pytest.fixture(autouse=True)
def nobody_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test starts is gone after it, and so are its files."""
    monkeypatch.setattr(process, "Ending", partial(Ending, patience_s=0.05))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = living()
    yield
    assert living() <= before
    assert not list(tmp_path.glob("mpigauge-*"))


def living() -> set[int]:
    """All living processes below us."""
    return {pid for pid in descendants(os.getpid()) if not is_zombie(pid)}


def program(text: str) -> list[str]:
    """A small program's command."""
    return [sys.executable, "-IS", "-u", "-c", f"import os, sys, time, signal\n{text}"]


def forever() -> float:
    """No silence is too long."""
    return PATIENCE_S


def short_once_it_speaks(counts: bytes) -> tuple[Callable[[], float], Callable[[bytes], bool]]:
    """Patience that is short from the first line that counts on, and what tells such lines.

    Before it, it is as long as a busy machine may take to start a program.
    """
    heard: list[bytes] = []

    def counting(line: bytes) -> bool:
        heard.extend([line] if line == counts else [])
        return line == counts

    return lambda: 0.3 if heard else PATIENCE_S, counting


def everything(text: str, **words: str) -> tuple[list[bytes], RunningJob]:
    """The lines of a program, and the job when it is over."""
    with RunningJob(program(text), words) as job:
        return list(job.lines(forever)), job


def test_lines_are_complete_and_in_order() -> None:
    lines, job = everything(
        "for i in range(3): print('line', i)\n"
        "sys.stdout.write('ha'); sys.stdout.flush(); time.sleep(0.02); print('lf')\n"
        "print(); sys.stdout.write('no end')"
    )
    assert lines == [b"line 0", b"line 1", b"line 2", b"half", b"", b"no end"]
    assert job.wait(PATIENCE_S) == 0


def test_a_long_line_of_the_kernel_is_one_line() -> None:
    lines, _ = everything("""print('{"visit' + 'x' * 3_000_000); print('short')""")
    assert [len(line) for line in lines] == [3_000_007, 5]


def test_lines_are_bytes_whatever_they_hold() -> None:
    lines, _ = everything(r"os.write(1, b'\xff\x00\r\n')")
    assert lines == [b"\xff\x00", b""]  # a terminal's end of a line are two: an empty line says nothing


def test_a_job_gets_the_parts_of_its_input_that_it_asks_for() -> None:
    """A launcher that has too much in hand at once would give the job up."""
    text = "for _ in range(3): print('more'); print(sys.stdin.readline().strip().upper())"
    lines = []
    with RunningJob(program(text), {}, ["one\n", "two\n", "three\n"]) as job:
        for line in job.lines(forever):
            lines.append(line)
            if line == b"more":
                job.feed()
    assert lines == [b"more", b"ONE", b"more", b"TWO", b"more", b"THREE"]


def test_input_for_a_job_that_has_ended_is_ignored() -> None:
    with RunningJob(program("pass"), {}, ["plan\n"]) as job:
        assert list(job.lines(forever)) == []
        job.wait(PATIENCE_S)
        job.feed()
        job.feed()


def test_a_jobs_environment_is_ours_with_additions() -> None:
    lines, _ = everything("print(os.environ['HOME'], os.environ['ADDED'])", ADDED="yes")
    assert lines == [f"{os.environ['HOME']} yes".encode()]


def test_a_job_has_a_temporary_folder_that_is_removed_with_it() -> None:
    lines, _ = everything("d = os.environ['TMPDIR']; open(d + '/session', 'w').close(); print(d)")
    assert not Path(os.fsdecode(lines[0])).exists()


def test_ranks_on_other_hosts_do_not_use_our_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "theirs"))
    with RunningJob(program("print(os.environ['TMPDIR'])"), {}, all_here=False) as job:
        assert next(job.lines(forever)) == str(tmp_path / "theirs").encode()


def test_output_outside_the_journal_is_kept() -> None:
    with RunningJob(program("print('a line'); sys.exit('  first\\n\\nsecond  ')"), {}, "") as job:
        for line in job.lines(forever):
            job.add_words(line)
        assert job.wait(PATIENCE_S) == 1
    assert sorted(job.last_words.splitlines()) == ["a line", "first", "second"]


def test_the_first_and_last_lines_of_long_output_are_kept() -> None:
    """The first say why, the last how it ended."""
    _, job = everything("for i in range(1000): sys.stderr.write(f'word {i}\\n')")
    kept = process.WORDS_KEPT
    numbers = [*range(kept), *range(1000 - kept, 1000)]
    lines = [f"word {number}" for number in numbers]
    assert job.last_words.splitlines() == [*lines[:kept], GAP, *lines[kept:]]


def test_harmless_lines_are_dropped_and_later_ones_still_bounded() -> None:
    _, job = everything("print('a report\\nwhy', file=sys.stderr)")
    job.drop_words([b" a report \r", b"never said"])
    assert job.last_words == "why"
    for number in range(9 * process.WORDS_KEPT):
        job.add_words(b"%d" % number)
    assert len(job.last_words.splitlines()) == 2 * process.WORDS_KEPT + 1


def test_an_unfinished_line_is_kept_once() -> None:
    _, job = everything("sys.stderr.write('first\\nno end')")
    assert job.last_words == "first\nno end"


def test_a_program_that_closes_its_output_and_stays_is_ended() -> None:
    text = "signal.signal(2, 1); sys.stderr.write('first\\nno end'); sys.stderr.flush()\n"
    _, job = everything(f"{text}os.close(1); os.close(2); time.sleep(60)")
    assert job.last_words == "first\nno end"


def test_lines_that_are_not_utf_8_are_kept() -> None:
    _, job = everything(r"os.write(2, b'gr\xfc\xdfe\n')")
    assert job.last_words == "gr\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}e"


@pytest.mark.thorough
def test_silence_is_a_timeout_even_with_output_on_standard_error() -> None:
    talk = "print('a line')\nwhile True: sys.stderr.write('still\\n'); time.sleep(0.02)"
    patience_s, counts = short_once_it_speaks(b"a line")
    with RunningJob(program(talk), {}, "") as job:
        lines = job.lines(patience_s, counts=counts)
        assert next(lines) == b"a line"
        with pytest.raises(TimeoutError):
            next(lines)
    assert set(job.last_words.splitlines()) >= {"still"}


@pytest.mark.thorough
def test_a_line_that_does_not_count_does_not_restart_the_timeout() -> None:
    """A library that hangs may go on talking on standard output, too."""
    talk = "print('life')\nwhile True: print('chatter'); time.sleep(0.02)"
    patience_s, counts = short_once_it_speaks(b"life")
    with RunningJob(program(talk), {}, "") as job:
        lines = job.lines(patience_s, counts=counts)
        assert next(lines) == b"life"
        with pytest.raises(TimeoutError):
            assert set(lines) == {b"chatter"}


def test_the_timeout_is_asked_again_after_each_line() -> None:
    asked: list[int] = []

    def patience_s() -> float:
        asked.append(len(asked))
        return PATIENCE_S

    with RunningJob(program("for i in range(3): print(i)"), {}, "") as job:
        assert [(line, len(asked)) for line in job.lines(patience_s)] == [(b"0", 1), (b"1", 2), (b"2", 3)]


def test_a_signal_ends_the_wait_for_lines() -> None:
    with Interruption() as interruption:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM)).start()
        with (
            RunningJob(program("time.sleep(60)"), {}, "", interruption) as job,
            pytest.raises(InterruptedError),
        ):
            next(job.lines(forever))
        assert interruption.signal == signal.SIGTERM


def test_signal_handlers_are_restored() -> None:
    before = [signal.getsignal(number) for number in Interruption.SIGNALS]
    with Interruption():
        assert signal.getsignal(signal.SIGINT) not in before
    assert [signal.getsignal(number) for number in Interruption.SIGNALS] == before


def test_a_command_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    for command in ("/nonsense/mpiexec", str(tmp_path)):
        with (
            pytest.raises(EnvironmentLacksError, match="cannot be started") as caught,
            RunningJob([command], {}, ""),
        ):
            pass
        assert command in caught.value.sentence


@pytest.mark.parametrize(
    ("number", "hint"),
    [(errno.EMFILE, "ulimit -n"), (errno.EAGAIN, "ulimit -u"), (errno.ENOMEM, "ulimit -v")],
)
def test_a_limit_that_keeps_a_launcher_from_starting_is_not_the_fault_of_mpi(
    monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(subprocess, "Popen", refused)
    with (
        pytest.raises(EnvironmentLacksError, match=os.strerror(number)) as caught,
        RunningJob(program(""), {}, ""),
    ):
        pass
    assert hint in caught.value.hint
    assert "MPI" not in caught.value.hint


def test_long_lines_of_output_are_cut() -> None:
    _, job = everything("sys.stderr.write('x' * 100_000 + '\\n')")
    assert 0 < len(job.last_words) <= process.MAX_OTHER_LINE_BYTES


def test_late_output_does_not_keep_a_job_from_ending() -> None:
    with RunningJob(program("sys.stdout.write('end\\n' + 'more\\n' * 100_000)"), {}) as job:
        assert next(job.lines(forever)) == b"end"
        assert job.wait(PATIENCE_S) == 0


def test_a_launcher_gets_time_to_end_after_its_signal() -> None:
    wait = "print('here'); time.sleep(60)"
    text = f"try:\n    {wait}\nexcept KeyboardInterrupt:\n    sys.exit('interrupted, tidied up')"
    with RunningJob(program(text), {}, ending=Ending(patience_s=PATIENCE_S)) as job:
        next(job.lines(forever))
    assert job.last_words == "interrupted, tidied up"
    assert job.wait(0) == 1


def test_a_launcher_can_be_interrupted_where_we_ignore_it() -> None:
    """As in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        test_a_launcher_gets_time_to_end_after_its_signal()
    finally:
        signal.signal(signal.SIGINT, before)


def test_after_the_end_of_output_an_open_standard_error_is_not_waited_for() -> None:
    with RunningJob(program("os.close(1); print('last', file=sys.stderr); time.sleep(60)"), {}) as job:
        assert list(job.lines(forever)) == []
        assert job.is_mute
        assert job.last_words == "last"


class Looking:
    """A watch that ends the wait at its second look."""

    every_s = 0.01

    def __init__(self) -> None:
        self.looks = 0

    def look(self) -> float:
        """How much longer."""
        self.looks += 1
        return 0.0 if self.looks > 1 else math.inf


def test_a_watch_may_shorten_the_wait() -> None:
    watch = Looking()
    with RunningJob(program("time.sleep(60)"), {}) as job, pytest.raises(TimeoutError):
        list(job.lines(forever, watch=watch))
    assert watch.looks == 2
    assert not job.is_mute
