"""A job, that is one launch of one program, and the command that a launcher makes of it."""

import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from pathlib import Path

from mpigauge.campaign.launch import owner
from mpigauge.errors import EnvironmentLacksError, remedy
from mpigauge.mpi.environments import Changes, applied
from mpigauge.sequences import runs

PREFIX = "mpigauge-"
"""Prefix of the names of our temporary folders."""

FOLDER = "$TMPDIR"
"""Placeholder in a command for the job's temporary folder, which is made when the job starts."""

HOSTS = "hosts"
"""Name of the file in that folder with the hosts of ranks."""

HOSTS_FILE = f"{FOLDER}/{HOSTS}"


@dataclass(frozen=True, slots=True)
class Job:
    """One launch of one program.

    Attributes:
        mpiexec: Path of the launcher.
        ranks: Number of ranks.
        program: Program and arguments that each rank runs.
        cores: Processors that the ranks share: hardware threads that the system lets us use.
        physical_cores: Physical cores of these processors; 0 if not known.
        as_root: Whether the user is root, which Open MPI refuses by default.
        environment: Variables that differ from the user's environment; None for those that are removed.
        inherited: Names of the user's own variables that ranks on other hosts need, too.
        options: Options of the launcher, put before the program.
        hosts: Host of each rank; empty means this machine.
        pmi: The PMI plugin of srun that the library needs.
        options_found: Options that an earlier start was found to need, as the launcher counted fewer slots.
    """

    mpiexec: Path
    ranks: int
    program: tuple[str, ...]
    cores: int
    as_root: bool = False
    environment: Changes = field(default_factory=dict)
    inherited: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    pmi: str = ""
    physical_cores: int = 0
    options_found: tuple[str, ...] = ()

    @property
    def variables(self) -> dict[str, str]:
        """Variables that are set for it, without those that are removed."""
        return applied({}, self.environment)

    @property
    def oversubscribed(self) -> bool:
        """Whether there are more ranks than processors."""
        return self.ranks > self.cores

    @property
    def on_hardware_threads(self) -> bool:
        """Whether there are enough processors for all ranks, but not enough physical cores."""
        return 0 < self.physical_cores < self.ranks <= self.cores

    @property
    def host_runs(self) -> list[tuple[str, int]]:
        """The hosts in the order of the ranks, each with how many of them follow each other there."""
        return [(run[0], len(run)) for run in runs(self.hosts, eq)]

    @property
    def ranks_on(self) -> Counter[str]:
        """Number of ranks per host; hosts in the order of their first rank."""
        return Counter(self.hosts)


@dataclass(frozen=True, slots=True)
class Command:
    """The command that starts a job: a command line of bounded length, and files that grow with the ranks.

    Attributes:
        words: Program and arguments; never a string for a shell.
        files: Contents of files by name; `FOLDER/name` in the words is their path.
    """

    words: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)


def temporary_folder(needed_by: str) -> Path:
    """Make a temporary folder that nobody else can read, and that names its owner.

    Raises:
        EnvironmentLacksError: It cannot be made.
    """
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        owner.claim(folder)
    except OSError as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 0:  # which tempfile takes for full folders
            raise EnvironmentLacksError(
                f"{needed_by} needs a temporary folder: no file may grow here", "raise ulimit -f"
            ) from None
        # Where no folder can be written, tempfile names those that it has tried.
        error_text = ": ".join(filter(None, (error.filename, error.strerror)))
        raise EnvironmentLacksError(
            f"{needed_by} needs a temporary folder: {error_text}",
            "free some space, or set TMPDIR to a folder that can be written",
        ) from None
    return folder


def check_temporary_folder(needed_by: str) -> None:
    """Check that temporary folders can be made.

    Raises:
        EnvironmentLacksError: They cannot.
    """
    shutil.rmtree(temporary_folder(needed_by), ignore_errors=True)


def write_files(words: Sequence[str], files: Mapping[str, str], folder: Path) -> list[str]:
    """Write the files of a command into a folder; return its words with their paths.

    Raises:
        EnvironmentLacksError: A file cannot be written.
    """
    words = list(words)
    for name, text in files.items():
        path = folder / name
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise EnvironmentLacksError(
                f"{path}: cannot be written, and the launcher needs it: {error.strerror}",
                remedy(error, "set TMPDIR to another folder"),
            ) from None
        words = [word.replace(f"{FOLDER}/{name}", str(path)) for word in words]
    return words
