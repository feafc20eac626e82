"""Tests of times that try again: a quiet moment is enough, a fault of ours is none."""

from typing import Any

import pytest

from tests.real.moments import MOMENTS, at_a_quiet_moment, of_main_state


@pytest.mark.parametrize("busy", range(MOMENTS + 2))
def test_one_quiet_moment_is_enough_and_none_is_a_failure(busy: int) -> None:
    tried: list[int] = []

    @at_a_quiet_moment
    def compares() -> None:
        tried.append(len(tried))
        assert len(tried) > busy, "slower"

    if busy < MOMENTS:
        compares()
    else:
        with pytest.raises(AssertionError, match="slower"):
            compares()
    assert len(tried) == min(busy + 1, MOMENTS)


def test_what_is_no_comparison_is_not_tried_again() -> None:
    tried: list[int] = []

    @at_a_quiet_moment
    def crashes() -> None:
        tried.append(1)
        raise KeyError("no such cell")

    with pytest.raises(KeyError):
        crashes()
    assert tried == [1]


def row(bytes_: int, state: str | None) -> dict[str, Any]:
    """Of JSON, as far as it matters."""
    return {"pattern": "pingpong", "bytes": bytes_, "state": state, "status": "ok"}


def test_a_cell_that_the_main_state_has_not_met_is_of_another() -> None:
    states = [{"name": "near", "time_share": 0.3}, {"name": "far", "time_share": 0.7}]
    rows = [row(8, "near"), row(8, "far"), row(64, "near"), row(0, None)]
    found = of_main_state({"states": states, "rows": rows})
    assert sorted((one["bytes"], one["state"]) for one in found) == [(0, None), (8, "far"), (64, "near")]
    assert of_main_state({"states": [], "rows": [row(8, None)]}) == [row(8, None)]
