"""What changes numbers by factors while nothing fails: who or what disturbed a measurement.

A kind is a word of `vocabulary.Disturbance`, a fact here with its finder in FINDERS, and its sentences below.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from mpigauge.document.finding import Finding
from mpigauge.find.answer import answers
from mpigauge.find.settings import Setting, settings_of
from mpigauge.plan.library_names import library_name
from mpigauge.result.system_limits import SHARED_MEMORY
from mpigauge.rows.machine.conditions import is_disturbed
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.sessions import sessions_of
from mpigauge.rows.transport.proof import evidence, excludes, reports
from mpigauge.units import counted, format_percent, format_rough_size
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch
    from mpigauge.rows.rows import Row
    from mpigauge.rows.transport.proof import TransportEvidence
    from mpigauge.vocabulary import Disturbance, SettingOf

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
    """Visits of quoted numbers during which other programs used the cores, as a share of all of them."""

    share: float
    visits: int


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
    """A library from PyPI that was measured, and the compiler wrapper of another one that is on PATH, too."""

    library: str
    other_mpicc: str


Fact = NetworkOnHost | Traced | Disturbed | Settings | SmallSharedMemory | AnotherMpi


def disturbances_of(
    result: Result, rows: Sequence[Row], quoted: Collection[Cell] | None = None
) -> dict[Disturbance, Fact]:
    """Return what disturbed a result, by kind, the worst first.

    Args:
        quoted: The cells that answer for it; None if nobody has asked yet.
    """
    if quoted is None:
        patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
        quoted = {quote.row.cell for one in answers(rows, patterns) for quote in one.quotes}
    found = {kind: find(result, rows, quoted) for kind, find in FINDERS.items()}
    return {kind: fact for kind, fact in found.items() if fact is not None}


# ---- The way of messages within a host -----------------------------------------------------------


def _network_on_host(result: Result, *_: object) -> NetworkOnHost | None:
    """Return how the first job on one host used a network; None if none did."""
    for job, way in _ways(result).items():
        if way not in {"tcp", "card"}:
            continue
        chosen = tuple(one for one in settings_of(result, job) if one.of == "transport")
        space = _without_room(result, job.ranks)
        return NetworkOnHost(way, chosen, *((-1, -1) if chosen or space is None else space))
    return None


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


def _small_shared_memory(result: Result, *_: object) -> SmallSharedMemory | None:
    """Return a small shared memory; None where every library is known to have had room, or to need none."""
    jobs = {cell.job for cell in result.campaign.cells if cell.transport == AUTO and cell.ranks > 1}
    ranks = max((job.ranks for job in jobs), default=0)
    space = _without_room(result, ranks) if ranks else None
    if space is None:
        return None
    # Who came as far as saying that it uses shared memory may have died of it later.
    died = any(failure.kind == "crash" for failure in result.failures)
    return SmallSharedMemory(*space) if died or not all(map(_ways(result).get, jobs)) else None


# ---- Others --------------------------------------------------------------------------------------


def _traced(result: Result, *_: object) -> Traced | None:
    ranks = [launch.traced_ranks for launch in result.launches if launch.traced_ranks > 0]
    return Traced(max(ranks), len(ranks)) if ranks else None


def _disturbed(result: Result, rows: Sequence[Row], quoted: Collection[Cell]) -> Disturbed | None:
    """Return how many visits were disturbed, of ranks that had a core each and whom no limit stopped.

    Hosts of a lab share the cores of one machine, with each other and with what emulates their network.
    """
    if result.campaign.plan.lab is not None or stopped_by_a_limit(result):
        return None
    known = [
        found
        for row in rows
        if row.cell in quoted and not row.crowded
        for visit in row.visits
        if (found := is_disturbed(visit)) is not None
    ]
    share = sum(known) / len(known) if known else 0.0
    return Disturbed(share, len(known)) if share >= MAX_DISTURBED else None


def throttled_times(result: Result) -> int:
    """Return how often a limit of processor time stopped us, from the begin of each session to its end.

    The count is of the control group, and begins anew in another one: only what it grows by tells of us.
    """
    session_of = {number: at for at, numbers in enumerate(sessions_of(result.launches)) for number in numbers}
    return sum(
        max(0, later - earlier)
        for (one, earlier), (other, later) in pairwise(_throttled_counts(result))
        if session_of[one] == session_of[other]
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


def stopped_by_a_limit(result: Result) -> bool:
    """Return whether a limit stopped ranks in every launch, on average."""
    return throttled_times(result) >= len(result.launches) > 0


def _settings(result: Result, *_: object) -> Settings | None:
    found = settings_of(result)
    return Settings(tuple(found)) if found else None


def _another_mpi(result: Result, *_: object) -> AnotherMpi | None:
    for library in result.campaign.libraries:
        if library.wheel and library.other_mpicc:
            return AnotherMpi(library_name(library.name, library.version, ""), library.other_mpicc)
    return None


FINDERS: Mapping[Disturbance, Callable[[Result, Sequence[Row], Collection[Cell]], Fact | None]] = {
    "network-on-host": _network_on_host,
    "traced": _traced,
    "disturbed": _disturbed,
    "settings": _settings,
    "small-shared-memory": _small_shared_memory,
    "another-mpi": _another_mpi,
}


# ---- Sentences -----------------------------------------------------------------------------------

MAX_LETTERS = 78
"""Of a line of a screen, without the mark before it."""

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


def disturbance_line(fact: Fact) -> str:
    """Return a disturbance in few words: what is the matter, and its cause or remedy if there is room."""
    match fact:
        case NetworkOnHost():
            return _fitting(_network_line(fact))
        case Traced():
            return _fitting(_traced_line(fact))
        case Disturbed():
            return _fitting(_disturbed_line(fact))
        case Settings():
            return _fitting(_settings_line(fact))
        case SmallSharedMemory():
            return _fitting(_small_line(fact))
    return _fitting(_another_line(fact))


def disturbance_sentence(fact: Fact) -> str:
    """Return a disturbance as a whole sentence, with what to do."""
    match fact:
        case NetworkOnHost():
            return _network_sentence(fact)
        case Traced():
            return _traced_sentence(fact)
        case Disturbed():
            return _disturbed_sentence(fact)
        case Settings():
            return _settings_sentence(fact)
        case SmallSharedMemory():
            return _small_sentence(fact)
    return _another_sentence(fact)


def disturbance_findings(result: Result, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield disturbances as whole sentences with what to do, and their numbers."""
    for kind, fact in disturbances_of(result, rows).items():
        yield Finding(kind, "warning", (), asdict(fact), disturbance_sentence(fact))


