"""Common breaks of several curves: modes of one pattern change their protocol at one size.

Each curve has the breaks that its own times speak for. Where a break lies is a matter of all curves that
have it, so one that another curve has already costs less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.lines import fit_lines
from mpigauge.stats.segments import OF_BREAK, best_cuts, cut, cut_at, fidelity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.models.points import Points
    from mpigauge.stats.lines import LineFits
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.segments import Cut

SHARED_BREAK_COST = 4.25
"""Cost of a break for each curve that has it; the rest of `OF_BREAK` is for its position, once for all."""

STEPS = (-2, -1, 1, 2)
"""Numbers of sizes by which a break is moved in search of a better position."""

Edges = frozenset[int]
Nodes = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """Curve with its own cut, and the cost of lines through all ranges."""

    own_cut: Cut
    lines: LineFits
    square: Values
    known: Edges

    def inner(self) -> Edges:
        """Return the breaks of the curve's own best cut, as indices of nodes."""
        return frozenset(np.searchsorted(self.own_cut.grid.nodes, self.own_cut.edges[1:-1]).tolist())


@dataclass(frozen=True, slots=True)
class _Choice:
    """Nodes that each curve takes of some breaks, and the total cost."""

    cost: float
    nodes: tuple[Nodes, ...]

    @property
    def used(self) -> Edges:
        """Breaks that any curve takes."""
        return frozenset(node for nodes_of_curve in self.nodes for node in nodes_of_curve[1:-1])


def joint_cuts(curves: Sequence[Points]) -> list[Cut]:
    """Return the cuts of curves that may share breaks; each by itself if their sizes differ.

    Source:
        docs/models.md#segments
    """
    own_cut = [cut(one.sizes, one.logs, one.forced) for one in curves]
    same_nodes = all(np.array_equal(one.grid.nodes, own_cut[0].grid.nodes) for one in own_cut)
    same_sizes = all(np.array_equal(one.sizes, curves[0].sizes) for one in curves)
    if len(curves) < 2 or not (same_nodes and same_sizes) or len({one.edges for one in own_cut}) == 1:  # noqa: PLR2004 - several
        return own_cut
    return _joint([_curve(one, own) for one, own in zip(curves, own_cut, strict=True)])


def _curve(points: Points, own_cut: Cut) -> _Curve:
    lines = fit_lines(points.sizes, points.logs, own_cut.grid.inside, own_cut.scale)
    square = own_cut.grid.square(lines.cost)
    return _Curve(own_cut, lines, square, _known(square))


def _joint(curves: Sequence[_Curve]) -> list[Cut]:
    best = _choice(curves, {edge for one in curves for edge in one.inner()})
    while True:
        others = [_choice(curves, edges) for edges in _neighbours(best.used, curves[0].square.shape[0] - 1)]
        better = min(others, key=lambda one: one.cost, default=best)
        if better.cost >= best.cost:
            break
        best = better
    return [
        one.own_cut if frozenset(nodes[1:-1]) == one.inner() else _cut(one, nodes)
        for one, nodes in zip(curves, best.nodes, strict=True)
    ]


def _cut(one: _Curve, nodes: Nodes) -> Cut:
    return cut_at(one.own_cut.grid, one.lines, nodes, one.own_cut.scale)


def _neighbours(edges: Edges, last: int) -> Iterator[Edges]:
    """Yield the breaks without one of them, or with one moved."""
    for edge in sorted(edges):
        rest = edges - {edge}
        yield rest
        yield from (rest | {edge + step} for step in STEPS if 0 < edge + step < last)


def _choice(curves: Sequence[_Curve], edges: Iterable[int]) -> _Choice:
    """Return what each curve takes of these breaks; a known one is always taken, and its position is free."""
    last = curves[0].square.shape[0] - 1
    known = {edge for one in curves for edge in one.known}
    allowed = np.array(sorted({0, last, *edges, *known}))
    chosen = [_best_choice(one, allowed) for one in curves]
    nodes = tuple(nodes_of_curve for _, nodes_of_curve in chosen)
    found = {node for nodes_of_curve in nodes for node in nodes_of_curve[1:-1]} - known
    places = (OF_BREAK - SHARED_BREAK_COST) * np.log(_points(curves[0])) * len(found)
    return _Choice(float(sum(cost for cost, _ in chosen) + places), nodes)


def _known(square: Values) -> Edges:
    """Return the nodes that no range crosses."""
    free = np.isfinite(square)
    return frozenset(node for node in range(1, free.shape[0] - 1) if not free[:node, node + 1 :].any())


def _best_choice(one: _Curve, allowed: Values) -> tuple[float, Nodes]:
    """Return the best choice of a curve among these breaks."""
    costs, edges = best_cuts(one.square[np.ix_(allowed, allowed)][None])
    points = _points(one)
    sums = fidelity(costs[0], points) + SHARED_BREAK_COST * np.arange(costs.shape[1]) * np.log(points)
    best = int(sums.argmin())
    return float(sums[best]), tuple(int(allowed[place]) for place in edges[best][0])


def _points(one: _Curve) -> int:
    return int(one.own_cut.grid.inside.shape[1])
