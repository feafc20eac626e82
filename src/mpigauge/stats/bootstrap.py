"""How sure a model is: launches resampled whole, and what the model leaves turned around at random.

Launches alone would promise too much: a curve that no lines describe within 5 % has parameters that are no
surer, however narrow its times are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.interval import LAUNCHES_FOR_RANGE, Interval, student, with_machine
from mpigauge.stats.lines import HUBER, fit_lines
from mpigauge.stats.segments import Cut, best_cuts, chosen_count

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

REPLICATES = 500
LOG_MOST = 700.0
"""Of what has an exponential."""

LAUNCHES_LEAST = 2
"""For an interval; 5 for one that deserves the name."""

NORMAL = 1.959964
_CHUNK = 100
_FAR = 2 * HUBER
"""Errors count up to so many standard deviations for how much a model leaves."""


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Models of times that could have been measured as well.

    Attributes:
        alpha: In seconds, shape ``(replicates, segments)``.
        beta: Seconds per byte, likewise.
        found: Of each of the model's breaks, the share of replicates that have one there too.
        measured: Logarithms of times that launches drawn anew would have given, shape
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

    def interval(self, estimate: float, values: Values, machine: float | None = None) -> Interval:
        """A 95 % interval of something of the model; never below 0.

        Args:
            estimate: Its value in the model, in any unit.
            values: Of the replicates, shape ``(replicates,)``.
            machine: As the attribute, where that of a time does not hold.
        """
        low, high = (self._wider(estimate, float(end)) for end in np.quantile(values, (0.025, 0.975)))
        return with_machine(Interval(estimate, low, high), self.machine if machine is None else machine)

    def _wider(self, estimate: float, end: float) -> float:
        """On the logarithm where there is one; an end that no number has is infinite."""
        if estimate > 0 and end > 0:
            reach = self.factor * (math.log(end) - math.log(estimate))
            return estimate * math.exp(reach) if reach < LOG_MOST else math.inf
        return max(0.0, estimate + (end - estimate) * self.factor)


def replicates_of(
    sizes: Values, logs: Values, launches: Values, found: Cut, widened: float = 1.0, machine: float = 0.0
) -> Replicates | None:
    """Replicates of a model; None if there are too few launches.

    Args:
        sizes: In bytes, shape ``(points,)``.
        logs: Logarithms of times in seconds, likewise.
        launches: Likewise of each launch, shape ``(launches, points)``; nan where one has none.
        widened: By what intervals grow beside, for launches that follow each other slowly.
        machine: As of the replicates.

    Source:
        docs/models.md#intervals
    """
    count = len(launches)
    if count < LAUNCHES_LEAST:
        return None
    chance = np.random.default_rng(count)
    moved = resampled(launches, chance)
    model = np.log(found.times(sizes))
    left = _left(found, sizes, logs - model, moved)
    signs = chance.choice((-1.0, 1.0), (REPLICATES, sizes.size))
    again = model + signs * left + moved
    alpha, beta = _refitted(found, sizes, again)
    stable = _stability(found, sizes, logs, again)
    # Means drawn anew vary too little; medians do not.
    small = 1.0 if count >= LAUNCHES_FOR_RANGE else math.sqrt(count / (count - 1))
    factor = widened * student(count - 1) / NORMAL * small
    return Replicates(alpha, beta, stable, logs + moved, factor, machine)


def resampled(launches: Values, chance: np.random.Generator) -> Values:
    """How far centres of launches drawn anew are from that of all, shape ``(replicates, points)``."""
    count = len(launches)
    drawn = launches[chance.integers(0, count, (REPLICATES, count))]
    return np.asarray(np.nan_to_num(_centres(drawn) - _centres(launches)))


def _centres(launches: Values) -> Values:
    """What tables have of so many launches, of each size of those that have it: medians, of few means."""
    known = np.isfinite(launches).sum(axis=-2, keepdims=True)
    if launches.shape[-2] < LAUNCHES_FOR_RANGE:
        return np.asarray(np.nansum(launches, axis=-2) / np.where(known > 0, known, math.nan)[..., 0, :])
    ordered = np.sort(launches, axis=-2)
    middles = (np.maximum(known - 1, 0) // 2, known // 2)
    last = launches.shape[-2] - 1
    lower, upper = (np.take_along_axis(ordered, np.minimum(at, last), axis=-2) for at in middles)
    return np.asarray((lower + upper)[..., 0, :] / 2)


def misfit_beyond_noise(found: Cut, sizes: Values, errors: Values, moved: Values) -> float:
    """The share of what a model leaves that is not the noise of launches, 0 to 1.

    Args:
        errors: Of the model, in logarithms, shape ``(points,)``.
        moved: As `resampled` has it.
    """
    far = _FAR * found.scale
    squares = float((np.clip(errors, -far, far) ** 2).sum())
    noise = float((_beside_lines(found, sizes, moved) ** 2).sum()) / len(moved)
    return max(0.0, 1 - noise / squares) if squares > 0 else 0.0


def _left(found: Cut, sizes: Values, errors: Values, moved: Values) -> Values:
    """What is turned around: errors as they would be had the parameters not been fitted to them."""
    share = misfit_beyond_noise(found, sizes, errors, moved)
    free = np.maximum(1 - _leverage(found, sizes), 0.1)
    return np.asarray(errors / free * math.sqrt(share))


def _designs(found: Cut, sizes: Values) -> list[tuple[slice, Values]]:
    """Of every segment an orthonormal base of what its parameters can change, in logarithms."""
    model = found.times(sizes)
    designs = []
    for number, (begin, end) in enumerate(zip(found.edges[:-1], found.edges[1:], strict=True)):
        mine = slice(begin, end)
        free = [found.alpha[number] > 0, found.beta[number] > 0]
        columns = np.stack([1 / model[mine], sizes[mine] / model[mine]], axis=1)[:, free]
        columns = columns / np.linalg.norm(columns, axis=0)
        designs.append((mine, np.linalg.qr(columns)[0]))
    return designs


def _leverage(found: Cut, sizes: Values) -> Values:
    return np.concatenate([(base**2).sum(axis=1) for _, base in _designs(found, sizes)])


def _beside_lines(found: Cut, sizes: Values, moved: Values) -> Values:
    """What of the differences of launches no change of parameters explains."""
    rest = moved.copy()
    for mine, base in _designs(found, sizes):
        rest[:, mine] -= moved[:, mine] @ base @ base.T
    return rest


def _refitted(found: Cut, sizes: Values, again: Values) -> tuple[Values, Values]:
    """The parameters of the same segments."""
    inside = (found.of_point == np.arange(found.count)[:, None]).astype(float)
    shape = (len(again), found.count, sizes.size)
    logs = np.broadcast_to(again[:, None], shape).reshape(-1, sizes.size)
    ranges = np.broadcast_to(inside, shape).reshape(-1, sizes.size)
    lines = fit_lines(sizes, logs, ranges, found.scale)
    return lines.alpha.reshape(shape[:2]), lines.beta.reshape(shape[:2])


# ---- Breaks --------------------------------------------------------------------------------------


def _stability(found: Cut, sizes: Values, logs: Values, again: Values) -> Values:
    """Of each break the share of replicates that have one at most a size away, however many they have."""
    breaks = np.array(found.edges[1:-1])
    shares = [_has(breaks, _cuts(found, sizes, logs, part)) for part in np.split(again, len(again) // _CHUNK)]
    return np.asarray(np.concatenate(shares).mean(axis=0))


def _has(breaks: Values, cuts: list[Values]) -> Values:
    found = [(np.abs(edges[:, None] - breaks) <= 1).any(axis=0) for edges in cuts]
    return np.array(found, dtype=float).reshape(len(cuts), breaks.size)


def _cuts(found: Cut, sizes: Values, logs: Values, again: Values) -> list[Values]:
    """The inner edges of each replicate, their number free."""
    costs, edges = best_cuts(found.grid.square(_costs(found, sizes, logs, again)))
    best = chosen_count(costs, edges, found.grid)
    return [found.grid.nodes[edges[count][row, 1:-1]] for row, count in enumerate(best)]


def _costs(found: Cut, sizes: Values, logs: Values, again: Values) -> Values:
    """What every range of every replicate costs, shape ``(replicates, ranges)``.

    In closed form: relative errors about the model, with the weights that its points have.
    """
    model = found.times(sizes)
    shares = HUBER * found.scale / np.maximum(np.abs(logs - np.log(model)), HUBER * found.scale)
    inside = found.grid.inside * shares
    p, q, v = 1 / model, sizes / model, 1 + again - np.log(model)
    pp, pq, qq = ((inside @ product)[None] for product in (p * p, p * q, q * q))
    pv, qv, vv = ((inside @ product.T).T for product in (p * v, q * v, v * v))
    flat, steep = vv - pv**2 / pp, vv - qv**2 / np.maximum(qq, 1e-300)
    steep = np.where((found.grid.inside @ (sizes == 0))[None] > 0, np.inf, steep)
    free = pp * qq - pq**2
    known = free > 1e-12 * pp * qq
    free = np.where(known, free, 1.0)
    alpha, beta = (qq * pv - pq * qv) / free, (pp * qv - pq * pv) / free
    inner = np.where(known & (alpha >= 0) & (beta >= 0), vv - alpha * pv - beta * qv, np.inf)
    return np.maximum(np.minimum(np.minimum(flat, steep), inner), 0.0)
