"""Running a session, for the command line or a script that observes it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.campaign.control import too_short_for_verdict
from mpigauge.campaign.hosts import allowed_s, idle_hosts_sentence
from mpigauge.campaign.jobs import oversubscribed_jobs
from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.orphans import sweep
from mpigauge.campaign.libraries import other_choices, unknown_settings
from mpigauge.campaign.loop import CampaignLoop
from mpigauge.campaign.prepare import open_result
from mpigauge.dependencies import check_unusual_packages
from mpigauge.document.core_words import cores_allowed
from mpigauge.plan.left_out import left_out_words
from mpigauge.plan.one_pair import one_pair_sentence
from mpigauge.plan.patterns import known
from mpigauge.result import environment, reader
from mpigauge.result.files import named_without_memory
from mpigauge.result.writer import PACKED
from mpigauge.vocabulary import RESUMABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mpigauge.campaign.job_run import Observer
    from mpigauge.campaign.launch.job import Job
    from mpigauge.campaign.prepare import PreparedCampaign
    from mpigauge.campaign.targets import Target
    from mpigauge.result.reader import Result
    from mpigauge.result.writer import ResultFile
    from mpigauge.vocabulary import EndReason

HOSTS_NAMED = 16


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The outcome of a session.

    Attributes:
        path: Its result file.
        signal: The signal that ended it; None if none did.
        reason: Why it stopped.
        launches_short: The fewest launches of a job, and the exact number asked for; None if all were made.
        result: All that was measured, even if the file was moved or deleted.
        lost: Sentence on what the file lacks of the result; empty if nothing.
    """

    path: Path
    signal: int | None
    reason: EndReason
    launches_short: tuple[int, int] | None
    result: Result
    lost: str = ""


def measure(
    session: PreparedCampaign,
    output: Path | None,
    default: Path,
    observing: Callable[[Path], AbstractContextManager[Observer]],
) -> SessionEnd:
    """Run a session to its end.

    Args:
        output: The name of a new file; None means `default`, or the first free name like it.
        observing: Returns the observer of the session, given the name of its file.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
        JobError: Nothing could be measured.
        ImportError: A package that tables are computed with cannot be imported.
    """
    check_unusual_packages()
    plan, targets = session.plan, session.targets
    with (
        open_result(session, output, default) as file,
        Interruption() as interruption,
        observing(file.path) as observer,
        named_without_memory(file.path),
    ):
        file.set_reporter(observer.trouble)
        interruption.rests, interruption.goes_on = observer.rests, observer.goes_on
        interruption.resizes = observer.resizes
        for sentence in filter(None, _opening_reports(session, file)):
            observer.trouble(sentence)
        loop = CampaignLoop(
            plan, targets, file, observer, interruption, session.before, allowed_s=allowed_s()
        )
        if loop.is_cut_short:
            observer.trouble("the job ends before the budget is spent: this session takes what is left of it")
        try:
            reason = loop.run()
        except ImportError:
            if not loop.has_measured and session.before is None:
                file.discard()
            raise
        result = reader.load(file.path, file.content())
        stopped_by = interruption.signal
        if reason not in RESUMABLE and _is_compressed_at_end(session, output):
            stopped_by = None
            if not file.lost:
                result.path = file.compress()
    return SessionEnd(file.path, stopped_by, reason, loop.launches_short, result, file.lost)


def _opening_reports(session: PreparedCampaign, file: ResultFile) -> Iterator[str]:
    """Yield sentences to report before anything is measured, some empty; also end leftover processes."""
    plan, targets = session.plan, session.targets
    if not file.locked:
        yield f"{file.path}: no locks on this file system; let nobody else write to this file"
    yield sweep().sentence
    yield from other_choices(one.library for one in targets)
    yield from unknown_settings(plan, ((one.library, one.program) for one in targets))
    if session.before is None:
        yield left_out_sentence(targets)
        yield too_short_for_verdict(plan, targets)
        yield one_pair_note(targets)
    yield from map(shared_cores_sentence, oversubscribed_jobs(plan, targets))
    yield idle_hosts_sentence(plan)
    yield _hosts_left_out(plan.hosts_skipped) if plan.hosts_skipped else ""


def left_out_sentence(targets: Sequence[Target]) -> str:
    """Return how many cells cannot be measured, and why the first cannot; "" where all can."""
    left_out = [item for target in targets for item in target.left_out]
    return left_out_words(left_out, (cell for target in targets for cell in target.cells))


def one_pair_note(targets: Sequence[Target]) -> str:
    """Return what patterns of several pairs at once measure with one pair alone; "" where there are more."""
    return one_pair_sentence((cell for target in targets for cell in target.cells), known())


def shared_cores_sentence(job: Job) -> str:
    """Return a warning on a job with more ranks than cores."""
    is_here = not job.hosts
    on = cores_allowed(
        job.cores, environment.cores_online() if is_here else 0, environment.cores_limit(os.environ)
    )
    return f"{job.ranks} ranks share {on}: times are those of the scheduler as much as of the library"


def _hosts_left_out(hosts: Sequence[str]) -> str:
    more = ", ..." if len(hosts) > HOSTS_NAMED else ""
    count = units.counted(len(hosts), "host")
    return f"{count} left out that did not answer: {', '.join(hosts[:HOSTS_NAMED])}{more}"


def _is_compressed_at_end(session: PreparedCampaign, output: Path | None) -> bool:
    """Return whether the result is compressed at the end: unless its name says otherwise."""
    path = session.before.path if session.before is not None else output
    return path is None or path.suffix == PACKED
