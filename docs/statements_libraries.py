"""Sentences of the pages on libraries and memory."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from book import AND, Book, quotient, size, statement, time, times, verdict

from mpigauge import units
from mpigauge.analysis.comparisons import pays_from
from mpigauge.analysis.memory_costs import memory_facts
from mpigauge.analysis.verdict import verdict as verdict_of
from mpigauge.show.words.memory_costs import memory_finding
from mpigauge.units import format_factor as factor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from book import Story


# ---- Two libraries -------------------------------------------------------------------------------


@statement("libraries.networks")
def _networks(book: Book) -> Iterator[str]:
    ours, printed = book["wan"], book.printed("grid-pingpong")
    over, under = (printed.one(mpi=mpi, placement="LAN", bytes=1) for mpi in ("MPICH-G2", "MPICH"))
    yield f"Printed, LAN: {factor(quotient(over, under))} times as long with MPICH-G2 as with MPICH, at 1 B."
    for mpi in ours.values("mpi", pattern="eager"):
        limits = {row.limit_bytes for row in ours.rows if row.cell.pattern == "eager" and row.cell.mpi == mpi}
        found = AND.join(f"{limit} B" for limit in sorted(filter(None, limits))) or "not found"
        yield f"Eager limit of {mpi} between hosts: {found}."
    for pattern, sizes in (("pingpong", (8, 32 * 1024, 256 * 1024)), ("exchange", (32 * 1024, 64 * 1024))):
        yield from (_beside(ours, pattern, b, link) for b in sizes for link in LINKS)
    yield from (_beside(book["wan-collectives"], "allreduce", 8, link) for link in LINKS)


LINKS = ("LAN", "WAN")
"""In the order of the placements of the plans."""


def _beside(ours: Story, pattern: str, size_bytes: int, link: str) -> str:
    """The second library beside the first, on one of the networks."""
    where = {"pattern": pattern, "bytes": size_bytes, "placement": dict(_networks_of(ours)).get(link)}
    mpis = ours.values("mpi")[:2]
    rows_ = [ours.one(mpi=mpi, **where) for mpi in mpis]
    ratio = ours.ratio(*reversed(rows_)) if len(rows_) > 1 else None
    if ratio is None:
        return f"{link}, {pattern} of {size(size_bytes)}: not measured with both libraries."
    return (
        f"{link}, {pattern} of {size(size_bytes)}: {mpis[0]} {time(rows_[0])}, {mpis[1]} {times(ratio)} as "
        f"long: {verdict(ratio)}."
    )


def _networks_of(ours: Story) -> Iterator[tuple[str, str]]:
    """Each network with its placement."""
    return zip(LINKS, ours.values("placement"), strict=False)


@statement("libraries.waiting")
def _waiting(book: Book) -> Iterator[str]:
    ours = book["libraries"]
    cores = ours.result.campaign.environment.cores
    most = max(ours.values("ranks"), default=0)
    patterns = ours.values("pattern", ranks=most)
    for ranks in ours.values("ranks"):
        for mpi in ours.values("mpi"):
            mine = [
                row.cpu_share
                for row in ours.all(mpi=mpi, ranks=ranks)
                if row.talks and row.cpu_share is not None and row.cell.pattern in patterns
            ]
            if mine:
                share, possible = map(units.format_percent, (median(mine), min(1.0, cores / ranks)))
                yield (
                    f"{mpi}, {ranks} ranks: on a core for {share} of the time of collectives, of {possible} "
                    f"that {cores} cores have for each."
                )


@statement("libraries.crowd")
def _crowd(book: Book) -> Iterator[str]:
    ours = book["libraries"]
    for mpi in ours.values("mpi"):
        for pattern in ("barrier", "allreduce"):
            found = {n: ours.one(mpi=mpi, ranks=n, pattern=pattern) for n in ours.values("ranks")}
            known = {n: row for n, row in found.items() if row is not None}
            if len(known) > 1:
                few, many = min(known), max(known)
                crowd = ", which share cores," if known[many].oversubscribed else ""
                ratio = ours.ratio(known[many], known[few])
                yield (
                    f"{mpi}, {pattern}: {time(known[few])} with {few} ranks; {many} ranks{crowd} take "
                    f"{times(ratio)} as long."
                )


@statement("libraries.busy")
def _busy(book: Book) -> Iterator[str]:
    gives_way, busy = book["libraries"], book["busy"]
    ranks = max(busy.values("ranks"), default=0)
    for mpi in busy.values("mpi"):
        for pattern in ("barrier", "allreduce"):
            where = {"mpi": mpi, "pattern": pattern, "ranks": ranks}
            base, row = gives_way.one(**where), busy.one(**where)
            if base is None or row is None:
                yield f"{mpi}, {pattern} of {ranks} ranks: not measured both ways."
                continue
            ratio = busy.ratio(row, base, paired=False)
            yield (
                f"{mpi}, {pattern} of {ranks} ranks: {time(base)} as mpigauge starts it, {time(row)} "
                f"with these variables: {times(ratio)} as long."
            )


WAYS = ("bcast", "bcast-rotating", "bcast-acked")


@statement("libraries.broadcasts")
def _broadcasts(book: Book) -> Iterator[str]:
    ours = book["libraries"]
    ranks = min(ours.values("ranks"))
    for mpi in ours.values("mpi"):
        for b in (512, 64 * 1024):
            base, *others = (ours.one(mpi=mpi, pattern=way, bytes=b, ranks=ranks) for way in WAYS)
            if base is None:
                yield f"{mpi}, {size(b)}, {ranks} ranks: not measured."
                continue
            parts = [
                f"{way} {times(ours.ratio(row, base))}" for way, row in zip(WAYS[1:], others, strict=True)
            ]
            yield f"{mpi}, {size(b)}, {ranks} ranks: {WAYS[0]} takes {time(base)}, {AND.join(parts)} as long."
    ratios = [
        ours.ratio(row, ours.one(mpi=row.cell.mpi, pattern=WAYS[0], bytes=row.cell.bytes, ranks=ranks))
        for row in ours.all(pattern=WAYS[1], ranks=ranks)
    ]
    words = [verdict_of(ratio) for ratio in ratios if ratio is not None]
    yield (
        f"Of {len(words)} sizes and libraries with {ranks} ranks, one of many back to back takes longer than "
        f"a single one at {words.count('slower')}, and less at {words.count('faster')}."
    )


@statement("libraries.grid")
def _grid(book: Book) -> Iterator[str]:
    ours, printed = book["wan-collectives"], book.printed("grid-bcast")
    for b in printed.sizes():
        for mpi in printed.values("mpi", placement="WAN"):
            ratio = quotient(*(printed.one(mpi=mpi, placement=net, bytes=b) for net in ("WAN", "LAN")))
            yield f"Printed, {mpi}, {size(b)}: a broadcast takes {factor(ratio)} times as long as on the LAN."
    placed = dict(_networks_of(ours))
    for b in ours.sizes(pattern=WAYS[0]):
        for mpi in ours.values("mpi"):
            rows_ = [
                ours.one(mpi=mpi, placement=placed.get(link), pattern=WAYS[0], bytes=b)
                for link in reversed(LINKS)
            ]
            if None in rows_:
                yield f"Here, {mpi}, {size(b)}: not measured on both networks."
                continue
            growth = times(ours.ratio(*rows_))
            yield f"Here, {mpi}, {size(b)}: {time(rows_[0])}, {growth} as long as on the LAN."


@statement("libraries.empty")
def _empty(book: Book) -> Iterator[str]:
    ours = book["libraries"]
    for mpi in ours.values("mpi"):
        zero, one = (ours.one(mpi=mpi, pattern="pingpong", mode="standard", bytes=b) for b in (0, 1))
        ratio = ours.ratio(one, zero)
        if ratio is None:
            yield f"{mpi}: 0 B and 1 B were not both measured."
            continue
        yield f"{mpi}: 0 B take {time(zero)}; 1 B takes {times(ratio)} as long: {verdict(ratio)}."


# ---- Network against memory ----------------------------------------------------------------------


@statement("memory.copies")
def _copies(book: Book) -> Iterator[str]:
    for name in ("network-memory", "fast-gigabit"):
        ours = book[name]
        for fact in memory_facts(ours.rows, ours.result.campaign.environment.caches):
            yield memory_finding(fact).text


@statement("memory.networks")
def _two_networks(book: Book) -> Iterator[str]:
    printed = book.printed("network-latency-q6600")
    slow, fast = (printed.one(placement=f"Q6600 {net} Ethernet") for net in ("Fast", "Gigabit"))
    shared = printed.one(placement="Q6600 shared memory")
    yield (
        f"Printed, empty message: Fast Ethernet takes {factor(quotient(slow, fast))} times as long as "
        f"Gigabit Ethernet, which takes {factor(quotient(fast, shared))} times as long as shared memory."
    )
    ours = book["fast-gigabit"]
    where = {"pattern": "pingpong", "bytes": 0}
    slow, fast = (ours.one(placement=p, **where) for p in ("h1,h3", "h1,h2"))
    shared = ours.one(placement="same-host", **where)
    if None in (slow, fast, shared):
        yield "Here, an empty message was not measured over all of them."
        return
    yield (
        f"Here, empty message: Fast Ethernet takes {times(ours.ratio(slow, fast))} as long as Gigabit "
        f"Ethernet, which takes {times(ours.ratio(fast, shared))} as long as shared memory."
    )
    yield f"The faster network pays {_pays(ours)}."


def _pays(ours: Story) -> str:
    """From which size on the whole interval says that the slower network takes longer."""
    sizes = ours.sizes(pattern="pingpong", placement="h1,h3")
    pairs = [[ours.one(pattern="pingpong", placement=p, bytes=b) for p in ("h1,h3", "h1,h2")] for b in sizes]
    first = pays_from(sizes, [ours.ratio(*pair) for pair in pairs])
    return "at no size that can be told" if first is None else f"from {size(first)} on"
