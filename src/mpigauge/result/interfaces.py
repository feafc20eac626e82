"""Network interfaces and RDMA cards of this machine, as /sys/class says: name, state, speed, MTU."""

from pathlib import Path

from msgspec import Struct

from mpigauge.result.system_files import read

NET, RDMA = Path("/sys/class/net"), Path("/sys/class/infiniband")
MBIT = 125_000.0
"""Bytes per second."""

LOOPBACK = "lo"


class Interface(Struct, frozen=True):
    """A network interface or a port of an RDMA card.

    Attributes:
        state: The system's word: up, down, unknown; for an RDMA port ACTIVE and others.
        speed: Speed of an RDMA port in the system's words: "100 Gb/sec (4X EDR)"; "" if not known.
        bytes_per_s: Speed of an IP interface; 0 if not known, as for virtual ones.
        mtu: Largest packet of an IP interface, in bytes; 0 if not known.
    """

    name: str
    state: str
    speed: str = ""
    bytes_per_s: float = 0.0
    mtu: int = 0

    @property
    def is_rdma(self) -> bool:
        """Whether it is a port of an RDMA card and not an IP interface."""
        return ":" in self.name

    @property
    def works(self) -> bool:
        """Whether it can carry messages; a virtual interface in an unknown state may."""
        return self.state.lower() in {"up", "unknown", "active"}


def interfaces() -> list[Interface]:
    """Return IP interfaces other than the loopback, by name, then ports of RDMA cards."""
    ip = [_ip(folder) for folder in sorted(NET.glob("*")) if folder.name != LOOPBACK]
    return [*ip, *map(_port, sorted(RDMA.glob("*/ports/*")))]


def _ip(folder: Path) -> Interface:
    mbit, mtu = (_number(read(folder / name)) for name in ("speed", "mtu"))
    return Interface(folder.name, read(folder / "operstate"), bytes_per_s=mbit * MBIT, mtu=mtu)


def _port(folder: Path) -> Interface:
    """Return a port of an RDMA card, whose state is a number and a word: `4: ACTIVE`."""
    name = f"{folder.parent.parent.name}:{folder.name}"
    return Interface(name, read(folder / "state").rpartition(" ")[2], speed=read(folder / "rate"))


def _number(text: str) -> int:
    """Return the number in a system file; 0 for none, or for the -1 that means unknown."""
    return int(text) if text.isdecimal() else 0
