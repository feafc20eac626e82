"""What verbs that measure share: a session with its progress and signals, its file, and how it ends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mpigauge.cli.screen.streams import say
from mpigauge.errors import (
    EXIT_CHECK_FAILED,
    EXIT_DONE,
    EXIT_SIGNAL_BASE,
    EnvironmentLacksError,
    JobError,
)
from mpigauge.result.files import default_path, resume_command
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mpigauge.campaign.job_run import Observer
    from mpigauge.campaign.measuring import SessionEnd
    from mpigauge.campaign.prepare import PreparedCampaign
    from mpigauge.rows.reasons import Reason
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import EndReason


def measure(
    session: PreparedCampaign, output: Path | None, *, quiet: bool, answering: bool = True
) -> SessionEnd:
    """Run a session to its end.

    Args:
        output: The name of a new file; None means the usual one.
        answering: Whether a terminal shows what the result says so far.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
        JobError: Nothing could be measured.
    """
    from mpigauge.campaign import measuring
    from mpigauge.cli.screen.observers import observer_for
    from mpigauge.cli.verbs.doctor_causes import causes_here

    def observing(path: Path) -> AbstractContextManager[Observer]:
        return observer_for(session.plan, sys.stderr, quiet=quiet, answers=path if answering else None)

    try:
        return measuring.measure(session, output, default_path(), observing)
    except JobError as error:
        for note in causes_here():
            error.add_note(note)
        raise


def stopped(measured: SessionEnd, signal_number: int) -> int:
    """Says how to continue after a signal; the exit status."""
    where = f"all finished visits are in {measured.path}"
    say(f"stopped by signal {signal_number}; {measured.lost or where}", err=True)
    if not measured.lost:
        say(f"  continue with: {resume_command(measured.path)}", err=True)
    return EXIT_SIGNAL_BASE + signal_number


def ended(path: Path, rows: Sequence[Row], measured: SessionEnd | None = None) -> int:
    """Says where the result is; the exit status.

    A cell that crashed, hung or received a wrong payload in the end makes it 1, though all the others
    are measured; so does a job that did not begin, a campaign that failed, or one that made fewer launches
    than were asked for.

    Args:
        measured: How the session ended that measured them, if one did.

    Raises:
        JobError: Nothing was measured, since the time was up before the first cell.
        EnvironmentLacksError: The file has not all that was measured.
    """
    from mpigauge.document.status_words import sentence
    from mpigauge.rows.reasons import LaunchFailed
    from mpigauge.rows.rows import why_nothing

    if measured is not None:
        check_saved(measured)
    say(f"result: {path}", err=True)
    if why := why_nothing(rows):
        raise JobError(f"{path}: nothing was measured: {sentence(why)}", _hint_for_nothing(why))
    broken = any(row.status in BROKEN or isinstance(row.reason, LaunchFailed) for row in rows)
    if measured is not None and measured.launches_short is not None:
        made, wanted = measured.launches_short
        say(f"mpigauge: {path}: only {made} of {wanted} launches were made", err=True)
        say(f"  hint: {_hint_for_short(path, measured.reason)}", err=True)
        broken = True
    failed = measured is not None and measured.reason == "failed"
    return EXIT_CHECK_FAILED if broken or failed else EXIT_DONE


def check_saved(measured: SessionEnd) -> None:
    """Refuses to call a result whole that others have taken away while it grew; after it was shown.

    Raises:
        EnvironmentLacksError: The file has not all that was measured.
    """
    if measured.lost:
        from mpigauge.result.writer import MOVED_HINT

        raise EnvironmentLacksError(measured.lost, MOVED_HINT)


def _hint_for_nothing(why: Reason) -> str:
    from mpigauge.campaign.failure_remedies import hint_for
    from mpigauge.rows.reasons import LaunchFailed, OutOfTime

    if isinstance(why, LaunchFailed):
        return hint_for(why.line)
    return "raise --budget, or measure less" if isinstance(why, OutOfTime) else "mpigauge show says why"


def _hint_for_short(path: Path, reason: EndReason | None) -> str:
    if reason == "budget":
        return "raise --budget, or ask for fewer launches"
    return f"when the reason is gone, continue with: {resume_command(path)}"
