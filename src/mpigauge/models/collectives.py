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

from mpigauge.stats.interval import Number, interval_of
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


# ---- Which of them a collective behaves like -----------------------------------------------------

MIN_RANK_COUNTS = 4
"""Least number of rank counts: with fewer, any two algorithms fit equally well."""

MAX_ERROR = 0.25
"""Largest error with which a collective still behaves like an algorithm."""

EQUAL_ERRORS = 1e-3
"""Difference of errors below which two algorithms are the same but for one factor."""


@dataclass(frozen=True, slots=True)
class AlgorithmFit:
    """Fit of an algorithm to a collective.

    Attributes:
        factor: Measured time over that of the algorithm, made of messages.
        error: Relative root mean square error of predicting each number of ranks from the others.
        largest_error: Error of predicting the largest number of ranks from the others.
        extrapolated: Whether its messages are so far beyond all sizes that the factor has no interval.
    """

    algorithm: AlgorithmName
    factor: Number
    error: float
    largest_error: float
    extrapolated: bool = False


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Algorithms that fit a collective over a range of sizes.

    Attributes:
        first: Smallest size in bytes.
        last: Largest size in bytes.
        ranks: Numbers of ranks.
        fits: Fits of algorithms, the best first; of equal ones the one whose factor is nearest to 1.
    """

    first: int
    last: int
    ranks: tuple[int, ...]
    likes: tuple[AlgorithmFit, ...]

    @property
    def known(self) -> bool:
        """Return whether the best algorithm fits well enough."""
        return bool(self.likes) and self.likes[0].error <= MAX_ERROR

    @property
    def same(self) -> tuple[AlgorithmFit, ...]:
        """Algorithms that differ from the best only by their factor."""
        return tuple(one for one in self.likes[1:] if one.error - self.likes[0].error < EQUAL_ERRORS)


def behaviours_of(
    curves: Mapping[int, Mapping[int, float]],
    edges: Sequence[int],
    message: Model,
    algorithms: Mapping[AlgorithmName, Cost],
) -> list[Behaviour] | None:
    """Return the behaviour of a collective over each segment of sizes; None if it has too few rank counts.

    Args:
        curves: Times in seconds by size, by number of ranks, none of them oversubscribed.
        edges: First sizes of segments.
        message: Model of messages between two of these ranks.

    Source:
        docs/models.md#collectives
    """
    ranks = tuple(sorted(count for count in curves if count > 1))
    if len(ranks) < MIN_RANK_COUNTS:
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
            likes.append(_fit(name, measured - np.log(costs), far))
    return Behaviour(sizes[0], sizes[-1], ranks, _ranked(likes))


def _fit(name: AlgorithmName, apart: Values, far: bool) -> AlgorithmFit:
    """Return the fit of an algorithm, from log ratios of shape ``(numbers of ranks, sizes)``."""
    means, count = apart.mean(axis=1), len(apart)
    others = (means.sum() - means) / (count - 1)
    squares = ((apart - others[:, None]) ** 2).mean(axis=1)
    factor = interval_of(np.exp(means), machine=PROMISED)
    whole, largest = math.sqrt(squares.mean()), math.sqrt(squares[-1])
    known = Number(factor.estimate) if far else factor
    return AlgorithmFit(name, known, math.expm1(whole), math.expm1(largest), far)


def _ranked(likes: Sequence[AlgorithmFit]) -> tuple[AlgorithmFit, ...]:
    best = min((one.error for one in likes), default=0.0)

    def order(one: AlgorithmFit) -> tuple[float, float]:
        same = one.error - best < EQUAL_ERRORS
        return (best, abs(math.log(one.factor.estimate))) if same else (one.error, 0.0)

    return tuple(sorted(likes, key=order))


def message_s(model: Model, size: float) -> float:
    """Return the time of a message in seconds; infinite beyond the measured sizes without a slope there."""
    last = len(model.segments) - 1
    if size > model.points.sizes[-1] and not model.segments[last].sloped:
        return math.inf
    middles = [math.sqrt(max(one.above, 1) * one.upto) for one in model.breaks]
    number = sum(size > middle for middle in middles)
    return max(float(model.cut.alpha[number] + model.cut.beta[number] * size), 1e-300)
