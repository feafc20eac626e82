"""Uncertainty of a model: launches are resampled whole, and the signs of residuals flipped at random.

Launches alone would promise too much: a curve that no lines describe within 5 % has parameters that are no
surer, however narrow its times are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.interval import LAUNCHES_FOR_RANGE, Number, t_quantile, with_machine
from mpigauge.stats.lines import HUBER, fit_lines
from mpigauge.stats.segments import Cut, best_cuts, chosen_count

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

REPLICATES = 500
MAX_LOG = 700.0
"""The largest logarithm whose exponential is a float."""

MIN_LAUNCHES = 2
"""For an interval; 5 for one that deserves the name."""

NORMAL = 1.959964
_CHUNK = 100
_FAR = 2 * HUBER
"""Standard deviations to which errors are clipped in the share that a model leaves."""


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Models fitted to times that could have been measured just as well.

    Attributes:
        alpha: In seconds, shape ``(replicates, segments)``.
        beta: Seconds per byte, of the same shape.
        found: Share of replicates that have a break there too, per break of the model.
        measured: Logarithms of times that resampled launches would have given, shape
            ``(replicates, points)``, whatever the model is.
        factor: By what half-widths grow for the few launches that there are.
        machine: What no number of launches makes narrower, as a logarithm.
    """

    alpha: Values
    beta: Values
    found: Values
    measured: Values
    factor: float
    machine: float = 0.0

    def interval(self, estimate: float, values: Values, machine: float | None = None) -> Number:
        """Return the 95 % interval of a quantity of the model; never below 0.

        Args:
            estimate: Its value in the model, in any unit.
            values: Its values in the replicates, shape ``(replicates,)``.
            machine: In place of the attribute of that name, where that does not hold.
        """
        low, high = (self._wider(estimate, float(end)) for end in np.quantile(values, (0.025, 0.975)))
        return with_machine(Number(estimate, low, high), self.machine if machine is None else machine)

    def _wider(self, estimate: float, end: float) -> float:
        """Return an end moved away from the estimate by the factor; infinite where no float can hold it.

        On the logarithm where there is one.
        """
        if estimate > 0 and end > 0:
            reach = self.factor * (math.log(end) - math.log(estimate))
            return estimate * math.exp(reach) if reach < MAX_LOG else math.inf
        return max(0.0, estimate + (end - estimate) * self.factor)


def replicates_of(
    sizes: Values, logs: Values, launches: Values, cut: Cut, widened: float = 1.0, machine: float = 0.0
) -> Replicates | None:
    """Return replicates of a model; None if there are too few launches.

    Args:
        sizes: In bytes, shape ``(points,)``.
        logs: Logarithms of times in seconds, shape ``(points,)``.
        launches: Those of each launch, shape ``(launches, points)``; NaN where it has none.
        widened: Factor by which serially correlated launches widen intervals.
        machine: `Replicates.machine`.

    Source:
        docs/models.md#intervals
    """
    count = len(launches)
    if count < MIN_LAUNCHES:
        return None
    random = np.random.default_rng(count)
    moved = resampled(launches, random)
    model = np.log(cut.times(sizes))
    left = _flippable_errors(cut, sizes, logs - model, moved)
    signs = random.choice((-1.0, 1.0), (REPLICATES, sizes.size))
    replicated = model + signs * left + moved
    alpha, beta = _refitted(cut, sizes, replicated)
    stable = _stability(cut, sizes, logs, replicated)
    # Means drawn anew vary too little; medians do not.
    small = 1.0 if count >= LAUNCHES_FOR_RANGE else math.sqrt(count / (count - 1))
    factor = widened * t_quantile(count - 1) / NORMAL * small
    return Replicates(alpha, beta, stable, logs + moved, factor, machine)


def resampled(launches: Values, random: np.random.Generator) -> Values:
    """Return centres of resampled launches minus that of all, shape ``(replicates, points)``."""
    count = len(launches)
    drawn = launches[random.integers(0, count, (REPLICATES, count))]
    return np.asarray(np.nan_to_num(_centres(drawn) - _centres(launches)))


