"""Numbers against what is expected of them: the interval decides, whatever the number."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.analysis.estimate import Timing
from mpigauge.analysis.expectations import Judged, judged
from mpigauge.plan.expectations import parse

BELOW, ABOVE = parse("pingpong latency < 2us"), parse("pingpong bandwidth > 1GB/s")


def row(estimate_s: float, low_s: float | None, high_s: float | None, rate: float | None = None) -> Any:
    time = Timing(estimate=estimate_s, low=low_s, high=high_s, launches=5)
    return SimpleNamespace(time=time, rate_bytes_per_s=rate, bus_bytes_per_s=None)


def row_without_time() -> Any:
    return SimpleNamespace(time=None)


@pytest.mark.parametrize(
    ("low_us", "high_us", "verdict"),
    [(1.0, 1.9, "holds"), (1.9, 2.1, "undecided"), (2.1, 3.0, "fails"), (1.0, 2.0, "undecided")],
)
def test_a_bound_within_the_interval_decides_nothing(low_us: float, high_us: float, verdict: str) -> None:
    one = judged(BELOW, row((low_us + high_us) / 2e6, low_us / 1e6, high_us / 1e6))
    assert one.verdict == verdict


def test_without_an_interval_nothing_holds() -> None:
    for expectation in (BELOW, ABOVE):
        assert judged(expectation, row(1e-9, None, None, rate=1e12)).verdict == "undecided"
        assert judged(expectation, row_without_time()).verdict == "undecided"
        assert Judged(expectation, None).verdict == "undecided"


def test_a_rate_has_the_interval_of_its_time_the_other_way_round() -> None:
    """1 000 bytes in 0.8 to 0.9 to 1.1 microseconds."""
    one = judged(ABOVE, row(0.9e-6, 0.8e-6, 1.1e-6, rate=1000 / 0.9e-6))
    assert one.low == pytest.approx(1000 / 1.1e-6)
    assert one.high == pytest.approx(1000 / 0.8e-6)
    assert one.verdict == "undecided"
    assert judged(ABOVE, row(0.9e-6, 0.8e-6, 0.99e-6, rate=1000 / 0.9e-6)).verdict == "holds"
    assert judged(ABOVE, row(1.2e-6, 1.1e-6, 1.3e-6, rate=1000 / 1.2e-6)).verdict == "fails"


def test_a_number_that_the_cell_does_not_have_is_not_measured() -> None:
    one = judged(parse("pingpong busbw > 1GB/s"), row(1e-6, 0.9e-6, 1.1e-6, rate=1e12))
    assert (one.value, one.verdict) == (None, "undecided")


@given(st.floats(1e-9, 1), st.floats(1e-9, 1), st.floats(1.0001, 2))
def test_what_holds_below_a_bound_fails_above_it(low_s: float, bound_s: float, width: float) -> None:
    measured = row(low_s, low_s, low_s * width)
    below, above = (judged(parse(f"pingpong time {sign} {bound_s!r}s"), measured).verdict for sign in "<>")
    assert {below, above} in ({"holds", "fails"}, {"undecided"})
