"""For programs that run in a lab: which hosts it has, how to reach them, and whether its relay keeps up."""

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from mpigauge.campaign.lab import counters
from mpigauge.campaign.lab.counters import Counters
from mpigauge.errors import UsageError
from mpigauge.plan import lab as plan

VARIABLE = "MPIGAUGE_LAB"
"""Names the file that describes the lab that we are in."""


SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - of each host its own


class LabHost(Struct, frozen=True):
    """An emulated host."""

    name: str
    address: str


class LabDescription(Struct, frozen=True):
    """The file's content.

    Attributes:
        shell: Absolute path of what stands in for ssh.
        counters: What `counters.read` understands.
        lab: The table that it was made from.
    """

    hosts: tuple[LabHost, ...]
    shell: str
    counters: str
    lab: plan.Lab


@dataclass(frozen=True, slots=True)
class CurrentLab:
    """The lab that this process is in.

    Attributes:
        shell: Takes the words that ssh takes: `shell [options] HOST COMMAND…`.
        table: What it was made from.
    """

    hosts: tuple[LabHost, ...]
    shell: Path
    table: plan.Lab
    counters_path: Path

    @property
    def names(self) -> tuple[str, ...]:
        """Of its hosts."""
        return tuple(host.name for host in self.hosts)

    def counters(self) -> Counters:
        """What the relay has done until now."""
        return counters.read(self.counters_path.read_bytes())


def is_of_one_host(path: Path) -> bool:
    """Whether a file in a lab is that of one host alone, in memory, and gone with the lab."""
    return path.resolve().is_relative_to(SHARED_MEMORY)


def current() -> CurrentLab | None:
    """The lab that this process is in, if it is in one.

    Raises:
        UsageError: The variable names a file that is not there or is something else.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    try:
        found = msgspec.json.decode(Path(path).read_bytes(), type=LabDescription)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            f"{VARIABLE}={path}: does not describe a lab: {error}", f"unset {VARIABLE}"
        ) from None
    return CurrentLab(found.hosts, Path(found.shell), found.lab, Path(found.counters))
