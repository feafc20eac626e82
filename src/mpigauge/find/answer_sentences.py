"""The answer in words: what each number is, what stands beside it, and where it was measured."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.session_sentences import count_of
from mpigauge.document.document import DOT
from mpigauge.document.origin_words import host_of, processor_of
from mpigauge.document.phrases import OF_JOB, UNSAID, phrases_of
from mpigauge.find.answer import seconds_of
from mpigauge.find.imported import launches_of
from mpigauge.plan.patterns import usual_mode
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.transport.proof import reports
from mpigauge.vocabulary import QUOTED_BY_MODE, QUOTED_MESSAGES, QUOTED_RATES, QUOTED_TIMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.answer import Answer, Quote, QuoteLine
    from mpigauge.plan.model import JobKey
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import QuotedAs

DETAIL_MOST = 40
"""Letters beside a number, so that a line of 80 has room for all of it."""

AWAITED = "\N{HORIZONTAL ELLIPSIS}"
"""In place of a number, as long as that of a better size may be measured."""

ONE_LAUNCH = "1 launch"
"""In place of a half-width."""

# ---- Where and how -------------------------------------------------------------------------------


def machine_of(result: Result) -> str:
    """Whose numbers they are: host and processor, and the day."""
    return DOT.join(filter(None, [_machine(result), result.campaign.started[:10]]))


def machine_of_sessions(results: Sequence[Result], sessions: int) -> str:
    """The same of results that are sessions of each other, with their first and their last day."""
    days = sorted({day for result in results if (day := result.campaign.started[:10])})
    span = units.span(days[0], days[-1], f" {units.DASH} ") if days else ""
    return DOT.join(filter(None, [_machine(results[0]), span, count_of(sessions)]))


def _machine(result: Result) -> str:
    machine = measured_machine(result)
    cores = units.counted(machine.cores, "core") if machine.cores else ""
    virtual = "virtual" if machine.hypervisor else ""
    emulated = "emulated hosts" if result.campaign.plan.lab else ""
    kind = ", ".join(filter(None, [processor_of(machine), cores, virtual, emulated]))
    title = "" if machine.host or result.launches else result.campaign.plan.title
    return DOT.join(filter(None, [host_of(result), kind, title]))


def campaign_of(results: Sequence[Result], found: Sequence[Answer]) -> str:
    """What was launched: library, ranks and transport where there is one job; launches and their time.

    Args:
        results: One, or several that are sessions of each other.
        found: One answer of each job.
    """
    launches = sum(len({launch.number for launch in result.launches}) for result in results)
    words = job_of(results[0], found[0]) if len(found) == 1 else _jobs_of(results[0], found)
    if launches and (seconds := sum(map(seconds_of, results))):
        words.append(f"{units.counted(launches, 'launch')} in {seconds:.0f} s")
    if not launches and any(result.imported for result in results):
        words.append(launches_of(results))
    return DOT.join(words)


def _jobs_of(result: Result, found: Sequence[Answer]) -> list[str]:
    """Return how many jobs there are, and where their ranks were, if that was on several nodes."""
    places = dict.fromkeys(filter(None, (place_of(result, one.job) for one in found)))
    return [f"{len(found)} jobs", *places] if found else []


def place_of(result: Result, job: JobKey) -> str:
    """Return where the ranks of a job were: `2 ranks between n1 and n2`; empty if not on several nodes.

    Launches that were elsewhere, as after a resume in another allocation, leave no name to say.
    """
    places = {tuple(rank.host for rank in launch.ranks_at) for launch in result.launches if launch.job == job}
    if len(places) != 1:
        return ""
    ranks = places.pop()
    nodes = [*dict.fromkeys(ranks)]
    if len(nodes) < 2:  # noqa: PLR2004 - several
        return ""
    if len(ranks) == len(nodes) == 2:  # noqa: PLR2004 - a pair
        return f"2 ranks between {nodes[0]} and {nodes[1]}"
    return f"{len(ranks)} ranks on {len(nodes)} nodes"


def job_of(result: Result, one: Answer) -> list[str]:
    """A job: its library, ranks, placement and transport, proven or asked for."""
    phrases = phrases_of(one.quotes[0].row.cell, OF_JOB)
    if place := place_of(result, one.job):
        phrases.pop("placement", None)
        phrases["ranks"] = place
    said = reports(result.launches).get(one.job)
    words = [phrase for phrase in phrases.values() if phrase not in UNSAID]
    return [*words, *([" or ".join(said)] if said else [])]


# ---- Numbers -------------------------------------------------------------------------------------


def heading(line: QuoteLine) -> str:
    """What the number of one job is; that of the best of a curve has its size beside it."""
    quote = line.first
    named_by_size = quote.quoted_as in OF_A_PATTERN or (quote.quoted_as in QUOTED_TIMES and quote.row.sized)
    return ", ".join(filter(None, [*_called(line), _size(quote.row) if named_by_size else ""]))


def common_heading(line: QuoteLine) -> str:
    """What the numbers of several jobs are, with the size that they have in common."""
    quote = line.first
    if not line.alike:
        return HEADINGS.get(quote.quoted_as) or _rated(quote, quote.pattern.name)
    copy = YARDSTICKS[quote.cost.name][0] if quote.cost else ""
    size = _size(quote.row) if quote.row.sized and quote.quoted_as != "eager-limit" else ""
    return ", ".join(filter(None, [*_called(line), copy, size]))


def _called(line: QuoteLine) -> Iterator[str]:
    """The name of a number, and its mode where there are others."""
    quote, mode = line.first, line.first.row.cell.mode
    if quote.quoted_as in HEADINGS:
        yield HEADINGS[quote.quoted_as]
        yield mode if line.modes and quote.quoted_as in QUOTED_BY_MODE else ""
    else:
        yield _rated(quote, f"{quote.pattern.name} {mode}" if line.modes else _named(quote))


def _rated(quote: Quote, named: str) -> str:
    """The name of an operation, and which rate of it is meant."""
    what = OF_A_PATTERN.get(quote.quoted_as, "")
    return named if named.endswith(what) else f"{named} {what}"


OF_A_PATTERN: Mapping[QuotedAs, str] = {
    "operation-bandwidth": "bandwidth",
    "operation-message-rate": "message rate",
}
"""What the rates of a pattern are that is none of ours."""


HEADINGS: Mapping[QuotedAs, str] = {
    "latency": "latency",
    "bandwidth": "bandwidth",
    "both-directions": "both directions",
    "message-rate": "message rate",
    "eager-limit": "eager limit",
    "copies": "cost in copies",
}
"""Of numbers that are not called by their pattern."""


def number(quote: Quote, chosen: Units) -> str:
    """The number itself."""
    if quote.awaited:
        return AWAITED
    row = quote.row
    match quote.quoted_as:
        case quoted if quoted in QUOTED_RATES:
            return units.format_rate(row.rate_bytes_per_s, chosen.rate)
        case quoted if quoted in QUOTED_MESSAGES:
            return messages(quote.value)
        case "eager-limit":
            return f"{row.limit_bytes} B"
        case "copies":
            ratio = quote.ratio
            return _factor(units.format_factor(ratio.estimate)) if ratio else units.MISSING
    return units.format_time(row.time.estimate if row.time else None, chosen.time)


def width(quote: Quote) -> str:
    """How sure the number is."""
    known = quote.half_width
    if quote.awaited:
        return ""
    if known is None:
        return ONE_LAUNCH if quote.of_one_launch else ""
    return units.format_relative(known)


def beside(quote: Quote, line: QuoteLine, chosen: Units) -> str:
    """The number in a column of several, and how sure it is; of which size, if the others have another."""
    return " ".join(filter(None, [number(quote, chosen), width(quote), _apart(quote, line)]))


def _apart(quote: Quote, line: QuoteLine) -> str:
    """What a number is of that has nothing in common with those beside it."""
    if line.alike or not quote.row.sized:
        return ""
    cells = [one.row.cell for one in line.quotes if one is not None]
    several = len({(cell.pattern, cell.mode) for cell in cells}) > 1
    at = f"at {_size(quote.row)}"
    return f"{_named(quote)} {at}" if several else at


def over_sessions(quote: Quote, line: QuoteLine, chosen: Units) -> str:
    """The number over sessions, and how sure that is."""
    over, value = quote.sessions, quote.value_over_sessions
    if over is None or value is None:
        return units.MISSING
    match quote.unit:
        case "B/s":
            text = units.format_rate(value, chosen.rate)
        case "1/s":
            text = messages(value)
        case _:
            text = units.format_time(value, chosen.time)
    return " ".join(filter(None, [text, units.format_relative(over.time.half_width), _apart(quote, line)]))


def messages(per_s: float | None) -> str:
    """`9.93 M/s`."""
    if per_s is None:
        return units.MISSING
    for scale, letter in ((1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s")):
        if per_s >= scale:
            return f"{float(f'{per_s / scale:.3g}'):g}{letter}"
    return f"{per_s:.3g} /s"


def detail(quote: Quote, chosen: Units) -> str:
    """What stands beside the number: what it was measured with, and the largest message if there is room."""
    if quote.awaited:
        return "other sizes are still to come"
    words = DETAILS[quote.quoted_as](quote, chosen)
    return words if len(words) <= DETAIL_MOST else words.partition(";")[0]


def _latency(quote: Quote, _: Units) -> str:
    return f"{_named(quote)}, one way"


def _rate(quote: Quote, chosen: Units) -> str:
    where = f"{_named(quote)} at {_size(quote.row)}"
    if quote.largest is None:
        return where
    rate = units.format_rate(quote.largest.rate_bytes_per_s, chosen.rate)
    return f"{where}; {rate} at {_size(quote.largest)}"


def _in_memory(quote: Quote, chosen: Units) -> str:
    return _rate(quote, chosen).removeprefix(f"{_named(quote)} ")


def _messages(quote: Quote, _: Units) -> str:
    window = quote.row.cell.window
    in_flight = f", {window} in flight" if window else ""
    return f"{_named(quote)} of {_size(quote.row)}{in_flight}"


def _operation(quote: Quote, chosen: Units) -> str:
    known = quote.row.talks and quote.row.cell.ranks
    ranks = units.counted(quote.row.cell.ranks, "rank") if known else ""
    largest = ""
    if quote.largest is not None and quote.largest.time is not None:
        time = units.format_time(quote.largest.time.estimate, chosen.time)
        largest = f"{time} at {_size(quote.largest)}"
    return "; ".join(filter(None, [ranks, largest]))


def _limit(_: Quote, __: Units) -> str:
    return "longer messages wait for the receiver"


def _copies(quote: Quote, _: Units) -> str:
    if quote.cost is None:
        return ""
    pattern, _mode = YARDSTICKS[quote.cost.name]
    few = [(most, size) for most, size in quote.cost.below if size is not None]
    least = f"{pattern} at {_size(quote.row)}"
    below = [f"below {_factor(f'{most:g}')} from {units.format_size(size)}" for most, size in few[:1]]
    return "; ".join([least, *below])


DETAILS: Mapping[QuotedAs, Callable[[Quote, Units], str]] = {
    "latency": _latency,
    "bandwidth": _rate,
    "both-directions": _rate,
    "message-rate": _messages,
    "operation": _operation,
    "operation-bandwidth": _operation,
    "operation-message-rate": _operation,
    "memory-bandwidth": _in_memory,
    "memory-time": _operation,
    "eager-limit": _limit,
    "copies": _copies,
}
"""What stands beside each kind of number."""


def _factor(text: str) -> str:
    return f"{text}\N{MULTIPLICATION SIGN}"


def _named(quote: Quote) -> str:
    """The pattern; its mode only where it is not the usual one, and buffers that are cold."""
    cell = quote.row.cell
    mode = "" if cell.mode == usual_mode(quote.pattern) else cell.mode
    return " ".join(filter(None, [quote.pattern.name, mode, *phrases_of(cell, ["buffers"]).values()]))


def _size(row: Row) -> str:
    return units.format_size(row.cell.bytes)


# ---- What comes next -----------------------------------------------------------------------------


def next_steps(paths: Sequence[str], *, newest: bool) -> Iterator[tuple[str, str]]:
    """What to do with these results, and the command for it; the newest of all needs no name."""
    of = "" if newest else "".join(f" {shlex.quote(path)}" for path in paths)
    yield "all numbers", f"mpigauge show --all{of}" if len(paths) == 1 else f"mpigauge show --table times{of}"
    yield "figure", f"mpigauge plot{of}"
    if len(paths) == 1:
        yield "beside another", f"mpigauge show OTHER {shlex.quote(paths[0])}"
