"""Groups of ranks: which ranks of a job take part in a cell, in which order, and which groups at once."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.plan.rank_lists import group_text, members_of
from mpigauge.units import counted
from mpigauge.vocabulary import ALL, NATURAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.plan.rank_lists import Ranks

HOST = "host"
INTERLEAVED = "interleaved"

_MODULO = re.compile(r"mod:([1-9][0-9]{0,8})", re.ASCII)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_RANDOM = re.compile(r"random:([0-9]{1,18})", re.ASCII)

ONE_HOST_HINT = "all ranks are on one host: write a number of groups, mod:8, or lists of ranks: 0-3+4-7"
GROUPS_HINT = "write host, a number of groups, mod:8, or lists of ranks: 0-3+4-7"
ORDER_HINT = f"write {NATURAL}, {INTERLEAVED} or random:SEED"


# ---- Groups at once ------------------------------------------------------------------------------


def groups_of(rule: str, ranks: int, hosts: Sequence[str], where: str) -> list[Ranks]:
    """Return the groups that a rule makes of the ranks of a job.

    Args:
        hosts: The host of each rank; empty where all are on one.

    Raises:
        UsageError: The rule is none, or makes no several groups of two ranks or more.
    """
    groups = _groups_of(rule, ranks, hosts, where)
    if len(groups) < 2:  # noqa: PLR2004 - several
        raise UsageError(
            f"{where}: --groups {rule} makes one group of {counted(len(groups[0]), 'rank')}",
            ONE_HOST_HINT if rule == HOST else GROUPS_HINT,
        )
    if small := next((group for group in groups if len(group) < 2), None):  # noqa: PLR2004
        raise UsageError(
            f"{where}: --groups {rule} makes a group of rank {small[0]} alone",
            "a group has two ranks or more: raise --np, or ask for fewer groups",
        )
    return groups


def _groups_of(rule: str, ranks: int, hosts: Sequence[str], where: str) -> list[Ranks]:
    """Return the groups that a rule makes, of which some may be too small, or only one.

    Raises:
        UsageError: The rule is none, or does not divide the ranks.
    """
    every = range(ranks)
    if rule == HOST:
        on = hosts or ("",) * ranks
        return [tuple(rank for rank in every if on[rank] == host) for host in dict.fromkeys(on)]
    if match := _MODULO.fullmatch(rule):
        by = int(match[1])
        return [tuple(every[first::by]) for first in range(min(by, ranks))]
    if _NUMBER.fullmatch(rule):
        count = int(rule)
        if ranks % count:
            raise UsageError(
                f"{where}: {counted(ranks, 'rank')} are no {count} groups of equal size",
                "choose a number that divides the ranks, or write lists: 0-3+4-7",
            )
        size = ranks // count
        return [tuple(every[first : first + size]) for first in range(0, ranks, size)]
    return _lists(rule, ranks, where)


def _lists(rule: str, ranks: int, where: str) -> list[Ranks]:
    """Return the groups of lists of ranks.

    Raises:
        UsageError: They are none, or have a rank twice or one that the job lacks.
    """
    try:
        groups = [members_of(word) for word in rule.split("+")]
    except ValueError as error:
        raise UsageError(f"{where}: --groups {rule}: {error}", GROUPS_HINT) from None
    times = Counter(rank for group in groups for rank in group)
    if beyond := [rank for rank in times if rank >= ranks]:
        raise UsageError(
            f"{where}: --groups {rule}: a job of {counted(ranks, 'rank')} has no rank {beyond[0]}",
            f"use ranks 0 to {ranks - 1}, or raise --np",
        )
    if twice := [rank for rank, count in times.items() if count > 1]:
        raise UsageError(
            f"{where}: --groups {rule}: rank {twice[0]} is in two groups, which cannot be measured at once",
            "write each rank once",
        )
    return groups


# ---- Orders and senders --------------------------------------------------------------------------


def ordered(order: str, ranks: Sequence[int], hosts: Sequence[str], where: str) -> Ranks:
    """Return ranks in an order: natural, random, or interleaved: one of each host or half in turn.

    Raises:
        UsageError: There is no such order.
    """
    if not order:
        return tuple(ranks)
    if order == INTERLEAVED:
        half = (len(ranks) + 1) // 2
        several = len({hosts[rank] for rank in ranks}) > 1 if hosts else False
        parts = [hosts[rank] if several else place // half for place, rank in enumerate(ranks)]
        return _in_turn(ranks, parts)
    if match := _RANDOM.fullmatch(order):
        shuffled = list(ranks)
        random.Random(f"order/{match[1]}").shuffle(shuffled)  # noqa: S311 - not for secrets
        return tuple(shuffled)
    raise UsageError(f"{where}: no order of ranks is called {order!r}", ORDER_HINT)


def _in_turn(ranks: Sequence[int], parts: Sequence[object]) -> Ranks:
    """Return ranks such that the first of each part stand first, then the second of each."""
    seen: Counter[object] = Counter()
    places: dict[object, int] = {part: place for place, part in enumerate(dict.fromkeys(parts))}
    keys = []
    for rank, part in zip(ranks, parts, strict=True):
        keys.append((seen[part], places[part], rank))
        seen[part] += 1
    return tuple(rank for *_, rank in sorted(keys))


def most_senders(pattern: Pattern, ranks: int) -> int:
    """Return how many ranks of a job can send in a pattern whose senders can be chosen."""
    return ranks // 2 if pattern.senders == "pairs" else ranks - 1


def sender_count(asked: int | str, pattern: Pattern, ranks: int, where: str) -> int:
    """Return how many senders are asked for: a number, or all.

    Raises:
        UsageError: There cannot be so many.
    """
    most = most_senders(pattern, ranks)
    if asked == ALL:
        return most
    if not 1 <= int(asked) <= most:
        raise UsageError(
            f"{where}: {pattern.name} with {counted(ranks, 'rank')} cannot have {asked} senders",
            f"use 1 to {most}, or {ALL}",
        )
    return int(asked)


def with_senders(pattern: Pattern, senders: int, ranks: Sequence[int]) -> Ranks:
    """Return the ranks of a group in which so many send, each to or from whom it would in the whole job."""
    if pattern.senders == "pairs":
        half = len(ranks) // 2
        return (*ranks[:senders], *ranks[half : half + senders])
    return tuple(ranks[: senders + 1])


def selected(
    order: str, senders: int, group: Ranks, pattern: Pattern, ranks: int, hosts: Sequence[str], where: str
) -> str:
    """Return the ranks of a cell as it has them: of a group, in an order, those that so many senders need."""
    members = ordered(order, group, hosts, where)
    if 0 < senders < most_senders(pattern, len(members)):
        members = with_senders(pattern, senders, members)
    return "" if members == tuple(range(ranks)) else group_text(members)


# ---- Cells ---------------------------------------------------------------------------------------


def active_ranks(cell: Cell, pattern: Pattern | None) -> int:
    """Return how many ranks take part in a cell."""
    fixed = pattern.active_ranks if pattern is not None else 0
    return fixed or (len(members_of(cell.group)) if cell.group else cell.ranks)


def group_asked(cell: Cell) -> str:
    """Return the group that a cell is of, before an order and a number of senders chose among its ranks.

    The ranks of a rule, in ascending order; "" for those of the whole job.
    """
    members = () if cell.senders or not cell.group else members_of(cell.group)
    return "" if len(members) in {0, cell.ranks} else group_text(sorted(members))


def set_at_once(cell: Cell) -> Cell:
    """Return what the cells of groups at once have in common; of any other cell, itself."""
    return replace(cell, group="") if cell.groups else cell


def ranks_in(cell: Cell, pattern: Pattern | None) -> Sequence[int]:
    """Return which ranks of its job take part in a cell, in the order of their group."""
    if cell.pair:
        first, _, second = cell.pair.partition("-")
        return int(first), int(second)
    if cell.group:
        return members_of(cell.group)
    return range(active_ranks(cell, pattern))
