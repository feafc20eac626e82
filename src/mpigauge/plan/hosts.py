"""Hosts: the words in which users and schedulers name them."""

import re
from collections.abc import Iterator
from itertools import product

from mpigauge.errors import UsageError

HOSTS_MOST = 100_000
"""Of one list; a mistyped range is not to fill the memory."""

_NAME = re.compile(r"(?:[^\[\],\s]|\[[^\[\]]*\])+")
_PART = re.compile(r"\[([^\[\]]*)\]|[^\[\]]+")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", re.ASCII)


def expand_nodelist(text: str) -> tuple[str, ...]:
    """The hosts of a compressed list, in its order: `rack[1-2]n[08-10,20],login` are nine.

    A number is as wide as the first of its range, filled up with zeros, as Slurm writes them.

    Raises:
        UsageError: It is no such list, or names no host or too many.
    """
    hosts: list[str] = []
    for name in _names(text):
        parts = [_choices(text, part) for part in _PART.finditer(name)]
        for words in product(*parts):
            hosts.append("".join(words))
            if len(hosts) > HOSTS_MOST:
                raise _no_list(text, f"it has more than {HOSTS_MOST} hosts")
    return tuple(hosts)


def _names(text: str) -> list[str]:
    """What stands between the commas outside of brackets."""
    names = []
    at = 0
    while found := _NAME.match(text, at):
        names.append(found[0])
        at = found.end() + 1
        if text[at - 1 : at] != ",":
            break
    if at != len(text) + 1:
        raise _no_list(text, f"what is wrong begins at {text[max(0, at - 1) :]!r}" if text else "it is empty")
    return names


def _choices(text: str, part: re.Match[str]) -> list[str]:
    """The words that a part of a name stands for: itself, or the numbers of its brackets."""
    if part[1] is None:
        return [part[0]]
    return [number for word in part[1].split(",") for number in _numbers(text, word)]


def _numbers(text: str, word: str) -> Iterator[str]:
    found = _RANGE.fullmatch(word)
    if found is None:
        raise _no_list(text, f"{word!r} is no range of numbers")
    first, last = found[1], found[2] or found[1]
    count = int(last) - int(first) + 1
    if not 1 <= count <= HOSTS_MOST:
        raise _no_list(text, f"the range {word!r} has {max(0, count)} numbers")
    return (f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1))


def _no_list(text: str, why: str) -> UsageError:
    return UsageError(
        f"{text[:80]!r} is no list of hosts: {why}", "write it as Slurm does: node1,node2 or node[1-4,7]"
    )
