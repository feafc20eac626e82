"""The few numbers that answer for a whole result: which cells, by what patterns say of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.analysis.memory_costs import CostInCopies, costs_in_copies
from mpigauge.plan.factors import CURVE
from mpigauge.plan.patterns import times_alone, usual_mode
from mpigauge.vocabulary import QUOTED_MESSAGES, QUOTED_RATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.analysis.sessions import OverSessions
    from mpigauge.plan.model import JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import QuotedAs, StateName

QUOTED_BYTES = 8
"""The message whose time is quoted: one double; the nearest to it where it was not measured."""

PAIR_OF_RANKS = 2
BOTH_DIRECTIONS = 2


@dataclass(frozen=True, slots=True)
class Quote:
    """A cell that answers one question.

    Attributes:
        pattern: What the cell is of.
        row: The cell; its time, rate or limit is the answer.
        largest: The cell of the largest message of the same curve, where that is another one.
        cost: Of `copies`: what a curve of messages costs in copies.
    """

    quoted_as: QuotedAs
    pattern: Pattern
    row: Row
    largest: Row | None = None
    cost: CostInCopies | None = None

    @property
    def unit(self) -> str:
        """Of the value, in SI; 1 is a ratio."""
        return UNITS.get(self.quoted_as, "s")

    @property
    def value(self) -> float | None:
        """The number itself, in SI."""
        match self.unit:
            case "B/s":
                return self.row.rate_bytes_per_s
            case "1/s":
                return self.row.messages_per_s
            case "B":
                return self.row.limit_bytes
            case "1":
                return self.cost.least.estimate if self.cost else None
        return self.row.time.estimate if self.row.time else None

    @property
    def low(self) -> float | None:
        """The lower end of its 95 % interval, in SI; None where there is none."""
        return self._ends[0]

    @property
    def high(self) -> float | None:
        """The upper end."""
        return self._ends[1]

    @property
    def _ends(self) -> tuple[float | None, float | None]:
        """Of a rate, the ends of its time the other way round."""
        if self.cost is not None:
            return self.cost.least.low, self.cost.least.high
        time, value = self.row.time, self.value
        if self.unit == "B" or value is None or time is None or time.low is None or time.high is None:
            return None, None
        if self.unit == "s":
            return time.low, time.high
        return value * time.estimate / time.high, value * time.estimate / time.low if time.low > 0 else None

    @property
    def half_width(self) -> float | None:
        """Of its 95 % interval, as a share of it; None where there is none."""
        if self.cost is not None:
            ratio = self.cost.least
            return None if ratio.high is None else ratio.high / ratio.estimate - 1
        return self.row.time.half_width if self.row.time else None

    @property
    def sessions(self) -> OverSessions | None:
        """Its time over sessions; None if the quote does not follow from a time."""
        return self.row.sessions if self.unit in UNITS_OF_TIMES else None

    @property
    def value_over_sessions(self) -> float | None:
        """The number over sessions, in SI."""
        if self.sessions is None or self.value is None or self.row.time is None:
            return None
        longer = self.sessions.time.estimate / self.row.time.estimate
        return self.value * longer if self.unit == "s" else self.value / longer


UNITS: Mapping[QuotedAs, str] = {
    **dict.fromkeys(QUOTED_RATES, "B/s"),
    **dict.fromkeys(QUOTED_MESSAGES, "1/s"),
    "eager-limit": "B",
    "copies": "1",
}
"""Of quotes that are not times."""

UNITS_OF_TIMES = ("s", "B/s", "1/s")
"""Of times, and of what follows from one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The quotes of one job, in the order in which they are read.

    Attributes:
        state: The state of the machine that they are of; None if that had one only, or one stands for it.
    """

    job: JobKey
    quotes: tuple[Quote, ...]
    state: StateName | None = None


def answers(rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> list[Answer]:
    """Of every job that has a number, in the order of the plan; the instrument's floor is none.

    Args:
        patterns: Those of the result, by name.
    """
    jobs: dict[JobKey, list[Row]] = {}
    for row in rows:
        if row.cell.pattern in patterns:
            jobs.setdefault(row.cell.job, []).append(row)
    found = [answer for job, mine in jobs.items() for answer in _in_each_state(job, mine, patterns)]
    return [one for one in found if one.quotes]


def _in_each_state(job: JobKey, rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> Iterator[Answer]:
    """One answer, or one for each state that rows are of, with what has none."""
    states = {row.state for row in rows if row.state}
    for state in dict.fromkeys(row.state for row in rows if row.state or not states):
        mine = [row for row in rows if row.state in (state, None)]
        yield Answer(job, tuple(_quotes(mine, patterns)), state if len(states) > 1 else None)


def seconds_of(result: Result) -> float:
    """How long was measured: all sessions, and what a session that was killed had finished."""
    ended, launched = (sum(one.elapsed_s for one in list_) for list_ in (result.ends, result.done))
    return max(ended, launched)


# ---- Choosing ------------------------------------------------------------------------------------

Curve = tuple["Pattern", list["Row"]]


def _quotes(rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> Iterator[Quote]:
    curves = _curves(rows, patterns)
    pairs = [curve for curve in curves if _is_message(curve[0]) and curve[0].active_ranks == PAIR_OF_RANKS]
    usual = sorted(pairs, key=_is_unusual)
    yield from _first(_operation("latency", curve) for curve in usual if curve[0].one_way)
    yield from _fastest("bandwidth", pairs, lambda row: row.directions < BOTH_DIRECTIONS)
    yield from _fastest("both-directions", pairs, lambda row: row.directions >= BOTH_DIRECTIONS)
    yield from _first(_operation("message-rate", curve) for curve in usual if curve[0].windowed)
    yield from _of_all_ranks(curves)
    if not any(pattern.talks for pattern, _ in curves):
        yield from _of_memory(curves)
    yield from _limits(rows, patterns)
    yield from _copies(rows, patterns)


def _is_unusual(curve: Curve) -> bool:
    """Whether it is in another mode than the usual one: a text may have that first."""
    return curve[1][0].cell.mode != usual_mode(curve[0])


def _is_message(pattern: Pattern) -> bool:
    return pattern.talks and pattern.family == "message"


def _curves(rows: Iterable[Row], patterns: Mapping[str, Pattern]) -> list[Curve]:
    """Rows that have a time, by curve, from small to large; of several pairs of ranks the median pair."""
    found: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    for row in rows:
        if row.time is not None and not patterns[row.cell.pattern].is_floor:
            key = tuple(getattr(row.cell, name) for name in CURVE)
            found.setdefault(key, {}).setdefault(row.cell.bytes, []).append(row)
    curves = [[_middle(by_size[size]) for size in sorted(by_size)] for by_size in found.values()]
    return [(patterns[curve[0].cell.pattern], curve) for curve in curves]


def _middle(rows: Sequence[Row]) -> Row:
    """The row of median time."""
    ordered = sorted(rows, key=lambda row: row.time.estimate if row.time else 0.0)
    return ordered[(len(ordered) - 1) // 2]


def _first(quotes: Iterable[Quote]) -> Iterator[Quote]:
    """The first one, of whatever was asked for first."""
    yield from list(quotes)[:1]


def _operation(quoted_as: QuotedAs, curve: Curve) -> Quote:
    """A curve by its smallest message that is one, with its largest."""
    pattern, rows = curve
    row = min(rows, key=lambda row: (row.cell.bytes == 0, abs(row.cell.bytes - QUOTED_BYTES)))
    return Quote(quoted_as, pattern, row, _largest(row, rows))


def _largest(row: Row, rows: Sequence[Row]) -> Row | None:
    return rows[-1] if rows[-1].cell.bytes > row.cell.bytes else None


def _fastest(quoted_as: QuotedAs, curves: Iterable[Curve], keep: Callable[[Row], bool]) -> Iterator[Quote]:
    """The best rate of all these curves."""
    found = [
        (row.rate_bytes_per_s, Quote(quoted_as, pattern, row, _largest(row, rows)))
        for pattern, rows in curves
        for row in rows
        if row.rate_bytes_per_s and keep(row)
    ]
    if found:
        yield max(found, key=lambda pair: pair[0])[1]


def _of_all_ranks(curves: Iterable[Curve]) -> Iterator[Quote]:
    """What all ranks do together, each pattern once: the first way asked for that is the operation alone."""
    ways: dict[str, list[Curve]] = {}
    for curve in curves:
        if curve[0].talks and curve[0].active_ranks != PAIR_OF_RANKS:
            ways.setdefault(curve[0].name, []).append(curve)
    for mine in ways.values():
        alone = (one for one in mine if times_alone(one[0], one[1][0].cell.mode))
        yield from _of_one_way(next(alone, mine[0]))


def _of_one_way(curve: Curve) -> Iterator[Quote]:
    """Its time; of many messages in flight the bandwidth of the largest, and the rate of the smallest."""
    pattern, rows = curve
    if not (pattern.windowed and pattern.moves_bytes):
        yield _operation("operation", curve)
        return
    yield Quote("operation-bandwidth", pattern, rows[-1])
    yield Quote("operation-message-rate", pattern, next((row for row in rows if row.cell.bytes), rows[0]))


def _of_memory(curves: Iterable[Curve]) -> Iterator[Quote]:
    """Where memory is all that was measured: the best rate of each curve, or its shortest time."""
    for curve in curves:
        pattern, rows = curve
        if pattern.moves_bytes:
            yield from _fastest("memory-bandwidth", [curve], lambda _: True)
        else:
            yield Quote("memory-time", pattern, rows[0], _largest(rows[0], rows))


def _limits(rows: Iterable[Row], patterns: Mapping[str, Pattern]) -> Iterator[Quote]:
    found = [row for row in rows if patterns[row.cell.pattern].probes and row.limit_bytes is not None]
    yield from (Quote("eager-limit", patterns[row.cell.pattern], row) for row in found[:1])


def _copies(rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> Iterator[Quote]:
    """What the first curve of messages costs in the first copy that it is measured in."""
    for cost in list(costs_in_copies(rows))[:1]:
        at = (cost.cell.pattern, cost.cell.mode, cost.cell.buffers, cost.least_bytes)
        row = next(
            row
            for row in rows
            if (row.cell.pattern, row.cell.mode, row.cell.buffers, row.cell.bytes) == at and row.ratios
        )
        yield Quote("copies", patterns[row.cell.pattern], row, cost=cost)
