"""Why a job died, in words, and a hint for each cause that can be recognised.

To add a cause: a file in tests/unit/analysis/died with the output of a real job, the line that says why, and
a part of the hint; then a row in REMEDIES. Where the wrong line is picked, extend `rows.failure_cause`.
"""

import re
from dataclasses import dataclass

from mpigauge.programs import end_of
from mpigauge.result.records import Failure
from mpigauge.rows.failure_cause import OF_OTHERS, line_of
from mpigauge.vocabulary import ENDED_FIRST

SILENT = "the job said nothing"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A hint against a cause, which `pattern` finds in the line that says why the job died.

    Attributes:
        lacks: What this machine may lack then: "room", or an option of ulimit.
    """

    pattern: str
    hint: str
    lacks: str = ""

    def matches(self, line: str) -> bool:
        """Return whether a line names this cause."""
        return re.search(self.pattern, line, re.IGNORECASE) is not None


BY_HAND = "mpigauge doctor checks this machine; mpigauge run --dry-run shows the command, to be run by hand"

KILLED = "somebody killed it: the system for lack of memory (dmesg says so), a limit of the job, or a person"

REMEDIES = (
    Remedy(r"\(ulimit -\w\)", "raise that limit; ulimit -a shows all of this shell"),
    Remedy(
        r"^/dev/shm is full, ",
        "remove what is left in it: ls -l /dev/shm; in a container: docker run --shm-size=1g",
    ),
    Remedy(r"^/\S* is full, ", "free some space there, or set TMPDIR to another folder"),
    Remedy(
        r"journal incomplete",
        "what stands between the launcher and mpigauge tears or drops lines: leave out wrappers, and "
        "options that mark each line with its rank",
    ),
    Remedy(
        r"not enough slots|all available slots",
        "ask for fewer ranks (--np), or let more start: --mpi-option=--use-hwthread-cpus counts hardware "
        "threads, --mpi-option=--oversubscribe counts nothing",
    ),
    Remedy(
        r"attempt to run as root",
        "run as a user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    ),
    Remedy(
        r"find network interfaces|no available interfaces",
        "Open MPI needs an interface that is up, even on one host: ip link set lo up, or give the container "
        "a network",
    ),
    Remedy(
        r"requested component was not found|components were able to be opened|cannot be selected",
        "unset the variable OMPI_MCA_... or PRTE_MCA_..., or the line of mca-params.conf, that names it; "
        "ompi_info lists what this Open MPI has",
    ),
    Remedy(
        r"unable to reach each other|process is unreachable",
        "no transport that is allowed reaches all ranks: unset OMPI_MCA_btl, OMPI_MCA_pml, or add self, sm",
    ),
    Remedy(
        r"srun: .{0,300}(configuration source|confirm allocation|invalid job id|controller)",
        "no Slurm answers here: start it by sbatch or salloc; outside of a job, unset all SLURM_ variables, "
        "HYDRA_LAUNCHER and I_MPI_HYDRA_BOOTSTRAP",
    ),
    Remedy(
        r"SLURM resource allocator|\"srun\" command|srun: .{0,300}not found|file \S*srun "
        r"|unexpectedly failed after launch",
        "if this is no Slurm job, unset what begins with SLURM_, HYDRA_LAUNCHER and I_MPI_HYDRA_BOOTSTRAP",
    ),
    Remedy(
        r"resolve hostname|unable to run bstrap_proxy|no route to host|connection refused"
        r"|host key verification|Remote host:|launch proxy failed|permission denied \(publickey",
        "check the name of that host, and that ssh reaches it without a password; if you named no host, a "
        "variable does: HYDRA_HOST_FILE, I_MPI_HYDRA_HOST_FILE, SLURM_JOB_NODELIST, PBS_NODEFILE, "
        "LSB_DJOB_HOSTFILE, LSB_HOSTS, LSB_MCPU_HOSTS, PE_HOSTFILE, or a default host file",
    ),
    Remedy(
        r"process_vm_readv|process_vm_writev",
        "reading the memory of another process is forbidden here: MPIR_CVAR_CH4_CMA_ENABLE=0 does without "
        "(--env), docker run --cap-add SYS_PTRACE allows it",
    ),
    Remedy(
        r"unsupported PMI version|is not the launcher of",
        "mpiexec and mpicc must belong to the same MPI library: mpigauge doctor shows what is installed",
    ),
    Remedy(
        r"fi_getinfo",
        "libfabric has no such provider here: unset FI_PROVIDER and I_MPI_OFI_PROVIDER; on one host, Intel "
        "MPI needs none with I_MPI_FABRICS=shm",
    ),
    Remedy(
        r"no usable transports|UCX_TLS",
        "UCX has no such transport here: unset UCX_TLS and UCX_NET_DEVICES; ucx_info -d lists what there is",
    ),
    Remedy(
        r"hostfile", "that host file is not there: it comes from --launcher, a variable, or a parameter file"
    ),
    Remedy(
        r"cannot open shared object|failed to load|error while loading shared",
        "load the module that has this library, or add its folder to LD_LIBRARY_PATH",
    ),
    Remedy(
        r"execvp error|exec format error|access( or execute)? an executable|permission denied|: not found",
        "that program is not there or cannot be run on this machine: mpigauge run --dry-run shows the "
        "command, and mpigauge kernel build --force makes the kernel anew",
    ),
    Remedy(
        r"unrecognized (option|argument)|unknown option|is not recognized",
        "the launcher does not know this: check --mpi-option, --bind and --launcher; mpigauge run --dry-run "
        "shows the command",
    ),
    Remedy(
        r"bus error|comm_bootstrap|shared memory|shm_|/dev/shm|no space left|out-of-resource|read-only file",
        "is there room in /dev/shm and in the temporary folder? In a container: docker run --shm-size=1g",
        lacks="room",
    ),
    Remedy(
        r"file size limit|SIGXFSZ|signal:? 25\b|EXIT CODE: 25",
        "a file may not grow as the library needs: ulimit -f unlimited",
        lacks="f",
    ),
    Remedy(r"too many open files|SYS_LIMITS_PIPES", "each rank needs more files: raise ulimit -n", lacks="n"),
    Remedy(
        r"resource temporarily unavailable|fork failed",
        "there may be no more processes or threads: raise ulimit -u, or the limit of the container (pids)",
        lacks="u",
    ),
    Remedy(
        r"out of memory|oom[-_]kill|cannot allocate memory",
        "fewer ranks or smaller --sizes need less memory; or ask for more, and look at ulimit -v",
        lacks="v",
    ),
    Remedy(
        r"signal:? 9\b|SIGKILL|\(killed\)|: killed|EXIT CODE: 9",
        KILLED,
    ),
    Remedy(
        r"standard input",
        "let it pass standard input on to rank 0: no </dev/null and no & in a script around it, "
        "docker run -i, srun without --input=none",
    ),
    Remedy(r"line without end", "leave out what draws a progress bar there, or let its lines end"),
    Remedy(
        ENDED_FIRST,
        "it has to stay until they have ended: no & in a script around it; else somebody has ended it",
    ),
    Remedy(
        OF_OTHERS.pattern,
        "a person, a script, the batch system or a limit of CPU time (ulimit -t) has ended it",
    ),
)
"""Remedies by cause; the first that matches is used."""


def hint_for(line: str) -> str:
    """Return the hint against the cause that a line names."""
    remedy = remedy_for(line)
    return BY_HAND if remedy is None else remedy.hint


def remedy_for(line: str) -> Remedy | None:
    """Return the remedy of the cause that a line names; None if it is not recognised."""
    return next((one for one in REMEDIES if one.matches(line)), None)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a job died.

    Attributes:
        line: One line of the job's output, or of ours if it printed nothing.
        hint: What to do about it; a general hint where the line is not recognised.
    """

    line: str
    hint: str


def cause_of(failure: Failure) -> Cause:
    """Return why a job died, from its output, else from its exit status."""
    line = line_of(failure) or _silent(failure)
    return Cause(line, hint_for(line))


def _silent(failure: Failure) -> str:
    if failure.status is None or failure.kind != "crash":
        return SILENT
    return f"{SILENT} and ended with {end_of(failure.status)}"
