"""Which named algorithm a collective behaves like, by how well it foretells a number of ranks left out.

What the algorithms would take is in messages of a ping-pong, with p ranks and blocks of n bytes; reductions
themselves are free. Which of them may be behind a pattern follows from what the kernel says of it: whether it
has a root, reduces, and has a block for or from every rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.interval import Interval, interval_of
from mpigauge.stats.limits import PROMISED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.models.model import Model
    from mpigauge.plan.patterns import Mode, Pattern
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import AlgorithmName

Message = Callable[[float], float]
"""Seconds of a message of so many bytes, one way."""

Cost = Callable[[Message, int, float], float]
"""Seconds of a collective of p ranks and n bytes."""


def _steps(ranks: int) -> int:
    """How often ranks must double to be as many."""
    return (ranks - 1).bit_length()


def _linear(message: Message, ranks: int, size: float) -> float:
    return (ranks - 1) * message(size)


def _tree(message: Message, ranks: int, size: float) -> float:
    return _steps(ranks) * message(size)


def _halves(message: Message, ranks: int, whole: float) -> float:
    """Of what all ranks have together a half, a quarter, and so on."""
    return sum(message(whole / 2**step) for step in range(1, _steps(ranks) + 1))


def _doubling(message: Message, ranks: int, size: float) -> float:
    """Of one block, then two, and so on, until all are there."""
    return sum(message(min(2**step, ranks - 2**step) * size) for step in range(_steps(ranks)))


def _scattered(message: Message, ranks: int, size: float) -> float:
    """A tree of halves, then a ring of blocks."""
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
"""By whether a pattern is rooted, reduces, sends to each and receives from each."""

TWICE = "twice"
"""The bus bandwidth of what reduces and hands the whole to everybody."""


def algorithms_of(pattern: Pattern, mode: Mode | None) -> Mapping[AlgorithmName, Cost]:
    """What may be behind a collective; nothing for what is none, or is made of others."""
    if pattern.family != "collective" or not pattern.moves_bytes:
        return {}
    if mode is not None and (mode.instead_of or mode.overlaps):
        return {}
    properties = (pattern.rooted, pattern.reduces, pattern.send_each, pattern.recv_each)
    if properties == (False, True, False, False):
        return _ALLREDUCE if pattern.bus == TWICE else _PREFIX
    return _BY_PROPERTIES.get(properties, {})


# ---- Which of them a collective behaves like -----------------------------------------------------

RANKS_LEAST = 4
"""Numbers of ranks: of fewer, any two algorithms fit as well."""

ERROR_MOST = 0.25
"""With a larger error a collective is like no algorithm."""

EQUAL = 1e-3
"""Errors that differ by less are those of algorithms that one factor makes the same."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How well an algorithm describes a collective.

    Attributes:
        factor: What the collective takes over what the algorithm would, made of messages.
        error: Of numbers of ranks that were left out, root of the mean square, relative.
        largest_error: Of the largest one, from all others.
        extrapolated: It is made of messages so far beyond all sizes that the factor has no interval.
    """

    algorithm: AlgorithmName
    factor: Interval
    error: float
    largest_error: float
    extrapolated: bool = False


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a collective is like over some sizes.

    Attributes:
        first: The smallest size in bytes.
        last: The largest.
        ranks: Numbers of ranks.
        likes: The best first; of those that cannot be told apart, the one whose factor is nearest to 1.
    """

    first: int
    last: int
    ranks: tuple[int, ...]
    likes: tuple[Likeness, ...]

    @property
    def known(self) -> bool:
        """Whether the best is near enough."""
        return bool(self.likes) and self.likes[0].error <= ERROR_MOST

    @property
    def same(self) -> tuple[Likeness, ...]:
        """Those that differ from the best in nothing but their factor."""
        return tuple(one for one in self.likes[1:] if one.error - self.likes[0].error < EQUAL)


def behaviours_of(
    curves: Mapping[int, Mapping[int, float]],
    edges: Sequence[int],
    message: Model,
    algorithms: Mapping[AlgorithmName, Cost],
) -> list[Behaviour] | None:
    """What a collective is like, over each segment of sizes; None if it has too few numbers of ranks.

    Args:
        curves: Of each number of ranks, none of them oversubscribed, its times in seconds by size.
        edges: Sizes with which segments begin, the first one included.
        message: The model of messages between two of these ranks.

    Source:
        docs/models.md#collectives
    """
    ranks = tuple(sorted(count for count in curves if count > 1))
    if len(ranks) < RANKS_LEAST:
        return None
    sizes = sorted(set.intersection(*(set(curves[count]) for count in ranks)))
    place = np.searchsorted(np.array(edges), sizes, side="right")
    groups = [
        [size for size, mine in zip(sizes, place, strict=True) if mine == one] for one in np.unique(place)
    ]
    return [_behaviour(curves, ranks, group, message, algorithms) for group in groups]


def _behaviour(
    curves: Mapping[int, Mapping[int, float]],
    ranks: tuple[int, ...],
    sizes: Sequence[int],
    message: Model,
    algorithms: Mapping[AlgorithmName, Cost],
) -> Behaviour:
    measured = np.log([[curves[count][size] for size in sizes] for count in ranks])

    likes = []
    for name, cost in algorithms.items():
        sent: set[float] = set()

        def seconds(size: float, sent: set[float] = sent) -> float:
            sent.add(size)
            return message_s(message, size)

        costs = np.array([[cost(seconds, count, size) for size in sizes] for count in ranks])
        if np.isfinite(costs).all():
            far = not all(map(message.points.near, sent))
            likes.append(_likeness(name, measured - np.log(costs), far))
    return Behaviour(sizes[0], sizes[-1], ranks, _ranked(likes))


def _likeness(name: AlgorithmName, apart: Values, far: bool) -> Likeness:
    """Of the differences of logarithms, shape ``(numbers of ranks, sizes)``."""
    means, count = apart.mean(axis=1), len(apart)
    others = (means.sum() - means) / (count - 1)
    squares = ((apart - others[:, None]) ** 2).mean(axis=1)
    factor = interval_of(np.exp(means), machine=PROMISED)
    whole, largest = math.sqrt(squares.mean()), math.sqrt(squares[-1])
    known = Interval(factor.centre) if far else factor
    return Likeness(name, known, math.expm1(whole), math.expm1(largest), far)


def _ranked(likes: Sequence[Likeness]) -> tuple[Likeness, ...]:
    best = min((one.error for one in likes), default=0.0)

    def order(one: Likeness) -> tuple[float, float]:
        same = one.error - best < EQUAL
        return (best, abs(math.log(one.factor.centre))) if same else (one.error, 0.0)

    return tuple(sorted(likes, key=order))


def message_s(model: Model, size: float) -> float:
    """The time of a message by the model; infinite beyond its sizes where it has no slope."""
    last = len(model.segments) - 1
    if size > model.points.sizes[-1] and not model.segments[last].sloped:
        return math.inf
    middles = [math.sqrt(max(one.above, 1) * one.upto) for one in model.breaks]
    number = sum(size > middle for middle in middles)
    return max(float(model.cut.alpha[number] + model.cut.beta[number] * size), 1e-300)