def _fitting(texts: Iterable[str]) -> str:
    """Return the first text that has room, else as much of the last as there is room for."""
    text = ""
    for text in texts:
        if len(text) <= MAX_LETTERS:
            return text
    return f"{text[: MAX_LETTERS - 3]}..."


# ---- The way of messages within a host -----------------------------------------------------------


def _network_line(fact: NetworkOnHost) -> Iterator[str]:
    went = f"messages went over {WAYS[fact.way]}, not shared memory"
    if fact.settings:
        setting = fact.settings[0]
        file = setting.short_file
        where = f"in {file}" if file else "set here"
        others = f" and {len(fact.settings) - 1} more" if len(fact.settings) > 1 else ""
        yield f"{went}; {where}: {_setting(setting)}{others}"
        yield f"{went}; {where}: {setting.name}{others}"
        yield f"{went}; set in {file}" if file else f"{went}; set here: {setting.name}"
    elif fact.shared_memory_bytes >= 0:
        yield f"{went}: {_space(fact)} (--shm-size)"
        yield f"{went}: {_space(fact)}"
    yield f"{went}: mpigauge doctor"


def _network_sentence(fact: NetworkOnHost) -> str:
    went = f"messages between ranks of one host went over {WAYS[fact.way]}, not shared memory"
    if fact.settings:
        unset = "unset what is not meant, or measure both: --transport shm,tcp"
        return f"{went}: {_listed(fact.settings)}; {unset}"
    if fact.shared_memory_bytes >= 0:
        return f"{went}: {_space(fact)}; {MORE_ROOM}"
    return f"{went}, which takes many times as long: mpigauge doctor shows why"


