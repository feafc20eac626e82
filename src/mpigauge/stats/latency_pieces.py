"""Cut a curve of latency over working set into pieces: plateaus, creeping ones, and ramps of misses.

For random loads in a working set ``w``, a cache of capacity ``c`` serves the share ``c / w``. So
between the capacities of two levels latency is ``A - B / w``: ``A`` is that of the slower level, ``B`` what
the faster ones save. That is linear in ``1 / w``, so all cuts can be compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values

STEEP = 0.5
"""Slope of log latency over log size below which a piece creeps, and at which a level ends."""

MIN_POINTS = 3
"""Points of the shortest piece."""

RESOLUTION = 0.01
"""Relative errors below this count as 0."""

# Of a ramp where it begins. A flatter one would end a rise between two sizes as a level of its own.
_MIN_RAMP_SLOPE = 0.75
_MAX_PARAMETERS = 60
_TIE = 2.0
_RANGE = 1e9
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Piece:
    """Points from `begin` to before `end` that one plateau, slope or ramp describes.

    Attributes:
        low: The latency of its level: of a ramp the asymptote, of a creeping piece where it begins.
        high: Equal to `low`; of a creeping piece the latency where it ends.
        saving: A ramp is ``low - saving / size``; 0 of others.
        squares: Sum of squared relative errors.
        slope: Slope of log latency over log size; of a ramp at its last point.
        slope_error: The standard error of that if relative errors are 1; infinite if sizes hardly differ.
    """

    begin: int
    end: int
    low: float
    high: float
    saving: float
    squares: float
    slope: float
    slope_error: float


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """One kind of piece over all ranges, in units of the size and latency of their first points.

    All arrays have shape ``(points + 1, points + 1)``, and are indexed by first point and the one after the
    last; others as in `Piece`.

    Attributes:
        parameters: What such a piece adds, with its break.
        squares: Infinite for what is no piece.
    """

    parameters: int
    squares: Values
    lows: Values
    highs: Values
    savings: Values
    slopes: Values
    slope_errors: Values


_Cut = tuple[_Family, int, int]
"""A piece, its first point, and the one after the last."""


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Weighted regressions over all ranges, indexed by first point and the one after the last.

    Attributes:
        constant: Squares left by a constant; infinite for too few points.
        left: By a line; infinite also if its points hardly differ.
        x: Weighted means.
        y: Weighted means.
        slopes: 0 where points hardly differ.
        slope_errors: If errors are 1; infinite there.
    """

    constant: Values
    left: Values
    x: Values
    y: Values
    slopes: Values
    slope_errors: Values


def pieces_of(sizes: Values, latencies: Values) -> list[Piece]:
    """Cut a curve into those pieces for which BIC is smallest, by exact dynamic programming.

    Args:
        sizes: Working sets, shape ``(points,)``, ascending.
        latencies: Shape ``(points,)``, positive.

    Returns:
        Adjacent pieces of at least 3 points.

    Source:
        docs/method-memory.md#cache-levels
    """
    middle = float(np.median(latencies))
    families = _families(sizes, np.clip(latencies, middle / _RANGE, middle * _RANGE))
    return [_piece(*cut, sizes, latencies) for cut in _best_cuts(families, sizes.size)]


def _best_cuts(families: Sequence[_Family], count: int) -> list[_Cut]:
    """Return the cuts of smallest BIC; of two kinds with equally many parameters the better one counts."""
    costs = {
        added: np.minimum.reduce([each.squares for each in families if each.parameters == added])
        for added in sorted({each.parameters for each in families})
    }
    most = min(_MAX_PARAMETERS, count)
    least = np.full((most + 1, count + 1), np.inf)
    origins = np.zeros((most + 1, count + 1), dtype=np.int64)
    # The first parameter is the variance.
    least[1, 0] = 0
    for parameters in range(1 + min(costs), most + 1):
        totals = np.concatenate(
            [least[parameters - added][:, np.newaxis] + cost for added, cost in costs.items()]
        )
        origins[parameters] = totals.argmin(axis=0)
        least[parameters] = totals.min(axis=0)
    return _traced_back(origins, _best_parameters(least[:, count], count), families, list(costs))


def _families(sizes: Values, latencies: Values) -> list[_Family]:
    """Return the fits of plateaus, creeping pieces, and ramps over all ranges."""
    x, y = sizes / sizes[:, np.newaxis], latencies / latencies[:, np.newaxis]
    logs = _lines(np.log(x), np.log(y), np.ones_like(x))
    ends = _at_ends(np.log(x))
    return [_plateaus(logs), _creeping(logs, ends), _ramps(_lines(1 / x, y, 1 / y**2), _at_ends(1 / x))]


