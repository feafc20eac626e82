"""Many launches at once are summarised as each alone, and in as many steps as one."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.rows.within_launch import summarise_launches
from mpigauge.stats import ragged
from mpigauge.stats.ragged import ragged_of
from mpigauge.vocabulary import STATS
from tests.unit.rows.plain_launch import said_of
from tests.unit.rows.planted import autoregressive, lognormal

if TYPE_CHECKING:
    from mpigauge.rows.within_launch import Launch, LaunchSummary
    from mpigauge.stats.percentiles import Values

repeatable = settings(derandomize=True, deadline=None, max_examples=60)
STEPS_S = (0.0, 1e-9, 2e-8)

ROUNDING = 1e-24
"""Of variances: what is left of equal logarithms."""

RELATIVE = 1e-11
"""Of times by FFT, of logarithms that lie close together, and by sums of products."""


def numbers_of(summary: LaunchSummary) -> dict[str, float]:
    return {name: math.nan if value is None else value for name, value in asdict(summary).items()}


@st.composite
def launches(draw: st.DrawFn) -> list[Launch]:
    """Of any shapes: visits of one length or of many, some without rounds; clocks that are coarse."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    found: list[Launch] = []
    for _ in range(draw(st.integers(1, 6))):
        visits = draw(st.integers(1, 8))
        lengths = [draw(st.integers(1, 90))] * visits
        if draw(st.booleans()):
            lengths[1:] = draw(st.lists(st.integers(0, 90), min_size=visits - 1, max_size=visits - 1))
        spread = draw(st.sampled_from((0.001, 0.1, 1.0)))
        times = [draw(st.sampled_from((0.01, 1, 10))) * lognormal(generator, (n,), spread) for n in lengths]
        if draw(st.booleans()):
            times = [np.round(mine, draw(st.sampled_from((8, 9)))) for mine in times]
        steps = draw(st.lists(st.sampled_from(STEPS_S), min_size=visits, max_size=visits))
        found.append((times, steps))
    return found


@repeatable
@given(some=launches(), stat=st.sampled_from(STATS), at_once=st.sampled_from((1, 200, 1 << 15)))
def test_many_launches_are_summarised_as_each_alone(some: list[Launch], stat: str, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "VALUES_AT_ONCE", at_once)
        summaries = list(summarise_launches(some, stat))
    for (visits, steps_s), summary in zip(some, summaries, strict=True):
        known = [(visit, step) for visit, step in zip(visits, steps_s, strict=True) if visit.size]
        plain = said_of([visit for visit, _ in known], stat, [step for _, step in known])
        assert numbers_of(summary) == pytest.approx(plain, rel=RELATIVE, abs=ROUNDING, nan_ok=True)


def test_launches_that_depend_on_their_past_are_summarised_as_each_alone() -> None:
    generator = np.random.default_rng(3)
    some: list[Launch] = [(autoregressive(generator, 6, 150, memory), ()) for memory in (0.0, 0.5, 0.9, 0.99)]
    for (visits, _), summary in zip(some, summarise_launches(some), strict=True):
        plain = said_of(visits, "median", [0.0] * len(visits))
        assert numbers_of(summary) == pytest.approx(plain, rel=1e-12, nan_ok=True)


def test_as_many_steps_are_made_of_a_hundred_launches_as_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    rfft = np.fft.rfft

    def counted(stack: Values, length: int, axis: int) -> object:
        made.append(len(stack))
        return rfft(stack, length, axis)

    monkeypatch.setattr(np.fft, "rfft", counted)
    visits = list(lognormal(np.random.default_rng(4), (8, 25)))
    for count in (1, 100):
        made.clear()
        assert len(list(summarise_launches([(visits, ())] * count))) == count
        assert made == [8 * count]


def test_parts_are_put_in_order_each_by_itself() -> None:
    generator = np.random.default_rng(5)
    arrays = [generator.normal(size=length) for length in (3, 1, 8, 3, 5)]
    ordered = ragged_of(arrays).ascending()
    assert all(np.array_equal(np.sort(one), part) for one, part in zip(arrays, ordered.arrays(), strict=True))
    assert ordered.medians() == pytest.approx([float(np.median(one)) for one in arrays])
    assert ordered.percentiles(25) == pytest.approx([float(np.percentile(one, 25)) for one in arrays])
    assert ordered.centred() == pytest.approx(np.concatenate([np.sort(one) - one.mean() for one in arrays]))
    stacked = {int(place) for mine, _ in ordered.stacks() for place in mine}
    assert stacked == set(range(len(arrays)))
