"""Watching a silent job: whether it can still begin, or go on, and what to report meanwhile."""

import math
import re
from collections.abc import Callable
from typing import Protocol

from mpigauge.campaign.launch.awake import awake_s
from mpigauge.campaign.launch.ranks import LocalRanks
from mpigauge.programs import end_of
from mpigauge.rows.failure_cause import CAUSE, launchers_end, telling_line
from mpigauge.sequences import first_words

LOOK_S = 0.25
MAX_LOOK_S = 2.0
LOOK_SHARE = 0.1
"""Interval of looks as a share of the start so far: a look costs CPU time that ranks may need."""

LOOK_RUNNING_S = 5.0
"""Interval of looks at a job that has begun, in which ranks are not to be disturbed."""

TELL_S = 5.0
TELL_FACTOR = 2.0
"""Multiple of the usual start-up time after which a start is reported as late."""

LINE_SHOWN = 60
"""Characters shown of a line without end."""

DEAD_S = 1.5
"""How long to wait for output of the launcher and other ranks after a rank has died."""

HOPELESS_S = 5.0
"""How long a start may be in a state from which none has been seen to begin."""

HOPELESS = re.compile(r"execvp error|[Aa]n error occurred in MPI_Init")
"""Messages after which no launcher has been seen to start a job, though some hang."""


class SilentJob(Protocol):
    """The part of a running job that the watch needs."""

    @property
    def last_words(self) -> str:
        """The job's output outside its journal."""

    @property
    def is_alone(self) -> bool:
        """Whether no process of the job is left but its launcher."""

    @property
    def launcher_status(self) -> int | None:
        """The launcher's exit status; None while it runs."""

    @property
    def is_input_unread(self) -> bool:
        """Whether the launcher has left input in its pipe."""

    @property
    def endless_line(self) -> str:
        """The beginning of a line of its output that is too long already; empty if there is none."""


class SilenceWatch:
    """Watch over a silent job, an implementation of `launch.process.Watch`.

    Args:
        ranks: The job's ranks on this machine.
        job: The running job.
        tell: Reports a sentence; called at most once.
        usual_s: Usual start-up time of the job; 0 if not known.

    Attributes:
        began: Whether the kernel has printed its first line.
        death: How a rank has died, or what keeps the job from beginning, in words; empty while nothing has.
    """

    def __init__(
        self, ranks: LocalRanks, job: SilentJob, tell: Callable[[str], None], usual_s: float
    ) -> None:
        self._ranks = ranks
        self._job = job
        self._tell = tell
        self._tell_after_s = max(TELL_S, TELL_FACTOR * usual_s)
        self._begun = awake_s()
        self._told = False
        self._obstacle = ""
        self._obstacle_since = 0.0
        self.began = False
        self.death = ""

    @property
    def is_hopeless(self) -> bool:
        """Whether another start would not begin either, for what `death` says."""
        return bool(self.death) and self.death == self._obstacle and self._job.launcher_status is None

    @property
    def every_s(self) -> float:
        """Interval of looks while the job is silent, in seconds."""
        if self.began:
            return LOOK_RUNNING_S
        return min(MAX_LOOK_S, max(LOOK_S, LOOK_SHARE * self._since_s))

    @property
    def _since_s(self) -> float:
        return awake_s() - self._begun

    def look(self) -> float:
        """Look at the job; return the seconds to wait on at most."""
        self.death = self._ranks.death()
        if self.death:
            return DEAD_S
        if self.began:
            return math.inf
        if self._obstacle_lasts():
            self.death = self._obstacle
            return 0
        words = self._job.last_words
        if HOPELESS.search(words) or (CAUSE.search(words) and self._job.is_alone):
            return HOPELESS_S
        if not (self._obstacle or self._told) and self._since_s >= self._tell_after_s:
            self._told = True
            line = telling_line(words)
            self._tell(f"it has said: {line}" if line else "it has said nothing")
        return math.inf

    def _obstacle_lasts(self) -> bool:
        """Return whether the same thing has kept the job from beginning for long."""
        if (seen := self._obstacle_seen()) != self._obstacle:
            self._obstacle, self._obstacle_since = seen, awake_s()
        return bool(seen) and awake_s() - self._obstacle_since >= HOPELESS_S

    def _obstacle_seen(self) -> str:
        if (status := self._job.launcher_status) is not None:
            return launchers_end(status) or f"its launcher has ended with {end_of(status)}"
        if self._job.is_input_unread:
            return (
                "its launcher does not read its standard input, through which rank 0 is told what to measure"
            )
        if line := self._job.endless_line:
            return f"its standard output is a line without end: {first_words(line, LINE_SHOWN)}"
        return ""
