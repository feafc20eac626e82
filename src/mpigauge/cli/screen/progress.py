"""What is seen while it measures: a bar on a terminal, one plain line per launch otherwise."""

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
"""Drawing takes processor time from the ranks; four times a second is enough for a person."""

NOTICED_S = 1.0


class NoProgress:
    """Only troubles are told."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Nothing."""

    def visit_begins(self, cell: Cell) -> None:
        """Nothing."""

    def recorded(self, record: Record) -> None:
        """Nothing."""

    def visit_ends(self) -> None:
        """Nothing."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """Nothing."""

    def waits(self, number: int, seconds: float) -> None:
        """Nothing."""

    def rests(self) -> None:
        """Nothing."""

    def goes_on(self, seconds: float) -> None:
        """Nothing."""

    def trouble(self, sentence: str) -> None:
        """At once, in its own line."""
        click.echo(printable_lines(f"mpigauge: {sentence}"), file=self._stream)


class ProgressLines(NoProgress):
    """One line per launch."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """The line."""
        line = f"launch {number}: {job}: {units.counted(samples, 'sample')} in {seconds:.1f} s"
        click.echo(printable_lines(line), file=self._stream)

    def waits(self, number: int, seconds: float) -> None:
        """Another."""
        line = f"launch {number} begins in {units.format_duration(seconds)}"
        click.echo(printable_lines(line), file=self._stream)

    def goes_on(self, seconds: float) -> None:
        """How long it was stopped, if anybody may have noticed."""
        if seconds >= NOTICED_S:
            words = f"was stopped for {units.format_duration(seconds)}, which the budget does not count"
            click.echo(printable_lines(words), file=self._stream)


class Course:
    """How far a campaign has come, of its budget or of the launches asked for."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._begun = awake_s()
        self._visits = self._visits_done = self._number = 0

    def launch_begins(self, number: int, visits: int) -> None:
        """So many visits lie ahead."""
        self._visits, self._visits_done, self._number = visits, 0, number

    def visit_ends(self) -> None:
        """One more."""
        self._visits_done += 1

    def share(self) -> float:
        """From 0 to 1."""
        since_s = awake_s() - self._begun
        if self._plan.over_s is not None:
            return max(0.0, min(1.0, since_s / self._plan.over_s))
        inside = self._visits_done / max(1, self._visits)
        launches = min(1.0, (self._number - 1 + inside) / self._plan.launches_max)
        if self._plan.budget_s is None:
            return max(0.0, launches)
        return max(0.0, launches, min(1.0, since_s / self._plan.budget_s))

    def left(self) -> str:
        """How long it will take, in words; nothing before that is known."""
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
    """Whether nobody else has the terminal, as a shell whose background job we are."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:
        return True


class ProgressBar(NoProgress):
    """A bar with the time left and what is being measured, drawn in the pauses between visits."""

    def __init__(self, stream: TextIO, plan: Plan) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        super().__init__(stream)
        self._course = Course(plan)
        self._drawn = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.fields[launch]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[cell]}"),
            console=console(stream),
            auto_refresh=False,  # no thread of its own: it would preempt the ranks
            transient=True,
        )
        self._task = self._progress.add_task("", total=1.0, launch="", left="", cell="")

    def start(self) -> None:
        """Takes the last line of the terminal."""
        self._progress.start()

    def stop(self) -> None:
        """Gives it back."""
        self._progress.stop()

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """What is launched now."""
        self._course.launch_begins(number, visits)
        again = f", part {part}" if part > 1 else ""
        self._progress.update(self._task, launch=f"launch {number}{again}", cell=f"starting {job}")
        self._draw(at_once=True)

    def waits(self, number: int, seconds: float) -> None:
        """For what."""
        begin = f"begins in {units.format_duration(seconds)}"
        self._progress.update(self._task, launch=f"launch {number}", cell=begin)
        self._draw(at_once=True)

    def visit_begins(self, cell: Cell) -> None:
        """What is measured now."""
        self._progress.update(self._task, cell=words_of(cell))
        self._draw()

    def visit_ends(self) -> None:
        """One more."""
        self._course.visit_ends()

    def rests(self) -> None:
        """Leaves the terminal to others."""
        self._progress.stop()

    def goes_on(self, seconds: float) -> None:
        """Takes its line again."""
        self._draw(at_once=True)

    def trouble(self, sentence: str) -> None:
        """Above the bar."""
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
        self._progress.update(self._task, completed=self._course.share(), left=self._course.left())
        self._progress.refresh()
