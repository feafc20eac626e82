"""Properties of this machine and what may disturb measurements on it, read from /proc and /sys.

Every file is optional: virtual machines and containers lack many.
"""

import os
import platform
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from mpigauge.result import control_groups, system_limits
from mpigauge.result.cpu_models import model_of
from mpigauge.result.home_paths import expanded
from mpigauge.result.provenance import Environment
from mpigauge.result.system_files import read

VARIABLES = re.compile(
    r"^((OMPI|OPAL|PRTE|PMIX|MPICH|MPIR|MPIEXEC|HYDRA|MV2|I_MPI|UCX|UCC|HCOLL|SHARP|FI|PSM[23]?|HWLOC|OMP|KMP"
    r"|SLURM|MALLOC|DARSHAN|SCOREP|EXTRAE|VT|TAU|XALT)_|GLIBC_TUNABLES$|LD_(PRELOAD|AUDIT|LIBRARY_PATH)$)"
)
SEARCH_PATHS = re.compile(r"PATH$")
SECRETS = re.compile(
    r"TOKEN|SECRET|(?<!BY)(?<!COM)PASS(?!IVE|ING|THR)|PWD|(?<!HOST)(?<!P)KEY(?!CHECK|ALGO|S?TROKE)|JWT|COOKIE|AUTH"
    r"|CRED(?!IT)|PRIVATE|CERT|_SPANK_|DSN|WEBHOOK|ACCESS|SESSION|LOGIN|BEARER|SALT|VAULT|SIGNATURE"
    r"|CONN(ECTION)?_?STR|(?<![A-Z])(PAT|SID|OTP|PSK|SIG|PW)(?![A-Z])",
    re.IGNORECASE,
)
"""Names of variables that may hold secrets; Slurm plugins may have anything in theirs, such as a password."""

SECRET_VALUES = re.compile(
    r"(?<!\w)(A[KS]IA[0-9A-Z]{12}|gh[a-z]_\w{16}|github_pat_|glpat-|(hf|npm)_\w{16}|s[kr][-_](\w{1,8}[-_]){0,2}\w{16}"
    r"|xox[a-z]-|xapp-|AIza[\w-]{16}|ya29\.|SG\.[\w-]{16}|pypi-\w{16}|dckr_pat_|AGE-SECRET-KEY-|eyJ[\w-]{8}"
    r"|LS0tLS1CRUdJTi|bearer [\w+/.=-]{16}|authorization[\"']?: ?[\"']?\w{1,16} "
    r"|(?<![^\s\"'])(-u|--(proxy-)?user)[ =][\"']?[\w.@+-]{1,64}:(?![0-9]{1,6}\b)\S|sshpass -p ?)"
    r"|-----BEGIN ([^-]{1,64}-----([^-]|-(?!-)){0,16384})?|hooks\.slack\.com/"
    r"|[?&](\w{0,40}(token|secret|passw(or)?d|signature|key)|sig|pwd|auth)=",
    re.IGNORECASE,
)
"""Values that are known for secrets, whatever the variable is called."""

HARDLY_SECRET = re.compile(
    r"(yes|no|true|false|on|off|auto|none|any|ask|accept-new|[0-9]{1,4}|0x[0-9a-f]{1,16}|[~.]{0,2}/[\w.+/-]*)?",
    re.IGNORECASE,
)
"""Values of switches, numbers and paths."""

IS = r"(?:=|\\?[\"'] ?: ?)\\?[\"']?"
"""Separators between a name and its value: NAME=x, -DNAME=\"x\", {'name': 'x'}."""

ASSIGNMENT = re.compile(
    rf"(?<![\w-])(-{{0,2}}[A-Za-z_][\w-]{{0,127}}{IS})"
    r"((?<=\")[^\"\n]{1,1024}|(?<=')[^'\n]{1,1024}|[^\s\"',;]{1,1024})"
)
"""A variable in a text, with its value."""

ASSIGNED_INSIDE = re.compile(rf"([A-Za-z_][\w-]{{0,127}}){IS}(?=([^\s\"',;\\]{{1,64}}))")
"""A variable in a value, with the begin of its own value, in which there may be another."""

LABELLED = re.compile(
    r"(?<!\w)((--?)?(?:pass(?:wor[dt]|phrase|wd)?|cookie"
    r"|[\w-]{0,40}(?:token|secret|(?:api|access|account|private)[_-]?key))"
    r"(?(2)[ =:]|[\"']? ?[=:] ?))(?:\"[^\"\n]{1,256}|'[^'\n]{1,256}|[^\s\"',;]{4,256})",
    re.IGNORECASE,
)
"""A password in a text, behind a label or an option."""

