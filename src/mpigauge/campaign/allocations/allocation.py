"""The allocation of the job that we run in: its hosts and their slots."""

import re
from dataclasses import dataclass
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.plan.hosts import NAME, Host, expand_nodelist, hosts_of


@dataclass(frozen=True, slots=True)
class Node:
    """A host of an allocation.

    Attributes:
        tasks: Ranks to be started on it, as the scheduler says.
        cpus: Processors that the job has on it.
    """

    name: str
    tasks: int
    cpus: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """A job of a scheduler.

    Attributes:
        job: Its number or name; for a task of a Slurm array, "number_task".
        restarts: How often it has been requeued.
        ends: UNIX time of its time limit; None if the scheduler does not say.
    """

    job: str
    nodes: tuple[Node, ...]
    restarts: int = 0
    ends: float | None = None

    @property
    def tasks(self) -> int:
        """Tasks on all nodes together."""
        return sum(node.tasks for node in self.nodes)

    @property
    def names(self) -> frozenset[str]:
        """Names of its nodes."""
        return frozenset(node.name for node in self.nodes)


def of_file(job: str, variable: str, path: str) -> Allocation:
    """Return the allocation of a machine file: one host per line, repeated once per slot.

    Raises:
        EnvironmentLacksError: The file cannot be read; names the variable and the file.
    """
    try:
        hosts = hosts_of(str(Path(path).absolute()))
    except UsageError as error:
        raise EnvironmentLacksError(
            f"{variable}: {error.sentence}", f"run where the job's first process runs, or unset {variable}"
        ) from None
    return of_hosts(job, hosts)


def nodes_named(text: str) -> tuple[str, ...]:
    """Return the names of a compressed node list, as a scheduler writes it.

    Raises:
        UsageError: It is not such a list, or a word cannot be the name of a host.
    """
    names = expand_nodelist(text)
    for name in names:
        if not re.fullmatch(NAME, name, re.ASCII):
            raise UsageError(f"{name[:80]!r} is not a host name", "")
    return names


def of_hosts(job: str, hosts: tuple[Host, ...]) -> Allocation:
    """Return the allocation of hosts of which only the slots are known."""
    return Allocation(job, tuple(Node(host.name, host.slots, host.slots) for host in hosts))
