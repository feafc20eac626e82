"""A clock that stops while this program is stopped: by Ctrl-Z, a scheduler or a debugger.

SIGCONT says that the program continues, but not since when it was stopped: at the earliest, since the clock
was last read, which is done before each wait. A frozen container gets no signal; it shows in a wait that took
much longer than asked for.
"""

import time
from dataclasses import dataclass, field

OVERSLEPT_S = 2.0
"""Longest delay of a wake-up on an overloaded machine."""


@dataclass(slots=True)
class AwakeClock:
    """A monotonic clock that excludes the time in which the process was stopped.

    Attributes:
        stopped_s: Time that the process was stopped, in total.
        unreported_s: The part not yet returned by `take_stopped_s`; None if it has not been stopped since.
    """

    stopped_s: float = 0.0
    unreported_s: float | None = None
    _read: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        """Return the time in seconds; like time.monotonic(), only differences have a meaning."""
        self._read = time.monotonic()
        return self._read - self.stopped_s

    def continued(self) -> None:
        """Note that the process continues after a stop, which began when the clock was last read."""
        self._note_stop(time.monotonic() - self._read)

    def waited(self, asked_s: float) -> None:
        """Note the end of a wait that began when the clock was last read; one much too long was a stop."""
        beyond_s = time.monotonic() - self._read - asked_s
        if beyond_s > OVERSLEPT_S:
            self._note_stop(beyond_s)

    def take_stopped_s(self) -> float | None:
        """Return the seconds that the process was stopped since the last call; None if it was not."""
        seconds, self.unreported_s = self.unreported_s, None
        return seconds

    def _note_stop(self, seconds: float) -> None:
        self._read = time.monotonic()
        self.stopped_s += seconds
        self.unreported_s = (self.unreported_s or 0.0) + seconds


CLOCK = AwakeClock()
"""The clock of this process."""


def awake_s() -> float:
    """Return the time of this process's clock, in seconds."""
    return CLOCK.now()
