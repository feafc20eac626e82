"""Curves whose misses grow as ``1 - capacity / size``: cut where caches end, and levels are asymptotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.find.memory_costs import Level, cache_levels
from mpigauge.stats.latency_pieces import POINTS_LEAST, pieces_of
from tests.unit.find.planted_caches import KIB, MIB, UNIFORM, curve, grid, noisy

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

CAPACITIES = (48 * KIB, 2 * MIB, 13 * MIB)
LATENCIES = (1.4e-9, 4.5e-9, 35e-9, 110e-9)
"""A server, whose two largest caches are near to each other."""


def seen(sizes: Values, latencies: Values) -> list[Level]:
    return cache_levels(sizes.astype(int).tolist(), latencies.tolist())


@pytest.mark.truth
@pytest.mark.parametrize("per_octave", [4, 8])
@pytest.mark.parametrize(("noise", "most_missed"), [(0.02, 0), (0.05, 2)])
def test_caches_of_a_server_are_all_found_in_random_access(
    per_octave: int, noise: float, most_missed: int
) -> None:
    """Straight ramps of log latency would hide the last level of one curve in six, of every second at 5 %."""
    generator = np.random.default_rng(13)
    sizes = grid(per_octave, 64 * MIB)
    model = curve(UNIFORM, sizes, CAPACITIES, LATENCIES)
    found = [seen(sizes, noisy(generator, model, noise)) for _ in range(25)]
    whole = [levels for levels in found if len(levels) == len(LATENCIES)]
    assert all(len(levels) <= len(LATENCIES) for levels in found)
    assert len(whole) >= 25 - most_missed
    for levels in whole:
        capacities = [level.capacity_bytes or 0 for level in levels[:-1]]
        assert capacities == pytest.approx(CAPACITIES, rel=0.4)


def test_the_latency_of_a_level_is_what_loads_take_that_only_it_serves() -> None:
    """Where the third cache ends, the second still serves a seventh of the loads: that is not its speed."""
    sizes = grid(8, 64 * MIB)
    model = curve(UNIFORM, sizes, CAPACITIES, LATENCIES)
    levels = seen(sizes, noisy(np.random.default_rng(1), model, 0.01))
    assert [level.latency_s for level in levels[:-1]] == pytest.approx(LATENCIES[:-1], rel=0.05)
    # Of the last level nothing is said beyond what was measured.
    assert 0.8 * LATENCIES[-1] < levels[-1].latency_s <= 1.02 * float(model.max())


@pytest.mark.truth
@pytest.mark.parametrize("slope", [0.2, 0.3, 0.4])
@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_no_level_is_invented_where_latency_creeps_up_in_noise(slope: float, noise: float) -> None:
    generator = np.random.default_rng(14)
    for index in range(16):
        sizes = grid((4, 8)[index % 2], 64 * MIB)
        assert len(seen(sizes, noisy(generator, 1e-9 * (sizes / KIB) ** slope, noise))) == 1


def test_a_curve_of_two_caches_is_cut_where_they_end() -> None:
    sizes = grid(8, 256 * MIB)
    asymptote, capacity = 80e-9, 4 * MIB
    latencies = curve(UNIFORM, sizes, [32 * KIB, capacity], [1e-9, 5e-9, asymptote])
    flat, middle, last = pieces_of(sizes, latencies)
    assert flat.saving == 0
    assert flat.low == flat.high == pytest.approx(1e-9)
    assert middle.low == pytest.approx(5e-9, rel=1e-3)
    assert middle.saving == pytest.approx(4e-9 * 32 * KIB, rel=0.02)
    assert last.low == pytest.approx(asymptote, rel=1e-3)
    assert last.saving == pytest.approx((asymptote - 5e-9) * capacity + middle.saving, rel=0.02)


@pytest.mark.parametrize("factor", [2.0**-10, 2.0**20])
def test_far_working_sets_are_fitted_as_well_as_near_ones(factor: float) -> None:
    """Sums over the whole curve would lose them beside the inverse squares of the smallest."""
    sizes = grid(8, 256 * MIB)
    latencies = noisy(np.random.default_rng(2), curve(UNIFORM, sizes, [64 * MIB], [1e-9, 9e-9]), 0.01)
    plain = pieces_of(sizes, latencies)
    scaled = pieces_of(sizes * factor, latencies * factor)
    assert [piece.begin for piece in scaled] == [piece.begin for piece in plain]
    assert plain[-1].low == pytest.approx(9e-9, rel=0.1)
    assert [piece.low for piece in scaled] == pytest.approx([factor * piece.low for piece in plain])


@pytest.mark.truth
@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.dictionaries(st.integers(1, 2**40), st.floats(1e-12, 1e3), min_size=6, max_size=24))
def test_whatever_was_measured_every_point_is_in_one_piece(points: dict[int, float]) -> None:
    sizes = np.array(sorted(points), dtype=np.float64)
    pieces = pieces_of(sizes, np.array([points[int(size)] for size in sizes]))
    assert [piece.begin for piece in pieces] == [0, *(piece.end for piece in pieces[:-1])]
    assert pieces[-1].end == sizes.size
    assert all(piece.end - piece.begin >= POINTS_LEAST for piece in pieces)
    assert all(0 <= piece.squares < np.inf and piece.saving >= 0 for piece in pieces)
