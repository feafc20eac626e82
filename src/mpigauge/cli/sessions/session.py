"""Sessions of the verbs that measure: progress, signals, result file, and exit status."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from mpigauge.ask import VERBS, Request
from mpigauge.cli.options.common import units_of
from mpigauge.cli.options.into import hand_in
from mpigauge.cli.screen.doing import doing
from mpigauge.cli.screen.streams import ClosedStreamObserver, print_unless_closed, tolerate_closed
from mpigauge.errors import (
    EXIT_CHECK_FAILED,
    EXIT_DONE,
    EXIT_SIGNAL_BASE,
    EnvironmentLacksError,
    JobError,
)
from mpigauge.plan.library_names import library_name
from mpigauge.programs import signal_name
from mpigauge.result.files import as_argument, default_path, named_without_memory, resume_command
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mpigauge.campaign.job_run import Observer
    from mpigauge.campaign.measuring import SessionEnd
    from mpigauge.campaign.prepare import PreparedCampaign
    from mpigauge.cli.screen.live import LiveAnswer, Shown
    from mpigauge.cli.screen.tables import TableOptions
    from mpigauge.mpi.kernel import Waited
    from mpigauge.mpi.library import Library
    from mpigauge.report_folder import FolderRequest
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Campaign
    from mpigauge.rows.rows import Row

KEYS: dict[int, str] = {signal.SIGINT: "Ctrl-C", signal.SIGQUIT: "Ctrl-\\"}
"""Keys of a terminal that send a signal, for those who know its name by them alone."""


def waiting_for_kernel(*, quiet: bool) -> Waited:
    """Return what shows on a terminal that a kernel is compiled, as a first command waits for it."""

    @contextmanager
    def shown(library: Library) -> Iterator[None]:
        name = library_name(library.name, library.version, library.called)
        with doing(f"compiling the kernel for {name}, once", quiet=quiet):
            yield

    return shown


def measure(
    session: PreparedCampaign,
    output: Path | None,
    *,
    quiet: bool,
    so_far: Shown | None,
) -> SessionEnd:
    """Run a session to its end.

    Args:
        output: Name of the new result file; None for the usual one.
        so_far: Returns what a terminal shows of the numbers so far; None for a bar alone.

    Raises:
        UsageError: The file exists already.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
        JobError: Nothing could be measured.
    """
    from mpigauge.campaign import measuring
    from mpigauge.cli.screen.live import LiveAnswer
    from mpigauge.cli.screen.progress import CampaignProgress
    from mpigauge.doctor.this_machine import startup_obstacles

    displays: list[LiveAnswer] = []
    jobs = len({cell.job for target in session.targets for cell in target.cells})
    spent_s = _spent_s(session.before) if session.before is not None else 0.0

    def observing(path: Path) -> AbstractContextManager[Observer]:
        def on_terminal() -> LiveAnswer:
            campaign = CampaignProgress(session.plan, jobs, spent_s)
            displays.append(LiveAnswer(sys.stderr, campaign, path, so_far))
            return displays[-1]

        return _observer_for(sys.stderr, on_terminal, quiet=quiet)

    try:
        done = measuring.measure(session, output, default_path(), observing)
    except JobError as error:
        for note in startup_obstacles([target.library for target in session.targets]):
            if note not in error.sentence:
                error.add_note(note)
        raise
    if done.signal is not None:
        with tolerate_closed(sys.stderr):
            for display in displays:
                display.leave()
    return done


def _spent_s(before: Result) -> float:
    """Return how long earlier sessions have measured."""
    from mpigauge.find.answer import seconds_of

    return seconds_of(before)


@contextmanager
def _observer_for(
    stream: TextIO, on_terminal: Callable[[], LiveAnswer], *, quiet: bool
) -> Iterator[Observer]:
    """Watch a campaign: by a display on a terminal, lines on a pipe, or not at all."""
    from mpigauge.cli.screen.progress import NoProgress, ProgressLines

    if quiet or not stream.isatty():
        yield cast(
            "Observer", ClosedStreamObserver(NoProgress(stream) if quiet else ProgressLines(stream), stream)
        )
        return
    display = on_terminal()
    try:
        yield cast("Observer", ClosedStreamObserver(display, stream))
    finally:
        with tolerate_closed(stream):
            display.stop()


def measured_and_shown(
    session: PreparedCampaign,
    output: Path | None,
    options: TableOptions,
    *,
    quiet: bool,
    folder: FolderRequest | None = None,
    keep: bool = False,
) -> int:
    """Run a session to its end and print its table; return the exit status.

    Args:
        folder: Folder that is made of the result, which is in it.
        keep: Whether to keep a copy for later comparisons.

    Raises:
        UsageError: The file exists already.
        EnvironmentLacksError: A host cannot be reached, or the file has lost data.
        JobError: Nothing could be measured.
    """
    from mpigauge.cli.screen.live import answer_so_far
    from mpigauge.cli.screen.tables import tabulate

    if folder is not None:
        from mpigauge.report_folder import make_folder

        make_folder(folder.folder)
    done = measure(session, output, quiet=quiet, so_far=answer_so_far)
    if done.signal is not None:
        return _stopped_before_folder(done, done.signal, folder)
    with named_without_memory(done.path):
        text, rows = tabulate([done.path], options, [done.result])
    with told_where(done):
        print_unless_closed(text, nl=False)
    status = ended(done.path, rows, done)
    if keep:
        keep_baseline(done.path, done.result.campaign, quiet=quiet)
    if folder is not None:
        request = Request(VERBS["report"], stat=options.stat, units=units_of(options.unit_names))
        hand_in(folder, request, [done.result])
    return status


def _stopped_before_folder(done: SessionEnd, signal_number: int, folder: FolderRequest | None) -> int:
    """Print how to continue, and how to make the folder then; return the exit status."""
    status = stopped(done, signal_number)
    if folder is not None and not done.lost:
        from mpigauge.report_folder import command_for

        print_unless_closed(f"  make the folder with: {command_for(folder.folder, done.path)}", err=True)
    return status


def keep_baseline(path: Path, campaign: Campaign, *, quiet: bool) -> None:
    """Keep a copy of a result for later comparisons; print where.

    Raises:
        UsageError: The result is imported, or not a file.
        EnvironmentLacksError: It cannot be written there.
    """
    from mpigauge.compare.history.earlier import keep
    from mpigauge.compare.session_sentences import kept_words

    kept, count = keep(path, campaign)
    if not quiet:
        print_unless_closed(kept_words(kept, count), err=True)


def measured_or_stopped(
    session: PreparedCampaign,
    output: Path | None,
    *,
    quiet: bool,
    says_where: bool = True,
    so_far: Shown | None = None,
) -> SessionEnd | int:
    """Run a session; return how it ended, or the exit status after a signal, for verbs that print later.

    Args:
        so_far: Returns what a terminal shows of the numbers so far; None for a bar alone.
        says_where: Whether to print the name of the result.

    Raises:
        UsageError: The file exists already.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
        JobError: Nothing could be measured.
    """
    done = measure(session, output, quiet=quiet, so_far=so_far)
    if done.signal is not None:
        return stopped(done, done.signal)
    if says_where and not done.lost:
        print_unless_closed(f"result: {done.path}", err=True)
    return done


def stopped(measured: SessionEnd, signal_number: int) -> int:
    """Print how to continue after a signal; return the exit status."""
    where = _what_is_kept(measured)
    key = f" ({KEYS[signal_number]})" if signal_number in KEYS else ""
    print_unless_closed(f"stopped by {signal_name(signal_number)}{key}; {measured.lost or where}", err=True)
    if not measured.lost:
        if measured.result.visits:
            print_unless_closed(f"  look at it:    mpigauge show {as_argument(measured.path)}", err=True)
        print_unless_closed(f"  continue with: {resume_command(measured.path)}", err=True)
    return EXIT_SIGNAL_BASE + signal_number


def _what_is_kept(measured: SessionEnd) -> str:
    """Return what of a campaign is in its file after a signal."""
    from mpigauge.plan.left_out import number_asked_for
    from mpigauge.units import counted

    if measured.result.visits:
        return f"all finished visits are in {measured.path}"
    cells = counted(number_asked_for(measured.result.campaign.cells), "cell")
    return f"nothing is measured yet: {measured.path} has 0 of {cells}"


@contextmanager
def told_where(measured: SessionEnd) -> Iterator[None]:
    """Print where a result is if it cannot be shown: standard output may be full."""
    try:
        yield
    except OSError:
        if not measured.lost:
            print_unless_closed(f"result: {measured.path}, which has all that was measured", err=True)
        raise


def ended(path: Path, rows: Sequence[Row], measured: SessionEnd | None = None) -> int:
    """Print where the result is; return the exit status.

    It is 1 after a cell that crashed, hung or received a wrong payload, though all others are measured; also
    after a job that did not start, a failed campaign, or fewer launches than were asked for.

    Args:
        measured: How the session ended, if one measured the rows.

    Raises:
        JobError: Nothing was measured, since the time was up before the first cell.
        EnvironmentLacksError: The file has lost data.
    """
    from mpigauge.ask import check_measured
    from mpigauge.rows.reasons import LaunchFailed

    if measured is not None:
        check_saved(measured)
    print_unless_closed(f"result: {path}", err=True)
    check_measured(path, rows)
    broken = any(row.status in BROKEN or isinstance(row.reason, LaunchFailed) for row in rows)
    if measured is not None and measured.launches_short is not None:
        made, wanted = measured.launches_short
        print_unless_closed(f"mpigauge: {path}: only {made} of {wanted} launches were made", err=True)
        print_unless_closed(f"  hint: {_hint_for_short(path, measured)}", err=True)
        broken = True
    failed = measured is not None and measured.reason == "failed"
    return EXIT_CHECK_FAILED if broken or failed else EXIT_DONE


def check_saved(measured: SessionEnd) -> None:
    """Refuse a result file that was removed or changed while it grew; called after it was shown.

    Raises:
        EnvironmentLacksError: The file has lost data.
    """
    if measured.lost:
        from mpigauge.result.writer import MOVED_HINT

        raise EnvironmentLacksError(measured.lost, MOVED_HINT)


def _hint_for_short(path: Path, measured: SessionEnd) -> str:
    from mpigauge.find.missing import HUNG, hang_took_time

    if measured.reason == "budget":
        return HUNG if hang_took_time(measured.result) else "raise --budget, or ask for fewer launches"
    return f"when the reason is gone, continue with: {resume_command(path)}"
