"""The network cards of the hosts that the fake kernel runs on, and what they carry."""

from __future__ import annotations

import os

from tests.fakes.machine import host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEADER_BYTES = 20
MAX_TOLD = 64
NETWORK_FACTOR = 2
"""With as much again for headers."""

ASKS_FOR_NETWORK = (("OMPI_MCA_btl", "tcp"), ("MPIR_CVAR_NOLOCAL", "1"), ("I_MPI_FABRICS", "ofi"))
"""Variables and how their values begin that make a library use the network within a host, too."""


def cards_of(host: str) -> list[tuple[str, str, bool]]:
    """Name, kind and whether it is counted: an interface, and what FAKE_CARDS adds."""
    cards = [("eth0", "ip", True)]
    for word in os.environ.get("FAKE_CARDS", "").split():
        where, _, name = word.rpartition("=")
        if where in {"", host}:
            cards.append((name.removesuffix("!"), "rdma", not name.endswith("!")))
    return cards


def traffic(visit: dict[str, Any], ranks: int, operations: int, calls: int) -> list[str]:
    """What is carried for so many operations: nothing over shared memory, which ranks of one host use."""
    past_ip = "FAKE_RDMA" in os.environ
    members = [int(rank) for rank in visit["pair"].split("-")] if visit["pair"] else range(ranks)
    hosts = {host_of(rank): rank for rank in sorted(members, reverse=True)}
    told = [word for word in ASKS_FOR_NETWORK if os.environ.get(word[0], "").startswith(word[1])]
    btl = os.environ.get("OMPI_MCA_btl", "")  # noqa: SIM112
    shared = not past_ip and (btl.startswith("vader") or (len(hosts) == 1 and not told))
    total = 0 if shared else NETWORK_FACTOR * ranks * operations * max(HEADER_BYTES, visit["bytes"])
    cards = [card for host in hosts for card in cards_of(host)]
    seen = any(kind == "rdma" and counted for _, kind, counted in cards)
    ip, rdma = (0, total if seen else 0) if past_ip else (total, 0)
    return [
        f'"net_bytes":{ip},"net_calls":{calls},"ip_received_bytes":{ip},"ip_sent_bytes":{ip}',
        f'"rdma_received_bytes":{rdma},"rdma_sent_bytes":{rdma}',
        f'"uncounted_cards":{sum(not counted for _, _, counted in cards)}',
        *by_card(hosts, ip, rdma),
    ]


def by_card(hosts: dict[str, int], ip: int, rdma: int) -> list[str]:
    """Each host has its part in the sums, which its first counted card of a kind carries; 64 are told.

    Args:
        hosts: And a rank on each.
        ip: What interfaces have carried, of all hosts together.
        rdma: What the other cards have.
    """
    words = []
    for kind, total in (("ip", ip), ("rdma", rdma)):
        used = {
            rank: next((name for name, its, counted in cards_of(host) if its == kind and counted), "")
            for host, rank in hosts.items()
        }
        able = sorted(rank for rank, name in used.items() if name)
        for place, rank in enumerate(able if total else []):
            part = total // len(able) + (total % len(able) if place == 0 else 0)
            words.append(
                f'{{"rank":{rank},"card":"{used[rank]}","kind":"{kind}"'
                f',"received_bytes":{part},"sent_bytes":{part}}}'
            )
    return [f'"by_card":[{",".join(words[:MAX_TOLD])}]'] if words else []
