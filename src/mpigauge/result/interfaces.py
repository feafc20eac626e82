"""Network interfaces and RDMA cards of this machine, as /sys/class says: name, state, speed, MTU."""

from pathlib import Path

from msgspec import Struct

from mpigauge.result.system_files import read

NET, RDMA = Path("/sys/class/net"), Path("/sys/class/infiniband")
MBIT = 125_000.0
"""Bytes per second."""

LOOPBACK = "lo"


class Interface(Struct, frozen=True):
    """A way out of this machine.

    Attributes:
        state: As the system calls it: up, down, unknown; of an RDMA port ACTIVE and others.
        speed: In words, as far as it is known: "100 Gb/sec (4X EDR)" of an RDMA port; "" if not.
        bytes_per_s: Of an IP interface; 0 if the system does not say, as of virtual ones.
        mtu: Bytes of the largest packet of an IP interface; 0 if the system does not say.
    """

    name: str
    state: str
    speed: str = ""
    bytes_per_s: float = 0.0
    mtu: int = 0

    @property
    def is_rdma(self) -> bool:
        """Whether it is a port of an RDMA card, which has no packets of IP."""
        return ":" in self.name

    @property
    def works(self) -> bool:
        """Whether messages can go that way; of a virtual interface nobody knows."""
        return self.state.lower() in {"up", "unknown", "active"}


def interfaces() -> list[Interface]:
    """IP interfaces other than the loopback, by name, then ports of RDMA cards."""
    ip = [_ip(folder) for folder in sorted(NET.glob("*")) if folder.name != LOOPBACK]
    return [*ip, *map(_port, sorted(RDMA.glob("*/ports/*")))]


def _ip(folder: Path) -> Interface:
    mbit, mtu = (_number(read(folder / name)) for name in ("speed", "mtu"))
    return Interface(folder.name, read(folder / "operstate"), bytes_per_s=mbit * MBIT, mtu=mtu)


def _port(folder: Path) -> Interface:
    """Its state is a number and a word: `4: ACTIVE`."""
    name = f"{folder.parent.parent.name}:{folder.name}"
    return Interface(name, read(folder / "state").rpartition(" ")[2], speed=read(folder / "rate"))


def _number(text: str) -> int:
    """A number of a system file; 0 for none, or the -1 that says that nothing is known."""
    return int(text) if text.isdecimal() else 0
