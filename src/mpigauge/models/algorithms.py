"""Times of collectives by named algorithms, if they were made of the messages of a ping-pong.

Which algorithms may be behind a pattern follows from what the kernel says of it: whether it has a root,
reduces, and has a block for or from every rank. In messages of a ping-pong, with p ranks and blocks of n
bytes; reductions themselves are free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.plan.patterns import Mode, Pattern
    from mpigauge.vocabulary import AlgorithmName

Message = Callable[[float], float]
"""Seconds of a message of so many bytes, one way."""

Cost = Callable[[Message, int, float], float]
"""Seconds of a collective of p ranks and n bytes."""


def _steps(ranks: int) -> int:
    """Return how often ranks must double to reach this number."""
    return (ranks - 1).bit_length()


def _linear(message: Message, ranks: int, size: float) -> float:
    return (ranks - 1) * message(size)


def _tree(message: Message, ranks: int, size: float) -> float:
    return _steps(ranks) * message(size)


def _halves(message: Message, ranks: int, whole: float) -> float:
    """Return the time of messages of a half, a quarter, and so on, of what all ranks hold together."""
    return sum(message(whole / 2**step) for step in range(1, _steps(ranks) + 1))


def _doubling(message: Message, ranks: int, size: float) -> float:
    """Return the time of messages of one block, then two, and so on, until all blocks have arrived."""
    return sum(message(min(2**step, ranks - 2**step) * size) for step in range(_steps(ranks)))


def _scattered(message: Message, ranks: int, size: float) -> float:
    """Return the time of a tree of halves, then a ring of blocks."""
    return _halves(message, ranks, size) + (ranks - 1) * message(size / ranks)


_BROADCAST: Mapping[AlgorithmName, Cost] = {
    "linear": _linear,
    "binomial": _tree,
    "van-de-geijn": _scattered,
}
_REDUCE: Mapping[AlgorithmName, Cost] = {
    "linear": _linear,
    "binomial": _tree,
    "rabenseifner": lambda message, ranks, size: 2 * _halves(message, ranks, size),
}
_ALLREDUCE: Mapping[AlgorithmName, Cost] = {
    "linear": lambda message, ranks, size: 2 * _linear(message, ranks, size),
    "binomial": lambda message, ranks, size: 2 * _tree(message, ranks, size),
    "recursive-doubling": _tree,
    "ring-of-blocks": lambda message, ranks, size: 2 * (ranks - 1) * message(size / ranks),
    "rabenseifner": lambda message, ranks, size: 2 * _halves(message, ranks, size),
}
_PREFIX: Mapping[AlgorithmName, Cost] = {"linear": _linear, "recursive-doubling": _tree}
_ROOTED_BLOCKS: Mapping[AlgorithmName, Cost] = {
    "linear": _linear,
    "binomial": lambda message, ranks, size: _halves(message, ranks, ranks * size),
}
_REDUCE_SCATTER: Mapping[AlgorithmName, Cost] = {
    "pairwise": _linear,
    "recursive-halving": lambda message, ranks, size: _halves(message, ranks, ranks * size),
}
_ALLGATHER: Mapping[AlgorithmName, Cost] = {
    "ring-of-blocks": _linear,
    "recursive-doubling": _doubling,
    "bruck": _doubling,
}
_ALLTOALL: Mapping[AlgorithmName, Cost] = {
    "pairwise": _linear,
    "bruck": lambda message, ranks, size: _steps(ranks) * message(ranks * size / 2),
}

_BY_PROPERTIES: Mapping[tuple[bool, bool, bool, bool], Mapping[AlgorithmName, Cost]] = {
    (True, False, False, False): _BROADCAST,
    (True, True, False, False): _REDUCE,
    (True, False, True, False): _ROOTED_BLOCKS,
    (True, False, False, True): _ROOTED_BLOCKS,
    (False, True, True, False): _REDUCE_SCATTER,
    (False, False, False, True): _ALLGATHER,
    (False, False, True, True): _ALLTOALL,
}
"""Algorithms by whether a pattern is rooted, reduces, sends to each rank and receives from each."""

TWICE = "twice"
"""Bus bandwidth of patterns that reduce and send the whole result to everybody."""


def algorithms_of(pattern: Pattern, mode: Mode | None) -> Mapping[AlgorithmName, Cost]:
    """Return the algorithms that may implement a collective; empty for other patterns."""
    if pattern.family != "collective" or not pattern.moves_bytes:
        return {}
    if mode is not None and (mode.instead_of or mode.overlaps):
        return {}
    properties = (pattern.rooted, pattern.reduces, pattern.send_each, pattern.recv_each)
    if properties == (False, True, False, False):
        return _ALLREDUCE if pattern.bus == TWICE else _PREFIX
    return _BY_PROPERTIES.get(properties, {})
