"""What became of cells that were not measured."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mpigauge.document.status_words import reason
from mpigauge.result.records import Done, Failure
from mpigauge.rows.rows import rows
from tests.made import JOB, LARGE, SMALL, campaign, launch, result_of, visit


@pytest.mark.parametrize(("budget_s", "words"), [(45.0, "within the budget"), (None, "in its launch")])
def test_a_budget_is_named_only_where_there_is_one(budget_s: float | None, words: str) -> None:
    """Launches without one had a day each, which a large campaign can fill."""
    first = campaign(SMALL, LARGE)
    first = replace(first, plan=replace(first.plan, budget_s=budget_s))
    result = result_of(first, launch(1), visit(1, 0, SMALL, [200] * 9), Done(1, JOB, 90_000.0, (LARGE,)))
    small, large = rows(result)
    assert reason(large) == f"there was no time for it {words}"
    assert reason(small) == ""


@pytest.mark.parametrize("order", [1, -1])
def test_a_payload_that_was_wrong_once_is_never_made_up_for(order: int) -> None:
    """Not by a time of another launch, nor by another kind of failure there."""
    failures = [Failure(2, "corrupt", "wrong", 1, SMALL), Failure(3, "timeout", "late", 1, SMALL)]
    head = [launch(number) for number in (1, 2, 3)]
    result = result_of(campaign(SMALL), *head, visit(1, 0, SMALL, [200] * 9), *failures[::order])
    (row,) = rows(result)
    assert (row.status, row.time) == ("corrupt", None)
