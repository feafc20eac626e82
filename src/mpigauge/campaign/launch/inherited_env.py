"""What whoever started us has left in our environment, and what of it our own launchers must not see."""

import re
from collections.abc import Iterable, Mapping

from mpigauge.errors import UsageError

SCHEDULERS = ("SLURM_", "PBS_", "LSB_", "LSF_", "SGE_", "COBALT_", "FLUX_", "PALS_", "JSM_", "PMI_", "PMIX_")
"""How the names of variables begin by which launchers look for the hosts of an allocation."""

OF_A_RANK = re.compile(
    r"^(PMI2?_(APPNUM|CONTROL_|FD$|ID$|JOBID$|LOCAL_|PORT$|PROCESS_|RANK$|SHARED_|SIZE$|SPAWNED$|UNIVERSE_)"
    r"|PMIX_(BFROP_|DSTORE_|GDS_|HOSTNAME$|ID$|KEEPALIVE_|NAMESPACE$|PTL_|RANK$|SECURITY_|SERVER_|SYSTEM_|VERSION$)"
    r"|OMPI_(APP_CTX|ARGV$|COMM_WORLD_|COMMAND$|FILE_LOCATION$|FIRST_RANKS$|NUM_APP_CTX$|UNIVERSE_SIZE$)"
    r"|OMPI_MCA_(ess|ess_base_.*|pmix"
    r"|orte_(app_num|ess_.*|hnp_uri|jobfam_session_dir|launch|local_daemon_uri|precondition_transports))$"
    r"|PRTE_LAUNCHED$"
    r"|HYDI_|MPI_LOCALN?RANK|MV2_COMM_WORLD_|JSM_NAMESPACE_|PALS_"
    r"|FLUX_(TASK_|JOB_(ID|SIZE|NNODES|TMPDIR)|KVS_NAMESPACE$|PMI_)"
    r"|SLURM_(GTIDS|LAUNCH_NODE_IPADDR|LOCALID|NODEID|PROCID|SRUN_COMM_|STEP|TASK_PID))"
)
"""Variables that tell a process which rank it is: what starts a job inside another would believe them."""

OF_OUTPUT = re.compile(r"^SLURM_(LABELIO|MULTI_PROG|STDERRMODE|STDINMODE|STDOUTMODE)$")
"""What would make srun write our lines elsewhere, or put numbers before them."""

OF_SHARES = re.compile(r"^SLURM_NTASKS_PER_")
"""How a job script wants its own tasks shared out. For srun these are options; we say where each rank is."""

OF_A_STEP = re.compile(r"^SLURM_(CPU_BIND|DISTRIBUTION|MEM_BIND|NPROCS|NTASKS)")
"""What srun sets for the tasks of a step, and what another srun among them would take for its options."""

OF_THE_JOB = {
    "SLURM_NNODES": "SLURM_JOB_NUM_NODES",
    "SLURM_NODELIST": "SLURM_JOB_NODELIST",
    "SLURM_TASKS_PER_NODE": "SLURM_JOB_CPUS_PER_NODE",
}
"""Variables that tell of the job, but in a step of the step: where the same is still told of the job."""

COUNTS = (
    "SLURM_STEP_NUM_TASKS",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "PALS_SIZE",
    "FLUX_JOB_SIZE",
    "JSM_NAMESPACE_SIZE",
    "MV2_COMM_WORLD_SIZE",
)
"""How many of us a launcher has started; a job script is in none of them."""


def check_alone(environ: Mapping[str, str]) -> None:
    """Refuses to be one of several: their campaigns would measure each other.

    Raises:
        UsageError: Names the variable that says so.
    """
    for name in COUNTS:
        count = environ.get(name, "")
        if re.fullmatch(r"[0-9]{1,9}", count) and int(count) > 1:
            raise UsageError(
                f"a launcher has started mpigauge {int(count)} times ({name}): each would measure the others",
                f"start it once, it starts the ranks itself: mpigauge run --np {int(count)}",
            )


def in_a_step(environ: Mapping[str, str]) -> bool:
    """Whether srun has started us, and not a job script."""
    return "SLURM_STEP_ID" in environ


def carried(names: Iterable[str]) -> tuple[str, ...]:
    """Those of variables that ranks elsewhere need, too: not what a scheduler says of this process."""
    return tuple(name for name in names if not name.startswith(SCHEDULERS) or name.startswith("PMIX_MCA_"))


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of our own launchers: ours, without what makes us a rank of another job."""
    if in_a_step(environ):
        environ = _of_the_job(environ)
    return {
        name: value
        for name, value in environ.items()
        if not any(which.match(name) for which in (OF_A_RANK, OF_OUTPUT, OF_SHARES))
    }


def _of_the_job(environ: Mapping[str, str]) -> dict[str, str]:
    """As a job script has it; and a step inside ours shares its processors, or would wait for our end."""
    kept = {name: value for name, value in environ.items() if not OF_A_STEP.match(name)}
    told = {name: environ[source] for name, source in OF_THE_JOB.items() if source in environ}
    return {**kept, **told, "SLURM_OVERLAP": "1"}
