"""Sentences of the pages on libraries and memory."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from book import AND, Book, quotient, size, statement, time, times, verdict

from mpigauge import units
from mpigauge.analysis.comparisons import pays_from
from mpigauge.analysis.memory_costs import memory_facts
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
    one, *others = ours.values("mpi")
    for placement, link in zip(ours.values("placement"), ("LAN", "WAN"), strict=False):
        for pattern, b in (("pingpong", 8), ("exchange", 64 * 1024), ("allreduce", 8)):
            for other in others:
                where = {"pattern": pattern, "placement": placement, "bytes": b}
                rows_ = [ours.one(mpi=mpi, **where) for mpi in (other, one)]
                ratio = ours.ratio(*rows_)
                if ratio is None:
                    yield f"{link}, {pattern} of {size(b)}: not measured with both libraries."
                    continue
                yield (
                    f"{link}, {pattern} of {size(b)}: {one} {time(rows_[1])}, {other} {times(ratio)} as "
                    f"long: {verdict(ratio)}."
                )


@statement("libraries.waiting")
def _waiting(book: Book) -> Iterator[str]:
    ours = book["libraries"]
    for ranks in ours.values("ranks"):
        for mpi in ours.values("mpi"):
            mine = [row for row in ours.all(mpi=mpi, ranks=ranks) if row.talks and row.cpu_share is not None]
            if mine:
                share = units.format_percent(median(row.cpu_share or 0 for row in mine))
                crowd = ", sharing cores" if mine[0].oversubscribed else ""
                yield f"{mpi}, {ranks} ranks{crowd}: on a core for {share} of the time of messages."


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


@statement("libraries.grid")
def _grid(book: Book) -> Iterator[str]:
    ours, printed = book["wan"], book.printed("grid-bcast")
    for b in printed.sizes():
        for mpi in printed.values("mpi", placement="WAN"):
            ratio = quotient(*(printed.one(mpi=mpi, placement=net, bytes=b) for net in ("WAN", "LAN")))
            yield f"Printed, {mpi}, {size(b)}: a broadcast takes {factor(ratio)} times as long as on the LAN."
    where = ours.values("placement")
    for b in ours.sizes(pattern="bcast-acked"):
        for mpi in ours.values("mpi"):
            rows_ = [
                ours.one(mpi=mpi, placement=p, pattern="bcast-acked", bytes=b) for p in (where[-1], where[0])
            ]
            if None in rows_:
                yield f"Here, {mpi}, {size(b)}, acknowledged: not measured on both networks."
                continue
            growth = times(ours.ratio(*rows_))
            yield f"Here, {mpi}, {size(b)}, acknowledged: {time(rows_[0])}, {growth} as long as on the LAN."


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
