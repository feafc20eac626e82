"""How far single operations lie apart, beside how well their time is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge import units
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.document.size_words import at_size
from mpigauge.find.explain.contrasts import BUILD, name_of
from mpigauge.find.explain.evidence import (
    against_first,
    measured,
    single_calls,
)
from mpigauge.find.phrases import share
from mpigauge.plan.factors import PLACE
from mpigauge.rows.ratios import ratio_of
from mpigauge.rows.samples import by_launch, by_launch_number
from mpigauge.stats.bootstrap import MIN_LAUNCHES
from mpigauge.stats.decision import bounds
from mpigauge.stats.percentiles import percentile
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.interval import Number
    from mpigauge.stats.percentiles import Values

MIN_SAMPLES = 20
"""Of a size in each of its launches: of fewer the quartiles say little."""

SLOWEST_SHARE = 0.01
"""Of all samples of a size: those that the standard deviation is looked at without, too."""

MIN_STEPS = 3
"""Steps of the clock that quartiles must lie apart: closer ones are the clock's, not the operation's."""

COMPARED = (PLACE, BUILD, frozenset({"mode"}))
"""In what the spread of two curves is compared: factors of a cell that go together."""


class Quartiles(NamedTuple):
    """The quartile distance and the median of the samples of a launch, in seconds."""

    distance_s: float
    middle_s: float

    @property
    def share(self) -> float:
        """The distance over the median; 0 of a clock that stood still."""
        return self.distance_s / self.middle_s if self.middle_s > 0 else 0.0


Spreads = dict[int, dict[int, Quartiles]]
"""By size in bytes and number of launch."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """The standard deviation over the mean at the size where it is largest.

    Attributes:
        rest: The same without the slowest hundredth of the samples.
        slowest: How many samples that are; at least one.
        samples: Of how many.
    """

    bytes: int
    over_mean: float
    rest: float
    slowest: int
    samples: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The distance of a curve's samples from each other within a launch.

    Attributes:
        of: The smallest that counts.
        messages: Whether a sample is a message one way.
        quartiles: Quartile distance over median in a launch, median over sizes.
        sizes: How many sizes it is of: those without batches, or all if every size has them.
        batch: Calls in a sample, the most of these sizes; 1 if samples are single calls.
        batched: Other sizes, whose samples are means of several calls while those here are single.
        half_width: Of the 95 % interval of the time, relative, median of these sizes; None if not known.
        deviation: Of all samples of all launches.
    """

    of: Subject
    messages: bool
    quartiles: Number
    sizes: int
    batch: int
    batched: tuple[int, ...]
    half_width: float | None
    deviation: Deviation

    @property
    def weight(self) -> float:
        """More, the wider it is; single calls before means of several."""
        return min(1.0, self.quartiles.estimate) + (self.batch == 1)


@dataclass(frozen=True, slots=True)
class SpreadBeside:
    """Two curves that differ in one thing, one of which varies more for certain.

    Attributes:
        factors: In what they differ: factors of a cell that go together.
        messages: Whether a sample is a message one way.
        ratio: How many times as far apart the quartiles of the other are, in seconds.
        sizes: Of how many common sizes without batches the median was taken.
        base_s: The distance of the quartiles in a launch, median over these sizes and over launches.
        other_s: The same of the other.
        base_share: The same over the median.
        other_share: That of the other.
    """

    factors: frozenset[str]
    base: Subject
    other: Cell
    messages: bool
    ratio: Ratio
    sizes: int
    base_s: float
    other_s: float
    base_share: float
    other_share: float

    @property
    def weight(self) -> float:
        """The distance between both, as a logarithm."""
        return min(2.0, abs(math.log(self.ratio.estimate)))


