"""Progress of a campaign: a bar on a terminal, else one plain line per launch."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TextIO

import click

from mpigauge import units
from mpigauge.campaign.launch.awake import awake_s
from mpigauge.cli.screen.console import console
from mpigauge.document.plain_signs import printable_lines
from mpigauge.plan.library_names import kind_name

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell, Plan
    from mpigauge.result.records import Record

REFRESH_S = 0.25
"""Drawing takes processor time from the ranks; four times a second is enough for a reader."""

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


class ProgressBar(NoProgress):
    """Bar with the time left and the cell that is measured, drawn in the pauses between visits."""

    def __init__(self, stream: TextIO, plan: Plan) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        super().__init__(stream)
        self._campaign = CampaignProgress(plan)
        self._drawn = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.fields[launch]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[cell]}"),
            console=console(stream),
            auto_refresh=False,  # no refresh thread: it would preempt the ranks
            transient=True,
        )
        self._task = self._progress.add_task("", total=1.0, launch="", left="", cell="")

    def start(self) -> None:
        """Begin drawing on the last line of the terminal."""
        self._progress.start()

    def stop(self) -> None:
        """Erase the bar."""
        self._progress.stop()

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Show the launch."""
        self._campaign.launch_begins(number, visits)
        part_text = f", part {part}" if part > 1 else ""
        self._progress.update(self._task, launch=f"launch {number}{part_text}", cell=f"starting {job}")
        self._draw(at_once=True)

    def waits(self, number: int, seconds: float) -> None:
        """Show the pause."""
        begin = f"begins in {units.format_duration(seconds)}"
        self._progress.update(self._task, launch=f"launch {number}", cell=begin)
        self._draw(at_once=True)

    def visit_begins(self, cell: Cell) -> None:
        """Show the cell that is measured."""
        self._progress.update(self._task, cell=words_of(cell))
        self._draw()

    def visit_ends(self) -> None:
        """Count one more visit."""
        self._campaign.visit_ends()

    def rests(self) -> None:
        """Hide the bar while the process is suspended."""
        self._progress.stop()

    def goes_on(self, seconds: float) -> None:
        """Draw the bar again."""
        self._draw(at_once=True)

    def trouble(self, sentence: str) -> None:
        """Print a warning above the bar."""
        words = printable_lines(f"mpigauge: {sentence}")
        self._progress.console.print(words, markup=False, highlight=False, soft_wrap=True)

    def _draw(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not at_once and now - self._drawn < REFRESH_S:
            return
        self._drawn = now
        if not has_terminal(self._stream):
            self._progress.stop()
            return
        self._progress.start()
        self._progress.update(self._task, completed=self._campaign.share(), left=self._campaign.left())
        self._progress.refresh()
