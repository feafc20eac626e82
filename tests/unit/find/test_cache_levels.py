"""Memory below MPI: planted cache levels are found and none invented; claims, paired ratios, thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.find.memory_costs import DifferentCache, Level, cache_levels, differing_claims
from tests.unit.find.planted_caches import (
    BLURRED,
    CYCLIC,
    KIB,
    LRU,
    MIB,
    UNIFORM,
    curve,
    grid,
    hierarchy,
    noisy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values

repeatable = settings(derandomize=True, deadline=None)

SHARP = (LRU, BLURRED)
SLOWLY = (CYCLIC, UNIFORM)

# A machine with 48 KiB and 2 MiB (it claims 480 MiB of L3), huge pages, 4 sizes an octave from 1 KiB.
REAL_NS = (
    *([1.392] * 22),
    *(1.396, 4.454, 4.454, 4.454, 4.454, 4.454, 4.454, 4.454, 4.454, 4.455, 4.454, 4.454, 4.455, 4.685),
    *(4.963, 5.182, 5.374, 5.544, 5.743, 5.792, 5.892, 5.979, 14.57, 22.51, 34.88, 35.61, 36.59, 37.40),
    *(
        40.39,
        38.49,
        46.75,
        60.46,
        88.19,
        88.08,
        131.5,
        146.9,
        154.8,
        159.4,
        160.9,
        165.6,
        166.2,
        168.8,
        168.5,
    ),
)


def levels_of(sizes: Values, latencies: Values) -> list[Level]:
    return cache_levels([int(size) for size in sizes], latencies.tolist())


def seen(levels: Sequence[Level]) -> list[int]:
    """The capacities of all levels but the last, which must have none."""
    assert levels[-1].capacity_bytes is None
    return [level.capacity_bytes for level in levels[:-1] if level.capacity_bytes is not None]


def campaign(kind: str, noise: float) -> list[tuple[Values, Values, Values, list[Level]]]:
    """Sizes, planted capacities and latencies, and what was found, of 12 curves of 2 to 4 levels."""
    generator = np.random.default_rng(2024)
    found = []
    for index in range(12):
        largest_bytes = (64 * MIB, 256 * MIB)[index % 2]
        sizes = grid((4, 8)[index // 2 % 2], largest_bytes)
        capacities, latencies = hierarchy(generator, 2 + index % 3, largest_bytes)
        measured = noisy(generator, curve(kind, sizes, capacities.tolist(), latencies.tolist()), noise)
        found.append((sizes, capacities, latencies, levels_of(sizes, measured)))
    return found


# --- cache_levels


@pytest.mark.truth
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("kind", SHARP)
def test_sharp_levels_are_found_within_one_size(kind: str, noise: float) -> None:
    """Measured over 600 curves a cell: none false, none missed; capacities off in 0.3 % at 10 % noise."""
    for sizes, capacities, latencies, levels in campaign(kind, noise):
        assert len(levels) == latencies.size
        places = np.searchsorted(sizes, capacities, side="right") - 1
        assert np.abs(np.searchsorted(sizes, seen(levels)) - places).max() <= 1
        assert [level.latency_s for level in levels] == pytest.approx(latencies.tolist(), rel=0.15)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("kind", SLOWLY)
def test_levels_with_ramps_between_them_are_found(kind: str, noise: float) -> None:
    """Measured over 600 curves a cell: none false, none missed; no capacity off by more."""
    for _, capacities, latencies, levels in campaign(kind, noise):
        assert len(levels) == latencies.size
        assert np.abs(np.log(seen(levels) / capacities)).max() < math.log(1.6)
        assert [level.latency_s for level in levels] == pytest.approx(latencies.tolist(), rel=0.4)


@pytest.mark.parametrize("kind", SLOWLY)
def test_much_noise_on_ramps_hides_levels_but_seldom_adds_one(kind: str) -> None:
    """Measured over 600 curves a cell: at most 0.2 % false, 1.5 % missed, no capacity off by more."""
    found = campaign(kind, 0.1)
    surplus = np.array([len(levels) - latencies.size for _, _, latencies, levels in found])
    right = [
        (capacities, levels)
        for (_, capacities, _, levels), more in zip(found, surplus, strict=True)
        if not more
    ]
    errors = np.concatenate([np.abs(np.log(seen(levels) / capacities)) for capacities, levels in right])
    assert np.sum(surplus > 0) <= 1
    assert np.sum(surplus < 0) <= 1
    assert np.mean(errors < math.log(1.6)) >= 0.95


@pytest.mark.truth
def test_no_level_is_invented_on_a_ramp_that_noise_cuts_into_steps() -> None:
    generator = np.random.default_rng(10)
    sizes = grid(8, 64 * MIB)
    ramp = curve(UNIFORM, sizes, [200 * KIB], [1.3e-9, 10e-9])
    found = [levels_of(sizes, noisy(generator, ramp, 0.1)) for _ in range(40)]
    assert sum(len(levels) > 2 for levels in found) <= 1


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1, 0.2])
def test_no_level_is_invented_in_a_constant_curve(noise: float) -> None:
    generator = np.random.default_rng(3)
    for index in range(20):
        sizes = grid((4, 8)[index % 2], 64 * MIB)
        levels = levels_of(sizes, noisy(generator, np.full(sizes.size, 80e-9), noise))
        assert len(levels) == 1
        assert levels[0].capacity_bytes is None
        assert levels[0].latency_s == pytest.approx(80e-9, rel=0.1)


@pytest.mark.parametrize("per_octave", [4, 8])
@pytest.mark.parametrize("factor", [3.0, 10.0])
def test_single_slow_points_are_no_levels(per_octave: int, factor: float) -> None:
    generator = np.random.default_rng(4)
    sizes = grid(per_octave, 64 * MIB)
    for place in (*range(0, sizes.size, 16), -3, -2, -1):
        latencies = noisy(generator, np.full(sizes.size, 1e-9), 0.02)
        latencies[place] *= factor
        assert len(levels_of(sizes, latencies)) == 1


def test_a_slow_stretch_that_larger_working_sets_do_not_share_is_no_level() -> None:
    sizes = grid(8, 64 * MIB)
    latencies = curve(LRU, sizes, [MIB], [1e-9, 5e-9])
    latencies[20:30] *= 3
    assert seen(levels_of(sizes, latencies)) == [MIB]


@pytest.mark.parametrize("per_octave", [4, 8])
@pytest.mark.parametrize("slope", [0.1, 0.2])
def test_latency_that_creeps_up_is_one_level(per_octave: int, slope: float) -> None:
    """As with translation buffers: no ramp, no step, although the ends differ much."""
    sizes = grid(per_octave, 64 * MIB)
    creeping = noisy(np.random.default_rng(5), 1e-9 * (sizes / KIB) ** slope, 0.02)
    assert len(levels_of(sizes, creeping)) == 1


@pytest.mark.parametrize("kind", [LRU, BLURRED, CYCLIC, UNIFORM])
def test_a_capacity_is_seen_although_the_next_plateau_is_not_reached(kind: str) -> None:
    sizes = grid(8, 32 * MIB)
    latencies = noisy(np.random.default_rng(6), curve(kind, sizes, [16 * MIB], [20e-9, 200e-9]), 0.02)
    (capacity,) = seen(levels_of(sizes, latencies))
    assert 15 * MIB <= capacity <= 20 * MIB


@pytest.mark.parametrize("closeness", ["capacity", "latency"])
def test_levels_too_close_to_each_other_are_seen_as_one(closeness: str) -> None:
    sizes = grid(8, 64 * MIB)
    second, slower = (2 * 32 * KIB, 3.0) if closeness == "capacity" else (64 * 32 * KIB, 1.3)
    latencies = curve(UNIFORM, sizes, [32 * KIB, second], [1e-9, 1e-9 * slower, 30e-9])
    assert len(levels_of(sizes, noisy(np.random.default_rng(7), latencies, 0.02))) == 2


def test_the_levels_of_a_real_machine_are_those_that_one_sees() -> None:
    sizes = grid(4, 64 * MIB)
    levels = levels_of(sizes, 1e-9 * np.array(REAL_NS))
    first, second, third = seen(levels)
    assert first == 46336
    assert 1.2 * MIB <= second <= 1.75 * MIB
    assert 6 * MIB <= third <= 13 * MIB
    assert [1e9 * level.latency_s for level in levels] == pytest.approx([1.39, 4.5, 38, 165], rel=0.05)
    claims = {"L1 Data": 48 * KIB, "L2 Unified": 2 * MIB, "L3 Unified": 480 * MIB}
    (different,) = differing_claims(levels, claims, sizes.tolist())
    assert (different.level, different.claimed_bytes) == (3, 480 * MIB)


@pytest.mark.parametrize("count", range(6))
def test_too_few_points_show_nothing(count: int) -> None:
    assert cache_levels(range(1, count + 1), [1e-9] * count) == []


def test_points_without_a_latency_are_passed_over_and_the_lower_of_two_counts() -> None:
    sizes = [2**exponent for exponent in range(10, 20)]
    latencies = [1e-9] * 5 + [9e-9] * 5
    odd_sizes, odd_latencies = [0, 1, 2, 3, 4, 2**12], [1e-9, 0.0, math.nan, math.inf, -1.0, 5.0]
    levels = cache_levels(sizes, latencies)
    assert levels == [Level(2**14, 1e-9), Level(None, 9e-9)]
    assert cache_levels(sizes + odd_sizes, latencies + odd_latencies) == levels
    assert cache_levels(sizes[:5] + odd_sizes, latencies[:5] + odd_latencies) == []


def test_each_size_needs_its_latency() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        cache_levels([1, 2, 3], [1e-9])


@pytest.mark.parametrize("factor", [2.0**-20, 64.0])
def test_neither_order_nor_units_matter(factor: float) -> None:
    generator = np.random.default_rng(8)
    sizes = grid(8, 64 * MIB)
    latencies = noisy(generator, curve(UNIFORM, sizes, [40 * KIB, 3 * MIB], [1e-9, 5e-9, 80e-9]), 0.05)
    levels = levels_of(sizes, latencies)
    order = generator.permutation(sizes.size)
    scaled = levels_of(sizes, factor * latencies)
    assert levels_of(sizes[order], latencies[order]) == levels
    assert seen(scaled) == seen(levels)
    assert [level.latency_s for level in scaled] == pytest.approx(
        [factor * each.latency_s for each in levels]
    )
    assert seen(levels_of(64 * sizes, latencies)) == [64 * capacity for capacity in seen(levels)]


@repeatable
@given(st.dictionaries(st.integers(1, 2**40), st.floats(1e-12, 1e3), min_size=6, max_size=24))
def test_whatever_was_measured_has_ascending_capacities_and_a_last_level(points: dict[int, float]) -> None:
    levels = cache_levels(list(points), list(points.values()))
    capacities = seen(levels)
    assert capacities == sorted(set(capacities))
    assert set(capacities) < points.keys()
    assert all(min(points.values()) <= level.latency_s <= max(points.values()) for level in levels)


@repeatable
@given(st.integers(2**52, 2**60), st.lists(st.floats(1e-9, 1e-6), min_size=6, max_size=12))
def test_sizes_whose_logarithms_are_equal_do_no_harm(size: int, latencies: list[float]) -> None:
    assert cache_levels(range(size, size + len(latencies)), latencies)[-1].capacity_bytes is None


# --- differing_claims

LEVELS = [Level(45 * KIB, 1.4e-9), Level(1700 * KIB, 4.5e-9), Level(13 * MIB, 38e-9), Level(None, 165e-9)]
SIZES = [1, 1, 64 * MIB]
CLAIMS = {"L1 Data": 48 * KIB, "L1 Instruction": 64 * KIB, "L2 Unified": 2 * MIB, "L3 Unified": 16 * MIB}


def test_claims_that_agree_are_no_difference() -> None:
    assert differing_claims(LEVELS, CLAIMS, SIZES) == []
    assert differing_claims(LEVELS, {}, SIZES) == []
    assert differing_claims([], CLAIMS, SIZES) == []


@pytest.mark.parametrize("claim", [{"L3 Unified": 480 * MIB}, {"L2 Unified": 256 * KIB}])
def test_a_larger_or_smaller_claim_is_a_difference(claim: dict[str, int]) -> None:
    ((name, claimed_bytes),) = claim.items()
    level = int(name[1])
    assert differing_claims(LEVELS, CLAIMS | claim, SIZES) == [
        DifferentCache(level, LEVELS[level - 1].capacity_bytes, claimed_bytes)
    ]


def test_a_level_that_is_not_seen_is_a_difference() -> None:
    unseen = DifferentCache(3, None, 16 * MIB, within=True)
    assert differing_claims([*LEVELS[:2], LEVELS[-1]], CLAIMS, SIZES) == [unseen]
    assert differing_claims(LEVELS[:2], CLAIMS, SIZES) == [unseen]
    assert len(differing_claims(LEVELS[-1:], CLAIMS, SIZES)) == 3


@pytest.mark.parametrize(("claim", "count"), [(20, 0), (19, 1), (80, 0), (81, 1)])
def test_only_more_than_twice_is_a_difference(claim: int, count: int) -> None:
    levels = [Level(40 * KIB, 1e-9), Level(None, 9e-9)]
    assert len(differing_claims(levels, {"L1 Data": claim * KIB}, SIZES)) == count


def test_instruction_caches_do_not_count_and_differences_come_in_the_order_of_levels() -> None:
    claims = {"L3 Unified": 1, "L2 ": 1, "L1 Data": 1, "L1 Instruction": 45 * KIB, "no level": 1}
    assert [one.level for one in differing_claims(LEVELS, claims, SIZES)] == [1, 2, 3]


def test_claims_below_the_working_sets_are_not_compared_and_others_with_what_is_nearest() -> None:
    sizes = grid(4, 64 * MIB)
    sizes = sizes[sizes >= 128 * KIB]
    levels = levels_of(sizes, curve(UNIFORM, sizes, [1750 * KIB, 12 * MIB], [4e-9, 35e-9, 110e-9]))
    claims = {"L1 Data": 48 * KIB, "L2 Unified": 2 * MIB, "L3 Unified": 13 * MIB}
    assert len(seen(levels)) == 2
    assert differing_claims(levels, claims, sizes.tolist()) == []
    # What is nearest is compared, whatever its number.
    assert differing_claims(levels, claims | {"L4 Unified": 2**30}, sizes.tolist()) == [
        DifferentCache(4, None, 2**30)
    ]
