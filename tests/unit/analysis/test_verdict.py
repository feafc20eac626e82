"""One rule for slower and faster: the whole interval decides, and a ratio turned over is the opposite."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.analysis.ratios import Ratio
from mpigauge.analysis.verdict import MARGIN, bounds, is_small, verdict
from mpigauge.vocabulary import VERDICTS

repeatable = settings(derandomize=True, deadline=None)

ends = st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)).map(sorted)
near = st.tuples(st.floats(0.9, 1.1), st.floats(0.9, 1.1)).map(sorted)
margins = st.floats(0.001, 2.0)
OPPOSITE = {"slower": "faster", "faster": "slower", "same": "same", "undecided": "undecided"}


def ratio(low: float, high: float) -> Ratio:
    """A ratio with this interval."""
    return Ratio((low * high) ** 0.5, low, high, 5)


@repeatable
@given(ends | near, margins)
def test_slower_and_faster_are_said_of_every_interval_without_1_and_of_no_other(
    interval: list[float], margin: float
) -> None:
    low, high = interval
    word = verdict(ratio(low, high), margin)
    assert word in VERDICTS
    assert (word == "slower") == (low > 1)
    assert (word == "faster") == (high < 1)


@repeatable
@given(ends | near, margins)
def test_the_same_is_what_contains_1_within_the_margin(interval: list[float], margin: float) -> None:
    low, high = interval
    within = low >= 1 / (1 + margin) and high <= 1 + margin
    assert (verdict(ratio(low, high), margin) == "same") == (low <= 1 <= high and within)
    assert is_small(ratio(low, high), margin) == within


@repeatable
@given(ends | near)
def test_a_ratio_turned_over_has_the_opposite_verdict(interval: list[float]) -> None:
    low, high = interval
    assert verdict(ratio(1 / high, 1 / low)) == OPPOSITE[verdict(ratio(low, high))]


@repeatable
@given(ends | near, margins, margins)
def test_a_wider_margin_only_decides_more(interval: list[float], margin: float, other: float) -> None:
    less, more = sorted([margin, other])
    word = verdict(ratio(*interval), less)
    assert verdict(ratio(*interval), more) in {word, "same" if word == "undecided" else word}


@pytest.mark.parametrize("none", [None, Ratio(2.0, None, None, 1)])
def test_without_an_interval_nothing_is_decided(none: Ratio | None) -> None:
    assert verdict(none) == "undecided"
    assert not is_small(none)


def test_the_margin_is_as_far_from_1_on_both_sides() -> None:
    least, most = bounds()
    assert most == 1 + MARGIN
    assert least * most == pytest.approx(1)
