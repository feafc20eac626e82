"""The link map: latency and rate of every pair of ranks, and which links and hosts are slow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace as with_fields

from mpigauge.errors import UsageError
from mpigauge.linkmap.hosts_differ import HostDifference, hosts_differ
from mpigauge.linkmap.slow_links import ERROR_RATE, FACTOR, MIN_HOSTS
from mpigauge.linkmap.verdict import MeasuredLink, Verdict, verdict_of
from mpigauge.plan.factors import ALONG
from mpigauge.plan.patterns import patterns_with
from mpigauge.plan.round_robin import NamedPair, pair_ranks
from mpigauge.rows.group import STATE, group
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.rows import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import StateName

SMALL_BYTES = 4096
"""Up to here the time of a message is its latency, where a map has one size only."""

MAX_RANKS = 4096
"""Ranks of the largest map: its tables have an entry for every pair in every launch."""

USUAL = patterns_with(lambda pattern: pattern.one_way and pattern.talks)


@dataclass(frozen=True, slots=True)
class LinkMap:
    """The links of all pairs of ranks, with their verdict.

    Attributes:
        cell: The cell of one of them; all share its library, ranks and so on.
        names: Names of the ranks: hosts, "host:number" where a host has several, numbers on one host.
        latency_bytes: Size of the message whose time is the latency; None if there is none.
        rate_bytes: Size of the message whose rate is shown.
        differences: Facts in which its hosts differ.
    """

    cell: Cell
    names: tuple[str, ...]
    latency_bytes: int | None
    rate_bytes: int | None
    links: tuple[MeasuredLink, ...]
    launches: int
    verdict: Verdict
    differences: tuple[HostDifference, ...]


def link_map(
    result: Result,
    *,
    factor: float = FACTOR,
    error_rate: float = ERROR_RATE,
    mpi: str = "",
    transport: str = "",
    state: StateName | None = None,
) -> LinkMap:
    """Return the map of a result.

    Args:
        factor: What is slower than usual by less is not slow.
        error_rate: Error rate of the whole map.
        mpi: Library of the map, if the result has several.
        transport: Transport of the map, if the result has several.
        state: State of the machine; None for the one that lasted longest.

    Raises:
        UsageError: The result has no map, several, or one that is too large.
    """
    found = rows(result, choice=state or split_of(result).usual)
    return link_map_of(result, found, factor=factor, error_rate=error_rate, mpi=mpi, transport=transport)


def link_map_of(
    result: Result,
    found: Iterable[Row],
    *,
    factor: float = FACTOR,
    error_rate: float = ERROR_RATE,
    mpi: str = "",
    transport: str = "",
) -> LinkMap:
    """Return the map that rows of a result make; while it is measured, some have no time yet.

    Raises:
        UsageError: They make none, several, or one that is too large.
    """
    chosen = _chosen(result, found, mpi, transport)
    hosts = _hosts(result, chosen[0].cell)
    names = _names(hosts)
    small, large = _sizes(chosen)
    links = _links(chosen, names, small, large)
    ends, judged = _judged(hosts, names)
    numbers = sorted({v.launch for v in result.visits if v.cell.job == chosen[0].cell.job and v.cell.pair})
    tables = {
        size: _merged(_logs(chosen, size, numbers), ends, len(judged))
        for size in (small, large)
        if size is not None
    }
    verdict = verdict_of(links, judged, tables, (small, large), factor, error_rate)
    return LinkMap(chosen[0].cell, names, small, large, links, len(numbers), verdict, hosts_differ(result))


def is_map(result: Result) -> bool:
    """Return whether a result is a map of all pairs and nothing else."""
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    talking = [cell for cell in result.campaign.cells if (of := patterns.get(cell.pattern)) and of.talks]
    return bool(talking) and all(cell.pair for cell in talking)


def map_or_none(result: Result, known: Iterable[Row] = ()) -> LinkMap | None:
    """Return the map of a result; None if it has none, several, or one that is too large.

    Args:
        known: Rows whose state of the machine it is of, if they are all of one.
    """
    states = {row.state for row in known if row.cell.pair}
    try:
        return link_map(result, state=states.pop() if len(states) == 1 else None)
    except UsageError:
        return None


def with_named_pairs(result: Result, known: Iterable[Row]) -> list[Row]:
    """Return rows whose pairs know the names of their ends, if these are more than ranks."""
    names: dict[JobKey, tuple[str, ...]] = {}

    def named(row: Row) -> Row:
        cell = row.cell
        if not cell.pair:
            return row
        if cell.job not in names:
            names[cell.job] = _names(_known_hosts(result, cell))
        if not (own := names[cell.job]):
            return row
        i, j = pair_ranks(cell.pair)
        pair = NamedPair(cell.pair, (own[i], own[j]))
        return row if pair.ends == (str(i), str(j)) else replace(row, cell=with_fields(cell, pair=pair))

    return [named(row) for row in known]


# ---- Which pairs, which sizes, what names --------------------------------------------------------


def _chosen(result: Result, found: Iterable[Row], mpi: str, transport: str) -> list[Row]:
    """Rows of one job and pattern."""
    paired = [row for row in found if row.cell.pair]
    asked = (
        row
        for row in paired
        if mpi in {"", row.cell.mpi, f"{row.cell.mpi}=={row.cell.mpi_version}"}
        and transport in {"", row.cell.transport}
    )
    maps = group(asked, ALONG | {STATE})
    usual = [of_map for of_map in maps if of_map[0].cell.pattern in USUAL] or maps
    if not usual and paired:
        wanted = " ".join(filter(None, (mpi, transport)))
        raise UsageError(
            f"{result.path}: has no map of {wanted}, but of {_jobs_in(paired)}",
            "choose with --mpi or --transport",
        )
    if not usual:
        raise UsageError(f"{result.path}: has no map: no pairs were measured", "mpigauge map measures one")
    if len(usual) > 1:
        jobs = _jobs_in(of_map[0] for of_map in usual)
        raise UsageError(f"{result.path}: has {len(usual)} maps: {jobs}", "choose with --mpi or --transport")
    (of_map,) = usual
    if (ranks := of_map[0].cell.ranks) > MAX_RANKS:
        raise UsageError(
            f"{result.path}: has a map of {ranks} ranks, too large for its tables",
            f"use {MAX_RANKS} at most",
        )
    return of_map


def _jobs_in(rows_: Iterable[Row]) -> str:
    """Return the jobs of rows, as options name them."""
    cells = (row.cell for row in rows_)
    return ", ".join(dict.fromkeys(f"{one.mpi}=={one.mpi_version} {one.transport}" for one in cells))


def _hosts(result: Result, cell: Cell) -> tuple[str, ...]:
    """Return the host of every rank; nameless if no launch says it."""
    return _known_hosts(result, cell) or ("",) * cell.ranks


def _known_hosts(result: Result, cell: Cell) -> tuple[str, ...]:
    """Return the host of every rank by the job's first launch that says all of them; empty if none."""
    for launch in result.launches:
        if launch.job == cell.job and len(launch.ranks_at) == cell.ranks:
            return tuple(place.host for place in launch.ranks_at)
    return ()


