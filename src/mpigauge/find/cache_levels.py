"""The memory below MPI: which cache levels a pointer chase shows, and how they differ from what is claimed.

All times are in seconds, all sizes in bytes.
"""

from __future__ import annotations

import bisect
import math
import re
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.latency_pieces import POINTS_LEAST, RESOLUTION, STEEP, Piece, pieces_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.stats.percentiles import Values

_LEAST_POINTS = 6
_ONE_SIDED = 1.645
_AGREEMENT = 2

# A ramp that is less above a plateau cannot be told from noise and from the spacing of the sizes.
_SERVED = 1.1

# So far apart, the faster cache serves an eighth of the loads where the slower one ends.
_CAPACITIES_APART = 8


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


def cache_levels(sizes_bytes: Sequence[int], latencies_s: Sequence[float]) -> list[Level]:
    """The levels of the memory hierarchy that a curve of latency over working set shows, fastest first.

    The curve is cut into pieces (`pieces_of`). A piece is a level if it is shown to be flat at its end: the
    upper 95 % bound of the slope of log latency over log size is below 1/2. Beyond the capacity, latency
    leaves a plateau with the slope ``slow / fast - 1``, so one number decides twice: neighbours that differ
    by less than a factor of 1 + 1/2 are one level. A level ends where its last piece does, or where the ramp
    that follows meets it. Its latency is the median over its points, of a ramp its asymptote: what loads
    take that no faster level serves.

    Args:
        sizes_bytes: Working sets in any order, 4 to 8 an octave; of one given twice the lower latency counts.
        latencies_s: Latency of a load in each; what is not positive and finite is passed over.

    Returns:
        Nothing for fewer than 6 points; else at least one level, the last without a capacity.

    Raises:
        ValueError: If there are not as many latencies as sizes.

    Limits:
        In simulated curves with noise up to 5 % levels are found if their capacities differ at least 8 times
        and their latencies 2.5 times; none is invented. With noise of 10 %, 1.5 % of curves of random access
        show a level less and 0.2 % a level more. Closer levels may be seen as one; up to 2 times in capacity
        or 1.5 in latency they mostly are. Where misses grow faster than ``1 - capacity / size``, a latency
        may be 15 % too long. The last level is never slower than what was measured. A translation buffer
        (pages that are not huge) looks like a cache if it makes a step. The capacity is what one process
        gets: where pages collide, latency rises before the nominal one.

    Source:
        docs/method.md#cache-levels
    """
    sizes, latencies = _measured(sizes_bytes, latencies_s)
    if len(sizes) < _LEAST_POINTS:
        return []
    pieces = pieces_of(np.array(sizes, dtype=np.float64), latencies)
    *bounded, last = _joined(pieces, latencies)
    after = dict(pairwise(pieces))
    return [
        *(
            Level(sizes[_last_served(sizes, level[-1], after[level[-1]])], _latency(level, latencies))
            for level in bounded
        ),
        Level(None, min(_latency(last, latencies), float(latencies.max()))),
    ]


def _measured(sizes_bytes: Sequence[int], latencies_s: Sequence[float]) -> tuple[list[int], Values]:
    """What is a measurement, by size; the lower latency of a size that is there twice."""
    points = [
        (size, latency)
        for size, latency in zip(sizes_bytes, latencies_s, strict=True)
        if size > 0 and 0 < latency < math.inf
    ]
    lowest = dict(sorted(points, reverse=True))
    sizes = sorted(lowest)
    return sizes, np.array([lowest[size] for size in sizes])


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


def _joined(pieces: Sequence[Piece], latencies: Values) -> list[list[Piece]]:
    """The pieces of each level: all but ramps that are still steep, joined unless latency rises by 1.5.

    A piece that is not shown to be flat is not a level. The last piece always is one: if it is a ramp, it
    leads to a level that was not reached.
    """
    flat = _flat(pieces, latencies.size)
    shown = [piece for piece in pieces if piece in flat or not piece.saving or piece is pieces[-1]]
    lows, highs = _heights(shown, latencies)
    joined = [shown[:1]]
    for high, low, piece in zip(highs, lows[1:], shown[1:], strict=False):
        if low < (1 + STEEP) * high:
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return [*(level for level in joined[:-1] if flat.intersection(level)), joined[-1]]


def _flat(pieces: Sequence[Piece], points: int) -> set[Piece]:
    """Those whose upper 95 % bound of the slope, at the end, is below 1/2."""
    noise = math.sqrt(sum(piece.squares for piece in pieces) / points + RESOLUTION**2)
    return {piece for piece in pieces if piece.slope + _ONE_SIDED * noise * piece.slope_error < STEEP}


def _heights(shown: Sequence[Piece], latencies: Values) -> tuple[Values, Values]:
    """Where the level of each piece begins and ends.

    No working set is faster than a smaller one, so a piece is as high as the lowest that follows.
    """
    lows, highs = (np.array([getattr(piece, end) for piece in shown]) for end in ("low", "high"))
    # One slow point is no level.
    lows[-1] = min(lows[-1], latencies[-POINTS_LEAST:].min())
    lowest, highest = (np.minimum.accumulate(each[::-1])[::-1] for each in (lows, highs))
    return lowest, highest


def _last_served(sizes: Sequence[int], before: Piece, after: Piece) -> int:
    """The place of the last working set of a level, or of the largest where the next ramp is not above it."""
    last = before.end - 1
    rise = after.low - _SERVED * before.high
    if not after.saving or rise <= 0:
        return last
    return max(last, min(bisect.bisect_right(sizes, after.saving / rise), after.end - 1) - 1)


def _latency(level: Sequence[Piece], latencies: Values) -> float:
    """The median over the points of its pieces."""
    return float(np.median(np.concatenate([_of_level(piece, latencies) for piece in level])))


def _of_level(piece: Piece, latencies: Values) -> Values:
    """Latencies of the level alone: of a ramp its asymptote, as far as capacities may be apart."""
    mine = latencies[piece.begin : piece.end]
    if not piece.saving:
        return mine
    reached = float(np.median(mine[-POINTS_LEAST:]))
    return np.full_like(mine, min(piece.low, reached / (1 - 1 / _CAPACITIES_APART)))


def _data_capacities(claimed: Mapping[str, int]) -> dict[int, int]:
    """Number of the level to the largest cache of that level which holds data."""
    capacities: dict[int, int] = {}
    for name, capacity_bytes in claimed.items():
        level, _, kind = name.partition(" ")
        if kind != "Instruction" and re.fullmatch(r"L\d+", level):
            number = int(level[1:])
            capacities[number] = max(capacity_bytes, capacities.get(number, 0))
    return capacities
