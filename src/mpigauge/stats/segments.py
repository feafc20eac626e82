"""Where a curve of times over sizes breaks: segments of lines, by exact dynamic programming.

Segments need not meet: protocols that change make jumps. Breaks that are known, such as eager limits, cost
less than those that are searched for, and are none where the lines on both sides agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mpigauge.stats.interval import t_quantile
from mpigauge.stats.lines import LineFits, fit_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values

    Places = npt.NDArray[np.intp]

MIN_POINTS = 4
"""Points of the shortest segment, unless known breaks leave fewer, or times jump at its ends."""

POINTS_BETWEEN_JUMPS = 3
"""Points of the shortest segment between two jumps: two points would lie on any line."""

JUMP_SCALES = 5.0
"""Times jump between lines that are further apart, in standard deviations of relative errors."""

APART_SHARE = 0.5
"""A jump leaves more than this share of its errors whichever size is left out; else that was disturbed."""

AGREE_SCALES = 3.0
"""Lines that are no further apart agree, if one line describes both as well."""

MAX_SEGMENTS = 8
"""Segments at most, not counting those that known breaks make."""

RESOLUTION = 0.005
"""Relative errors below this count as 0: no break is for them."""

SCALE_FIRST = 0.02
"""The relative error that is assumed where too few sizes show it."""

MAX_EDGES = 100
"""Sizes up to which a break may be anywhere; with more, only between every second, third and so on."""

OF_BREAK = 5.0
"""What a break costs, in ln N: two parameters of a line, and three for its place."""

OF_KNOWN_PLACE = 3.0
"""The part of it that a break at a known place does not cost."""

_JUMP_LEVEL = 0.998
_TIE = 2.0
_ROUNDS = 4
_OF_NORMAL = 1.4826

_PARAMETERS = 2
"""Parameters of a line."""

_MEDIAN_OF_CHI_SQUARE = 2 * math.log(2)
"""Median of a chi-square of the two degrees of freedom that four points leave."""


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A curve cut into segments.

    Attributes:
        edges: The first point of each segment, and at last the number of points.
        alpha: Times of size 0, in seconds, shape ``(segments,)``.
        beta: Seconds per byte, shape ``(segments,)``.
        scale: The standard deviation of relative errors, in the robust way.
        grid: Where breaks were looked for.
    """

    edges: tuple[int, ...]
    alpha: Values
    beta: Values
    scale: float
    grid: SegmentRanges

    @property
    def count(self) -> int:
        """Number of segments."""
        return len(self.edges) - 1

    @property
    def of_point(self) -> Places:
        """Segment of each point."""
        return np.repeat(np.arange(self.count), np.diff(self.edges))

    def jumps(self, place: int) -> bool:
        """Return whether times jump where this point begins."""
        return bool(self.grid.jumps[np.searchsorted(self.grid.nodes, place)] > JUMP_SCALES)

    def times(self, sizes: Values) -> Values:
        """Return the model's times at the sizes that were cut, in seconds."""
        segment = self.of_point
        return np.asarray(self.alpha[segment] + self.beta[segment] * sizes)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentRanges:
    """All ranges of points that may be segments.

    Attributes:
        nodes: Points at which a segment may begin, and at last the number of points.
        begins: Place among the nodes of each range's first point.
        ends: Place among the nodes of the point after each range.
        inside: 1 for the points of a range, shape ``(ranges, points)``.
        known: Points before which a break is known to be, and which no range goes over.
        jumps: How far lines on both sides of a node are apart, in standard deviations; 0 where too few
            points show it, or a single one makes it.
    """

    nodes: Places
    begins: Places
    ends: Places
    inside: Values
    known: tuple[int, ...]
    jumps: Values

    def square(self, values: Values) -> Values:
        """Return values of ranges by begin and end, shape ``(..., nodes, nodes)``; infinite elsewhere."""
        count = self.nodes.size
        square = np.full((*values.shape[:-1], count, count), np.inf)
        square[..., self.begins, self.ends] = values
        return square


def grid_of(count: int, forced: Sequence[int] = ()) -> SegmentRanges:
    """Return the ranges of so many points, none of them over a known break.

    Args:
        forced: Points with which a segment must begin.
    """
    known = tuple(sorted({place for place in forced if 0 < place < count}))
    return _grid(count, known)


