"""Ranks that share cores, told to give way while they wait and not told: in one result, or in several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words, verdict_words
from mpigauge.find.explain.evidence import is_informative
from mpigauge.find.explain.ranks import cores_shared
from mpigauge.find.phrases import in_times
from mpigauge.plan.factors import SIZE
from mpigauge.plan.model import variables_of
from mpigauge.rows.group import row_key
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.same_distance import like_ratio
from mpigauge.sequences import group_by
from mpigauge.units import counted
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.rows.group import Key, Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Verdict

    Variables = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class YieldingOperation:
    """One operation at one size, both ways.

    Attributes:
        ratio: How many times as long it takes where ranks are not told to give way.
    """

    bytes: int
    told_s: float
    untold_s: float
    ratio: Ratio
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Yielding:
    """The gain if waiting ranks give way.

    Attributes:
        of: The smallest, of ranks that are told to.
        cores: That they share.
        untold: The variables by which the others are not told, with their values; "" for none.
        sized: Whether its size means anything.
        at: The smallest size, and the largest if there are several.
        results: Places of the two results among those asked for, that with ranks that are told first.
    """

    of: Subject
    cores: int
    untold: tuple[tuple[str, str], ...]
    sized: bool
    at: tuple[YieldingOperation, ...]
    results: tuple[int, int]

    @property
    def weight(self) -> float:
        """How much it says: sizes that are decided, and how far apart they are."""
        decided = [abs(one.ratio.estimate - 1) for one in self.at if one.verdict in DIFFERENT]
        return len(decided) / len(self.at) + min(1.0, max(decided, default=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """A curve of ranks that share cores, and what its launches were told."""

    place: int
    evidence: Evidence
    curve: Sequence[Row]
    variables: Variables

    @property
    def cell(self) -> Cell:
        """The smallest."""
        return self.curve[0].cell

    @property
    def untold(self) -> tuple[tuple[str, str], ...]:
        """Variables that would tell them to give way, and say something else."""
        ways = self.evidence.gives_way[self.cell.mpi]
        found = {name: self.variables.get(name, "") for name in ways}
        return tuple((name, value) for name, value in found.items() if value != ways[name])

    @property
    def key(self) -> Key:
        """All in which both sides must be alike: whatever is not giving way, other variables, too."""
        machine = measured_machine(self.evidence.result)
        names = {name for ways in self.evidence.gives_way.values() for name in ways}
        others = [
            frozenset((name, value) for name, value in known.items() if name not in names)
            for known in (self.variables, variables_of(self.cell.setting))
        ]
        where = machine.host, machine.cpu, machine.cores
        return (row_key(self.curve[0], SIZE | {"setting"}), where, *others)


def yieldings(evidences: Sequence[Evidence]) -> Iterator[Yielding]:
    """Yield each operation of ranks that share cores, told to give way here and not told elsewhere."""
    every = (side for place, evidence in enumerate(evidences) for side in _sides(place, evidence))
    for sides in group_by(every, lambda side: side.key).values():
        told = [side for side in sides if not side.untold]
        for other in sides:
            if other.untold and told:
                yield from _yielding(_nearest(told, other), other)


def _sides(place: int, evidence: Evidence) -> Iterator[_Side]:
    variables = _variables(evidence)
    for curve in evidence.curves():
        if curve[0].cell.mpi in evidence.gives_way and cores_shared(curve[0]) is not None:
            yield _Side(place, evidence, curve, variables.get(curve[0].cell.job, {}))


def _variables(evidence: Evidence) -> Mapping[JobKey, Variables]:
    """Return the variables of every job: those of the user, overridden by those of its launches."""
    own = evidence.result.campaign.environment.variables
    return {launch.job: {**own, **launch.variables} for launch in evidence.result.launches}


def _nearest(told: Iterable[_Side], other: _Side) -> _Side:
    """Return the side of the same result, if there is one."""
    return min(told, key=lambda side: side.place != other.place)


def _yielding(told: _Side, untold: _Side) -> Iterator[Yielding]:
    both = {row.cell.bytes: row for row in untold.curve}
    paired = told.place == untold.place
    pairs = [(row, both[row.cell.bytes]) for row in told.curve if row.cell.bytes in both]
    found = [one for one in (_waiting(*pair, paired=paired) for pair in pairs) if one is not None]
    cores = cores_shared(told.curve[0])
    if found and cores is not None:
        ends = tuple(dict.fromkeys((found[0], found[-1])))
        first = told.curve[0]
        places = told.place, untold.place
        yield Yielding(first.of, cores, untold.untold, first.sized, ends, places)


def _waiting(told: Row, untold: Row, *, paired: bool) -> YieldingOperation | None:
    if told.time is None or untold.time is None:
        return None
    ratio = like_ratio(untold.time, told.time, paired=paired)
    if not is_informative(ratio):
        return None
    return YieldingOperation(told.cell.bytes, told.time.estimate, untold.time.estimate, ratio, ratio.verdict)


# ---- Sentence ------------------------------------------------------------------------------------

SAID_ITSELF = frozenset({"ranks"}) | {"setting"}


def headline(fact: Yielding, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line how many times as long an operation takes where a waiting rank keeps its core."""
    ranks = f"{counted(fact.of.cell.ranks, 'rank')} on {counted(fact.cores, 'core')}"
    about = f"{subject(fact.of, varied, SAID_ITSELF)}, {ranks}"
    untold = ", ".join(f"{name}={value}" if value else f"{name} unset" for name, value in fact.untold)
    one = max(fact.at, key=lambda at: abs(math.log(at.ratio.estimate)))
    where = f" at {units.format_size(one.bytes)}" if fact.sized else ""
    if one.verdict not in DIFFERENT:
        return f"{about}: {verdict_words(one.verdict)}{where} with {untold}"
    as_long = f"as long{where} with {untold}"
    why = [f"{as_long}, since waiting ranks keep their cores"] if one.verdict == "slower" else []
    return in_times(f"{about}:", one.ratio, *why, as_long)


def sentence(fact: Yielding, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how many times as long an operation takes where a waiting rank keeps its core."""
    about = subject(fact.of, varied, SAID_ITSELF)
    ranks = f"{counted(fact.of.cell.ranks, 'rank')} on {counted(fact.cores, 'core')}"
    untold = ", ".join(f"{name}={value}" if value else f"{name} unset" for name, value in fact.untold)
    what = f"not told to give way while they wait ({untold}) against told to"
    return (
        f"{about}, {ranks}: {what}: {'; '.join([*(_at(one, fact, chosen) for one in fact.at), *_why(fact)])}"
    )


def _at(one: YieldingOperation, fact: Yielding, chosen: Units) -> str:
    where = f" at {units.format_size(one.bytes)}" if fact.sized else ""
    untold, told = (units.format_time(each, chosen.time) for each in (one.untold_s, one.told_s))
    both = f"{untold} for {told}"
    return f"{verdict_words(one.verdict)}{where}: {times_words(one.ratio)}, {both}"


def _why(fact: Yielding) -> Iterator[str]:
    if all(one.verdict == "slower" for one in fact.at):
        yield "a rank that polls keeps the core which the rank needs that it waits for"
