"""Collectives that are made of messages by a known algorithm are called by its name, or by none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.models.collectives import Behaviour, algorithms_of, behaviours_of, message_s
from mpigauge.models.model import Model, models_of
from mpigauge.plan.patterns import known
from tests.unit.models.planted_models import Machine, sizes_to

if TYPE_CHECKING:
    from collections.abc import Sequence

RANKS = (2, 4, 8, 16, 32)
SIZES = (8, 64, 512, 4096, 32768, 262144)
PAIRS = [
    (name, algorithm)
    for name, pattern in known().items()
    for algorithm in algorithms_of(pattern, pattern.modes[0])
]
MACHINE = Machine(sizes=sizes_to(2**24, 30))


def machine_model() -> Model:
    found = models_of([MACHINE.campaign(np.random.default_rng(1), limits=(4040, 262_144))])[0]
    assert found is not None
    return found


MESSAGES = machine_model()


def truth(size: float) -> float:
    return float(MACHINE.times(np.array([size]))[0])


def made_of(
    pattern: str, algorithm: str, *, factor: float = 1.0, noise: float = 0.03, ranks: Sequence[int] = RANKS
) -> dict[int, dict[int, float]]:
    """Times of a collective that is this algorithm, by ranks and size."""
    chance = np.random.default_rng(2)
    cost = dict(algorithms_of(known()[pattern], None))[algorithm]  # type: ignore[index]
    return {
        count: {size: factor * cost(truth, count, size) * math.exp(noise * chance.normal()) for size in SIZES}
        for count in ranks
    }


def told(pattern: str, curves: dict[int, dict[int, float]], edges: Sequence[int] = (8,)) -> list[Behaviour]:
    found = behaviours_of(curves, edges, MESSAGES, algorithms_of(known()[pattern], None))
    assert found is not None
    return found


@pytest.mark.parametrize(("pattern", "algorithm"), PAIRS, ids=str)
def test_an_algorithm_is_recognised(pattern: str, algorithm: str) -> None:
    """Or one that differs from it in nothing but a factor; all breaks of messages are known to the byte."""
    (one,) = told(pattern, made_of(pattern, algorithm))
    assert one.known
    assert algorithm in {each.algorithm for each in (one.likes[0], *one.same)}
    assert one.likes[0].error < 0.08
    mine = next(each for each in one.likes if each.algorithm == algorithm)
    assert mine.factor.estimate == pytest.approx(1, abs=0.15)


def test_the_factor_is_found_and_within_its_interval() -> None:
    (one,) = told("bcast", made_of("bcast", "binomial", factor=1.7))
    best = one.likes[0]
    assert best.algorithm == "binomial"
    assert best.factor.low is not None
    assert best.factor.high is not None
    assert best.factor.low <= 1.7 * 1.03
    assert best.factor.high >= 1.7 / 1.03


def test_a_factor_over_messages_far_beyond_those_measured_has_no_interval() -> None:
    """Bruck's alltoall sends half of all blocks at once; in pairs a block goes alone."""
    short = models_of(
        [Machine(sizes=sizes_to(2**18, 20)).campaign(np.random.default_rng(3), limits=(4040,))]
    )[0]
    assert short is not None
    curves = made_of("alltoall", "pairwise")
    found = behaviours_of(curves, (8,), short, algorithms_of(known()["alltoall"], None))
    assert found is not None
    likes = {like.algorithm: like for like in found[0].likes}
    assert likes["bruck"].extrapolated
    assert likes["bruck"].factor.low is likes["bruck"].factor.high is None
    assert not likes["pairwise"].extrapolated
    assert likes["pairwise"].factor.low is not None


def test_what_no_algorithm_does_is_like_none() -> None:
    curves = {count: dict.fromkeys(SIZES, 1e-06 * count**2.5) for count in RANKS}
    (one,) = told("bcast", curves)
    assert not one.known
    assert one.likes[0].error > 0.25


def test_segments_have_algorithms_of_their_own() -> None:
    """Libraries change it with the size."""
    small, large = made_of("allreduce", "recursive-doubling"), made_of("allreduce", "ring-of-blocks")
    curves = {
        count: {size: (small if size < 4096 else large)[count][size] for size in SIZES} for count in RANKS
    }
    first, second = told("allreduce", curves, (8, 4096))
    assert (first.first, first.last, second.first) == (8, 512, 4096)
    assert "recursive-doubling" in {each.algorithm for each in (first.likes[0], *first.same)}
    assert second.likes[0].algorithm == "ring-of-blocks"


def test_three_numbers_of_ranks_tell_nothing() -> None:
    curves = made_of("bcast", "binomial", ranks=(2, 4, 8))
    assert behaviours_of(curves, (8,), MESSAGES, algorithms_of(known()["bcast"], None)) is None
    curves[1] = dict.fromkeys(SIZES, 1e-8)
    assert behaviours_of(curves, (8,), MESSAGES, algorithms_of(known()["bcast"], None)) is None


def test_the_error_is_that_of_what_was_left_out() -> None:
    """One number of ranks that is twice as slow is not foretold by the others."""
    curves = made_of("bcast", "binomial", noise=0.0)
    curves[32] = {size: 2 * time for size, time in curves[32].items()}
    (one,) = told("bcast", curves)
    binomial = next(each for each in one.likes if each.algorithm == "binomial")
    assert binomial.largest_error == pytest.approx(1, abs=0.1)


def test_what_is_made_of_other_collectives_has_no_algorithm() -> None:
    pattern = known()["allreduce"]
    by_mode = {mode.name: algorithms_of(pattern, mode) for mode in pattern.modes}
    assert by_mode["blocking"]
    assert not by_mode["overlap"]
    assert not any(by_mode[mode.name] for mode in pattern.modes if mode.instead_of)
    assert not algorithms_of(known()["pingpong"], None)
    assert not algorithms_of(known()["memcpy"], None)


@given(st.floats(1, 2**24), st.floats(1, 2**24))
def test_messages_take_longer_the_larger_they_are_within_a_segment(one: float, other: float) -> None:
    middles = [math.sqrt(each.above * each.upto) for each in MESSAGES.breaks]
    if sum(one > middle for middle in middles) == sum(other > middle for middle in middles):
        low, high = sorted((one, other))
        assert message_s(MESSAGES, low) <= message_s(MESSAGES, high)