@lru_cache(maxsize=8)
def _grid(count: int, forced: tuple[int, ...]) -> SegmentRanges:
    step = -(-count // MAX_EDGES)
    nodes = np.array(sorted({*range(0, count, step), *forced, count}))
    walls = np.array([0, *forced, count])
    begins, ends = np.triu_indices(nodes.size, 1)
    first, after = nodes[begins], nodes[ends]
    block = np.searchsorted(walls, first, side="right")
    inside_block = after <= walls[block]
    whole = (walls[block - 1] == first) & (walls[block] == after)
    kept = inside_block & ((after - first >= POINTS_BETWEEN_JUMPS) | whole)
    points = np.arange(count)
    inside = (points >= first[kept, None]) & (points < after[kept, None])
    return SegmentRanges(nodes, begins[kept], ends[kept], inside.astype(float), forced, np.zeros(nodes.size))


def cut(sizes: Values, logs: Values, forced: Sequence[int] = ()) -> Cut:
    """Cut a curve into those segments for which the criterion is smallest.

    Args:
        sizes: In bytes, ascending and each once, shape ``(points,)``.
        logs: Logarithms of times in seconds, shape ``(points,)``.
        forced: Points before which a break is known to be; one that changes nothing is left out.

    Source:
        docs/models.md#segments
    """
    best = _iterated(grid_of(sizes.size, forced), sizes, logs)
    for place in best.grid.known:
        others = grid_of(sizes.size, [known for known in best.grid.known if known != place])
        if _agree(best, others, place, sizes, logs):
            best = _iterated(others, sizes, logs)
    return best


def _agree(best: Cut, others: SegmentRanges, place: int, sizes: Values, logs: Values) -> bool:
    """Return whether a known break changes nothing: no jump, and a cut without it is as good."""
    if best.grid.jumps[np.searchsorted(best.grid.nodes, place)] > AGREE_SCALES:
        return False
    without, with_it = (_best(grid, sizes, logs, best.scale)[0] for grid in (others, best.grid))
    return without <= with_it + _TIE


def _iterated(grid: SegmentRanges, sizes: Values, logs: Values) -> Cut:
    """Return the best cut, iterated with the errors that the last one leaves; first with the roughness."""
    lines = fit_lines(sizes, logs, grid.inside, SCALE_FIRST)
    _, best = _best(grid, sizes, logs, _roughness(grid, lines, sizes, logs))
    for _ in range(_ROUNDS):
        last = best
        _, best = _best(grid, sizes, logs, _scale_of(last, sizes, logs))
        if last.edges == best.edges:
            break
    return best


def _best(whole: SegmentRanges, sizes: Values, logs: Values, scale: float) -> tuple[float, Cut]:
    """Return the least criterion of all cuts, and the cut that is chosen by it."""
    grid, lines = admitted(whole, fit_lines(sizes, logs, whole.inside, scale), sizes, logs)
    costs, edges = best_cuts(grid.square(lines.cost)[None])
    best = int(chosen_count(costs, edges, grid)[0])
    return float(criterion(costs, grid).min()), cut_at(grid, lines, edges[best][0], scale)


def admitted(
    grid: SegmentRanges, lines: LineFits, sizes: Values, logs: Values
) -> tuple[SegmentRanges, LineFits]:
    """Return the ranges that may be segments, and their lines: those of three points only between jumps.

    Args:
        lines: One per range of the grid.
    """
    first, after = grid.nodes[grid.begins], grid.nodes[grid.ends]
    few = t_quantile(sizes.size / 2, _JUMP_LEVEL) / t_quantile(math.inf, _JUMP_LEVEL)
    jumps = _jumps(lines, first, after, sizes) / (few * _roughness(grid, lines, sizes, logs))
    for edge in np.flatnonzero(jumps > JUMP_SCALES).tolist():
        jumps[edge] *= _not_one_outlier(edge, sizes, logs)
    free = (jumps > JUMP_SCALES) | np.isin(np.arange(jumps.size), [0, *grid.known, sizes.size])
    kept = (after - first >= MIN_POINTS) | (free[first] & free[after])
    ranges = {name: getattr(grid, name)[kept] for name in ("begins", "ends", "inside")}
    fewer = replace(grid, **ranges, jumps=jumps[grid.nodes])
    return fewer, LineFits(lines.alpha[kept], lines.beta[kept], lines.cost[kept])


def _roughness(grid: SegmentRanges, lines: LineFits, sizes: Values, logs: Values) -> float:
    """Return the standard deviation of relative errors about lines through four points, as a median."""
    fours = np.flatnonzero(grid.nodes[grid.ends] - grid.nodes[grid.begins] == MIN_POINTS)
    if not fours.size:
        return SCALE_FIRST
    windows = LineFits(lines.alpha[fours], lines.beta[fours], lines.cost[fours])
    squares = (grid.inside[fours] * _errors(windows, sizes, logs) ** 2).sum(axis=1)
    return max(RESOLUTION, math.sqrt(float(np.median(squares)) / _MEDIAN_OF_CHI_SQUARE))


def _not_one_outlier(edge: int, sizes: Values, logs: Values) -> bool:
    """Return whether no line fits the three sizes below and above, whichever of them is left out."""
    points = np.arange(edge - POINTS_BETWEEN_JUMPS, edge + POINTS_BETWEEN_JUMPS)
    count = points.size
    kept = np.vstack([np.ones(count), 1 - np.eye(count)])
    lines = fit_lines(sizes[points], logs[points], kept, 1.0)
    squares = (kept * _errors(lines, sizes[points], logs[points]) ** 2).sum(axis=1)
    variances = squares / (kept.sum(axis=1) - _PARAMETERS)
    return bool(variances[1:].min() > APART_SHARE**2 * variances[0])


def _errors(lines: LineFits, sizes: Values, logs: Values) -> Values:
    """Return the error of every line at every size, as logarithms, shape ``(lines, points)``."""
    times = lines.alpha[:, None] + lines.beta[:, None] * sizes
    return np.asarray(logs - np.log(np.maximum(times, 1e-300)))


def _jumps(lines: LineFits, first: Places, after: Places, sizes: Values) -> Values:
    """Return the distance, at each point, between the lines through the three points below and above.

    Args:
        first: The first point of every range.
        after: The one after its last.

    Returns:
        Differences of logarithms, shape ``(points + 1,)``; 0 where there are no three points on a side.
    """
    rows = np.flatnonzero(after - first == POINTS_BETWEEN_JUMPS)
    edges, below, above = np.intersect1d(after[rows], first[rows], return_indices=True)
    middles = np.sqrt(np.maximum(sizes[edges - 1], 1.0) * sizes[edges])
    ends = [lines.alpha[side] + lines.beta[side] * middles for side in (rows[below], rows[above])]
    jumps = np.zeros(sizes.size + 1)
    jumps[edges] = np.abs(np.diff(np.log(np.maximum(ends, 1e-300)), axis=0)[0])
    return jumps


def cut_at(grid: SegmentRanges, lines: LineFits, nodes: Sequence[int] | Places, scale: float) -> Cut:
    """Return the cut at these nodes of a grid.

    Args:
        lines: One per range of the grid.
        nodes: Places among the grid's nodes, the first and the last one too.
    """
    places = {(b, e): n for n, (b, e) in enumerate(zip(grid.begins, grid.ends, strict=True))}
    chosen = [places[pair] for pair in pairwise(int(node) for node in nodes)]
    edges = tuple(int(grid.nodes[node]) for node in nodes)
    return Cut(edges, lines.alpha[chosen], lines.beta[chosen], scale, grid)


def best_cuts(square: Values) -> tuple[Values, list[Places]]:
    """Return the cheapest cut into every number of segments, for several curves at once.

    Args:
        square: What a range costs by begin and end, shape ``(curves, nodes, nodes)``.

    Returns:
        Costs, shape ``(curves, counts)``, infinite where no such cut is possible; and for each number of
        segments from 1 the nodes at its ends, shape ``(curves, segments + 1)``.
    """
    curves, nodes, _ = square.shape
    most = nodes - 1
    reached = np.full((curves, nodes), np.inf)
    reached[:, 0] = 0.0
    costs, froms = [], []
    for _ in range(most):
        sums = reached[:, :, None] + square
        froms.append(sums.argmin(axis=1))
        reached = np.take_along_axis(sums, froms[-1][:, None], axis=1)[:, 0]
        costs.append(reached[:, -1])
        if len(costs) > MAX_SEGMENTS and np.isfinite(costs[-MAX_SEGMENTS]).all():
            break
    return np.stack(costs, axis=1), [_traced(froms[: count + 1]) for count in range(len(costs))]


def _traced(froms: Sequence[Places]) -> Places:
    """Return the nodes at the ends of segments, traced from the last back to the first."""
    curves, nodes = froms[0].shape
    path = [np.full(curves, nodes - 1)]
    for before in reversed(froms):
        path.append(before[np.arange(curves), path[-1]])
    return np.stack(path[::-1], axis=1)


def chosen_count(costs: Values, edges: Sequence[Places], grid: SegmentRanges) -> Places:
    """Return each curve's number of segments by the criterion, less one: the least within 2 of the best.

    Where times jump, a tie gives up no break.
    """
    criteria = criterion(costs, grid)
    best = criteria.argmin(axis=1)
    fewest = (criteria <= criteria.min(axis=1, keepdims=True) + _TIE).argmax(axis=1)
    jumps = np.stack([(grid.jumps[each] > JUMP_SCALES).sum(axis=1) for each in edges], axis=1)
    rows = np.arange(best.size)
    return np.asarray(np.where(jumps[rows, best] > jumps[rows, fewest], best, fewest))


def criterion(costs: Values, grid: SegmentRanges) -> Values:
    """Return the criterion to be minimised, per curve, for every number of segments from 1 on."""
    points = grid.inside.shape[1]
    counts = np.arange(1, costs.shape[1] + 1)
    penalty = OF_BREAK * counts - OF_KNOWN_PLACE * len(grid.known) - 2
    return np.asarray(misfit_term(costs, points) + penalty * np.log(points))


def misfit_term(costs: Values, points: int) -> Values:
    """Return the criterion's part for the errors that are left."""
    return np.asarray(points * np.log(costs / points + RESOLUTION**2))


def _scale_of(cut: Cut, sizes: Values, logs: Values) -> float:
    """Return the standard deviation of residuals by their median, with the freedom parameters took."""
    errors = np.abs(logs - np.log(cut.times(sizes)))
    free = max(sizes.size - 2 * cut.count, 1) / sizes.size
    return max(RESOLUTION, _OF_NORMAL * float(np.median(errors)) / math.sqrt(free))
