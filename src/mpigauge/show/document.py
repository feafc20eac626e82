"""What is said of a result, before it has a form: curves, and what must be known above and below them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.analysis.estimate import Timing
from mpigauge.analysis.memory_costs import memory_facts
from mpigauge.analysis.rows import Row, warnings_of
from mpigauge.analysis.synchrony import ClockState, Start, clock_states
from mpigauge.analysis.transport import reports
from mpigauge.plan.factors import CURVE, usual
from mpigauge.plan.lab import Lab
from mpigauge.plan.model import Cell, JobKey
from mpigauge.plan.patterns import patterns_with
from mpigauge.plan.round_robin import ranks_of
from mpigauge.result.reader import Result
from mpigauge.show.columns import EXTRA_COLUMNS, NOTES, PAIR, USUAL_COLUMNS, WINDOW, Column, Units
from mpigauge.show.words.factors import DETAILS, PAIRINGS, STARTS, phrases_of, unusual
from mpigauge.show.words.memory_costs import memory_finding
from mpigauge.show.words.status import reason
from mpigauge.show.words.warnings import sentence
from mpigauge.vocabulary import AUTO, SAME_HOST

if TYPE_CHECKING:
    from mpigauge.vocabulary import EndReason

DOT = " \N{MIDDLE DOT} "

PROBES = patterns_with(lambda pattern: pattern.probes)
FLOORS = patterns_with(lambda pattern: pattern.is_floor)

TITLE = ("mpi", "transport", "ranks", "placement", *(name for name in DETAILS if name != "pairing"))
"""What the title of a curve says after its pattern and mode."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its title.

    Attributes:
        rows: Whatever its columns can write: of a curve, rows that differ in size, or in size and pair.
    """

    title: str
    about: str
    rows: Sequence[Any]
    columns: list[Column]


@dataclass(frozen=True, slots=True)
class Document:
    """All that is said of a result, before it has a form."""

    head: list[str]
    sections: list[Section]
    foot: list[str]
    units: Units
    rows: list[Row]
    result: Result
    stat: str = "median"


def document(
    result: Result, rows: Sequence[Row], columns: Sequence[str], chosen: Units, stat: str = "median"
) -> Document:
    """Arranges rows into curves, with what must be known of them above and below.

    Args:
        columns: Names of EXTRA_COLUMNS to add to the usual ones.
        stat: The statistic that stands for a launch.
    """
    return Document(
        head=head_of(result),
        sections=_sections(result, rows, columns),
        foot=_foot(result, rows),
        units=chosen,
        rows=list(rows),
        result=result,
        stat=stat,
    )


# ---- Sections, head and foot ---------------------------------------------------------------------


def _curve(row: Row) -> tuple[object, ...]:
    return tuple(getattr(row.cell, name) for name in CURVE)


def _place(row: Row) -> tuple[object, ...]:
    """Its place in the table of its curve."""
    return row.cell.bytes, ranks_of(row.cell.pair) if row.cell.pair else (0, 0)


def _sections(result: Result, rows: Sequence[Row], columns: Sequence[str]) -> list[Section]:
    """Curves in the order of the plan; the instrument's floor and the probes have none."""
    curves = {
        pattern.name: pattern.time_of
        for pattern in result.campaign.patterns
        if not pattern.probes and not pattern.is_floor
    }
    shown = sorted((row for row in rows if row.cell.pattern in curves), key=lambda row: str(_curve(row)))
    order = {_curve(row): number for number, row in reversed(list(enumerate(rows)))}
    groups = [list(group) for _, group in groupby(shown, key=_curve)]
    groups.sort(key=lambda group: order[_curve(group[0])])
    several = len({row.cell.placement for row in shown}) > 1
    return [_section(sorted(group, key=_place), curves, columns, placed=several) for group in groups]


def _columns(rows: Sequence[Row], asked: Sequence[str]) -> list[Column]:
    """The usual ones, those that belong to this kind of curve, and those asked for."""
    own = ["root", "local"] if any(row.start for row in rows) else []
    own += ["overlap", "pure"] if any(row.overlap for row in rows) else []
    names = dict.fromkeys([*own, *asked])
    first = [PAIR] if any(row.cell.pair for row in rows) else []
    places = {(row.cell.bytes, row.cell.pair) for row in rows}
    first += [WINDOW] if len({(*_place(row), row.cell.window) for row in rows}) > len(places) else []
    return [*first, *USUAL_COLUMNS, *(EXTRA_COLUMNS[name] for name in names), NOTES]


