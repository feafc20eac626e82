"""Launchers: a job becomes the words of a command line. The one list of them.

To add one: a function from Job to words under `@launcher`, the name in a `Kind` of `mpi.library`, and
a row in tests/launch/test_launchers.py. Words, never a shell string: nothing needs quoting.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Job:
    """One launch of one program.

    Attributes:
        mpiexec: The launcher's program.
        ranks: How many processes.
        program: The words of what each of them runs.
        cores: How many processors they share.
        as_root: Whether the user is root, which Open MPI refuses unless told.
        environment: What to set beside the user's environment.
        inherited: Names of the user's own variables that ranks on other hosts need, too.
        options: Words for the launcher, put before the program.
        hosts: Where each rank is to be; empty means this machine.
        pmi: How the library talks with srun.
    """

    mpiexec: Path
    ranks: int
    program: tuple[str, ...]
    cores: int
    as_root: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    inherited: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    pmi: str = ""

    @property
    def oversubscribed(self) -> bool:
        """More ranks than cores."""
        return self.ranks > self.cores

    @property
    def host_runs(self) -> list[tuple[str, int]]:
        """The hosts in the order of the ranks, each with how many of them follow each other there."""
        return [(host, len(list(run))) for host, run in groupby(self.hosts)]


Words = Callable[[Job], list[str]]


@dataclass(frozen=True, slots=True)
class Launcher:
    """A way of starting MPI programs."""

    name: str
    about: str
    words: Words


LAUNCHERS: dict[str, Launcher] = {}

OWN = ("OMPI_", "PRTE_", "PMIX_")
"""What Open MPI's mpiexec carries to other hosts unasked."""


def launcher(name: str, about: str) -> Callable[[Words], Words]:
    """Enters a function into LAUNCHERS."""

    def enter(words: Words) -> Words:
        LAUNCHERS[name] = Launcher(name, about, words)
        return words

    return enter


@launcher("openmpi", "mpiexec of Open MPI")
def _openmpi(job: Job) -> list[str]:
    """A context for each run of ranks on one host; on other hosts only what is named is known."""
    settings = ["--allow-run-as-root"] if job.as_root else []
    settings += ["--oversubscribe"] if job.oversubscribed else []
    settings += job.options
    if not job.hosts:
        return [str(job.mpiexec), "-n", str(job.ranks), *settings, *job.program]
    names = sorted({*job.inherited, *job.environment})
    exports = [word for name in names if not name.startswith(OWN) for word in ("-x", name)]
    words = _contexts(job, lambda host, ranks: [*exports, "-n", str(ranks), "--host", f"{host}:{ranks}"])
    return [str(job.mpiexec), *settings, *words]


def _contexts(job: Job, start: Callable[[str, int], list[str]]) -> list[str]:
    """The program once for each run of ranks on a host, with colons between."""
    contexts = [[*start(host, ranks), *job.program] for host, ranks in job.host_runs]
    return [word for context in contexts for word in (":", *context)][1:]


@launcher("hydra", "mpiexec of MPICH")
def _hydra(job: Job) -> list[str]:
    """Its ranks have the whole environment, wherever they are."""
    hosts = ["-hosts", ",".join(f"{host}:{ranks}" for host, ranks in job.host_runs)] if job.hosts else []
    return [str(job.mpiexec), *hosts, "-n", str(job.ranks), *job.options, *job.program]


@launcher("intelmpi", "mpiexec of Intel MPI")
def _intelmpi(job: Job) -> list[str]:
    """Hydra again, but of a list of hosts it takes no numbers of ranks."""
    if not job.hosts:
        return _hydra(job)
    words = _contexts(job, lambda host, ranks: ["-n", str(ranks), "-host", host])
    return [str(job.mpiexec), *job.options, *words]


@launcher("srun", "srun of Slurm, inside an allocation")
def _srun(job: Job) -> list[str]:
    """Rank 0 alone has the input; lines come as they are written."""
    command = ["srun", f"--mpi={job.pmi}", f"--ntasks={job.ranks}", "--input=0", "--unbuffered"]
    command += ["--kill-on-bad-exit=1"]
    if job.hosts:
        command += ["--distribution=arbitrary", f"--nodelist={','.join(job.hosts)}"]
    if job.oversubscribed:
        command.append("--overcommit")
    return [*command, *job.options, *job.program]


def command_of(job: Job, name: str) -> list[str]:
    """The words that start a job with the launcher of this name."""
    return LAUNCHERS[name].words(job)
