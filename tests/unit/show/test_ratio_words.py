"""Ratios and verdicts in words: the whole interval decides, and its digits are said."""

from __future__ import annotations

import pytest

from mpigauge.document.ratio_words import times_words, verdict_words
from mpigauge.stats.decision import Ratio


def test_no_difference_says_within_what() -> None:
    assert verdict_words("same") == "no difference (within 3 %)"
    assert verdict_words("slower") == "slower"


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
    assert times_words(ratio) == said
