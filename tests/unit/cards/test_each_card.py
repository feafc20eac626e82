"""What each card of a host has carried, one by one, and which could not be counted any more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cards.made_host import Machine, Started


def test_each_card_is_told_apart_and_idle_ones_carry_nothing(
    machine: Machine, started: list[Started]
) -> None:
    """Four of eight carry, as nobody sees who looks at sums."""
    cards = [f"mlx5_{card}/ports/1" for card in range(8)]
    for card in cards:
        machine.port(card, counters__port_rcv_data=1000, counters__port_xmit_data=2000)
    started.append(host := machine.start())
    for card in cards[::2]:
        machine.port(card, counters__port_rcv_data=1025, counters__port_xmit_data=2010)
    assert host.carried() == (0, 0, 400, 160, 0)
    assert [card for card, carried in host.each.items() if carried == "100/40"] == [
        "mlx5_0/1",
        "mlx5_2/1",
        "mlx5_4/1",
        "mlx5_6/1",
    ]
    assert [*host.each.values()].count("0/0") == 5, "four cards, and the interface"


def test_an_interface_that_comes_meanwhile_carries_all_that_it_counts(
    machine: Machine, started: list[Started]
) -> None:
    started.append(host := machine.start())
    machine.interfaces(eth0=(1000, 2000), veth1=(7, 8))
    assert host.carried() == (7, 8, 0, 0, 0)
    assert host.each == {"eth0": "0/0", "veth1": "7/8"}


def test_what_a_host_has_beyond_those_that_are_told_apart_is_in_the_sums(
    machine: Machine, started: list[Started]
) -> None:
    names = [f"veth{number}" for number in range(300)]
    machine.interfaces(**dict.fromkeys(names, (10, 10)))
    started.append(host := machine.start())
    machine.interfaces(**dict.fromkeys(names, (11, 12)))
    assert host.carried() == (300, 600, 0, 0, 0)
    assert len(host.each) == 256
    machine.interfaces(**dict.fromkeys(names[:-1], (10, 10)), veth299=(0, 0))
    assert host.carried()[4] == 1, "a card that nobody tells apart was lost"


@pytest.mark.parametrize("odd", ["eth\x1b[2J", "eth\u00e9", "a\x7fb"])
def test_names_are_printable(machine: Machine, started: list[Started], odd: str) -> None:
    machine.raw("proc/self/net/dev", f"  {odd}: 5 5 0 0 0 0 0 0 6 7 0 0 0 0 0 0".encode())
    started.append(host := machine.start())
    assert re.fullmatch(r"[!-~]+ ip counted", host.cards[0])
    assert [re.fullmatch(r"[!-~]{1,63}", card) is not None for card in host.each] == [True]


def test_a_card_that_falls_silent_is_not_counted_any_more(machine: Machine, started: list[Started]) -> None:
    for port in ("mlx5_0/ports/1", "mlx5_1/ports/1"):
        machine.port(port, counters__port_rcv_data=1000, counters__port_xmit_data=1000)
    started.append(host := machine.start())
    machine.port("mlx5_1/ports/1", counters__port_rcv_data="N/A")
    assert host.carried()[4] > 0
    machine.port("mlx5_1/ports/1", counters__port_rcv_data=10**9)
    carried = host.carried()
    assert carried[2] < 4 * 10**9, "what it carried in all is taken for what it carried since"
    assert carried[4] > 0
    assert host.each["mlx5_1/1"] == "?"
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=1001)
    assert host.carried() == (0, 0, 4, 0, carried[4]), "the other card is counted on"


def test_counters_that_somebody_sets_to_zero_are_not_counted(
    machine: Machine, started: list[Started]
) -> None:
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=1000, counters__port_xmit_data=1000)
    started.append(host := machine.start())
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=3, counters__port_xmit_data=2000)
    assert host.carried() == (0, 0, 0, 0, 1)
    assert host.each == {"mlx5_0/1": "?", "eth0": "0/0"}


def test_a_counter_that_is_set_to_zero_is_seen_beside_one_that_has_carried_more(
    machine: Machine, started: list[Started]
) -> None:
    """Their sum never went back."""
    for card in ("mlx5_0", "mlx5_1"):
        machine.port(f"{card}/ports/1", counters__port_rcv_data=1000, counters__port_xmit_data=1000)
    started.append(host := machine.start())
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=3, counters__port_xmit_data=3)
    machine.port("mlx5_1/ports/1", counters__port_rcv_data=9000, counters__port_xmit_data=9000)
    assert host.carried() == (0, 0, 4 * 8000, 4 * 8000, 1)
    assert host.each["mlx5_0/1"] == "?"


def test_an_interface_that_is_gone_is_not_counted(machine: Machine, started: list[Started]) -> None:
    machine.interfaces(eth0=(10, 10), veth1=(1000, 1000))
    started.append(host := machine.start())
    machine.interfaces(eth0=(500, 500))
    assert host.carried() == (490, 490, 0, 0, 1)
    assert host.each == {"eth0": "490/490", "veth1": "?"}
