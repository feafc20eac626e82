"""The model of a curve: segments with their parameters, the breaks between them, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.points import SMALL_BYTES, Known, Points
from mpigauge.models.together import cuts_together
from mpigauge.stats.bootstrap import LAUNCHES_LEAST, replicates_of
from mpigauge.stats.limits import PROMISED
from mpigauge.stats.segments import POINTS_LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.bootstrap import Replicates
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.segments import Cut
    from mpigauge.vocabulary import BreakKind

SPAN_LEAST = 2.0
"""A segment over sizes that differ by less has no bandwidth of its own, nor has one of small sizes."""

STABLE = 0.8
"""A break that so many replicates have is found, and one where times jump; others are possible."""

MISFIT_MOST = 0.1
"""Where lines leave more, they do not describe the curve."""

PARAMETERS = 2
"""Of a line."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A line through some sizes.

    Attributes:
        first: Its smallest size in bytes.
        last: Its largest.
        points: How many sizes it has.
        alpha: Time of size 0, in seconds.
        beta: Seconds per byte of the size.
        level: Time in the geometric middle of its sizes, in seconds.
        sloped: Whether its sizes differ enough for beta to mean something.
        misfit: Root of the mean square of relative errors; None where there is no freedom for any.
    """

    first: int
    last: int
    points: int
    alpha: Known
    beta: Known
    level: Known
    sloped: bool
    misfit: float | None


@dataclass(frozen=True, slots=True)
class Break:
    """Where one segment ends and another begins.

    Attributes:
        above: It lies at or above this size, in bytes.
        upto: And below this one; of an eager limit both are known to the byte.
        kind: What shows it.
        stability: Share of replicates that have it, at most a size away; None for what is known otherwise.
        jump: Time after it over time before, both by the model, in the middle between the sizes around it.
    """

    above: int
    upto: int
    kind: BreakKind
    stability: float | None
    jump: Known


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Segments of lines through the times of one curve.

    Attributes:
        replicates: None where launches are too few for an interval.
        misfit: Over all sizes, as that of a segment.
        launch_spread: Standard deviation of a launch, relative; of each segment; None for one launch.
    """

    points: Points
    cut: Cut
    replicates: Replicates | None
    segments: tuple[Segment, ...]
    breaks: tuple[Break, ...]
    misfit: float | None
    launch_spread: tuple[float, ...] | None

    @property
    def left(self) -> Values:
        """Measured time over that of the model, minus 1, of every size, shape ``(points,)``."""
        return np.expm1(self.points.logs - np.log(self.cut.times(self.points.sizes)))


def model_of(points: Points) -> Model | None:
    """The model of a curve; None for fewer than four sizes.

    Source:
        docs/models.md
    """
    return models_of([points])[0]


def models_of(curves: Sequence[Points]) -> list[Model | None]:
    """The models of curves that may share breaks; None for each with fewer than four sizes."""
    enough = [one for one in curves if one.sizes.size >= POINTS_LEAST]
    found = iter(zip(enough, cuts_together(enough) if enough else [], strict=True))
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
        known(replicates, alpha, again and again[0]),
        known(replicates, beta, again and again[1]),
        known(replicates, alpha + beta * middle, again and again[0] + again[1] * middle),
        last > SMALL_BYTES and last >= SPAN_LEAST * max(first, 1.0) and beta > 0,
        _misfit(errors[begin:end], PARAMETERS),
    )


def known(
    replicates: Replicates | None, value: float, values: Values | None, *, relative: bool = False
) -> Known:
    """Something of a model with its interval.

    Args:
        relative: It is of times over others, to all of which the speed of the machine does the same.
    """
    if replicates is None or values is None:
        return Known(value)
    machine = min(PROMISED, replicates.machine) if relative else replicates.machine
    return Known(*replicates.interval(value, values, machine))


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
    sure = stability is not None and (stability >= STABLE or found.jumps(place))
    kind: BreakKind = "found" if sure else "possible"
    return Break(above, upto, kind, stability, jump)


def _jump(found: Cut, replicates: Replicates | None, number: int, size: float) -> Known:
    def ratio(alpha: Values, beta: Values) -> Values:
        times = alpha + beta * size
        return np.asarray(times[..., number] / np.maximum(times[..., number - 1], 1e-300))

    again = None if replicates is None else ratio(replicates.alpha, replicates.beta)
    return known(replicates, float(ratio(found.alpha, found.beta)), again, relative=True)


def _spreads(points: Points, found: Cut) -> tuple[float, ...] | None:
    """Of one launch around the mean of all, in every segment."""
    count = len(points.launches)
    if count < LAUNCHES_LEAST:
        return None
    squares = np.nan_to_num(points.launches - points.logs) ** 2
    by_size = squares.sum(axis=0) / (count - 1)
    parts = zip(found.edges[:-1], found.edges[1:], strict=True)
    return tuple(float(np.sqrt(by_size[begin:end].mean())) for begin, end in parts)
