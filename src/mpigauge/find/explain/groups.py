"""Cost of groups of ranks for each other that do the same at once."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.document.size_words import at_size
from mpigauge.find.explain.evidence import beside_others, is_informative, single_calls
from mpigauge.find.phrases import headed, in_one_line, known_times, time
from mpigauge.plan.groups import active_ranks
from mpigauge.rows.group import group
from mpigauge.rows.ratios import ratio_of, verdict_of
from mpigauge.rows.same_distance import like_times
from mpigauge.stats.interval import is_known
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.rows.group import Subject
    from mpigauge.rows.ratios import TimePair
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio

GROUPS = frozenset({"groups", "group"})
"""What rows of one fact differ in, beside their size."""


@dataclass(frozen=True, slots=True)
class OneGroup:
    """One group beside the others.

    Attributes:
        group: Its ranks.
        number: Its place among the groups of its rule, from 1.
        time_s: Its time beside the others.
        ratio: How many times as long it takes as alone.
    """

    group: str
    number: int
    time_s: float
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class GroupsAtOnce:
    """All groups at one size.

    Attributes:
        alone_s: What a group takes alone, the geometric mean of all groups.
        ratio: How many times as long a group takes beside the others: of each launch the geometric mean of
            all groups.
        groups: Each of them.
        most_delayed: The group that is delayed most, beside its own time alone; None if that is not certain.
    """

    bytes: int
    alone_s: float
    ratio: Ratio
    groups: tuple[OneGroup, ...]
    most_delayed: OneGroup | None


@dataclass(frozen=True, slots=True)
class Together:
    """An operation in several groups at once.

    Attributes:
        of: The smallest cell of the first group, beside the others.
        count: How many groups.
        ranks: How many ranks a group has: the fewest and the most.
        at: Each size.
    """

    of: Subject
    count: int
    ranks: tuple[int, int]
    at: tuple[GroupsAtOnce, ...]

    @property
    def weight(self) -> float:
        """The more, the more groups delay each other."""
        return 1 + min(1.0, max(abs(math.log2(one.ratio.estimate)) for one in self.at))


def togethers(evidence: Evidence) -> Iterator[Together]:
    """Yield each operation that groups made at once and alone."""
    rows = [row for curve in single_calls(evidence) for row in curve if row.cell.group]
    for alike in group(rows, GROUPS | {"bytes"}):
        alone = {(row.cell.group, row.cell.bytes): row for row in alike if not row.cell.groups}
        for rule in dict.fromkeys(row.cell.groups for row in alike if row.cell.groups):
            beside = [row for row in alike if row.cell.groups == rule]
            sizes = sorted({row.cell.bytes for row in beside})
            found = [_at_once([row for row in beside if row.cell.bytes == size], alone) for size in sizes]
            if told := [one for one in found if one is not None]:
                yield _together(beside, told)


def _together(beside: Sequence[Row], told: Sequence[GroupsAtOnce]) -> Together:
    first = next(row for row in beside if row.cell.bytes == told[0].bytes)
    ranks = [active_ranks(row.cell, None) for row in beside]
    return Together(first.of, len(told[0].groups), (min(ranks), max(ranks)), tuple(told))


def _at_once(beside: Sequence[Row], alone: Mapping[tuple[str, int], Row]) -> GroupsAtOnce | None:
    """Return what groups cost each other at one size; None if one of them lacks a time, alone or at once."""
    pairs = [(row, alone.get((row.cell.group, row.cell.bytes))) for row in beside]
    times = [
        like_times(row.time, base.time)
        for row, base in pairs
        if row.time is not None and base is not None and base.time is not None
    ]
    ratios = [one.ratio() for one in times]
    if len(times) < max(2, len(pairs)):  # a group alone delays nobody
        return None
    ratio = _mean_ratio(times)
    if not is_informative(ratio) or None in ratios:
        return None
    groups = tuple(
        OneGroup(row.cell.group, number, row.time.estimate, one)
        for number, (row, one) in enumerate(zip(beside, ratios, strict=True), start=1)
        if row.time is not None and one is not None
    )
    bases = [base.time.estimate for _, base in pairs if base is not None and base.time is not None]
    alone_s = math.exp(sum(map(math.log, bases)) / len(bases))
    return GroupsAtOnce(beside[0].cell.bytes, alone_s, ratio, groups, _most_delayed(groups, times))


def _mean_ratio(times: Sequence[TimePair]) -> Ratio | None:
    """Return the ratio of the groups' geometric means, launch by launch."""
    if not all(one.paired for one in times):
        return None
    return ratio_of(_means([one.over for one in times]), _means([one.under for one in times]), paired=True)


