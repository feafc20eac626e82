"""How much the rounds of one launch depend on their neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.percentiles import Values, percentile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def correlation_time(visits: Sequence[Values]) -> float:
    """Integrated autocorrelation time of u = log t, clipped to [p1, p99]: how many rounds are worth one.

    Products are formed inside visits only, around the mean of the whole launch, and divided by the count of
    all rounds: so a visit that is slow as a whole counts as correlation, rounds of two visits as independent.

    Args:
        visits: The times of each visit's rounds in seconds, shape ``(rounds,)``. A time of 0 counts as the
            smallest one above 0.

    Returns:
        In rounds, at least 1; 1 if all times are alike or there are none.

    Source:
        docs/method.md#enough-within-a-launch; initial positive sequence: Geyer, Practical Markov Chain
        Monte Carlo, Statistical Science 7(4) 1992.
    """
    visits = with_rounds(visits)
    if not visits:
        return 1.0
    ordered = np.sort(np.concatenate(visits))
    low, high = max(percentile(ordered, 1), _smallest_positive(ordered)), percentile(ordered, 99)
    if high <= low or np.log(high) <= np.log(low):  # of neighbouring numbers, logarithms may be one
        return 1.0
    mean = np.log(ordered.clip(low, high)).mean()
    products = np.zeros(max(visit.size for visit in visits))
    for stack in _stacks_of_equal_length(visits):
        products[: stack.shape[1]] += _lag_products(np.log(stack.clip(low, high)) - mean)
    return max(1.0, _positive_sequence(products / products[0]))


def with_rounds(visits: Sequence[Values]) -> list[Values]:
    """The visits that have any."""
    return [visit for visit in visits if visit.size]


def _smallest_positive(ordered: Values) -> float:
    zeros = int(np.searchsorted(ordered, 0.0, side="right"))
    return float(ordered[zeros]) if zeros < ordered.size else math.inf


def _stacks_of_equal_length(visits: Sequence[Values]) -> Iterator[Values]:
    for length in {visit.size for visit in visits}:
        yield np.stack([visit for visit in visits if visit.size == length])


def _lag_products(stack: Values) -> Values:
    """Sum over visits of x_i x_(i+j) for every lag j; shape ``(visits, rounds)`` to ``(rounds,)``, by FFT."""
    length = stack.shape[1]
    padded = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(stack, padded, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).sum(axis=0)
    products: Values = np.fft.irfft(power, padded)[:length]
    return products


def _positive_sequence(correlations: Values) -> float:
    """1 + 2 * sum of r_j for j > 0, up to the first pair r_2j + r_(2j+1) that is not positive."""
    padded = np.append(correlations, 0.0) if correlations.size % 2 else correlations
    pairs = padded[0::2] + padded[1::2]
    ends = np.flatnonzero(pairs <= 0)
    return 2.0 * float(pairs[: ends[0] if ends.size else None].sum()) - 1.0
