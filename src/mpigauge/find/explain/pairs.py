"""Several pairs of ranks at once: what they do together beside one pair alone, and which pair is slowest."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.document.size_words import at_size
from mpigauge.find.explain.evidence import (
    beside_others,
    is_informative,
    measured,
)
from mpigauge.find.phrases import CROWDED, EMULATED, headed, in_one_line, rate, share, time
from mpigauge.plan.groups import ranks_in
from mpigauge.plan.patterns import default_mode, halves
from mpigauge.rows.group import row_key
from mpigauge.rows.ratios import ratio_of
from mpigauge.stats.bootstrap import MIN_LAUNCHES
from mpigauge.stats.decision import bounds
from mpigauge.stats.interval import is_known
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.interval import Number


@dataclass(frozen=True, slots=True)
class SlowPair:
    """A pair that is slower than the others for certain.

    Attributes:
        ranks: Its ranks; of one root with all others, the other alone.
        ratio: How many times as long it takes as the others, their geometric mean.
    """

    ranks: tuple[int, ...]
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class AtOnce:
    """All pairs at one size.

    Attributes:
        beside: How many times the rate of one pair alone they have together; of round trips, how many times
            as long they take as one. None without a row of one pair.
        time_s: Of one operation.
        rate_bytes_per_s: Of all pairs together; None of round trips.
        least_share: The rate of the slowest pair over that of the fastest; None of one pair.
        slowest: Pairs that are slower than the others for certain, the slowest first.
    """

    bytes: int
    beside: Ratio | None
    time_s: float
    rate_bytes_per_s: float | None
    least_share: Number | None
    slowest: tuple[SlowPair, ...]

    @property
    def is_unfair(self) -> bool:
        """Whether the slowest pair has a lower rate than the fastest, by more than the margin for certain."""
        least = self.least_share
        return least is not None and least.high is not None and least.high < bounds()[0]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of ranks that are busy at once, or all ranks with one root.

    Attributes:
        of: The smallest of the curve.
        pairs: How many there are.
        rooted: Whether one rank is in all of them.
        windowed: Whether they send windows of messages, so that their rate is that of all together.
        alone: One pair, by pattern and mode, that they are held against; the ratio says if it was measured.
        sizes: Every size that was measured.
        hosts: On how many hosts the ranks are.
        crossing: How many pairs have ranks on two of them.
        unlike: Whether one pair alone was measured, but on one host where these cross hosts, or the other
            way round.
        emulated: Whether the network is that of a lab.
        crowded: Whether there are more ranks than cores.
        launches: How many launches it rests on: the fewest of its sizes.
    """

    of: Subject
    pairs: int
    rooted: bool
    windowed: bool
    alone: tuple[str, str]
    sizes: tuple[AtOnce, ...]
    hosts: int
    crossing: int
    unlike: bool
    emulated: bool
    crowded: bool
    launches: int

    @property
    def weight(self) -> float:
        """More for more pairs, for a slow one among them, and if none crosses the hosts that there are."""
        slow = any(one.slowest for one in self.sizes)
        return math.log2(1 + self.pairs) + slow + self.crosses_none

    @property
    def crosses_none(self) -> bool:
        """Whether there are hosts to be crossed, and no pair does."""
        return self.hosts > 1 and self.crossing == 0


def pairs(evidence: Evidence) -> Iterator[Pairs]:
    """Yield curves of pairs at once that are held against one pair, or of which one may be the slowest."""
    for curve in evidence.curves():
        pattern = evidence.patterns[curve[0].cell.pattern]
        if pattern.one_pair and curve[0].time is not None:
            fact = _pairs(evidence, pattern, curve)
            told = any(one.beside or one.is_unfair or one.slowest for one in fact.sizes)
            if told or fact.crosses_none or fact.unlike:
                yield fact


