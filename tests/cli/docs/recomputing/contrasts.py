"""Sentences of `mpigauge explain` on what differs in one thing, in runs of sizes."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import math
import re
from itertools import groupby
from statistics import geometric_mean
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.docs.recomputing.curves import find_curve
from tests.cli.docs.recomputing.statistics_of import (
    Interval,
    by_chance,
    difference,
    launches_needed,
    ratio,
    sides,
    small,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.cli.docs.recomputing.ledger import Said
    from tests.cli.docs.recomputing.reading import Row

HEAD = re.compile(
    r"^(?P<about>[^:]*): (?P<other>[^:]+?) against (?P<base>[^:]+?): (?=slower|faster|no diff|undecided)"
)
N = r"[\d.]+(?:e[+-]?\d+)?"
T = rf"({N}) (ns|µs|ms|s)"
TIMES = rf"({N}) times(?: \(({N}) – ({N})\))?"
AT = re.compile(rf"{TIMES} as long(?: at ([\d.]+ \w+))?, {T} against {T}, ([+−])({N}) (ns|µs|ms|s)")
SPAN = r"([\d.]+ (?:B|[KMG]iB))"
WHERE = re.compile(rf" at (?:all (\d+)|both) sizes| at {SPAN} – {SPAN} \((\d+) sizes?\)| at {SPAN}")
TELL = re.compile(r"\(about (\d+) launches would tell, not (\d+)\)")
MOST = re.compile(rf" at (\d+) of (\d+) sizes(?: \({SPAN} – {SPAN}\))?, (?:undecided|no difference)")
TWICE = re.compile(rf"by a factor of 2 or more from {SPAN} to {SPAN}")
LIMITS = re.compile(
    rf"(?:beyond 5 % )?they differ between their eager limits alone \((none found|{SPAN[1:-1]}) against (none"
    rf" found|{SPAN[1:-1]})\): "
    rf"(?:the wait for the receiver, ({N})(?: – ({N}))? round trips|one waits)"
)
LAUNCHES = re.compile(r"\((\d+) launch(?:es)?\)$")
DIFFERENT = ("slower", "faster")


class Point(NamedTuple):
    """Both curves at one size, with the times that are quoted of them."""

    bytes: int
    base: Row
    other: Row
    ratio: Interval
    base_s: float
    other_s: float
    beyond: Interval

    @property
    def extra_s(self) -> float:
        """By how much the other takes longer."""
        return self.other_s - self.base_s

    @property
    def far(self) -> float:
        """How far from 1."""
        return abs(math.log(self.ratio.estimate))


def points_of(base: Sequence[Row], other: Sequence[Row], *, alike: bool) -> list[Point]:
    """All sizes that both have, with an interval."""
    first, second = ({row.bytes: row for row in curve} for curve in (base, other))
    found = []
    for size in sorted(first.keys() & second):
        one = ratio(second[size].times, first[size].times, alike=alike)
        if one is not None and one.low is not None:
            rows = first[size], second[size]
            over, under, together = sides(rows[1].times, rows[0].times, alike=alike)
            times_s = _quoted(rows, geometric_mean(under.values()), geometric_mean(over.values()))
            found.append(Point(size, *rows, one, *times_s, _beyond(over, under, rows, paired=together)))
    return found


def _quoted(rows: tuple[Row, Row], *of_ratio: float) -> tuple[float, float]:
    """The times of the rows; those of the launches that the ratio rests on where these are 5 % off."""
    whole = rows[0].seconds, rows[1].seconds
    near = all(max(one / all_, all_ / one) <= 1.05 for one, all_ in zip(of_ratio, whole, strict=True))
    return whole if near else (of_ratio[0], of_ratio[1])


def _beyond(
    over: Mapping[int, float], under: Mapping[int, float], rows: tuple[Row, Row], *, paired: bool
) -> Interval:
    """What the other takes beyond the base, of these launches; without an interval if they make no pairs."""
    base, other = rows
    sides = (other.times._replace(by_launch=over), base.times._replace(by_launch=under))
    found = difference(*sides, (other.seconds, base.seconds)) if paired else None
    return found or Interval(math.nan)


def judged(points: Sequence[Point]) -> list[tuple[str, Point]]:
    """Verdicts; a size that differs alone only if that is beyond chance over all of them."""
    words = [verdict(one.ratio) for one in points]
    found = []
    for place, one in enumerate(points):
        around = words[max(0, place - 1) : place] + words[place + 1 : place + 2]
        alone = words[place] in DIFFERENT and words[place] not in around
        word = "undecided" if alone and by_chance(one.ratio, len(points)) else words[place]
        found.append((word, one))
    return found


def contrast(said: Said, curves: Sequence[list[Row]]) -> bool:
    """Checks a sentence of two curves; false if it is none."""
    head = HEAD.match(said.text)
    if head is None:
        return False
    about, other, base = (head[name].removesuffix(" take") for name in ("about", "other", "base"))
    places = "while" in about
    state = about.partition(" while ")[2]
    about = about.partition(" while ")[0]
    pair = [
        find_curve(curves, f"{about}, {name}", f" while {state}" if places else "") for name in (base, other)
    ]
    if None in pair or len(pair) != 2:
        return False
    first, second = pair
    alike = first[0].job == second[0].job or first[0].placement == second[0].placement
    alike = alike and first[0].transport == second[0].transport
    points = points_of(first, second, alike=alike)
    said.known(head.span())
    _check(said, head.end(), judged(points), first)
    return True


def _check(said: Said, begin: int, found: Sequence[tuple[str, Point]], base: Sequence[Row]) -> None:
    runs = [(word, [one for _, one in mine]) for word, mine in groupby(found, key=lambda two: two[0])]
    groups = [
        (key, [*mine])
        for key, mine in groupby(
            enumerate(runs), key=lambda two: (two[0], two[1][0]) if two[1][0] in DIFFERENT else None
        )
    ]
    own = [
        (key[1] if key else "", [one for _, (_, points) in mine for one in points], [r for _, r in mine])
        for key, mine in groups
    ]
    end = begin
    for part in said.text[begin:].split("; "):
        at, end = end, end + len(part) + 2
        if part.startswith((*DIFFERENT, "no difference", "undecided")):
            if not own:
                said.word((at, at + len(part)), "no further run of sizes")
                return
            _run(said, at, part, own.pop(0), len(found))
        else:
            _more(said, at, part, [one for _, one in found], found, base)
    if own:
        said.word((0, 0), f"more runs: {[(word, len(points)) for word, points, _ in own]}")
    if match := LAUNCHES.search(said.text):
        said.number(match.span(1), "", min(one.ratio.launches for _, one in found))


def _shifted(match: re.Match[str], group: int, at: int) -> tuple[int, int]:
    begin, end = match.span(group)
    return (begin + at, end + at) if begin >= 0 else (-1, -1)


Run = tuple[str, "list[Point]", "list[tuple[str, list[Point]]]"]


def _run(said: Said, at: int, part: str, own: Run, total: int) -> None:
    word, points, runs = own
    open_ = [one for name, mine in runs if name == "undecided" for one in mine]
    if not word:
        word = "undecided" if 2 * len(open_) > len(points) else "no difference"
    said.word((at, at + len(word)), word)
    head = part.partition(": ")[0] if word in DIFFERENT else part
    head = TELL.sub(lambda one: "-" * len(one[0]), head)
    if match := MOST.search(head):
        points = _most(said, match, at, points, open_)
        head = "-" * match.end() + head[match.end() :]
    if tell := TELL.search(part):
        needed = max((n for n in (launches_needed(one.ratio) for one in open_) if n), default=0)
        said.number(_shifted(tell, 1, at), "", needed)
        said.number(_shifted(tell, 2, at), "", min(one.ratio.launches for one in open_))
    if place := WHERE.search(head):
        _where(said, place, at, points, total)
    for match in re.finditer(r"(?:by less than|within) ([35]) %", part):
        said.known(_shifted(match, 1, at))
    if word in DIFFERENT:
        said.word(
            (0, 0), "" if all(small(one.ratio) for one in points) == ("but by less" in head) else "small"
        )
        ends = [max(points, key=lambda one: one.far), max(points, key=lambda one: abs(one.extra_s))]
        ends = [one for place, one in enumerate(ends) if one not in ends[:place]]
        matches = [*AT.finditer(part)]
        if len(matches) != len(ends):
            said.word((0, 0), f"{len(ends)} sizes of which numbers are said")
        for match, one in zip(matches, ends, strict=False):
            _at(said, match, at, one)


def _most(
    said: Said, match: re.Match[str], at: int, points: Sequence[Point], open_: Sequence[Point]
) -> list[Point]:
    """Of which most are undecided, or are not; the fewer ones are named next."""
    fewer = [one for one in points if (one in open_) == (2 * len(open_) <= len(points))]
    said.number(_shifted(match, 1, at), "", len(points) - len(fewer))
    said.number(_shifted(match, 2, at), "", len(points))
    for group, one in zip((3, 4), (points[0], points[-1]), strict=True):
        if match[group]:
            said.size(_shifted(match, group, at), one.bytes)
    return fewer


def _where(said: Said, match: re.Match[str], at: int, points: Sequence[Point], total: int) -> None:
    if match[1]:
        said.number(_shifted(match, 1, at), "", total if len(points) == total else -1)
    elif match[2]:
        said.size(_shifted(match, 2, at), points[0].bytes)
        said.size(_shifted(match, 3, at), points[-1].bytes)
        said.number(_shifted(match, 4, at), "", len(points))
    elif match[5]:
        said.size(_shifted(match, 5, at), points[0].bytes if len(points) == 1 else -1)


def _at(said: Said, match: re.Match[str], at: int, one: Point) -> None:
    for group, own in zip((1, 2, 3), one.ratio[:3], strict=True):
        said.number(_shifted(match, group, at), "", own)
    if match[4]:
        said.size(_shifted(match, 4, at), one.bytes)
    said.number(_shifted(match, 5, at), match[6], one.other_s)
    said.number(_shifted(match, 7, at), match[8], one.base_s)
    said.number(_shifted(match, 10, at), match[11], abs(one.extra_s))
    said.word(_shifted(match, 9, at), "+" if one.extra_s >= 0 else "−")


def _more(
    said: Said,
    at: int,
    part: str,
    points: Sequence[Point],
    found: Sequence[tuple[str, Point]],
    base: Sequence[Row],
) -> None:
    if match := TWICE.search(part):
        said.known(
            (at + match.start() + len("by a factor of "), at + match.start() + len("by a factor of 2"))
        )
        begin = max(
            _from(points, lambda one: (one.ratio.low or 0) >= 2),
            _from(points, lambda one: (one.ratio.high or 1) <= 0.5),
        )
        said.size(_shifted(match, 1, at), points[-begin].bytes if begin else -1)
        said.size(_shifted(match, 2, at), points[-1].bytes)
    elif (match := LIMITS.search(part)) and (result := base[0].result):
        row = base[0]
        probes = {
            tuple(one["cell"][name] for name in ("mpi", "placement", "transport")): one["limit_bytes"]
            for one in result.probes
            if one["found"]
        }
        pair = (points[0].other, points[0].base)
        limits = [probes.get((one.mpi, one.placement, one.transport)) for one in pair]
        for group, limit in zip((1, 2), limits, strict=True):
            if match[group] != "none found":
                said.size(_shifted(match, group, at), limit or -1)
            elif limit is not None:
                said.word(_shifted(match, group, at), str(limit))
        if (beyond := part.find("5 % they")) >= 0:
            said.known((at + beyond, at + beyond + 1))
        least = min(limit for limit in limits if limit)
        differing = [one for word, one in found if word in DIFFERENT and one.bytes > least]
        trips = sorted(abs(one.extra_s) / (2 * row.seconds) for one in differing)
        said.number(_shifted(match, 3, at), "", trips[0])
        said.number(_shifted(match, 4, at), "", trips[-1])


def _from(points: Sequence[Point], holds: Callable[[Point], bool]) -> int:
    """How many sizes at the end are so."""
    return next((n for n, one in enumerate(reversed(points)) if not holds(one)), len(points))