MORE_ROOM = "remove what is left in it, or give a container more: docker run --shm-size=1g"


def _space(fact: NetworkOnHost | SmallSharedMemory) -> str:
    size, free = fact.shared_memory_bytes, fact.shared_memory_free_bytes
    if size <= 0:
        return f"nobody can write to {SHARED_MEMORY}"
    if free * 2 < size:
        return f"{SHARED_MEMORY} has {format_rough_size(free)} free of {format_rough_size(size)}"
    return f"{SHARED_MEMORY} has {format_rough_size(size)}"


def _small_line(fact: SmallSharedMemory) -> Iterator[str]:
    yield f"{_space(fact)}, too little for these ranks: --shm-size=1g"


def _small_sentence(fact: SmallSharedMemory) -> str:
    return f"{_space(fact)}: too little for these ranks, so jobs die or leave shared memory; {MORE_ROOM}"


# ---- Settings ------------------------------------------------------------------------------------


def _settings_line(fact: Settings) -> Iterator[str]:
    first, more = fact.settings[0], len(fact.settings) - 1
    others = f" and {more} more" if more else ""
    changes = "change" if more else "changes"
    where = f"set in {first.file}" if first.file else "set here"
    short = f"set in {first.short_file}" if first.file else "set here"
    what = "what is measured" if more else CHOOSES[first.of]
    unset = "unset what is not meant" if more else "unset it if not meant"
    yield f"{where}: {_setting(first)}{others} {changes} {what}: {unset}"
    yield f"{where}: {_setting(first)}{others} {changes} {what}"
    yield f"{short}: {_setting(first)}{others} {changes} {what}"
    yield f"{short}: {first.name}{others} {changes} {what}"
    yield f"{short}: {_setting(first)}"


def _settings_sentence(fact: Settings) -> str:
    return (
        f"set, and not by an option of mpigauge: {_listed(fact.settings)}: the numbers are of these choices, "
        "not of what the library does by itself; unset what is not meant, or say it by --env, --transport or "
        "--bind, which the result then tells"
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


# ---- Others --------------------------------------------------------------------------------------


def _traced_line(fact: Traced) -> Iterator[str]:
    yield f"a debugger or tracer was attached to {counted(fact.ranks, 'rank')}: measure without it"


def _traced_sentence(fact: Traced) -> str:
    launches = "1 launch" if fact.launches == 1 else f"{fact.launches} launches"
    return (
        f"in {launches} a debugger or tracer was attached to {counted(fact.ranks, 'rank')}: it may stop "
        "them at each system call, so that TCP takes many times as long: measure without it"
    )


def _disturbed_line(fact: Disturbed) -> Iterator[str]:
    share = format_percent(fact.share)
    yield f"other programs used the cores in {share} of the visits: wait, or --only quiet"


def _disturbed_sentence(fact: Disturbed) -> str:
    return (
        f"other programs used the cores for over 1 % of the time in {format_percent(fact.share)} of "
        f"{counted(fact.visits, 'visit')} of the numbers above: stop them, wait, or ask for whole nodes "
        "(--exclusive); what is left with --only quiet"
    )


def _another_line(fact: AnotherMpi) -> Iterator[str]:
    measured = f"{fact.library} of PyPI, though PATH has"
    yield f"{measured} {fact.other_mpicc}: --mpi names it"
    yield f"{measured} {fact.other_mpicc}"
    yield f"{measured} .../{'/'.join(fact.other_mpicc.rsplit('/', 3)[-3:])}"


def _another_sentence(fact: AnotherMpi) -> str:
    return (
        f"{fact.library} of PyPI was measured; {fact.other_mpicc}, which is on PATH, too, is of another "
        f"library: if that is meant, mpigauge run --mpi {fact.other_mpicc}"
    )
