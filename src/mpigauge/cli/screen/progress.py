"""Progress of a campaign: its share and the time left; where there is no terminal one line per launch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

import click

from mpigauge import units
from mpigauge.campaign.launch.awake import awake_s
from mpigauge.document.plain_signs import printable_lines
from mpigauge.plan.library_names import kind_name

if TYPE_CHECKING:
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
    """Progress of a campaign, relative to its budget or its number of launches."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._begun = awake_s()
        self._visits = self._visits_done = self._number = 0

    def launch_begins(self, number: int, visits: int) -> None:
        """Note the number of visits of the launch."""
        self._visits, self._visits_done, self._number = visits, 0, number

    def visit_ends(self) -> None:
        """Count one more visit."""
        self._visits_done += 1

    def share(self) -> float:
        """Return the share that is done, from 0 to 1."""
        since_s = awake_s() - self._begun
        if self._plan.over_s is not None:
            return max(0.0, min(1.0, since_s / self._plan.over_s))
        inside = self._visits_done / max(1, self._visits)
        launches = min(1.0, (self._number - 1 + inside) / self._plan.launches_max)
        if self._plan.budget_s is None:
            return max(0.0, launches)
        return max(0.0, launches, min(1.0, since_s / self._plan.budget_s))

    def left(self) -> str:
        """Return the time left, in words; empty as long as it is unknown."""
        share = self.share()
        if share <= 0:
            return ""
        left_s = (awake_s() - self._begun) * (1 - share) / share
        at_most = "at most " if self._plan.budget_s is not None else ""
        return f"{at_most}{left_s:.0f} s left"


def words_of(cell: Cell) -> str:
    """A cell in a few words."""
    return f"{cell.pattern} {cell.mode} {units.format_size(cell.bytes)}, {kind_name(cell.mpi)}"


def has_terminal(stream: TextIO) -> bool:
    """Return whether we own the terminal: a shell takes it from background jobs."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:
        return True
