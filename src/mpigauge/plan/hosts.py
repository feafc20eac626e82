"""Hosts: parsing lists of users and schedulers, and placing ranks on them.

A placement is a rule or a list. `same-host`: all ranks on the first host that has slots for them.
`different-hosts`: ranks on hosts in turn, so that neighbours are never on the same one. A list names the
host of each rank, by name or by its number in the list of hosts: `h1,h3` or `1,3`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from mpigauge.errors import UsageError
from mpigauge.inputs import text_of
from mpigauge.vocabulary import DIFFERENT_HOSTS, SAME_HOST

MAX_SLOTS = 65_536
MAX_FILE_NAME_BYTES = 255

MAX_HOSTS = 100_000
"""Most hosts of a list: a mistyped range must not fill the memory."""

NAME = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}"
"""Pattern of host names: words that no program takes for an option."""

INSIDE_A_HOST = frozenset({"hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "socket", "package"})
"""Objects that launchers map ranks by, and that users may mistake for placements."""

_HOST = re.compile(NAME, re.ASCII)
_SLOTS = re.compile(r"(?:^|\s)slots\s*=\s*([0-9]+)")
_NAME = re.compile(r"(?:[^\[\],\s]|\[[^\[\]]*\])+")
_PART = re.compile(r"\[([^\[\]]*)\]|[^\[\]]+")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", re.ASCII)


HostName = Annotated[str, Meta(pattern=rf"^{NAME}$(?!\n)")]


class Host(Struct, frozen=True):
    """A host and its slots for ranks."""

    name: HostName
    slots: Annotated[int, Meta(ge=1, le=MAX_SLOTS)] = 1


def short(host: str) -> str:
    """Return the first part of a host name; an IP address is not cut."""
    return host if host.replace(".", "").isdigit() else host.partition(".")[0].lower()


# ---- Lists and files -----------------------------------------------------------------------------


def hosts_of(text: str) -> tuple[Host, ...]:
    """Return the hosts of a list, or of the machine file at a path.

    A list is `h1:2,h2:2` or `node[1-4]:2`. A machine file has one host per line: `h1 slots=2` as for Open
    MPI, `h1:2` as for MPICH, or `h1` repeated once per slot. A host that is named again gets more slots.

    Raises:
        UsageError: A word is invalid; names it, with the file and line.
    """
    path = Path(text)
    if "/" in text or (len(text) <= MAX_FILE_NAME_BYTES and path.is_file()):
        return _of_file(path)
    return _merged((_host(name, slots, text) for name, slots in _parse_list(text)), text)


def _of_file(path: Path) -> tuple[Host, ...]:
    try:
        lines = text_of(path, "use the path of a machine file, or a list: h1:2,h2:2").splitlines()
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8 text", "a machine file has one host per line: h1:2") from None
    return _merged(
        (
            host
            for number, line in enumerate(lines, start=1)
            for host in _of_line(line.partition("#")[0].strip(), f"{path}: line {number}")
        ),
        str(path),
    )


def _of_line(line: str, where: str) -> Iterator[Host]:
    """Return names and slots of a line of a machine file; of launcher options, only slots= counts."""
    words = line.split(None, 1)
    if not words:
        return
    slots_words = _SLOTS.search(words[1]) if len(words) > 1 else None
    for name, slots in _parse_list(words[0]):
        yield _host(name, slots_words[1] if slots_words else slots, where)


def _parse_list(text: str) -> Iterator[tuple[str, str]]:
    """Return names and slots, as text, of a list."""
    for word in _names(text):
        list_, _, slots = word.partition(":")
        _refuse_ssh_words(word)
        for name in expand_nodelist(list_):
            yield name, slots


def _refuse_ssh_words(word: str) -> None:
    """Refuse words that ssh takes for a host, but not all launchers do, nor a list with slots."""
    if "@" in word:
        raise UsageError(
            f"{word!r} names a user, but a host is only a name or an address",
            "write the user into ~/.ssh/config: Host, User",
        )
    if word.count(":") > 1:
        raise UsageError(
            f"{word!r} is an IPv6 address, or has too many colons",
            "use a name, or an IPv4 address; ~/.ssh/config or /etc/hosts may give the address a name",
        )


def _host(name: str, slots: str, where: str) -> Host:
    if not _HOST.fullmatch(name):
        raise UsageError(f"{where}: {name!r} is not a host name", "write names or addresses: h1:2,h2:2")
    if slots and not (slots.isascii() and slots.isdigit() and 1 <= int(slots) <= MAX_SLOTS):
        raise UsageError(f"{where}: {slots!r} is not a number of slots for {name}", "write it as h1:2")
    return Host(name, int(slots or 1))


def _merged(hosts: Iterable[Host], where: str) -> tuple[Host, ...]:
    slots: Counter[str] = Counter()
    for host in hosts:
        slots[host.name] += host.slots
    if not slots:
        raise UsageError(f"{where}: names no hosts", "write names with slots: h1:2,h2:2")
    return tuple(Host(name, count) for name, count in slots.items())


# ---- Placement -----------------------------------------------------------------------------------


def placement_of(text: str, hosts: Sequence[Host], where: str) -> str:
    """Return a placement in its normal form: a rule, or the names of the ranks' hosts.

    Raises:
        UsageError: It names a host that is not in the list.
    """
    if text == SAME_HOST:
        return text
    if text in INSIDE_A_HOST and text not in {host.name for host in hosts}:
        raise UsageError(
            f"{where}: {text} is no placement, which says on which host each rank is",
            "inside a host, cores are chosen by --bind core, or by the launcher: "
            f"--mpi-option --map-by --mpi-option {text}",
        )
    if not hosts:
        raise UsageError(f"{where}: the placement {text} needs hosts", "name them: --hosts h1:2,h2:2")
    if text == DIFFERENT_HOSTS:
        return text
    names = _by_word(hosts)
    return ",".join(_host_name(word.strip(), names, where) for word in text.split(","))


def _by_word(hosts: Sequence[Host]) -> dict[str, str]:
    """Return the names of hosts by what a placement may call them: their names, else their numbers."""
    numbers = {str(number): host.name for number, host in enumerate(hosts, start=1)}
    return numbers | {host.name: host.name for host in hosts}


def _host_name(word: str, names: Mapping[str, str], where: str) -> str:
    number = word.lstrip("0") if word.isascii() and word.isdigit() else ""
    if name := names.get(word) or names.get(number):
        return name
    raise UsageError(
        f"{where}: {word!r} is not one of the hosts {','.join(islice(dict.fromkeys(names.values()), 8))}",
        f"place ranks by {SAME_HOST}, {DIFFERENT_HOSTS}, or a list of hosts: 1,2",
    )


def ranks_of(placement: str) -> int | None:
    """Return how many ranks a placement is for; None if it is a rule for any number."""
    return None if placement in (SAME_HOST, DIFFERENT_HOSTS) else placement.count(",") + 1


def places_of(placement: str, hosts: Sequence[Host], ranks: int, where: str) -> tuple[str, ...]:
    """Return the host of each rank; () if no hosts are given, and all ranks are on this machine.

    Raises:
        UsageError: There are not enough slots or hosts, or a host is not in the list.
    """
    if not hosts:
        return ()
    if placement == SAME_HOST:
        return (_single_host(hosts, ranks, where),) * ranks
    if placement == DIFFERENT_HOSTS:
        return _round_robin(hosts, ranks, where)
    names = _by_word(hosts)
    return tuple(_host_name(name, names, where) for name in placement.split(","))


def _single_host(hosts: Sequence[Host], ranks: int, where: str) -> str:
    for host in hosts:
        if host.slots >= ranks:
            return host.name
    raise UsageError(
        f"{where}: no single host has slots for {ranks} ranks",
        f"write how many ranks a host takes: --hosts {hosts[0].name}:{ranks}",
    )


def _round_robin(hosts: Sequence[Host], ranks: int, where: str) -> tuple[str, ...]:
    """Return the hosts of ranks placed round-robin, within the slots."""
    if ranks > 1 and len(hosts) < 2:  # noqa: PLR2004 - two are the fewest that differ
        raise UsageError(
            f"{where}: {hosts[0].name} is the only host, but ranks are to be placed on different ones",
            "name more: --hosts h1,h2",
        )
    if ranks > (slots := sum(host.slots for host in hosts)):
        raise UsageError(
            f"{where}: the hosts have {slots} slots, not {ranks}",
            "raise the slots (h1:4), or use fewer ranks",
        )
    free_slots = Counter({host.name: host.slots for host in hosts})
    dealt = (host.name for host in cycle(hosts) if _take(free_slots, host.name))
    return tuple(islice(dealt, ranks))


def _take(free_slots: Counter[str], name: str) -> bool:
    free_slots[name] -= 1
    return free_slots[name] >= 0


# ---- Compressed lists ----------------------------------------------------------------------------


def expand_nodelist(text: str) -> tuple[str, ...]:
    """Return the hosts of a compressed list, in its order: `rack[1-2]n[08-10,20],login` has nine.

    Numbers are padded with zeros to the width of the first of their range, as Slurm does.

    Raises:
        UsageError: It is not such a list, or has no hosts or too many.
    """
    hosts: list[str] = []
    for name in _names(text):
        parts = [_choices(text, part) for part in _PART.finditer(name)]
        for words in product(*parts):
            hosts.append("".join(words))
            if len(hosts) > MAX_HOSTS:
                raise _not_a_list_error(text, f"it has more than {MAX_HOSTS} hosts")
    return tuple(hosts)


def _names(text: str) -> list[str]:
    """Return the parts between commas outside of brackets."""
    names = []
    at = 0
    while match := _NAME.match(text, at):
        names.append(match[0])
        at = match.end() + 1
        if text[at - 1 : at] != ",":
            break
    if at != len(text) + 1:
        raise _not_a_list_error(
            text, f"what is wrong begins at {text[max(0, at - 1) :]!r}" if text else "it is empty"
        )
    return names


def _choices(text: str, part: re.Match[str]) -> list[str]:
    """Return the alternatives for a part of a name: itself, or the numbers of its brackets."""
    if part[1] is None:
        return [part[0]]
    return [number for word in part[1].split(",") for number in _numbers(text, word)]


def _numbers(text: str, word: str) -> Iterator[str]:
    match = _RANGE.fullmatch(word)
    if match is None:
        raise _not_a_list_error(text, f"{word!r} is not a range of numbers")
    first, last = match[1], match[2] or match[1]
    count = int(last) - int(first) + 1
    if not 1 <= count <= MAX_HOSTS:
        raise _not_a_list_error(text, f"the range {word!r} has {max(0, count)} numbers")
    return (f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1))


def _not_a_list_error(text: str, why: str) -> UsageError:
    return UsageError(
        f"{text[:80]!r} is not a list of hosts: {why}", "write it as Slurm does: node1,node2 or node[1-4,7]"
    )
