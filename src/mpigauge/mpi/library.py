"""An installed MPI library, and what its jobs need to be set."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mpigauge.mpi.kinds import LOOPBACK, Kind, identify, kind_named
from mpigauge.vocabulary import AUTO

SRUN = "srun"
"""The launcher of kinds that come without an mpiexec."""

NO_MPIEXEC = Path("no-mpiexec")
"""Stands where a launcher would put the mpiexec of a library that has none."""

HYDRA = "hydra"
"""What an mpiexec of theirs understands that is there all the same: -n, as the standard has it."""


@dataclass(frozen=True, slots=True)
class Library:
    """An installed MPI library.

    Attributes:
        kind: What it is.
        version: As its mpi.h says it: "5.0.11".
        standard: The MPI standard that it implements: "3.1".
        mpicc: Its compiler wrapper.
        mpiexec: Its launcher; NO_MPIEXEC if it has none, as where srun starts all jobs.
        prefix: The folder that it is installed in.
        origin: Where it was found, in words.
        show: What its mpicc would run; empty if it does not say.
        environment: What its programs need to be set.
        options: What is to stand behind mpicc whenever it is run, as $MPICC may have it: -cc=icx.
        called: What the user calls it, to tell it from another build of the same version; may be empty.
    """

    kind: Kind
    version: str
    standard: str
    mpicc: Path
    mpiexec: Path
    prefix: Path
    origin: str
    show: str
    environment: Mapping[str, str]
    options: tuple[str, ...] = ()
    called: str = ""

    def environment_for(
        self,
        *,
        crowded: bool = False,
        transport: str = AUTO,
        binding: str = AUTO,
        remote_shell: str = "",
        several_hosts: bool = False,
        manager: str = "",
        has_shell: bool = True,
    ) -> Mapping[str, str]:
        """What a job of it needs to be set.

        The user's own words about yielding go before ours; what was asked for goes before all.

        Args:
            manager: The scheduler whose job we are in, by its name in `launch.allocations`.
            has_shell: Whether there is a program here that reaches other hosts, ssh or rsh.
        """
        yielding = {k: v for k, v in self.kind.crowded.items() if crowded and k not in os.environ}
        travel = self.kind.transports.get(transport, {})
        if several_hosts:  # the loopback leads to no other host; which interface does, the library knows
            travel = {name: value for name, value in travel.items() if value != LOOPBACK}
        shell = self.kind.remote_shell if remote_shell else {}
        reached = self.kind.reached_by.get(manager, {}) if several_hosts and not remote_shell else {}
        needed = not has_shell and not several_hosts and self._major < self.kind.needs_shell_before
        alone = self.kind.without_shell if needed else {}
        return {
            **self.environment,
            **yielding,
            **{k: v for k, v in alone.items() if k not in os.environ},
            **{k: v for k, v in reached.items() if k not in os.environ},
            **self.kind.bindings.get(binding, {}),
            **{name: value.format(remote_shell) for name, value in shell.items()},
            **travel,
        }

    @property
    def _major(self) -> int:
        """The first number of its version; large if it has none, as of what is newer than we are."""
        first = self.version.partition(".")[0]
        return int(first) if first.isdigit() else 1 << 30

    @property
    def asks(self) -> Mapping[str, str]:
        """What makes it say which transports it uses, unless the user has set that otherwise."""
        return {name: value for name, value in self.kind.asks.items() if name not in os.environ}

    @property
    def compiler(self) -> list[str]:
        """The words that begin every command of its compiler wrapper."""
        return [str(self.mpicc), *self.options]

    @property
    def has_mpiexec(self) -> bool:
        """Whether there is one, beside its mpicc or named by the user."""
        return self.mpiexec != NO_MPIEXEC

    @property
    def is_startable(self) -> bool:
        """Whether it can start jobs as its kind usually does."""
        return self.has_mpiexec or self.kind.launcher == SRUN

    @property
    def launcher(self) -> str:
        """The name in `launch.launchers` of what starts its jobs, unless the user says otherwise."""
        return HYDRA if self.kind.launcher == SRUN and self.has_mpiexec else self.kind.launcher

    @property
    def name(self) -> str:
        """What users and results call it."""
        return self.kind.name

    @property
    def label(self) -> str:
        """Name and version, as a user may write them."""
        return f"{self.kind.name}=={self.version}"


def as_it_says(library: Library, said: str) -> Library:
    """A library under the kind that only a program of it can tell: its mpi.h is that of another.

    What is started is still the mpiexec that was found, so a library of no known kind keeps that launcher.

    Args:
        said: What MPI_Get_library_version says; empty if nobody has asked.
    """
    kind, version = identify(said)
    if not said or library.kind.name not in kind.taken_for:
        return library
    if kind_named(kind.name) is None:
        kind = replace(kind, launcher=library.kind.launcher)
    return replace(library, kind=kind, version=version)
