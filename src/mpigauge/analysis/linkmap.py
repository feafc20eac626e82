"""The link map: latency and rate of every pair of ranks, and which links and hosts are slow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.map_reasons import notes, reasons
from mpigauge.analysis.rows import rows
from mpigauge.analysis.slow_links import ERROR_RATE, FACTOR, HOSTS_LEAST, Blame, blame, groups_of
from mpigauge.analysis.states import states_of
from mpigauge.errors import UsageError
from mpigauge.plan.patterns import patterns_with
from mpigauge.plan.round_robin import ranks_of
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.analysis.map_reasons import MapNote, UndecidedReason
    from mpigauge.analysis.percentiles import Values
    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import MapVerdict, StateName, Status

SMALL_BYTES = 4096
"""Up to here the time of a message is its latency, where a map has one size only."""

USUAL = patterns_with(lambda pattern: pattern.one_way and pattern.talks)
TROUBLE: frozenset[Status] = BROKEN | {"blocked"}
"""What a link is called failed for."""


@dataclass(frozen=True, slots=True)
class Link:
    """One pair of ranks.

    Attributes:
        names: Of both ends, as the map names them.
        latency: The row of the smallest message; None if the map has none.
        rate: That of the largest.
        rows: Of all sizes.
    """

    ranks: tuple[int, int]
    names: tuple[str, str]
    latency: Row | None
    rate: Row | None
    rows: tuple[Row, ...]

    @property
    def trouble(self) -> Row | None:
        """The first of its rows that went wrong; None if nothing did."""
        return next((row for row in self.rows if row.status in TROUBLE), None)

    @property
    def whole(self) -> bool:
        """Whether all sizes were measured."""
        return all(row.time is not None for row in self.rows)


@dataclass(frozen=True, slots=True)
class Slow:
    """A link or a host that takes longer than is usual for its kind.

    Attributes:
        names: Both ends of a link, or one host.
        latency_factor: How many times longer the smallest message takes; None if that is not slow.
        rate_factor: The same of the largest.
    """

    names: tuple[str, ...]
    latency_factor: float | None
    rate_factor: float | None

    @property
    def factor(self) -> float:
        """The larger of the two."""
        return max(self.latency_factor or 0.0, self.rate_factor or 0.0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is slow.

    Attributes:
        word: slow, failed (some link could not be measured), none or undecided.
        judged: What it is about: ranks, or hosts where they have several.
        groups: Of these: nearer to each other than to the rest.
        suspects: Look slow, but in too few launches.
        reasons: Why it is undecided, or would be if nothing were slow.
        notes: What else must be known.
        factor: What is slower by less is not slow.
        error_rate: With which anything in a uniform network is called slow.
        launches_needed: To name what is slow in all of them; None if no number would do.
    """

    word: MapVerdict
    judged: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    links: tuple[Slow, ...]
    hosts: tuple[Slow, ...]
    suspects: tuple[Slow, ...]
    reasons: tuple[UndecidedReason, ...]
    notes: tuple[MapNote, ...]
    factor: float
    error_rate: float
    launches_needed: int | None


@dataclass(frozen=True, slots=True)
class LinkMap:
    """What is said of all pairs.

    Attributes:
        cell: Of one of them: library, ranks and the like are those of all.
        names: Of the ranks: hosts, "host:number" where a host has several, numbers on one host.
        latency_bytes: Size of the message whose time is the latency; None if there is none.
        rate_bytes: Size of the message whose rate is shown.
    """

    cell: Cell
    names: tuple[str, ...]
    latency_bytes: int | None
    rate_bytes: int | None
    links: tuple[Link, ...]
    launches: int
    verdict: Verdict


