"""What the instrument promises of times, and that no interval is narrower."""

from __future__ import annotations

import math

import pytest

from mpigauge.rows.estimate import Estimate
from mpigauge.rows.rows import promised_of, rows
from mpigauge.stats.limits import PROMISED, by_clock_speeds
from tests.made import campaign, cell, launch, result_of, visit

SHORT_S = 50e-9


@pytest.mark.parametrize(
    ("pattern", "time_s", "share"),
    [
        ("put", 20e-9, 0.1),
        ("fetch_and_op", SHORT_S, 0.1),
        ("put-window", 100e-9, 0.05),
        ("put", 1e-6, PROMISED),
        ("pingpong", SHORT_S, PROMISED),
        ("memcpy", SHORT_S, PROMISED),
        ("put", 0.0, PROMISED),
    ],
)
def test_a_short_one_sided_operation_is_good_to_some_nanoseconds(
    pattern: str, time_s: float, share: float
) -> None:
    assert promised_of(cell(pattern, 8), time_s) == pytest.approx(share, rel=0.15)


def test_no_interval_of_a_short_one_sided_operation_is_narrower() -> None:
    of = cell("put", 8, "flush", rma_window="allocate")
    visits = [visit(number, place, of, [50] * 20) for number in range(1, 9) for place in range(4)]
    (row,) = rows(result_of(campaign(of), *map(launch, range(1, 9)), *visits))
    assert isinstance(row.time, Estimate)
    assert row.time.half_width is not None
    assert 0.1 < math.log1p(row.time.half_width) < 0.15


@pytest.mark.parametrize(("promised", "by_cores"), [(PROMISED, True), (0.1, False)])
def test_what_the_instrument_cannot_promise_is_not_blamed_on_the_cores(
    promised: float, by_cores: bool
) -> None:
    width = math.expm1(math.hypot(0.02, 0.1))
    assert by_clock_speeds(width, promised) is by_cores
