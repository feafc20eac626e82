"""Variables inherited from a scheduler or launcher, and which of them our launchers must not see."""

import re
from collections.abc import Iterable, Mapping

from mpigauge.errors import UsageError

SCHEDULERS = (
    "SLURM_",
    "PBS_",
    "LSB_",
    "LSF_",
    "SGE_",
    "PE_HOSTFILE",
    "COBALT_",
    "FLUX_",
    "PALS_",
    "JSM_",
    "PMI_",
    "PMIX_",
)
"""Prefixes of variables by which launchers look for the hosts of an allocation."""

RANK_VARIABLES = re.compile(
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
"""Variables that tell a process its rank: a launcher that has them would take itself for a rank."""

OUTPUT_VARIABLES = re.compile(r"^SLURM_(LABELIO|MULTI_PROG|STDERRMODE|STDINMODE|STDOUTMODE)$")
"""Variables that make srun redirect our lines, or put numbers before them."""

TASK_SHARE_VARIABLES = re.compile(r"^SLURM_NTASKS_PER_")
"""Variables on how a job script distributes its tasks: srun takes them as options, but we place each rank."""

STEP_VARIABLES = re.compile(r"^SLURM_(CPU_BIND|DISTRIBUTION|MEM_BIND|NPROCS|NTASKS)")
"""Variables that srun sets in a step, and that another srun inside would take as options."""

JOB_VARIABLES = {
    "SLURM_NNODES": "SLURM_JOB_NUM_NODES",
    "SLURM_NODELIST": "SLURM_JOB_NODELIST",
    "SLURM_TASKS_PER_NODE": "SLURM_JOB_CPUS_PER_NODE",
}
"""Variables that a step overwrites with its own values, each with the variable that keeps the job's value."""

COUNT_VARIABLES = (
    "SLURM_STEP_NUM_TASKS",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "PALS_SIZE",
    "FLUX_JOB_SIZE",
    "JSM_NAMESPACE_SIZE",
    "MV2_COMM_WORLD_SIZE",
)
"""Variables with the number of ranks that a launcher has started; a job script has none of them."""


def check_not_a_rank(environ: Mapping[str, str]) -> None:
    """Refuse to run as one of several ranks: their campaigns would disturb each other.

    Raises:
        UsageError: A launcher has started several of us; names the variable that says so.
    """
    for name in COUNT_VARIABLES:
        count = environ.get(name, "")
        if re.fullmatch(r"[0-9]{1,9}", count) and int(count) > 1:
            raise UsageError(
                f"a launcher has started mpigauge {int(count)} times ({name}): each would measure the others",
                f"start it once, it starts the ranks itself: mpigauge run --np {int(count)}; if none has, "
                f"unset {name}",
            )


def is_in_step(environ: Mapping[str, str]) -> bool:
    """Return whether srun has started us, and not a job script."""
    return "SLURM_STEP_ID" in environ


def forwarded_variables(names: Iterable[str]) -> tuple[str, ...]:
    """Return the variables that ranks on other hosts need, too: not a scheduler's for this process."""
    return tuple(name for name in names if not name.startswith(SCHEDULERS) or name.startswith("PMIX_MCA_"))


def launcher_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of our launchers: ours without what makes us a rank of another job."""
    if is_in_step(environ):
        environ = _job_environment(environ)
    return {
        name: value
        for name, value in environ.items()
        if not any(which.match(name) for which in (RANK_VARIABLES, OUTPUT_VARIABLES, TASK_SHARE_VARIABLES))
    }


def _job_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a step as its job script has it; a step inside ours shares its processors."""
    kept = {name: value for name, value in environ.items() if not STEP_VARIABLES.match(name)}
    job_values = {name: environ[source] for name, source in JOB_VARIABLES.items() if source in environ}
    return {**kept, **job_values, "SLURM_OVERLAP": "1"}
