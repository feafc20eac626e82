"""Ratios and verdicts in words: the whole interval decides, and its digits are said."""

from __future__ import annotations

import pytest

from mpigauge.analysis.ratios import Ratio
from mpigauge.analysis.verdict import verdict
from mpigauge.show.words.ratios import times, verdict_words


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (1.06, 3.0, "slower"),
        (0.2, 0.9, "faster"),
        (0.97, 1.04, "no difference (within 5 %)"),
        (0.9, 1.2, "undecided"),
        (1.01, 1.2, "slower"),
        (1.01, 1.03, "slower, but by less than 5 %"),
        (None, None, "undecided"),
    ],
)
def test_a_verdict_needs_the_whole_interval(low: float | None, high: float | None, word: str) -> None:
    ratio = Ratio(1.1, low, high, 5)
    assert verdict_words(verdict(ratio), ratio) == word


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Ratio(1.0034, 1.0025, 1.0043, 9), "1.0034 times (1.0025 \N{EN DASH} 1.0043)"),
        (Ratio(1.034, 0.98, 1.09, 9), "1.03 times (0.980 \N{EN DASH} 1.09)"),
        (Ratio(20.2, 17.7, 23.1, 9), "20.2 times (17.7 \N{EN DASH} 23.1)"),
        (Ratio(2.0, None, None, 1), "2.00 times"),
    ],
)
def test_near_1_a_ratio_has_the_digits_of_its_interval(ratio: Ratio, said: str) -> None:
    assert times(ratio) == said
