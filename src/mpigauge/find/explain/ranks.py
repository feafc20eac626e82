"""What the number of ranks does to a lap through all of them, and to each collective."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.two import MINUS
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.find.explain.evidence import is_informative
from mpigauge.find.phrases import in_times
from mpigauge.plan.factors import SIZE
from mpigauge.plan.patterns import EACH_RANK, blocks_of
from mpigauge.rows.group import STATE, each_state, group
from mpigauge.rows.same_distance import like_ratio
from mpigauge.units import counted
from mpigauge.vocabulary import OF_ALL_RANKS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.patterns import Mode, Pattern
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import GrowthLaw

    Counted = Mapping[int, Row]
    """Rows of one size, by the number of ranks."""
    Laws = Mapping[GrowthLaw, Callable[[int], float]]

FEWEST = 2
"""One rank alone sends nothing."""

SMALL_MOST_BYTES = 64
"""Of a collective that is rounds of messages, and not bytes."""

ROUNDS: Laws = {"logarithmic": lambda ranks: math.ceil(math.log2(ranks)), "linear": lambda ranks: ranks - 1.0}
"""Messages that follow each other: of trees, dissemination and recursive doubling; of one rank that tells all
others. Source: Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH,
IJHPCA 19 (2005)."""


@dataclass(frozen=True, slots=True)
class Count:
    """The time with one number of ranks.

    Attributes:
        cores: That they share, if there are more ranks than that; else None.
        skew_share: Median start skew over the time; None if they need not start together.
        message_s: Of a lap: the time of each of its messages; else None.
        ratio: How many times as long it takes as with the fewest ranks; None for these.
    """

    ranks: int
    time_s: float
    cores: int | None
    skew_share: float | None
    message_s: float | None
    ratio: Ratio | None = None


@dataclass(frozen=True, slots=True)
class AtSize:
    """Numbers of ranks at one size.

    Attributes:
        fewest: What the others are held against.
        fitting: The most ranks with a core each; None if those are the fewest, or say nothing.
        crowded: The fewest and the most ranks that share cores; none, one or two.
        law: The law of growth that the interval of `fitting` agrees with, alone of those in question.
        expected: The ratio by that law; of a lap always, since its messages follow each other.
    """

    bytes: int
    fewest: Count
    fitting: Count | None
    crowded: tuple[Count, ...]
    law: GrowthLaw | None = None
    expected: float | None = None

    @property
    def most(self) -> Count | None:
        """The most ranks of all; None if those are the fewest."""
        return self.crowded[-1] if self.crowded else self.fitting

    @property
    def more(self) -> tuple[Count, ...]:
        """All counts that are compared with the fewest."""
        return (*((self.fitting,) if self.fitting else ()), *self.crowded)


@dataclass(frozen=True, slots=True)
class Growth:
    """One operation among several numbers of ranks.

    Attributes:
        of: The smallest, with the fewest ranks.
        lap: Whether its time is that of messages through all ranks, one after the other.
        sized: Whether its size means anything.
        at: The smallest size, and the largest if there are several.
    """

    of: Subject
    lap: bool
    sized: bool
    at: tuple[AtSize, ...]

    @property
    def weight(self) -> float:
        """Ranks with a core each tell more than the scheduler; then, how much longer it takes."""
        most = max(one.ratio.estimate for size in self.at for one in size.more if one.ratio)
        return any(size.fitting for size in self.at) + min(0.9, abs(math.log10(most)) / 3)


def growths(evidence: Evidence) -> Iterator[Growth]:
    """Yield each operation of all ranks that was measured with several numbers of them."""

    def is_of_all(row: Row) -> bool:
        mode, pattern = evidence.mode_of(row), evidence.patterns[row.cell.pattern]
        timed_alone = mode is not None and not (mode.overlaps or mode.in_a_row)
        return pattern.active_ranks == 0 and timed_alone and row.cell.ranks >= FEWEST

    rows = (row for curve in evidence.curves() if is_of_all(curve[0]) for row in curve)
    for alike in group(rows, SIZE | {"ranks", STATE}):
        for mine in each_state(alike):
            yield from _growth(evidence, mine)


def is_lap(pattern: Pattern, mode: Mode | None) -> bool:
    """Return whether messages go through all ranks in one direction, each after the one before.

    As many as ranks, none beside another; what goes in blocks has the next on its way before one is there.
    """
    through = pattern.volumes.wire == EACH_RANK and pattern.active_ranks == 0
    alone = mode is not None and mode.directions == 1 and not pattern.sampled.in_blocks
    return pattern.family == "message" and through and alone


def _growth(evidence: Evidence, rows: Sequence[Row]) -> Iterator[Growth]:
    fewest = min(row.cell.ranks for row in rows)
    sizes: dict[int, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        sizes[row.cell.bytes][row.cell.ranks] = row
    counted = (sizes[size] for size in sorted(sizes) if fewest in sizes[size])
    found = [one for one in (_at_size(evidence, fewest, of) for of in counted) if one.more]
    if found:
        first = sizes[found[0].bytes][fewest]
        ends = (found[0], found[-1]) if len(found) > 1 else (found[0],)
        yield Growth(first.of, _is_lap(evidence, first), first.sized, ends)


def _at_size(evidence: Evidence, fewest: int, counted: Counted) -> AtSize:
    base = counted[fewest]
    others = [_count(evidence, counted[ranks], base) for ranks in sorted(counted) if ranks > fewest]
    told = [one for one in others if is_informative(one.ratio)]
    fitting = max((one for one in told if one.cores is None), key=lambda one: one.ranks, default=None)
    crowded = [one for one in told if one.cores is not None]
    ends = tuple(dict.fromkeys((crowded[0], crowded[-1]))) if crowded else ()
    law, expected = _law(evidence, base, fitting) if fitting else (None, None)
    return AtSize(base.cell.bytes, _count(evidence, base), fitting, ends, law, expected)


def _count(evidence: Evidence, row: Row, base: Row | None = None) -> Count:
    """Return the numbers of a row that has a time."""
    assert row.time is not None  # noqa: S101 - of evidence.curves()
    time_s, ranks = row.time.estimate, row.cell.ranks
    ratio = _ratio(evidence, row, base) if base is not None else None
    skew_share = row.start.skew_p50_s / time_s if row.start and time_s > 0 else None
    messages = blocks_of(evidence.patterns[row.cell.pattern].volumes.wire, ranks)
    message_s = time_s / messages if _is_lap(evidence, row) else None
    return Count(ranks, time_s, cores_shared(row), skew_share, message_s, ratio)


def _ratio(evidence: Evidence, row: Row, base: Row) -> Ratio | None:
    """Return how many times as long a row takes, as `compare` has it where that compares the two."""
    known = evidence.within.ratio(row, base)
    if known is not None or row.time is None or base.time is None:
        return known
    return like_ratio(row.time, base.time)


def cores_shared(row: Row) -> int | None:
    """Return the cores that more ranks than that share; None if each has its own."""
    for warning in row.warnings:
        cores = warning.values.get("cores")
        if warning.kind == "oversubscribed" and isinstance(cores, int):
            return cores
    return None


def _is_lap(evidence: Evidence, row: Row) -> bool:
    return is_lap(evidence.patterns[row.cell.pattern], evidence.mode_of(row))


def _law(evidence: Evidence, base: Row, most: Count) -> tuple[GrowthLaw | None, float | None]:
    """Return the law of growth, if the interval tells, and the ratio that it would be."""
    ratio, pattern = most.ratio, evidence.patterns[base.cell.pattern]
    if ratio is None or ratio.low is None or ratio.high is None or cores_shared(base) is not None:
        return None, None
    if _is_lap(evidence, base):
        wire = pattern.volumes.wire
        expected = blocks_of(wire, most.ranks) / blocks_of(wire, base.cell.ranks)
        return "proportional" if 1 < ratio.low <= expected <= ratio.high else None, expected
    if pattern.family not in OF_ALL_RANKS or base.cell.bytes > SMALL_MOST_BYTES:
        return None, None
    would = {law: rounds(most.ranks) / rounds(base.cell.ranks) for law, rounds in ROUNDS.items()}
    agree = [law for law, expected in would.items() if ratio.low <= expected <= ratio.high]
    return (agree[0], would[agree[0]]) if len(agree) == 1 else (None, None)


# ---- Sentence ------------------------------------------------------------------------------------

LAWS: Mapping[GrowthLaw, str] = {"logarithmic": "log2 p", "linear": f"p {MINUS} 1", "proportional": "p"}
"""Of p ranks."""

MAX_SKEW = 0.2
"""Of a time; with more than that, it is said."""


def headline(fact: Growth, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line how many times as long the most ranks take, at the smallest size."""
    about = f"{'lap of ' if fact.lap else ''}{subject(fact.of, varied, {'ranks'})}"
    one = fact.at[0]
    where = f" at {units.format_size(one.bytes)}" if fact.sized else ""
    fewest = f"{counted(one.fewest.ranks, 'rank')}{where}"
    most = one.most
    if most is None or most.ratio is None:
        return f"{about}: {fewest} take {units.format_time(one.fewest.time_s, chosen.time)}"
    why = "; they share cores: no growth of the operation" if most.cores is not None else _law_words(one)
    take, as_long = f"{about}: {counted(most.ranks, 'rank')} take", f"as long as {fewest}"
    return in_times(take, most.ratio, f"{as_long}{why}", as_long)