def _centres(launches: Values) -> Values:
    """Return the centre of launches at each size, as tables have it: medians, or means of few launches."""
    known = np.isfinite(launches).sum(axis=-2, keepdims=True)
    if launches.shape[-2] < LAUNCHES_FOR_RANGE:
        return np.asarray(np.nansum(launches, axis=-2) / np.where(known > 0, known, math.nan)[..., 0, :])
    ordered = np.sort(launches, axis=-2)
    middles = (np.maximum(known - 1, 0) // 2, known // 2)
    last = launches.shape[-2] - 1
    lower, upper = (np.take_along_axis(ordered, np.minimum(at, last), axis=-2) for at in middles)
    return np.asarray((lower + upper)[..., 0, :] / 2)


def misfit_beyond_noise(cut: Cut, sizes: Values, errors: Values, moved: Values) -> float:
    """Return the share of a model's squared errors that is not the noise of launches, 0 to 1.

    Args:
        errors: Residuals of the model, in logarithms, shape ``(points,)``.
        moved: From `resampled`.
    """
    far = _FAR * cut.scale
    squares = float((np.clip(errors, -far, far) ** 2).sum())
    noise = float((_unexplained_by_lines(cut, sizes, moved) ** 2).sum()) / len(moved)
    return max(0.0, 1 - noise / squares) if squares > 0 else 0.0


def _flippable_errors(cut: Cut, sizes: Values, errors: Values, moved: Values) -> Values:
    """Return the errors whose signs are flipped: as large as if no parameters had been fitted to them."""
    share = misfit_beyond_noise(cut, sizes, errors, moved)
    free = np.maximum(1 - _leverage(cut, sizes), 0.1)
    return np.asarray(errors / free * math.sqrt(share))


def _tangent_bases(cut: Cut, sizes: Values) -> list[tuple[slice, Values]]:
    """Return, per segment, an orthonormal basis of what its parameters can change, in logarithms."""
    model = cut.times(sizes)
    bases = []
    for number, (begin, end) in enumerate(zip(cut.edges[:-1], cut.edges[1:], strict=True)):
        points = slice(begin, end)
        free = [cut.alpha[number] > 0, cut.beta[number] > 0]
        columns = np.stack([1 / model[points], sizes[points] / model[points]], axis=1)[:, free]
        columns = columns / np.linalg.norm(columns, axis=0)
        bases.append((points, np.linalg.qr(columns)[0]))
    return bases


def _leverage(cut: Cut, sizes: Values) -> Values:
    return np.concatenate([(base**2).sum(axis=1) for _, base in _tangent_bases(cut, sizes)])


def _unexplained_by_lines(cut: Cut, sizes: Values, moved: Values) -> Values:
    """Return the part of the launches' differences that no change of parameters explains."""
    rest = moved.copy()
    for points, base in _tangent_bases(cut, sizes):
        rest[:, points] -= moved[:, points] @ base @ base.T
    return rest


def _refitted(cut: Cut, sizes: Values, replicated: Values) -> tuple[Values, Values]:
    """Return alpha and beta of the same segments, fitted to each replicate."""
    inside = (cut.of_point == np.arange(cut.count)[:, None]).astype(float)
    shape = (len(replicated), cut.count, sizes.size)
    logs = np.broadcast_to(replicated[:, None], shape).reshape(-1, sizes.size)
    ranges = np.broadcast_to(inside, shape).reshape(-1, sizes.size)
    lines = fit_lines(sizes, logs, ranges, cut.scale)
    return lines.alpha.reshape(shape[:2]), lines.beta.reshape(shape[:2])


# ---- Breaks --------------------------------------------------------------------------------------


def _stability(cut: Cut, sizes: Values, logs: Values, replicated: Values) -> Values:
    """Return, per break, the share of replicates that have one at most a size away.

    Replicates may have any number of breaks.
    """
    breaks = np.array(cut.edges[1:-1])
    shares = [
        _has_breaks(breaks, _cuts(cut, sizes, logs, part))
        for part in np.split(replicated, len(replicated) // _CHUNK)
    ]
    return np.asarray(np.concatenate(shares).mean(axis=0))


def _has_breaks(breaks: Values, cuts: list[Values]) -> Values:
    near = [(np.abs(edges[:, None] - breaks) <= 1).any(axis=0) for edges in cuts]
    return np.array(near, dtype=float).reshape(len(cuts), breaks.size)


def _cuts(cut: Cut, sizes: Values, logs: Values, replicated: Values) -> list[Values]:
    """Return the inner edges of each replicate, cut into any number of segments."""
    costs, edges = best_cuts(cut.grid.square(_costs(cut, sizes, logs, replicated)))
    best = chosen_count(costs, edges, cut.grid)
    return [cut.grid.nodes[edges[count][row, 1:-1]] for row, count in enumerate(best)]


def _costs(cut: Cut, sizes: Values, logs: Values, replicated: Values) -> Values:
    """Return the cost of every range in every replicate, shape ``(replicates, ranges)``.

    In closed form: relative errors about the model, with the weights that its points have.
    """
    model = cut.times(sizes)
    shares = HUBER * cut.scale / np.maximum(np.abs(logs - np.log(model)), HUBER * cut.scale)
    inside = cut.grid.inside * shares
    p, q, v = 1 / model, sizes / model, 1 + replicated - np.log(model)
    pp, pq, qq = ((inside @ product)[None] for product in (p * p, p * q, q * q))
    pv, qv, vv = ((inside @ product.T).T for product in (p * v, q * v, v * v))
    flat, steep = vv - pv**2 / pp, vv - qv**2 / np.maximum(qq, 1e-300)
    steep = np.where((cut.grid.inside @ (sizes == 0))[None] > 0, np.inf, steep)
    free = pp * qq - pq**2
    known = free > 1e-12 * pp * qq
    free = np.where(known, free, 1.0)
    alpha, beta = (qq * pv - pq * qv) / free, (pp * qv - pq * pv) / free
    inner = np.where(known & (alpha >= 0) & (beta >= 0), vv - alpha * pv - beta * qv, np.inf)
    return np.maximum(np.minimum(np.minimum(flat, steep), inner), 0.0)