def link_map(
    result: Result,
    *,
    factor: float = FACTOR,
    error_rate: float = ERROR_RATE,
    mpi: str = "",
    transport: str = "",
    state: StateName | None = None,
) -> LinkMap:
    """The map of a result.

    Args:
        factor: What is slower than usual by less is not slow.
        error_rate: Of the whole map.
        mpi: Whose map, if the result has several.
        transport: The same.
        state: Of the machine; None for the one that it was in for most of the time.

    Raises:
        UsageError: The result has no map, or several.
    """
    mine = _chosen(result, mpi, transport, state)
    hosts = _hosts(result, mine[0].cell)
    names = _names(hosts)
    small, large = _sizes(mine)
    links = _links(mine, names, small, large)
    ends, judged = _judged(hosts, names)
    numbers = sorted({v.launch for v in result.visits if v.cell.job == mine[0].cell.job and v.cell.pair})
    tables = {
        size: _merged(_logs(mine, size, numbers), ends, len(judged))
        for size in (small, large)
        if size is not None
    }
    verdict = _verdict(links, judged, tables, (small, large), factor, error_rate)
    return LinkMap(mine[0].cell, names, small, large, links, len(numbers), verdict)


# ---- Which pairs, which sizes, what names --------------------------------------------------------


def _chosen(result: Result, mpi: str, transport: str, state: StateName | None) -> list[Row]:
    """Rows of one job and pattern."""
    maps: dict[tuple[object, ...], list[Row]] = {}
    states = states_of(result.visits)
    for row in rows(result, choice=state or states.usual, states=states):
        cell = row.cell
        if cell.pair and mpi in {"", cell.mpi, f"{cell.mpi}=={cell.mpi_version}"}:
            key = (cell.pattern, cell.mode, cell.buffers, cell.pairing, cell.job)
            maps.setdefault(key, []).append(row)
    maps = {key: mine for key, mine in maps.items() if transport in {"", mine[0].cell.transport}}
    usual = {key: mine for key, mine in maps.items() if mine[0].cell.pattern in USUAL} or maps
    if not usual:
        raise UsageError(f"{result.path}: has no map: no pairs were measured", "mpigauge map measures one")
    if len(usual) > 1:
        jobs = ", ".join(dict.fromkeys(mine[0].cell.job.name for mine in usual.values()))
        raise UsageError(f"{result.path}: has {len(usual)} maps: {jobs}", "choose with --mpi or --transport")
    return next(iter(usual.values()))


def _hosts(result: Result, cell: Cell) -> tuple[str, ...]:
    """The host of every rank, by the first launch of the job."""
    for launch in result.launches:
        if launch.job == cell.job:
            return tuple(place.host for place in launch.ranks_at)
    return ("",) * cell.ranks


def _names(hosts: Sequence[str]) -> tuple[str, ...]:
    """Hosts; with a number where there are several ranks on one; numbers alone on one host."""
    if len(set(hosts)) == 1:
        return tuple(map(str, range(len(hosts))))
    several = Counter(hosts)
    seen: Counter[str] = Counter()
    names = []
    for host in hosts:
        names.append(f"{host}:{seen[host]}" if several[host] > 1 else host)
        seen[host] += 1
    return tuple(names)


