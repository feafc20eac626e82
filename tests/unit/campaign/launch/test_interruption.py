"""How long SIGTERM waits for what is under way, and what a second signal does to that."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.process import RunningJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COUNTS = [sys.executable, "-IS", "-u", "-c", "import time\nfor i in range(600): print(i); time.sleep(0.1)"]


@pytest.fixture
def interruption() -> Iterator[Interruption]:
    """One whose signals do not reach anybody else."""
    with Interruption() as one:
        yield one


def sent(number: int) -> None:
    """A signal to ourselves."""
    os.kill(os.getpid(), number)


def forever() -> float:
    """Patience."""
    return 60.0


def test_without_a_signal_it_does_not_end(interruption: Interruption) -> None:
    assert not interruption.should_end(busy=False)
    assert not interruption.arrives_within(0)


def test_sigcont_does_not_end_a_wait_for_a_signal(interruption: Interruption) -> None:
    """As a scheduler cancels: it continues every process, and then asks it to end."""
    sent(signal.SIGCONT)
    later = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM))
    later.start()
    try:
        assert interruption.arrives_within(30)
        assert interruption.signal == signal.SIGTERM
    finally:
        later.join()


@pytest.mark.parametrize(
    ("numbers", "waits"),
    [
        ([signal.SIGTERM], True),
        ([signal.SIGTERM, signal.SIGTERM], True),
        ([signal.SIGUSR1], True),
        ([signal.SIGUSR2], True),
        ([signal.SIGXCPU], True),
        ([signal.SIGINT], False),
        ([signal.SIGQUIT], False),
        ([signal.SIGHUP], False),
        ([signal.SIGTERM, signal.SIGHUP], False),
        ([signal.SIGTERM, signal.SIGINT], False),
    ],
)
def test_only_a_first_sigterm_grants_grace_time(
    interruption: Interruption, numbers: list[int], *, waits: bool
) -> None:
    for number in numbers:
        sent(number)
    assert interruption.arrives_within(0)
    assert interruption.signal == numbers[-1]
    assert interruption.should_end(busy=False)
    assert interruption.should_end(busy=True) is not waits


def test_a_second_sigterm_ends_the_grace_time(
    interruption: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(signal.SIGTERM)
    monkeypatch.setattr("mpigauge.campaign.launch.interruption.ECHO_S", 0.0)
    sent(signal.SIGTERM)
    assert interruption.should_end(busy=True)


def taken_from(interruption: Interruption, busy: Callable[[int], bool]) -> int:
    """How many lines come until the waiting ends; SIGTERM comes after the first."""
    taken: list[bytes] = []
    with RunningJob(COUNTS, {}, "", interruption) as job, contextlib.suppress(InterruptedError):
        for line in job.lines(forever, lambda: busy(len(taken))):
            taken.append(line)
            if len(taken) == 1:
                sent(signal.SIGTERM)
    return len(taken)


def test_lines_continue_until_no_visit_runs(interruption: Interruption) -> None:
    assert taken_from(interruption, lambda lines: lines != 3) == 3


@pytest.mark.thorough
def test_lines_continue_no_longer_than_the_grace_time(
    interruption: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.campaign.launch.interruption.GRACE_S", 1.0)
    assert 1 < taken_from(interruption, lambda _: True) < 600


def test_ctrl_z_stops_once_and_ends_nothing(
    interruption: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", stops.append)
    sent(signal.SIGTSTP)
    assert not interruption.should_end(busy=False)
    assert not interruption.arrives_within(0)
    interruption.obey()
    interruption.obey()
    assert stops == [signal.SIGTSTP]


def test_another_size_of_the_terminal_is_reported_once_and_ends_nothing(interruption: Interruption) -> None:
    sizes: list[int] = []
    interruption.resizes = lambda: sizes.append(1)
    sent(signal.SIGWINCH)
    assert not interruption.should_end(busy=False)
    interruption.obey()
    interruption.obey()
    assert sizes == [1]


def test_ctrl_z_at_the_very_end_stops_too(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", stops.append)
    with Interruption():
        sent(signal.SIGTSTP)
    assert stops == [signal.SIGTSTP]


@pytest.mark.parametrize("number", [*Interruption.SIGNALS, signal.SIGTSTP])
def test_ignored_signals_stay_ignored(number: signal.Signals) -> None:
    """As under `nohup`, or in the background of a script."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Interruption() as one:
            sent(number)
            assert not one.arrives_within(0)
            assert signal.getsignal(number) is signal.SIG_IGN
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)
