"""Through which network cards messages went, and whether that proves the label, in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from mpigauge.units import counted, format_percent, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import JobKey
    from mpigauge.rows.rows import Row
    from mpigauge.rows.transport.proof import Travel, Uncounted

HOSTS_NAMED = 3
CARDS_NAMED = 3


def travels_of(rows: Iterable[Row]) -> Mapping[JobKey, Sequence[Travel]]:
    """How the messages of labelled cells travelled that were measured, by job."""
    found: dict[JobKey, list[Travel]] = {}
    for row in rows:
        if row.travel and row.travel.proof and row.status == "ok":
            found.setdefault(row.cell.job, []).append(row.travel)
    return found


def label_words(travels: Sequence[Travel]) -> Iterator[str]:
    """Of the cells of a job: how much crossed what, and which labels are proven."""
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
    """Why a label is neither proven nor refuted; empty if it is one of them, or there is none."""
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
