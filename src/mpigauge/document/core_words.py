"""How many cores there are, what keeps ranks from using more, and how to get them: a row for each limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.result.provenance import Environment


@dataclass(frozen=True, slots=True)
class CoreLimit:
    """Words on a limit of cores.

    Attributes:
        by: What it is.
        remedy: How to be without.
        do: Likewise in a few words.
    """

    by: str
    remedy: str
    do: str


LIMITS: Mapping[str, CoreLimit] = {
    "mpirun": CoreLimit(
        "affinity, by mpirun",
        "start mpigauge without mpirun, or by mpirun --bind-to none",
        "--bind-to none",
    ),
    "srun": CoreLimit(
        "affinity, by srun",
        "start mpigauge without srun, or by srun --cpu-bind=none",
        "--cpu-bind=none",
    ),
    "affinity": CoreLimit(
        "affinity",
        "start mpigauge without what binds it (taskset, numactl)",
        "start it without taskset",
    ),
    "cgroup": CoreLimit(
        "cpuset of the cgroup",
        "give the container or the job more: docker run --cpuset-cpus, sbatch --cpus-per-task",
        "give it more cores",
    ),
    "quota": CoreLimit(
        "CPU limit of the cgroup",
        "raise it: docker run --cpus",
        "raise it",
    ),
}
"""Limits by their names in `Environment.cores_limit`."""

UNKNOWN_LIMIT = CoreLimit(
    "", "let it run on more: without taskset, a CPU limit, or what mpirun binds it to", "let it use more"
)


def limit_of(cores: int, online: int, limit: str) -> CoreLimit | None:
    """Return what is said of what keeps ranks to some of the cores that are online; None if they have all."""
    return LIMITS.get(limit, UNKNOWN_LIMIT) if 0 < cores < online else None


def cores_allowed(cores: int, online: int, limit: str) -> str:
    """Return how many cores there are, of how many, and why no more: `1 of 2 cores allowed (affinity)`."""
    if (found := limit_of(cores, online, limit)) is None:
        return counted(cores, "core")
    return f"{cores} of {counted(online, 'core')} allowed{found.by and f' ({found.by})'}"


def cores_of(machine: Environment) -> str:
    """Return how many cores a machine has in few words, `1 of 2 cores`; empty if not known."""
    if not machine.cores:
        return ""
    some = f"{machine.cores} of " if machine.cores < machine.cores_online else ""
    return f"{some}{counted(max(machine.cores, machine.cores_online) if some else machine.cores, 'core')}"
