"""Progress of a campaign: a bar on a terminal, else one plain line per launch."""

from __future__ import annotations

import os
from statistics import fmean
from typing import TYPE_CHECKING, TextIO

import click

from mpigauge import units
from mpigauge.campaign.launch.awake import awake_s
from mpigauge.document.plain_signs import printable_lines
from mpigauge.plan.library_names import kind_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell, Plan
    from mpigauge.result.records import Record

REFRESH_S = 0.5
"""Drawing takes processor time from the ranks; twice a second is enough for a reader."""

SUSPENSION_SHOWN_LEAST_S = 1.0


class NoProgress:
    """Observer that prints warnings only."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Do nothing."""

    def job_starts(self) -> None:
        """Do nothing."""

    def visit_begins(self, cell: Cell) -> None:
        """Do nothing."""

    def recorded(self, record: Record) -> None:
        """Do nothing."""

    def visit_ends(self) -> None:
        """Do nothing."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """Do nothing."""

    def waits(self, number: int, seconds: float) -> None:
        """Do nothing."""

    def rests(self) -> None:
        """Do nothing."""

    def goes_on(self, seconds: float) -> None:
        """Do nothing."""

    def resizes(self) -> None:
        """Do nothing."""

    def trouble(self, sentence: str) -> None:
        """Print a warning at once, on its own line."""
        click.echo(printable_lines(f"mpigauge: {sentence}"), file=self._stream)


class ProgressLines(NoProgress):
    """Observer that prints one line per launch."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """Print the line of a launch."""
        line = f"launch {number}: {job}: {units.counted(samples, 'sample')} in {seconds:.1f} s"
        click.echo(printable_lines(line), file=self._stream)

    def waits(self, number: int, seconds: float) -> None:
        """Print a line about the pause."""
        line = f"launch {number} begins in {units.format_duration(seconds)}"
        click.echo(printable_lines(line), file=self._stream)

    def goes_on(self, seconds: float) -> None:
        """Print how long the campaign was suspended, if that was long enough to notice."""
        if seconds >= SUSPENSION_SHOWN_LEAST_S:
            words = f"was stopped for {units.format_duration(seconds)}, which the budget does not count"
            click.echo(printable_lines(words), file=self._stream)


class CampaignProgress:
    """Progress of a campaign, relative to its budget or its number of launches.

    A launch is the start of its job, which may take longer than what is measured, and its visits. How long
    both take is known from the launches before it; in the first one, from the visits that it has made.

    Args:
        jobs: Jobs that are launched under each number.
        spent_s: Part of the budget that earlier sessions have spent.
        now: Clock, in seconds.
    """

    def __init__(
        self, plan: Plan, jobs: int = 1, spent_s: float = 0.0, now: Callable[[], float] = awake_s
    ) -> None:
        self._plan, self._jobs, self._spent_s, self._now = plan, max(1, jobs), spent_s, now
        self._begun = now()
        self._visits = self._visits_done = 0
        self._before = 0  # launches that earlier sessions have made, and which take no time
        self._starts_s: list[float] = []
        self._launches_s: list[float] = []
        self._launch_begun: float | None = None
        self._visits_begun: float | None = None

    def launch_begins(self, number: int, part: int, visits: int) -> None:
        """Note the number of visits of the launch; one that failed is continued in another part."""
        self._before = max(self._before, (number - 1) * self._jobs - len(self._launches_s))
        if self._launch_begun is None or part == 1:
            self._launch_begun = self._now()
        self._visits, self._visits_done, self._visits_begun = visits, 0, None

    def visit_begins(self) -> None:
        """Note that the job has started."""
        if self._visits_begun is None and self._launch_begun is not None:
            self._visits_begun = self._now()
            self._starts_s.append(self._visits_begun - self._launch_begun)

    def visit_ends(self) -> None:
        """Count one more visit."""
        self._visits_done += 1

    def launch_ends(self) -> None:
        """Note how long the launch took."""
        if self._launch_begun is not None:
            self._launches_s.append(self._now() - self._launch_begun)
        self._launch_begun = self._visits_begun = None

    def share(self) -> float:
        """Return the share that is done, from 0 to 1."""
        since_s = self._now() - self._begun
        if self._plan.over_s is not None:
            return min(1.0, since_s / self._plan.over_s)
        launches = 1.0 - self._launches_left() / self._launches
        if self._plan.budget_s is None:
            return launches
        return max(launches, min(1.0, (since_s + self._spent_s) / self._plan.budget_s))

    def left(self) -> str:
        """Return the time left, in words; empty as long as it is unknown."""
        plan, since_s = self._plan, self._now() - self._begun
        left_s = [] if plan.over_s is None else [max(0.0, plan.over_s - since_s)]
        left_s += [] if plan.budget_s is None else [max(0.0, plan.budget_s - self._spent_s - since_s)]
        if plan.over_s is None and (launch_s := self._launch_s()) is not None:
            left_s.append(self._launches_left() * launch_s)
        if not left_s:
            return ""
        may_end_before = plan.budget_s is not None or plan.launches_min < plan.launches_max
        at_most = "at most " if may_end_before and plan.over_s is None else ""
        return f"{at_most}{min(left_s):.0f} s left"

    @property
    def _launches(self) -> int:
        return self._plan.launches_max * self._jobs

    def _launches_left(self) -> float:
        """Return how many launches are left, with the rest of the one under way."""
        return max(0.0, self._launches - self._before - len(self._launches_s) - self._inside())

    def _inside(self) -> float:
        """Return the share of the launch under way that is over, in time, from 0 to 1."""
        launch_s = self._launch_s()
        if self._launch_begun is None or launch_s is None:
            return 0.0
        start_s = min(self._start_s(), launch_s)
        if self._visits_begun is None:
            over_s = min(self._now() - self._launch_begun, start_s)
        else:
            over_s = start_s + (launch_s - start_s) * min(1.0, self._visits_done / max(1, self._visits))
        return over_s / launch_s if launch_s else 1.0

    def _start_s(self) -> float:
        return fmean(self._starts_s) if self._starts_s else 0.0

    def _launch_s(self) -> float | None:
        """Return how long a launch takes; None as long as none has got so far that it can be told."""
        if self._launches_s:
            return fmean(self._launches_s)
        if self._visits_begun is None or not self._visits_done:
            return None
        return self._start_s() + (self._now() - self._visits_begun) * self._visits / self._visits_done


def words_of(cell: Cell) -> str:
    """A cell in a few words."""
    return f"{cell.pattern} {cell.mode} {units.format_size(cell.bytes)}, {kind_name(cell.mpi)}"


def has_terminal(stream: TextIO) -> bool:
    """Return whether we own the terminal: a shell takes it from background jobs."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:
        return True
