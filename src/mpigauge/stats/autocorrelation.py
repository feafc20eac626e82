"""How much the rounds of one launch depend on their neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.ragged import Ragged

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.ragged import Counts

_PADDED_AT_ONCE = 1 << 17
"""Values that are transformed at once, with the zeros behind each visit."""


def correlation_times(visits: Ragged, owners: Counts, ordered: Ragged) -> Values:
    """Return the integrated autocorrelation time of each launch's rounds: how many are worth one.

    It is that of u = log t, clipped to [p1, p99].

    Products are formed inside visits only, around the mean of the whole launch, and divided by the count of
    all rounds: so a visit that is slow as a whole counts as correlation, rounds of two visits as independent.

    Args:
        visits: The times of the rounds of each visit in seconds, those of one launch after those of the
            other. A time of 0 counts as the smallest one of its launch above 0.
        owners: The launch of each visit, from 0 on.
        ordered: These rounds by launch, in ascending order.

    Returns:
        One value per launch, in rounds, at least 1; 1 if all times are equal.

    Source:
        docs/method.md#enough-within-a-launch; initial positive sequence: Geyer, Practical Markov Chain
        Monte Carlo, Statistical Science 7(4) 1992.
    """
    low, high = _ends(ordered)
    logs = np.log(np.clip(visits.values, ordered.repeat(low), ordered.repeat(high)))
    about = ordered._replace(values=logs).centred()
    products = _lag_products(visits._replace(values=about), owners)
    times = np.empty(low.size)
    for places, stack in products.stacks():
        times[places] = _positive_sequences(stack)
    return np.maximum(times, 1.0)


def _ends(ordered: Ragged) -> tuple[Values, Values]:
    """Return the times between which those of each launch are clipped; 1 s twice if nothing lies between."""
    low, high = np.maximum(ordered.percentiles(1), _smallest_positive(ordered)), ordered.percentiles(99)
    differ = low < high
    # Of neighbouring numbers, logarithms may be one.
    differ[differ] = np.log(low[differ]) < np.log(high[differ])
    return np.where(differ, low, 1.0), np.where(differ, high, 1.0)


def _smallest_positive(ordered: Ragged) -> Values:
    """Return the smallest positive time of each launch; infinite if it has none."""
    zeros = ordered._replace(values=(ordered.values <= 0).astype(float)).sums().astype(int)
    last = ordered.lengths - 1
    return np.where(zeros > last, math.inf, ordered.values[ordered.begins + np.minimum(zeros, last)])


def _lag_products(visits: Ragged, owners: Counts) -> Ragged:
    """Return each launch's sums of x_i x_(i+j) over its visits, for every lag j up to the longest visit."""
    longest = np.zeros(owners[-1] + 1, dtype=np.intp)
    np.maximum.at(longest, owners, visits.lengths)
    products = Ragged(np.zeros(longest.sum()), longest)
    begins = products.begins
    for places_of_visits, stack in visits.stacks():
        firsts = np.flatnonzero(np.diff(owners[places_of_visits], prepend=-1))
        places = begins[owners[places_of_visits[firsts]]][:, np.newaxis] + np.arange(stack.shape[1])
        products.values[places] += _lag_products_of(stack, firsts)
    return products


def _lag_products_of(stack: Values, firsts: Counts) -> Values:
    """Return products by FFT, of some visits at a time, summed up over those of a launch.

    Args:
        stack: Rounds of visits of one length, shape ``(visits, rounds)``.
        firsts: The first visit of each launch.

    Returns:
        Shape ``(launches, rounds)``.
    """
    length = stack.shape[1]
    padded = 1 << (2 * length - 1).bit_length()
    rows = max(1, _PADDED_AT_ONCE // padded)
    power = np.empty((len(stack), padded // 2 + 1))
    for begin in range(0, len(stack), rows):
        spectrum = np.fft.rfft(stack[begin : begin + rows], padded, axis=1)
        power[begin : begin + rows] = spectrum.real**2 + spectrum.imag**2
    products: Values = np.fft.irfft(np.add.reduceat(power, firsts, axis=0), padded, axis=1)[:, :length]
    return products


def _positive_sequences(products: Values) -> Values:
    """Return 1 + 2 * sum of r_j for j > 0, up to the first pair r_2j + r_(2j+1) that is not positive.

    Args:
        products: Lag products, shape ``(launches, lags)``.
    """
    correlations = products / np.where(products[:, :1] > 0, products[:, :1], 1.0)
    padded = np.pad(correlations, ((0, 0), (0, correlations.shape[1] % 2)))
    pairs = padded[:, 0::2] + padded[:, 1::2]
    goes_on = np.logical_and.accumulate(pairs > 0, axis=1)
    times: Values = 2.0 * np.where(goes_on, pairs, 0.0).sum(axis=1) - 1.0
    return times
