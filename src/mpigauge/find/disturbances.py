"""What changes numbers by factors while nothing fails: who or what disturbed a measurement.

A kind is a fact here, its finder and its words, and a row of DISTURBED, the worst first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from mpigauge.find.kinds import FindingKind, Words
from mpigauge.find.settings import Setting, settings_of
from mpigauge.plan.library_names import library_name
from mpigauge.result.files import quoted
from mpigauge.result.system_limits import SHARED_MEMORY
from mpigauge.rows.machine.conditions import is_disturbed
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.sessions import sessions_of
from mpigauge.rows.transport.proof import evidence, excludes, reports
from mpigauge.units import counted, format_percent, format_rough_size
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.find.kinds import About
    from mpigauge.plan.model import JobKey
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch
    from mpigauge.rows.transport.proof import TransportEvidence
    from mpigauge.vocabulary import SettingOf

MAX_DISTURBED = 0.25
"""Share of disturbed visits of the quoted numbers from which on a doubt is printed."""

SHARED_MEMORY_OF_A_RANK_BYTES = 16 * 2**20
"""Room in /dev/shm that is enough for a rank of any library."""

LAUNCHES_COUNTED = 3
"""Whose bytes on network cards tell how messages went: more would tell the same."""

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class NetworkOnHost:
    """Messages between ranks of one host that went over a network.

    Attributes:
        way: Which: TCP, or a card that knows RDMA.
        settings: Those that choose the transport; the first is the likeliest cause.
        shared_memory_bytes: The size of /dev/shm; -1 unless that is the likeliest cause.
        shared_memory_free_bytes: What was free of it; likewise.
    """

    way: str
    settings: tuple[Setting, ...] = ()
    shared_memory_bytes: int = -1
    shared_memory_free_bytes: int = -1


@dataclass(frozen=True, slots=True)
class Traced:
    """Ranks that a debugger or tracer was attached to, the most of any launch, and in how many launches."""

    ranks: int
    launches: int


@dataclass(frozen=True, slots=True)
class Disturbed:
    """Visits of quoted numbers during which other programs used the cores, as a share of all of them.

    Attributes:
        quiet_helps: Whether these numbers are surer without such visits.
    """

    share: float
    visits: int
    quiet_helps: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """Variables and lines of parameter files that change what is measured, the worst first."""

    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class SmallSharedMemory:
    """A /dev/shm without room for the ranks: its size, and what was free of it."""

    shared_memory_bytes: int
    shared_memory_free_bytes: int


@dataclass(frozen=True, slots=True)
class AnotherMpi:
    """A library from PyPI that was measured, and the compiler wrapper of another one that is on PATH, too.

    Attributes:
        other_fault: Why that one cannot be used; empty if it can.
    """

    library: str
    other_mpicc: str
    other_fault: str = ""


@dataclass(frozen=True, slots=True)
class Throttled:
    """A limit of processor time that stopped ranks, and how often."""

    times: int


@dataclass(frozen=True, slots=True)
class Portable:
    """A library that is a wheel, built to run everywhere: its name and version."""

    library: str


# ---- The way of messages within a host -----------------------------------------------------------


def _network_on_host(about: About) -> Iterator[NetworkOnHost]:
    """Yield how the first job on one host used a network, if one did."""
    result = about.result
    ways = _ways(result)
    for job in [job for job, way in ways.items() if way in {"tcp", "card"}][:1]:
        chosen = tuple(one for one in settings_of(result, job) if one.of == "transport")
        space = _without_room(result, job.ranks)
        yield NetworkOnHost(ways[job], chosen, *((-1, -1) if chosen or space is None else space))


def _ways(result: Result) -> Mapping[JobKey, str]:
    """Return how messages went in jobs on one host that could choose, shm, tcp or card, where it is known."""
    jobs = {launch.job: launch for launch in result.launches if _is_on_one_host(launch)}
    said = reports(launch for launch in result.launches if launch.job in jobs)
    ways = {job: _said(said.get(job, ())) for job in jobs}
    if unknown := {job for job, way in ways.items() if not way}:
        patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
        some = sorted({launch.number for launch in result.launches if launch.job in unknown})[
            :LAUNCHES_COUNTED
        ]
        visits = (visit for visit in result.visits if visit.launch in some and visit.cell.job in unknown)
        votes: dict[JobKey, list[str]] = defaultdict(list)
        for cell, seen in evidence(visits, patterns).items():
            votes[cell.job].append(_counted(seen, jobs[cell.job]))
        ways |= {job: _majority(mine) for job, mine in votes.items()}
    return ways


def _is_on_one_host(launch: Launch) -> bool:
    return (
        launch.job.transport == AUTO and launch.job.ranks > 1 and len({p.host for p in launch.ranks_at}) == 1
    )


def _said(reported: Sequence[str]) -> str:
    """Return the way that the library reports, where all launches say the same."""
    ways = {_word(report) for report in reported}
    return ways.pop() if len(ways) == 1 else ""


def _word(report: str) -> str:
    return "tcp" if excludes("shm", report) else "shm" if excludes("tcp", report) else ""


def _counted(seen: TransportEvidence, launch: Launch) -> str:
    """Return the way that bytes on network cards show; empty if they prove nothing."""
    hosts = [place.host for place in launch.ranks_at]
    if (why := seen.refutes("shm", hosts)) is not None:
        past_ip = why.kind == "on-cards"
        return "card" if past_ip else "" if seen.refutes("tcp", hosts) else "tcp"
    return "shm" if seen.refutes("tcp", hosts) else ""


def _majority(votes: Sequence[str]) -> str:
    """Return what more than half of the cells say."""
    way, count = Counter(votes).most_common(1)[0]
    return way if count > _HALF * len(votes) else ""


# ---- Room in /dev/shm ----------------------------------------------------------------------------


def _without_room(result: Result, ranks: int) -> tuple[int, int] | None:
    """Return size and free space of a /dev/shm without room for so many ranks; None if it has, or unknown."""
    machine = measured_machine(result)
    size, free = machine.shared_memory_bytes, machine.shared_memory_free_bytes
    return None if size < 0 or free >= ranks * SHARED_MEMORY_OF_A_RANK_BYTES else (size, free)


def _small_shared_memory(about: About) -> Iterator[SmallSharedMemory]:
    """Yield a small shared memory, unless every library is known to have had room, or to need none.

    Not where messages went over a network because of it: that says so.
    """
    result = about.result
    jobs = {cell.job for cell in result.campaign.cells if cell.transport == AUTO and cell.ranks > 1}
    ranks = max((job.ranks for job in jobs), default=0)
    space = _without_room(result, ranks) if ranks else None
    if space is None or any(_network_on_host(about)):
        return
    # Who came as far as saying that it uses shared memory may have died of it later.
    died = any(failure.kind == "crash" for failure in result.failures)
    if died or not all(map(_ways(result).get, jobs)):
        yield SmallSharedMemory(*space)


# ---- Others --------------------------------------------------------------------------------------


def _traced(about: About) -> Iterator[Traced]:
    ranks = [launch.traced_ranks for launch in about.result.launches if launch.traced_ranks > 0]
    if ranks:
        yield Traced(max(ranks), len(ranks))


def _disturbed(about: About) -> Iterator[Disturbed]:
    """Yield how many visits were disturbed, of ranks that had a core each and whom no limit stopped.

    Hosts of a lab share the cores of one machine, with each other and with what emulates their network.
    """
    if about.result.campaign.plan.lab is not None or any(_throttled(about)):
        return
    known = [
        found
        for row in about.rows
        if row.cell in about.quoted and not row.crowded
        for visit in row.visits
        if (found := is_disturbed(visit)) is not None
    ]
    share = sum(known) / len(known) if known else 0.0
    if share >= MAX_DISTURBED:
        yield Disturbed(share, len(known), about.quiet_helps)


def throttled_times(result: Result) -> int:
    """Return how often a limit of processor time stopped us, from the begin of each session to its end.

    The count is of the control group, and begins anew in another one: only what it grows by tells of us.
    """
    session_of = {number: at for at, numbers in enumerate(sessions_of(result.launches)) for number in numbers}
    return sum(
        max(0, later - earlier)
        for (one, earlier), (other, later) in pairwise(_throttled_counts(result))
        if one in session_of and session_of[one] == session_of.get(other)
    )


def _throttled_counts(result: Result) -> Iterator[tuple[int, int]]:
    """Yield the known counts before and after each launch, with its number, in the order of time."""
    ended = {(done.launch, done.job): done.throttled for done in result.done}
    for launch, after in zip_longest(result.launches, result.launches[1:]):
        key = launch.number, launch.job
        if launch.throttled is not None:
            yield launch.number, launch.throttled
        last_part = after is None or (after.number, after.job) != key
        if last_part and (count := ended.get(key)) is not None:
            yield launch.number, count


def _throttled(about: About) -> Iterator[Throttled]:
    """Yield that a limit stopped ranks in every launch, on average."""
    times = throttled_times(about.result)
    if times >= len(about.result.launches) > 0:
        yield Throttled(times)


def _settings(about: About) -> Iterator[Settings]:
    """Yield settings; a cause that is named with what it did is not said again."""
    named = {setting for fact in _network_on_host(about) for setting in fact.settings}
    shared = [one for row in about.rows for one in row.warnings if one.kind == "shared-core"]
    binding = {
        setting.partition("=")[0] for one in shared for setting in str(one.values["binding"] or "").split()
    }
    found = settings_of(about.result)
    if left := tuple(one for one in found if one not in named and one.name not in binding):
        yield Settings(left)


def _another_mpi(about: About) -> Iterator[AnotherMpi]:
    for library in about.result.campaign.libraries:
        if library.wheel and library.other_mpicc:
            name = library_name(library.name, library.version, "")
            yield AnotherMpi(name, library.other_mpicc, library.other_fault)
            return


def _portable(about: About) -> Iterator[Portable]:
    """Yield libraries that are wheels; older files say so only of some."""
    for library in about.result.campaign.libraries:
        if library.wheel or "wheel" in library.origin:
            yield Portable(library_name(library.name, library.version, ""))


# ---- The way of messages within a host, in words -------------------------------------------------

CHOOSES: Mapping[SettingOf, str] = {
    "transport": "the transport",
    "preload": "what is loaded",
    "waiting": "how ranks wait",
    "binding": "the binding",
    "algorithm": "algorithms",
    "interface": "the network card",
    "protocol": "protocols",
    "allocator": "the allocator",
}
"""What settings choose."""

WAYS = {"tcp": "TCP", "card": "a network card"}


SLOWER = "they took many times as long"


def _network_lines(fact: NetworkOnHost) -> Iterator[Words]:
    went = f"messages went over {WAYS[fact.way]}, not shared memory: slower"
    briefly = f"messages went over {WAYS[fact.way]} (slow)"
    if fact.settings:
        setting = fact.settings[0]
        file = setting.short_file
        remove = "remove" if file else "unset"
        where = f" in {file}" if file else ""
        others = f" and {len(fact.settings) - 1} more" if len(fact.settings) > 1 else ""
        yield Words(went, remedy=f"{remove} {_setting(setting)}{where}{others}")
        yield Words(went, remedy=f"{remove} {setting.name}{where}{others}")
        for rest in (f"{where}{others}", where, ""):
            yield Words(briefly, remedy=f"{remove} {setting.name}{rest}")
    elif fact.shared_memory_bytes >= 0:
        for said in (went, briefly):
            yield Words(f"{said}; {_space(fact)}", remedy="--shm-size")
    else:
        yield Words(went, remedy="mpigauge doctor")


def _network_words(fact: NetworkOnHost) -> Words:
    went = f"messages between ranks of one host went over {WAYS[fact.way]}, not shared memory"
    if fact.settings:
        unset = "unset what is not meant, or measure both: --transport shm,tcp"
        return Words(f"{went}, by {_listed(fact.settings)}", SLOWER, unset)
    if fact.shared_memory_bytes >= 0:
        return Words(f"{went}, since {_space(fact)}", SLOWER, MORE_ROOM)
    return Words(went, SLOWER, "mpigauge doctor shows why")


MORE_ROOM = "remove what is left in it, or give a container more: docker run --shm-size=1g"


def _space(fact: NetworkOnHost | SmallSharedMemory) -> str:
    size, free = fact.shared_memory_bytes, fact.shared_memory_free_bytes
    if size <= 0:
        return f"nobody can write to {SHARED_MEMORY}"
    if free * 2 < size:
        return f"{SHARED_MEMORY} has {format_rough_size(free)} free of {format_rough_size(size)}"
    return f"{SHARED_MEMORY} has {format_rough_size(size)}"


def _small_lines(fact: SmallSharedMemory) -> Iterator[Words]:
    yield Words(f"{_space(fact)}, too little for these ranks, which may die", remedy="--shm-size=1g")
    yield Words(f"{_space(fact)}: ranks may die", remedy="--shm-size=1g")


def _small_words(fact: SmallSharedMemory) -> Words:
    return Words(f"{_space(fact)}, too little for these ranks", "jobs die, or leave shared memory", MORE_ROOM)


# ---- Settings, in words --------------------------------------------------------------------------


def _settings_lines(fact: Settings) -> Iterator[Words]:
    first, more = fact.settings[0], len(fact.settings) - 1
    others = f" and {more} more" if more else ""
    changes = "change" if more else "changes"
    what = "what is measured" if more else CHOOSES[first.of]
    unset = "unset what is not meant" if more else "unset it if not meant"
    short = f"set in {first.short_file}" if first.file else "set here"
    where = f"set in {first.file}" if first.file else "set here"
    for remedy in (unset, "unset?"):
        yield Words(f"{where}: {_setting(first)}{others} {changes} {what}", remedy=remedy)
        yield Words(f"{short}: {_setting(first)}{others} {changes} {what}", remedy=remedy)
    yield Words(f"{short}: {first.name}{others} {changes} {what}", remedy="unset?")
    yield Words(f"{first.name}{others} {changes} {what}", remedy="unset?")
    yield Words(f"{first.of} set in {len(fact.settings)} places, changing {what}", remedy="see --all")


def _settings_words(fact: Settings) -> Words:
    return Words(
        f"set, and not by an option of mpigauge: {_listed(fact.settings)}",
        "the numbers are of these choices, not of what the library does by itself",
        "unset what is not meant, or say it by --env, --transport or --bind, which the result then tells",
    )


def _listed(settings: Sequence[Setting]) -> str:
    return "; ".join(settings_words(settings))


def settings_words(settings: Iterable[Setting]) -> Iterator[str]:
    """Yield settings with their places and what they choose: `OMPI_MCA_btl=tcp,self (the transport)`."""
    for one in settings:
        where = f" in {one.file}" if one.file else ""
        yield f"{_setting(one)}{where} ({CHOOSES[one.of]})"


def _setting(setting: Setting) -> str:
    return f"{setting.name}={setting.value}" if setting.value else setting.name


# ---- Others, in words ----------------------------------------------------------------------------


def _traced_lines(fact: Traced) -> Iterator[Words]:
    traced = f"debugger or tracer attached to {counted(fact.ranks, 'rank')}"
    yield Words(f"{traced}: times too long", remedy="measure without it")


def _traced_words(fact: Traced) -> Words:
    ranks, launches = counted(fact.ranks, "rank"), counted(fact.launches, "launch")
    return Words(
        f"in {launches} a debugger or tracer was attached to {ranks}",
        "it may stop them at each system call, so that TCP takes many times as long",
        "measure without it",
    )


def _disturbed_lines(fact: Disturbed) -> Iterator[Words]:
    share = format_percent(fact.share)
    remedy = "--only quiet" if fact.quiet_helps else "stop them"
    yield Words(f"other programs used the cores in {share} of visits: times too long", remedy=remedy)


def _disturbed_words(fact: Disturbed) -> Words:
    return Words(
        f"other programs used the cores for over 1 % of the time in {format_percent(fact.share)} of "
        f"{counted(fact.visits, 'visit')} of the numbers above",
        "these times are too long",
        "stop them, wait, or ask for whole nodes (--exclusive)"
        f"{'; what is left with --only quiet' if fact.quiet_helps else ''}",
    )


def _throttled_lines(fact: Throttled) -> Iterator[Words]:
    yield Words(f"CPU limit (cpu.max) stopped ranks {fact.times} times: times too long", remedy="raise it")


def _throttled_words(fact: Throttled) -> Words:
    return Words(
        f"throttled {counted(fact.times, 'time')}: the job's CPU limit (cpu.max) stopped its ranks",
        "times have pauses in them",
        "raise the limit (docker run --cpus), or use fewer ranks",
    )


def _another_lines(fact: AnotherMpi) -> Iterator[Words]:
    short = f".../{'/'.join(fact.other_mpicc.rsplit('/', 3)[-3:])}"
    if fact.other_fault:
        measured = f"{fact.library} of PyPI was measured"
        for path in (fact.other_mpicc, short, "mpicc of PATH"):
            yield Words(f"{measured}: {path} fails", remedy="repair it")
        return
    measured = f"{fact.library} of PyPI was measured, not"
    for path in (fact.other_mpicc, short):
        yield Words(f"{measured} {path} of PATH", remedy="use --mpi")
        yield Words(f"{measured} {path}", remedy="use --mpi")
    yield Words(f"{measured} that of PATH", remedy="use --mpi")


def _another_words(fact: AnotherMpi) -> Words:
    measured = f"{fact.library} of PyPI was measured"
    if fact.other_fault:
        broken = f"{fact.other_mpicc}, which is on PATH, too, does not work ({fact.other_fault})"
        return Words(measured, broken, "if that is meant, repair it")
    return Words(
        measured,
        f"{fact.other_mpicc}, which is on PATH, too, is of another library",
        f"if that is meant, mpigauge run --mpi {quoted(fact.other_mpicc)}",
    )


def _portable_lines(fact: Portable) -> Iterator[Words]:
    for where in ("for this machine", "here"):
        yield Words(f"{fact.library} of PyPI may be slower than one built {where}", remedy="--mpi")


def _portable_words(fact: Portable) -> Words:
    return Words(
        f"{fact.library} is a wheel from PyPI, built to run everywhere",
        "single-copy transfers (CMA, XPMEM) and your network's driver may be missing",
        "--mpi names a library that was built for this machine",
    )


DISTURBED: tuple[FindingKind, ...] = (
    FindingKind("network-on-host", "wrong", _network_on_host, _network_words, _network_lines),
    FindingKind("traced", "wrong", _traced, _traced_words, _traced_lines),
    FindingKind("disturbed", "wrong", _disturbed, _disturbed_words, _disturbed_lines),
    FindingKind("settings", "wrong", _settings, _settings_words, _settings_lines),
    FindingKind("small-shared-memory", "wrong", _small_shared_memory, _small_words, _small_lines),
    FindingKind("another-mpi", "wrong", _another_mpi, _another_words, _another_lines),
)
"""The worst first."""

THROTTLED = FindingKind("throttled", "by factors", _throttled, _throttled_words, _throttled_lines)
PORTABLE = FindingKind("portable-library", "harmless", _portable, _portable_words, _portable_lines)
