"""The job of one launch of a plan: its command line and its environment variables."""

import os
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from mpigauge.campaign.allocations import manager
from mpigauge.campaign.hosts import check_works_here
from mpigauge.campaign.lab import context
from mpigauge.campaign.launch import launchers
from mpigauge.campaign.launch.inherited_env import forwarded_variables
from mpigauge.campaign.launch.job import Command, Job
from mpigauge.campaign.launch.launchers import OVERSUBSCRIBE, Ending, manager_of
from mpigauge.campaign.launch.preflight import is_here, shell_words
from mpigauge.campaign.targets import Target
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi.library import NO_MPIEXEC
from mpigauge.plan.hosts import places_of
from mpigauge.plan.model import JobKey, Plan, by_job, variables_of
from mpigauge.programs import which
from mpigauge.result import environment
from mpigauge.result.home_paths import expanded
from mpigauge.vocabulary import AUTO

REMOTE_SHELLS = ("ssh", "rsh")
"""Names of remote shells that launchers look for."""


def job_of(plan: Plan, target: Target, key: JobKey, options_found: tuple[str, ...] = ()) -> Job:
    """Return the job of a launch.

    Args:
        options_found: Launcher options that an earlier start of the job was found to need.

    Raises:
        UsageError: The hosts have too few slots.
    """
    library = target.library
    places = places_of(key.placement, plan.hosts, key.ranks, "the plan")
    cores = cores_for(places)
    scheduler = manager(os.environ)
    library_variables = library.environment_for(
        crowded=key.ranks > cores,
        roomy=OVERSUBSCRIBE in options_found and key.ranks <= cores,
        transport=key.transport,
        binding=plan.binding,
        remote_shell=plan.remote_shell,
        several_hosts=len(set(places)) > 1,
        manager=scheduler.name if scheduler else "",
        has_shell=any(map(which, REMOTE_SHELLS)),
    )
    return Job(
        mpiexec=library.mpiexec,
        ranks=key.ranks,
        program=(str(target.program), "-", "-"),
        cores=cores,
        as_root=environment.user_is_root(),
        environment={
            **library.report_variables,
            **library_variables,
            **plan.variables,
            **expanded(variables_of(key.setting)),
        },
        inherited=forwarded_variables(
            name for name in environment.variables() if library.environment.get(name, "") is not None
        ),
        options=plan.mpi_options,
        hosts=places,
        pmi=library.kind.pmi,
        physical_cores=0 if places else environment.physical_cores_allowed(),
        options_found=options_found,
    )


def recorded_variables(job: Job, target: Target) -> dict[str, str]:
    """Return the variables of a job as a result has them, without possible secrets.

    Of those that its modules set, which the record of the library has, only what MPI libraries read.
    """
    of_modules = target.library.environment if target.library.loaded_by else {}
    return environment.without_secrets(
        {
            name: value
            for name, value in job.variables.items()
            if name not in of_modules
            or (not name.endswith("PATH") and (environment.is_read(name) or value != of_modules[name]))
        }
    )


def oversubscribed_jobs(plan: Plan, targets: Iterable[Target]) -> list[Job]:
    """Return the oversubscribed jobs, one per number of ranks.

    Raises:
        UsageError: The hosts have too few slots for a job.
    """
    jobs = (job for target in targets for job in _kinds_of_jobs(plan, target))
    return list({job.ranks: job for job in jobs if job.oversubscribed}.values())


def _kinds_of_jobs(plan: Plan, target: Target) -> Iterator[Job]:
    """Yield the jobs of a target, of those that differ in varied values alone one."""
    for key in dict.fromkeys(replace(key, setting="") for key in by_job(target.cells)):
        yield job_of(plan, target, key)


def command_of(plan: Plan, target: Target, job: Job) -> Command:
    """Return the command that starts a job.

    Raises:
        UsageError: The launcher does not support this placement.
        EnvironmentLacksError: The library has no mpiexec, and the launcher needs one.
    """
    command = launchers.command_of(job, _launcher_of(plan, target))
    if command.words[0] == str(NO_MPIEXEC):
        raise EnvironmentLacksError(
            f"{target.library.mpicc}: has no mpiexec beside it",
            "install the runtime package of this MPI library, too, or name what starts its jobs: "
            "--mpiexec PATH or --launcher NAME",
        )
    return command


def check_startable(plan: Plan, targets: Iterable[Target]) -> None:
    """Check that the launchers of all jobs of a campaign are there, before anything is written.

    Raises:
        UsageError: The hosts have too few slots.
        EnvironmentLacksError: A launcher is missing, or does not work here.
    """
    for target in targets:
        for job in _kinds_of_jobs(plan, target):
            command_of(plan, target, job)
        check_works_here(_launcher_of(plan, target))


def restart_options(output: str, plan: Plan, target: Target, job: Job) -> tuple[str, ...]:
    """Return the options to restart a job with that its launcher has refused; empty if none help."""
    return launchers.options_after_refusal(output, job, _launcher_of(plan, target))


def ending_of_job(plan: Plan, target: Target, job: Job) -> Ending:
    """Return how to end a job through its launcher."""
    return launchers.ending_of(job, _launcher_of(plan, target))


def is_all_here(job: Job) -> bool:
    """Return whether all ranks of a job are on this machine; hosts of a lab are on it."""
    return context.current() is not None or all(map(is_here, set(job.hosts)))


def shells_of(plan: Plan, job: Job) -> list[list[str]]:
    """Return the command of a remote shell on each other host of a job.

    Empty in a scheduler's job: ssh may not reach its hosts, and cleaning the shared memory of a node is up
    to the site (docs/slurm.md).
    """
    has_scheduler = manager_of(plan.launcher) or (manager(os.environ) and not plan.remote_shell)
    if has_scheduler or plan.check_hosts == "no":
        return []
    return [
        shell_words(plan.remote_shell or "ssh", host)
        for host in dict.fromkeys(job.hosts)
        if not is_here(host)
    ]


def _launcher_of(plan: Plan, target: Target) -> str:
    return target.library.launcher if plan.launcher == AUTO else plan.launcher


def cores_for(places: tuple[str, ...]) -> int:
    """Return how many cores the ranks of a job share.

    Hosts of a lab share ours. Other hosts count by their slots, which no placement exceeds.
    """
    is_on_this_machine = not places or context.current() is not None
    return environment.cores_allowed() if is_on_this_machine else len(places)