CREDENTIALS = re.compile(
    r"(?<=://)([^\s/:@]{0,256}:\S{1,256}|[^\s/@]{1,256})(?=@(?!sha[0-9]))"
    r"|(?<![\w.+:\[-])[\w.+-]{1,64}:(?![0-9]{1,6}@)[^\s:/@]{4,256}(?=@(?!sha[0-9]))"
)
"""User name and password in the address of a value; a password may have any signs."""

SECRET_WORDS = re.compile(rf"({SECRET_VALUES.pattern})\S*", re.IGNORECASE)

HIDDEN = "(not recorded)"
"""Replacement for a possible secret."""

CPU = Path("/sys/devices/system/cpu")
GOOD_CLOCK_SOURCES = ("tsc", "arch_sys_counter", "")


def processors_allowed() -> int:
    """Return how many processors we and our children may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores_online()


def cores_allowed() -> int:
    """Return how many processors we and our children may use, limited by the quota of control groups."""
    may = processors_allowed()
    quota = control_groups.cpu_quota()
    return max(1, min(may, int(quota))) if quota else may


def cores_limit(environ: Mapping[str, str]) -> str:
    """Return what keeps us from using all processors that are online; empty if nothing does.

    "quota" and "cgroup" are limits of control groups; "srun", "mpirun" and "affinity" what processes inherit.
    """
    may, online = processors_allowed(), cores_online()
    if cores_allowed() < may:
        return "quota"
    if may >= online:
        return ""
    if (of_groups := control_groups.cpus()) is not None and of_groups <= may:
        return "cgroup"
    return next((name for name, mark in BINDING_LAUNCHERS if mark in environ), "affinity")


BINDING_LAUNCHERS = (
    ("srun", "SLURM_STEP_ID"),
    ("mpirun", "OMPI_COMM_WORLD_RANK"),
    ("mpirun", "PMIX_RANK"),
    ("mpirun", "PMI_RANK"),
)
"""Launchers that may bind what they start, each with a variable that this has."""


def physical_cores_allowed() -> int:
    """Return the number of physical cores of the processors that we may run on; 0 if not known."""
    if not hasattr(os, "sched_getaffinity"):
        return 0
    siblings = [
        read(CPU / f"cpu{cpu}" / "topology" / "thread_siblings_list") for cpu in os.sched_getaffinity(0)
    ]
    return len(set(siblings)) if all(siblings) else 0


def cores_online() -> int:
    """Return the number of processors that are online."""
    return os.cpu_count() or 1


def memory_bytes(key: str = "MemTotal") -> int:
    """Return a line of /proc/meminfo, in bytes; 0 if it is not there."""
    match = re.search(rf"^{key}:\s+(\d+) kB", read("/proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def memory_available_bytes() -> int:
    """Return the bytes that new processes can allocate, limited by control groups."""
    available = memory_bytes("MemAvailable") or 2**63
    left = control_groups.memory_left_bytes()
    return available if left is None else min(available, left)


def caches() -> dict[str, int]:
    """Return the caches of the first processor: level and type, such as "L1 Data", to bytes."""
    sizes: dict[str, int] = {}
    for index in sorted((CPU / "cpu0" / "cache").glob("index*")):
        size = re.fullmatch(r"(\d+)K", read(index / "size"))
        if size:
            sizes[f"L{read(index / 'level')} {read(index / 'type')}"] = int(size[1]) * 1024
    return sizes


def cpu_groups() -> dict[str, list[str]]:
    """Return which processors are threads of one core, and which share the last-level cache."""
    groups: dict[str, set[str]] = {}
    for cpu in CPU.glob("cpu[0-9]*"):
        listed = {"core": read(cpu / "topology" / "thread_siblings_list")}
        if levels := {read(index / "level"): index for index in (cpu / "cache").glob("index*")}:
            last = max(levels)
            listed[f"L{last}"] = read(levels[last] / "shared_cpu_list")
        for name, text in listed.items():
            groups.setdefault(name, set()).add(text)
    return {name: sorted(filter(None, texts)) for name, texts in groups.items() if any(texts)}


def steal_s() -> float:
    """Return the steal time of all processors since boot, in seconds."""
    words = read("/proc/stat").partition("\n")[0].split()
    return int(words[8]) / os.sysconf("SC_CLK_TCK") if len(words) > 8 else 0.0  # noqa: PLR2004


def load_average() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


def user_is_root() -> bool:
    """Return whether we run as root, which Open MPI refuses by default."""
    return os.geteuid() == 0


def _cpu_name() -> str:
    return model_of(read("/proc/cpuinfo")) or platform.processor()


def _hypervisor() -> str:
    if vendor := read("/sys/hypervisor/type"):
        return vendor
    return "yes" if re.search(r"^flags\s*:.*\bhypervisor\b", read("/proc/cpuinfo"), re.MULTILINE) else ""


def _turbo() -> str:
    if no_turbo := read(CPU / "intel_pstate" / "no_turbo"):
        return "off" if no_turbo == "1" else "on"
    boost = read(CPU / "cpufreq" / "boost")
    return {"1": "on", "0": "off"}.get(boost, "")


def _numa_nodes() -> int:
    return len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1


def variables() -> dict[str, str]:
    """Return the environment variables that MPI libraries read, without possible secrets."""
    return {
        name: CREDENTIALS.sub("...", value)
        for name, value in sorted(os.environ.items())
        if is_read(name) and not may_be_secret(name, CREDENTIALS.sub("", value))
    }


def without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables as they are recorded, without possible secrets in names and values."""
    return {name: HIDDEN if may_be_secret(name, value) else value for name, value in variables.items()}