def spreads(evidence: Evidence) -> Iterator[Spread | SpreadBeside]:
    """Yield the spread of every curve, then of pairs of curves that differ in one thing."""
    for curve in single_calls(evidence):
        if (found := _spread(evidence, curve)) is not None:
            yield found
    for factors in COMPARED:
        for base, other in against_first(evidence, factors):
            two = _beside(evidence, factors, base, other)
            if two is not None and _matters(two.ratio):
                yield two


# ---- One curve -----------------------------------------------------------------------------------


def _spread(evidence: Evidence, curve: Sequence[Row]) -> Spread | None:
    spreads = _spreads(curve)
    known = [row for row in curve if row.cell.bytes in spreads]
    counted = [row for row in known if row.batch == 1] or known
    middle = _middles(spreads, [row.cell.bytes for row in counted], lambda one: one.share)
    if len(middle) < MIN_LAUNCHES:
        return None
    others = [row.cell.bytes for row in curve if row.batch > 1 and row not in counted]
    widths = [row.time.half_width for row in counted if row.time and row.time.half_width is not None]
    return Spread(
        of=counted[0].of,
        messages=_messages(evidence, counted[0]),
        quartiles=measured(middle),
        sizes=len(counted),
        batch=max(row.batch for row in counted),
        batched=tuple(others) if counted[0].batch == 1 else (),
        half_width=median(widths) if widths else None,
        deviation=max(map(_deviation, counted), key=lambda one: one.over_mean),
    )


def _messages(evidence: Evidence, row: Row) -> bool:
    pattern = evidence.patterns.get(row.cell.pattern)
    return pattern is not None and pattern.one_way


def _spreads(curve: Iterable[Row]) -> Spreads:
    """Return quartiles of sizes with enough samples in every launch, two launches, and a fine clock."""
    found: Spreads = {}
    for row in curve:
        launches = {number: np.concatenate(mine) for number, mine in by_launch_number(row.visits).items()}
        enough = all(samples.size >= MIN_SAMPLES for samples in launches.values())
        quartiles = {number: _quartiles(mine) for number, mine in launches.items()}
        if len(launches) >= MIN_LAUNCHES and enough and _told_by_clock(row, quartiles):
            found[row.cell.bytes] = quartiles
    return found


def _told_by_clock(row: Row, quartiles: Mapping[int, Quartiles]) -> bool:
    """Return whether quartiles lie several steps of the clock apart, in the median launch."""
    step_s = row.time.step * row.time.estimate if row.time is not None else 0.0
    return median(one.distance_s for one in quartiles.values()) >= MIN_STEPS * step_s


def _quartiles(samples: Values) -> Quartiles:
    ordered = np.sort(samples)
    low_s, middle_s, high_s = (percentile(ordered, percent) for percent in (25, 50, 75))
    return Quartiles(high_s - low_s, middle_s)


def _middles(spreads: Spreads, sizes: Sequence[int], of: Callable[[Quartiles], float]) -> Mapping[int, float]:
    """Return the median over these sizes, for every launch that has all of them."""
    common = set.intersection(*(set(spreads[size]) for size in sizes)) if sizes else set()
    return {number: median(of(spreads[size][number]) for size in sizes) for number in sorted(common)}


def _deviation(row: Row) -> Deviation:
    ordered = np.sort(np.concatenate([visit for mine in by_launch(row.visits) for visit in mine]))
    slowest = math.ceil(SLOWEST_SHARE * ordered.size)
    shares = _over_mean(ordered), _over_mean(ordered[:-slowest])
    return Deviation(row.cell.bytes, *shares, slowest, ordered.size)


def _over_mean(samples: Values) -> float:
    mean = float(samples.mean())
    return float(samples.std(ddof=1)) / mean if mean > 0 else 0.0


# ---- Two curves ----------------------------------------------------------------------------------


def _matters(ratio: Ratio) -> bool:
    """Return whether the whole interval lies beyond the margin."""
    least, most = bounds()
    return (ratio.low or 0.0) > most or (ratio.high or math.inf) < least


