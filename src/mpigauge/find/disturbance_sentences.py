"""What disturbed a measurement, in words: a line of a screen each, and the whole sentence with its remedy."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mpigauge.document.finding import Finding
from mpigauge.find.disturbances import (
    Disturbed,
    NetworkOnHost,
    Settings,
    SmallSharedMemory,
    Traced,
    disturbances_of,
)
from mpigauge.result.system_limits import SHARED_MEMORY
from mpigauge.units import counted, format_percent, format_rough_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.find.disturbances import AnotherMpi, Fact
    from mpigauge.find.settings import Setting
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import SettingOf

LETTERS_MOST = 78
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
    """A few words: what is the matter, and its cause or remedy if there is room."""
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
    """The whole sentence, with what to do."""
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
    """Whole sentences with what to do, and their numbers."""
    for kind, fact in disturbances_of(result, rows).items():
        yield Finding(kind, "warning", (), asdict(fact), disturbance_sentence(fact))


def _fitting(texts: Iterable[str]) -> str:
    """The first that has room, else what there is room for of the last."""
    text = ""
    for text in texts:
        if len(text) <= LETTERS_MOST:
            return text
    return f"{text[: LETTERS_MOST - 3]}..."


# ---- The way of messages within a host -----------------------------------------------------------


def _network_line(fact: NetworkOnHost) -> Iterator[str]:
    went = f"messages went over {WAYS[fact.way]}, not shared memory"
    if fact.settings:
        setting = fact.settings[0]
        file = setting.file.rpartition("/")[2]
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
    short = f"set in {first.file.rpartition('/')[2]}" if first.file else "set here"
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
    """Each with where it stands and what it chooses: `OMPI_MCA_btl=tcp,self (the transport)`."""
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
