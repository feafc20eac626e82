"""What became of each cell, and why it is not ok; `document.status_words` has the sentences."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mpigauge.plan.model import Cell, JobKey
from mpigauge.result.reader import Result
from mpigauge.result.records import Eager
from mpigauge.rows.estimate import Printed, Timing
from mpigauge.rows.failure_cause import line_of
from mpigauge.rows.reasons import (
    CellFailed,
    FromPublication,
    LaunchFailed,
    LimitsDiffer,
    NeverQuiet,
    NoEagerLimit,
    NotReached,
    OutOfTime,
    ProbeUnreliable,
    Reason,
    WouldDeadlock,
)
from mpigauge.vocabulary import STATUS_OF_FAILURE, Status

# ---- Why -----------------------------------------------------------------------------------------


# ---- What became of a cell -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell.

    Attributes:
        reason: Why it is not ok, or what must be known of it; None if there is nothing to say.
        limit_bytes: The eager limit, of a cell that probes it.
    """

    status: Status
    reason: Reason | None = None
    limit_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of the cells of a result, apart from their times.

    Attributes:
        troubles: The worst that happened to each cell that met trouble.
        limits: The eager limits that each cell has found.
        nothing: Why all the others were not measured, where they were not.
        failed: The same of jobs of which nothing was measured since their launches failed.
        never_quiet: Cells that were measured in visits that are left out.
    """

    troubles: Mapping[Cell, Outcome]
    limits: Mapping[Cell, Sequence[Eager]]
    nothing: Reason
    failed: Mapping[JobKey, Reason]
    never_quiet: Collection[Cell]


def outcomes_of(result: Result) -> Outcomes:
    """Return what became of the cells of a result."""
    limits: dict[Cell, list[Eager]] = defaultdict(list)
    for eager in result.eager:
        limits[eager.cell].append(eager)
    loud = {visit.cell for visit in result.left_out}
    return Outcomes(_troubles_of(result), limits, _why_nothing(result), _failed_jobs(result), loud)


def _troubles_of(result: Result) -> dict[Cell, Outcome]:
    troubles: dict[Cell, Outcome] = {}
    late = Outcome("skipped", OutOfTime(in_budget=result.campaign.plan.budget_s is not None))
    for done in result.done:
        for cell in done.skipped:
            troubles[cell] = late
    for failure in result.failures:
        if failure.cell is not None and not _is_corrupt(troubles.get(failure.cell)):
            reason = CellFailed(failure.kind, failure.launch, line_of(failure))
            troubles[failure.cell] = Outcome(STATUS_OF_FAILURE[failure.kind], reason)
    for blocked in result.blocked:
        troubles[blocked.cell] = Outcome("blocked", WouldDeadlock(blocked.limit_bytes, blocked.found))
    return troubles


def _is_corrupt(outcome: Outcome | None) -> bool:
    """Return whether a payload was wrong: nothing that happens later makes up for it."""
    return outcome is not None and outcome.status == "corrupt"


def outcome_of(outcomes: Outcomes, cell: Cell, time: Timing | None) -> Outcome:
    """Return what became of a cell.

    What was measured is ok, whatever failed in other launches, unless its payload was corrupt.

    Args:
        time: None if it was not measured.
    """
    if limits := outcomes.limits.get(cell):
        return _eager_outcome(limits)
    if time is None and cell in outcomes.never_quiet:
        return Outcome("skipped", NeverQuiet())
    trouble = outcomes.troubles.get(cell)
    if trouble is not None and (time is None or trouble.status == "corrupt"):
        return trouble
    if isinstance(time, Printed):
        return Outcome("ok", FromPublication(time.statistic))
    if time is None:
        return Outcome("skipped", outcomes.failed.get(cell.job, outcomes.nothing))
    # A launch without time for it says nothing about what the others measured; a failure does.
    return Outcome("ok", trouble.reason if trouble is not None and trouble.status != "skipped" else None)


def _why_nothing(result: Result) -> Reason:
    launch_failures = [failure for failure in result.failures if failure.cell is None]
    if launch_failures and not (result.visits or result.left_out):
        return LaunchFailed(line_of(launch_failures[-1]))
    return NotReached()


def _failed_jobs(result: Result) -> dict[JobKey, Reason]:
    """Return why jobs of which nothing was measured have failed, where others of the campaign did not."""
    measured = {visit.cell.job for visit in (*result.visits, *result.left_out)}
    return {
        failure.job: LaunchFailed(line_of(failure))
        for failure in result.failures
        if failure.cell is None and failure.job is not None and failure.job not in measured
    }


def _eager_outcome(limits: Sequence[Eager]) -> Outcome:
    """Return the limit that most launches found, or None with what was seen instead."""
    if not all(eager.control_held for eager in limits):
        return Outcome("failed", ProbeUnreliable())
    found = Counter(eager.limit_bytes for eager in limits if eager.found)
    if found.total() * 2 <= len(limits):
        return Outcome("ok", NoEagerLimit(max(eager.longer_bytes for eager in limits)))
    limit, times = found.most_common(1)[0]
    others = dict.fromkeys(eager.limit_bytes if eager.found else None for eager in limits)
    others.pop(limit, None)
    return Outcome("ok", LimitsDiffer(times, len(limits), tuple(others)) if others else None, limit)
