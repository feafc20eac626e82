"""Curves of memory latency with known cache levels, to be found again."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values

KIB, MIB = 2**10, 2**20
LINE_BYTES = 64
LRU, BLURRED, CYCLIC, UNIFORM = "sharp", "blurred", "random replacement", "random access"


def grid(per_octave: int, largest_bytes: int) -> Values:
    """Working sets from 1 KiB on, in whole lines."""
    octaves = np.arange(per_octave * math.log2(largest_bytes / KIB) + 0.5) / per_octave
    return np.round(KIB * 2**octaves / LINE_BYTES) * LINE_BYTES


def hit_share(kind: str, size_by_capacity: Values) -> Values:
    """How many of the loads of a chase through a working set find their line in a cache."""
    if kind == LRU:
        return (size_by_capacity <= 1).astype(np.float64)
    if kind == BLURRED:
        return np.clip((1.19 - size_by_capacity) / 0.19, 0, 1)
    share = 1 / np.maximum(1, size_by_capacity)
    if kind == CYCLIC:
        # A line survives with exp(-(misses since its last use) / capacity): the solution below 1 of that.
        for _ in range(60):
            share = np.where(size_by_capacity > 1, np.exp(-(1 - share) * size_by_capacity), 1.0)
    return share


def curve(kind: str, sizes: Values, capacities: Sequence[float], latencies: Sequence[float]) -> Values:
    """Mean latencies of a chase, one more latency than capacities."""
    shares = np.array([hit_share(kind, sizes / capacity) for capacity in capacities])
    served = np.diff(np.vstack([np.zeros_like(sizes), shares, np.ones_like(sizes)]), axis=0)
    return np.array(latencies) @ served


def hierarchy(generator: np.random.Generator, levels: int, largest_bytes: int) -> tuple[Values, Values]:
    """Capacities at least 8 times apart and latencies 2.5 to 6 times, within reach of the working sets."""
    low, high = math.log(16 * KIB), math.log(largest_bytes / 4)
    while True:
        capacities = np.sort(np.exp(generator.uniform(low, high, levels - 1)))
        if all(larger >= 8 * smaller for smaller, larger in pairwise(capacities)):
            ratios = generator.uniform(2.5, 6, levels - 1)
            return capacities, 1.3e-9 * np.cumprod([1.0, *ratios])


def noisy(generator: np.random.Generator, latencies: Values, noise: float) -> Values:
    return latencies * np.exp(noise * generator.standard_normal(latencies.size))
