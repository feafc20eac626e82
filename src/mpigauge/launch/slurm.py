"""What Slurm has given to the job that we run in, told by the environment alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.plan.hosts import HOSTS_MOST, expand_nodelist

_COUNT = re.compile(r"([0-9]{1,9})(?:\(x([0-9]{1,6})\))?")


@dataclass(frozen=True, slots=True)
class Node:
    """A host of an allocation.

    Attributes:
        tasks: Ranks that Slurm means to start there.
        cpus: Processors that the job has there.
    """

    name: str
    tasks: int
    cpus: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """A job of Slurm.

    Attributes:
        job: Its number; of an array's task, "number_task".
        restarts: How often it has been put back into the queue.
        ends: UNIX time of its limit; None if Slurm does not say.
    """

    job: str
    nodes: tuple[Node, ...]
    restarts: int = 0
    ends: float | None = None

    @property
    def tasks(self) -> int:
        """On all nodes together."""
        return sum(node.tasks for node in self.nodes)


def allocation(environ: Mapping[str, str]) -> Allocation | None:
    """The allocation that an environment tells of; None outside of one.

    Raises:
        EnvironmentLacksError: The variables contradict each other or cannot be read; names the variable.
    """
    job, nodelist = environ.get("SLURM_JOB_ID"), environ.get("SLURM_JOB_NODELIST")
    if not job or not nodelist:
        return None
    try:
        names = expand_nodelist(nodelist)
    except UsageError as error:
        raise EnvironmentLacksError(f"SLURM_JOB_NODELIST: {error.sentence}", HINT) from None
    cpus = _counts(environ, "SLURM_JOB_CPUS_PER_NODE", "1", len(names))
    tasks = _counts(environ, "SLURM_TASKS_PER_NODE", environ.get("SLURM_JOB_CPUS_PER_NODE", "1"), len(names))
    return Allocation(
        job=_name(environ, job),
        nodes=tuple(map(Node, names, tasks, cpus)),
        restarts=_number(environ, "SLURM_RESTART_COUNT") or 0,
        ends=_number(environ, "SLURM_JOB_END_TIME"),
    )


HINT = "start it by sbatch or salloc; outside of a job, unset what begins with SLURM_"


def _name(environ: Mapping[str, str], job: str) -> str:
    array, task = environ.get("SLURM_ARRAY_JOB_ID"), environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else job


def _counts(environ: Mapping[str, str], variable: str, default: str, nodes: int) -> tuple[int, ...]:
    """One number a node, from `2(x3),1`."""
    text = environ.get(variable, default)
    counts: list[int] = []
    for word in text.split(","):
        found = _COUNT.fullmatch(word)
        if found is None or len(counts) > HOSTS_MOST:
            raise EnvironmentLacksError(f"{variable}: {text[:80]!r} is not a list of numbers per node", HINT)
        counts += [int(found[1])] * int(found[2] or 1)
    if len(counts) == 1:
        counts *= nodes
    if len(counts) != nodes:
        raise EnvironmentLacksError(f"{variable}: {text[:80]!r} has {len(counts)} nodes, not {nodes}", HINT)
    return tuple(counts)


def _number(environ: Mapping[str, str], variable: str) -> int | None:
    text = environ.get(variable, "")
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