def _plateaus(logs: _Lines) -> _Family:
    heights = np.exp(logs.y)
    nothing = np.zeros_like(heights)
    return _Family(2, logs.constant, heights, heights, nothing, logs.slopes, logs.slope_errors)


def _creeping(logs: _Lines, ends: Values) -> _Family:
    """Return fits of powers of the size: TLB misses and pages that collide make latency grow so."""
    creeps = (logs.slopes > 0) & (logs.slopes < STEEP)
    slopes = np.where(creeps, logs.slopes, 0)
    lows, highs = np.exp(logs.y - slopes * logs.x), np.exp(logs.y + slopes * (ends - logs.x))
    squares = np.where(creeps, logs.left, np.inf)
    return _Family(3, squares, lows, highs, np.zeros_like(lows), logs.slopes, logs.slope_errors)


def _ramps(lines: _Lines, ends: Values) -> _Family:
    """Return fits of ramps, by squares of relative errors: weights are ``1 / latency**2``."""
    asymptotes = lines.y - lines.slopes * lines.x
    at_end = asymptotes + lines.slopes * ends
    steepness = np.divide(ends, at_end, out=np.full_like(ends, np.inf), where=at_end > 0)
    steep = -lines.slopes > _MIN_RAMP_SLOPE * (asymptotes + lines.slopes)
    ramps = steep & (lines.slopes < 0) & (at_end > 0)
    squares = np.where(ramps, lines.left, np.inf)
    with np.errstate(invalid="ignore"):
        slopes, slope_errors = -lines.slopes * steepness, lines.slope_errors * steepness
    return _Family(3, squares, asymptotes, asymptotes, -lines.slopes, slopes, slope_errors)


def _lines(x: Values, y: Values, weights: Values) -> _Lines:
    """Return the regressions of y on x, rows in units of their first points.

    Sums run from each first point on: differences of sums over the whole curve would lose all figures of
    large working sets, whose inverse squares are small beside those of the smallest.
    """
    enough = _sums(np.ones_like(x)) >= MIN_POINTS
    total = np.where(enough, _sums(weights), 1)
    mean_x, mean_y = _sums(weights * x) / total, _sums(weights * y) / total
    x_squares = _sums(weights * x**2) - total * mean_x**2
    products = _sums(weights * x * y) - total * mean_x * mean_y
    constant = np.maximum(0, _sums(weights * y**2) - total * mean_y**2)
    differ = enough & (x_squares > _EQUAL * total * mean_x**2)
    slopes = np.divide(products, x_squares, out=np.zeros_like(x_squares), where=differ)
    errors = np.divide(
        1, np.sqrt(np.maximum(0, x_squares)), out=np.full_like(x_squares, np.inf), where=differ
    )
    left = np.where(differ, np.maximum(0, constant - slopes * products), np.inf)
    return _Lines(np.where(enough, constant, np.inf), left, mean_x, mean_y, slopes, errors)


def _sums(values: Values) -> Values:
    """Return sums of each row from its first point on, indexed by that and the one after the last."""
    return np.pad(np.cumsum(np.triu(values), axis=1), ((0, 1), (1, 0)))


def _at_ends(values: Values) -> Values:
    """Return each row's value at the last point of a range, indexed by first point and the one after it."""
    return np.pad(values, ((0, 1), (1, 0)))


def _best_parameters(squares: Values, count: int) -> int:
    """Return the fewest parameters whose BIC is within 2 of the smallest, by the squares each number leaves.

    What differs by under 1 % counts as equal, or curves without noise would be cut as finely as possible.
    """
    scores = count * np.log(squares / count + RESOLUTION**2) + np.arange(squares.size) * math.log(count)
    return int(np.flatnonzero(scores <= scores.min() + _TIE)[0])


def _traced_back(
    origins: npt.NDArray[np.int64], parameters: int, families: Sequence[_Family], added: Sequence[int]
) -> list[_Cut]:
    width = origins.shape[1]
    end = width - 1
    cuts: list[_Cut] = []
    while end > 0:
        number, begin = divmod(int(origins[parameters, end]), width)
        candidates = [each for each in families if each.parameters == added[number]]
        cuts.append((_best(candidates, begin, end), begin, end))
        parameters -= added[number]
        end = begin
    return cuts[::-1]


def _best(families: Sequence[_Family], begin: int, end: int) -> _Family:
    return min(families, key=lambda each: float(each.squares[begin, end]))


def _piece(family: _Family, begin: int, end: int, sizes: Values, latencies: Values) -> Piece:
    place = begin, end
    size, latency = float(sizes[begin]), float(latencies[begin])
    return Piece(
        begin,
        end,
        low=latency * float(family.lows[place]),
        high=latency * float(family.highs[place]),
        saving=latency * size * float(family.savings[place]),
        squares=float(family.squares[place]),
        slope=float(family.slopes[place]),
        slope_error=float(family.slope_errors[place]),
    )