def _pairs(evidence: Evidence, pattern: Pattern, curve: Sequence[Row]) -> Pairs:
    cell = curve[0].cell
    members = members_of(cell, pattern)
    hosts = _hosts(evidence, cell.job)
    crosses = _crosses(members, hosts)
    alone = _alone(evidence, pattern, cell)
    found = [_one_pair(evidence, row, alone, members) for row in curve]
    alike = [base if base is not None and _is_alike(base, crosses, hosts) else None for base in found]
    known = [base.row if base is not None else None for base in alike]
    return Pairs(
        of=curve[0].of,
        pairs=len(members),
        rooted=pattern.rooted,
        windowed=pattern.windowed,
        alone=alone,
        sizes=tuple(_at_once(row, base, pattern, members) for row, base in zip(curve, known, strict=True)),
        hosts=len({*hosts}),
        crossing=sum(crosses),
        unlike=any(found) and not any(alike),
        emulated=evidence.emulated and "," in cell.placement,
        crowded=cell.job in evidence.crowded,
        launches=min(row.time.launches for row in curve if row.time is not None),
    )


def members_of(cell: Cell, pattern: Pattern) -> list[tuple[int, int]]:
    """Return the ranks of each pair of a cell, the first half of the ranks before the second."""
    ranks = ranks_in(cell, pattern)
    if pattern.rooted:
        root = ranks[int(cell.root) if cell.root.isdigit() else 0]
        return [(root, rank) for rank in ranks if rank != root]
    return [(ranks[first], ranks[other]) for first, other in halves(len(ranks))]


def _hosts(evidence: Evidence, job: JobKey) -> Sequence[str]:
    """Return the host of each rank; none if no launch says it."""
    launch = next((one for one in reversed(evidence.result.launches) if one.job == job), None)
    return [place.host for place in launch.ranks_at] if launch is not None else []


def _alone(evidence: Evidence, pattern: Pattern, cell: Cell) -> tuple[str, str]:
    """Return pattern and mode of one pair: the mode of the same name, or the default one."""
    one = evidence.patterns.get(pattern.one_pair)
    if one is None:
        return pattern.one_pair, ""
    same = one.mode(cell.mode)
    return one.name, same.name if same is not None else default_mode(one)


OF_ONE = frozenset(
    {"pattern", "mode", "sync", "root", "pair", "pairing", "order", "senders", "groups", "group"}
)
"""Factors in which one pair alone differs."""


class _Base(NamedTuple):
    """One pair alone, in one row."""

    row: Row
    members: Sequence[tuple[int, int]]


def _one_pair(
    evidence: Evidence, row: Row, alone: tuple[str, str], members: Sequence[tuple[int, int]]
) -> _Base | None:
    """Return one of the pairs alone, else ranks 0 and 1; None if none was measured."""
    key = row_key(row, OF_ONE)
    found = {
        str(one.cell.pair): one
        for one in evidence.rows
        if one.time is not None and (one.cell.pattern, one.cell.mode) == alone and row_key(one, OF_ONE) == key
    }
    names = {f"{min(pair)}-{max(pair)}": pair for pair in members} | {"": (0, 1)}
    return next((_Base(found[name], [pair]) for name, pair in names.items() if name in found), None)


def _is_alike(base: _Base, crosses: Sequence[bool], hosts: Sequence[str]) -> bool:
    """Return whether all pairs of a base and of what it is held against cross hosts, or none of them does."""
    return len({*crosses, *_crosses(base.members, hosts)}) <= 1


def _crosses(members: Iterable[tuple[int, int]], hosts: Sequence[str]) -> list[bool]:
    """Return of each pair whether its ranks are on two hosts; nothing if no launch says where they are."""
    return [len({hosts[rank] for rank in pair}) > 1 for pair in members] if hosts else []


