"""Launchers: a job becomes the words of a command line. The one list of them.

To add one: a function from Job to words under `@launcher`, the name in a `Kind` of `mpi.library`, and
a row in tests/launch/test_launchers.py. Words, never a shell string: nothing needs quoting.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
        options: Words for the launcher, put before the program.
    """

    mpiexec: Path
    ranks: int
    program: tuple[str, ...]
    cores: int
    as_root: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    @property
    def oversubscribed(self) -> bool:
        """More ranks than cores."""
        return self.ranks > self.cores


Words = Callable[[Job], list[str]]


@dataclass(frozen=True, slots=True)
class Launcher:
    """A way of starting MPI programs."""

    name: str
    about: str
    words: Words


LAUNCHERS: dict[str, Launcher] = {}


def launcher(name: str, about: str) -> Callable[[Words], Words]:
    """Enters a function into LAUNCHERS."""

    def enter(words: Words) -> Words:
        LAUNCHERS[name] = Launcher(name, about, words)
        return words

    return enter


@launcher("openmpi", "mpiexec of Open MPI")
def _openmpi(job: Job) -> list[str]:
    command = [str(job.mpiexec), "-n", str(job.ranks)]
    if job.as_root:
        command.append("--allow-run-as-root")
    if job.oversubscribed:
        command.append("--oversubscribe")
    return [*command, *job.options, *job.program]


@launcher("hydra", "mpiexec of MPICH and Intel MPI")
def _hydra(job: Job) -> list[str]:
    return [str(job.mpiexec), "-n", str(job.ranks), *job.options, *job.program]


def command_of(job: Job, name: str) -> list[str]:
    """The words that start a job with the launcher of this name."""
    return LAUNCHERS[name].words(job)
