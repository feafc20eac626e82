"""What the kernel counts of the network cards of a host: the C files themselves, on folders that are made up.

No machine with such cards was at hand: the trees are as the drivers' sources have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.cards.made_host import INFINIBAND, ONE_IP, SLINGSHOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cards.made_host import Machine, Started


def test_a_host_without_such_cards_has_its_interfaces(machine: Machine, started: list[Started]) -> None:
    machine.interfaces(lo=(10, 10), eth0=(1000, 2000))
    started.append(host := machine.start())
    assert host.cards == ["lo ip counted", ONE_IP]
    machine.interfaces(lo=(13, 13), eth0=(1500, 2007))
    assert host.carried() == (503, 10, 0, 0, 0)


def test_many_interfaces_are_all_counted(machine: Machine, started: list[Started]) -> None:
    """Their lines do not end where a read does, and grow while they are read."""
    names = [f"veth{number}" for number in range(400)]
    machine.interfaces(**dict.fromkeys(names, (9, 99)))
    started.append(host := machine.start())
    assert len(host.cards) == 256
    machine.interfaces(**dict.fromkeys(names, (10, 1099)))
    assert host.carried() == (400, 400_000, 0, 0, 0)


@pytest.mark.parametrize("card", ["mlx5_0", "mlx5_bond_0", "hfi1_0", "qib0"])
def test_infiniband_roce_and_omni_path_count_words_of_4_bytes(
    machine: Machine, started: list[Started], card: str
) -> None:
    machine.port(f"{card}/ports/1", counters__port_rcv_data=100, counters__port_xmit_data=7)
    started.append(host := machine.start())
    assert host.cards == [f"{card}/1 rdma counted", ONE_IP]
    machine.port(f"{card}/ports/1", counters__port_rcv_data=350, counters__port_xmit_data=10)
    assert host.carried() == (0, 0, 1000, 12, 0)


def test_efa_counts_bytes_among_the_counters_of_its_hardware(
    machine: Machine, started: list[Started]
) -> None:
    files = {"hw_counters__rx_bytes": 5, "hw_counters__tx_bytes": 6, "hw_counters__lifespan": 10}
    machine.port("rdmap0s6/ports/1", **files)
    started.append(host := machine.start())
    assert host.cards == ["rdmap0s6/1 rdma counted", ONE_IP]
    machine.port("rdmap0s6/ports/1", hw_counters__rx_bytes=1005, hw_counters__tx_bytes=8)
    assert host.carried() == (0, 0, 1000, 2, 0)


def test_cards_of_intel_count_both_versions_of_ip(machine: Machine, started: list[Started]) -> None:
    def port(*values: int) -> None:
        names = ("ip4InOctets", "ip6InOctets", "ip4OutOctets", "ip6OutOctets")
        machine.port("irdma0/ports/1", **{f"hw_counters__{n}": v for n, v in zip(names, values, strict=True)})

    machine.port("irdma0/ports/1", hw_counters__lifespan=10)
    port(1, 2, 3, 4)
    started.append(host := machine.start())
    port(11, 102, 1003, 10_004)
    assert host.carried() == (0, 0, 110, 11_000, 0)


def test_slingshot_says_when_it_counted(machine: Machine, started: list[Started]) -> None:
    def card(received: int, sent: int) -> None:
        for name, value in (("hni_sts_rx_ok_octets", received), ("hni_sts_tx_ok_octets", sent)):
            machine.write(f"{SLINGSHOT}/cxi0/device/telemetry/{name}", f"{value}@1763830000.123456789")

    card(5, 50)
    started.append(host := machine.start())
    assert host.cards == ["cxi0 rdma counted", ONE_IP]
    card(905, 70)
    assert host.carried() == (0, 0, 900, 20, 0)


def test_all_ports_of_all_cards_are_counted_and_ip_is_apart(machine: Machine, started: list[Started]) -> None:
    ports = [f"mlx5_{card}/ports/{port}" for card in range(4) for port in (1, 2)]
    for port in ports:
        machine.port(port, counters__port_rcv_data=0, counters__port_xmit_data=0)
    started.append(host := machine.start())
    for port in ports:
        machine.port(port, counters__port_rcv_data=1, counters__port_xmit_data=2)
    machine.interfaces(eth0=(1001, 2001))
    assert [card.split()[0] for card in host.cards[:3]] == ["mlx5_0/1", "mlx5_0/2", "mlx5_1/1"]
    assert host.carried() == (1, 1, 8 * 4, 8 * 8, 0)
    assert host.each == {port.replace("ports/", ""): "4/8" for port in ports} | {"eth0": "1/1"}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"state": "4: ACTIVE"},
        {"counters__port_rcv_data": "N/A (no PMA)", "counters__port_xmit_data": "N/A (no PMA)"},
        {"counters__port_rcv_data": 5},
        {"counters__port_rcv_data": 2**32 - 1, "counters__port_xmit_data": 5},
        {"hw_counters__rx_bytes": 5, "hw_counters__tx_bytes": 5, "hw_counters__lifespan": 1000},
        {"hw_counters__rcvd_pkts": 5, "hw_counters__sent_pkts": 5},
    ],
    ids=["no-ports", "no-counters", "no-pma", "one-way", "at-its-end", "held-back", "packets-only"],
)
def test_a_port_that_does_not_say_its_bytes_is_named_and_not_counted(
    machine: Machine, started: list[Started], files: dict[str, object]
) -> None:
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=0, counters__port_xmit_data=0)
    machine.write(f"{INFINIBAND}/odd0/node_type", "1: CA")
    machine.port("odd0/ports/1", **files)
    started.append(host := machine.start())
    name = "odd0/1" if files else "odd0"
    assert host.cards == ["mlx5_0/1 rdma counted", f"{name} rdma uncounted", ONE_IP]
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=25, counters__port_xmit_data=0)
    assert host.carried() == (0, 0, 100, 0, 1)


def test_without_sys_nobody_knows_which_cards_there_are(
    machine: Machine, started: list[Started], tmp_path: Path
) -> None:
    (tmp_path / "sys" / "class").rmdir()
    started.append(host := machine.start())
    assert host.cards == ["/sys/class rdma uncounted", ONE_IP]
    assert host.carried() == (0, 0, 0, 0, 1)


def test_without_proc_the_interfaces_are_not_counted(
    machine: Machine, started: list[Started], tmp_path: Path
) -> None:
    (tmp_path / "proc" / "self" / "net" / "dev").unlink()
    started.append(host := machine.start())
    assert host.cards == ["/proc/self/net/dev ip uncounted"]
    assert host.carried() == (0, 0, 0, 0, 1)


@pytest.mark.parametrize(
    ("state", "speed"),
    [("4: ACTIVE", " 40 Gb/sec"), ("1: DOWN", ""), ("2: INIT", ""), ("5: ACTIVE_DEFER", " 40 Gb/sec")],
)
def test_a_port_that_is_down_has_no_speed(
    machine: Machine, started: list[Started], state: str, speed: str
) -> None:
    counted = {"counters__port_rcv_data": 1, "counters__port_xmit_data": 1}
    machine.port("mlx5_0/ports/1", **counted, rate="40 Gb/sec", state=state)
    started.append(host := machine.start())
    assert host.cards[0] == f"mlx5_0/1 rdma counted{speed}"


def test_what_the_system_says_of_cards_is_told(
    machine: Machine, started: list[Started], tmp_path: Path
) -> None:
    """A speed that is not known is -1 of an interface; of a port, the system writes it in words."""
    machine.interfaces(eth0=(1, 2), veth1=(1, 2))
    machine.write("sys/class/net/eth0/speed", 25000)
    machine.write("sys/class/net/eth0/mtu", 9000)
    machine.write("sys/class/net/veth1/speed", -1)
    machine.write(f"{INFINIBAND}/mlx5_0/fw_ver", "20.35.1012")
    counted = {"counters__port_rcv_data": 1, "counters__port_xmit_data": 1}
    machine.port("mlx5_0/ports/1", **counted, rate="100 Gb/sec (4X EDR)")
    for card in ("net/eth0", "infiniband/mlx5_0"):
        device = tmp_path / "sys" / "class" / card / "device"
        device.mkdir()
        (device / "driver").symlink_to("../../../bus/pci/drivers/mlx5_core")
    started.append(host := machine.start())
    assert host.cards == [
        "mlx5_0/1 rdma counted 100 Gb/sec (4X EDR) mlx5_core 20.35.1012",
        "eth0 ip counted 25000 Mbit/s 9000 mlx5_core",
        "veth1 ip counted",
    ]
