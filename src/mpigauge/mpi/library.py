"""The kinds of MPI library that mpigauge can tell apart; the one list of them.

To add one: a row in KINDS, the launcher that its mpiexec needs in `launch.launchers`, and a row in
tests/mpi/test_library.py.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mpigauge.mpi import transport_report
from mpigauge.vocabulary import AUTO, BINDINGS


@dataclass(frozen=True, slots=True)
class Kind:
    """An MPI implementation.

    Attributes:
        name: What users and results call it.
        about: Its full name.
        aliases: Other words that users may say.
        macro: The macro of its mpi.h that no other has.
        launcher: The name in `launch.launchers` of what its mpiexec understands.
        says: How MPI_Get_library_version begins.
        wheel: The PyPI package that carries it.
        asks: Environment variables that make rank 0 say at MPI_Init, and never later, what it uses.
        reads: What it said then, in a few words; empty if it is not understood.
        wheel_needs: Packages with other parts of it, which come along.
        needs_root_variable: Its mpicc only finds itself through this environment variable.
        crowded: What makes its waiting ranks give way where there are more of them than cores; empty if
            they do so by themselves.
        transports: Environment variables that make it use one, by name: shm or tcp.
        bindings: The same for where a rank may run, by name: core or none.
        remote_shell: Environment variables that tell its launcher what reaches other hosts; {} stands for
            the program.
        in_slurm: The same where Slurm does, unless the user says otherwise; empty if it finds that by itself.
        pmi: What srun --mpi must be for it.
    """

    name: str
    about: str
    aliases: tuple[str, ...]
    macro: str
    launcher: str
    says: str
    wheel: str
    asks: Mapping[str, str]
    reads: Callable[[Iterable[str]], str]
    needs_root_variable: str = ""
    wheel_needs: tuple[str, ...] = ()
    crowded: Mapping[str, str] = field(default_factory=dict)
    transports: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    bindings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    remote_shell: Mapping[str, str] = field(default_factory=dict)
    in_slurm: Mapping[str, str] = field(default_factory=dict)
    pmi: str = ""


POLICIES = tuple(binding for binding in BINDINGS if binding != AUTO)
LOOPBACK = "lo"
"""The interface that ranks of one host use for the network stack."""

# Intel's mpi.h also has MPICH's macro: the first match counts.
KINDS = (
    Kind(
        "openmpi",
        "Open MPI",
        ("ompi", "open-mpi"),
        "OMPI_MAJOR_VERSION",
        "openmpi",
        "Open MPI v",
        "openmpi",
        {"OMPI_MCA_ompi_display_comm": "mpi_init", "OMPI_MCA_hook_comm_method_brief": "1"},
        transport_report.openmpi,
        # On one host it notices by itself; of several, it takes each for a machine with all the cores.
        crowded={"OMPI_MCA_mpi_yield_when_idle": "1"},
        transports={
            # Its name in version 4; version 5 says sm, and knows this one, too.
            "shm": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "vader,self"},
            "tcp": {
                "OMPI_MCA_pml": "ob1",
                "OMPI_MCA_btl": "tcp,self",
                "OMPI_MCA_btl_tcp_if_include": LOOPBACK,
            },
        },
        # The first of each pair is for version 5, the other for 4.
        bindings={
            policy: {
                "PRTE_MCA_hwloc_default_binding_policy": policy,
                "OMPI_MCA_hwloc_base_binding_policy": policy,
            }
            for policy in POLICIES
        },
        remote_shell={"PRTE_MCA_plm_ssh_agent": "{}", "OMPI_MCA_plm_rsh_agent": "{}"},
        pmi="pmix",
    ),
    Kind(
        "intelmpi",
        "Intel MPI",
        ("intel", "impi"),
        "I_MPI_VERSION",
        "intelmpi",
        "Intel(R) MPI Library ",
        "impi-devel",
        {"I_MPI_DEBUG": "2"},
        transport_report.intelmpi,
        "I_MPI_ROOT",
        ("impi-rt",),
        transports={
            "shm": {"I_MPI_FABRICS": "shm"},
            "tcp": {
                "I_MPI_FABRICS": "ofi",
                "FI_PROVIDER": "tcp",
                "FI_TCP_IFACE": LOOPBACK,
                # Else collectives of one host go through shared memory all the same.
                "I_MPI_COLL_INTRANODE": "pt2pt",
            },
        },
        bindings={"core": {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": "core"}, "none": {"I_MPI_PIN": "off"}},
        remote_shell={"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": "{}"},
        # Of hosts that it is given, it thinks that only ssh reaches them.
        in_slurm={"I_MPI_HYDRA_BOOTSTRAP": "slurm"},
        pmi="pmi2",
    ),
    Kind(
        "mpich",
        "MPICH",
        (),
        "MPICH_VERSION",
        "hydra",
        "MPICH Version:",
        "mpich",
        {"MPIR_CVAR_DEBUG_SUMMARY": "1"},
        transport_report.mpich,
        # Without, 8 ranks on 2 cores take milliseconds for a barrier, with it some 20 us.
        crowded={
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
        },
        transports={
            "shm": {"MPIR_CVAR_NOLOCAL": "0"},
            # NOLOCAL alone is not enough: UCX, its other network module, has shared memory of its own.
            "tcp": {
                "MPIR_CVAR_NOLOCAL": "1",
                "MPIR_CVAR_CH4_NETMOD": "ofi",
                "FI_PROVIDER": "tcp",
                "FI_TCP_IFACE": LOOPBACK,
            },
        },
        bindings={policy: {"HYDRA_BINDING": policy} for policy in POLICIES},
        remote_shell={"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": "{}"},
        pmi="pmi2",
    ),
)


def kind_named(name: str) -> Kind | None:
    """The kind that a user means by a word, if any."""
    return next((kind for kind in KINDS if name in (kind.name, *kind.aliases)), None)


@dataclass(frozen=True, slots=True)
class Library:
    """An installed MPI library.

    Attributes:
        kind: What it is.
        version: As its mpi.h says it: "5.0.11".
        standard: The MPI standard that it implements: "3.1".
        mpicc: Its compiler wrapper.
        mpiexec: Its launcher.
        prefix: The folder that it is installed in.
        origin: Where it was found, in words.
        show: What its mpicc would run.
        environment: What its programs need to be set.
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

    def environment_for(
        self,
        *,
        crowded: bool = False,
        transport: str = AUTO,
        binding: str = AUTO,
        remote_shell: str = "",
        several_hosts: bool = False,
    ) -> Mapping[str, str]:
        """What a job of it needs to be set.

        The user's own words about yielding go before ours; what was asked for goes before all.
        """
        yielding = {k: v for k, v in self.kind.crowded.items() if crowded and k not in os.environ}
        travel = self.kind.transports.get(transport, {})
        if several_hosts:  # the loopback leads to no other host; which interface does, the library knows
            travel = {name: value for name, value in travel.items() if value != LOOPBACK}
        shell = self.kind.remote_shell if remote_shell else {}
        by_slurm = several_hosts and not remote_shell and "SLURM_JOB_ID" in os.environ
        slurm = {k: v for k, v in self.kind.in_slurm.items() if by_slurm and k not in os.environ}
        return {
            **self.environment,
            **yielding,
            **slurm,
            **self.kind.bindings.get(binding, {}),
            **{name: value.format(remote_shell) for name, value in shell.items()},
            **travel,
        }

    @property
    def asks(self) -> Mapping[str, str]:
        """What makes it say which transports it uses, unless the user has set that otherwise."""
        return {name: value for name, value in self.kind.asks.items() if name not in os.environ}

    @property
    def name(self) -> str:
        """What users and results call it."""
        return self.kind.name

    @property
    def label(self) -> str:
        """Name and version, as a user may write them."""
        return f"{self.kind.name}=={self.version}"


def identify(library_string: str) -> tuple[Kind | None, str]:
    """The kind and version that MPI_Get_library_version tells of; version "" if it is not there.

    The version is the first word with a dot and digits after the opening words.
    """
    for kind in KINDS:
        if library_string.startswith(kind.says):
            words = library_string.removeprefix(kind.says).replace(",", " ").split()
            return kind, words[0] if words else ""
    return None, ""
