"""Two parameters for a whole curve: Hockney's, apparent ones, and the line that textbooks ask for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.model import MAX_MISFIT, with_interval
from mpigauge.stats.interval import Number
from mpigauge.stats.lines import regression

if TYPE_CHECKING:
    from mpigauge.models.model import Model
    from mpigauge.stats.percentiles import Values


@dataclass(frozen=True, slots=True)
class Hockney:
    """Parameters of ``t(n) = (n + n_half) / r_inf``, if the curve is one line; else the apparent ones.

    Attributes:
        apparent: Whether there are several segments, so that these are no parameters.
        latency_s: Alpha; if apparent, the time of the smallest size.
        smallest: Smallest size, in bytes.
        rate: r_inf in bytes per second; if apparent, the highest rate of any size.
        fastest: Size with that rate, if apparent; None for a parameter.
        n_half: n_half in bytes; if apparent, the smallest size with half of the highest rate, None if none
            has less.
        extrapolated: Whether n_half of a line is so far beyond all sizes that it and r_inf have no interval.
    """

    apparent: bool
    latency_s: Number
    smallest: int
    rate: Number
    fastest: int | None
    n_half: Number | None
    extrapolated: bool = False


@dataclass(frozen=True, slots=True)
class Textbook:
    """Line of least squares in seconds, intercept and slope, as textbooks ask for.

    Attributes:
        latency_s: Intercept.
        rate: Inverse of the slope, in bytes per second.
        measured_s: Measured time of the smallest size.
        smallest: Smallest size, in bytes.
        highest: Highest measured rate, in bytes per second.
        worst: Time of the line over the measured one, where they differ most; may be negative.
        worst_at: Size at which they differ most, in bytes.
        rms: Root mean square of relative errors.
    """

    latency_s: Number
    rate: Number
    measured_s: float
    smallest: int
    highest: float
    worst: float
    worst_at: int
    rms: float


def hockney_of(model: Model) -> Hockney:
    """Return the parameters of one segment, or the apparent ones of several."""
    points, smallest = model.points, int(model.points.sizes[0])
    if not _is_one_line(model):
        return _apparent(model)
    (segment,) = model.segments
    again = model.replicates
    half = None if again is None else again.alpha[:, 0] / np.maximum(again.beta[:, 0], 1e-300)
    n_half = with_interval(again, segment.alpha.estimate / segment.beta.estimate, half, relative=True)
    rate = segment.beta.inverse(points.moved)
    if points.near(n_half.estimate):
        return Hockney(False, segment.alpha, smallest, rate, None, n_half)
    bare = Number(rate.estimate), Number(n_half.estimate)
    return Hockney(False, segment.alpha, smallest, bare[0], None, bare[1], extrapolated=True)


def _is_one_line(model: Model) -> bool:
    """Return whether one segment describes the curve well enough to have parameters."""
    one, *others = model.segments
    return not others and one.sloped and (model.misfit or 0.0) <= MAX_MISFIT


def _apparent(model: Model) -> Hockney:
    points, again = model.points, model.replicates
    rates = _rates(model, points.logs)
    best = int(rates.argmax())
    rate = points.time(best).inverse(points.moved * float(points.sizes[best]))
    half = _half_of(points.sizes, rates)
    halves = None if again is None else _halves(model, again.measured, half)
    n_half = None if math.isnan(half) else with_interval(again, half, halves, relative=True)
    return Hockney(True, points.time(0), int(points.sizes[0]), rate, int(points.sizes[best]), n_half)


def _rates(model: Model, logs: Values) -> Values:
    return np.asarray(model.points.moved * model.points.sizes / np.exp(logs))


def _halves(model: Model, measured: Values, half: float) -> Values:
    found = np.array([_half_of(model.points.sizes, rates) for rates in _rates(model, measured)])
    return np.where(np.isnan(found), half, found)


def _half_of(sizes: Values, rates: Values) -> float:
    """Return the smallest size with half of the highest rate, interpolated; NaN if none has less."""
    wanted = rates.max() / 2
    place = int((rates >= wanted).argmax())
    if place == 0 or rates[place - 1] <= 0:
        return math.nan
    low, high = np.log(rates[place - 1]), np.log(rates[place])
    share = (math.log(wanted) - low) / (high - low)
    return float(sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share)


def textbook_of(model: Model) -> Textbook:
    """Return the line of ordinary least squares through all times, and where it is wrong."""
    points, again = model.points, model.replicates
    times, weights = np.exp(points.logs), np.ones_like(points.logs)
    alpha, beta = _line(points.sizes, times, weights)
    more = (
        None if again is None else _line(points.sizes, np.exp(again.measured), np.ones_like(again.measured))
    )
    ratios = (alpha + beta * points.sizes) / times
    worst = int(np.argmax(_distance(ratios)))
    return Textbook(
        _plain(model, float(alpha), more and more[0]),
        _plain(model, float(beta), more and more[1]).inverse(points.moved),
        float(times[0]),
        int(points.sizes[0]),
        float(_rates(model, points.logs).max()),
        float(ratios[worst]),
        int(points.sizes[worst]),
        float(np.sqrt(((ratios - 1) ** 2).mean())),
    )


def _line(sizes: Values, times: Values, weights: Values) -> tuple[Values, Values]:
    """Return intercept and slope of each row."""
    alpha, beta = regression(sizes, np.atleast_2d(times), np.atleast_2d(weights))
    return np.squeeze(alpha), np.squeeze(beta)


def _plain(model: Model, value: float, values: Values | None) -> Number:
    """Return a number with the interval of launches alone, which ignores misfit and may go below 0."""
    if values is None:
        return Number(value)
    machine = math.expm1(model.points.machine) * abs(value)
    below, above = np.hypot(np.quantile(values, (0.025, 0.975)) - value, machine).tolist()
    return Number(value, value - below, value + above)


def _distance(ratios: Values) -> Values:
    """Return how many times too long or too short a time is; larger than any ratio if it is negative."""
    positive = np.maximum(ratios, 1e-300)
    return np.where(ratios > 0, np.maximum(positive, 1 / positive), 1e300 - ratios)