def _judged(hosts: Sequence[str], names: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
    """What is judged, for each rank its number, and the names: hosts if they tell enough, else ranks."""
    distinct = tuple(dict.fromkeys(hosts))
    if HOSTS_LEAST <= len(distinct) < len(hosts):
        return [distinct.index(host) for host in hosts], distinct
    return list(range(len(names))), names


def _sizes(mine: Sequence[Row]) -> tuple[int | None, int | None]:
    """Of latency and of rate."""
    sizes = sorted({row.cell.bytes for row in mine})
    if len(sizes) > 1:
        return sizes[0], sizes[-1]
    return (sizes[0], None) if sizes[0] <= SMALL_BYTES else (None, sizes[0])


def _links(
    mine: Sequence[Row], names: Sequence[str], small: int | None, large: int | None
) -> tuple[Link, ...]:
    pairs: dict[tuple[int, int], dict[int, Row]] = {}
    for row in mine:
        pairs.setdefault(ranks_of(row.cell.pair), {})[row.cell.bytes] = row
    return tuple(
        Link(
            ranks=(i, j),
            names=(names[i], names[j]),
            latency=by_size.get(small) if small is not None else None,
            rate=by_size.get(large) if large is not None else None,
            rows=tuple(by_size[size] for size in sorted(by_size)),
        )
        for (i, j), by_size in sorted(pairs.items())
    )


# ---- Tables for the rule -------------------------------------------------------------------------


def _logs(mine: Sequence[Row], size: int, numbers: Sequence[int]) -> Values:
    """Logarithms of launch medians, shape ``(launches, ranks, ranks)``, NaN where there is none."""
    ranks = mine[0].cell.ranks
    logs = np.full((len(numbers), ranks, ranks), np.nan)
    for row in mine:
        if row.cell.bytes != size or row.time is None:
            continue
        i, j = ranks_of(row.cell.pair)
        for number, median in row.time.by_launch.items():
            if median > 0:
                logs[numbers.index(number), i, j] = logs[numbers.index(number), j, i] = np.log(median)
    return logs


def _merged(logs: Values, ends: Sequence[int], count: int) -> Values:
    """The same of hosts: the median over all pairs of their ranks."""
    if count == logs.shape[1]:
        return logs
    members = [np.flatnonzero(np.asarray(ends) == end) for end in range(count)]
    merged = np.full((logs.shape[0], count, count), np.nan)
    for a in range(count):
        for b in range(a + 1, count):
            block = logs[:, members[a]][:, :, members[b]].reshape(logs.shape[0], -1)
            known = np.isfinite(block).any(axis=1)
            merged[known, a, b] = merged[known, b, a] = np.nanmedian(block[known], axis=1)
    return merged


# ---- The verdict ---------------------------------------------------------------------------------


def _verdict(
    links: Sequence[Link],
    judged: tuple[str, ...],
    tables: Mapping[int, Values],
    sizes: tuple[int | None, int | None],
    factor: float,
    error_rate: float,
) -> Verdict:
    launches = next(iter(tables.values())).shape[0]
    groups = groups_of(next(iter(tables.values())), factor) if launches else [list(range(len(judged)))]
    tests = len(tables) * len(judged) * (len(judged) + 1) // 2
    found = {
        size: blame(table, groups, factor, error_rate / tests) for size, table in tables.items() if launches
    }
    slow_links, slow_hosts, suspects = (
        _together({size: kind(one) for size, one in found.items()}, sizes, judged)
        for kind in (lambda one: one.links, _hosts_of, lambda one: one.suspects)
    )
    needed = _needed(found.values())
    missing = sum(not link.whole for link in links)
    decided = found and not suspects and not missing and all(one.decided for one in found.values())
    word = _word(links, slow=bool(slow_links or slow_hosts), decided=bool(decided))
    trials, suspected = launches if found else 0, bool(suspects)
    why = reasons(len(judged), trials, needed, suspected=suspected, links=len(links), missing=missing)
    return Verdict(
        word=word,
        judged=judged,
        groups=tuple(tuple(judged[i] for i in group) for group in groups),
        links=slow_links,
        hosts=slow_hosts,
        suspects=suspects,
        reasons=tuple(why),
        notes=tuple(notes(word, len(judged), found, factor)),
        factor=factor,
        error_rate=error_rate,
        launches_needed=needed,
    )


def _word(links: Sequence[Link], *, slow: bool, decided: bool) -> MapVerdict:
    if slow:
        return "slow"
    if any(link.trouble for link in links):
        return "failed"
    return "none" if decided else "undecided"


def _hosts_of(one: Blame) -> dict[tuple[int, int], float]:
    return {(host, host): factor for host, factor in one.hosts.items()}


def _needed(found: Iterable[Blame]) -> int | None:
    needs = [one.launches_needed for one in found]
    known = [need for need in needs if need is not None]
    return max(known) if known and len(known) == len(needs) else None


def _together(
    found: Mapping[int, Mapping[tuple[int, int], float]],
    sizes: tuple[int | None, int | None],
    judged: Sequence[str],
) -> tuple[Slow, ...]:
    """What is slow in latency or rate or both, the slowest first."""
    latency, rate = (found.get(size, {}) if size is not None else {} for size in sizes)
    slow = [
        Slow(tuple(judged[end] for end in dict.fromkeys(ends)), latency.get(ends), rate.get(ends))
        for ends in {**latency, **rate}
    ]
    return tuple(sorted(slow, key=lambda one: (-one.factor, one.names)))
