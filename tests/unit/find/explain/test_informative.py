"""Intervals that leave a factor open are not told."""

from __future__ import annotations

import math

import pytest

from mpigauge.find.explain.evidence import is_informative
from mpigauge.stats.decision import Ratio


@pytest.mark.parametrize(
    ("ratio", "worth"),
    [
        (Ratio(2.0, 1.5, 2.5, 5), True),
        (Ratio(2.0, 0.3, 13.0, 3), True),
        (Ratio(2.0, 0.1, 40.0, 2), False),
        (Ratio(2.0, 0.0, 3.0, 2), False),
        (Ratio(2.0, 1.0, math.inf, 2), False),
        (Ratio(2.0, None, None, 1), False),
        (None, False),
    ],
)
def test_informative(ratio: Ratio | None, worth: bool) -> None:
    assert is_informative(ratio) is worth
