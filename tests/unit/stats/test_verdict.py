"""One rule for slower and faster, of one ratio as of many: beyond chance, by the margin, and turned over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.rows.ratios import ratio_of, verdict_of
from mpigauge.stats.decision import MARGIN, Ratio, Thresholds, bounds, decide
from mpigauge.stats.max_t import Paired

repeatable = settings(derandomize=True, deadline=None)
OPPOSITE = {"slower": "faster", "faster": "slower", "same": "same", "undecided": "undecided"}

seeds = st.integers(0, 2**20)
shifts = st.floats(-0.3, 0.3)
spreads = st.floats(0.001, 0.2)
counts = st.integers(5, 20)


def ratio(seed: int, count: int, shift: float, spread: float) -> Ratio:
    """Of launches that differ by chance."""
    logs = shift + spread * np.random.default_rng(seed).normal(size=count)
    found = ratio_of(dict(enumerate(np.exp(logs).tolist())), dict.fromkeys(range(count), 1.0), paired=True)
    assert found is not None
    return found


@repeatable
@given(seeds, counts, shifts, spreads)
def test_what_is_slower_excludes_1_and_is_beyond_the_margin(
    seed: int, count: int, shift: float, spread: float
) -> None:
    one = ratio(seed, count, shift, spread)
    assert one.low is not None
    assert one.high is not None
    assert one.low <= one.estimate <= one.high
    if one.verdict == "slower":
        assert one.low > 1
        assert one.estimate >= 1 + MARGIN
    assert one.small == (not one.low <= 1 <= one.high and 1 / (1 + MARGIN) < one.estimate < 1 + MARGIN)


@repeatable
@given(seeds, counts, shifts, spreads)
def test_a_ratio_turned_over_has_the_opposite_verdict(
    seed: int, count: int, shift: float, spread: float
) -> None:
    one = ratio(seed, count, shift, spread)
    assert one.turned.verdict == OPPOSITE[one.verdict]
    assert one.turned.turned.estimate == pytest.approx(one.estimate)


@repeatable
@given(seeds, counts, shifts, spreads)
def test_one_ratio_is_what_a_comparison_of_one_cell_says(
    seed: int, count: int, shift: float, spread: float
) -> None:
    one = ratio(seed, count, shift, spread)
    logs = shift + spread * np.random.default_rng(seed).normal(size=count)
    (other,) = decide(Paired(np.log(np.exp(logs))[:, None], np.zeros(1)), Thresholds())
    assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high))
    assert (one.verdict, one.small) == (other.verdict, other.small)


@pytest.mark.parametrize("none", [None, Ratio(2.0, None, None, 1)])
def test_without_an_interval_nothing_is_decided(none: Ratio | None) -> None:
    assert verdict_of(none) == "undecided"


def test_below_five_launches_there_is_an_interval_and_no_word() -> None:
    few = ratio_of({1: 2.0, 2: 2.01, 3: 2.02, 4: 2.0}, dict.fromkeys(range(1, 5), 1.0), paired=True)
    assert few is not None
    assert few.low is not None
    assert few.low > 1.9
    assert few.verdict == "undecided"


def test_the_margin_is_as_far_from_1_on_both_sides() -> None:
    least, most = bounds()
    assert most == 1 + MARGIN
    assert least * most == pytest.approx(1)
