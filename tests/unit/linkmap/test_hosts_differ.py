"""What hosts differ in: who has another value than most, and what is no difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.linkmap import hosts_differ as words
from mpigauge.linkmap.hosts_differ import CARD_FACTS, MACHINE_FACTS, hosts_differ
from mpigauge.plan.lab import Lab
from mpigauge.result.kernel_data import Card, HostCards, Machine
from tests.made import campaign, cell, launch, result_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.result.reader import Result

NODE = Machine("h1", "Fast CPU", "6.1", 2**25, 2**38, "0x1", "0-31", "performance", "tsc")
CARD = Card("eth0", "ip", True, "10000 Mbit/s", "9000", "mlx5_core", "20.1")
BRIDGE = Card("docker0", "ip", True, "", "1500")


def result_with(
    machines: list[Machine], cards: Mapping[str, tuple[Card, ...]] | None = None, lab: Lab | None = None
) -> Result:
    """A result of hosts with these machines and cards."""
    of = campaign(cell())
    groups = tuple(HostCards((host,), mine) for host, mine in (cards or {}).items())
    started = replace(of, plan=replace(of.plan, lab=lab))
    return result_of(started, replace(launch(1), machines=tuple(machines), cards=groups))


def like(count: int, **other: object) -> list[Machine]:
    """Hosts, of which the third is another."""
    hosts = [replace(NODE, host=f"h{number}") for number in range(1, count + 1)]
    return [replace(one, **(other if one.host == "h3" else {})) for one in hosts]


def test_every_fact_has_words() -> None:
    assert {*MACHINE_FACTS, *CARD_FACTS, "cards"} == {*words.FACTS}


@pytest.mark.parametrize("fact", MACHINE_FACTS)
def test_a_host_that_differs_is_named(fact: str) -> None:
    value = 2**20 if fact.endswith("bytes") else "other"
    found = hosts_differ(result_with(like(4, **{fact: value})))
    (one,) = found
    assert (one.fact, one.card, one.outliers) == (fact, "", ("h3",))
    assert words.sentence(one).endswith(f"{words.value_words(one, value)} on h3")
    assert "on 3 of 4" in words.sentence(one)


@pytest.mark.parametrize("fact", CARD_FACTS)
def test_so_is_a_card(fact: str) -> None:
    cards = {f"h{number}": (CARD, BRIDGE) for number in range(1, 5)}
    cards["h3"] = (replace(CARD, **{fact: "slow"}), replace(BRIDGE, mtu="9000"))
    (one,) = hosts_differ(result_with(like(4), cards))
    assert (one.fact, one.card, one.outliers) == (fact, "eth0", ("h3",))
    assert words.fact_words(one).endswith(" of eth0")


def test_interfaces_without_a_driver_are_of_containers_and_no_difference() -> None:
    cards = {f"h{number}": (CARD, replace(BRIDGE, name=f"veth{number}")) for number in range(1, 5)}
    assert hosts_differ(result_with(like(4), cards)) == ()
    del cards["h3"]
    (missing,) = hosts_differ(result_with(like(4), cards))
    assert words.sentence(missing) == "hosts differ: network cards: eth0 on 3 of 4, none on h3"


@given(st.lists(st.floats(0.995, 1.0), min_size=2, max_size=8))
def test_memory_that_hardly_differs_is_alike(shares: list[float]) -> None:
    sizes = [int(2**38 * share) for share in shares]
    machines = [replace(NODE, host=f"h{n}", memory_bytes=size) for n, size in enumerate(sizes)]
    assert hosts_differ(result_with(machines)) == ()


def test_where_no_value_is_that_of_most_nobody_is_an_outlier() -> None:
    machines = [replace(NODE, host=f"h{n}", kernel="6.1" if n % 2 else "6.2") for n in range(4)]
    (one,) = hosts_differ(result_with(machines))
    assert (one.usual, one.outliers) == (None, ())
    assert words.sentence(one) == "hosts differ: kernel release: 6.1 on h1, h3, 6.2 on h0, h2"


def test_what_a_system_does_not_say_is_said_to_be_not_visible() -> None:
    (one,) = hosts_differ(result_with(like(4, governor="")))
    assert words.sentence(one) == "hosts differ: frequency governor: performance on 3 of 4, not visible on h3"


@pytest.mark.parametrize("lab", [None, Lab(hosts=4)])
def test_alike_and_emulated_hosts_differ_in_nothing(lab: Lab | None) -> None:
    machines = like(4) if lab is None else like(4, kernel="other")
    assert hosts_differ(result_with(machines, lab=lab)) == ()


def test_older_results_know_no_machines() -> None:
    assert hosts_differ(result_with([])) == ()
