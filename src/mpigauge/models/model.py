"""The model of a curve: segments with their parameters, the breaks between them, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.bootstrap import MIN_LAUNCHES, replicates_of
from mpigauge.stats.interval import Number, interval_of
from mpigauge.stats.limits import PROMISED
from mpigauge.stats.lines import fit_lines
from mpigauge.stats.segments import MIN_POINTS, OF_BREAK, best_cuts, cut, cut_at, misfit_term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.stats.bootstrap import Replicates
    from mpigauge.stats.lines import LineFits
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.segments import Cut
    from mpigauge.vocabulary import BreakKind

EXTRAPOLATION_FACTOR = 2
"""Factor beyond the measured sizes up to which predictions have intervals."""

SMALL_BYTES = 64
"""Size of a cache line: messages up to it take the same time."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Times by size.

    Attributes:
        sizes: Sizes in bytes, ascending, each once, shape ``(points,)``.
        logs: Logarithms of times in seconds, shape ``(points,)``.
        launches: Logarithms of launch times, shape ``(launches, points)``; NaN where a launch has none.
        limits: Eager limits in bytes; sizes up to and including one use another protocol than those above.
        moved: Bytes that a rate counts, divided by the size.
        widened: Factor on intervals for serial correlation of launches.
        machine: Half-width that more launches do not reduce, as a logarithm, from `Timing`.
        times: Times in seconds with the intervals of tables; if empty, intervals come from launches alone.
    """

    sizes: Values
    logs: Values
    launches: Values
    limits: tuple[int, ...] = ()
    moved: float = 1.0
    widened: float = 1.0
    machine: float = 0.0
    times: tuple[Number, ...] = ()

    def time(self, place: int) -> Number:
        """Return the time of a size that was measured, in seconds."""
        if self.times:
            return self.times[place]
        launches = self.launches[:, place]
        known = np.exp(launches[np.isfinite(launches)])
        if not known.size:
            return Number(math.exp(self.logs[place]))
        return interval_of(known, machine=self.machine, widening=self.widened)

    def near(self, size: float) -> bool:
        """Return whether a size is within a factor of 2 of measured ones: beyond, lines promise nothing."""
        smallest, largest = self.sizes[0], self.sizes[-1]
        return bool(
            size <= EXTRAPOLATION_FACTOR * largest
            and (smallest <= SMALL_BYTES or size >= smallest / EXTRAPOLATION_FACTOR)
        )

    @property
    def forced(self) -> list[int]:
        """First points above eager limits."""
        places = {int(np.searchsorted(self.sizes, limit, side="right")) for limit in self.limits}
        return sorted(place for place in places if 0 < place < self.sizes.size)


def points_of(rows: Sequence[Row], limits: Sequence[int] = ()) -> Points:
    """Return the points of a curve, without sizes that were not measured or have a time of 0.

    Args:
        rows: Rows of cells that differ in size alone.
        limits: Eager limits of their job.
    """
    by_size = {
        row.cell.bytes: row for row in reversed(rows) if row.status == "ok" and _not_negative(row.time)
    }
    kept = [by_size[size] for size in sorted(by_size)]
    times = [row.time for row in kept if row.time is not None]
    return Points(
        sizes=np.array([row.cell.bytes for row in kept], dtype=float),
        logs=np.log([time.estimate for time in times]),
        launches=_launches(times),
        limits=tuple(sorted(limits)),
        moved=_moved(kept),
        widened=max((time.widening for time in times), default=1.0),
        machine=float(np.median([math.log1p(time.machine_half_width or 0.0) for time in times] or [0.0])),
        times=tuple(times),
    )


def _not_negative(time: Timing | None) -> bool:
    return time is not None and time.estimate > 0 and all(each > 0 for each in time.by_launch.values())


def _launches(times: Sequence[Timing]) -> Values:
    numbers = sorted({number for time in times for number in time.by_launch})
    found = np.full((len(numbers), len(times)), np.nan)
    for place, time in enumerate(times):
        for number, seconds in time.by_launch.items():
            found[numbers.index(number), place] = math.log(seconds)
    return found


def _moved(rows: Sequence[Row]) -> float:
    shares = [
        row.rate_bytes_per_s * row.time.estimate / row.cell.bytes
        for row in rows
        if row.rate_bytes_per_s and row.time is not None and row.cell.bytes
    ]
    return shares[0] if shares else 1.0


# ---- Breaks that several curves share ------------------------------------------------------------

SHARED_BREAK_COST = 4.25
"""Cost of a break for each curve that has it; the rest of `OF_BREAK` is for its position, once for all."""

STEPS = (-2, -1, 1, 2)
"""Numbers of sizes by which a break is moved in search of a better position."""

Edges = frozenset[int]
Nodes = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """Curve with its own cut, and the cost of lines through all ranges."""

    alone: Cut
    lines: LineFits
    square: Values
    known: Edges

    def inner(self) -> Edges:
        """Return the breaks of the curve's own best cut, as indices of nodes."""
        return frozenset(np.searchsorted(self.alone.grid.nodes, self.alone.edges[1:-1]).tolist())


