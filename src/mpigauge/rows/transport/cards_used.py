"""Which network cards of which hosts carried the messages of curves, where others could have, or did.

One card for every message is what one-card machines do, and not worth a word. A fact is what a sum over
cards hides: cards that stood still beside others, and hosts that used other cards than the rest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.rows.transport.proof import MAX_SHARED, PAYLOAD_LEAST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.rows.rows import Row
    from mpigauge.rows.transport.proof import HostTraffic
    from mpigauge.vocabulary import CardKind

MAX_IDLE = 0.1
"""Of what each card would have carried had all carried the same: with less, a card stood still."""


@dataclass(frozen=True, slots=True)
class CardShare:
    """A card, and its share of what all cards of its kind on its hosts carried: both ways, and one by one."""

    card: str
    share: float
    received_share: float
    sent_share: float


@dataclass(frozen=True, slots=True)
class CardsUsed:
    """Which cards of one kind carried the messages of curves on hosts that are alike in it.

    Attributes:
        cells: The smallest message of each of these curves.
        hosts: In the order of their ranks.
        used: Who carried most is first.
        idle: Cards that messages could have gone through, and did not.
        usual: Cards that more hosts used in these curves, and that these hosts have and did not use.
    """

    cells: tuple[Cell, ...]
    kind: CardKind
    hosts: tuple[str, ...]
    used: tuple[CardShare, ...]
    idle: tuple[str, ...]
    usual: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Of all cards that were used."""
        return sum(one.share for one in self.used)


_Sums = dict[str, list[int]]
"""What cards received and sent, by name."""


class _Use(NamedTuple):
    """What one host did with its cards for a curve: which it used, and which it left."""

    used: tuple[str, ...]
    idle: tuple[str, ...]


class _Group(NamedTuple):
    """Hosts of one job that are alike in it; the same for all curves of which the same is said."""

    job: JobKey
    kind: CardKind
    use: _Use
    usual: tuple[str, ...]
    hosts: tuple[str, ...]


_Curve = tuple["JobKey", str, str, "CardKind"]
_Sizes = dict[str, list["HostTraffic"]]
"""What was carried for each size of a curve, by host."""


def cards_used(rows: Iterable[Row]) -> list[CardsUsed]:
    """Return what is worth knowing of cards; nothing where all hosts use all that they have."""
    found: dict[_Group, list[tuple[Cell, list[HostTraffic]]]] = defaultdict(list)
    for (job, _, _, kind), (cell, hosts) in _curves(rows).items():
        for use, usual, mine in _unevenly(_uses(hosts)):
            sizes = [one for host in mine for one in hosts[host]]
            found[_Group(job, kind, use, usual, mine)].append((cell, sizes))
    return [_fact(group, curves) for group, curves in found.items()]


def _curves(rows: Iterable[Row]) -> dict[_Curve, tuple[Cell, _Sizes]]:
    """Return the smallest message of every curve, and what was carried."""
    found: dict[_Curve, tuple[Cell, _Sizes]] = {}
    cells = {row.cell: row.travel for row in rows if row.travel}  # a row for each state of the machine
    for cell in sorted(cells, key=lambda cell: cell.bytes):
        for one in cells[cell].traffic:
            _, hosts = found.setdefault((cell.job, cell.pattern, cell.mode, one.kind), (cell, {}))
            hosts.setdefault(one.host, []).append(one)
    return found


def _uses(hosts: _Sizes) -> dict[str, _Use]:
    found = {host: _use_of(sizes) for host, sizes in hosts.items()}
    return {host: use for host, use in found.items() if use}


def _use_of(sizes: Sequence[HostTraffic]) -> _Use | None:
    """Return how a host used its cards; None where they carried no payload, or more may have than is told."""
    able = [name for name in sizes[0].able if all(name in one.able for one in sizes)]
    sums = _sums(sizes)
    carried = {name: sum(sums[name]) for name in able}
    part_bytes = sum(one.part_bytes for one in sizes)
    if part_bytes < PAYLOAD_LEAST_BYTES or sum(carried.values()) < MAX_SHARED * part_bytes:
        return None
    least = MAX_IDLE * sum(carried.values()) / len(able)
    if sum(one.unseen_bytes for one in sizes) > least:
        return None
    used = tuple(name for name in able if carried[name] > least)
    return _Use(used, tuple(name for name in able if name not in used))


def _sums(sizes: Iterable[HostTraffic]) -> _Sums:
    sums: _Sums = defaultdict(lambda: [0, 0])
    for one in sizes:
        for card in one.carried:
            sums[card.card][0] += card.received_bytes
            sums[card.card][1] += card.sent_bytes
    return sums


def _unevenly(uses: dict[str, _Use]) -> Iterator[tuple[_Use, tuple[str, ...], tuple[str, ...]]]:
    """Return hosts that left cards idle, by what they used, with those idle ones that most hosts used."""
    groups: dict[_Use, list[str]] = defaultdict(list)
    for host, use in uses.items():
        groups[use].append(host)
    most = max(map(len, groups.values()), default=0)
    common = next((use for use, hosts in groups.items() if len(hosts) == most), None)
    for use, hosts in groups.items():
        of_others = common.used if common and len(hosts) < most else ()
        if use.idle:
            yield use, tuple(card for card in of_others if card in use.idle), tuple(hosts)


def _fact(group: _Group, curves: Sequence[tuple[Cell, list[HostTraffic]]]) -> CardsUsed:
    sums = _sums(one for _, sizes in curves for one in sizes)
    able = {card: sums[card] for card in (*group.use.used, *group.use.idle)}
    shares = [_share(card, able) for card in group.use.used]
    return CardsUsed(
        cells=tuple(cell for cell, _ in curves),
        kind=group.kind,
        hosts=group.hosts,
        used=tuple(sorted(shares, key=lambda one: -one.share)),
        idle=group.use.idle,
        usual=group.usual,
    )


def _share(card: str, able: _Sums) -> CardShare:
    """Return the share of a way; 0 where nothing went."""
    received, sent = able[card]
    all_received, all_sent = (sum(ways[way] for ways in able.values()) for way in (0, 1))
    return CardShare(
        card,
        share=(received + sent) / max(1, all_received + all_sent),
        received_share=received / max(1, all_received),
        sent_share=sent / max(1, all_sent),
    )
