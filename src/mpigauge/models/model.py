"""The model of a curve: segments with their parameters, the breaks between them, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.points import SMALL_BYTES, Points, WithInterval
from mpigauge.models.together import joint_cuts
from mpigauge.stats.bootstrap import LAUNCHES_LEAST, replicates_of
from mpigauge.stats.limits import PROMISED
from mpigauge.stats.segments import POINTS_LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.bootstrap import Replicates
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.segments import Cut
    from mpigauge.vocabulary import BreakKind

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
    alpha: WithInterval
    beta: WithInterval
    level: WithInterval
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
    jump: WithInterval


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


def model_of(points: Points) -> Model | None:
    """Return the model of a curve; None for fewer than four sizes.

    Source:
        docs/models.md
    """
    return models_of([points])[0]


def models_of(curves: Sequence[Points]) -> list[Model | None]:
    """Return the models of curves that may share breaks; None for each with fewer than four sizes."""
    enough = [one for one in curves if one.sizes.size >= POINTS_LEAST]
    found = iter(zip(enough, joint_cuts(enough) if enough else [], strict=True))
    return [_model(*next(found)) if one.sizes.size >= POINTS_LEAST else None for one in curves]


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
) -> WithInterval:
    """Return a number of a model with its interval.

    Args:
        relative: Whether it is a ratio of times, on all of which the speed of the machine acts alike.
    """
    if replicates is None or values is None:
        return WithInterval(value)
    machine = min(PROMISED, replicates.machine) if relative else replicates.machine
    return WithInterval(*replicates.interval(value, values, machine))


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


def _jump(found: Cut, replicates: Replicates | None, number: int, size: float) -> WithInterval:
    def ratio(alpha: Values, beta: Values) -> Values:
        times = alpha + beta * size
        return np.asarray(times[..., number] / np.maximum(times[..., number - 1], 1e-300))

    again = None if replicates is None else ratio(replicates.alpha, replicates.beta)
    return with_interval(replicates, float(ratio(found.alpha, found.beta)), again, relative=True)


def _spreads(points: Points, found: Cut) -> tuple[float, ...] | None:
    """Return the standard deviation of a launch around the mean of all, by segment; None for one launch."""
    count = len(points.launches)
    if count < LAUNCHES_LEAST:
        return None
    squares = np.nan_to_num(points.launches - points.logs) ** 2
    by_size = squares.sum(axis=0) / (count - 1)
    segment_edges = zip(found.edges[:-1], found.edges[1:], strict=True)
    return tuple(float(np.sqrt(by_size[begin:end].mean())) for begin, end in segment_edges)
