"""Watching a silent job: whether it can still begin, or go on, and what to report meanwhile."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mpigauge.campaign.launch.awake import awake_s
from mpigauge.campaign.launch.ranks import LocalRanks
from mpigauge.plan.buffers import memory_need
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import KernelDescription
from mpigauge.plan.visit_order import PlannedVisit
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


STARTUP_PER_RANK_S = 0.05
"""Launchers start daemons host by host, ranks connect to each other, and clocks are compared."""

MIN_SILENCE_S = 10.0
CONNECT_FACTOR = 2.0
"""How much longer it is between hosts where a cell has not been tried: ranks that have not talked yet
connect, and TCP repeats a first packet that was lost after 1, 3, 7 and 15 s."""

SILENCE_FACTOR = 10.0
TRIAL_MESSAGES = 20
SLOWEST_BYTES_PER_S = 1e6
SLOWEST_HOST_BYTES_PER_S = 1e7
"""Slowest total traffic of a host when many ranks communicate at once: 100 Mbit/s."""

SLOWEST_MEMORY_BYTES_PER_S = 1e8
"""Slowest total traffic where all ranks are on one host."""


class HangTimeout:
    """Longest silence that is not a hang: at least ten seconds, and ten times what the visit should take.

    Between hosts it is at least 20 s before a cell has been tried.

    Before a cell has been tried, a network of 1 MB/s is assumed, and one of 10 MB/s per host for what all
    ranks send at once. The kernel reports slow rounds, so this has to cover one round, not a whole trial.

    Args:
        visits: Visits of the launch.
        hosts: Number of hosts of its ranks.
        description: What the kernel says of its patterns.
        startup_s: How long start-up may take, before the allowance per rank.

    Attributes:
        running: Expected seconds of each visit in progress, by its id; 0 if not known.
        slowest_round_s: The slowest round of these visits that the kernel has reported.
    """

    def __init__(
        self, visits: Sequence[PlannedVisit], hosts: int, description: KernelDescription, startup_s: float
    ) -> None:
        cells = {visit.cell for visit in visits}
        slow_s = {cell: _slow_round_s(cell, hosts, description) for cell in cells}
        self._ranks = max((cell.ranks for cell in cells), default=1)
        self._slow_s: Mapping[int, float] = {visit.id: slow_s[visit.cell] for visit in visits}
        self._slowest_s = max(slow_s.values(), default=0.0)
        self._startup_s = startup_s
        self._untried_s = MIN_SILENCE_S if hosts == 1 else CONNECT_FACTOR * MIN_SILENCE_S
        self._before_first_visit = True
        self.running: dict[int, float] = {}
        self.slowest_round_s = 0.0

    @property
    def before_first_visit(self) -> bool:
        """Whether no visit has begun yet."""
        return self._before_first_visit

    @property
    def is_concurrent(self) -> bool:
        """Whether more than one visit is running."""
        return len(self.running) > 1

    def begin(self, number: int, expect_s: float) -> None:
        """Note that a visit begins, in addition to those running."""
        self.running[number] = max(0.0, expect_s)
        self.slowest_round_s = 0.0
        self._before_first_visit = False

    def slow_round(self, round_s: float) -> None:
        """Note a slow round that the kernel reports; of several visits the slowest counts."""
        self.slowest_round_s = max(self.slowest_round_s * self.is_concurrent, round_s)

    def seconds(self) -> float:
        """Return the timeout in seconds after the kernel's last line."""
        if self._before_first_visit:
            return self._startup_s + STARTUP_PER_RANK_S * self._ranks
        if not self.running:
            return MIN_SILENCE_S + self._slowest_s
        known_s = SILENCE_FACTOR * max(self.running.values())
        if all(self.running.values()):
            return MIN_SILENCE_S + known_s
        if self.slowest_round_s:
            return self._untried_s + max(known_s, TRIAL_MESSAGES * self.slowest_round_s)
        sent_s = max(self._slow_s[number] for number, expect_s in self.running.items() if not expect_s)
        return self._untried_s + max(known_s, sent_s)


def _slow_round_s(cell: Cell, hosts: int, description: KernelDescription) -> float:
    """Return the seconds of a round on the slowest network that is worth waiting for."""
    alone_s = TRIAL_MESSAGES * cell.bytes * max(1, cell.window) / SLOWEST_BYTES_PER_S
    slowest = SLOWEST_HOST_BYTES_PER_S if hosts > 1 else SLOWEST_MEMORY_BYTES_PER_S
    return max(alone_s, memory_need(cell, description, 0) / max(1, hosts) / slowest)


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
        self._obstacle, self._obstacle_kind = "", ""
        self._obstacle_since = 0.0
        self.began = False
        self.death = ""

    @property
    def is_hopeless(self) -> bool:
        """Whether another start would not begin either, for what `death` says."""
        return bool(self.death) and self.death == self._obstacle and self._obstacle_kind != "launcher"

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
        kind, self._obstacle = self._obstacle_seen()
        # By its kind: a line without end begins anew where somebody else ends it in between.
        if kind != self._obstacle_kind:
            self._obstacle_kind, self._obstacle_since = kind, awake_s()
        return bool(kind) and awake_s() - self._obstacle_since >= HOPELESS_S

    def _obstacle_seen(self) -> tuple[str, str]:
        """Return the kind of what keeps the job from beginning, and the sentence on it; empty for nothing."""
        status, line = self._job.launcher_status, self._job.endless_line
        if line and not status:  # one that has ended well has had its ranks measure, and nobody can read it
            return "line", f"its standard output is a line without end: {first_words(line, LINE_SHOWN)}"
        if status is not None:
            return "launcher", launchers_end(status) or f"its launcher has ended with {end_of(status)}"
        if self._job.is_input_unread:
            return (
                "input",
                "its launcher does not read its standard input, through which rank 0 is told what to measure",
            )
        return "", ""
