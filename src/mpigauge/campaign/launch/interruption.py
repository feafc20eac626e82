"""Signals that ask us to stop, for good or for a while: remembered, and whoever waits is woken up."""

import contextlib
import math
import os
import select
import signal
import time
from collections.abc import Callable, Collection, Iterable
from typing import Self

from mpigauge.campaign.launch.awake import CLOCK

GRACE_S = 20.0
"""What a scheduler's signal leaves to a visit that is running: schedulers kill after 30 s or more."""

ECHO_S = 1.0
"""The same signal again within this time is one that reached us twice, by a script and by its scheduler."""

READ_BYTES = 1 << 20

LOOKS_MOST = 5
"""At the processes of a job that is stopped: some may be just being started."""

Processes = Callable[[], Collection[int]]


def nobody() -> Collection[int]:
    """No processes."""
    return ()


class Interruption:
    """Remembers a signal that asks us to stop, and wakes up whoever waits for the job's lines.

    Those that schedulers send leave what is running some time to end; any other signal, or a second one,
    does not. What is ignored stays so: `nohup` means it, and so does a shell with `&`.

    One that stops us for a while (SIGTSTP: Ctrl-Z, and what schedulers send before they suspend a job) is
    obeyed by `heed`, which stops the job before.

    Attributes:
        signal: The last that came and asks us to end.
        rests: Called before we stop.
        goes_on: Called after that, or after somebody else has stopped us, with how long it was.
    """

    GRACEFUL = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
    SIGNALS = (signal.SIGINT, signal.SIGHUP, *GRACEFUL)

    def __init__(self) -> None:
        self.signal: int | None = None
        self.rests: Callable[[], None] = _nothing
        self.goes_on: Callable[[float], None] = _nothing
        self._is_to_rest = False
        self._came = self.deadline = math.inf
        self.wake_fd, self._written_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        heard = [number for number in self.SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._remember) for number in heard}
        if signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN:
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._ask_to_rest)
        self._before[signal.SIGCONT] = signal.signal(signal.SIGCONT, lambda *_: CLOCK.goes_on())
        self._wakeup_before = signal.set_wakeup_fd(self._written_fd, warn_on_full_buffer=False)
        return self

    def __exit__(self, *exception: object) -> None:
        self.rests, self.goes_on = _nothing, _nothing  # who was to be told may be gone
        self.heed()
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            if handler is not None:  # None: it was set by a preloaded library, not from Python
                signal.signal(number, handler)
        os.close(self.wake_fd)
        os.close(self._written_fd)

    def _remember(self, number: int, _frame: object) -> None:
        now = time.monotonic()
        if number == self.signal and now - self._came < ECHO_S:
            return
        first = self.signal is None
        self.signal, self._came = number, now
        self.deadline = now + GRACE_S if first and number in self.GRACEFUL else now

    # ---- For a while -----------------------------------------------------------------------------

    def _ask_to_rest(self, *_: object) -> None:
        self._is_to_rest = True

    def heed(self, processes: Processes = nobody) -> None:
        """Stop for a while if that is asked for, and take in that we were stopped.

        Args:
            processes: Those that are to be stopped with us, as they are when it is called.
        """
        if self._is_to_rest:
            self._is_to_rest = False
            self.rests()
            stopped = _stop(processes)
            _stop_ourselves(self._ask_to_rest)
            _send(signal.SIGCONT, stopped)
        if (seconds := CLOCK.told_s()) is not None:
            self.goes_on(seconds)

    # ---- For good --------------------------------------------------------------------------------

    def ends(self, *, busy: bool) -> bool:
        """Whether to stop now, with something running that might be finished or without."""
        return self.signal is not None and (not busy or time.monotonic() >= self.deadline)

    def calm(self) -> None:
        """Makes `wake_fd` wait for the next signal."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake_fd, READ_BYTES)

    def comes_within(self, seconds: float) -> bool:
        """Whether a signal has come, or comes in this time."""
        until = time.monotonic() + seconds
        while self.signal is None and (left_s := until - time.monotonic()) > 0:
            CLOCK.now()
            # What cancels a job continues it first: SIGCONT wakes us, too, and is not what is waited for.
            if select.select([self.wake_fd], [], [], left_s)[0] and self.signal is None:
                self.calm()
            CLOCK.waited(left_s)
        return self.signal is not None


def _nothing(*_: object) -> None:
    pass


def _stop(processes: Processes) -> set[int]:
    """Stop processes, and those that they are just starting; which."""
    stopped: set[int] = set()
    for _ in range(LOOKS_MOST):
        if not (running := set(processes()) - stopped):
            break
        _send(signal.SIGSTOP, running)
        stopped |= running
    return stopped


def _stop_ourselves(handler: Callable[..., None]) -> None:
    """Stop as without a handler; returns once we are continued, or at once where nobody could do that."""
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    CLOCK.now()
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, handler)


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
