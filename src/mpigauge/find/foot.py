"""What stands below a table of curves: limits, what was found, what is missing, and warnings."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.curves import curves_of, rows_by_curve
from mpigauge.document.cell_names import varied_in
from mpigauge.document.document import Line
from mpigauge.document.state_words import states_lines
from mpigauge.document.status_words import reason
from mpigauge.find.comparisons import copies_apart, libraries_apart, ranks_apart_line
from mpigauge.find.explain.copies import cost_findings
from mpigauge.find.findings import doubt_lines
from mpigauge.find.imported import launches_of
from mpigauge.find.kinds import Words
from mpigauge.find.memory_costs import memory_facts, memory_finding
from mpigauge.find.transport import cards_line, label_words, transport_words, travels_of
from mpigauge.plan.factors import is_control
from mpigauge.plan.library_names import kind_name
from mpigauge.plan.patterns import FLOORS, patterns_with
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.sessions import spread_s
from mpigauge.rows.transport.cards_used import cards_used
from mpigauge.rows.transport.proof import reports
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.find.comparisons import RanksApart
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import EndReason

PROBES = patterns_with(lambda pattern: pattern.probes)

ENDINGS: Mapping[EndReason, Words] = {
    "converged": Words("stopped: launches agree to the precision asked for"),
    "decided": Words("stopped: the comparison is decided"),
    "launches": Words("stopped after the number of launches asked for"),
    "budget": Words("stopped: time budget used up{budget}", remedy="more: --budget"),
    "interrupted": Words("interrupted", remedy="mpigauge resume continues it"),
    "failed": Words("stopped: every job fails"),
}
"""Why measuring stopped, for people, who are told what the budget was."""


def foot_of(result: Result, rows: Sequence[Row], *, remedies: bool = True) -> list[Line]:
    """Return all lines below a table, what was found before what is doubtful.

    Args:
        remedies: Whether with what to do, which is for who measures.
    """
    said = [
        *states_lines(result, rows, remedies=remedies),
        *_limits(rows),
        *_floor(rows),
        *_starts(result),
        *_transports(result, rows),
        *map(cards_line, cards_used(rows)),
        *_waiting(rows),
        *(one.text for one in cost_findings(rows, varied_in(rows))),
        *(memory_finding(fact).text for fact in memory_facts(rows, measured_machine(result).caches)),
        *map(ranks_apart_line, _apart(rows)),
        *_across(result, rows),
        *([_completeness(result, rows, remedies=remedies)] if result.launches or not result.imported else []),
        *_imported(result),
        *_control_arm(result),
    ]
    return [*map(Line, said), *doubt_lines(result, rows, remedies=remedies)]


def _limits(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.cell.pattern in PROBES:
            limit = f"{row.limit_bytes} B" if row.limit_bytes is not None else row.status
            because = f" ({reason(row)})" if row.reason else ""
            yield f"eager limit, {_job(row.cell)}: {limit}{because}"


def _floor(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.cell.pattern in FLOORS and row.time:
            floor = units.format_time(row.time.estimate)
            yield f"measurement floor, {_job(row.cell)}: {floor} per sample"


def _starts(result: Result) -> Iterator[str]:
    """Yield what launches of each job were given or spared, since a start of them had failed without."""
    for job, launches in group_by(result.launches, lambda launch: launch.job).items():
        if options := max((launch.options_found for launch in launches), default=()):
            yield f"started with {' '.join(options)}, {job.name}: its launcher counts fewer places than ranks"
        if small := [launch for launch in launches if launch.warmup_bytes]:
            most = units.format_size(max(launch.warmup_bytes for launch in small))
            yield (
                f"warm-up with at most {most} in {len(small)} of {len(launches)} launches, {job.name}: "
                "an earlier launch died in a larger one; first messages of a size may be slow (column first)"
            )


def _transports(result: Result, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what network cards and all libraries say of the transports that were asked for."""
    said, labelled = reports(result.launches), travels_of(rows)
    for job in dict.fromkeys(row.cell.job for row in rows):
        words = list(label_words(labelled.get(job, ())))
        if job in said:
            words.append(f"{' or '.join(map(transport_words, said[job]))} (says {kind_name(job.mpi)})")
        if words:
            yield f"transport, {job.name}: {'; '.join(words)}"


def _waiting(rows: Sequence[Row]) -> Iterator[str]:
    """Yield which share of their time the ranks of each job were on a core, waiting for messages included."""
    known = (row for row in rows if row.cpu_share is not None and row.time is not None and row.talks)
    for job, mine in group_by(known, lambda row: _job(row.cell)).items():
        share = units.format_percent(median(row.cpu_share for row in mine if row.cpu_share is not None))
        crowded = ", sharing cores" if mine[0].crowded else ""
        yield f"CPU while communicating, {job}{crowded}: {share}"


def _job(cell: Cell) -> str:
    return cell.job.name


def _completeness(result: Result, rows: Sequence[Row], *, remedies: bool) -> str:
    """Return how many numbers are precise, and how many cells have none; the floor is none of them."""
    rows = [row for row in rows if row.cell.pattern not in FLOORS]
    asked = result.campaign.plan.precision
    precise = [row.time.is_precise(asked) for row in rows if row.time]
    measured = {row.cell for row in rows if row.time or row.limit_bytes is not None or row.status == "ok"}
    cells = {row.cell for row in rows}
    counts = [f"{sum(precise)} of {len(precise)} numbers precise to {units.format_relative(asked)}"]
    if lacking := len(cells - measured):
        counts.append(f"{lacking} of {len(cells)} cells without a number")
    ended = _ended(result)
    return "; ".join([*counts, (ended if remedies else ended.told).line])


def _apart(rows: Sequence[Row]) -> Iterator[RanksApart]:
    """Yield libraries and copies without a ratio."""
    yield from libraries_apart(curves_of(rows_by_curve(rows)))
    yield from copies_apart(rows)


def _across(result: Result, rows: Sequence[Row]) -> Iterator[str]:
    """Yield both intervals: within the launches, and over sessions."""
    both = [(row.time, row.across) for row in rows if row.time and row.across]
    if not both:
        return
    within = units.format_relative(median(half for time, _ in both if (half := time.half_width) is not None))
    over = units.format_relative(median(half for _, one in both if (half := one.half_width) is not None))
    sessions = max(across.launches for _, across in both)
    span = units.format_duration(spread_s(result.launches, result.done))
    yield (
        f"intervals, median of numbers: {within} over all launches, {over} over {sessions} sessions in {span}"
    )


def _imported(result: Result) -> Iterator[str]:
    if result.imported:
        files = sorted({one.source.partition(": line")[0] for one in result.imported})
        numbers = units.counted(len({one.cell for one in result.imported}), "number")
        yield f"{launches_of([result])}: {numbers}, from {', '.join(files)}"


def _control_arm(result: Result) -> Iterator[str]:
    """Yield the control arms, whose launches no table shows."""
    arms = dict.fromkeys(
        " ".join(filter(None, (cell.library, cell.setting)))
        for cell in result.campaign.cells
        if is_control(cell)
    )
    if arms:
        yield f"control: {', '.join(arms)}, measured a second time, not shown here; for mpigauge compare"


def _ended(result: Result) -> Words:
    """Return why measuring stopped."""
    if not result.ends:
        return Words("cut short")
    budget_s = result.campaign.plan.budget_s
    budget = f" ({units.format_duration(budget_s)})" if budget_s else ""
    ending = ENDINGS.get(result.ends[-1].reason, Words(result.ends[-1].reason))
    return replace(ending, fact=ending.fact.format(budget=budget))
