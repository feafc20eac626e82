"""Sentences on bandwidth, spread, core time, ranks, and what a lab was told to plant."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.contrasts import SPAN, TIMES, T
from tests.cli.docs.recomputing.curves import find_curve
from tests.cli.docs.recomputing.planted import R, numbers_of, rate_of, way_of
from tests.cli.docs.recomputing.sentences import launches, numbers, stick_of, talking
from tests.cli.docs.recomputing.statistics_of import (
    Interval,
    Times,
    over_launches,
    quantile,
    ratio,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tests.cli.docs.recomputing.ledger import Said
    from tests.cli.docs.recomputing.reading import Result, Row, Visit

P = r"([\d.]+)(?: %)?(?: \(([\d.]+)(?: %)? – ([\d.]+) %\))?"
MARGIN = 1.03

# ---- The best bandwidth --------------------------------------------------------------------------

BEST = re.compile(rf"^(.*?): best bandwidth {R}( in both directions together)? at {SPAN}; ")
RISES = re.compile(rf"still rising at the largest size: a byte takes {TIMES} as long at the size before")
LEVEL = re.compile(rf"within (5\.0) % of it at {SPAN} – {SPAN}|no other within (5\.0) %")
FALLS = re.compile(
    rf"then it falls to {R} at {SPAN}, where a byte takes {TIMES} as long|; {R} at {SPAN}, which is "
    rf"not certainly less"
)
LINK = re.compile(rf"; (\d+) % of the {R}")
AS_COPY = re.compile(rf"; at {SPAN} a message takes {TIMES} as long as a copy of its size \((\w+ \w+)\)")


def a_byte(over: Row, under: Row) -> Interval | None:
    """How many times as long a byte takes, launch by launch."""
    sides = [Times({n: value / row.bytes for n, value in row.medians.items()}) for row in (over, under)]
    return ratio(*sides)


def plateau(said: Said, result: Result) -> bool:
    """Where the best bandwidth is, how far it holds, and what it could be."""
    match = BEST.match(said.text)
    curve = find_curve(talking(result), match[1]) if match else None
    if match is None or curve is None:
        return False
    rated = [row for row in curve if row.bytes_per_time and row.narrow.low is not None]
    rates = [row.bytes_per_time / row.seconds for row in rated]
    place = rates.index(max(rates))
    best, largest = rated[place], rated[-1]
    said.known(match.span(1))
    numbers_of(said, match, 2, rate_of(best))
    said.size(match.span(7), best.bytes)
    if match := RISES.search(said.text):
        sized = [row for row in rated if row.bytes > 0]
        numbers(said, match, 1, "", a_byte(*sized[-2:]))
    if match := LEVEL.search(said.text):
        near = [rate * MARGIN >= rates[place] for rate in rates]
        begin = next((n + 1 for n in range(place, -1, -1) if not near[n]), 0)
        end = next((n - 1 for n in range(place, len(near)) if not near[n]), len(near) - 1)
        said.known(match.span(1 if match[1] else 4))
        if match[2]:
            said.size(match.span(2), rated[begin].bytes)
            said.size(match.span(3), rated[end].bytes)
        else:
            said.word((0, 0), "" if begin == end else "several within 3 %")
    if match := FALLS.search(said.text):
        at = 1 if match[1] else 9
        numbers_of(said, match, at, rate_of(largest))
        said.size(match.span(at + 4), largest.bytes)
        if match[1]:
            numbers(said, match, 6, "", a_byte(largest, best))
    if match := LINK.search(said.text):
        way = way_of(result, best)
        said.number(match.span(1), "%", best.bytes_per_time / best.seconds / best.directions / way.payload)
        said.number(match.span(2), match[3], way.payload)
    if match := AS_COPY.search(said.text):
        row = next(one for one in [best, *reversed(rated)] if stick_of(result, one, match[5]))
        said.size(match.span(1), row.bytes)
        stick = stick_of(result, row, match[5])
        numbers(said, match, 2, "", ratio(row.times, stick.times, alike=True))
    launches(said, min(len(best.medians), len(largest.medians)))
    return True


# ---- How far samples lie apart -------------------------------------------------------------------

SPREAD = re.compile(
    rf"^(.*?): (?:single|means of up to (\d+)) (?:messages|operations)[\w ,]*? vary by {P} within a launch "
    rf"\(quartile distance over median(?:, median of (\d+) sizes?)?\)(?:; the time itself is known "
    rf"to ±([\d.]+) %)?; "
    rf"their standard deviation is (?:largest at {SPAN}, )?([\d.]+) (%|times)(?: of)? the mean"
    rf"(?:, but ([\d.]+) % without the slowest (\d+|one) of (\d+) samples)?(?:; (\d+) more sizes? "
    rf"timed in batches)?"
)
APART = re.compile(
    rf"^(.*?): quartiles of single (?:messages|operations) in a launch are {TIMES} as far apart "
    rf"(?:over|with) (.*?) as (?:over|with) (.*?): {T} \(([\d.]+) % of the time\) for {T} \(([\d.]+) %\)"
    rf"(?: \(median of (\d+) common sizes?\))?"
)


def quartiles(row: Row) -> dict[int, tuple[float, float]] | None:
    """Distance and middle of the samples of each launch; None if one has under 20, or there is but one."""
    found = {}
    for number, mine in row.launches.items():
        ordered = sorted(value for visit in mine for value in visit.seconds)
        if len(ordered) < 20:
            return None
        low, middle, high = (quantile(ordered, share) for share in (0.25, 0.5, 0.75))
        found[number] = high - low, middle
    return found if len(found) > 1 else None


def batch_of(row: Row) -> int:
    """Calls in a sample, the most of any visit."""
    return max((visit.record["batch"] for visit in row.visits), default=0)


def middles(known: Sequence[Mapping[int, tuple[float, float]]], *, share: bool) -> dict[int, float]:
    """Of every launch that has all of these sizes, the median over them."""
    common = set.intersection(*(set(one) for one in known))
    return {n: median(one[n][0] / one[n][1] if share else one[n][0] for one in known) for n in sorted(common)}


def spread(said: Said, result: Result) -> bool:
    """Quartiles and deviation of the samples of a curve."""
    match = SPREAD.match(said.text)
    curve = find_curve(talking(result), match[1]) if match else None
    if match is None or curve is None:
        return False
    known = [(row, found) for row in curve if (found := quartiles(row))]
    counted = [one for one in known if batch_of(one[0]) == 1] or known
    own = over_launches([*middles([found for _, found in counted], share=True).values()])
    said.known(match.span(1))
    said.number(match.span(2), "", max(batch_of(row) for row, _ in counted))
    numbers(said, match, 3, "%", own)
    said.number(match.span(6), "", len(counted))
    halves = [
        [one.half_width for one in (row.time[which] for row, _ in counted) if one.high]
        for which in range(len(counted[0][0].time))
    ]
    said.number(match.span(7), "%", *(median(one) for one in halves))
    _deviation(said, match, [row for row, _ in counted])
    rows = [row for row, _ in counted]
    said.number(match.span(14), "", sum(batch_of(row) > 1 and row not in rows for row in curve))
    launches(said, own.launches)
    return True


def _deviation(said: Said, match: re.Match[str], rows: Sequence[Row]) -> None:
    found = [(stdev(row.samples) / fmean(row.samples), row) for row in rows]
    most, row = max(found, key=lambda one: one[0])
    ordered = sorted(row.samples)
    slowest = math.ceil(0.01 * len(ordered))
    rest = ordered[:-slowest]
    if match[8]:
        said.size(match.span(8), row.bytes)
    said.number(match.span(9), "%" if match[10] == "%" else "", most)
    said.number(match.span(11), "%", stdev(rest) / fmean(rest))
    if match[12] != "one":
        said.number(match.span(12), "", slowest)
    said.number(match.span(13), "", len(ordered))


def spread_beside(said: Said, result: Result) -> bool:
    """Whose samples lie farther apart."""
    match = APART.match(said.text)
    if match is None:
        return False
    about, _, state = match[1].partition(" while ")
    pair = [find_curve(talking(result), f"{about}, {match[group]}", state) for group in (6, 5)]
    if pair[0] is None or pair[1] is None:
        return False
    both = [
        {row.bytes: found for row in one if batch_of(row) == 1 and (found := quartiles(row))} for one in pair
    ]
    sizes = sorted(both[0].keys() & both[1].keys())
    under, over = (middles([one[size] for size in sizes], share=False) for one in both)
    shares = [median(middles([one[size] for size in sizes], share=True).values()) for one in both]
    own = ratio(Times(over), Times(under))
    said.known(match.span(1))
    said.known(match.span(5))
    said.known(match.span(6))
    numbers(said, match, 2, "", own)
    said.number(match.span(7), match[8], median(over.values()))
    said.number(match.span(9), "%", shares[1])
    said.number(match.span(10), match[11], median(under.values()))
    said.number(match.span(12), "%", shares[0])
    said.number(match.span(13), "", len(sizes))
    launches(said, own.launches if own else 0)
    return True


# ---- Core time -----------------------------------------------------------------------------------

WAITING = re.compile(
    rf"^(point-to-point|collectives)(.*?), (\d+ ranks?) on (\d+) cores?(.*?): (\S+ \S+) keeps "
    rf"{P}(?: %)? of the core time "
    rf"that there is for them busy \(median of (\d+) cells?\)"
)
OTHERS = re.compile(rf"; (\w+ [\d.]+) {P}(?: %)?(?:, {TIMES} as much|, no difference|, undecided)?")
FAMILY = {"point-to-point": "message", "collectives": "collective"}


def waiting(said: Said, result: Result) -> bool:
    """How busy waiting ranks keep their cores."""
    match = WAITING.match(said.text)
    if match is None:
        return False
    patterns = {one["name"]: one for one in result.campaign["patterns"]}
    state = match[5].partition(" while ")[2]
    words = {match[3], *match[2].removeprefix(", ").split(", ")} - {""}
    rows = [
        row
        for row in result.shown
        if row.visits and words <= row.words and patterns[row.pattern]["family"] == FAMILY[match[1]]
    ]
    rows = [row for row in rows if not state or row.state == state]
    named = [row for row in rows if row.library == match[6]]
    if len({row.job for row in named}) != 1:
        usual = [row for row in rows if row.placement == "same-host"]
        rows = usual or rows
    base = core_time(result, patterns, [row for row in rows if row.library == match[6]])
    if base is None:
        return False
    own = over_launches([*base[0].values()])
    said.known(match.span(2))
    said.known(match.span(3))
    said.number(match.span(4), "", result.campaign["environment"]["cores"])
    numbers(said, match, 7, "%", _most_one(own))
    said.number(match.span(10), "", base[1])
    counts = [own.launches]
    for match in OTHERS.finditer(said.text):
        mine = core_time(result, patterns, [row for row in rows if row.library == match[1]])
        if mine is None:
            continue
        one, against = over_launches([*mine[0].values()]), ratio(Times(mine[0]), Times(base[0]))
        counts.append(one.launches)
        numbers(said, match, 2, "%", _most_one(one))
        numbers(said, match, 5, "", against)
        if "no difference" in match[0]:
            said.word((0, 0), "" if verdict(against) == "no difference" else verdict(against))
    launches(said, min(counts))
    return True


def _most_one(one: Interval) -> Interval:
    return one._replace(high=None if one.high is None else min(1.0, one.high))


def core_time(
    result: Result, patterns: Mapping[str, Mapping[str, Any]], rows: Iterable[Row]
) -> tuple[dict[int, float], int] | None:
    """The share of each launch, median over cells, and how many cells; None of several jobs at once."""
    found: dict[int, list[float]] = defaultdict(list)
    cells, jobs = 0, set()
    for row in rows:
        active = int(patterns[row.pattern]["active_ranks"] or row.ranks)
        launch = result.launch_of(row)
        together = max(Counter(one["host"] for one in launch["ranks_at"]).values())
        together = row.ranks if result.campaign["plan"]["lab"] else together
        room = min(1.0, result.campaign["environment"]["cores"] / min(active, together))
        shares = {n: _share(mine, active) for n, mine in row.launches.items()}
        for number, share in shares.items():
            if share is not None:
                found[number].append(min(1.0, share / room))
        cells += any(share is not None for share in shares.values())
        jobs.add(row.job)
    shares_of = {number: median(mine) for number, mine in found.items()}
    return (shares_of, cells) if len(jobs) == 1 and len(shares_of) > 1 else None


def _share(visits: Sequence[Visit], active: int) -> float | None:
    known = [(one.record["cpu_ns"], one.record["wall_ns"]) for one in visits]
    shares = [cpu / (active * wall) for cpu, wall in known if cpu is not None and wall > 0]
    return min(1.0, median(shares)) if shares else None


TOPICS: Sequence[Callable[[Said, Result], bool]] = (
    plateau,
    spread,
    spread_beside,
    waiting,
)
