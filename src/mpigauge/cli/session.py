"""What verbs that measure share: a session with its progress and signals, its file, and how it ends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mpigauge.cli.streams import say
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_SIGNAL_BASE, JobError
from mpigauge.result.files import default_path, resume_words
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mpigauge.analysis.rows import Row
    from mpigauge.campaign.job_run import Observer
    from mpigauge.campaign.prepare import Session


def measure(
    session: Session, output: Path | None, *, quiet: bool, answering: bool = True
) -> tuple[Path, int | None]:
    """Runs a session to its end: the result file, and the signal that ended it, if one did.

    Args:
        output: The name of a new file; None means the usual one.
        answering: Whether a terminal shows what the result says so far.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
        JobError: Nothing could be measured.
    """
    from mpigauge.campaign import measuring
    from mpigauge.cli.observers import observer_for

    def observing(path: Path) -> AbstractContextManager[Observer]:
        return observer_for(session.plan, sys.stderr, quiet=quiet, answers=path if answering else None)

    return measuring.measure(session, output, default_path(), observing)


def stopped(path: Path, signal_number: int) -> int:
    """Says how to continue after a signal; the exit status."""
    say(f"stopped by signal {signal_number}; all finished visits are in {path}", err=True)
    say(f"  continue with: {resume_words(path)}", err=True)
    return EXIT_SIGNAL_BASE + signal_number


def ended(path: Path, rows: Sequence[Row]) -> int:
    """Says where the result is; the exit status.

    A cell that crashed, hung or received a wrong payload in the end makes it 1, though all the others
    are measured.

    Raises:
        JobError: Nothing was measured, since the time was up before the first cell.
    """
    from mpigauge.analysis.rows import why_nothing
    from mpigauge.show.words.status import sentence

    say(f"result: {path}", err=True)
    if why := why_nothing(rows):
        raise JobError(f"{path}: nothing was measured: {sentence(why)}", "raise --budget, or measure less")
    return EXIT_CHECK_FAILED if any(row.status in BROKEN for row in rows) else EXIT_DONE
