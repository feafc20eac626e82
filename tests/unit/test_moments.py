"""Tests of times that try again: a quiet moment is enough, a fault of ours is none."""

import pytest

from tests.real.moments import MOMENTS, at_a_quiet_moment


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