def _at_once(row: Row, base: Row | None, pattern: Pattern, members: Sequence[tuple[int, int]]) -> AtOnce:
    assert row.time is not None  # noqa: S101 - curves have times
    ratio = None
    if base is not None and base.time is not None:
        over, under = (base.time, row.time) if pattern.windowed else (row.time, base.time)
        ratio = ratio_of(
            over.by_launch,
            under.by_launch,
            paired=True,
            clock_step=math.hypot(over.step, under.step),
            apart=over.in_parts | under.in_parts,
        )
    times = pair_times(row, members, rooted=pattern.rooted)
    return AtOnce(
        bytes=row.cell.bytes,
        beside=ratio if is_informative(ratio) else None,
        time_s=row.time.estimate,
        rate_bytes_per_s=row.rate_bytes_per_s if pattern.windowed else None,
        least_share=_least_share(times) if len(members) > 1 else None,
        slowest=tuple(_slowest(times, members, rooted=pattern.rooted)),
    )


# ---- Single pairs --------------------------------------------------------------------------------

TimesByLaunch = dict[int, list[float]]
"""The time of every pair, by launch."""


def pair_times(row: Row, members: Sequence[tuple[int, int]], *, rooted: bool) -> TimesByLaunch:
    """Return how long each pair takes for an operation, in each launch, in a unit that all pairs share.

    Of a pair that is the time of its later rank; of one root, which serves all others, that of the other.
    """
    visits: dict[int, list[list[float]]] = defaultdict(list)
    places = {rank: place for place, rank in enumerate(ranks_in(row.cell, None))}
    for visit in row.visits:
        if len(visit.rank_ns) >= len(places) and not visit.corrupt:
            of_rank = {rank: visit.rank_ns[place] for rank, place in places.items()}
            ranks_ns = [
                of_rank[other] if rooted else max(of_rank[first], of_rank[other]) for first, other in members
            ]
            if min(ranks_ns) > 0:
                visits[visit.launch].append([math.log(one_ns / visit.ops) for one_ns in ranks_ns])
    return {
        launch: [math.exp(fmean(of_pair)) for of_pair in zip(*mine, strict=True)]
        for launch, mine in sorted(visits.items())
    }


def _least_share(times: TimesByLaunch) -> Number | None:
    """Return the rate of the slowest pair over that of the fastest, at most 1; None where it is not known."""
    if len(times) < MIN_LAUNCHES:
        return None
    found = measured({launch: min(mine) / max(mine) for launch, mine in times.items()})
    if not is_known(found.low, found.high):
        return None
    return replace(found, high=min(1.0, found.high or 1.0))


def _slowest(times: TimesByLaunch, members: Sequence[tuple[int, int]], *, rooted: bool) -> Iterator[SlowPair]:
    """Yield the pairs that are slower than the others for certain, though so many were looked at."""
    if len(members) < MIN_FOR_OTHERS or len(times) < MIN_LAUNCHES:
        return
    sides = [{launch: mine[at] for launch, mine in times.items()} for at in range(len(members))]
    found = [
        SlowPair(pair[1:] if rooted else pair, ratio)
        for pair, ratio in zip(members, beside_others(sides), strict=True)
        if ratio is not None and ratio.verdict == "slower"
    ]
    yield from sorted(found, key=lambda one: -one.ratio.estimate)


MIN_FOR_OTHERS = 2


# ---- Sentence ------------------------------------------------------------------------------------


