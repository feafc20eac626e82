"""A label is proven where every network card was counted, and refuted by the card that carried the bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.document.status_words import reason_sentence
from mpigauge.find.transport import doubt_of, label_words
from mpigauge.plan.lab import Lab
from mpigauge.result.kernel_data import Card, HostCards
from mpigauge.rows.rates import wire_bytes
from mpigauge.rows.reasons import Refutation
from mpigauge.rows.transport.proof import Labels, Travel, Uncounted
from tests.made import PATTERNS, PLACE, campaign, cell, collective, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

KNOWN = {pattern.name: pattern for pattern in PATTERNS}
SIZE, CALLS = 1 << 20, 100
COUNTED, SILENT = Card("mlx5_0/1", "rdma", counted=True), Card("efa_0/1", "rdma", counted=False)


def labelled(transport: str, pattern: str = "pingpong", ranks: int = 2) -> Cell:
    """A cell with this label."""
    return cell(pattern, SIZE, ranks=ranks, transport=transport)


def seen(of: Cell, ip: float, rdma: float = 0.0, uncounted: int = 0) -> Visit:
    """A visit whose cards carried so many times its payload, half of it the other way."""
    payload = 2 * CALLS * wire_bytes(of, KNOWN[of.pattern])
    return replace(
        visit(1, 1, of, [100]),
        net_calls=CALLS,
        net_bytes=round(ip * payload),
        ip_received_bytes=round(ip * payload),
        rdma_sent_bytes=round(rdma * payload),
        rdma_received_bytes=round(rdma * payload / 2),
        uncounted_cards=uncounted,
    )


def travel_of(
    of: Cell, *visits: Visit, cards: tuple[HostCards, ...] = (), hosts: tuple[str, ...] = ("h1", "h1")
) -> Travel:
    """What is found of a cell with these visits."""
    places = tuple(replace(PLACE, host=host) for host in hosts)
    one = replace(launch(1, job=of.job), ranks_at=places, cards=cards)
    found = Labels(result_of(campaign(of), one, *visits), KNOWN).of(of)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("transport", "ip", "rdma", "refuted_as"),
    [
        ("shm", 0.0, 0.0, None),
        ("shm", 0.0, 1.0, "on-cards"),
        ("shm", 1.0, 0.0, "on-network"),
        ("tcp", 1.0, 0.0, None),
        ("tcp", 1.0, 1.1, None),  # IP over InfiniBand: both count it
        ("tcp", 0.0, 1.0, "on-cards"),
        ("tcp", 0.0, 0.0, "not-on-network"),
    ],
)
def test_bytes_on_the_wrong_cards_refute_a_label_and_no_others_prove_it(
    transport: str, ip: float, rdma: float, refuted_as: str | None
) -> None:
    of = labelled(transport)
    found = travel_of(of, seen(of, ip, rdma))
    assert found.proof == ("refuted" if refuted_as else "proven")
    assert (found.refutation.kind if found.refutation else None) == refuted_as
    assert found.rdma_share == pytest.approx(rdma, abs=1e-6)


def test_a_refutation_says_how_much_went_past_ip() -> None:
    assert reason_sentence(Refutation("on-cards", "shm", 0.98)) == (
        "transport shm did not take effect: 98 % of the payload went through RDMA cards, past IP"
    )


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_a_card_that_nobody_counts_leaves_the_label_open_and_is_named(transport: str) -> None:
    of = labelled(transport)
    cards = (HostCards(("h1",), (COUNTED,)), HostCards(("h2", "h3"), (COUNTED, SILENT)))
    found = travel_of(of, seen(of, float(transport == "tcp"), uncounted=1), cards=cards, hosts=("h1", "h2"))
    assert (found.proof, found.doubt) == ("unknown", "uncounted")
    assert found.uncounted == (Uncounted("efa_0/1", ("h2",)),), "h3 has no part in it"
    assert doubt_of(found) == "could not count efa_0/1 of h2"


@given(st.floats(0.2, 5))
@settings(derandomize=True, deadline=None)
def test_what_was_counted_refutes_whatever_was_not(rdma: float) -> None:
    of = labelled("shm")
    assert travel_of(of, seen(of, 0.0, rdma, uncounted=1)).proof == "refuted"


def test_an_older_file_proves_nothing_of_cards_that_nobody_looked_at() -> None:
    of = labelled("shm")
    found = travel_of(of, replace(seen(of, 0.0), uncounted_cards=-1), seen(of, 0.0))
    assert (found.proof, found.doubt, found.rdma_share) == ("unknown", "older", None)


def test_traffic_of_others_during_one_visit_neither_refutes_nor_proves() -> None:
    of = labelled("shm")
    found = travel_of(of, *(seen(of, 0.0, rdma) for rdma in (0.0, 0.0, 20.0)))
    assert (found.proof, found.doubt) == ("unknown", "uneven")


def test_too_little_payload_proves_nothing() -> None:
    of = labelled("shm")
    small = replace(seen(of, 0.0), cell=replace(of, bytes=8), net_calls=2)
    assert travel_of(small.cell, small).doubt == "small"


def test_without_a_label_there_is_nothing_to_prove() -> None:
    of = labelled("auto")
    found = travel_of(of, seen(of, 0.3, 0.7, uncounted=1))
    assert (found.proof, found.doubt, found.refutation) == (None, None, None)
    assert found.rdma_share == pytest.approx(0.7, abs=1e-6)


def test_the_words_count_the_cells_whose_label_is_open() -> None:
    proven, older = Travel(0.0, 0.0, "proven"), Travel(0.01, None, "unknown", "older")
    assert list(label_words([proven, proven])) == [
        "0 % of the payload crossed IP interfaces, 0 % RDMA cards",
        "proven",
    ]
    assert list(label_words([proven, older, older]))[1:] == [
        "proven for 1 of 3 cells",
        "not proven for 2 of 3 cells: an older mpigauge counted IP interfaces only",
    ]


def test_many_hosts_and_cards_are_counted_and_not_listed() -> None:
    hosts = tuple(f"h{number}" for number in range(1000))
    found = Travel(0, 0, "unknown", "uncounted", tuple(Uncounted(f"efa_{n}/1", hosts) for n in range(8)))
    assert len(doubt_of(found)) < 200
    assert "997 more hosts" in doubt_of(found)
    assert "5 more cards" in doubt_of(found)
    assert doubt_of(Travel(0, 0, "unknown", "uncounted")) == "a network card could not be counted"


@pytest.mark.parametrize(
    ("hosts", "refuted"), [(("h1", "h2", "h1", "h2"), False), (("h1", "h1", "h2", "h2"), True)]
)
def test_pairs_that_stay_on_their_hosts_need_no_network_of_a_lab(
    hosts: tuple[str, ...], refuted: bool
) -> None:
    of = collective("multi-stream", SIZE, "unidirectional", ranks=4, window=64)
    first = campaign(of)
    first = replace(first, plan=replace(first.plan, lab=Lab(hosts=2)))
    one = replace(launch(1, job=of.job), ranks_at=tuple(replace(PLACE, host=host) for host in hosts))
    found = Labels(result_of(first, one, seen(of, 0.0)), KNOWN).of(of)
    assert found is not None
    assert (found.refutation is not None) == refuted
