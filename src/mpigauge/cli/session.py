"""What verbs that measure share: a session with its progress and signals, its file, and how it ends."""

from __future__ import annotations

import platform
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.streams import say
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_SIGNAL_BASE, JobError
from mpigauge.vocabulary import BROKEN, RESUMABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.campaign.prepare import Session

HOSTS_NAMED = 16


def default_path() -> Path:
    """results/<host>-<UTC time>.jsonl; .jsonl.gz once it is complete."""
    host = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "host"
    return Path("results") / f"{host}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.jsonl"


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
    from mpigauge.campaign.hosts import allowed_s
    from mpigauge.campaign.libraries import unknown_settings
    from mpigauge.campaign.loop import CampaignLoop
    from mpigauge.campaign.prepare import open_result
    from mpigauge.cli.observers import observer_for
    from mpigauge.launch.interruption import Interruption
    from mpigauge.result.writer import packed

    plan, targets = session.plan, session.targets
    with (
        open_result(session, output, default_path()) as file,
        Interruption() as interruption,
        observer_for(plan, sys.stderr, quiet=quiet, answers=file.path if answering else None) as observer,
    ):
        if not file.locked:
            observer.trouble(f"{file.path}: no locks on this file system; let nobody else write to this file")
        for words in unknown_settings(plan, ((one.library, one.program) for one in targets)):
            observer.trouble(words)
        if plan.hosts_skipped:
            observer.trouble(_left_out(plan.hosts_skipped))
        loop = CampaignLoop(
            plan, targets, file, observer, interruption, session.before, allowed_s=allowed_s()
        )
        if loop.is_cut_short:
            observer.trouble("the job ends before the budget is spent: this session takes what is left of it")
        reason = loop.run()
    if reason not in RESUMABLE and _packs(session, output):
        return packed(file.path), None
    return file.path, interruption.signal


def _left_out(hosts: Sequence[str]) -> str:
    more = ", ..." if len(hosts) > HOSTS_NAMED else ""
    return f"{len(hosts)} host(s) left out that did not answer: {', '.join(hosts[:HOSTS_NAMED])}{more}"


def _packs(session: Session, output: Path | None) -> bool:
    """Whether the result is compressed in the end: unless it was named otherwise."""
    from mpigauge.result.writer import PACKED

    named = session.before.path if session.before is not None else output
    return named is None or named.suffix == PACKED


def stopped(path: Path, signal_number: int) -> int:
    """Says how to continue after a signal; the exit status."""
    say(f"stopped by signal {signal_number}; all finished visits are in {path}", err=True)
    say(f"  continue with: mpigauge resume {path}", err=True)
    return EXIT_SIGNAL_BASE + signal_number


def ended(path: Path, rows: Sequence[Row]) -> int:
    """Says where the result is; the exit status.

    A cell that crashed, hung or received a wrong payload in the end makes it 1, though all the others
    are measured.

    Raises:
        JobError: Nothing was measured, since the time was up before the first cell.
    """
    from mpigauge.show.words.status import reason

    say(f"result: {path}", err=True)
    if all(row.status == "skipped" for row in rows):
        raise JobError(f"{path}: nothing was measured: {reason(rows[0])}", "raise --budget, or measure less")
    return EXIT_CHECK_FAILED if any(row.status in BROKEN for row in rows) else EXIT_DONE
