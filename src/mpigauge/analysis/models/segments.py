"""Where a curve of times over sizes breaks: segments of lines, by exact dynamic programming.

Segments need not meet: protocols that change make jumps. Breaks that are known, such as eager limits, are
forced, and cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mpigauge.analysis.models.lines import fit_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.models.lines import Lines
    from mpigauge.analysis.percentiles import Values

    Places = npt.NDArray[np.intp]

POINTS_LEAST = 4
"""Of a segment, unless known breaks leave fewer between them."""

SEGMENTS_MOST = 8
"""Beside those that known breaks make."""

RESOLUTION = 0.005
"""Relative errors below that are none: no break is for them."""

SCALE_FIRST = 0.02
"""The relative error that is supposed until there are residuals."""

EDGES_MOST = 100
"""Of a curve with more sizes, breaks are looked for between every second, third and so on."""

OF_BREAK = 5.0
"""What a break costs, in ln N: two parameters of a line, and three for its place."""

_TIE = 2.0
_ROUNDS = 2
_OF_NORMAL = 1.4826


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A curve cut into segments.

    Attributes:
        edges: The first point of each segment, and at last the number of points.
        alpha: Times of size 0, in seconds, shape ``(segments,)``.
        beta: Seconds per byte, likewise.
        scale: The standard deviation of relative errors, in the robust way.
        grid: Where breaks were looked for.
    """

    edges: tuple[int, ...]
    alpha: Values
    beta: Values
    scale: float
    grid: Grid

    @property
    def count(self) -> int:
        """How many segments there are."""
        return len(self.edges) - 1

    @property
    def of_point(self) -> Places:
        """The segment of every point."""
        return np.repeat(np.arange(self.count), np.diff(self.edges))

    def times(self, sizes: Values) -> Values:
        """What the model says at the sizes that were cut, in seconds."""
        mine = self.of_point
        return np.asarray(self.alpha[mine] + self.beta[mine] * sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """All ranges of points that may be segments.

    Attributes:
        nodes: Points at which a segment may begin, and at last the number of points.
        begins: Of every range, its place among the nodes.
        ends: Likewise, of the one after its last point.
        inside: 1 for the points of a range, shape ``(ranges, points)``.
        forced: How many breaks are known.
    """

    nodes: Places
    begins: Places
    ends: Places
    inside: Values
    forced: int

    def square(self, values: Values) -> Values:
        """Values of ranges by begin and end, shape ``(..., nodes, nodes)``; infinite for what is no range."""
        count = self.nodes.size
        found = np.full((*values.shape[:-1], count, count), np.inf)
        found[..., self.begins, self.ends] = values
        return found


def grid_of(count: int, forced: Sequence[int] = ()) -> Grid:
    """Ranges of so many points, none of them over a known break.

    Args:
        forced: Points with which a segment must begin.
    """
    known = tuple(sorted({place for place in forced if 0 < place < count}))
    return _grid(count, known)


@lru_cache(maxsize=8)
def _grid(count: int, forced: tuple[int, ...]) -> Grid:
    step = -(-count // EDGES_MOST)
    nodes = np.array(sorted({*range(0, count, step), *forced, count}))
    walls = np.array([0, *forced, count])
    begins, ends = np.triu_indices(nodes.size, 1)
    first, after = nodes[begins], nodes[ends]
    block = np.searchsorted(walls, first, side="right")
    inside_block = after <= walls[block]
    whole = (walls[block - 1] == first) & (walls[block] == after)
    kept = inside_block & ((after - first >= POINTS_LEAST) | whole)
    points = np.arange(count)
    inside = (points >= first[kept, None]) & (points < after[kept, None])
    return Grid(nodes, begins[kept], ends[kept], inside.astype(float), len(forced))


def cut(sizes: Values, logs: Values, forced: Sequence[int] = ()) -> Cut:
    """Cut a curve into those segments for which the criterion is smallest.

    Args:
        sizes: In bytes, ascending and each once, shape ``(points,)``.
        logs: Logarithms of times in seconds, shape ``(points,)``.
        forced: Points with which a segment must begin.

    Source:
        docs/models.md#segments
    """
    grid = grid_of(sizes.size, forced)
    found = _cut(grid, sizes, logs, SCALE_FIRST)
    for _ in range(_ROUNDS):
        last, found = found, _cut(grid, sizes, logs, _scale_of(found, sizes, logs))
        if last.edges == found.edges:
            break
    return found


def _cut(grid: Grid, sizes: Values, logs: Values, scale: float) -> Cut:
    lines = fit_lines(sizes, logs, grid.inside, scale)
    costs, edges = best_cuts(grid.square(lines.cost)[None])
    best = int(chosen_count(costs, grid)[0])
    return cut_at(grid, lines, edges[best][0], scale)


def cut_at(grid: Grid, lines: Lines, nodes: Sequence[int] | Places, scale: float) -> Cut:
    """The cut at these nodes of a grid.

    Args:
        lines: Of every range of the grid.
        nodes: Places among the grid's nodes, the first and the last one too.
    """
    places = {(b, e): n for n, (b, e) in enumerate(zip(grid.begins, grid.ends, strict=True))}
    mine = [places[pair] for pair in pairwise(int(node) for node in nodes)]
    edges = tuple(int(grid.nodes[node]) for node in nodes)
    return Cut(edges, lines.alpha[mine], lines.beta[mine], scale, grid)


def best_cuts(square: Values) -> tuple[Values, list[Places]]:
    """The cheapest cut into every number of segments, of several curves at once.

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
        if len(costs) > SEGMENTS_MOST and np.isfinite(costs[-SEGMENTS_MOST]).all():
            break
    return np.stack(costs, axis=1), [_traced(froms[: count + 1]) for count in range(len(costs))]


def _traced(froms: Sequence[Places]) -> Places:
    """The nodes at the ends of segments, from the last back to the first."""
    curves, nodes = froms[0].shape
    path = [np.full(curves, nodes - 1)]
    for before in reversed(froms):
        path.append(before[np.arange(curves), path[-1]])
    return np.stack(path[::-1], axis=1)


def chosen_count(costs: Values, grid: Grid) -> Places:
    """The place of the number of segments by the criterion, of each curve; the least within 2 of the best."""
    points = grid.inside.shape[1]
    counts = np.arange(1, costs.shape[1] + 1)
    penalty = (OF_BREAK * (counts - grid.forced) - 2) * np.log(points)
    criterion = fidelity(costs, points) + penalty
    return np.asarray((criterion <= criterion.min(axis=1, keepdims=True) + _TIE).argmax(axis=1))


def fidelity(costs: Values, points: int) -> Values:
    """What is left by so many points, as the criterion has it."""
    return np.asarray(points * np.log(costs / points + RESOLUTION**2))


def _scale_of(found: Cut, sizes: Values, logs: Values) -> float:
    """By the median of residuals, with the freedom that the parameters took."""
    errors = np.abs(logs - np.log(found.times(sizes)))
    free = max(sizes.size - 2 * found.count, 1) / sizes.size
    return max(RESOLUTION, _OF_NORMAL * float(np.median(errors)) / math.sqrt(free))
