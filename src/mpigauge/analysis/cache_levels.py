"""The memory below MPI: which cache levels a pointer chase shows, and how they differ from what is claimed.

All times are in seconds, all sizes in bytes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.analysis.percentiles import Values

_STEEP = 0.5
_APART = math.log1p(_STEEP)
_LEAST_POINTS = 6
_LEAST_IN_PIECE = 3
_MOST_PARAMETERS = 60
_RESOLUTION = 0.01
_TIE = 2.0
_ONE_SIDED = 1.645
_AGREEMENT = 2

# Each piece brings its height and a break, a ramp its slope too.
_PARAMETERS = {False: 2, True: 3}


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the memory hierarchy as pointer chasing shows it.

    Attributes:
        capacity_bytes: The largest working set that it serves; None for the last level: main memory, or
            whatever the largest working set reached.
        latency_s: The median latency of the working sets that it serves.
    """

    capacity_bytes: int | None
    latency_s: float


@dataclass(frozen=True, slots=True)
class DifferentCache:
    """A cache whose capacity is not seen as the system claims it.

    Attributes:
        level: 1 for L1, and so on.
        seen_bytes: The largest working set that it serves; None if its end was not seen.
        claimed_bytes: What the system claims.
        within: Whether working sets of that size were measured.
    """

    level: int
    seen_bytes: int | None
    claimed_bytes: int
    within: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both are the same within a factor of 2."""
        seen, claimed = self.seen_bytes, self.claimed_bytes
        return seen is not None and seen <= _AGREEMENT * claimed and claimed <= _AGREEMENT * seen


@dataclass(frozen=True, slots=True)
class _Piece:
    """A step or ramp of a fitted curve: points from `begin` to before `end`; `squares` is what it leaves."""

    begin: int
    end: int
    is_ramp: bool
    squares: float


def cache_levels(sizes_bytes: Sequence[int], latencies_s: Sequence[float]) -> list[Level]:
    """The levels of the memory hierarchy that a curve of latency over working set shows, fastest first.

    The curve is cut into steps and ramps (`_fit`), and ramps are no levels: there the working set exceeds a
    level and still hits it partly. Where misses grow as ``1 - capacity / size``, log latency leaves the
    plateau with the slope ``slow / fast - 1`` over log size and is flatter than 1/2 again before three times
    the capacity. So one number decides twice: steeper than 1/2 is a ramp, and steps that differ by less than
    a factor of 1 + 1/2 are one level. A plateau must show itself flat: the upper 95 % bound of its slope is
    below 1/2. It lasts until the latency is halfway to that factor.

    Args:
        sizes_bytes: Working sets in any order, 4 to 8 an octave; of one given twice the lower latency counts.
        latencies_s: Latency of a load in each; what is not positive and finite is passed over.

    Returns:
        Nothing for fewer than 6 points; else at least one level, the last without a capacity.

    Raises:
        ValueError: If there are not as many latencies as sizes.

    Limits:
        In simulated curves with noise up to 5 % levels are found if their capacities differ at least 8 times
        and their latencies 2.5 times (all but 1 %); none is invented. With noise of 10 %, one curve in eight
        of the slowest ramps shows a level less and one in a hundred a level more. Closer levels may be seen
        as one; up to 3 times in capacity or 1.5 in latency they mostly are. The latency of a level that
        begins with a long ramp is up to 40 % too low. A translation buffer (pages that are not huge) looks
        like a cache if it makes a step. The capacity is what one process gets: where pages collide, latency
        rises before the nominal one.

    Source:
        docs/method.md#cache-levels. Ramps, since steps alone cut a ramp into levels.
    """
    measured = [
        (size, latency)
        for size, latency in zip(sizes_bytes, latencies_s, strict=True)
        if size > 0 and 0 < latency < math.inf
    ]
    lowest = dict(sorted(measured, reverse=True))
    if len(lowest) < _LEAST_POINTS:
        return []
    sizes = sorted(lowest)
    latencies = np.array([lowest[size] for size in sizes])
    plateaus = _plateaus(np.log(np.array(sizes, dtype=np.float64)), np.log(latencies))
    levels = [Level(sizes[end - 1], float(np.median(latencies[begin:end]))) for begin, end in plateaus]
    return [*levels[:-1], Level(None, levels[-1].latency_s)]


def differing_claims(
    levels: Sequence[Level], claimed: Mapping[str, int], sizes_bytes: Sequence[int]
) -> list[DifferentCache]:
    """Where the capacities seen are not what the system claims, in the order of the levels.

    A claim is compared with the level whose capacity is nearest to it, each level with one claim, both in
    rising order. Claims that only the smallest working set is below cannot be seen, and are left out.

    Args:
        levels: From `cache_levels`; without any, nothing can differ.
        claimed: Names such as "L1 Data" or "L3 Unified" to bytes; instruction caches do not count.
        sizes_bytes: Working sets that were measured.

    Returns:
        Nothing if all capacities agree within a factor of 2.

    Source:
        docs/method.md#cache-levels
    """
    least = sorted(sizes_bytes)[1] if len(sizes_bytes) > 1 else 0
    claims = [(number, most) for number, most in sorted(_data_capacities(claimed).items()) if most >= least]
    if not levels:
        return []
    seen = _matched(
        [level.capacity_bytes for level in levels if level.capacity_bytes], [c for _, c in claims]
    )
    found = [
        DifferentCache(number, capacity, most, within=capacity is None and most < max(sizes_bytes))
        for (number, most), capacity in zip(claims, seen, strict=True)
    ]
    return [one for one in found if not one.agrees]


def _matched(capacities: Sequence[int], claims: Sequence[int]) -> list[int | None]:
    """For each claim the capacity that it is compared with; None for those that are left over."""
    pairs = min(len(capacities), len(claims))

    def distance(chosen: tuple[Sequence[int], Sequence[int]]) -> float:
        places, values = chosen
        return sum(abs(math.log(claims[place] / value)) for place, value in zip(places, values, strict=True))

    choices = product(combinations(range(len(claims)), pairs), combinations(capacities, pairs))
    places, values = min(choices, key=distance)
    found = dict(zip(places, values, strict=True))
    return [found.get(place) for place in range(len(claims))]


def _plateaus(log_sizes: Values, log_latencies: Values) -> list[tuple[int, int]]:
    """Where the curve is level: first point, and the one after the last; never empty."""
    pieces = _fit(log_sizes, log_latencies)
    noise = math.sqrt(sum(piece.squares for piece in pieces) / log_sizes.size + _RESOLUTION**2)
    steps = _joined_steps(pieces, log_latencies)
    bounded = [
        (begin, _end_of_plateau(log_latencies, end, following))
        for (begin, end), (following, _) in pairwise(steps)
        if _is_flat(log_sizes[begin:end], log_latencies[begin:end], noise)
    ]
    return [*bounded, steps[-1]]


def _joined_steps(pieces: Sequence[_Piece], log_latencies: Values) -> list[tuple[int, int]]:
    """Steps, joined with their neighbours unless latency rises by a factor of 1.5 in between.

    No working set is faster than a smaller one, so a step is as high as the lowest that follows. A ramp at
    the end leads to a level that was not reached; the last points stand for it.
    """
    steps = [(piece.begin, piece.end) for piece in pieces if not piece.is_ramp]
    heights = [float(np.median(log_latencies[begin:end])) for begin, end in steps]
    if pieces[-1].is_ramp:
        end = pieces[-1].end
        steps.append((end - _LEAST_IN_PIECE, end))
        # One slow point is no level.
        heights.append(float(log_latencies[-_LEAST_IN_PIECE:].min()))
    lowest = np.minimum.accumulate(heights[::-1])[::-1]
    joined = steps[:1]
    for (begin, end), rise in zip(steps[1:], np.diff(lowest), strict=True):
        if rise < _APART:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return joined


def _is_flat(log_sizes: Values, log_latencies: Values, noise: float) -> bool:
    """Whether the upper 95 % bound of the slope is below 1/2."""
    distances = log_sizes - log_sizes.mean()
    squares = float(distances @ distances)
    # Multiplied by the squares, which may be 0.
    return float(distances @ log_latencies) + _ONE_SIDED * noise * math.sqrt(squares) < _STEEP * squares


def _end_of_plateau(log_latencies: Values, end: int, following: int) -> int:
    """Where a plateau really ends, up to the following step: a ramp is fitted with points before its rise."""
    limit = float(np.median(log_latencies[end - _LEAST_IN_PIECE : end])) + _APART / 2
    slower = np.flatnonzero(log_latencies[end:following] >= limit)
    return end + int(slower[0]) if slower.size else following


def _fit(log_sizes: Values, log_latencies: Values) -> list[_Piece]:
    """Cut a curve into the steps and ramps for which BIC is smallest, by exact dynamic programming.

    Args:
        log_sizes: Shape ``(points,)``, ascending.
        log_latencies: Shape ``(points,)``.

    Source:
        docs/method.md#cache-levels: pieces are of two kinds, constants, and lines steeper than 1/2.
    """
    count = log_sizes.size
    costs = _piece_costs(log_sizes, log_latencies)
    most = min(_MOST_PARAMETERS, count)
    least = np.full((most + 1, count + 1), np.inf)
    origins = np.zeros((most + 1, count + 1), dtype=np.int64)
    # The first parameter is the variance.
    least[1, 0] = 0
    for parameters in range(1 + _PARAMETERS[False], most + 1):
        totals = np.concatenate(
            [least[parameters - _PARAMETERS[kind]][:, np.newaxis] + cost for kind, cost in costs.items()]
        )
        origins[parameters] = totals.argmin(axis=0)
        least[parameters] = totals.min(axis=0)
    return _traced_back(origins, _best_parameters(least[:, count], count), costs)


def _piece_costs(log_sizes: Values, log_latencies: Values) -> dict[bool, Values]:
    """Squares left by one step (False) and one ramp (True) for every range of points.

    Returns:
        Twice shape ``(points + 1, points + 1)``, indexed by first point and the one after the last; infinite
        for what is no piece.
    """
    x, y = log_sizes - log_sizes.mean(), log_latencies - log_latencies.mean()
    counts = _sums(np.ones_like(x))
    allowed = counts >= _LEAST_IN_PIECE
    counts[~allowed] = 1
    x_squares = _sums(x * x) - _sums(x) ** 2 / counts
    products = _sums(x * y) - _sums(x) * _sums(y) / counts
    squares = np.maximum(0, _sums(y * y) - _sums(y) ** 2 / counts)
    slopes = np.divide(products, x_squares, out=np.zeros_like(products), where=allowed & (x_squares > 0))
    ramps = np.maximum(0, squares - slopes * products)
    return {
        False: np.where(allowed, squares, np.inf),
        True: np.where(allowed & (slopes > _STEEP), ramps, np.inf),
    }


def _sums(values: Values) -> Values:
    """Sums over all ranges, indexed by first point and the one after the last."""
    totals = np.concatenate(([0.0], np.cumsum(values)))
    return totals - totals[:, np.newaxis]


def _best_parameters(squares: Values, count: int) -> int:
    """The fewest parameters whose BIC is within 2 of the smallest, from the squares left by each number.

    What differs by under 1 % counts as equal, or curves without noise would be cut as finely as possible.
    """
    scores = count * np.log(squares / count + _RESOLUTION**2) + np.arange(squares.size) * math.log(count)
    return int(np.flatnonzero(scores <= scores.min() + _TIE)[0])


def _traced_back(
    origins: npt.NDArray[np.int64], parameters: int, costs: Mapping[bool, Values]
) -> list[_Piece]:
    width = origins.shape[1]
    end = width - 1
    pieces: list[_Piece] = []
    while end > 0:
        kind, begin = divmod(int(origins[parameters, end]), width)
        is_ramp = bool(kind)
        pieces.append(_Piece(begin, end, is_ramp, float(costs[is_ramp][begin, end])))
        parameters -= _PARAMETERS[is_ramp]
        end = begin
    return pieces[::-1]


def _data_capacities(claimed: Mapping[str, int]) -> dict[int, int]:
    """Number of the level to the largest cache of that level which holds data."""
    capacities: dict[int, int] = {}
    for name, capacity_bytes in claimed.items():
        level, _, kind = name.partition(" ")
        if kind != "Instruction" and re.fullmatch(r"L\d+", level):
            number = int(level[1:])
            capacities[number] = max(capacity_bytes, capacities.get(number, 0))
    return capacities
