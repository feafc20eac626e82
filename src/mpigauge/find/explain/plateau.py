"""The best bandwidth of a curve, over which sizes it holds, and what it could be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.document.size_words import span
from mpigauge.find.explain.evidence import single_calls
from mpigauge.find.explain.routes import PAIR, pairs_of, ways_of
from mpigauge.find.phrases import in_one_line, known_rate, rate
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.ratios import ratio_of, verdict_of
from mpigauge.stats.decision import MARGIN
from mpigauge.stats.interval import is_known

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.find.explain.routes import Way
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio

MIN_SIZES = 3
"""Of fewer there is no curve."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The bandwidth at one size in bytes per second, of all directions together.

    Attributes:
        low: Lower end of its 95 % interval; None if there is none.
        high: Its upper end.
    """

    bytes: int
    estimate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class CopyCost:
    """The cost of a message in copies of its size in memory, where both ranks share a host.

    Attributes:
        name: Of the ratio: `baselines.YARDSTICKS`.
    """

    name: str
    bytes: int
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class Plateau:
    """The best of a curve.

    Attributes:
        of: Of the best bandwidth.
        best: That.
        directions: Messages in flight at once between the pair, whose bytes it counts.
        level: The smallest and the largest of the neighbouring sizes within the margin of the best.
        largest: The bandwidth at the largest size.
        change: How many times as long a byte takes at the largest size as at the best; None if that is it.
        falls: Whether it takes longer for certain, by more than the margin.
        rises: How many times as long a byte takes at the size before, if the best is the largest alone and
            that is certain; None otherwise.
        copies: On one host, of the best size or else of the largest that has them.
        link_bytes_per_s: Between hosts of a lab, what TCP can bring through in one direction.
    """

    of: Subject
    best: Rate
    directions: int
    level: tuple[int, int]
    largest: Rate
    change: Ratio | None
    falls: bool
    rises: Ratio | None
    copies: CopyCost | None
    link_bytes_per_s: float | None
    launches: int

    @property
    def weight(self) -> float:
        """More, where it is known what it could be, and where it does not hold."""
        known = self.copies is not None or self.link_bytes_per_s is not None
        return float(known) + 0.5 * self.falls + 0.25 * (self.rises is None)


def plateaus(evidence: Evidence) -> Iterator[Plateau]:
    """Yield the plateau of every curve of two ranks that has a bandwidth at three sizes or more."""
    hosts, ways = pairs_of(evidence), ways_of(evidence)
    for curve in single_calls(evidence):
        pattern = evidence.patterns.get(curve[0].cell.pattern)
        rated = [row for row in curve if row.rate_bytes_per_s and row.time and row.time.low is not None]
        if pattern is None or pattern.active_ranks != PAIR or len(rated) < MIN_SIZES:
            continue
        pair = hosts.get(curve[0].cell.job, ("", " "))
        yield _plateau(rated, ways.get(curve[0].cell.job), one_host=pair[0] == pair[1])


def _plateau(rated: Sequence[Row], way: Way | None, *, one_host: bool) -> Plateau:
    rates = [rate_at(row) for row in rated]
    place = max(range(len(rates)), key=lambda i: rates[i].estimate)
    begin, end = _level([rate.estimate for rate in rates], place)
    row, largest = rated[place], rated[-1]
    change = None if row is largest else _longer(largest, row)
    alone = begin == end == len(rates) - 1
    return Plateau(
        of=row.of,
        best=rates[place],
        directions=row.directions,
        level=(rates[begin].bytes, rates[end].bytes),
        largest=rates[-1],
        change=change,
        falls=end < len(rates) - 1 and change is not None and change.verdict == "slower",
        rises=rising(rated) if alone else None,
        copies=_copies([row, *reversed(rated)]) if one_host else None,
        link_bytes_per_s=(way.payload_bytes_per_s or None) if way is not None else None,
        launches=min(one.time.launches for one in (row, largest) if one.time is not None),
    )


def rate_at(row: Row, directions: int = 1) -> Rate:
    """Return the bandwidth of a cell over its directions: bytes over its time and its interval's ends."""
    rate, time = (row.rate_bytes_per_s or 0.0) / directions, row.time
    if time is None or not time.low or not time.high:
        return Rate(row.cell.bytes, rate, None, None)
    return Rate(row.cell.bytes, rate, rate * time.estimate / time.high, rate * time.estimate / time.low)


def _level(rates: Sequence[float], place: int) -> tuple[int, int]:
    """Return the places of the first and last neighbours that are within the margin of the best."""
    near = [rate * (1 + MARGIN) >= rates[place] for rate in rates]
    begin = next((i + 1 for i in range(place, -1, -1) if not near[i]), 0)
    end = next((i - 1 for i in range(place, len(near)) if not near[i]), len(near) - 1)
    return begin, end


