"""Messages in copies of their size: between which measured sizes they fall below a limit, and the least."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.find.explain.copies import PIPELINED, copies, cost_findings, headline, sentence
from mpigauge.find.explain.evidence import Evidence
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.rows import rows
from mpigauge.units import format_size
from tests.made import campaign, cell, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.find.explain.copies import Copies
    from mpigauge.plan.model import Cell

SIZES = [2**power for power in range(3, 24, 2)]
LAUNCHES = range(1, 9)
STEEP = 0.3
FIRST = 64.0
TURN = 2**17
"""A size that is measured."""


def falling(size: float) -> float:
    """Copies by a power of the size, which is a straight line in logarithms: 8 B cost 64."""
    return FIRST * math.exp(-STEEP * math.log(size / SIZES[0]))


def size_at(ratio: float) -> float:
    """Where it is so many."""
    return float(SIZES[0] * (FIRST / ratio) ** (1 / STEEP))


def copies_of(
    ratio: Callable[[int], float], *, spread: float = 0.01, seed: int = 7, stick: str = "memcpy_ratio"
) -> Copies:
    """What is found where a message takes so many times as long as a copy of its size."""
    random = np.random.default_rng(seed)
    pattern, mode = YARDSTICKS[stick]
    cells = [cell(size=size) for size in SIZES] + [cell(pattern, size, mode) for size in SIZES]

    def samples(of: Cell, _launch: int) -> list[int]:
        times = 1.0 if of.pattern == pattern else ratio(of.bytes)
        return 30 * [round(2000 * math.sqrt(of.bytes) * times * math.exp(random.normal(0, spread)))]

    made = result_of(campaign(*cells), *measured(cells, LAUNCHES, samples))
    (fact,) = copies(Evidence(made, rows(made)))
    return fact


def test_a_ratio_falls_below_a_limit_between_two_sizes_that_were_measured() -> None:
    fact = copies_of(falling)
    assert fact.first.ratio.estimate == pytest.approx(FIRST, rel=0.03)
    assert [one.copies for one in fact.below] == [10, 2]
    for one in fact.below:
        assert {one.above_bytes, one.from_bytes} <= set(SIZES)
        assert one.above_bytes < size_at(one.copies) < one.from_bytes
        assert SIZES.index(one.from_bytes) == SIZES.index(one.above_bytes) + 1
        assert one.rises_bytes is None
    assert fact.never is None
    text = sentence(fact, set())
    assert text.startswith("pingpong / memcpy: 6")
    assert " copies (" in text
    above, first = (format_size(size) for size in (fact.below[0].above_bytes, fact.below[0].from_bytes))
    assert f"; below 10 between {above} and {first}; " in text
    assert text.startswith(headline(fact, set()))


def test_a_step_between_coarse_sizes_is_not_placed_inside_them() -> None:
    """A cache that ends at 24 KiB, and copies measured at factors of four: truth lies in between."""
    fact = copies_of(lambda size: 20.0 if size <= 24 * 2**10 else 5.0)
    (ten,) = fact.below
    assert (ten.above_bytes, ten.from_bytes) == (2**13, 2**15)
    assert "between 8 KiB and 32 KiB" in sentence(fact, set())


def test_it_is_below_from_a_size_on_that_was_measured_as_tables_say_it() -> None:
    """One number of one file on every screen: that of `show` and that of `explain`."""
    cells = [cell(size=size) for size in SIZES] + [cell("memcpy", size) for size in SIZES]

    def samples(of: Cell, launch: int) -> list[int]:
        times = 1.0 if of.pattern == "memcpy" else falling(of.bytes)
        return 30 * [round(2000 * math.sqrt(of.bytes) * times * (1 + launch / 1000))]

    found = rows(made := result_of(campaign(*cells), *measured(cells, LAUNCHES, samples)))
    (fact,) = copies(Evidence(made, found))
    (cost,) = cost_findings(found, set())
    assert {one.copies: one.from_bytes for one in fact.below} == dict(cost.value["below"])
    assert cost.text == headline(fact, set())


def test_out_of_caches_it_rises_again() -> None:
    """As ratios do where messages no longer fit a cache: below two between two sizes alone."""
    fact = copies_of(lambda size: 1.2 * max(size / TURN, TURN / size) ** 0.5)
    below = {one.copies: one for one in fact.below}
    reach = (2 / 1.2) ** 2
    inside = [size for size in SIZES if TURN / reach < size < TURN * reach]
    assert (below[2].from_bytes, below[2].upto_bytes) == (inside[0], inside[-1])
    assert below[2].rises_bytes == next(size for size in SIZES if size > inside[-1])
    begin = f"between {format_size(below[2].above_bytes)} and {format_size(inside[0])}"
    assert f"below 2 {begin} up to {format_size(inside[-1])}" in sentence(fact, set())


def test_never_below() -> None:
    fact = copies_of(lambda _: 15.0)
    assert (fact.below, fact.never) == ((), 10)
    assert "below 10 at no size up to 8 MiB" in sentence(fact, set())
    assert "below 2" not in sentence(fact, set())


def test_undecided_is_neither_below_nor_never() -> None:
    fact = copies_of(lambda size: 3.0 if size > SIZES[0] else 5.0)
    assert (fact.below, fact.never) == ((), 2)
    wide = copies_of(lambda size: 2.0 if size > SIZES[0] else 5.0, spread=0.3)
    assert wide.never is None


def test_less_than_one_copy_is_explained() -> None:
    fact = copies_of(lambda size: falling(size) / 4, stick="kappa")
    assert fact.name == "kappa"
    assert fact.least.ratio.high is not None
    assert fact.least.ratio.high < 1
    assert PIPELINED in sentence(fact, set())
    assert PIPELINED not in sentence(copies_of(falling), set())


def test_messages_and_copies_have_times() -> None:
    first = copies_of(falling).first
    assert first.copy_s is not None
    assert first.message_s / first.copy_s == pytest.approx(first.ratio.estimate, rel=0.02)


def test_one_launch_says_nothing() -> None:
    cells = [cell(size=size) for size in SIZES] + [cell("memcpy", size) for size in SIZES]
    made = result_of(campaign(*cells), *measured(cells, [1], lambda *_: [1000] * 30))
    assert list(copies(Evidence(made, rows(made)))) == []


def test_a_largest_size_that_may_be_above_is_not_below_for_certain() -> None:
    fact = copies_of(
        lambda size: 20.0 if size == SIZES[0] else 1.95 if size == SIZES[-1] else 1.0, spread=0.2
    )
    (_, two) = fact.below
    assert two.from_bytes == two.certain_bytes == SIZES[1]
    assert (two.certain_upto_bytes, two.upto_bytes) == (SIZES[-2], SIZES[-1])
    certain = f"(for certain up to {format_size(SIZES[-2])})"
    begin = f"between {format_size(SIZES[0])} and {format_size(SIZES[1])}"
    assert f"below 2 {begin} {certain}" in sentence(fact, set())
