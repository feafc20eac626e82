"""What one launch of a plan is: the job, its words and its variables."""

from mpigauge.campaign.targets import Target
from mpigauge.launch.lab import context
from mpigauge.launch.launchers import Job, command_of
from mpigauge.plan.hosts import places_of
from mpigauge.plan.model import JobKey, Plan
from mpigauge.result import environment
from mpigauge.vocabulary import AUTO


def job_of(plan: Plan, target: Target, key: JobKey) -> Job:
    """The job of a launch.

    Raises:
        UsageError: The hosts have no room for it.
    """
    library = target.library
    places = places_of(key.placement, plan.hosts, key.ranks, "the plan")
    cores = cores_for(places)
    ours = library.environment_for(
        crowded=key.ranks > cores,
        transport=key.transport,
        binding=plan.binding,
        remote_shell=plan.remote_shell,
        several_hosts=len(set(places)) > 1,
    )
    return Job(
        mpiexec=library.mpiexec,
        ranks=key.ranks,
        program=(str(target.program), "-", "-"),
        cores=cores,
        as_root=environment.user_is_root(),
        environment={**library.asks, **ours, **plan.variables},
        inherited=tuple(environment.variables()),
        options=plan.mpi_options,
        hosts=places,
        pmi=library.kind.pmi,
    )


def words_of(plan: Plan, target: Target, job: Job) -> list[str]:
    """The command line of a job."""
    return command_of(job, target.library.kind.launcher if plan.launcher == AUTO else plan.launcher)


def cores_for(places: tuple[str, ...]) -> int:
    """Cores that the ranks of a job share.

    Hosts of a lab share ours. Of others only their slots are known, and nobody gets more ranks than those.
    """
    here = not places or context.current() is not None
    return environment.cores_allowed() if here else len(places)
