"""All pairs of ranks in steps of concurrent pairs: the circle method of a round-robin tournament."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

Pair = tuple[int, int]


def steps(ranks: int) -> list[list[Pair]]:
    """Return steps that together have every pair once, with no rank twice in a step.

    Returns:
        ``ranks - 1`` steps of ``ranks / 2`` pairs, the lower rank first; for an odd number, ``ranks`` steps
        with another rank idle in each. Empty for fewer than two ranks.

    Source:
        Kirkman, On a problem in combinations, Cambridge and Dublin Mathematical Journal 2, 1847.
    """
    if ranks < 2:  # noqa: PLR2004 - it takes two
        return []
    positions = ranks + ranks % 2
    return [_pairs(ranks, positions, turn) for turn in range(positions - 1)]


def _pairs(ranks: int, positions: int, turn: int) -> list[Pair]:
    """Return the pairs of a turn: the last position is fixed, the others rotate; one is empty if odd."""
    circle = [(turn + position) % (positions - 1) for position in range(positions - 1)]
    facing = zip(
        [positions - 1, *circle[: positions // 2 - 1]], reversed(circle[positions // 2 - 1 :]), strict=True
    )
    return sorted((min(a, b), max(a, b)) for a, b in facing if max(a, b) < ranks)


class NamedPair(str):
    """The pair of a cell as text, `0-3`, with names for both ranks.

    Attributes:
        ends: The ranks' hosts, or other names that tell the ranks of a job apart.
    """

    __slots__ = ("ends",)

    ends: tuple[str, str]

    def __new__(cls, name: str, ends: tuple[str, str]) -> Self:
        """Return the text of a pair with the names of its ends."""
        named = super().__new__(cls, name)
        named.ends = ends
        return named

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[str, str]]]:
        """Return the constructor call for copies and pickles."""
        return type(self), (str(self), self.ends)


def pair_name(pair: Pair) -> str:
    """Return a pair as cells have it: ``"0-3"``."""
    return f"{pair[0]}-{pair[1]}"


def pair_ranks(name: str) -> Pair:
    """Return the two ranks of a pair such as ``"0-3"``."""
    first, _, second = name.partition("-")
    return int(first), int(second)
