"""Lists of ranks as text, `0-3,8,16-30:2`, in cells and the kernel's plan: ranks and ranges, in order."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Ranks = tuple[int, ...]

LIST = r"[0-9]{1,9}(-[0-9]{1,9}(:[0-9]{1,9})?)?(,[0-9]{1,9}(-[0-9]{1,9}(:[0-9]{1,9})?)?)*"
"""Pattern of a group."""

_LIST = re.compile(LIST, re.ASCII)

MIN_RANGE = 3
"""Fewest ranks that are written as a range."""


@lru_cache(maxsize=4096)
def members_of(group: str) -> Ranks:
    """Return the ranks of a group, in its order.

    Raises:
        ValueError: The text is no list of ranks, or has a rank twice.
    """
    if not _LIST.fullmatch(group):
        raise ValueError(f"{group[:40]!r} is no list of ranks like 0-3,8,16-30:2")
    ranges = [_range(word) for word in group.split(",")]
    if sum(map(len, ranges)) > MAX_MEMBERS:
        raise ValueError(f"{group[:40]!r} has more than {MAX_MEMBERS} ranks")
    ranks = tuple(chain.from_iterable(ranges))
    twice = next((rank for rank, times in Counter(ranks).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"rank {twice} is in the group twice")
    return ranks


def _range(word: str) -> range:
    """Return the ranks of a word of a list.

    Raises:
        ValueError: It has none, or very many.
    """
    first, _, rest = word.partition("-")
    last, _, by = rest.partition(":")
    step = int(by or 1)
    found = range(int(first), int(last or first) + 1, max(1, step))
    if not found or not step:
        raise ValueError(f"{word!r}: a range of ranks goes upwards, like 0-6:2")
    return found


MAX_MEMBERS = 2**24


def group_text(ranks: Iterable[int]) -> str:
    """Return ranks as the text of a group, in which evenly spaced ones are a range."""
    return ",".join(_words(list(ranks)))


def _words(ranks: Sequence[int]) -> Iterator[str]:
    begin = 0
    while begin < len(ranks):
        end = begin + 1
        by = ranks[end] - ranks[begin] if end < len(ranks) else 0
        while by > 0 and end < len(ranks) and ranks[end] - ranks[end - 1] == by:
            end += 1
        if end - begin >= MIN_RANGE:
            yield f"{ranks[begin]}-{ranks[end - 1]}" + (f":{by}" if by > 1 else "")
        else:
            end = begin + 1
            yield str(ranks[begin])
        begin = end
