"""One launch of one program, and the command that a launcher makes of it."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from pathlib import Path

from mpigauge.campaign.launch import owner
from mpigauge.errors import EnvironmentLacksError
from mpigauge.sequences import runs

PREFIX = "mpigauge-"
"""Beginning of the names of our temporary folders."""

FOLDER = "$TMPDIR"
"""In words of a command: the temporary folder of the job, which there is only once it is started."""

HOSTS = "hosts"
"""The file in it that says where ranks go."""

HOSTS_FILE = f"{FOLDER}/{HOSTS}"


@dataclass(frozen=True, slots=True)
class Job:
    """One launch of one program.

    Attributes:
        mpiexec: The launcher's program.
        ranks: How many processes.
        program: The words of what each of them runs.
        cores: How many processors they share: hardware threads, as far as the system lets us use them.
        physical_cores: The cores behind these, however many hardware threads each has; 0 if not known.
        as_root: Whether the user is root, which Open MPI refuses unless told.
        environment: What to set beside the user's environment.
        inherited: Names of the user's own variables that ranks on other hosts need, too.
        options: Words for the launcher, put before the program.
        hosts: Where each rank is to be; empty means this machine.
        pmi: How the library talks with srun.
        options_found: What an earlier start was found to need, since the launcher counted fewer places.
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
    physical_cores: int = 0
    options_found: tuple[str, ...] = ()

    @property
    def oversubscribed(self) -> bool:
        """More ranks than cores."""
        return self.ranks > self.cores

    @property
    def on_hardware_threads(self) -> bool:
        """A processor for every rank, but not a core."""
        return 0 < self.physical_cores < self.ranks <= self.cores

    @property
    def host_runs(self) -> list[tuple[str, int]]:
        """The hosts in the order of the ranks, each with how many of them follow each other there."""
        return [(run[0], len(run)) for run in runs(self.hosts, eq)]

    @property
    def ranks_on(self) -> Counter[str]:
        """How many ranks each host has; hosts in the order of their first rank."""
        return Counter(self.hosts)


@dataclass(frozen=True, slots=True)
class Command:
    """What starts a job: words, whose number does not grow with the ranks, and files that do.

    Attributes:
        words: Never a string for a shell.
        files: Texts by name; `FOLDER/name` in the words is where they will be.
    """

    words: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)


def temporary_folder(needed_by: str) -> Path:
    """A new folder for whoever needs one, which nobody else can read, and which names its owner.

    Raises:
        EnvironmentLacksError: There is no place for it.
    """
    folder = None
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        owner.claim(folder)
    except OSError as error:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        # Where no place at all can be written, tempfile names those that it has tried.
        said = ": ".join(filter(None, (error.filename, error.strerror)))
        raise EnvironmentLacksError(
            f"{needed_by} needs a temporary folder: {said}",
            "free some space, or set TMPDIR to a folder that can be written",
        ) from None
    return folder


def check_temporary_folder(needed_by: str) -> None:
    """Check that there is a place for temporary folders.

    Raises:
        EnvironmentLacksError: There is none.
    """
    shutil.rmtree(temporary_folder(needed_by), ignore_errors=True)


def written(words: Sequence[str], files: Mapping[str, str], folder: Path) -> list[str]:
    """Writes the files of a command into a folder; the words, with their paths.

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
                "free some space, or set TMPDIR to another place",
            ) from None
        words = [word.replace(f"{FOLDER}/{name}", str(path)) for word in words]
    return words