def may_be_secret(name: str, value: str) -> bool:
    """Return whether a variable may hold a secret, by its name, or by its value."""
    if HARDLY_SECRET.fullmatch(value):
        return False
    inside = ((name, value), *ASSIGNED_INSIDE.findall(value))
    if any(SECRETS.search(one) and not HARDLY_SECRET.fullmatch(given) for one, given in inside):
        return True
    return any(known.search(value) for known in (CREDENTIALS, SECRET_VALUES, LABELLED))


def text_without_secrets(text: str) -> str:
    """Return a text of other programs as it is recorded: without values that may be secrets."""
    text = ASSIGNMENT.sub(lambda found: found[1] + without_secrets({found[1]: found[2]})[found[1]], text)
    text = LABELLED.sub(rf"\1{HIDDEN}", text)
    return SECRET_WORDS.sub(HIDDEN, CREDENTIALS.sub("...", text))


def with_home(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables as programs are given them: with the home for ~, but where it may be of a secret."""
    return {
        name: value if may_be_secret(name, value) else expanded(value) for name, value in variables.items()
    }


def is_read(name: str) -> bool:
    """Return whether a variable is one that MPI libraries read."""
    return VARIABLES.match(name) is not None


def changes_recorded(changes: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return what modules or a script change as it is recorded: the names of all variables.

    They set much that is nobody's business: values are those of search paths and of what MPI libraries read,
    without possible secrets; None for what is removed.
    """
    kept = {
        name: value if is_read(name) or SEARCH_PATHS.search(name) else HIDDEN
        for name, value in changes.items()
        if value is not None
    }
    return dict.fromkeys(changes) | without_secrets(kept)


def split_words(line: str) -> list[str]:
    """Return the words of a command line; split at blanks if a quote is not closed."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def command_without_secrets(line: str) -> str:
    """Return a command line as it is recorded, without possible secrets."""
    return shlex.join(words_without_secrets(split_words(line)))


def words_without_secrets(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a command as they are recorded, without possible secrets."""
    found: list[str] = []
    before = ""
    for word in words:
        is_value = SECRET_NAME.fullmatch(before) and SECRETS.search(before) and not word.startswith("-")
        found.append(
            HIDDEN if is_value and not HARDLY_SECRET.fullmatch(word) else _word_without_secrets(word)
        )
        before = word
    return tuple(found)


SECRET_NAME = re.compile(r"-{0,2}[A-Za-z_][\w-]{0,127}")
"""Words that may be the name of the next one of a command."""


def _word_without_secrets(word: str) -> str:
    name, is_, value = word.partition("=")
    if name.startswith("--") and "=" in value:  # --env=NAME=VALUE
        return f"{name}={_word_without_secrets(value)}"
    if is_:
        return f"{name}{is_}{without_secrets({name: value})[name]}"
    return text_without_secrets(CREDENTIALS.sub(HIDDEN, word))


def environment() -> Environment:
    """Return the description of this machine (docs/method.md#what-is-recorded)."""
    huge = re.search(r"\[(\w+)\]", read("/sys/kernel/mm/transparent_hugepage/enabled"))
    return Environment(
        host=platform.node(),
        system=platform.platform(),
        kernel=platform.release(),
        cpu=_cpu_name(),
        cores=cores_allowed(),
        cores_online=cores_online(),
        cores_limit=cores_limit(os.environ),
        cpu_quota=control_groups.cpu_quota(),
        memory_bytes=memory_bytes(),
        caches=caches(),
        cpu_groups=cpu_groups(),
        numa_nodes=_numa_nodes(),
        smt={"1": "on", "0": "off"}.get(read(CPU / "smt" / "active"), ""),
        governor=read(CPU / "cpu0" / "cpufreq" / "scaling_governor"),
        turbo=_turbo(),
        huge_pages=huge[1] if huge else "",
        clock_source=read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        hypervisor=_hypervisor(),
        python=platform.python_version(),
        user_is_root=user_is_root(),
        variables=variables(),
        shared_memory_bytes=system_limits.shared_memory_bytes() or 0,
        shared_memory_free_bytes=system_limits.shared_memory_free_bytes() or 0,
    )
