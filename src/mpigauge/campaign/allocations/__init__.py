"""Schedulers whose allocations mpigauge recognises; the one list of them.

To add one: a module with `allocation`, a function from an environment to an Allocation, a row in MANAGERS,
and a test with the others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mpigauge.campaign.allocations import flux, lsf, pbs, sge, slurm
from mpigauge.campaign.allocations.allocation import Allocation


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
        mpiexec_reaches: Whether an mpiexec can start processes on its hosts; else only its own launcher can.
    """

    name: str
    title: str
    variables: tuple[str, ...]
    read: Callable[[Mapping[str, str]], Allocation]
    start_hint: str
    other_variable: str = ""
    mpiexec_reaches: bool = True


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
    ),
    Manager("pbs", "PBS", ("PBS_JOBID", "PBS_NODEFILE"), pbs.allocation, "qsub"),
    Manager("lsf", "LSF", ("LSB_JOBID", "LSB_DJOB_HOSTFILE"), lsf.allocation, "bsub"),
    Manager("sge", "Grid Engine", ("JOB_ID", "PE_HOSTFILE"), sge.allocation, "qsub -pe"),
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
        EnvironmentLacksError: A variable cannot be read or contradicts another; names it.
    """
    scheduler = manager(environ)
    return None if scheduler is None else scheduler.read(environ)
