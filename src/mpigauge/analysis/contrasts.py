"""Places, modes and libraries of one result beside each other: ratios paired by launch, in sentences.

Only messages are compared: of collectives, times of different places are read from the table. A word like
"faster" is given only where the 95 % interval of the ratio leaves no doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.ratios import launch_times, ratio_of
from mpigauge.plan.model import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.analysis.cells import Row
    from mpigauge.analysis.memory import Ratio
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

MESSAGES = frozenset({"pingpong", "exchange", "ring", "shift", "stream"})
WIDE = 10.0
"""From this factor on, an interval is told as a factor."""

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Times of one pattern against size.

    Attributes:
        cell: Any of it.
        launches: Size to launch number to the launch's time in seconds.
    """

    cell: Cell
    launches: dict[int, dict[int, float]]

    def over(self, other: Curve, size: int) -> Ratio | None:
        """How many times as long it takes, paired by launch where both have the same ones."""
        return ratio_of(self.launches[size], other.launches[size], paired=True)

    def typical_s(self, size: int) -> float:
        """A launch in the middle."""
        times = sorted(self.launches[size].values())
        return times[len(times) // 2]


def curves_of(rows: Iterable[Row], visits: Mapping[Cell, Sequence[Visit]], stat: str) -> list[Curve]:
    """The curves of messages that these rows are of; imported ones have no launches.

    Args:
        stat: What stands for a launch.
    """
    found: dict[Key, Curve] = {}
    for row in rows:
        cell = row.cell
        if cell.pattern in MESSAGES and row.time is not None and visits.get(cell):
            key = (*_common(cell), cell.mode, *_library(cell), *_place(cell))
            found.setdefault(key, Curve(cell, {})).launches[cell.bytes] = launch_times(visits[cell], stat)
    return list(found.values())


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
        nearest, *others = sorted(mine, key=lambda curve: curve.typical_s(size))
        took = units.format_time(nearest.typical_s(size))
        words = [
            f"{_times(ratio)} as long over {place_name(other.cell)}"
            for other in others
            if (ratio := other.over(nearest, size)) is not None
        ]
        if words:
            first = f"{units.format_size(size)} takes {took} over {place_name(nearest.cell)}"
            yield f"{_name(nearest.cell)}: {'; '.join([first, *words])}"


def payoffs_of_places(curves: Sequence[Curve]) -> Iterator[str]:
    """From which size on the fastest place pays, and how much."""
    for mine, largest in _groups(curves, lambda cell: (cell.mode, *_library(cell)), max):
        fastest, *others = sorted(mine, key=lambda curve: curve.typical_s(largest))
        words = [_payoff(other, fastest) for other in others]
        yield f"{_name(fastest.cell)}: {place_name(fastest.cell)} pays {'; '.join(words)}"


def _payoff(slow: Curve, fast: Curve) -> str:
    sizes = sorted(slow.launches.keys() & fast.launches.keys())
    ratios = [slow.over(fast, size) for size in sizes]
    than = place_name(slow.cell)
    begin = pays_from(sizes, ratios)
    if begin is None:
        return f"against {than} at no size for certain"
    first, last = ratios[sizes.index(begin)], ratios[-1]
    gains = [f"{_times(first)} as fast" if first else ""]
    if begin != sizes[-1] and last:
        gains.append(f"{_times(last)} at {units.format_size(sizes[-1])}")
    return f"against {than} from {units.format_size(begin)} on, {' there and '.join(gains)}"


def pays_from(sizes: Sequence[int], ratios: Sequence[Ratio | None]) -> int | None:
    """The smallest size from which on every interval of slow over fast is above 1.

    Args:
        sizes: Rising, in bytes.
        ratios: One for each.
    """
    begin = None
    for size, ratio in zip(reversed(sizes), reversed(ratios), strict=True):
        if ratio is None or ratio.low is None or ratio.low <= 1:
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
    sizes = sorted(other.launches.keys() & first.launches.keys())
    ends = {sizes[0]: "latency", sizes[-1]: "time"} if len(sizes) > 1 else {sizes[0]: "time"}
    return [
        f"{_times(ratio)} the {noun} at {units.format_size(size)}, {_verdict(ratio)}"
        for size, noun in ends.items()
        if (ratio := other.over(first, size)) is not None
    ]


def _verdict(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
        return "undecided"
    return "slower" if ratio.low > 1 else "faster"


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


def _times(ratio: Ratio) -> str:
    """`2.31 times`, with its interval."""
    text = f"{_digits(ratio.estimate)} times"
    if ratio.low is None or ratio.high is None:
        return f"{text} (one launch)"
    reach = ratio.high / ratio.estimate
    if reach >= WIDE:
        return f"{text} (\N{MULTIPLICATION SIGN}/\N{DIVISION SIGN} {reach:.2g})"
    return f"{text} ({_digits(ratio.low)} \N{EN DASH} {_digits(ratio.high)})"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")  # noqa: PLR2004 - three of them
