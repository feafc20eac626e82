"""What a model says of a size, with the interval of one more launch and that of the mean of many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.interval import Number, t_quantile

if TYPE_CHECKING:
    from mpigauge.models.model import Model
    from mpigauge.vocabulary import NoInterval, PredictionBasis


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted time of a size.

    Attributes:
        size: Size in bytes.
        basis: Basis of the prediction.
        launch: Predicted time of one more launch, in seconds; None if there is no basis for one.
        mean: That of the mean of many launches.
        why: Reason why there are no intervals; None where there are some, or no time.
    """

    size: int
    basis: PredictionBasis
    launch: Number | None = None
    mean: Number | None = None
    why: NoInterval | None = None


@dataclass(frozen=True, slots=True)
class _LogTime:
    """Logarithm of a time, with the half-width for one launch, and both half-widths for the mean of many."""

    log: float
    launch: float
    below: float
    above: float


def predicted(model: Model, size: int) -> Prediction:
    """Return the time of a size: as measured, else by its segment, or by both if it lies between two.

    Source:
        docs/models.md#prediction
    """
    basis, numbers = _segments_at(model, size)
    if basis == "no-slope":
        return Prediction(size, basis)
    if basis == "measured":
        told = [_measured(model, size)]
    else:
        told = [_in_segment(model, size, number) for number in numbers]
    centre = math.exp(sum(one.log for one in told) / len(told))
    if model.replicates is None:
        return Prediction(size, basis, Number(centre), Number(centre), "single-launch")
    if not model.points.near(size):
        return Prediction(size, basis, Number(centre), Number(centre), "far")
    launch, mean = (
        Number(
            centre,
            math.exp(min(one.log - below for one, below, _ in sides)),
            math.exp(max(one.log + above for one, _, above in sides)),
        )
        for sides in (
            [(one, one.launch, one.launch) for one in told],
            [(one, one.below, one.above) for one in told],
        )
    )
    return Prediction(size, basis, launch, mean)


def _segments_at(model: Model, size: int) -> tuple[PredictionBasis, tuple[int, ...]]:
    """Return the basis of a prediction, and the segments that the size may be in."""
    sizes, last = model.points.sizes, len(model.segments) - 1
    if size in sizes:
        return "measured", ()
    if size > sizes[-1]:
        return ("extrapolated", (last,)) if model.segments[last].sloped else ("no-slope", ())
    if size < sizes[0]:
        return "extrapolated", (0,)
    for number, one in enumerate(model.breaks):
        if one.above < size < one.upto:
            return "at-break", (number, number + 1)
    return "interpolated", (sum(size > one.above for one in model.breaks),)


def _measured(model: Model, size: int) -> _LogTime:
    """Return a measured time, which needs no line and has no misfit."""
    points = model.points
    place = int(np.searchsorted(points.sizes, size))
    centre, low, high = points.time(place).ends
    launches = points.launches[:, place]
    launches = launches[np.isfinite(launches)]
    if low is None or high is None:
        return _LogTime(math.log(centre), math.inf, math.inf, math.inf)
    below, above = math.log(centre / low), math.log(high / centre)
    spread = points.widened * t_quantile(launches.size - 1) * float(launches.std(ddof=1))
    return _LogTime(math.log(centre), math.hypot(spread, below, above), below, above)


def _in_segment(model: Model, size: int, number: int) -> _LogTime:
    time = max(float(model.cut.alpha[number] + model.cut.beta[number] * size), 1e-300)
    again = model.replicates
    if again is None or model.launch_spread is None:
        return _LogTime(math.log(time), 0.0, 0.0, 0.0)
    logs = np.log(np.maximum(again.alpha[:, number] + again.beta[:, number] * size, 1e-300))
    misfit = model.segments[number].misfit or model.misfit or 0.0
    reach = t_quantile(len(model.points.launches) - 1)
    fit = math.hypot(model.points.widened * float(logs.std(ddof=1)), misfit)
    mean = math.hypot(reach * fit, again.machine)
    return _LogTime(math.log(time), math.hypot(mean, reach * model.launch_spread[number]), mean, mean)
