"""How much of the time that the cores have ranks are on them while they communicate."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from dataclasses import replace as replace_field
from statistics import median
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge.document.cell_names import place_name
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import state_suffix
from mpigauge.document.ratio_words import VERDICTS
from mpigauge.find.explain.evidence import measured, single_calls
from mpigauge.find.phrases import in_one_line, known_share, known_times
from mpigauge.plan.factors import LIBRARY, PLACE
from mpigauge.plan.groups import active_ranks, set_at_once
from mpigauge.rows.group import Key, Subject, job_key
from mpigauge.rows.ratios import ratio_of, verdict_of
from mpigauge.rows.samples import cpu_share, visits_by_launch
from mpigauge.sequences import group_by
from mpigauge.stats.bootstrap import MIN_LAUNCHES
from mpigauge.stats.interval import is_known
from mpigauge.units import counted
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.interval import Number
    from mpigauge.vocabulary import Family


@dataclass(frozen=True, slots=True)
class CoreTime:
    """The core time that the ranks of one library use.

    Attributes:
        share: CPU time of the ranks over what the cores have for them, median over cells.
        cells: Of how many cells.
        ratio: How many times as much as the first of its fact; None of that itself, or if it is not known.
    """

    share: Number
    cells: int
    ratio: Ratio | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """The CPU time of ranks that communicate, of each library in turn.

    What a rank does while it waits is in it: it polls, or it sleeps.

    Attributes:
        family: Of the patterns: messages or collectives.
        cells: The first cell of each library.
        times: Of each library, in the same order.
        ranks: How many take part, the most of any cell.
        cores: That all of them, or those of one host, may use.
        relayed: Whether they are on different hosts of a lab, whose relay uses the same cores.
    """

    family: Family
    cells: tuple[Subject, ...]
    times: tuple[CoreTime, ...]
    ranks: int
    cores: int
    relayed: bool

    @property
    def weight(self) -> float:
        """More, where libraries differ or ranks share cores."""
        differ = any(verdict_of(one.ratio) in DIFFERENT for one in self.times)
        return 0.5 + differ + (self.ranks > self.cores)


def waitings(evidence: Evidence) -> Iterator[Waiting]:
    """Yield jobs that differ in their library alone, messages and collectives apart, if a share is known."""
    rows = _rows(evidence)
    groups: dict[Key, dict[Key, Mapping[int, float]]] = defaultdict(dict)
    for key, mine in rows.items():
        launches = _by_launch(evidence, mine)
        if len(launches) >= MIN_LAUNCHES:
            job = replace(mine[0].cell.job, **dict.fromkeys(LIBRARY, ""))
            groups[job, *key[1:]][key] = launches
    for group in groups.values():
        fact = _waiting(evidence, {key: rows[key] for key in group}, [*group.values()])
        if any(is_known(one.share.low, one.share.high) for one in fact.times):
            yield fact


def _rows(evidence: Evidence) -> Mapping[Key, list[Row]]:
    known = (row for curve in single_calls(evidence) for row in curve if row.cpu_share is not None)

    def key(row: Row) -> Key:
        return *job_key(row), evidence.patterns[row.cell.pattern].family

    return group_by(known, key)


def _by_launch(evidence: Evidence, rows: Sequence[Row]) -> Mapping[int, float]:
    """Return the median over cells of each launch."""
    shares: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        pattern, room = evidence.patterns[row.cell.pattern], _room(evidence, row)
        for number, visits in visits_by_launch(row.visits).items():
            if (share := cpu_share(row.cell, pattern, visits)) is not None:
                shares[number].append(min(1.0, share / room))
    return {number: median(mine) for number, mine in shares.items()}


def _waiting(
    evidence: Evidence, rows: Mapping[Key, Sequence[Row]], shares: Sequence[Mapping[int, float]]
) -> Waiting:
    first, *_ = rows.values()
    return Waiting(
        family=evidence.patterns[first[0].cell.pattern].family,
        cells=tuple(mine[0].of for mine in rows.values()),
        times=tuple(
            _core_time(len(mine), share, shares[0]) for mine, share in zip(rows.values(), shares, strict=True)
        ),
        ranks=max(_at_work(evidence, row) for mine in rows.values() for row in mine),
        cores=evidence.result.campaign.environment.cores,
        relayed=evidence.emulated and len(_hosts(evidence, first[0].cell.job)) > 1,
    )


def _core_time(cells: int, mine: Mapping[int, float], base: Mapping[int, float]) -> CoreTime:
    """Return the share of core time; all of it is the most, whatever an unbounded distribution says."""
    share = measured(mine)
    share = replace_field(share, high=None if share.high is None else min(1.0, share.high))
    return CoreTime(share, cells, None if mine is base else ratio_of(mine, base, paired=True))


def _room(evidence: Evidence, row: Row) -> float:
    """Return the most of its time that a rank can be on a core."""
    cores = max(1, evidence.result.campaign.environment.cores)
    hosts = _hosts(evidence, row.cell.job)
    # All hosts of a lab are this machine.
    together = row.cell.ranks if evidence.emulated or not hosts else max(hosts.values())
    return min(1.0, cores / min(_at_work(evidence, row), together))


def _at_work(evidence: Evidence, row: Row) -> int:
    """Return how many ranks communicate during a cell: of its group and of those at once with it."""
    cell = row.cell
    if cell.groups:
        return evidence.ranks_at_once[set_at_once(cell)]
    return active_ranks(cell, evidence.patterns[cell.pattern])


def _hosts(evidence: Evidence, job: JobKey) -> Counter[str]:
    """Return how many ranks each host has."""
    launch = next((one for one in reversed(evidence.result.launches) if one.job == job), None)
    return Counter(place.host for place in launch.ranks_at) if launch is not None else Counter()


# ---- Sentence ------------------------------------------------------------------------------------

RELAYED = " that the relay of the lab uses, too"

OPERATIONS: dict[Family, str] = {
    "message": "point-to-point",
    "collective": "collectives",
    "startup": "communicators, sessions and datatypes",
}


def headline(fact: Waiting, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line how much of the cores' time the ranks of each library use."""
    about = f"{_about(fact, varied).replace(RELAYED, '')}: core time in use"
    known = [(one.cell.library, time.share) for one, time in zip(fact.cells, fact.times, strict=True)]
    full = [f"{name} {known_share(one)}" for name, one in known]
    plain = [f"{name} {known_share(one, interval=False)}" for name, one in known]
    return in_one_line(f"{about}: {'; '.join(said)}" for said in (full, plain, plain[:2], plain[:1]))


