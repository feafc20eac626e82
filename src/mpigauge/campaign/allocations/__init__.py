"""Schedulers whose allocations mpigauge recognises; the one list of them.

To add one: a row in MANAGERS, and a test with the others. A scheduler that writes no machine file has a
module with `allocation`, a function from an environment to an Allocation.
"""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mpigauge.campaign.allocations import flux, sge, slurm
from mpigauge.campaign.allocations.allocation import Allocation, of_file
from mpigauge.campaign.allocations.this_machine import is_among
from mpigauge.errors import EnvironmentLacksError
from mpigauge.plan.hosts import short
from mpigauge.programs import which

HOSTS_NAMED = 4


@dataclass(frozen=True, slots=True)
class Manager:
    """A scheduler.

    Attributes:
        name: Its name for launchers and libraries.
        title: Its name for people.
        variables: Environment variables that are all set in its jobs.
        read: Returns the allocation from an environment with these variables.
        start_hint: How to start a job, in words.
        other_variable: A variable that is set in a kind of job that lacks some of the others.
        hosts_variable: Variable that names the hosts, or a file of them; "" where a running program is asked.
        all_variables: What to unset outside of a job, in words.
        own_launcher: A program that starts ranks from hosts that are none of the job's: srun wherever Slurm
            is, aprun on service nodes of Cray, jsrun on launch nodes of IBM. Else, the first process of a job
            is on its first host.
        mpiexec_reaches: Whether an mpiexec can start processes on its hosts; else only its own launcher can.
    """

    name: str
    title: str
    variables: tuple[str, ...]
    read: Callable[[Mapping[str, str]], Allocation]
    start_hint: str
    other_variable: str = ""
    hosts_variable: str = ""
    all_variables: str = ""
    own_launcher: str = ""
    mpiexec_reaches: bool = True


def _of_file(job: str, hosts: str) -> Callable[[Mapping[str, str]], Allocation]:
    """Return what reads the machine file that a variable names; another one names the job."""
    return lambda environ: of_file(environ[job], hosts, environ[hosts])


# A Flux instance may run in a job of another scheduler: the inner one comes first.
MANAGERS = (
    Manager("flux", "Flux", ("FLUX_URI",), flux.allocation, "flux alloc", mpiexec_reaches=False),
    Manager(
        "slurm",
        "Slurm",
        ("SLURM_JOB_ID", "SLURM_JOB_NODELIST"),
        slurm.allocation,
        "salloc or mpigauge sbatch",
        other_variable=slurm.COMPONENTS,
        hosts_variable="SLURM_JOB_NODELIST",
        all_variables="what begins with SLURM_",
        own_launcher="srun",
    ),
    Manager(
        "pbs",
        "PBS",
        ("PBS_JOBID", "PBS_NODEFILE"),
        _of_file("PBS_JOBID", "PBS_NODEFILE"),
        "qsub",
        hosts_variable="PBS_NODEFILE",
        all_variables="what begins with PBS_",
        own_launcher="aprun",
    ),
    Manager(
        "lsf",
        "LSF",
        ("LSB_JOBID", "LSB_DJOB_HOSTFILE"),
        _of_file("LSB_JOBID", "LSB_DJOB_HOSTFILE"),
        "bsub",
        hosts_variable="LSB_DJOB_HOSTFILE",
        all_variables="what begins with LSB_",
        own_launcher="jsrun",
    ),
    Manager(
        "sge",
        "Grid Engine",
        ("JOB_ID", "PE_HOSTFILE"),
        sge.allocation,
        "qsub -pe",
        hosts_variable="PE_HOSTFILE",
        all_variables="JOB_ID and PE_HOSTFILE",
    ),
)


def manager(environ: Mapping[str, str]) -> Manager | None:
    """Return the scheduler whose job an environment is from; None outside of a job."""
    return next((scheduler for scheduler in MANAGERS if _is_of(environ, scheduler)), None)


def _is_of(environ: Mapping[str, str], scheduler: Manager) -> bool:
    return all(map(environ.get, scheduler.variables)) or bool(environ.get(scheduler.other_variable))


def named(name: str) -> Manager:
    """Return the scheduler of this name."""
    return next(scheduler for scheduler in MANAGERS if scheduler.name == name)


def allocation(environ: Mapping[str, str]) -> Allocation | None:
    """Return the allocation that an environment describes; None outside of one.

    Raises:
        EnvironmentLacksError: A variable cannot be read or contradicts another, or is left over from a job on
            other machines; names it.
    """
    scheduler = manager(environ)
    if scheduler is None:
        _refuse_node_file(environ)
        return None
    found = scheduler.read(environ)
    _refuse_left_over(environ, scheduler, found)
    return found


def _refuse_left_over(environ: Mapping[str, str], scheduler: Manager, found: Allocation) -> None:
    """Refuse variables of a job on other machines, as in a copied environment or a container built in one."""
    variable, launcher = scheduler.hosts_variable, scheduler.own_launcher
    if not variable or (launcher and which(launcher, path=environ.get("PATH", ""))):
        return
    names = [node.name for node in found.nodes]
    if is_among(names):
        return
    always_has_it = scheduler.name == "slurm"
    raise EnvironmentLacksError(
        f"{variable}: names {_some(names)}, this is {short(platform.node())}"
        f"{f', and there is no {launcher}' if always_has_it else ''}",
        f"if this is no job, unset {scheduler.all_variables}; in a container of one, "
        f"{f'put {launcher} on its PATH' if always_has_it else 'give it the name of its host'}",
    )


def _refuse_node_file(environ: Mapping[str, str]) -> None:
    """Refuse a left-over file of nodes that Hydra takes, also without the number of a job."""
    scheduler = named("pbs")
    if not environ.get(scheduler.hosts_variable):
        return
    try:
        found = scheduler.read({**environ, "PBS_JOBID": ""})
    except EnvironmentLacksError:  # there is nothing in it to take
        return
    _refuse_left_over(environ, scheduler, found)


def _some(names: Sequence[str]) -> str:
    return ",".join([*names[:HOSTS_NAMED], *["..."][: len(names) - HOSTS_NAMED]])
