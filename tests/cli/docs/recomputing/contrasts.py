"""Sentences of `mpigauge explain` on what differs in one thing, in runs of sizes."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.docs.recomputing.curves import find_curve
from tests.cli.docs.recomputing.statistics_of import (
    MARGIN,
    Interval,
    difference,
    ratio,
    sides,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    rf"(?:beyond 3 % )?they differ between their eager limits alone \((none found|{SPAN[1:-1]}) against (none"
    rf" found|{SPAN[1:-1]})\): "
    rf"(?:the wait for the receiver, ({N})(?: – ({N}))? round trips|one waits)"
)
LAUNCHES = re.compile(r"\((\d+) launch(?:es)?\)$")
DIFFERENT = ("slower", "faster")
WORDS = (*DIFFERENT, "no difference", "undecided")


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
            times_s = rows[0].seconds, rows[1].seconds
            found.append(Point(size, *rows, one, *times_s, _beyond(over, under, rows, paired=together)))
    return found


def _beyond(
    over: Mapping[int, float], under: Mapping[int, float], rows: tuple[Row, Row], *, paired: bool
) -> Interval:
    """What the other takes beyond the base, of these launches; without an interval if they make no pairs."""
    base, other = rows
    sides = (other.times._replace(by_launch=over), base.times._replace(by_launch=under))
    found = difference(*sides, (other.seconds, base.seconds)) if paired else None
    return found or Interval(math.nan)


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
    points = points_of(first, second, alike=alike)
    said.known(head.span())
    _check(said, head.end(), points, first)
    return True


def _check(said: Said, begin: int, points: Sequence[Point], base: Sequence[Row]) -> None:
    """Part by part: which words stand is a matter of all cells of a comparison; that they fit, of each."""
    found: list[tuple[str, Point]] = []
    end = begin
    for part in said.text[begin:].split("; "):
        at, end = end, end + len(part) + 2
        if word := next((one for one in WORDS if part.startswith(one)), ""):
            mine = points[len(found) : len(found) + _covers(part, len(points))]
            _run(said, at, part, word, mine, len(points))
            found += [(word, one) for one in mine]
        else:
            _more(said, at, part, points, found, base)
    if len(found) != len(points):
        said.word((0, 0), f"{len(points)} sizes, not {len(found)}")
    if match := LAUNCHES.search(said.text):
        said.number(match.span(1), "", min(one.ratio.launches for one in points))


def _covers(part: str, total: int) -> int:
    """Of how many sizes a part is."""
    head = TELL.sub(lambda one: "-" * len(one[0]), part.partition(": ")[0])
    if match := MOST.search(head):
        return int(match[2])
    place = WHERE.search(head)
    if place is None or place[5]:
        return 1
    return int(place[1] or place[4] or 2) if place[0] != " at both sizes" else total


def ends_of_family(said: Said, estimate: float, match: re.Match[str], group: int, at: int = 0) -> None:
    """An interval that holds for all cells of a comparison: as far from its centre on either side."""
    if not match[group]:
        return
    low, high = float(match[group]), float(match[group + 1])
    if low > 0 and abs(math.log(low * high / estimate**2)) <= 0.02 + 0.02 * math.log(high / low):
        said.known(_shifted(match, group, at))
        said.known(_shifted(match, group + 1, at))
    else:
        said.word(_shifted(match, group, at), f"as far from {estimate:.3g} as {high}")


def _shifted(match: re.Match[str], group: int, at: int) -> tuple[int, int]:
    begin, end = match.span(group)
    return (begin + at, end + at) if begin >= 0 else (-1, -1)


def _run(said: Said, at: int, part: str, word: str, points: Sequence[Point], total: int) -> None:
    fits = {
        "slower": all(one.ratio.estimate >= 1 + MARGIN for one in points),
        "faster": all(one.ratio.estimate <= 1 / (1 + MARGIN) for one in points),
    }
    said.word((at, at + len(word)), word if fits.get(word, True) else f"not {word}")
    head = part.partition(": ")[0] if word in DIFFERENT else part
    head = TELL.sub(lambda one: "-" * len(one[0]), head)
    if match := MOST.search(head):
        _most(said, match, head, at, len(points))
    elif place := WHERE.search(head):
        _where(said, place, at, points, total)
    if tell := TELL.search(part):
        said.known(_shifted(tell, 1, at))
        said.known(_shifted(tell, 2, at))
    for match in re.finditer(r"within (3) %", part):
        said.known(_shifted(match, 1, at))
    if word in DIFFERENT:
        ends = [max(points, key=lambda one: one.far), max(points, key=lambda one: abs(one.extra_s))]
        ends = [one for place, one in enumerate(ends) if one not in ends[:place]]
        matches = [*AT.finditer(part)]
        if len(matches) != len(ends):
            said.word((0, 0), f"{len(ends)} sizes of which numbers are said")
        for match, one in zip(matches, ends, strict=False):
            _at(said, match, at, one)


def _most(said: Said, match: re.Match[str], head: str, at: int, count: int) -> None:
    """Of which most are undecided, or are not; the fewer ones are named next."""
    for group in (1, 3, 4):
        said.known(_shifted(match, group, at))
    said.number(_shifted(match, 2, at), "", count)
    if fewer := WHERE.search("-" * match.end() + head[match.end() :]):
        for group in range(1, 6):
            said.known(_shifted(fewer, group, at))
        if told := int(fewer[4] or bool(fewer[5])):
            said.number(_shifted(match, 1, at), "", count - told)


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
    said.number(_shifted(match, 1, at), "", one.ratio.estimate)
    ends_of_family(said, one.ratio.estimate, match, 2, at)
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
        said.known(_shifted(match, 1, at))
        if not 0.5 >= points[-1].ratio.estimate >= 0 and points[-1].ratio.estimate < 2:
            said.word(_shifted(match, 1, at), "no factor of 2")
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
        if (beyond := part.find("3 % they")) >= 0:
            said.known((at + beyond, at + beyond + 1))
        least = min(limit for limit in limits if limit)
        differing = [one for word, one in found if word in DIFFERENT and one.bytes > least]
        trips = sorted(abs(one.extra_s) / (2 * row.seconds) for one in differing)
        said.number(_shifted(match, 3, at), "", trips[0])
        said.number(_shifted(match, 4, at), "", trips[-1])