def _names(hosts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of ranks: hosts, numbered where one has several ranks; only numbers on one host."""
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
    """Return the number of each rank in what is judged, and the names: of hosts, else of ranks."""
    distinct = tuple(dict.fromkeys(hosts))
    if MIN_HOSTS <= len(distinct) < len(hosts):
        return [distinct.index(host) for host in hosts], distinct
    return list(range(len(names))), names


def _sizes(chosen: Sequence[Row]) -> tuple[int | None, int | None]:
    """Return the sizes for latency and for rate."""
    sizes = sorted({row.cell.bytes for row in chosen})
    if len(sizes) > 1:
        return sizes[0], sizes[-1]
    return (sizes[0], None) if sizes[0] <= SMALL_BYTES else (None, sizes[0])


def _links(
    chosen: Sequence[Row], names: Sequence[str], small: int | None, large: int | None
) -> tuple[MeasuredLink, ...]:
    pairs: dict[tuple[int, int], dict[int, Row]] = {}
    for row in chosen:
        pairs.setdefault(pair_ranks(row.cell.pair), {})[row.cell.bytes] = row
    return tuple(
        MeasuredLink(
            ranks=(i, j),
            names=(names[i], names[j]),
            latency=by_size.get(small) if small is not None else None,
            rate=by_size.get(large) if large is not None else None,
            rows=tuple(by_size[size] for size in sorted(by_size)),
        )
        for (i, j), by_size in sorted(pairs.items())
    )


# ---- Tables for the rule -------------------------------------------------------------------------


def _logs(chosen: Sequence[Row], size: int, numbers: Sequence[int]) -> Values:
    """Return logarithms of launch medians, shape ``(launches, ranks, ranks)``, NaN where there is none."""
    ranks = chosen[0].cell.ranks
    logs = np.full((len(numbers), ranks, ranks), np.nan)
    for row in chosen:
        if row.cell.bytes != size or row.time is None:
            continue
        i, j = pair_ranks(row.cell.pair)
        for number, median in row.time.by_launch.items():
            if median > 0:
                logs[numbers.index(number), i, j] = logs[numbers.index(number), j, i] = np.log(median)
    return logs


def _merged(logs: Values, ends: Sequence[int], count: int) -> Values:
    """Return logarithms by hosts: the median over all pairs of their ranks."""
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
