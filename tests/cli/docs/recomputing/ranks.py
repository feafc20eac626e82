"""Sentences on numbers of ranks, and on ranks that give way while they wait."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.cli.docs.recomputing.contrasts import SPAN, TIMES, T
from tests.cli.docs.recomputing.curves import find_curve
from tests.cli.docs.recomputing.ledger import size_of
from tests.cli.docs.recomputing.sentences import launches, numbers, talking
from tests.cli.docs.recomputing.statistics_of import middle_of, ratio, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.docs.recomputing.ledger import Said
    from tests.cli.docs.recomputing.reading import Result, Row

HEAD = re.compile(
    r"^(?P<lap>lap of )?(?P<about>[^:]*): (?=(?:at [\d.]+ \w+ )?\d+ ranks? (?:on \d+ cores? )?take )"
)
SIZE = re.compile(rf"^at {SPAN} ")
COUNT = re.compile(
    rf"(\d+) ranks?(?: on (\d+) cores?)? (?:take |{TIMES} as long, ){T}"
    rf"(?: \((?:{T} a message)?(?:, )?(?:(\d+) % of it start skew)?\))?"
)
BEYOND = re.compile(r"beyond (\d+) ranks they also wait")
YIELD = re.compile(
    r"^(?P<about>.*?), (\d+) ranks? on (\d+) cores?: not told to give way while they wait \((.*?)\) "
    r"against told to: "
)
WAY = re.compile(
    rf"(slower|faster|undecided|no difference)(?: \(within 3 %\))?(?: at "
    rf"{SPAN})?: {TIMES}, {T} for {T}"
)


def growth(said: Said, result: Result) -> bool:
    """What the number of ranks does."""
    head = HEAD.match(said.text)
    if head is None:
        return False
    said.known(head.span())
    rests, place = [], head.end()
    for part in said.text[head.end() :].split("; "):
        at, place = place, place + len(part) + 2
        if beyond := BEYOND.search(part):
            said.number(
                (at + beyond.start(1), at + beyond.end(1)), "", result.campaign["environment"]["cores"]
            )
            continue
        size = SIZE.match(part)
        base: Row | None = None
        for match in COUNT.finditer(part, size.end() if size else 0):
            curve = find_curve(talking(result), f"{head['about']}, {match[1]} ranks")
            rows = [row for row in curve or [] if size is None or _named(row, size[1])]
            if len(rows) != 1:
                return False
            if base is None:
                base = rows[0]
            rests.append(_count(said, at, match, rows[0], base, lap=bool(head["lap"])))
        if size:
            said.size((at + size.start(1), at + size.end(1)), base.bytes if base else -1)
    launches(said, min(one for one in rests if one))
    return True


def _named(row: Row, text: str) -> bool:
    return bool(row.bytes == size_of(text))


def _count(said: Said, at: int, match: re.Match[str], row: Row, base: Row, *, lap: bool) -> int:
    def part(group: int) -> tuple[int, int]:
        begin, end = match.span(group)
        return (begin + at, end + at) if begin >= 0 else (-1, -1)

    said.number(part(1), "", row.ranks)
    cores = row.result.campaign["environment"]["cores"] if row.result else 0
    said.number(part(2), "", cores if row.ranks > cores else -1)
    own = ratio(row.times, base.times) if match[3] else None
    for place, value in enumerate(own[:3] if own else ()):
        said.number(part(3 + place), "", value)
    said.number(part(6), match[7], row.seconds)
    said.number(part(8), match[9] or "", row.seconds / row.ranks if lap else None)
    said.number(part(10), "%", skew(row) / row.seconds if match[10] else None)
    return own.launches if own else 0


def skew(row: Row) -> float:
    """The median of how far apart the ranks started, of all rounds in time."""
    found = []
    for visit in (one for mine in row.launches.values() for one in mine):
        late = set(visit.record["late"]) if not visit.late else set()
        values = [ns * 1e-9 for n, ns in enumerate(visit.record["skew_ns"]) if n not in late]
        found.append((values, visit.step_s * visit.record["ops"]))
    return middle_of(found)


def yielding(said: Said, results: Sequence[Result]) -> bool:
    """What it is worth that ranks give way: the second of two results, or jobs, is not told to."""
    head = YIELD.match(said.text)
    if head is None or len(results) != 2:
        return False
    pair = [find_curve(talking(one), f"{head['about']}, {head[2]} ranks") for one in results]
    if pair[0] is None or pair[1] is None:
        return False
    told, untold = ({row.bytes: row for row in curve} for curve in pair)
    said.known(head.span())
    sizes = sorted(told.keys() & untold.keys())
    rests = []
    for match, size in zip(WAY.finditer(said.text), dict.fromkeys((sizes[0], sizes[-1])), strict=False):
        own = ratio(untold[size].times, told[size].times, paired=False)
        said.word(match.span(1), verdict(own))
        if match[2]:
            said.size(match.span(2), size)
        numbers(said, match, 3, "", own)
        said.number(match.span(6), match[7], untold[size].seconds)
        said.number(match.span(8), match[9], told[size].seconds)
        rests.append(own.launches if own else 0)
    launches(said, min(rests))
    return True
