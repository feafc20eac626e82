"""Cards that stood still beside others are named, by host; where all did what they could, nothing is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.find.transport import cards_finding, cards_line, doubt_of
from mpigauge.result.kernel_data import MAX_CARDS_REPORTED, Card, CardTraffic, HostCards
from mpigauge.rows.rates import wire_bytes
from mpigauge.rows.rows import rows
from mpigauge.rows.transport.cards_used import MAX_IDLE, cards_used
from mpigauge.rows.transport.proof import Labels, Uncounted
from tests.made import PATTERNS, PLACE, campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from mpigauge.rows.transport.cards_used import CardsUsed
    from mpigauge.vocabulary import CardKind

KNOWN = {pattern.name: pattern for pattern in PATTERNS}
SIZE, CALLS = 1 << 20, 100
PINGPONG = cell("pingpong", SIZE)
PAYLOAD = 2 * CALLS * wire_bytes(PINGPONG, KNOWN["pingpong"])
EDR = "100 Gb/sec (4X EDR)"


def rails(count: int, **more: object) -> list[Card]:
    """So many InfiniBand cards, which are up."""
    return [replace(Card(f"mlx5_{n}/1", "rdma", counted=True, speed=EDR), **more) for n in range(count)]


def ip_card(name: str, driver: str = "ice", speed: str = "25000 Mbit/s") -> Card:
    """An interface, of a card that is up unless told otherwise."""
    return Card(name, "ip", counted=True, driver=driver, speed=speed)


def told(rank: int, card: str, share: float, kind: CardKind = "rdma") -> CardTraffic:
    """It carried so much of a visit's payload, half of it each way; or was lost."""
    bytes_ = round(share * PAYLOAD / 2) if share >= 0 else -1
    return CardTraffic(rank, card, kind, bytes_, bytes_)


def made(
    cards: Mapping[str, Sequence[Card]], *by_card: CardTraffic, of: Cell = PINGPONG, uncounted: int = 0
) -> Result:
    """One visit, between ranks each on a host of its own."""
    places = tuple(replace(PLACE, host=host) for host in cards)
    hosts = tuple(HostCards((host,), tuple(mine)) for host, mine in cards.items())
    one = replace(launch(1, job=of.job), ranks_at=places, cards=hosts)
    return result_of(campaign(of), one, seen(of, by_card, uncounted))


def seen(of: Cell, by_card: tuple[CardTraffic, ...], uncounted: int = 0) -> Visit:
    """A visit with what cards carried meanwhile."""
    more = {"net_calls": CALLS, "by_card": by_card, "uncounted_cards": uncounted}
    return visit(1, 1, of, [100], **more)


def found(cards: Mapping[str, Sequence[Card]], *by_card: CardTraffic) -> list[CardsUsed]:
    """What is found of it."""
    return cards_used(rows(made(cards, *by_card)))


def test_of_one_card_nothing_is_said() -> None:
    one = {"h1": rails(1), "h2": rails(1)}
    assert found(one, told(0, "mlx5_0/1", 1.0), told(1, "mlx5_0/1", 1.0)) == []


def test_four_of_eight_idle_cards_are_named() -> None:
    used = [told(0, f"mlx5_{n}/1", 0.25) for n in (0, 2, 4, 6)]
    (fact,) = found({"h1": rails(8)}, *used)
    assert fact.hosts == ("h1",)
    assert {one.card: one.share for one in fact.used} == pytest.approx(
        {"mlx5_0/1": 0.25, "mlx5_2/1": 0.25, "mlx5_4/1": 0.25, "mlx5_6/1": 0.25}
    )
    assert fact.idle == ("mlx5_1/1", "mlx5_3/1", "mlx5_5/1", "mlx5_7/1")
    assert cards_line(fact) == (
        "cards, Open MPI 5.0.11, 2 ranks: 4 of 8 RDMA cards on h1 carried messages of pingpong: "
        "mlx5_0/1 25 %, mlx5_2/1 25 %, mlx5_4/1 25 %, mlx5_6/1 25 %; "
        "idle: mlx5_1/1, mlx5_3/1, mlx5_5/1, mlx5_7/1"
    )


def test_one_of_two_cards_that_carried_99_percent_is_named_with_its_share() -> None:
    (fact,) = found({"h1": rails(2), "h2": rails(1)}, told(0, "mlx5_0/1", 0.99), told(0, "mlx5_1/1", 0.01))
    assert (fact.hosts, [one.card for one in fact.used], fact.idle) == (("h1",), ["mlx5_0/1"], ("mlx5_1/1",))
    assert fact.share == pytest.approx(0.99, abs=1e-4)
    assert "mlx5_0/1 99 %; idle: mlx5_1/1" in cards_line(fact)


@given(st.lists(st.floats(0.5, 1), min_size=2, max_size=16))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_cards_that_share_the_work_are_not_called_idle(shares: list[float]) -> None:
    part = [share / sum(shares) for share in shares]
    assert found({"h1": rails(len(part))}, *(told(0, f"mlx5_{n}/1", x) for n, x in enumerate(part))) == []