def headline(fact: Pairs, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what all do beside one, and which is slowest."""
    about, said = subject(fact.of, varied), _beside(fact, chosen)
    slow, hosts = _slow(fact), _crossing(fact)
    least = said[:1] or slow or hosts or _fairness(fact) or [_unlike(fact)]
    candidates = ([*said, *slow, *hosts], [*said[:1], *slow, *hosts], [*said[:1], *hosts], least)
    return in_one_line(headed(about, "; ".join(parts)) for parts in candidates if parts)


def sentence(fact: Pairs, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what all do beside one alone, how alike they are, and whether they cross hosts."""
    said = [*_beside(fact, chosen), *_fairness(fact), *_slow(fact), *_crossing(fact)]
    if fact.unlike:
        said.append(_unlike(fact))
    if fact.emulated:
        said.append(EMULATED)
    if fact.crowded:
        said.append(CROWDED)
    return headed(subject(fact.of, varied), "; ".join(said))


def _many(fact: Pairs, pairs: int) -> str:
    if fact.rooted:
        return f"{counted(pairs, 'rank')} and one root"
    return counted(pairs, "pair")


def _alone_words(fact: Pairs) -> str:
    """Return what they are held against, as words."""
    return "one pair" if fact.windowed else "one"


def _alone_name(fact: Pairs) -> str:
    return " ".join(fact.alone).removesuffix(" standard")


def _beside(fact: Pairs, chosen: Units) -> list[str]:
    """Return the ratio to one pair at the smallest size at which it is known, and at the largest."""
    told = [one for one in fact.sizes if one.beside is not None]
    known = [one for one in told if one.beside and is_known(one.beside.low, one.beside.high)] or told
    ends = known[:1] + known[1:][-1:]
    return [_one_beside(fact, one, chosen, first=place == 0) for place, one in enumerate(ends)]


def _one_beside(fact: Pairs, one: AtOnce, chosen: Units, *, first: bool) -> str:
    assert one.beside is not None  # noqa: S101 - it is of the known ones
    where, many, base = at_size(fact.of.cell, one.bytes), _many(fact, fact.pairs), _alone_words(fact)
    name = f" ({_alone_name(fact)})"
    if fact.windowed:
        verb = "carry" if fact.pairs > 1 or fact.rooted else "carries"
        does = f"{many} {verb} {times_words(one.beside)} what {base} does{name}"
        carried = rate(one.rate_bytes_per_s, chosen=chosen) if one.rate_bytes_per_s else ""
    else:
        verb = "take" if fact.pairs > 1 else "takes"
        does = f"{many} at once {verb} {times_words(one.beside)} as long as {base}{name}"
        carried = time(one.time_s, chosen=chosen)
    said = does if first else times_words(one.beside)
    return ", ".join(filter(None, (f"{said}{where}", carried)))


def _fairness(fact: Pairs) -> list[str]:
    known = [one for one in fact.sizes if one.is_unfair]
    if not known:
        return []
    worst = min(known, key=lambda one: one.least_share.estimate if one.least_share else 1.0)
    assert worst.least_share is not None  # noqa: S101 - it is of the known ones
    what = "rank" if fact.rooted else "pair"
    where = at_size(fact.of.cell, worst.bytes)
    return [f"the slowest {what} has {share(worst.least_share)} of the rate of the fastest{where}"]


def _slow(fact: Pairs) -> list[str]:
    """Return the pair that is slower than the others for certain, where that is most."""
    found = [(one.bytes, slow) for one in fact.sizes for slow in one.slowest[:1]]
    if not found:
        return []
    size, slow = max(found, key=lambda one: one[1].ratio.estimate)
    who = f"rank {slow.ranks[0]}" if fact.rooted else f"pair {'-'.join(map(str, slow.ranks))}"
    return [f"{who} takes {times_words(slow.ratio)} as long as the others{at_size(fact.of.cell, size)}"]


def _crossing(fact: Pairs) -> list[str]:
    """Return that no pair crosses hosts, if there are several."""
    if not fact.crosses_none:
        return []
    if fact.rooted:
        return [f"no message crosses the {fact.hosts} hosts"]
    return [f"no pair crosses the {fact.hosts} hosts"]


def remedy(fact: Pairs) -> str:
    """Return what to measure where no pair crosses hosts, or no like pair is there alone; else nothing."""
    if fact.crosses_none and fact.rooted:
        return "more --senders, or another --order, cross hosts"
    if fact.crosses_none:
        return "--placement with a block of ranks on each host crosses them"
    alike = fact.crossing in {0, fact.pairs}
    return 'in a plan, pairs = "tournament" measures all pairs alone' if fact.unlike and alike else ""


def _unlike(fact: Pairs) -> str:
    name = _alone_name(fact)
    if 0 < fact.crossing < fact.pairs:
        return f"no ratio to {name}: {fact.crossing} of {fact.pairs} pairs cross hosts, the others do not"
    if fact.crossing:
        return f"no ratio to {name}, whose two ranks share a host while these cross"
    return f"no ratio to {name}, whose two ranks are on two hosts while no pair is"
