"""What stands below a table of curves: limits, what was found, what is missing, and warnings."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.curves import curves_of, rows_by_curve
from mpigauge.document.document import Line
from mpigauge.document.phrases import unusual
from mpigauge.document.state_words import disturbed_line, states_lines
from mpigauge.document.status_words import reason
from mpigauge.find.comparisons import copies_apart, libraries_apart, ranks_apart_line
from mpigauge.find.disturbances import disturbance_findings
from mpigauge.find.doubts import is_portable
from mpigauge.find.imported import damage_lines, launches_of, unread_lines
from mpigauge.find.memory_costs import memory_facts, memory_finding
from mpigauge.find.sessions import steadiness_finding
from mpigauge.find.transport import cards_line, label_words, transport_words, travels_of
from mpigauge.find.warning_sentences import NOTES, WORDS, beyond_launches, label, sentence
from mpigauge.plan.factors import SIZE, is_control
from mpigauge.plan.left_out import left_out_words
from mpigauge.plan.library_names import kind_name, library_name
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import cell_key, group_cells
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.sessions import spread_s
from mpigauge.rows.machine.steadiness import steadiness_of
from mpigauge.rows.odd_launches import odd_launches, unexplained
from mpigauge.rows.rows import FLOORS, warnings_of
from mpigauge.rows.transport.cards_used import cards_used
from mpigauge.rows.transport.proof import reports
from mpigauge.sequences import consecutive, group_by, runs
from mpigauge.units import DASH, counted, format_duration, format_factor, format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Tone
    from mpigauge.find.comparisons import RanksApart
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.odd_launches import OddLaunch
    from mpigauge.rows.rows import Row
    from mpigauge.rows.warnings import Warning, WarningKind  # noqa: A004 - read as warnings.Warning
    from mpigauge.vocabulary import EndReason

PROBES = patterns_with(lambda pattern: pattern.probes)

ENDINGS: Mapping[EndReason, str] = {
    "converged": "stopped: launches agree to the precision asked for",
    "decided": "stopped: the comparison is decided",
    "launches": "stopped after the number of launches asked for",
    "budget": "stopped: time budget used up{budget}; more: --budget",
    "interrupted": "interrupted: mpigauge resume continues it",
    "failed": "stopped: every job fails",
}
"""Why measuring stopped, for people, who are told what the budget was."""


TORN = "the last line is incomplete (killed?) and was ignored"


def foot_of(result: Result, rows: Sequence[Row]) -> list[Line]:
    """Return all lines below a table, what was found before what is doubtful."""
    said = [
        *states_lines(result, rows),
        *_limits(rows),
        *_floor(rows),
        *_starts(result),
        *_transports(result, rows),
        *map(cards_line, cards_used(rows)),
        *_waiting(rows),
        *(memory_finding(fact).text for fact in memory_facts(rows, measured_machine(result).caches)),
        *map(ranks_apart_line, _apart(rows)),
        *_across(result, rows),
        *([_completeness(result, rows)] if result.launches or not result.imported else []),
        *_imported(result),
        *_control_arm(result),
    ]
    after = [
        *_wheels(result),
        *([TORN] if result.torn and not result.packed_damage else []),
    ]
    gone = left_out_words(result.campaign.left_out, len(result.campaign.cells))
    lacking = [Line(gone, "doubt")] if gone else []
    damaged = [Line(line, "doubt") for line in damage_lines(result.damaged, result.packed_damage)]
    damaged += [Line(line, "doubt") for line in unread_lines(result.unread)]
    unsteady = steadiness_finding(steadiness_of(result))
    disturbed = [unsteady.text if unsteady else "", disturbed_line(result)]
    machine = [Line(line, "doubt") for line in disturbed if line]
    first = [Line(found.text, "doubt") for found in disturbance_findings(result, rows)]
    return [
        *map(Line, said),
        *first,
        *doubt_lines(result, rows),
        *lacking,
        *damaged,
        *machine,
        *map(Line, after),
    ]


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


def _completeness(result: Result, rows: Sequence[Row]) -> str:
    """Return how many cells were measured, and precisely in every state shown; the floor is none of them."""
    rows = [row for row in rows if row.cell.pattern not in FLOORS]
    measured = {
        row.cell for row in rows if row.time is not None or row.limit_bytes is not None or row.status == "ok"
    }
    asked = result.campaign.plan.precision
    timed = [(row.cell, row.time.is_precise(asked)) for row in rows if row.time]
    precise = {cell for cell, known in timed if known} - {cell for cell, known in timed if not known}
    precision = units.format_relative(asked)
    of = len({row.cell for row in rows})
    counts = f"measured {len(measured)} of {of} cells, {len(precise)} precise to {precision}"
    return f"{counts}{_why(result)}"


def _apart(rows: Sequence[Row]) -> Iterator[RanksApart]:
    """Yield libraries and copies without a ratio."""
    yield from libraries_apart(curves_of(rows_by_curve(rows)))
    yield from copies_apart(rows)


def _across(result: Result, rows: Sequence[Row]) -> Iterator[str]:
    """Yield both intervals: within the launches, and over sessions."""
    both = [(row.time.half_width, row.across) for row in rows if row.time and row.across]
    if not both:
        return
    within = units.format_relative(median(half_width for half_width, _ in both if half_width is not None))
    over = units.format_relative(median(across.half_width for _, across in both))
    sessions = max(across.sessions for _, across in both)
    span = units.format_duration(spread_s(result.launches, result.done))
    yield f"intervals, median of cells: {within} over all launches, {over} over {sessions} sessions in {span}"


def _imported(result: Result) -> Iterator[str]:
    if result.imported:
        files = sorted({one.source.partition(": line")[0] for one in result.imported})
        cells = units.counted(len({one.cell for one in result.imported}), "cell")
        yield f"{launches_of([result])}: {cells}, from {', '.join(files)}"


def _control_arm(result: Result) -> Iterator[str]:
    """Yield the control arms, whose launches no table shows."""
    arms = dict.fromkeys(
        " ".join(filter(None, (cell.library, cell.setting)))
        for cell in result.campaign.cells
        if is_control(cell)
    )
    if arms:
        yield f"control: {', '.join(arms)}, measured a second time, not shown here; for mpigauge compare"


def _why(result: Result) -> str:
    if not result.ends:
        return "; cut short: mpigauge resume continues it"
    budget_s = result.campaign.plan.budget_s
    budget = f" ({units.format_duration(budget_s)})" if budget_s else ""
    return f"; {ENDINGS.get(result.ends[-1].reason, result.ends[-1].reason).format(budget=budget)}"


def _wheels(result: Result) -> Iterator[str]:
    for library in result.campaign.libraries:
        if is_portable(library):
            name = library_name(library.name, library.version, "")
            yield (
                f"{name} is a wheel from PyPI, built to run everywhere: "
                "single-copy transfers (CMA, XPMEM) and your network's driver may be missing"
            )


# ---- Warnings below a table ----------------------------------------------------------------------

MAX_CURVES = 3
"""Curves that are named with their sizes; of more, how many."""


def doubt_lines(result: Result, rows: Sequence[Row]) -> Iterator[Line]:
    """Yield all warnings, in the order of their kinds."""
    odd = odd_launches(result, rows)
    alone = unexplained(rows, odd)
    for kind, found in warnings_of(rows).items():
        tone: Tone = "" if kind in NOTES else "doubt"
        if kind == "outlier-launches":
            yield from (Line(f"{label(kind)}: {_odd(one)}", tone) for one in odd)
            found = [(cell, warning) for cell, warning in found if cell in alone]  # noqa: PLW2901 - the rest
        if found:
            yield Line(f"{label(kind)}: {_line(rows, kind, found)}", tone)


def _odd(one: OddLaunch) -> str:
    """Return what a launch did as a whole."""
    reach = f"{format_factor(one.least)} to {format_factor(one.most)}"
    where = f"in {len(one.cells)} of {one.measured} cells ({reach})"
    when = "" if one.begin_s is None else f", {format_duration(one.begin_s)} after the start"
    return (
        f"launch {one.number} of {one.job.name} took {format_factor(one.factor)} times as long as usual "
        f"{where}{when}"
    )


def _line(rows: Sequence[Row], kind: WarningKind, found: Sequence[tuple[Cell, Warning]]) -> str:
    """Return where a warning holds, from least to most, and the sentence of the worst cell."""
    if kind == "launches-in-time":
        return f"all cells: {sentence(found[0][1])}"
    cell, worst = max(found, key=lambda one: _rank(one[1]))
    where = _where(rows, [mine for mine, _ in found])
    if len(found) == 1:
        return f"{where}: {sentence(worst)}"
    machine = [warning for _, warning in found if _by_machine(warning)]
    widths = [float(one.values["machine_half_width"] or 0) for one in machine]
    alone = f", {len(machine)} by {beyond_launches(max(widths))} alone" if machine else ""
    counts = f"{len(found)} cells{_reach(kind, found)}{alone}"
    return f"{where} ({counts}); {_name(rows, cell)}: {sentence(worst)}"


def _rank(warning: Warning) -> tuple[bool, float]:
    """Return how bad a warning is; what more launches help comes first, a factor is as bad as its inverse."""
    helps = not _by_machine(warning)
    name = WORDS[warning.kind].worst_by
    value = warning.values.get(name)
    if not isinstance(value, int | float):
        return helps, 0.0
    return helps, max(value, 1 / value) if name == "factor" and value > 0 else float(value)


def _by_machine(warning: Warning) -> bool:
    """Return whether a warning is of an interval that its launches alone would not make too wide."""
    values = warning.values
    return warning.kind == "wide" and float(values["launches_half_width"] or 0) <= float(
        values["precision"] or 0
    )


def _reach(kind: WarningKind, found: Iterable[tuple[Cell, Warning]]) -> str:
    text = WORDS[kind]
    known = [value for _, one in found if isinstance(value := one.values.get(text.worst_by), int | float)]
    low, high = (text.format_worst(end) for end in (min(known, default=0.0), max(known, default=0.0)))
    return "" if low == high else f", {low} to {high}"


# ---- Cells ---------------------------------------------------------------------------------------


def _where(rows: Sequence[Row], cells: Iterable[Cell]) -> str:
    """Return curves with the sizes concerned: `pingpong standard 8-64 KiB; exchange blocking 8 B`."""
    curves = group_cells(cells, SIZE)
    named = [_named(rows, mine[0], _sizes(rows, mine)) for mine in curves[:MAX_CURVES]]
    more = len(curves) - MAX_CURVES
    return "; ".join([*named, *([counted(more, "more curve")] if more > 0 else [])])


def _name(rows: Sequence[Row], cell: Cell) -> str:
    return _named(rows, cell, _sizes(rows, [cell]))


def _named(rows: Sequence[Row], cell: Cell, sizes: str) -> str:
    """Return pattern, mode and sizes; library and ranks where a result has several."""
    several = len({row.cell.job for row in rows}) > 1
    return ", ".join(
        [
            f"{cell.pattern} {cell.mode} {sizes}".rstrip(),
            *unusual(cell),
            *([cell.job.name] if several else []),
        ]
    )


def _sizes(rows: Sequence[Row], cells: Sequence[Cell]) -> str:
    """Return sizes in rising order, neighbours of the curve as a range; empty where sizes mean nothing."""
    mine = cell_key(cells[0], SIZE)
    curve = [row for row in rows if cell_key(row.cell, SIZE) == mine]
    if not any(row.sized for row in curve):
        return ""
    known = sorted({row.cell.bytes for row in curve})
    places = sorted({known.index(cell.bytes) for cell in cells})
    found = runs(places, consecutive)
    return ", ".join(_range(known[run[0]], known[run[-1]]) for run in found)


def _range(least: int, most: int) -> str:
    """Return a range of sizes: `8 B`, `8-64 KiB`, `512 B-64 KiB`."""
    low, high = format_size(least), format_size(most)
    if least == most:
        return low
    number, unit = low.split()
    return f"{number if high.endswith(f' {unit}') else low}{DASH}{high}"
