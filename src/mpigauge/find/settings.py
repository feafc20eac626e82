"""Variables and parameter files that change what is measured. CHOICES is the one table of them.

What an option of mpigauge sets is asked for; what a variable only tells, such as the number of a job, changes
nothing. To add one: a row in CHOICES, and in docs/warnings.md#settings; a file of settings, in
`mpi.parameter_files`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.mpi.environments import applied, names_environment
from mpigauge.vocabulary import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import JobKey
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch
    from mpigauge.vocabulary import SettingOf

OPENMPI = frozenset({"openmpi", "spectrum", "fujitsu"})
INTELMPI = frozenset({"intelmpi"})
MPICH = frozenset({"mpich", "intelmpi", "cray-mpich", "mvapich", "parastation"})
HYDRA = frozenset({"mpich", "mvapich", "parastation"})
MVAPICH = frozenset({"mvapich"})
EVERY: frozenset[str] = frozenset()


class SettingChoice(NamedTuple):
    """Names of settings.

    Attributes:
        of: What they choose.
        libraries: The kinds of library that read them; EVERY for all, and one of no known kind reads all.
        names: What the whole name of a variable matches, or of a setting as a variable.
        off_is_usual: Whether 0, no and off change nothing.
        between_hosts: Whether they are about what lies between hosts alone.
    """

    of: SettingOf
    libraries: frozenset[str]
    names: re.Pattern[str]
    off_is_usual: bool = False
    between_hosts: bool = False


_MCA = r"(?:OMPI|PRTE|PMIX)_MCA_(?:--)?"
_CVAR = r"(?:MPIR_CVAR|MPIR_PARAM|MPICH)_"

CHOICES = (
    SettingChoice("transport", OPENMPI, re.compile(rf"{_MCA}(pml|btl|mtl|osc)")),
    SettingChoice("transport", INTELMPI, re.compile(r"I_MPI_(FABRICS|SHM|OFI_PROVIDER|DEVICE)")),
    SettingChoice("transport", MPICH, re.compile(rf"{_CVAR}(NOLOCAL|NO_LOCAL)"), off_is_usual=True),
    SettingChoice(
        "transport", MPICH, re.compile(rf"{_CVAR}(CH4_NETMOD|CH4_SHM|NEMESIS_NETMOD|ODD_EVEN_CLIQUES)")
    ),
    SettingChoice("transport", MVAPICH, re.compile(r"MV2_USE_(SHARED_MEM|SHMEM|RDMA\w*|RoCE)")),
    SettingChoice(
        "transport", EVERY, re.compile(r"UCX_(TLS|SHM_DEVICES|PROTOS)|FI_PROVIDER|PSM[23]?_DEVICES")
    ),
    SettingChoice("preload", EVERY, re.compile(r"LD_(PRELOAD|AUDIT)")),
    SettingChoice("waiting", OPENMPI, re.compile(rf"{_MCA}(mpi_yield_when_idle|opal_progress_\w+)")),
    SettingChoice("waiting", INTELMPI, re.compile(r"I_MPI_(WAIT_MODE|SPIN_COUNT|THREAD_YIELD|PAUSE_COUNT)")),
    SettingChoice("waiting", INTELMPI, re.compile(r"I_MPI_(ASYNC_PROGRESS|THREAD_SPLIT)"), off_is_usual=True),
    SettingChoice("waiting", MPICH, re.compile(rf"{_CVAR}ASYNC_PROGRESS"), off_is_usual=True),
    SettingChoice("waiting", MPICH, re.compile(rf"{_CVAR}CH4_PROGRESS_\w+")),
    SettingChoice(
        "binding", OPENMPI, re.compile(rf"{_MCA}(hwloc|rmaps)_(base|default)_(?=\w*(polic|cpu))\w*")
    ),
    SettingChoice("binding", INTELMPI, re.compile(r"I_MPI_PIN(_\w+)?")),
    SettingChoice(
        "binding", HYDRA, re.compile(r"HYDRA_(BINDING|MAPPING|MEMBIND|TOPOLIB)|-(bind-to|map-by|binding)")
    ),
    SettingChoice("binding", MVAPICH, re.compile(r"MV2_(ENABLE_AFFINITY|CPU_(BINDING|MAPPING)\w*)")),
    SettingChoice(
        "binding", EVERY, re.compile(r"SLURM_CPU_BIND|HWLOC_(SYNTHETIC|XMLFILE|FSROOT|COMPONENTS)")
    ),
    SettingChoice("algorithm", OPENMPI, re.compile(rf"{_MCA}coll(_\w+)?")),
    SettingChoice("algorithm", INTELMPI, re.compile(r"I_MPI_(ADJUST|TUNING|COLL|CBWR)(_\w+)?")),
    SettingChoice(
        "algorithm", MPICH, re.compile(rf"{_CVAR}(\w+_ALGORITHM|(?=\w*COLL)\w*|DEVICE_COLLECTIVES)")
    ),
    SettingChoice("algorithm", EVERY, re.compile(r"(HCOLL|UCC|SHARP)_\w+")),
    SettingChoice("interface", OPENMPI, re.compile(rf"{_MCA}\w+_if_(in|ex)clude"), between_hosts=True),
    SettingChoice(
        "interface",
        EVERY,
        re.compile(r"UCX_(NET_DEVICES|MAX_RNDV_RAILS)|FI_\w+_IFACE|MPICH_OFI_NIC_\w+"),
        between_hosts=True,
    ),
    SettingChoice("protocol", OPENMPI, re.compile(rf"{_MCA}(btl|mtl|pml|smsc)_(?!\w*(warn|verbose))\w+")),
    SettingChoice("protocol", OPENMPI, re.compile(rf"{_MCA}smsc")),
    SettingChoice("protocol", INTELMPI, re.compile(r"I_MPI_(SHM_\w+|(?=\w*(EAGER|THRESHOLD))\w*)")),
    SettingChoice(
        "protocol", MPICH, re.compile(rf"{_CVAR}(?=\w*(EAGER|THRESHOLD|MSG_SIZE|CMA|XPMEM|SINGLE_COPY))\w*")
    ),
    SettingChoice("protocol", MVAPICH, re.compile(r"MV2_(?=\w*(EAGER|THRESHOLD|CMA|RNDV))\w*")),
    SettingChoice("protocol", EVERY, re.compile(r"UCX_(?=\w*(THRESH|PROTO|RNDV|ZCOPY|BCOPY|SEG_SIZE))\w*")),
    SettingChoice("allocator", EVERY, re.compile(r"GLIBC_TUNABLES|MALLOC_\w+")),
)
"""The first that a name matches says what it chooses."""

LAUNCHING = re.compile(
    r"HYDRA_(LAUNCHER|LAUNCHER_EXEC|RMK|HOST_FILE|IFACE)"
    r"|I_MPI_HYDRA_(BOOTSTRAP|BOOTSTRAP_EXEC|RMK|HOST_FILE|IFACE)"
    r"|(OMPI|PRTE)_MCA_(plm|ras|orte_default_hostfile|prte_default_hostfile)(_\w+)?"
)
"""Variables that choose by what, and on which hosts, ranks are started: they change no number, and may keep a
job from starting."""

READERS = {
    "OMPI_": OPENMPI,
    "PRTE_": OPENMPI,
    "I_MPI_": INTELMPI,
    "HYDRA_": HYDRA | INTELMPI,
    "MPIR_": MPICH,
    "MPICH_": MPICH,
    "MV2_": MVAPICH,
}
"""Kinds of library that read variables, by how these begin; all others may be read by any."""

OFF = frozenset({"0", "no", "off", "false", "disable", "disabled"})
ON_HOST = frozenset({"sm", "vader", "smcuda", "self", "ob1"})
"""Parts of Open MPI without which messages of one host go another way. A list of parts that are left out (^)
and are none of these leaves it as it is there, as packages of distributions do with networks."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable or a line of a parameter file.

    Attributes:
        of: What it chooses.
        file: Where it stands, a file or modules; empty of a variable of the user.
    """

    of: SettingOf
    name: str
    value: str
    file: str = ""

    @property
    def short_file(self) -> str:
        """Its file without folders; modules in full."""
        return self.file if names_environment(self.file) else self.file.rpartition("/")[2]


def settings_of(result: Result, job: JobKey | None = None) -> list[Setting]:
    """Return what was set for the launches of a result and was not asked for, the worst first.

    Args:
        job: Whose launches; None for all.
    """
    found: dict[Setting, None] = {}
    for library in result.campaign.libraries:
        mine = [
            launch for launch in result.launches if job in (None, launch.job) and _is_of(launch.job, library)
        ]
        # Where nothing could be launched, it may be why.
        each: list[Launch | None] = [*_one_of_each_kind(mine)]
        for launch in each or ([] if result.launches else [None]):
            found |= dict.fromkeys(_of_launch(result, library, launch))
    return sorted(found, key=_severity)


def _severity(setting: Setting) -> tuple[int, int]:
    """Return the order of a setting: of one library before what networks read that several use."""
    name = _variable(setting.name)
    first = next(place for place, choice in enumerate(CHOICES) if choice.names.fullmatch(name))
    return SETTINGS.index(setting.of), first


def choosing(
    variables: Mapping[str, str],
    files: Mapping[str, Mapping[str, str]],
    library: str,
    *,
    several_hosts: bool = True,
) -> Iterator[Setting]:
    """Yield the variables, and the settings of parameter files, that change what a library does.

    Args:
        files: Settings by path and name; a variable goes before a line of a file.
        library: Its kind.
        several_hosts: Whether its ranks are on more than one.
    """
    for name, value in variables.items():
        if of := _of(name, value, library, several_hosts=several_hosts):
            yield Setting(of, name, value)
    for path, settings in files.items():
        for name, value in settings.items():
            of = _of(_variable(name), value, library, several_hosts=several_hosts)
            if of and _variable(name) not in variables:
                yield Setting(of, name, value, path)


def is_read_by(name: str, libraries: Iterable[str]) -> bool:
    """Return whether one of some kinds of library may read a variable; one of no known kind reads all."""
    readers = next((kinds for prefix, kinds in READERS.items() if name.startswith(prefix)), EVERY)
    return not readers or any(kind in readers or not _is_known(kind) for kind in libraries)


def _is_known(library: str) -> bool:
    return any(library in choice.libraries for choice in CHOICES)


def _of(name: str, value: str, library: str, *, several_hosts: bool) -> SettingOf | None:
    """Return what a setting chooses; None if it changes nothing."""
    known = _is_known(library)
    for choice in CHOICES:
        if (choice.libraries and known and library not in choice.libraries) or not choice.names.fullmatch(
            name
        ):
            continue
        usual = choice.off_is_usual and value.strip().lower() in OFF
        far = choice.between_hosts and not several_hosts
        return None if not value.strip() or usual or far or _leaves_out_others(value) else choice.of
    return None


def _leaves_out_others(value: str) -> bool:
    return value.startswith("^") and not ON_HOST & set(value[1:].split(","))


def _of_launch(result: Result, library: LibraryRecord, launch: Launch | None) -> Iterator[Setting]:
    """Yield what a launch found set that nobody asked mpigauge for; without what a lab itself sets."""
    plan, of_modules = result.campaign.plan, library.environment
    given = {} if launch is None else launch.variables
    chosen = {name: value for name, value in given.items() if of_modules.get(name) != value}
    asked = {**plan.variables, **chosen}
    around = {
        name: value
        for name, value in applied(result.campaign.environment.variables, of_modules).items()
        if name not in asked
    }
    # What is asked for goes before a line of a file, too.
    files = {
        path: {name: value for name, value in settings.items() if _variable(name) not in asked}
        for path, settings in library.parameter_files.items()
    }
    hosts = {place.host for place in launch.ranks_at} if launch else {host.name for host in plan.hosts}
    for setting in choosing(around, files, library.name, several_hosts=len(hosts) > 1):
        of_step = setting.name == "SLURM_CPU_BIND" and "SLURM_STEP_ID" in around
        if not (setting.of == "binding" and plan.lab is not None) and not of_step:
            yield replace(setting, file=library.loaded_by) if setting.name in of_modules else setting


def _variable(name: str) -> str:
    """Return the variable that a line of a file sets: files of Open MPI have names without its prefix."""
    return name if re.match(r"[A-Z-]", name) else f"OMPI_MCA_{name}"


def _one_of_each_kind(launches: Sequence[Launch]) -> list[Launch]:
    """Return launches that were given other variables or places than those before them."""
    kinds: dict[object, Launch] = {}
    for launch in launches:
        hosts = len({place.host for place in launch.ranks_at}) > 1
        kinds.setdefault((tuple(sorted(launch.variables.items())), hosts), launch)
    return [*kinds.values()]


def _is_of(job: JobKey, library: LibraryRecord) -> bool:
    return (job.mpi, job.mpi_version, job.label) == (library.name, library.version, library.label)
