"""An installed MPI library, and the environment of its jobs."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mpigauge.mpi.environments import Changes, applied
from mpigauge.mpi.kinds import LOOPBACK, MpiKind, identify, kind_named
from mpigauge.vocabulary import AUTO

SRUN = "srun"
"""The launcher of kinds that come without an mpiexec."""

NO_MPIEXEC = Path("no-mpiexec")
"""Stands where a launcher would put the mpiexec of a library that has none."""

HYDRA = "hydra"
"""Launcher type of any other mpiexec: it takes -n, as the standard has it."""


SEARCH = "LD_LIBRARY_PATH"
"""Variable with the folders in which the loader searches for libraries."""

FALSE_WORDS = ("0", "no", "off", "disable")


@dataclass(frozen=True, slots=True)
class UnusedWrapper:
    """A compiler wrapper that a user who named no library may have meant.

    Attributes:
        mpicc: Path of the wrapper.
        why: Reason why it cannot be used; empty if it can, and comes later on PATH.
        about: Library, "MPICH 5.0.2"; empty if it cannot be used.
    """

    mpicc: Path
    why: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Library:
    """An installed MPI library.

    Attributes:
        kind: MPI implementation.
        version: Version in its mpi.h: "5.0.11".
        standard: MPI standard that it implements: "3.1".
        mpicc: Compiler wrapper.
        mpiexec: Launcher; NO_MPIEXEC if it has none, as where srun starts all jobs.
        prefix: Folder that it is installed in.
        origin: Place where it was found, in words.
        show: Command that its mpicc would run; empty if unknown.
        environment: Variables that its programs need; None for those that its modules remove.
        loaded_by: Modules or script that give its environment, as the user named them: module:openmpi/5.0.8.
        options: Options for every call of mpicc, as $MPICC may have: -cc=icx.
        called: Label that the user gave, to distinguish builds of one version; may be empty.
        passed_over: Other wrappers that a user who named no library may have meant.
    """

    kind: MpiKind
    version: str
    standard: str
    mpicc: Path
    mpiexec: Path
    prefix: Path
    origin: str
    show: str
    environment: Changes
    options: tuple[str, ...] = ()
    called: str = ""
    passed_over: tuple[UnusedWrapper, ...] = field(default=(), compare=False)
    loaded_by: str = ""

    @property
    def environ(self) -> dict[str, str]:
        """Our environment as its programs have it."""
        return applied(os.environ, self.environment)

    def environment_for(
        self,
        *,
        crowded: bool = False,
        roomy: bool = False,
        transport: str = AUTO,
        binding: str = AUTO,
        remote_shell: str = "",
        several_hosts: bool = False,
        manager: str = "",
        has_shell: bool = True,
    ) -> Changes:
        """Return the environment that a job needs.

        The user's own variables go before the defaults for yielding; requested options go before all.

        Args:
            crowded: Whether there are more ranks than processors.
            roomy: Whether there are not, though the launcher was given an option to oversubscribe.
            manager: Scheduler of the current job, by its name in `campaign.allocations`.
            has_shell: Whether ssh or rsh is installed.
        """
        yield_settings = (
            self.kind.yield_variables if crowded else self.kind.busy_wait_variables if roomy else {}
        )
        own = self.environ
        yielding = {k: v for k, v in yield_settings.items() if k not in own}
        transport_settings = self.kind.transports.get(transport, {})
        if several_hosts:  # the loopback leads to no other host; which interface does, the library knows
            transport_settings = {
                name: value for name, value in transport_settings.items() if value != LOOPBACK
            }
        shell = self.kind.remote_shell if remote_shell else {}
        manager_settings = (
            self.kind.scheduler_variables.get(manager, {}) if several_hosts and not remote_shell else {}
        )
        needed = not has_shell and not several_hosts and self._major < self.kind.needs_shell_before
        without_shell = self.kind.without_shell if needed else {}
        return {
            **self.environment,
            **self._loader_environment(),
            **yielding,
            **{k: v for k, v in without_shell.items() if k not in own},
            **{k: v for k, v in manager_settings.items() if k not in own},
            **self.kind.bindings.get(binding, {}),
            **{name: value.format(remote_shell) for name, value in shell.items()},
            **transport_settings,
        }

    def _loader_environment(self) -> Mapping[str, str]:
        """Return the variables by which its programs find the library that it loads by name.

        Its folder is last on the path, after the user's own.
        """
        loaded = self.kind.runtime_library
        own = self.environ
        if loaded is None or own.get(loaded.declined, "").lower() in FALSE_WORDS:
            return {}
        folders = (self.prefix / folder for folder in loaded.folders)
        folder = next(
            (path for path in folders if (path / loaded.file).is_file()),
            None,
        )
        if folder is None:
            return {}
        before = own.get(SEARCH, "")
        plugins = next(
            (path for path in (folder / "prov", folder) if any(path.glob(f"*{loaded.plugins}"))),
            None,
        )
        told = plugins is None or loaded.plugins_variable in own
        return {
            SEARCH: os.pathsep.join(filter(None, [before, str(folder)])),
            **({} if told else {loaded.plugins_variable: str(plugins)}),
        }

    @property
    def _major(self) -> int:
        """First number of the version; large if it has none, as for future versions."""
        first = self.version.partition(".")[0]
        return int(first) if first.isdigit() else 1 << 30

    @property
    def report_variables(self) -> Mapping[str, str]:
        """Return the variables that make it report its transports, unless the user has set them."""
        return {name: value for name, value in self.kind.report_variables.items() if name not in self.environ}

    @property
    def compiler(self) -> list[str]:
        """Words that every command of the compiler wrapper begins with."""
        return [str(self.mpicc), *self.options]

    @property
    def has_mpiexec(self) -> bool:
        """Return whether it has an mpiexec, beside its mpicc or named by the user."""
        return self.mpiexec != NO_MPIEXEC

    @property
    def is_startable(self) -> bool:
        """Return whether it can start jobs as its kind usually does."""
        return self.has_mpiexec or self.kind.launcher == SRUN

    @property
    def launcher(self) -> str:
        """Name of its launcher, as in the list of launchers."""
        return HYDRA if self.kind.launcher == SRUN and self.has_mpiexec else self.kind.launcher

    @property
    def name(self) -> str:
        """Name that users and results have for it."""
        return self.kind.name

    @property
    def label(self) -> str:
        """Name and version, as a user writes them."""
        return f"{self.kind.name}=={self.version}"


def with_reported_kind(library: Library, library_string: str) -> Library:
    """Return a library with the kind and version its program reports, if its mpi.h is of another kind.

    The launcher is still the mpiexec that was found, so a library of unknown kind keeps its launcher.

    Args:
        library_string: Text of MPI_Get_library_version; empty if unknown.
    """
    kind, version = identify(library_string)
    if not library_string or library.kind.name not in kind.mistaken_for:
        return library
    if kind_named(kind.name) is None:
        kind = replace(kind, launcher=library.kind.launcher)
    return replace(library, kind=kind, version=version)
