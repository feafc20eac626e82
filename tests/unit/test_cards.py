"""What the kernel counts of the network cards of a host: the C files themselves, on folders that are made up.

No machine with such cards was at hand: the trees are as the drivers' sources have them.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PARTS = (
    "rounds/cards.c",
    "rounds/card_facts.c",
    "rounds/rdma_cards.c",
    "rounds/interfaces.c",
    "text/small_file.c",
)
HEADINGS = (
    "Inter-|   Receive                     |  Transmit\n face |bytes    packets errs|bytes    packets\n"
)
INFINIBAND, SLINGSHOT = "sys/class/infiniband", "sys/class/cxi"
ONE_IP = "eth0 ip counted"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """counted_cards.c with the files of the kernel that it is about."""
    output = tmp_path_factory.mktemp("cards") / "counted_cards"
    sources = [HERE / "counted_cards.c", *(kernel.SOURCES / part for part in PARTS)]
    words = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-I", kernel.SOURCES, "-o", output, *sources]
    subprocess.run([str(word) for word in words], check=True)
    return output


class Machine:
    """A host whose cards are files; it has one interface and no other card."""

    def __init__(self, root: Path, program: Path) -> None:
        self._root, self._program = root, program
        self.interfaces(eth0=(1000, 2000))
        (root / "sys" / "class").mkdir(parents=True)

    def write(self, path: str, text: object) -> None:
        """In place, so that who has opened the file reads it."""
        file = self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="ascii")

    def interfaces(self, **bytes_: tuple[int, int]) -> None:
        """Received and sent by each."""
        lines = "".join(
            f"{name:>6}: {received} 5 0 0 0 0 0 0 {sent} 7 0 0 0 0 0 0\n"
            for name, (received, sent) in bytes_.items()
        )
        self.write("proc/self/net/dev", (HEADINGS + lines).removesuffix("\n"))

    def port(self, name: str, **values: object) -> None:
        """Counters of a port; `__` stands for the folder's slash."""
        for file, value in values.items():
            self.write(f"{INFINIBAND}/{name}/{file.replace('__', '/')}", value)

    def start(self) -> Started:
        """The kernel's view of it, from now on."""
        words = [str(self._program), str(self._root)]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        cards = list(iter(lambda: process.stdout.readline().rstrip("\n"), ""))  # type: ignore[union-attr]
        started = Started(process, cards)
        assert started.said()[:4] == (0, 0, 0, 0)
        return started


@dataclass
class Started:
    """A program that says what was carried since its start."""

    process: subprocess.Popen[str]
    cards: list[str]

    def said(self) -> tuple[int, ...]:
        """Received and sent by IP, received and sent by RDMA, cards that were not counted."""
        assert self.process.stdout is not None
        return tuple(map(int, self.process.stdout.readline().split()))

    def carried(self) -> tuple[int, ...]:
        """The same, until now."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.said()

    def end(self) -> int:
        """Its status."""
        self.process.communicate()
        return self.process.returncode


@pytest.fixture
def machine(tmp_path: Path, program: Path) -> Machine:
    """A host with one interface."""
    return Machine(tmp_path, program)


@pytest.fixture
def started() -> Iterator[list[Started]]:
    """Programs that must end well."""
    programs: list[Started] = []
    yield programs
    assert [one.end() for one in programs] == [0] * len(programs)


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


def test_counters_that_somebody_sets_to_zero_are_not_counted(
    machine: Machine, started: list[Started]
) -> None:
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=1000, counters__port_xmit_data=1000)
    started.append(host := machine.start())
    machine.port("mlx5_0/ports/1", counters__port_rcv_data=3, counters__port_xmit_data=2000)
    assert host.carried() == (0, 0, 0, 0, 1)


def test_an_interface_that_is_gone_is_not_counted(machine: Machine, started: list[Started]) -> None:
    machine.interfaces(eth0=(10, 10), veth1=(1000, 1000))
    started.append(host := machine.start())
    machine.interfaces(eth0=(500, 500))
    assert host.carried() == (0, 0, 0, 0, 1)


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