def sentence(fact: Growth, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how the time grows with the ranks, with cores and without."""
    what = "lap of " if fact.lap else ""
    about = f"{what}{subject(fact.of, varied, {'ranks'})}"
    return f"{about}: {'; '.join([*(_at(one, fact, chosen) for one in fact.at), *_scheduler(fact)])}"


def _at(one: AtSize, fact: Growth, chosen: Units) -> str:
    where = f"at {units.format_size(one.bytes)} " if fact.sized else ""
    base = f"{where}{_ranks(one.fewest)} take {_time(one.fewest, chosen)}"
    fitting = (
        [f"{_ranks(one.fitting)} {_longer(one.fitting, chosen)}{_law_words(one)}"] if one.fitting else []
    )
    return ", ".join([base, *fitting, *(f"{_ranks(many)} {_longer(many, chosen)}" for many in one.crowded)])


def _ranks(one: Count) -> str:
    shared = "" if one.cores is None else f" on {one.cores} core{'' if one.cores == 1 else 's'}"
    return f"{one.ranks} rank{'' if one.ranks == 1 else 's'}{shared}"


def _longer(one: Count, chosen: Units) -> str:
    return f"{times_words(one.ratio)} as long, {_time(one, chosen)}" if one.ratio else _time(one, chosen)


def _time(one: Count, chosen: Units) -> str:
    """Return the time with what it consists of."""
    message_s = one.message_s
    parts = [] if message_s is None else [f"{units.format_time(message_s, chosen.time)} a message"]
    if one.skew_share is not None and one.skew_share > MAX_SKEW:
        parts.append(f"start skew {units.format_time(one.skew_share * one.time_s, chosen.time)}")
    within = f" ({', '.join(parts)})" if parts else ""
    return f"{units.format_time(one.time_s, chosen.time)}{within}"


def _law_words(one: AtSize) -> str:
    """Return the law by which the interval says that it grows; nothing if it does not tell."""
    if one.expected is None or one.fitting is None or one.fitting.ratio is None:
        return ""
    would = f"{units.format_factor(one.expected)} times"
    if one.law is not None:
        return f", as {LAWS[one.law]} would ({would})"
    low, high = one.fitting.ratio.low, one.fitting.ratio.high
    if low is not None and low > one.expected:
        return f", more than p would ({would})"
    return f", less than p would ({would})" if high is not None and high < one.expected else ""


def _scheduler(fact: Growth) -> Iterator[str]:
    """Yield what times of more ranks than cores contain."""
    if cores := {many.cores for one in fact.at for many in (one.fewest, *one.crowded) if many.cores}:
        beyond = f"beyond {cores.pop()} ranks" if len(cores) == 1 else "with more ranks than cores"
        yield f"{beyond} they also wait for the scheduler, so this shows no growth of the operation itself"