def sentence(fact: Waiting, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return how much of the cores' time the ranks of each library use."""
    (cell, *others), (first, *rest) = (one.cell for one in fact.cells), fact.times
    keeps = f"{cell.library} keeps {known_share(first.share)} of the core time that there is for them busy"
    compared = "".join(f"; {_against(*one)}" for one in zip(others, rest, strict=True))
    many = f" (median of {counted(first.cells, 'cell')})"
    return f"{_about(fact, varied)}: {keeps}{many}{compared}"


def _about(fact: Waiting, varied: Collection[str]) -> str:
    cell = fact.cells[0].cell
    cores = f"{counted(fact.ranks, 'rank')} on {counted(fact.cores, 'core')}"
    relay = RELAYED if fact.relayed else ""
    place = place_name(cell) if PLACE & set(varied) else ""
    what = OPERATIONS.get(fact.family, fact.family)
    return (
        f"{', '.join(filter(None, (what, place, cell.setting, cores)))}{relay}{state_suffix(fact.cells[0])}"
    )


def _against(cell: Cell, one: CoreTime) -> str:
    said = f"{cell.library} {known_share(one.share)}"
    if one.ratio is None or one.ratio.low is None:
        return said
    if verdict_of(one.ratio) not in DIFFERENT:
        return f"{said}, {VERDICTS[verdict_of(one.ratio)]}"
    return f"{said}, {known_times(one.ratio)} as much"
