"""Signals that ask this process to end or to stop for a while; they wake up a wait for output."""

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
"""Time that a running visit may take after a scheduler's signal: schedulers kill after 30 s or more."""

ECHO_S = 1.0
"""A signal repeated within this time is ignored: it came from the script and from the scheduler."""

READ_BYTES = 1 << 20

MAX_STOP_PASSES = 5
"""Most passes over the processes of a job to stop: it may be starting new ones."""

Processes = Callable[[], Collection[int]]


def no_processes() -> Collection[int]:
    """Return no processes."""
    return ()


class Interruption:
    """Handler of signals that ask us to end, which wakes up a wait for the job's lines.

    Signals of schedulers leave the running visit some time to end; any other signal, or a second one, does
    not. Ignored signals stay ignored, as set by `nohup` or by a shell for a job in the background.

    SIGTSTP (Ctrl-Z, and what schedulers send before they suspend a job) is obeyed by `obey`, which
    stops the job first.

    Attributes:
        signal: The last signal that asks us to end; None if none came.
        rests: Called before we stop for a while.
        goes_on: Called with the duration in seconds after any stop.
        resizes: Called after the terminal has changed its size.
    """

    GRACEFUL = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
    SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, *GRACEFUL)

    def __init__(self) -> None:
        self.signal: int | None = None
        self.rests: Callable[[], None] = _nothing
        self.goes_on: Callable[[float], None] = _nothing
        self.resizes: Callable[[], None] = _nothing
        self._stop_requested = self._is_resized = False
        self._arrived_s = self.deadline = math.inf
        self.wake_fd, self._written_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        not_ignored = [number for number in self.SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._remember) for number in not_ignored}
        if signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN:
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._request_stop)
        self._before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, self._note_resize)
        self._before[signal.SIGCONT] = signal.signal(signal.SIGCONT, lambda *_: CLOCK.continued())
        self._wakeup_before = signal.set_wakeup_fd(self._written_fd, warn_on_full_buffer=False)
        return self

    def __exit__(self, *exception: object) -> None:
        self.rests = self.goes_on = self.resizes = _nothing  # the receivers may be gone
        self.obey()
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            if handler is not None:  # None: it was set by a preloaded library, not from Python
                signal.signal(number, handler)
        os.close(self.wake_fd)
        os.close(self._written_fd)

    def _remember(self, number: int, _frame: object) -> None:
        now = time.monotonic()
        if number == self.signal and now - self._arrived_s < ECHO_S:
            return
        first = self.signal is None
        self.signal, self._arrived_s = number, now
        self.deadline = now + GRACE_S if first and number in self.GRACEFUL else now

    # ---- For a while -----------------------------------------------------------------------------

    def _request_stop(self, *_: object) -> None:
        self._stop_requested = True

    def _note_resize(self, *_: object) -> None:
        self._is_resized = True

    def obey(self, processes: Processes = no_processes) -> None:
        """Stop for a while if SIGTSTP came; report any stop that has ended, and another size of the terminal.

        Args:
            processes: Returns the processes to be stopped with us.
        """
        if self._stop_requested:
            self._stop_requested = False
            self.rests()
            stopped = _stop(processes)
            _stop_ourselves(self._request_stop)
            _send(signal.SIGCONT, stopped)
        if (seconds := CLOCK.take_stopped_s()) is not None:
            self.goes_on(seconds)
        if self._is_resized:
            self._is_resized = False
            self.resizes()

    # ---- For good --------------------------------------------------------------------------------

    def should_end(self, *, busy: bool) -> bool:
        """Return whether to end now; if `busy`, a visit is running that may use the grace time."""
        return self.signal is not None and (not busy or time.monotonic() >= self.deadline)

    def clear_wakeup(self) -> None:
        """Clear `wake_fd`, so that it waits for the next signal."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake_fd, READ_BYTES)

    def arrives_within(self, seconds: float) -> bool:
        """Return whether a signal has come, or comes within this time."""
        until = time.monotonic() + seconds
        while self.signal is None and (left_s := until - time.monotonic()) > 0:
            CLOCK.now()
            # Cancelling a job continues it first: SIGCONT wakes us, too, but is not a signal to end.
            if select.select([self.wake_fd], [], [], left_s)[0] and self.signal is None:
                self.clear_wakeup()
            CLOCK.waited(left_s)
        return self.signal is not None


def _nothing(*_: object) -> None:
    pass


def _stop(processes: Processes) -> set[int]:
    """Stop processes, and those that they are just starting; return them all."""
    stopped: set[int] = set()
    for _ in range(MAX_STOP_PASSES):
        if not (running := set(processes()) - stopped):
            break
        _send(signal.SIGSTOP, running)
        stopped |= running
    return stopped


def _stop_ourselves(handler: Callable[..., None]) -> None:
    """Stop as without a handler; return when we are continued, or at once where nobody could do that."""
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    CLOCK.now()
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, handler)


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
