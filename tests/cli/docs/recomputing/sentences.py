"""The other sentences of `mpigauge explain`, topic by topic: a pattern and what its numbers should be."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.contrasts import LAUNCHES, SPAN, TIMES, N, T, ends_of_family, points_of
from tests.cli.docs.recomputing.curves import MEMORY, find_curve
from tests.cli.docs.recomputing.ledger import size_of
from tests.cli.docs.recomputing.reading import NS, job_of
from tests.cli.docs.recomputing.statistics_of import (
    Interval,
    Times,
    over_launches,
    pulled_in,
    ratio,
    student,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.cli.docs.recomputing.ledger import Said
    from tests.cli.docs.recomputing.reading import Result, Row

ENDS = rf"(?: \({T} – {T}\))?"
PERCENT = r"([\d.]+)(?: %)?(?: \(([\d.]+)(?: %)? – ([\d.]+) %\))?"
Curves = "Sequence[list[Row]]"


def launches(said: Said, count: int) -> None:
    """The number at the end: in how many it rests."""
    if match := LAUNCHES.search(said.text):
        said.number(match.span(1), "", count)


def of_family(said: Said, match: re.Match[str], group: int, own: Interval) -> None:
    """A ratio whose interval holds for all cells of a family: its estimate, and the shape of its ends."""
    said.number(match.span(group), "", own.estimate)
    ends_of_family(said, own.estimate, match, group + 1)


def numbers(said: Said, match: re.Match[str], group: int, unit: str, own: Interval | None) -> None:
    """An estimate and its two ends, in three groups."""
    for place, value in enumerate(own[:3] if own else (None, None, None)):
        said.number(match.span(group + place), unit, value)


def times(said: Said, match: re.Match[str], group: int, own: Interval | None) -> None:
    """A time and its two ends, each with its unit."""
    for place, value in enumerate(own[:3] if own else (None, None, None)):
        if match[group + 2 * place]:
            said.number(match.span(group + 2 * place), match[group + 2 * place + 1], value)


def talking(result: Result) -> list[list[Row]]:
    """Its curves of ranks that talk."""
    return [curve for curve in result.curves() if curve[0].pattern not in MEMORY]


# ---- Eager limits and what waits -----------------------------------------------------------------

EAGER = re.compile(rf"^(?:(.*?): )?the eager limit is {SPAN}(?:; |$| \()")
CROSSING = re.compile(
    rf"; (\w+ \w+(?: while \w+)?) of {SPAN} takes {T}, of {SPAN} {T}: crossing it costs (?:{T} "
    rf"\({T} – {T}\), ({N}) round)?"
)
BLOCKED = re.compile(r"; (\d+) of (\d+) sizes? of modes that rely on it")


def limits_of(result: Result) -> Mapping[tuple[object, ...], int]:
    """The eager limit that most launches of a job found."""
    found: dict[tuple[object, ...], Counter[int]] = defaultdict(Counter)
    for probe in result.probes:
        if probe["found"]:
            found[job_of_limit(probe["cell"])][probe["limit_bytes"]] += 1
    return {job: counts.most_common(1)[0][0] for job, counts in found.items()}


def job_of_limit(cell: Mapping[str, object]) -> tuple[object, ...]:
    """What a limit is of."""
    return tuple(
        cell.get(name, "")
        for name in ("mpi", "mpi_version", "transport", "placement", "ranks", "label", "setting")
    )


def eager(said: Said, result: Result) -> bool:
    """How large a limit is, what crossing it costs, what was not started."""
    head = EAGER.match(said.text)
    if head is None:
        return False
    limits = limits_of(result)
    words = set((head[1] or "").split(", ")) - {""}
    rows = [row for row in result.rows.values() if job_of_limit(row.cell) in limits and words <= row.words]
    jobs = {job_of_limit(row.cell) for row in rows}
    if len(jobs) != 1:
        return False
    (job,) = jobs
    said.known(head.span(1))
    said.size(head.span(2), limits[job])
    count = 1
    if match := CROSSING.search(said.text):
        curve = find_curve([one for one in talking(result) if job_of_limit(one[0].cell) == job], match[1])
        count = _crossing(said, match, curve, limits[job]) if curve else 1
    if match := BLOCKED.search(said.text):
        needs = {
            (pattern["name"], mode["name"])
            for pattern in result.campaign["patterns"]
            for mode in pattern["modes"]
            if mode["needs_eager"]
        }
        of = [row for row in rows if (row.pattern, row.mode) in needs]
        said.number(match.span(1), "", sum(row.blocked is not None and not row.visits for row in of))
        said.number(match.span(2), "", len(of))
    launches(said, count)
    return True


def _crossing(said: Said, match: re.Match[str], curve: Sequence[Row], limit: int) -> int:
    below, above = ([row for row in curve if (row.bytes <= limit) == side] for side in (True, False))
    first, last, over = *below[-2:], above[0]
    reach = (over.bytes - last.bytes) / (last.bytes - first.bytes)
    common = first.medians.keys() & last.medians.keys() & over.medians.keys()
    extra = [
        over.medians[n] - last.medians[n] - reach * (last.medians[n] - first.medians[n])
        for n in sorted(common)
    ]
    known = pulled_in(extra)
    half = student(len(known) - 1) * stdev(known) / math.sqrt(len(known))
    own = Interval(fmean(known), fmean(known) - half, fmean(known) + half)
    said.size(match.span(2), over.bytes)
    said.number(match.span(3), match[4], over.seconds)
    said.size(match.span(5), last.bytes)
    said.number(match.span(6), match[7], last.seconds)
    if match[8]:
        times(said, match, 8, own)
        said.number(match.span(14), "", own.estimate / (2 * curve[0].seconds))
    return len(extra)


HANDSHAKE = re.compile(
    rf"^(.*?): waiting for the receiver costs {T}{ENDS} \((\w+) against (\w+), {SPAN}\); "
    rf"above the eager limit of {SPAN} (?:the difference is certainly less at (\d+) of (\d+) "
    rf"sizes?|none of (\d+) sizes?)"
)


def handshake(said: Said, result: Result) -> bool:
    """What waiting for the receiver costs, and above the limit."""
    match = HANDSHAKE.match(said.text)
    if match is None:
        return False
    about, state = match[1].partition(" while ")[::2]
    pair = [find_curve(talking(result), f"{about}, {match[group]}", state) for group in (9, 8)]
    if pair[0] is None or pair[1] is None:
        return False
    base, other = pair
    limit = limits_of(result)[job_of_limit(base[0].cell)]
    points = points_of(base, other, alike=True)
    beyond = [one.beyond for one in points]
    small, cost = points[0], beyond[0]
    said.known(match.span(1))
    times(said, match, 2, cost)
    said.size(match.span(10), small.bytes)
    said.size(match.span(11), limit)
    above = [own for own, one in zip(beyond, points, strict=True) if one.bytes > limit]
    said.number(match.span(12), "", sum((own.high or 0) < (cost.low or 0) for own in above))
    said.number(match.span(13 if match[13] else 14), "", len(above))
    launches(said, small.ratio.launches)
    return True


BUFFERED = re.compile(
    rf"^(.*?): (\w+) takes longer than (\w+) by ({N}) copies \((.*?) of the same size; ({N}) – "
    rf"({N}) at {SPAN}(?: – {SPAN})?\)"
)


def buffer_copy(said: Said, result: Result) -> bool:
    """What a copy into a buffer costs."""
    match = BUFFERED.match(said.text)
    if match is None:
        return False
    about, state = match[1].partition(" while ")[::2]
    base, other = (find_curve(talking(result), f"{about}, {match[group]}", state) for group in (3, 2))
    if base is None or other is None:
        return False
    points = points_of(base, other, alike=True)
    slower = [one for one in points if verdict(one.ratio) == "slower" and one.extra_s > 0]
    found = []
    for one in slower:
        stick = stick_of(result, one.base, match[5])
        copies = ratio(one.base.times, stick.times, alike=True) if stick is not None else None
        if copies is not None:
            found.append((one, one.extra_s * copies.estimate / one.base_s))
    values = [value for _, value in found]
    said.known(match.span(1))
    for group, value in zip((4, 6, 7), (median(values), min(values), max(values)), strict=True):
        said.number(match.span(group), "", value)
    said.size(match.span(8), found[0][0].bytes)
    if match[9]:
        said.size(match.span(9), found[-1][0].bytes)
    launches(said, min(one.ratio.launches for one, _ in found))
    return True


def stick_of(result: Result, row: Row, name: str) -> Any:
    """The copy of this name of the same size and job, in the same state or of which none is known."""
    pattern, _, mode = name.partition(" ")
    return next(
        (
            one
            for one in result.shown
            if one.pattern == pattern
            and one.mode == mode
            and one.bytes == row.bytes
            and one.job == row.job
            and one.state in (row.state, None)
            and one.visits
        ),
        None,
    )


# ---- First rounds and first messages -------------------------------------------------------------

FIRST = re.compile(
    rf"^(.*?): the first round in a warm launch, not a program's first message, takes "
    rf"(?:({N}) – ({N}) times as long as a typical one, longer for certain at (?:all (\d+) sizes, "
    rf"most|(\d+) of (\d+) sizes, of these most)"
    rf"(?: at {SPAN})?: {TIMES}, {T} for {T}|{TIMES} as long as a typical one(?: at {SPAN})?, {T} for {T})"
)


def first_round(said: Said, result: Result) -> bool:
    """The first round of a cell against a typical one."""
    match = FIRST.match(said.text)
    curve = find_curve(talking(result), match[1]) if match else None
    if match is None or curve is None:
        return False
    points = []
    for row in curve:
        firsts = firsts_of(row)
        one = ratio(Times(firsts, row.step), Times(row.medians)) if firsts else None
        if one is not None and one.low is not None:
            points.append((row, one, over_launches([*firsts.values()]).estimate))
    # Which sizes are longer for certain is a matter of all of them: of those, the one that is named.
    named = match[7] or match[18]
    asked = [one for one in points if not named or one[0].bytes == size_of(named)]
    row, own, first_s = max(asked or points, key=lambda one: one[1].estimate)
    said.known(match.span(1))
    at = 7 if match[2] else 15
    if match[2]:
        values = [one.estimate for _, one, _ in points]
        said.number(match.span(2), "", min(values))
        said.number(match.span(3), "", max(values))
        said.number(match.span(4), "", len(points))
        said.known(match.span(5))
        said.number(match.span(6), "", len(points))
        if match[7]:
            said.size(match.span(7), row.bytes)
        of_family(said, match, 8, own)
        at = 11
    else:
        of_family(said, match, 15, own)
        if match[18]:
            said.size(match.span(18), row.bytes)
        at = 19
    said.number(match.span(at), match[at + 1], first_s)
    said.number(match.span(at + 2), match[at + 3], row.seconds)
    launches(said, min(one.launches for _, one, _ in points))
    return True


def firsts_of(row: Row) -> dict[int, float]:
    """The first round in each launch, in seconds of one operation."""
    found: dict[int, list[float]] = defaultdict(list)
    for visit in row.visits:
        record = visit.record
        if record["trial_ns"] and record["trial_ns"][0] > 0:
            found[visit.launch].append(record["trial_ns"][0] * NS * record["batch"] / record["ops"])
    return {n: math.exp(fmean(map(math.log, mine))) for n, mine in found.items()}


MESSAGE = re.compile(
    rf"^(.*?): first message and its answer {T}{ENDS}(?:; {TIMES} as long as a round trip of {SPAN} "
    rf"later on, {T})?"
)


def first_message(said: Said, result: Result) -> bool:
    """The very first message of a job."""
    match = MESSAGE.match(said.text)
    if match is None:
        return False
    words = set(match[1].split(", "))
    rows = [row for row in result.shown if row.timed and words <= row.words]
    jobs = {row.job for row in rows}
    usual = [row for row in rows if row.placement == "same-host"]
    if len(jobs) > 1:
        rows, jobs = usual, {row.job for row in usual}
    if len(jobs) != 1:
        return False
    job = next(iter(jobs))
    firsts: dict[int, float] = {}
    for one in sorted(result.launches, key=lambda one: -one["part"]):
        if rows[0].job == job_of(one["job"]) and one["first_round_trip_ns"] > 0:
            firsts[one["number"]] = one["first_round_trip_ns"] * NS
    said.known(match.span(1))
    times(said, match, 2, over_launches([*firsts.values()], machine=0.01))
    if match[8]:
        messages = [row for row in rows if row.pattern == "pingpong" and row.job == job]
        row = min(messages, key=lambda one: one.bytes)
        trips = {n: 2 * value for n, value in row.medians.items()}
        numbers(said, match, 8, "", ratio(Times(firsts, row.step), Times(trips)))
        said.size(match.span(11), row.bytes)
        said.number(match.span(12), match[13], 2 * row.seconds)
    launches(said, len(firsts))
    return True


TOPICS: Sequence[Callable[[Said, Result], bool]] = (
    eager,
    handshake,
    buffer_copy,
    first_round,
    first_message,
)
