"""Breaks of several curves together: where modes of one pattern change their protocol at one size.

Each curve has the breaks that its own times speak for. Where a break lies is a matter of all curves that
have it, so one that another curve has already costs less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.lines import fit_lines
from mpigauge.stats.segments import OF_BREAK, best_cuts, cut, cut_at, misfit_term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.models.points import Points
    from mpigauge.stats.lines import LineFits
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.segments import Cut

OF_SHARED = 4.25
"""What a break costs each curve that has it; the rest of `OF_BREAK` is for its place, once for all curves."""

STEPS = (-2, -1, 1, 2)
"""By how many sizes a break is moved when a better place is looked for."""

Edges = frozenset[int]
Nodes = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """A curve with its own cut, and what lines through all of its ranges cost."""

    alone: Cut
    lines: LineFits
    square: Values
    known: Edges

    def inner(self) -> Edges:
        """The breaks of the cut that is best for it alone, as places among the nodes."""
        return frozenset(np.searchsorted(self.alone.grid.nodes, self.alone.edges[1:-1]).tolist())


@dataclass(frozen=True, slots=True)
class _Choice:
    """Of every curve the nodes that it takes of some breaks, and what all of it costs."""

    cost: float
    nodes: tuple[Nodes, ...]

    @property
    def used(self) -> Edges:
        """The breaks that any curve takes."""
        return frozenset(node for mine in self.nodes for node in mine[1:-1])


def cuts_together(curves: Sequence[Points]) -> list[Cut]:
    """The cuts of curves that may share breaks; each by itself where their sizes differ.

    Source:
        docs/models.md#segments
    """
    alone = [cut(one.sizes, one.logs, one.forced) for one in curves]
    alike = all(np.array_equal(one.grid.nodes, alone[0].grid.nodes) for one in alone)
    same = all(np.array_equal(one.sizes, curves[0].sizes) for one in curves)
    if len(curves) < 2 or not (alike and same) or len({one.edges for one in alone}) == 1:  # noqa: PLR2004 - several
        return alone
    return _together([_curve(one, mine) for one, mine in zip(curves, alone, strict=True)])


def _curve(points: Points, alone: Cut) -> _Curve:
    lines = fit_lines(points.sizes, points.logs, alone.grid.inside, alone.scale)
    square = alone.grid.square(lines.cost)
    return _Curve(alone, lines, square, _known(square))


def _together(curves: Sequence[_Curve]) -> list[Cut]:
    best = _choice(curves, {edge for one in curves for edge in one.inner()})
    while True:
        others = [_choice(curves, edges) for edges in _neighbours(best.used, curves[0].square.shape[0] - 1)]
        better = min(others, key=lambda one: one.cost, default=best)
        if better.cost >= best.cost:
            break
        best = better
    return [
        one.alone if frozenset(nodes[1:-1]) == one.inner() else _cut(one, nodes)
        for one, nodes in zip(curves, best.nodes, strict=True)
    ]


def _cut(one: _Curve, nodes: Nodes) -> Cut:
    return cut_at(one.alone.grid, one.lines, nodes, one.alone.scale)


def _neighbours(edges: Edges, last: int) -> Iterator[Edges]:
    """The same breaks without one of them, or with one at another place."""
    for edge in sorted(edges):
        rest = edges - {edge}
        yield rest
        yield from (rest | {edge + step} for step in STEPS if 0 < edge + step < last)


def _choice(curves: Sequence[_Curve], edges: Iterable[int]) -> _Choice:
    """What each curve takes of these breaks; a known one is taken in any case, and its place is free."""
    last = curves[0].square.shape[0] - 1
    known = {edge for one in curves for edge in one.known}
    allowed = np.array(sorted({0, last, *edges, *known}))
    chosen = [_own(one, allowed) for one in curves]
    nodes = tuple(mine for _, mine in chosen)
    found = {node for mine in nodes for node in mine[1:-1]} - known
    places = (OF_BREAK - OF_SHARED) * np.log(_points(curves[0])) * len(found)
    return _Choice(float(sum(cost for cost, _ in chosen) + places), nodes)


def _known(square: Values) -> Edges:
    """Nodes over which no range goes."""
    free = np.isfinite(square)
    return frozenset(node for node in range(1, free.shape[0] - 1) if not free[:node, node + 1 :].any())


def _own(one: _Curve, allowed: Values) -> tuple[float, Nodes]:
    """The best of all choices of a curve among these breaks."""
    costs, edges = best_cuts(one.square[np.ix_(allowed, allowed)][None])
    points = _points(one)
    sums = misfit_term(costs[0], points) + OF_SHARED * np.arange(costs.shape[1]) * np.log(points)
    best = int(sums.argmin())
    return float(sums[best]), tuple(int(allowed[place]) for place in edges[best][0])


def _points(one: _Curve) -> int:
    return int(one.alone.grid.inside.shape[1])
