"""Lines of doubt: what a launch did is said once, neighbouring sizes are folded, the worst cell speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.find.findings import doubt_lines
from mpigauge.rows.odd_launches import odd_launches
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, collective, launches_of, measured, result_of, together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result

SIZES = [8, 64, 512, 4096, 32768]
CELLS = [cell(size=size) for size in SIZES]


def law(factor: Callable[[Cell, int], float], cells: Sequence[Cell] = CELLS) -> Result:
    """Ten launches that differ by 1 %, times a factor of a cell in a launch."""
    generator = np.random.default_rng(3)

    def samples_ns(of: Cell, number: int) -> list[int]:
        middle = 100_000 * factor(of, number) * np.exp(generator.normal(0, 0.01))
        return [round(value) for value in middle * np.exp(generator.normal(0, 0.01, 40))]

    numbers = range(1, 11)
    return result_of(campaign(*cells), *launches_of(cells, numbers), *measured(cells, numbers, samples_ns))


def said(result: Result) -> list[str]:
    """All lines but that these results have no last line."""
    lines = [line.text for line in doubt_lines(result, rows(result))]
    return [line for line in lines if not line.startswith("cut short")]


def test_nothing_is_said_where_nothing_is_wrong() -> None:
    assert said(law(lambda *_: 1.0)) == []


def test_what_a_launch_did_as_a_whole_is_one_line() -> None:
    result = law(lambda _, number: 1.8 if number == 7 else 1.0)
    (line,) = [line for line in said(result) if line.startswith("outlier")]
    assert "launch 7 of Open MPI 5.0.11, 2 ranks took 1." in line
    assert "in 5 of 5 numbers" in line
    (odd,) = odd_launches(result, rows(result))
    assert odd.factor == pytest.approx(1.8, rel=0.03)
    assert odd.least <= odd.factor <= odd.most


def test_a_launch_that_is_odd_in_one_cell_is_said_of_that_cell() -> None:
    result = law(lambda of, number: 1.8 if number == 7 and of.bytes == 64 else 1.0)
    assert odd_launches(result, rows(result)) == []
    (line,) = [line for line in said(result) if line.startswith("outlier")]
    assert "pingpong, 64 B: launch 7 took 1." in line


def test_neighbouring_sizes_are_a_range_and_the_worst_cell_speaks() -> None:
    shares = {8: 0.1, 64: 0.3, 512: 0.2, 4096: 0.0, 32768: 0.4}
    cells = [collective("bcast", size) for size in SIZES]
    visits = [
        together(number, place, of, [1000] * 30, skew_ns=[round(1000 * shares[of.bytes])] * 30)
        for number in range(1, 7)
        for place, of in enumerate(cells)
    ]
    result = result_of(campaign(*cells), *launches_of(cells, range(1, 7)), *visits)
    (line,) = [line for line in said(result) if line.startswith("start-skew")]
    assert "bcast up to 512 B and at 32 KiB (4 numbers, 10 % to 40 %); bcast, 32 KiB: " in line
    assert "started 400 ns apart" in line


def test_what_has_no_size_is_named_without_one() -> None:
    barrier = collective("barrier")
    visits = [together(number, 0, barrier, [1000] * 30, skew_ns=[300] * 30) for number in range(1, 7)]
    result = result_of(campaign(barrier), *launches_of([barrier], range(1, 7)), *visits)
    (line,) = [line for line in said(result) if line.startswith("start-skew")]
    assert line.startswith("start-skew: barrier: the ranks started")


@pytest.mark.parametrize(("names", "more"), [(5, "2 more curves"), (4, "1 more curve")])
def test_many_curves_are_counted(names: int, more: str) -> None:
    patterns = ("bcast", "allreduce", "reduce", "scatter", "gather")
    cells = [collective(pattern, 8) for pattern in patterns[:names]]
    visits = [
        together(number, place, of, [1000] * 30, skew_ns=[300] * 30)
        for number in range(1, 7)
        for place, of in enumerate(cells)
    ]
    result = result_of(campaign(*cells), *launches_of(cells, range(1, 7)), *visits)
    (line,) = [line for line in said(result) if line.startswith("start-skew")]
    assert f"; {more} ({names} numbers); " in line
