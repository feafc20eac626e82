"""A clock that stands while this program is stopped: by Ctrl-Z, a scheduler, a debugger.

The system tells who is continued (SIGCONT), but not since when it was stopped: at the earliest, since the
clock was last read, which is done before each wait. A container that is frozen is told nothing; then a wait
has taken much longer than was asked for.
"""

import time
from dataclasses import dataclass, field

OVERSLEPT_S = 2.0
"""Longest that a wait lasts beyond its time on a machine that has too much to do."""


@dataclass(slots=True)
class AwakeClock:
    """The clock.

    Attributes:
        stopped_s: How long it has stood until now.
        untold_s: How much of that nobody has asked for yet; None if it has not stood since then.
    """

    stopped_s: float = 0.0
    untold_s: float | None = None
    _read: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        """Return the time in seconds, which has no other meaning than time.monotonic() has."""
        self._read = time.monotonic()
        return self._read - self.stopped_s

    def goes_on(self) -> None:
        """Take in that we were stopped, at the earliest when the clock was last read."""
        self._stood(time.monotonic() - self._read)

    def waited(self, asked_s: float) -> None:
        """Take in that a wait is over which began when the clock was last read."""
        beyond_s = time.monotonic() - self._read - asked_s
        if beyond_s > OVERSLEPT_S:
            self._stood(beyond_s)

    def told_s(self) -> float | None:
        """Return how long it has stood since it was last asked; None if it has not."""
        told, self.untold_s = self.untold_s, None
        return told

    def _stood(self, seconds: float) -> None:
        self._read = time.monotonic()
        self.stopped_s += seconds
        self.untold_s = (self.untold_s or 0.0) + seconds


CLOCK = AwakeClock()
"""The clock of this process, which is stopped or goes on as a whole."""


def awake_s() -> float:
    """Return the seconds that this program was not stopped, since some moment."""
    return CLOCK.now()
