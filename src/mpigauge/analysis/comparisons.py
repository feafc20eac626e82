"""Places, modes and libraries of one result beside each other: ratios paired by launch, in sentences.

Only messages are compared, and only where the ratio has an interval. A word like "faster" is given only
where the 95 % interval leaves no doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpigauge import units
from mpigauge.analysis.ratios import launch_times, ratio_of
from mpigauge.plan.patterns import patterns_with
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

MESSAGES = patterns_with(lambda pattern: pattern.family == "message")
Key = tuple[object, ...]


class Span(NamedTuple):
    """A ratio with its interval; of a single launch, which has none, nothing is said."""

    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Times of one pattern against size.

    Attributes:
        cell: The smallest of it.
        launches: Size to launch number to the launch's time in seconds.
        times_s: Size to the estimate, as tables show it.
    """

    cell: Cell
    launches: dict[int, dict[int, float]]
    times_s: dict[int, float]

    def over(self, other: Curve, size: int) -> Span | None:
        """How many times as long it takes, paired by launch where both have the same ones."""
        ratio = ratio_of(self.launches[size], other.launches[size], paired=True)
        if ratio is None or ratio.low is None or ratio.high is None:
            return None
        return Span(ratio.estimate, ratio.low, ratio.high)


def curves_of(
    groups: Iterable[Sequence[Row]], visits: Mapping[Cell, Sequence[Visit]], stat: str
) -> list[Curve]:
    """The curves of messages among these; imported ones have no launches.

    Args:
        groups: Rows that differ in size only; the window of large messages follows from their size.
        stat: What stands for a launch.
    """
    measured = (
        [row for row in rows if row.cell.pattern in MESSAGES and visits.get(row.cell)] for rows in groups
    )
    return [_curve(rows, visits, stat) for rows in measured if any(row.time for row in rows)]


def _curve(rows: Sequence[Row], visits: Mapping[Cell, Sequence[Visit]], stat: str) -> Curve:
    """Told apart by its smallest message, which has the window that was asked for."""
    times_s = {row.cell.bytes: row.time.estimate for row in rows if row.time is not None}
    launches = {row.cell.bytes: launch_times(visits[row.cell], stat) for row in rows if row.time is not None}
    return Curve(min((row.cell for row in rows), key=lambda cell: cell.bytes), launches, times_s)


def _common(cell: Cell) -> Key:
    return cell.pattern, cell.ranks, cell.buffers, cell.window, cell.pair, cell.pairing


def _place(cell: Cell) -> tuple[str, str]:
    return cell.transport, cell.placement


def _library(cell: Cell) -> tuple[str, str]:
    return cell.mpi, cell.mpi_version


# ---- Places --------------------------------------------------------------------------------------


def latencies_of_places(curves: Sequence[Curve]) -> Iterator[str]:
    """What the smallest message costs in each place, in units of the nearest."""
    for mine, size in _groups(curves, lambda cell: (cell.mode, *_library(cell)), min):
        nearest, *others = sorted(mine, key=lambda curve: curve.times_s[size])
        took = units.format_time(nearest.times_s[size])
        words = [
            f"{_times(span)} as long over {place_name(other.cell)}"
            for other in others
            if (span := other.over(nearest, size)) is not None
        ]
        if words:
            first = f"{units.format_size(size)} takes {took} over {place_name(nearest.cell)}"
            yield f"{_name(nearest.cell)}: {'; '.join([first, *words])}"


def payoffs_of_places(curves: Sequence[Curve]) -> Iterator[str]:
    """From which size on the fastest place pays, and how much."""
    for mine, largest in _groups(curves, lambda cell: (cell.mode, *_library(cell)), max):
        fastest, *others = sorted(mine, key=lambda curve: curve.times_s[largest])
        words = [word for other in others if (word := _payoff(other, fastest))]
        if words:
            yield f"{_name(fastest.cell)}: {place_name(fastest.cell)} pays {'; '.join(words)}"


