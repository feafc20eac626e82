"""What all rows of a result rest on is computed once, however many they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.result.records import Done, Imported, Launch
from mpigauge.rows.rows import ResultRecords, rows, startup_s
from tests.made import JOB, PLACE, campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.result.reader import Result

LAUNCHES = 4


class Counted(list[object]):
    """A list that knows how often somebody went through it, or looked whether something is in it."""

    passes = 0

    def __iter__(self) -> Iterator[object]:
        """One more."""
        self.passes += 1
        return super().__iter__()

    def __contains__(self, item: object) -> bool:
        """One more."""
        self.passes += 1
        return super().__contains__(item)


def passes_with(cells: int) -> int:
    """How often the records of launches were gone through for the rows of so many cells."""
    of = [cell(size=size) for size in range(1, cells + 1)]
    visits = [visit(number, 0, one, [200] * 9) for number in range(1, LAUNCHES + 1) for one in of[::2]]
    done = [Done(number, JOB, 1.0, tuple(of[1::2])) for number in range(1, LAUNCHES + 1)]
    result = result_of(campaign(*of), *map(launch, range(1, LAUNCHES + 1)), *visits, *done)
    result.imported = [Imported(one, 1e-6) for one in of[1:3]]
    counted = [
        Counted(getattr(result, name)) for name in ("launches", "done", "failures", "eager", "imported")
    ]
    result.launches, result.done, result.failures, result.eager, result.imported = counted  # type: ignore[assignment]
    assert len(rows(result)) == cells
    return sum(one.passes for one in counted)


def test_records_are_gone_through_as_often_for_many_cells_as_for_few() -> None:
    assert passes_with(40) == passes_with(4)


def result() -> Result:
    """Three launches of two cells; one has no time in two of them, whose parts each say so."""
    of = [cell(size=8), cell(size=64)]
    places = tuple(replace(PLACE, clock_cost_ns=cost) for cost in (10, 20, 60))
    launches: list[Launch] = [replace(launch(number), ranks_at=places) for number in (1, 2, 3)]
    again = replace(launch(3, 2), ranks_at=places, startup_s=1.0)
    late = [Done(number, JOB, 1.0, (of[1],)) for number in (1, 1, 2)]
    return result_of(campaign(*of), *launches, again, *late)


def test_launches_are_counted_by_number_not_by_part() -> None:
    records = ResultRecords(result(), "median")
    assert records.launches_made == {JOB: 3}
    assert records.launches_skipped == {cell(size=64): 2}
    assert records.clock_cost_s == pytest.approx(20e-9)


def test_a_launch_costs_its_mean_start_the_parts_included() -> None:
    assert startup_s(result().launches) == pytest.approx((3 * 0.2 + 1.0) / 4)
