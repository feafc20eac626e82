"""What a scheduler has given to the job that we run in."""

import re
from dataclasses import dataclass
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.plan.hosts import NAME, Host, expand_nodelist, hosts_of


@dataclass(frozen=True, slots=True)
class Node:
    """A host of an allocation.

    Attributes:
        tasks: Ranks that the scheduler means to be started there.
        cpus: Processors that the job has there.
    """

    name: str
    tasks: int
    cpus: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """A job of a scheduler.

    Attributes:
        job: Its number or name; of an array's task of Slurm, "number_task".
        restarts: How often it has been put back into the queue.
        ends: UNIX time of its limit; None if the scheduler does not say.
    """

    job: str
    nodes: tuple[Node, ...]
    restarts: int = 0
    ends: float | None = None

    @property
    def tasks(self) -> int:
        """On all nodes together."""
        return sum(node.tasks for node in self.nodes)

    @property
    def names(self) -> frozenset[str]:
        """Of its nodes."""
        return frozenset(node.name for node in self.nodes)


def of_file(job: str, variable: str, path: str) -> Allocation:
    """The allocation of a machine file: a host a line, as often as it has slots.

    Raises:
        EnvironmentLacksError: It cannot be read; names the variable and the file.
    """
    try:
        hosts = hosts_of(str(Path(path).absolute()))
    except UsageError as error:
        raise EnvironmentLacksError(
            f"{variable}: {error.sentence}", f"run where the job's first process runs, or unset {variable}"
        ) from None
    return of_hosts(job, hosts)


def nodes_named(text: str) -> tuple[str, ...]:
    """The nodes of a compressed list, as a scheduler writes it.

    Raises:
        UsageError: It is not such a list, or one of its words cannot be the name of a host.
    """
    names = expand_nodelist(text)
    for name in names:
        if not re.fullmatch(NAME, name, re.ASCII):
            raise UsageError(f"{name[:80]!r} is not a host name", "")
    return names


def of_hosts(job: str, hosts: tuple[Host, ...]) -> Allocation:
    """The allocation of hosts whose slots are all that is known of their processors."""
    return Allocation(job, tuple(Node(host.name, host.slots, host.slots) for host in hosts))
