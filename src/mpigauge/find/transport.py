"""Sentences about transports: reports of libraries, labels that cards prove, and cards that were used."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from mpigauge.document.finding import finding
from mpigauge.linkmap.hosts_differ import names
from mpigauge.units import counted, format_percent, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.plan.model import JobKey
    from mpigauge.rows.rows import Row
    from mpigauge.rows.transport.cards_used import CardShare, CardsUsed
    from mpigauge.rows.transport.proof import Travel, Uncounted
    from mpigauge.vocabulary import CardKind


# ---- Reports of libraries ------------------------------------------------------------------------

NAMES = {
    "sm": "shared memory",
    "vader": "shared memory",
    "shm": "shared memory",
    "tcp": "TCP",
    "ucx": "UCX",
    "ofi": "libfabric",
    "ch4:ofi": "libfabric",
    "ch4:ucx": "UCX",
}
"""By the words of libraries; any other stays as it is."""

PLACES = {"on-host": "within a host", "off-host": "between hosts"}


def transport_words(report: str) -> str:
    """Return a report of `mpi.transport_report` in words, with places unless all messages stay in a host."""
    parts = report.split(", ")
    whole = [part for part in parts if not part.startswith("on-host ")] == []
    return ", ".join(_part(part, placed=not whole) for part in parts)


def _part(part: str, *, placed: bool) -> str:
    place, _, rest = part.partition(" ")
    if place not in PLACES:
        return " and ".join(NAMES.get(word, word) for word in part.split(" + "))
    share, _, name = rest.rpartition(" ")
    words = [share, NAMES.get(name, name), PLACES[place] if placed else ""]
    return " ".join(filter(None, words))


# ---- Labels --------------------------------------------------------------------------------------

HOSTS_NAMED = 3
CARDS_NAMED = 3


def travels_of(rows: Iterable[Row]) -> Mapping[JobKey, Sequence[Travel]]:
    """Return how the messages of labelled cells that were measured travelled, by job."""
    found: dict[JobKey, list[Travel]] = {}
    for row in rows:
        if row.travel and row.travel.proof and row.status == "ok":
            found.setdefault(row.cell.job, []).append(row.travel)
    return found


def label_words(travels: Sequence[Travel]) -> Iterator[str]:
    """Yield how much of a job's payload crossed what, and which labels are proven."""
    if not travels:
        return
    crossed = f"{_span([one.ip_share for one in travels])} of the payload crossed IP interfaces"
    past_ip = [one.rdma_share for one in travels if one.rdma_share is not None]
    yield f"{crossed}, {_span(past_ip)} RDMA cards" if past_ip else crossed
    for doubt, cells in Counter(map(doubt_of, travels)).items():
        of = "" if cells == len(travels) else f" for {cells} of {len(travels)} cells"
        yield f"not proven{of}: {doubt}" if doubt else f"proven{of}"


def _span(shares: Sequence[float]) -> str:
    return span(format_percent(min(shares)), format_percent(max(shares)))


def doubt_of(travel: Travel) -> str:
    """Return why a label is neither proven nor refuted; empty if it is one of them, or there is none."""
    match travel.doubt:
        case None:
            return ""
        case "uncounted":
            return _uncounted(travel)
        case "older":
            return "an older mpigauge counted IP interfaces only"
        case "small":
            return "too little was sent"
        case "uneven":
            share = format_percent(travel.rdma_share)
            return f"RDMA cards carried {share} of the payload, most of it during a few visits"
    assert_never(travel.doubt)


def _uncounted(travel: Travel) -> str:
    if not travel.uncounted:
        return "a network card could not be counted"
    named = [_card(one) for one in travel.uncounted[:CARDS_NAMED]]
    more = len(travel.uncounted) - len(named)
    cards = " and ".join([*named, *([counted(more, "more card")] if more else [])])
    return f"could not count {cards}"


def _card(one: Uncounted) -> str:
    hosts = ", ".join(one.hosts[:HOSTS_NAMED])
    more = len(one.hosts) - HOSTS_NAMED
    return f"{one.card} of {hosts}" + (f" and {counted(more, 'more host')}" if more > 0 else "")


# ---- Cards ---------------------------------------------------------------------------------------

KINDS: Mapping[CardKind, str] = {"ip": "IP interface", "rdma": "RDMA card"}
USED_CARDS_NAMED = 4
ONE_WAY_FROM = 0.5
"""Between a card's share of what was sent and of what was received: then it is mostly a card for one way."""


def cards_finding(fact: CardsUsed) -> Finding:
    """Return a finding about cards that stood still."""
    return finding("cards-used", fact, cards_line(fact))


def cards_line(fact: CardsUsed) -> str:
    """Return which cards of which hosts were used, how much, and which others could have been."""
    of = counted(len(fact.used) + len(fact.idle), KINDS[fact.kind])
    patterns = ", ".join(dict.fromkeys(cell.pattern for cell in fact.cells))
    used = _listed([_used(one, alone=len(fact.used) == 1) for one in fact.used])
    where = f"{len(fact.used)} of {of} on {names(fact.hosts)} carried messages of {patterns}"
    usual = f"; more hosts used {_listed(fact.usual)}" if fact.usual else ""
    return f"cards, {fact.cells[0].job.name}: {where}: {used}; idle: {_listed(fact.idle)}{usual}"


def _used(one: CardShare, *, alone: bool) -> str:
    if abs(one.sent_share - one.received_share) > ONE_WAY_FROM:
        sent, received = format_percent(one.sent_share), format_percent(one.received_share)
        return f"{one.card} {sent} of what was sent, {received} of what was received"
    return f"{one.card}" if alone and one.share == 1 else f"{one.card} {format_percent(one.share)}"


def _listed(cards: Sequence[str]) -> str:
    more = len(cards) - USED_CARDS_NAMED
    return ", ".join(cards) if more <= 1 else f"{', '.join(cards[:USED_CARDS_NAMED])} and {more} more"