def test_a_host_that_used_another_card_than_most_is_found_with_what_they_used() -> None:
    hosts = {f"h{n}": rails(2) for n in range(1, 9)}
    by_card = [told(n, "mlx5_1/1" if n == 6 else "mlx5_0/1", 1.0) for n in range(8)]
    usual, odd = found(hosts, *by_card)
    assert (usual.usual, len(usual.hosts)) == ((), 7)
    assert (odd.hosts, odd.usual, odd.idle) == (("h7",), ("mlx5_0/1",), ("mlx5_0/1",))
    assert cards_line(odd).endswith("mlx5_1/1; idle: mlx5_0/1; more hosts used mlx5_0/1")


def test_hosts_that_are_alike_are_said_together_and_of_many_some_are_named() -> None:
    hosts = {f"h{n}": rails(2) for n in range(1, 31)}
    (fact,) = found(hosts, *(told(n, "mlx5_0/1", 1.0) for n in range(30)))
    assert len(fact.hosts) == 30
    assert "on h1, h2, h3, h4, h5, h6 and 24 more carried" in cards_line(fact)


@pytest.mark.parametrize(
    "other",
    [
        ip_card("docker0", driver=""),
        ip_card("eth1", speed=""),
        replace(ip_card("eth1"), counted=False),
        Card("mlx5_0/1", "rdma", counted=True, speed=EDR),
    ],
    ids=["virtual", "down", "uncounted", "another-kind"],
)
def test_what_no_message_could_have_gone_through_is_not_called_idle(other: Card) -> None:
    assert found({"h1": [ip_card("eth0"), other]}, told(0, "eth0", 1.0, "ip")) == []


def test_a_second_interface_that_is_up_is_idle() -> None:
    (fact,) = found({"h1": [ip_card("eth0"), ip_card("eth1")]}, told(0, "eth0", 1.0, "ip"))
    assert (fact.kind, fact.idle) == ("ip", ("eth1",))
    assert "1 of 2 IP interfaces on h1" in cards_line(fact)


def test_within_a_host_messages_go_over_no_card() -> None:
    """Those of the loopback interface are none that a card could have carried; the rest is noise."""
    cards = {"h1": [ip_card("lo", driver="", speed=""), ip_card("eth0"), ip_card("eth1")]}
    assert found(cards, told(0, "lo", 2.0, "ip"), told(0, "eth0", 0.001, "ip")) == []


def test_a_card_that_was_lost_is_not_called_idle_and_is_named_in_the_doubt() -> None:
    cards = {"h1": rails(2), "h2": rails(2)}
    of = cell("pingpong", SIZE, transport="shm")
    lost = [told(1, "mlx5_1/1", -1), told(0, "mlx5_0/1", 0.01), told(1, "mlx5_0/1", 0.01)]
    assert found({"h2": rails(2)}, told(0, "mlx5_1/1", -1), told(0, "mlx5_0/1", 1.0)) == []
    travel = Labels(made(cards, *lost, of=of, uncounted=1), KNOWN).of(of)
    assert travel is not None
    assert (travel.proof, travel.uncounted) == ("unknown", (Uncounted("mlx5_1/1", ("h2",)),))
    assert doubt_of(travel) == "could not count mlx5_1/1 of h2"


@given(st.floats(0, 1))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_what_a_full_list_leaves_out_is_idle_only_if_the_least_that_it_tells_would_be(least: float) -> None:
    """One host whose second card is not told of, among 63 others."""
    hosts = {"h0": rails(2)} | {f"h{n}": rails(1) for n in range(1, MAX_CARDS_REPORTED)}
    by_card = [told(0, "mlx5_0/1", 1.0), *(told(n, "mlx5_0/1", least) for n in range(1, MAX_CARDS_REPORTED))]
    assert len(by_card) == MAX_CARDS_REPORTED
    idle = {fact.idle for fact in found(hosts, *by_card)}
    assert idle == ({("mlx5_1/1",)} if least <= MAX_IDLE / 2 else set())


def test_files_that_name_what_there_is_not_say_nothing() -> None:
    assert found({"h1": rails(2)}, told(7, "mlx5_0/1", 1.0)) == []
    assert found({"h1": []}, told(0, "mlx5_0/1", 1.0)) == []
    assert found({"h1": rails(2)}) == [], "as of an older mpigauge"


def test_a_card_for_each_way_is_said() -> None:
    one_way = [
        CardTraffic(0, "mlx5_0/1", "rdma", PAYLOAD // 2, 0),
        CardTraffic(0, "mlx5_1/1", "rdma", 0, PAYLOAD // 2),
    ]
    (fact,) = found({"h1": rails(3)}, *one_way)
    assert "mlx5_1/1 100 % of what was sent, 0 % of what was received" in cards_line(fact)


def test_the_finding_has_hosts_cards_and_shares() -> None:
    (fact,) = found({"h1": rails(2)}, told(0, "mlx5_0/1", 1.0))
    of = cards_finding(fact)
    assert (of.kind, of.severity, of.cells) == ("cards-used", "info", (PINGPONG,))
    assert of.value == {
        "kind": "rdma",
        "hosts": ("h1",),
        "used": ({"card": "mlx5_0/1", "share": 1.0, "received_share": 1.0, "sent_share": 1.0},),
        "idle": ("mlx5_1/1",),
        "usual": (),
    }