def _means(sides: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Return the geometric mean of each launch that all of them have."""
    logs: dict[int, list[float]] = defaultdict(list)
    for side in sides:
        for launch, time_s in side.items():
            if time_s > 0:
                logs[launch].append(math.log(time_s))
    return {
        launch: math.exp(sum(all_) / len(all_)) for launch, all_ in logs.items() if len(all_) == len(sides)
    }


def _most_delayed(groups: Sequence[OneGroup], times: Sequence[TimePair]) -> OneGroup | None:
    """Return the group that is delayed most, if it is certain that it is delayed more than the others."""
    found = [
        (ratio.estimate, one)
        for one, ratio in zip(groups, beside_others([_delays(pair) for pair in times]), strict=True)
        if verdict_of(ratio) == "slower" and ratio is not None
    ]
    return max(found, key=lambda delayed: delayed[0])[1] if found else None


def _delays(pair: TimePair) -> dict[int, float]:
    """Return how many times as long a group takes beside the others, in each launch."""
    return {launch: pair.over[launch] / pair.under[launch] for launch in pair.over}


# ---- Sentence ------------------------------------------------------------------------------------


def headline(fact: Together, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line how many times as long one takes beside the others, where that is most."""
    most = max(fact.at, key=_telling)
    about, what = _about(fact, varied), _what(fact)
    said = [f"{what} take {known_times(most.ratio, interval=each)} one alone" for each in (True, False)]
    where = at_size(fact.of.cell, most.bytes)
    if not is_known(most.ratio.low, most.ratio.high):
        return headed(about, f"{what} beside one alone{where}: not known")
    more = [*_delayed(most.most_delayed)] if most.most_delayed else [""]
    return in_one_line(headed(about, f"{text}{where}{rest}") for text in said for rest in more)


def _telling(one: GroupsAtOnce) -> tuple[bool, float]:
    return is_known(one.ratio.low, one.ratio.high), abs(math.log(one.ratio.estimate))


def sentence(fact: Together, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what groups cost each other at every size."""
    return headed(
        _about(fact, varied), f"{_what(fact)}: {'; '.join(_at(one, fact, chosen) for one in fact.at)}"
    )


def _about(fact: Together, varied: Collection[str]) -> str:
    return subject(fact.of, varied, {"pattern", "groups", "group"})


def _what(fact: Together) -> str:
    """Return `8 allreduces of 16 ranks at once`."""
    fewest, most = fact.ranks
    ranks = counted(most, "rank") if fewest == most else f"{fewest} to {most} ranks"
    return f"{counted(fact.count, fact.of.cell.pattern)} of {ranks} at once"


def _at(one: GroupsAtOnce, fact: Together, chosen: Units) -> str:
    alone = time(one.alone_s, chosen=chosen)
    more = next(_delayed(one.most_delayed)) if one.most_delayed is not None else ""
    return f"{times_words(one.ratio)} one alone ({alone}){at_size(fact.of.cell, one.bytes)}{more}"


def _delayed(one: OneGroup) -> Iterator[str]:
    """Yield what is said of the group that is delayed most, the longest first."""
    times = f"{units.format_factor(one.ratio.estimate)} times"
    yield f"; group {one.number} (ranks {one.group}) is delayed most, {times} its time alone"
    yield f"; group {one.number} is delayed most: {times}"
    yield f"; group {one.number} is delayed most"
