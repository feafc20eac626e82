"""Ratios and verdicts in words: the whole interval decides, and its digits are said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.compare.size_ratio import SizeRatio, SizeRun
from mpigauge.document.ratio_words import times_words, verdict_words
from mpigauge.find.phrases import runs_words
from mpigauge.stats.decision import Ratio
from tests.made import cell

if TYPE_CHECKING:
    from mpigauge.vocabulary import Verdict


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


def stretch(verdict: Verdict, *sizes: int) -> SizeRun:
    """Neighbouring sizes of one verdict, of 10 launches, of which 13 would tell where nobody can tell yet."""
    ratio = Ratio(1.0, 0.98, 1.02, 10, needed=13)
    return SizeRun(
        verdict, tuple(SizeRatio(size, 1e-6, 1e-6, ratio, -1e-8, 1e-8, verdict, False) for size in sizes)
    )


SAME, OPEN = "no difference (within 3 %)", "undecided (about 13 launches would tell)"


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([stretch("same", 8, 16)], f"{SAME} at both sizes"),
        (
            [stretch("same", 8), stretch("undecided", 16), stretch("same", 32)],
            f"{SAME} at 2 of 3 sizes, {OPEN} at 16 B",
        ),
        (
            [stretch("same", 8, 16), stretch("undecided", 32, 64)],
            f"{SAME} at 2 of 4 sizes, {OPEN} at the others",
        ),
        ([stretch("undecided", 8, 16), stretch("same", 32)], f"{OPEN} at 2 of 3 sizes, {SAME} at 32 B"),
    ],
)
def test_what_is_said_of_all_sizes_holds_at_all_of_them(runs: list[SizeRun], said: str) -> None:
    assert runs_words(runs, cell()) == said
