"""The allocation of a Slurm job, read from its environment variables."""

import re
from collections.abc import Mapping

from mpigauge.campaign.allocations.allocation import Allocation, Node, nodes_named
from mpigauge.campaign.launch.inherited_env import is_in_step
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.plan.hosts import MAX_HOSTS

_COUNT = re.compile(r"([0-9]{1,9})(?:\(x([0-9]{1,6})\))?")


COMPONENTS = "SLURM_HET_SIZE"
"""Number of components of a heterogeneous job. Under salloc, such a job has no list of nodes."""

HINT = "start it by sbatch or salloc; outside of a job, unset what begins with SLURM_"


def allocation(environ: Mapping[str, str]) -> Allocation:
    """Return the nodes of the job, also inside a step, which may have fewer.

    Raises:
        EnvironmentLacksError: A variable cannot be read or contradicts another; names it.
    """
    _refuse_components(environ)
    try:
        names = nodes_named(environ["SLURM_JOB_NODELIST"])
    except UsageError as error:
        raise EnvironmentLacksError(f"SLURM_JOB_NODELIST: {error.sentence}", HINT) from None
    cpus = _counts(environ, "SLURM_JOB_CPUS_PER_NODE", "1", len(names))
    tasks = _counts(environ, "SLURM_TASKS_PER_NODE", "1", len(names)) if _has_job_tasks(environ) else cpus
    return Allocation(
        job=_name(environ),
        nodes=tuple(map(Node, names, tasks, cpus)),
        restarts=_number(environ, "SLURM_RESTART_COUNT") or 0,
        ends=_number(environ, "SLURM_JOB_END_TIME"),
    )


def _has_job_tasks(environ: Mapping[str, str]) -> bool:
    """Return whether the task counts are the job's; those of a non-interactive step are its own."""
    tasks = environ.get("SLURM_TASKS_PER_NODE")
    return tasks is not None and not (
        is_in_step(environ) and tasks == environ.get("SLURM_STEP_TASKS_PER_NODE")
    )


def _refuse_components(environ: Mapping[str, str]) -> None:
    """Refuse a heterogeneous job, of which the variables and srun show at most the first component."""
    if environ.get(COMPONENTS, "1") != "1" or "SLURM_JOB_NODELIST" not in environ:
        raise EnvironmentLacksError(
            f"{COMPONENTS}: this is a heterogeneous job of {environ[COMPONENTS][:9]} components",
            "submit a job without components: no ':' between options, no '#SBATCH hetjob'",
        )


def _name(environ: Mapping[str, str]) -> str:
    array, task = environ.get("SLURM_ARRAY_JOB_ID"), environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else environ["SLURM_JOB_ID"]


def _counts(environ: Mapping[str, str], variable: str, default: str, nodes: int) -> tuple[int, ...]:
    """Return one number per node, from `2(x3),1`."""
    text = environ.get(variable, default)
    counts: list[int] = []
    for word in text.split(","):
        match = _COUNT.fullmatch(word)
        if match is None or len(counts) > MAX_HOSTS:
            raise EnvironmentLacksError(f"{variable}: {text[:80]!r} is not a list of numbers per node", HINT)
        counts += [int(match[1])] * int(match[2] or 1)
    if len(counts) == 1:
        counts *= nodes
    if len(counts) != nodes:
        raise EnvironmentLacksError(f"{variable}: {text[:80]!r} has {len(counts)} nodes, not {nodes}", HINT)
    return tuple(counts)


def _number(environ: Mapping[str, str], variable: str) -> int | None:
    text = environ.get(variable, "")
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