def _longer(over: Row, under: Row) -> Ratio | None:
    """Return how many times as long a byte takes, launch by launch."""
    times = [
        {number: seconds / row.cell.bytes for number, seconds in row.time.by_launch.items()}
        for row in (over, under)
        if row.time is not None
    ]
    return ratio_of(*times, paired=True)


def rising(curve: Sequence[Row]) -> Ratio | None:
    """Return how many times as long a byte takes at the last size but one; None if not longer for certain."""
    sized = [row for row in curve if row.cell.bytes > 0]
    ratio = _longer(*sized[-2:]) if len(sized) > 1 else None
    return ratio if verdict_of(ratio) == "slower" else None


def _copies(rows: Sequence[Row]) -> CopyCost | None:
    """Return the cost of the first row that has a yardstick; copies between cores come first."""
    return next(
        (
            CopyCost(name, row.cell.bytes, row.ratios[name])
            for row in rows
            for name in YARDSTICKS
            if name in row.ratios
        ),
        None,
    )


# ---- Sentence ------------------------------------------------------------------------------------


def headline(fact: Plateau, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return the best bandwidth in one line, that of the largest size, and what it could be."""
    both = " both ways" if fact.directions > 1 else ""
    about = f"{subject(fact.of, varied)}: best bandwidth"
    if not is_known(fact.best.low, fact.best.high):
        return f"{about} not known"
    said = f"{_rate(fact.best, chosen)}{both} at {units.format_size(fact.best.bytes)}"
    more = list(_briefly(fact, chosen))
    return in_one_line(f"{about} {'; '.join([said, *more[:many]])}" for many in range(len(more), -1, -1))


def _briefly(fact: Plateau, chosen: Units) -> Iterator[str]:
    """Yield what follows the best, the most important first."""
    size = units.format_size(fact.largest.bytes)
    if fact.rises is not None:
        yield "still rising"
    elif fact.falls:
        yield f"{rate(fact.largest.estimate, chosen=chosen)} at {size}"
    if fact.link_bytes_per_s is not None:
        each = " each way" if fact.directions > 1 else ""
        yield f"TCP can bring {rate(fact.link_bytes_per_s, chosen=chosen)}{each} through the link"


def sentence(fact: Plateau, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return where the plateau is, how far it holds, and what it could be."""
    return f"{subject(fact.of, varied)}: {'; '.join(_parts(fact, chosen))}"


def _parts(fact: Plateau, chosen: Units) -> Iterator[str]:
    both = " in both directions together" if fact.directions > 1 else ""
    yield f"best bandwidth {_rate(fact.best, chosen)}{both} at {units.format_size(fact.best.bytes)}"
    if not is_known(fact.best.low, fact.best.high):
        return
    yield _holds(fact, chosen)
    if fact.link_bytes_per_s is not None:
        share = fact.best.estimate / fact.directions / fact.link_bytes_per_s
        each = " in each direction" if fact.directions > 1 else ""
        most = f"{rate(fact.link_bytes_per_s, chosen=chosen)}{each}"
        yield f"{units.format_percent(share)} of the {most} that TCP can bring through the emulated link"
    if fact.copies is not None:
        stick, size = " ".join(YARDSTICKS[fact.copies.name]), units.format_size(fact.copies.bytes)
        ratio = times_words(fact.copies.ratio)
        yield f"at {size} a message takes {ratio} as long as a copy of its size ({stick})"


def _holds(fact: Plateau, chosen: Units) -> str:
    if fact.rises is not None:
        ratio = times_words(fact.rises)
        return f"still rising at the largest size: a byte takes {ratio} as long at the size before"
    begin, end = fact.level
    margin = units.format_percent(MARGIN)
    reach = f"within {margin} of it from {span((begin, end))}" if begin < end else f"no other within {margin}"
    if end == fact.largest.bytes:
        return f"{reach}, the largest size" if begin < end else f"{reach}, and none larger was measured"
    size = units.format_size(fact.largest.bytes)
    if fact.falls and fact.change is not None:
        largest = rate(fact.largest.estimate, (fact.largest.low, fact.largest.high), chosen)
        return (
            f"{reach}, then it falls to {largest} at {size}, where a byte takes "
            f"{times_words(fact.change)} as long"
        )
    return f"{reach}; {_rate(fact.largest, chosen)} at {size}, which is not certainly lower"


def _rate(one: Rate, chosen: Units) -> str:
    return known_rate(one.estimate, (one.low, one.high), chosen)