def _section(rows: list[Row], time_of: Mapping[str, str], asked: Sequence[str], *, placed: bool) -> Section:
    """One curve.

    Args:
        placed: Whether there are several placements, so that each curve says its own.
    """
    cell = rows[0].cell
    words = _title(cell, placed=placed)
    if any(row.oversubscribed for row in rows):
        words.append("oversubscribed")
    about = f"time: {time_of[cell.pattern]}"
    batches = sorted({row.batch for row in rows if row.batch})
    if batches and batches[-1] > 1:
        about += f"; a sample is the mean of {_span(batches)} calls in a row"
    if rows[0].directions > 1:
        about += "; rate: both directions"
    if len(windows := sorted({row.cell.window for row in rows})) > 1 or windows[0]:
        about += f"; {_span(windows)} messages under way"
    if cell.sync and (starts := [row.start for row in rows if row.start]):
        about += f"; {_together(cell, starts)}"
    return Section(DOT.join(words), about, rows, _columns(rows, asked))


def _title(cell: Cell, *, placed: bool) -> list[str]:
    """What a curve is of; how its ranks start is said below, if it is as usual."""
    unsaid = {AUTO, f"{usual('sync')} start", "" if placed else SAME_HOST}
    phrases = [phrase for phrase in phrases_of(cell, TITLE).values() if phrase not in unsaid]
    return [f"{cell.pattern}, {cell.mode}", *phrases, *([PAIRINGS[cell.pairing]] if cell.pairing else [])]


def _together(cell: Cell, starts: Sequence[Start]) -> str:
    """How the ranks of a curve started together (docs/method.md#what-is-recorded)."""
    typical = max(start.skew_p50_s for start in starts)
    worst = max(start.skew_p99_s for start in starts)
    late = max(start.late_share for start in starts)
    skew = f"skew up to {units.format_time(typical)} (p50), {units.format_time(worst)} (p99)"
    tardy = f", {units.format_percent(late)} of a size's rounds late" if late else ""
    return f"started by {STARTS[cell.sync]}, {skew}{tardy}"


