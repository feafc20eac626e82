"""All pairs of ranks, as many at once as there can be: the circle method of a round-robin tournament."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

Pair = tuple[int, int]


def steps(ranks: int) -> list[list[Pair]]:
    """Every pair once, nobody twice in a step; the lower rank of a pair comes first.

    Returns:
        ``ranks - 1`` steps of ``ranks / 2`` pairs; of an odd number, ``ranks`` steps in each of which
        another one rests. None for fewer than two.

    Source:
        Kirkman, On a problem in combinations, Cambridge and Dublin Mathematical Journal 2, 1847.
    """
    if ranks < 2:  # noqa: PLR2004 - it takes two
        return []
    seats = ranks + ranks % 2
    return [_pairs(ranks, seats, turn) for turn in range(seats - 1)]


def _pairs(ranks: int, seats: int, turn: int) -> list[Pair]:
    """The last seat stays, the others move on by one each turn; who faces an empty seat rests."""
    circle = [(turn + place) % (seats - 1) for place in range(seats - 1)]
    facing = zip([seats - 1, *circle[: seats // 2 - 1]], reversed(circle[seats // 2 - 1 :]), strict=True)
    return sorted((min(a, b), max(a, b)) for a, b in facing if max(a, b) < ranks)


class NamedPair(str):
    """The pair of a cell, `0-3`, which also knows what both ends are called; to all else it is its text.

    Attributes:
        ends: Hosts, or what else tells the ranks of a job apart.
    """

    __slots__ = ("ends",)

    ends: tuple[str, str]

    def __new__(cls, name: str, ends: tuple[str, str]) -> Self:
        """Return the text of a pair with the names of its ends."""
        named = super().__new__(cls, name)
        named.ends = ends
        return named

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[str, str]]]:
        """Return what copies and other processes make it of."""
        return type(self), (str(self), self.ends)


def name_of(pair: Pair) -> str:
    """As cells have it: ``"0-3"``."""
    return f"{pair[0]}-{pair[1]}"


def ranks_of(name: str) -> Pair:
    """The two ranks of such a name."""
    first, _, second = name.partition("-")
    return int(first), int(second)
