"""Lines through times against size, fitted to relative errors, over many ranges of sizes at once.

Time is ``f(n) = alpha + beta n`` with neither negative. What is made small is the difference of logarithms,
``log y - log f``: least squares in seconds would be decided by the largest sizes alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

HUBER = 1.5
"""Standard deviations above which errors count less: one disturbed size makes no break."""

_STEPS = 6
_EQUAL = 1e-12
_CHUNK = 400_000


@dataclass(frozen=True, slots=True, eq=False)
class LineFits:
    """Fitted lines over several ranges of points.

    Attributes:
        alpha: Times of size 0 in seconds, shape ``(ranges,)``.
        beta: Seconds per byte, shape ``(ranges,)``.
        cost: Huber's sum of squared relative errors, shape ``(ranges,)``.
    """

    alpha: Values
    beta: Values
    cost: Values


def huber(errors: Values, scale: float) -> Values:
    """Return Huber's loss of errors: squares up to 1.5 scales, beyond them linear."""
    far = HUBER * scale
    sizes = np.abs(errors)
    return np.where(sizes <= far, errors**2, far * (2 * sizes - far))


def fit_lines(sizes: Values, logs: Values, ranges: Values, scale: float) -> LineFits:
    """Return the best line through each range of points.

    Gauss-Newton on the logarithms, re-weighted by Huber, from the running median of three; at a corner
    (alpha or beta 0) both corners are fitted, and the better is taken.

    Args:
        sizes: In bytes, ascending, shape ``(points,)``.
        logs: Logarithms of times in seconds, shape ``(points,)`` or ``(ranges, points)``.
        ranges: 1 for the points of a range, 0 for others, shape ``(ranges, points)``.
        scale: The standard deviation of relative errors.

    Source:
        docs/models.md#fit
    """
    rows = max(1, _CHUNK // sizes.size)
    logs = np.broadcast_to(logs, ranges.shape)
    chunks = [
        _fit(sizes, logs[begin : begin + rows], ranges[begin : begin + rows], scale)
        for begin in range(0, len(ranges), rows)
    ]
    return LineFits(
        *(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in LineFits.__slots__)
    )


def _fit(sizes: Values, logs: Values, inside: Values, scale: float) -> LineFits:
    candidates = [_flat(logs, inside, scale), _steep(sizes, logs, inside, scale)]
    best = _inner(sizes, logs, inside, scale)
    for other in candidates:
        better = other.cost < best.cost - _EQUAL
        best = LineFits(*(np.where(better, getattr(other, n), getattr(best, n)) for n in LineFits.__slots__))
    return best


def _inner(sizes: Values, logs: Values, inside: Values, scale: float) -> LineFits:
    """Return the best of a few Gauss-Newton steps with both parameters free."""
    fitted = smoothed(logs)
    best = LineFits(*(np.full(len(inside), value) for value in (0.0, 0.0, np.inf)))
    for _ in range(_STEPS):
        errors = logs - fitted
        times = np.exp(fitted)
        weights = inside * _shares(errors, scale) / times**2
        alpha, beta = regression(sizes, times * (1 + errors), weights)
        fitted = np.log(np.maximum(alpha[:, None] + beta[:, None] * sizes, times * 1e-3))
        cost = _cost(logs - fitted, inside, scale)
        right = (alpha > 0) & (beta > 0) & (cost < best.cost)
        best = LineFits(
            np.where(right, alpha, best.alpha),
            np.where(right, beta, best.beta),
            np.where(right, cost, best.cost),
        )
    return best


def regression(sizes: Values, values: Values, weights: Values) -> tuple[Values, Values]:
    """Return intercepts and slopes of weighted lines, one per row; slope 0 where all points have one size."""
    total = weights.sum(axis=-1)
    total = np.where(total > 0, total, 1.0)
    x, y = (weights @ sizes) / total, (weights * values).sum(axis=-1) / total
    far = sizes - x[:, None]
    squares = (weights * far**2).sum(axis=-1)
    products = (weights * far * (values - y[:, None])).sum(axis=-1)
    known = squares > _EQUAL * total * np.maximum(x, 1e-300) ** 2
    beta = np.where(known, products / np.where(known, squares, 1.0), 0.0)
    return y - beta * x, beta


def smoothed(logs: Values) -> Values:
    """Return the running median of three along the last axis: a start that no single point decides."""
    if logs.shape[-1] < 3:  # noqa: PLR2004 - three
        return logs
    inner = np.median(np.stack([logs[..., :-2], logs[..., 1:-1], logs[..., 2:]]), axis=0)
    return np.concatenate([logs[..., :1], inner, logs[..., -1:]], axis=-1)


def _flat(logs: Values, inside: Values, scale: float) -> LineFits:
    """Return the fits of constants: beta is 0."""
    level, cost = _level(logs, inside, scale)
    return LineFits(np.exp(level), np.zeros_like(level), cost)


def _steep(sizes: Values, logs: Values, inside: Values, scale: float) -> LineFits:
    """Return the fits through the origin: alpha is 0, which rules out ranges with 0 bytes."""
    positive = sizes > 0
    level, cost = _level(logs - np.log(np.where(positive, sizes, 1.0)), inside, scale)
    impossible = (inside * ~positive).any(axis=1)
    return LineFits(np.zeros_like(level), np.exp(level), np.where(impossible, np.inf, cost))


def _level(logs: Values, inside: Values, scale: float) -> tuple[Values, Values]:
    """Return Huber's means of rows, and their costs."""
    level = np.nanmedian(np.where(inside > 0, logs, np.nan), axis=1)
    for _ in range(_STEPS):
        weights = inside * _shares(logs - level[:, None], scale)
        level = (weights * logs).sum(axis=1) / weights.sum(axis=1)
    return level, _cost(logs - level[:, None], inside, scale)


def _shares(errors: Values, scale: float) -> Values:
    """Return Huber's weights."""
    far = HUBER * scale
    return np.asarray(far / np.maximum(np.abs(errors), far))


def _cost(errors: Values, inside: Values, scale: float) -> Values:
    return np.asarray((inside * huber(errors, scale)).sum(axis=1))