def _beside(
    evidence: Evidence, factors: frozenset[str], base: Sequence[Row], other: Sequence[Row]
) -> SpreadBeside | None:
    """Return the ratio of distances in seconds: over its time that of a slow place would be the smaller."""
    both = [_spreads(row for row in curve if row.batch == 1) for curve in (base, other)]
    sizes = sorted(both[0].keys() & both[1].keys())
    under, over = (_middles(one, sizes, lambda two: two.distance_s) for one in both)
    ratio = ratio_of(over, under, paired=True)
    if ratio is None or ratio.low is None:
        return None
    shares = [median(_middles(one, sizes, lambda two: two.share).values()) for one in both]
    return SpreadBeside(
        factors=factors,
        base=base[0].of,
        other=other[0].cell,
        messages=_messages(evidence, base[0]),
        ratio=ratio,
        sizes=len(sizes),
        base_s=median(under.values()),
        other_s=median(over.values()),
        base_share=shares[0],
        other_share=shares[1],
    )


# ---- Sentences -----------------------------------------------------------------------------------

MANY_TIMES = 2.0
"""A standard deviation that is so many times that of the other samples is made by the slowest."""


def sentence(fact: Spread | SpreadBeside, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how much a single message differs from the next, and how well the time is known all the same."""
    if isinstance(fact, SpreadBeside):
        return _beside_sentence(fact, varied, chosen)
    return f"{subject(fact.of, varied)}: {'; '.join(_parts(fact))}"


def _parts(fact: Spread) -> Iterator[str]:
    over = f", median of {counted(fact.sizes, 'size')}" if fact.sizes > 1 else ""
    yield (
        f"{_samples(fact)} vary by {share(fact.quartiles)} within a launch (quartile distance over "
        f"median{over})"
    )
    if fact.half_width is not None:
        yield f"the time itself is known to {units.format_relative(fact.half_width)}"
    yield _deviation_words(fact.deviation, at_size(fact.of.cell, fact.deviation.bytes))
    if fact.batched:
        yield f"{counted(len(fact.batched), 'more size')} timed in batches, whose means vary less"


def _samples(fact: Spread) -> str:
    what = "messages" if fact.messages else "operations"
    if fact.batch == 1:
        return f"single {what}"
    return f"means of up to {fact.batch} {what}, which vary less than single ones,"


def _deviation_words(fact: Deviation, where: str) -> str:
    largest = f" is largest{where}," if where else " is"
    said = f"their standard deviation{largest} {_of_mean(fact.over_mean)}"
    if fact.over_mean > MANY_TIMES * fact.rest:
        few = f"slowest {fact.slowest}" if fact.slowest > 1 else "slowest one"
        said += f", but {units.format_percent(fact.rest)} without the {few} of {fact.samples} samples"
    return said


def _of_mean(over_mean: float) -> str:
    if over_mean < 1:
        return f"{units.format_percent(over_mean)} of the mean"
    return f"{units.format_factor(over_mean)} times the mean"


def _beside_sentence(fact: SpreadBeside, varied: Collection[str], chosen: Units) -> str:
    name, what = name_of(fact.factors), "messages" if fact.messages else "operations"
    by = "over" if fact.factors == PLACE else "with"
    pair = f"{by} {name(fact.other)} as {by} {name(fact.base.cell)}"
    other_s, base_s = (units.format_time(one, chosen.time) for one in (fact.other_s, fact.base_s))
    other = f"{other_s} ({units.format_percent(fact.other_share)} of the time)"
    base = f"{base_s} ({units.format_percent(fact.base_share)})"
    over = f" (median of {counted(fact.sizes, 'common size')})" if fact.sizes > 1 else ""
    return (
        f"{subject(fact.base, varied, fact.factors)}: quartiles of single {what} in a launch are "
        f"{times_words(fact.ratio)} as far apart {pair}: {other} for {base}{over}"
    )