def _span(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"


def head_of(result: Result) -> list[str]:
    """What stands above every table (docs/method.md#what-is-recorded)."""
    campaign = result.campaign
    machine = campaign.environment
    title = campaign.plan.title or "mpigauge"
    processor = ", ".join(filter(None, [machine.cpu, f"{machine.cores} cores" if machine.cores else ""]))
    lines = [DOT.join(filter(None, [title, machine.host, processor, campaign.started]))]
    if campaign.plan.hosts:
        lines.append(f"hosts: {', '.join(f'{host.name} ({host.slots})' for host in campaign.plan.hosts)}")
    if campaign.plan.lab is not None:
        lines.append(f"emulated hosts, all on this machine: {'; '.join(_lab(campaign.plan.lab))}")
    if result.launches:
        launch = result.launches[0]
        cost_ns = max(rank.clock_cost_ns for rank in launch.ranks_at)
        numbers = len({one.number for one in result.launches})
        order = f"{numbers} launches, order shuffled from seed {campaign.plan.seed}"
        clock = f"{launch.clock}, {cost_ns} ns a reading"
        lines.append(DOT.join([order, clock, "95 % intervals across launches"]))
    lines += _common_kernel(result)
    # A rank alone has no clock to agree with.
    if clocks := [clock for clock in result.clocks if clock.job.ranks > 1]:
        lines.append(_clocks(clock_states(clocks).values()))
    return lines


def _lab(lab: Lab) -> Iterable[str]:
    """The network that a lab makes, and who differs."""
    yield f"rate {lab.rate}, delay {lab.delay}"
    different = [(link.between, link.rate, link.delay) for link in lab.links]
    different += [(port.host, port.rate, port.delay) for port in lab.ports]
    for name, rate, delay in different:
        said = [f"rate {rate}" if rate else "", f"delay {delay}" if delay else ""]
        yield f"{name} {', '.join(filter(None, said))}"


def _common_kernel(result: Result) -> Iterable[str]:
    """Who built it, where all libraries ran one kernel."""
    for built_by in sorted({launch.built_by for launch in result.launches} - {""}):
        yield f"one kernel for all libraries, built by {built_by} for the ABI of MPI 5 (libmpi_abi.so.1)"


def _clocks(states: Iterable[ClockState]) -> str:
    """How well the ranks' clocks agreed in the worst of all jobs."""
    worst = max(states, key=lambda state: (not state.shared, state.bound_s))
    bound = units.format_time(worst.bound_s)
    if worst.shared:
        return f"collectives by one clock, which all ranks read: checked to {bound}"
    error = units.format_time(worst.error_s)
    return f"collectives by a clock synchronised between hosts: off by up to {error}, certainly below {bound}"


def _foot(result: Result, rows: Sequence[Row]) -> list[str]:
    return [
        *_limits(rows),
        *_floor(rows),
        *_transports(result, rows),
        *_waiting(rows),
        *(memory_finding(fact).text for fact in memory_facts(rows, result.campaign.environment.caches)),
        *([_completeness(result, rows)] if result.launches or not result.imported else []),
        *_imported(result),
        *_warnings(rows),
        *_wheels(result),
        *(
            ["the file was cut in the middle of its last line, as after a kill; that line is left out"]
            if result.torn
            else []
        ),
    ]


def _limits(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows:
        if row.cell.pattern in PROBES:
            limit = f"{row.limit_bytes} B" if row.limit_bytes is not None else row.status
            because = f" ({reason(row)})" if row.reason else ""
            yield f"eager limit, {_job(row.cell)}: {limit}{because}"


def _floor(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows:
        if row.cell.pattern in FLOORS and row.time:
            floor = units.format_time(row.time.estimate)
            yield f"floor of the instrument, {_job(row.cell)}: {floor} a sample"


def _transports(result: Result, rows: Sequence[Row]) -> Iterable[str]:
    """What the network interfaces say of the transports that were asked for, and the libraries of all."""
    shares: dict[JobKey, list[float]] = {}
    for row in rows:
        if row.cell.transport != "auto" and row.net_share is not None and row.status == "ok":
            shares.setdefault(row.cell.job, []).append(row.net_share)
    said = reports(result.launches)
    for job in dict.fromkeys(row.cell.job for row in rows):
        words = []
        if found := shares.get(job):
            least, most = (units.format_percent(share) for share in (min(found), max(found)))
            words.append(f"{least} to {most} of a cell's payload went over network interfaces")
        if job in said:
            words.append(f"the library reports {' or '.join(said[job])}")
        if words:
            yield f"transport of {job.name}: {'; '.join(words)}"


def _waiting(rows: Sequence[Row]) -> Iterable[str]:
    """Which share of their time the ranks of each job were on a core, waiting for messages included."""
    jobs: dict[str, list[Row]] = {}
    for row in rows:
        if row.cpu_share is not None and row.time is not None and row.talks:
            jobs.setdefault(_job(row.cell), []).append(row)
    for job, mine in jobs.items():
        share = units.format_percent(median(row.cpu_share for row in mine if row.cpu_share is not None))
        crowded = ", sharing cores" if mine[0].oversubscribed else ""
        yield f"waiting: the ranks of {job}{crowded}, were on a core for {share} of the time of messages"


def _job(cell: Cell) -> str:
    return cell.job.name


def _completeness(result: Result, rows: Sequence[Row]) -> str:
    measured = [
        row for row in rows if row.time is not None or row.limit_bytes is not None or row.status == "ok"
    ]
    precise = [
        row for row in measured if row.time is None or _is_precise(row.time, result.campaign.plan.precision)
    ]
    precision = units.format_relative(result.campaign.plan.precision)
    counts = f"{len(rows)} planned, {len(measured)} measured, {len(precise)} within {precision}"
    return f"cells: {counts}{_why(result)}"


def _imported(result: Result) -> Iterable[str]:
    if result.imported:
        files = sorted({one.source.partition(": line")[0] for one in result.imported})
        yield (
            f"{len(result.imported)} cells are as others printed them, without samples or intervals: "
            f"{', '.join(files)}"
        )


def _is_precise(time: Timing, precision: float) -> bool:
    return time.half_width is not None and time.half_width <= precision


def _why(result: Result) -> str:
    words: dict[EndReason, str] = {
        "converged": "stopped because that was enough",
        "launches": "stopped after the launches asked for",
        "budget": "stopped at the end of the time budget",
        "interrupted": "interrupted: mpigauge resume continues it",
        "failed": "stopped because nothing was left that works",
    }
    if not result.ends:
        return "; cut short: mpigauge resume continues it"
    return f"; {words.get(result.ends[-1].reason, result.ends[-1].reason)}"


def _warnings(rows: Sequence[Row]) -> Iterable[str]:
    for kind, mine in warnings_of(rows).items():
        cell, warning = mine[0]
        words = [f"{cell.pattern} {cell.mode} {units.format_size(cell.bytes)}", *unusual(cell)]
        where = ", ".join(words) + _which_job(rows, cell)
        more = f" (and {_more_cells(len(mine) - 1)})" if len(mine) > 1 else ""
        yield f"{kind}: {where}{more}: {sentence(warning)}"


def _more_cells(count: int) -> str:
    return "1 more cell" if count == 1 else f"{count} more cells"


def _which_job(rows: Sequence[Row], cell: Cell) -> str:
    """The library and ranks, where a result has several."""
    return f", {_job(cell)}" if len({_job(row.cell) for row in rows}) > 1 else ""


def _wheels(result: Result) -> Iterable[str]:
    for library in result.campaign.libraries:
        if "wheel" in library.origin:
            yield (
                f"{library.name} {library.version} is a wheel from PyPI, built to run everywhere: "
                "single-copy transfers (CMA, XPMEM) and your network's driver may be missing"
            )