@dataclass(frozen=True, slots=True)
class _Choice:
    """Nodes that each curve takes of some breaks, and the total cost."""

    cost: float
    nodes: tuple[Nodes, ...]

    @property
    def used(self) -> Edges:
        """Breaks that any curve takes."""
        return frozenset(node for mine in self.nodes for node in mine[1:-1])


def joint_cuts(curves: Sequence[Points]) -> list[Cut]:
    """Return the cuts of curves that may share breaks; each by itself if their sizes differ.

    Source:
        docs/models.md#segments
    """
    alone = [cut(one.sizes, one.logs, one.forced) for one in curves]
    alike = all(np.array_equal(one.grid.nodes, alone[0].grid.nodes) for one in alone)
    same = all(np.array_equal(one.sizes, curves[0].sizes) for one in curves)
    if len(curves) < 2 or not (alike and same) or len({one.edges for one in alone}) == 1:  # noqa: PLR2004 - several
        return alone
    return _joint([_curve(one, mine) for one, mine in zip(curves, alone, strict=True)])


def _curve(points: Points, alone: Cut) -> _Curve:
    lines = fit_lines(points.sizes, points.logs, alone.grid.inside, alone.scale)
    square = alone.grid.square(lines.cost)
    return _Curve(alone, lines, square, _known(square))


def _joint(curves: Sequence[_Curve]) -> list[Cut]:
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
    nodes = tuple(mine for _, mine in chosen)
    found = {node for mine in nodes for node in mine[1:-1]} - known
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
    sums = misfit_term(costs[0], points) + SHARED_BREAK_COST * np.arange(costs.shape[1]) * np.log(points)
    best = int(sums.argmin())
    return float(sums[best]), tuple(int(allowed[place]) for place in edges[best][0])


def _points(one: _Curve) -> int:
    return int(one.alone.grid.inside.shape[1])


# ---- The model of a curve ------------------------------------------------------------------------

MIN_SIZE_RATIO = 2.0
"""Least ratio of sizes in a segment with a bandwidth of its own."""

STABLE_SHARE = 0.8
"""Share of replicates from which on a break is found; breaks with fewer, and without a jump, are possible."""

MAX_MISFIT = 0.1
"""Largest misfit with which lines still describe a curve."""

PARAMETERS = 2
"""Parameters of a line."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Line through some sizes.

    Attributes:
        first: Smallest size in bytes.
        last: Largest size in bytes.
        points: Number of sizes.
        alpha: Time of size 0, in seconds.
        beta: Seconds per byte of the size.
        level: Time at the geometric mean of its first and last size, in seconds.
        sloped: Whether its sizes differ enough to determine beta.
        misfit: Root mean square of relative errors; None without degrees of freedom.
    """

    first: int
    last: int
    points: int
    alpha: Number
    beta: Number
    level: Number
    sloped: bool
    misfit: float | None


