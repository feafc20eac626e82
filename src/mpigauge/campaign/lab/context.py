"""The lab that this process runs in: its hosts, how to reach them, and whether its relay keeps up."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct, field

from mpigauge.campaign.lab import counters
from mpigauge.campaign.lab.counters import Counters
from mpigauge.errors import UsageError
from mpigauge.plan import lab as plan

VARIABLE = "MPIGAUGE_LAB"
"""Environment variable with the path of the file that describes the lab."""


SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - of each host its own


class LabHost(Struct, frozen=True):
    """An emulated host."""

    name: str
    address: str


class CurrentLab(Struct, frozen=True):
    """The lab that this process is in, as the file has it that describes the lab.

    Attributes:
        shell: Absolute path of the program that replaces ssh: `shell [options] HOST COMMAND…`.
        counters_path: Path of the relay's counters, in the form of `counters.read`.
        table: The `[lab]` table that it was made from.
    """

    hosts: tuple[LabHost, ...]
    shell: str
    counters_path: str = field(name="counters")
    table: plan.Lab = field(name="lab")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its hosts."""
        return tuple(host.name for host in self.hosts)

    def counters(self) -> Counters:
        """Return the current counters of the relay."""
        return counters.read(Path(self.counters_path).read_bytes())


def is_of_one_host(path: Path) -> bool:
    """Return whether a file in a lab is in the memory of one host alone, and lost with the lab."""
    return path.resolve().is_relative_to(SHARED_MEMORY)


def current() -> CurrentLab | None:
    """Return the lab that this process is in; None outside of a lab.

    Raises:
        UsageError: The variable names a file that does not describe a lab.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=CurrentLab)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(
            f"{VARIABLE}={path}: does not describe a lab: {error}", f"unset {VARIABLE}"
        ) from None
