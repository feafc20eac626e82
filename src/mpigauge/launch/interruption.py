"""Signals that ask us to stop: remembered, with the time that they leave, and whoever waits is woken up."""

import contextlib
import math
import os
import select
import signal
import time
from typing import Self

GRACE_S = 20.0
"""What a scheduler's signal leaves to a visit that is running: schedulers kill after 30 s or more."""

ECHO_S = 1.0
"""The same signal again within this time is one that reached us twice, by a script and by its scheduler."""

READ_BYTES = 1 << 20


class Interruption:
    """Remembers a signal that asks us to stop, and wakes up whoever waits for the job's lines.

    Those that schedulers send leave what is running some time to end; any other signal, or a second one,
    does not. What is ignored stays so: `nohup` means it, and so does a shell with `&`.
    """

    GRACEFUL = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
    SIGNALS = (signal.SIGINT, signal.SIGHUP, *GRACEFUL)

    def __init__(self) -> None:
        self.signal: int | None = None
        self._came = self.deadline = math.inf
        self.wake_fd, self._written_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        heard = [number for number in self.SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._remember) for number in heard}
        self._wakeup_before = signal.set_wakeup_fd(self._written_fd, warn_on_full_buffer=False)
        return self

    def __exit__(self, *exception: object) -> None:
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

    def ends(self, *, busy: bool) -> bool:
        """Whether to stop now, with something running that might be finished or without."""
        return self.signal is not None and (not busy or time.monotonic() >= self.deadline)

    def calm(self) -> None:
        """Makes `wake_fd` wait for the next signal."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake_fd, READ_BYTES)

    def comes_within(self, seconds: float) -> bool:
        """Whether a signal has come, or comes in this time."""
        if self.signal is None:
            select.select([self.wake_fd], [], [], seconds)
        return self.signal is not None