@dataclass(frozen=True, slots=True)
class Break:
    """Size at which one segment ends and another begins.

    Attributes:
        above: Size at or above which it lies, in bytes.
        upto: Size below which it lies; equal to `above` for an eager limit, known to the byte.
        kind: Evidence for it.
        stability: Share of replicates that have it, at most one size away; None for eager limits.
        jump: Modelled time after over before it, at the geometric mean of the sizes around it.
    """

    above: int
    upto: int
    kind: BreakKind
    stability: float | None
    jump: Number


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Segments of lines through the times of one curve.

    Attributes:
        replicates: Bootstrap replicates; None where launches are too few for an interval.
        misfit: Root mean square of relative errors over all sizes.
        launch_spread: Relative standard deviation of a launch, by segment; None for one launch.
    """

    points: Points
    cut: Cut
    replicates: Replicates | None
    segments: tuple[Segment, ...]
    breaks: tuple[Break, ...]
    misfit: float | None
    launch_spread: tuple[float, ...] | None

    @property
    def relative_errors(self) -> Values:
        """Relative errors of the model, measured over modelled time minus 1, shape ``(points,)``."""
        return np.expm1(self.points.logs - np.log(self.cut.times(self.points.sizes)))


def models_of(curves: Sequence[Points]) -> list[Model | None]:
    """Return the models of curves that may share breaks; None for each with fewer than four sizes.

    Source:
        docs/models.md
    """
    enough = [one for one in curves if one.sizes.size >= MIN_POINTS]
    found = iter(zip(enough, joint_cuts(enough) if enough else [], strict=True))
    return [_model(*next(found)) if one.sizes.size >= MIN_POINTS else None for one in curves]


def _model(points: Points, found: Cut) -> Model:
    replicates = replicates_of(
        points.sizes, points.logs, points.launches, found, points.widened, points.machine
    )
    errors = points.logs - np.log(found.times(points.sizes))
    return Model(
        points,
        found,
        replicates,
        tuple(_segment(points, found, replicates, errors, number) for number in range(found.count)),
        tuple(_break(points, found, replicates, number) for number in range(1, found.count)),
        _misfit(errors, PARAMETERS * found.count),
        _spreads(points, found),
    )


def _segment(
    points: Points, found: Cut, replicates: Replicates | None, errors: Values, number: int
) -> Segment:
    begin, end = found.edges[number], found.edges[number + 1]
    first, last = points.sizes[begin], points.sizes[end - 1]
    alpha, beta = float(found.alpha[number]), float(found.beta[number])
    middle = math.sqrt(max(first, 1.0) * last) if last else 0.0
    again = None if replicates is None else (replicates.alpha[:, number], replicates.beta[:, number])
    return Segment(
        int(first),
        int(last),
        end - begin,
        with_interval(replicates, alpha, again and again[0]),
        with_interval(replicates, beta, again and again[1]),
        with_interval(replicates, alpha + beta * middle, again and again[0] + again[1] * middle),
        last > SMALL_BYTES and last >= MIN_SIZE_RATIO * max(first, 1.0) and beta > 0,
        _misfit(errors[begin:end], PARAMETERS),
    )


def with_interval(
    replicates: Replicates | None, value: float, values: Values | None, *, relative: bool = False
) -> Number:
    """Return a number of a model with its interval.

    Args:
        relative: Whether it is a ratio of times, on all of which the speed of the machine acts alike.
    """
    if replicates is None or values is None:
        return Number(value)
    machine = min(PROMISED, replicates.machine) if relative else replicates.machine
    return replicates.interval(value, values, machine)


def _misfit(errors: Values, parameters: int) -> float | None:
    return float(np.sqrt((errors**2).mean())) if errors.size > parameters else None


def _break(points: Points, found: Cut, replicates: Replicates | None, number: int) -> Break:
    place = found.edges[number]
    above, upto = (int(size) for size in points.sizes[place - 1 : place + 1])
    limit = next((limit for limit in points.limits if above <= limit < upto), None)
    jump = _jump(found, replicates, number, math.sqrt(max(above, 1) * upto))
    if limit is not None:
        return Break(limit, limit, "eager-limit", None, jump)
    stability = None if replicates is None else float(replicates.found[number - 1])
    sure = stability is not None and (stability >= STABLE_SHARE or found.jumps(place))
    kind: BreakKind = "found" if sure else "possible"
    return Break(above, upto, kind, stability, jump)


def _jump(found: Cut, replicates: Replicates | None, number: int, size: float) -> Number:
    def ratio(alpha: Values, beta: Values) -> Values:
        times = alpha + beta * size
        return np.asarray(times[..., number] / np.maximum(times[..., number - 1], 1e-300))

    again = None if replicates is None else ratio(replicates.alpha, replicates.beta)
    return with_interval(replicates, float(ratio(found.alpha, found.beta)), again, relative=True)


def _spreads(points: Points, found: Cut) -> tuple[float, ...] | None:
    """Return the standard deviation of a launch around the mean of all, by segment; None for one launch."""
    count = len(points.launches)
    if count < MIN_LAUNCHES:
        return None
    squares = np.nan_to_num(points.launches - points.logs) ** 2
    by_size = squares.sum(axis=0) / (count - 1)
    parts = zip(found.edges[:-1], found.edges[1:], strict=True)
    return tuple(float(np.sqrt(by_size[begin:end].mean())) for begin, end in parts)