def _payoff(slow: Curve, fast: Curve) -> str:
    """Empty if no ratio of the two has an interval."""
    sizes = sorted(slow.launches.keys() & fast.launches.keys())
    spans = [slow.over(fast, size) for size in sizes]
    if not any(spans):
        return ""
    than = place_name(slow.cell)
    begin = pays_from(sizes, spans)
    if begin is None:
        return f"against {than} at no size for certain"
    ends = dict.fromkeys((begin, sizes[-1]))
    gains = [f"{_times(spans[sizes.index(size)])} at {units.format_size(size)}" for size in ends]
    return f"against {than} from {units.format_size(begin)} on: {', '.join(gains)}"


def pays_from(sizes: Sequence[int], spans: Sequence[Span | None]) -> int | None:
    """The smallest size from which on every interval of slow over fast is above 1.

    Args:
        sizes: Rising, in bytes.
        spans: One for each.
    """
    begin = None
    for size, span in zip(reversed(sizes), reversed(spans), strict=True):
        if span is None or span.low <= 1:
            break
        begin = size
    return begin


# ---- Modes and libraries -------------------------------------------------------------------------


def modes(curves: Sequence[Curve]) -> Iterator[str]:
    """Latency and rate of each mode in units of the first."""
    yield from _against_first(curves, lambda cell: (*_library(cell), *_place(cell)), lambda cell: cell.mode)


def libraries(curves: Sequence[Curve]) -> Iterator[str]:
    """Latency and rate of each library in units of the first."""
    yield from _against_first(
        curves, lambda cell: (cell.mode, *_place(cell)), lambda cell: " ".join(_library(cell))
    )


def _against_first(
    curves: Sequence[Curve], same: Callable[[Cell], Key], name: Callable[[Cell], str]
) -> Iterator[str]:
    for mine, _ in _groups(curves, same, min):
        first, *others = mine
        for other in others:
            words = _two_ends(other, first)
            if words:
                what = f"{first.cell.pattern} over {place_name(first.cell)}"
                yield f"{what}: {name(other.cell)} against {name(first.cell)}: {'; '.join(words)}"


def _two_ends(other: Curve, first: Curve) -> list[str]:
    """At the smallest and the largest size that both have."""
    sizes = sorted(other.launches.keys() & first.launches.keys())
    return [
        f"{_times(span)} as long at {units.format_size(size)}, {_verdict(span)}"
        for size in dict.fromkeys((sizes[0], sizes[-1]))
        if (span := other.over(first, size)) is not None
    ]


def _verdict(span: Span) -> str:
    if span.low <= 1 <= span.high:
        return "undecided"
    return "slower" if span.low > 1 else "faster"


# ---- Words ---------------------------------------------------------------------------------------


def _groups(
    curves: Iterable[Curve], same: Callable[[Cell], Key], end: Callable[[Iterable[int]], int]
) -> Iterator[tuple[list[Curve], int]]:
    """Curves that differ in one thing, with one end of the sizes that they share."""
    groups: dict[Key, list[Curve]] = {}
    for curve in curves:
        groups.setdefault((*_common(curve.cell), *same(curve.cell)), []).append(curve)
    for mine in groups.values():
        common = set.intersection(*(set(curve.launches) for curve in mine))
        if len(mine) > 1 and common:
            yield mine, end(common)


def place_name(cell: Cell) -> str:
    """`tcp, h1,h2`; what the library chose by itself goes without saying."""
    return ", ".join(word for word in _place(cell) if word != AUTO)


def _name(cell: Cell) -> str:
    return f"{cell.pattern} {cell.mode}, {' '.join(_library(cell))}"


def _times(span: Span | None) -> str:
    """`2.31 times`, with its interval."""
    if span is None:
        return units.MISSING
    text, reach = f"{units.format_factor(span.ratio)} times", span.high / span.ratio
    if reach >= units.REACH_MOST:
        return f"{text} ({units.format_relative(reach - 1)})"
    return f"{text} ({units.format_factor(span.low)} \N{EN DASH} {units.format_factor(span.high)})"
