"""Tests that measure are tried again, and tell their ratios."""

from typing import Any

import pytest

from tests import truth
from tests.real.states import of_main_state


@pytest.fixture
def ratios(monkeypatch: pytest.MonkeyPatch) -> list[truth.Ratio]:
    """A table of ratios of this test alone."""
    found: list[truth.Ratio] = []
    monkeypatch.setattr(truth, "RATIOS", found)
    monkeypatch.setattr(truth, "TRIED", {})
    return found


@pytest.mark.parametrize("busy", range(truth.TRIES + 2))
def test_one_quiet_moment_is_enough_and_none_is_a_failure(ratios: object, busy: int) -> None:
    tried: list[int] = []

    @truth.truth
    def compares() -> None:
        tried.append(len(tried))
        assert len(tried) > busy, "slower"

    if busy < truth.TRIES:
        compares()
    else:
        with pytest.raises(AssertionError, match="slower"):
            compares()
    assert len(tried) == min(busy + 1, truth.TRIES)


def test_what_is_no_comparison_is_not_tried_again(ratios: object) -> None:
    tried: list[int] = []

    @truth.truth
    def crashes() -> None:
        tried.append(1)
        raise KeyError("no such cell")

    with pytest.raises(KeyError):
        crashes()
    assert tried == [1]


def test_the_table_has_the_last_try_of_each_ratio(ratios: list[truth.Ratio]) -> None:
    measured = iter([1.3, 1.02])

    @truth.truth
    def compares() -> None:
        truth.check("found / planted", next(measured), above=0.95, below=1.05)
        truth.check("at most the link", 0.9, below=1.0)

    compares()
    heading, *lines = truth.table(ratios)
    assert heading.split() == ["ratio", "bounds", "tries", "what"]
    assert [line.split()[0] for line in lines] == ["1.020", "0.900"]
    assert ["0.95 to 1.05" in lines[0], "< 1 " in lines[1]] == [True, True]
    assert not any("FAILED" in line for line in lines)


def test_a_ratio_out_of_its_bounds_fails_and_is_in_the_table(ratios: list[truth.Ratio]) -> None:
    with pytest.raises(AssertionError, match=r"found / planted: 1\.3 is not between 0\.95 and 1\.05"):
        truth.check("found / planted", 1.3, above=0.95, below=1.05)
    assert next(line for line in truth.table(ratios) if "planted" in line).endswith("FAILED")


def test_without_ratios_there_is_no_table() -> None:
    assert list(truth.table([])) == []


def row(bytes_: int, state: str | None) -> dict[str, Any]:
    """Of JSON, as far as it matters."""
    return {"pattern": "pingpong", "bytes": bytes_, "state": state, "status": "ok"}


def test_a_cell_that_the_main_state_has_not_met_is_of_another() -> None:
    states = [{"name": "near", "time_share": 0.3}, {"name": "far", "time_share": 0.7}]
    rows = [row(8, "near"), row(8, "far"), row(64, "near"), row(0, None)]
    found = of_main_state({"states": states, "rows": rows})
    assert sorted((one["bytes"], one["state"]) for one in found) == [(0, None), (8, "far"), (64, "near")]
    assert of_main_state({"states": [], "rows": [row(8, None)]}) == [row(8, None)]
