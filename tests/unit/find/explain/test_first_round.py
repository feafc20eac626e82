"""First rounds: a cost that was put in is found, with its size; none where the first is as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.find.explain.first_round import firsts, sentence
from mpigauge.find.fact import launches_of
from tests.made import cell
from tests.unit.find.explain.made_evidence import evidence, varied

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

SIZES = (8, 1024, 65536)
TYPICAL_NS = 20_000


def typical(_of: Cell, launch: int) -> list[int]:
    return 40 * [TYPICAL_NS + 100 * launch]


def first_takes(factor_of: Callable[[int, int], float]) -> Callable[[Visit], Visit]:
    """Visits whose first round takes so many times a typical one, by size and launch."""

    def changed(one: Visit) -> Visit:
        first_ns = round(factor_of(one.cell.bytes, one.launch) * one.samples_ns[0])
        return replace(one, trial_ns=[first_ns, TYPICAL_NS])

    return changed


def test_the_range_over_sizes_and_the_largest_are_found() -> None:
    factors = {8: 2.0, 1024: 7.0, 65536: 3.0}
    found = evidence(
        [cell(size=size) for size in SIZES], typical, of=first_takes(lambda size, _: factors[size])
    )
    (fact,) = firsts(found)
    assert list(fact.ends) == pytest.approx([2.0, 7.0], rel=1e-3)
    assert fact.most.ratio.estimate == pytest.approx(7.0, rel=1e-3)
    assert fact.most.bytes == 1024
    assert fact.most.first_s == pytest.approx(7.0 * fact.most.typical_s, rel=1e-3)
    assert (len(fact.longer), launches_of(fact)) == (3, 6)
    text = sentence(fact, varied(found))
    assert text.startswith("pingpong: the first round in a warm launch, not a program's first message, takes")
    assert "takes 2.00 to 7.00 times as long as a typical one, longer for certain at all 3 sizes" in text
    assert "most at 1 KiB: 7.00 times (7.00 \N{EN DASH} 7.00), 71.2 µs for 10.2 µs" in text


def test_a_round_of_a_batch_counts_as_one_operation() -> None:
    """A first round is one call, a sample of a batch is many."""
    found = evidence(
        [cell()],
        lambda _of, _launch: 40 * [16 * TYPICAL_NS],
        of=lambda one: replace(one, batch=16, ops=32, trial_ns=[5 * TYPICAL_NS]),
    )
    (fact,) = firsts(found)
    assert fact.most.ratio.estimate == pytest.approx(5.0, rel=1e-3)


def test_one_size_is_no_range() -> None:
    found = evidence([cell()], typical, of=first_takes(lambda _size, _launch: 4.0))
    (fact,) = firsts(found)
    assert "4.00 times (4.00 \N{EN DASH} 4.00) as long as a typical one at 64 B" in sentence(
        fact, varied(found)
    )


def test_sizes_that_cannot_be_told_are_counted() -> None:
    noise = np.exp(np.random.default_rng(3).normal(0, 1.5, 100))

    def factor(size: int, launch: int) -> float:
        return {8: 5.0, 1024: float(noise[launch]), 65536: 1.0}[size]

    found = evidence(
        [cell(size=size) for size in SIZES],
        typical,
        of=first_takes(factor),
    )
    (fact,) = firsts(found)
    assert [one.bytes for one in fact.longer] == [8]
    assert "longer for certain at 1 of 3 sizes, of these most at 8 B: 5.00 times" in sentence(
        fact, varied(found)
    )


def test_nothing_is_said_of_firsts_that_are_as_the_others_or_not_known() -> None:
    cells = [cell(size=size) for size in SIZES]
    assert list(firsts(evidence(cells, typical, of=first_takes(lambda _size, _launch: 1.0)))) == []
    assert list(firsts(evidence(cells, typical, of=lambda one: replace(one, trial_ns=[])))) == []


def test_one_launch_says_nothing() -> None:
    of = first_takes(lambda _size, _launch: 9.0)
    assert list(firsts(evidence([cell()], typical, launches=[1], of=of))) == []


def test_firsts_that_take_a_little_longer_are_not_worth_saying() -> None:
    assert list(firsts(evidence([cell()], typical, of=first_takes(lambda _size, _launch: 1.02)))) == []


@pytest.mark.truth
def test_one_size_of_many_that_is_longer_by_chance_is_not_told() -> None:
    """Without any effect, of curves of 12 sizes that are looked at few have a size that is told."""
    random = np.random.default_rng(11)
    sizes = tuple(2**power for power in range(12))
    told = sum(bool(list(firsts(_without_effect(sizes, random)))) for _ in range(40))
    assert told <= 4


def _without_effect(sizes: tuple[int, ...], random: np.random.Generator) -> Evidence:
    noise = np.exp(random.normal(0, 0.2, (len(sizes), 7)))

    def factor(size: int, launch: int) -> float:
        return float(noise[sizes.index(size), launch])

    return evidence([cell(size=size) for size in sizes], typical, of=first_takes(factor))
