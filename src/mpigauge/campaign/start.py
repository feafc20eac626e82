"""A job that is silent: whether it can still begin, or go on, and what people are told meanwhile."""

import math
import re
from collections.abc import Callable
from typing import Protocol

from mpigauge.campaign.launch.awake import awake_s
from mpigauge.campaign.launch.ranks import LocalRanks
from mpigauge.rows.failure_cause import CAUSE, telling_line

LOOK_S = 0.25
LOOK_MOST_S = 2.0
LOOK_SHARE = 0.1
"""Of the time that a start has taken: looking at all processes costs time, and ranks may need the cores."""

LOOK_RUNNING_S = 5.0
"""Of silence in a job that has begun, in which ranks are not to be disturbed."""

TELL_S = 5.0
TELL_FACTOR = 2.0
"""Times what a start of this job usually takes, after which people are told that this one has not begun."""

DEAD_S = 1.5
"""What a launcher and the other ranks may still say after the death of a rank."""

HOPELESS_S = 5.0
HOPELESS = re.compile(r"execvp error|[Aa]n error occurred in MPI_Init")
"""After which no launcher was ever seen to begin, though some stay until they are killed."""


class Silent(Protocol):
    """What is asked of a job."""

    @property
    def last_words(self) -> str:
        """What it has said outside its journal."""

    @property
    def is_alone(self) -> bool:
        """Whether nothing of it lives but its launcher."""


class SilenceWatch:
    """Looks at a silent job, as launch.process.Watch asks.

    Args:
        ranks: Its ranks on this machine.
        job: Their job.
        tell: Says a sentence to whoever watches the campaign; called once, if at all.
        usual_s: How long its start takes, as far as that is known.

    Attributes:
        began: Whether the kernel has said anything but that it waits for its plan.
        death: How a rank has died, in words; empty while none has.
    """

    def __init__(self, ranks: LocalRanks, job: Silent, tell: Callable[[str], None], usual_s: float) -> None:
        self._ranks = ranks
        self._job = job
        self._tell = tell
        self._tell_after_s = max(TELL_S, TELL_FACTOR * usual_s)
        self._begun = awake_s()
        self._told = False
        self.began = False
        self.death = ""

    @property
    def every_s(self) -> float:
        """After how much silence to look, and again."""
        if self.began:
            return LOOK_RUNNING_S
        return min(LOOK_MOST_S, max(LOOK_S, LOOK_SHARE * self._since_s))

    @property
    def _since_s(self) -> float:
        return awake_s() - self._begun

    def look(self) -> float:
        """Look at it; return for how much longer to wait at most."""
        self.death = self._ranks.death()
        if self.death:
            return DEAD_S
        if self.began:
            return math.inf
        words = self._job.last_words
        if HOPELESS.search(words) or (CAUSE.search(words) and self._job.is_alone):
            return HOPELESS_S
        if not self._told and self._since_s >= self._tell_after_s:
            self._told = True
            said = telling_line(words)
            self._tell(f"it has said: {said}" if said else "it has said nothing")
        return math.inf
