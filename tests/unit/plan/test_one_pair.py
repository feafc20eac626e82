"""Patterns of several pairs at once with ranks for one: that is said, and with what more."""

from __future__ import annotations

import pytest

from mpigauge.plan.one_pair import one_pair, one_pair_sentence
from mpigauge.plan.patterns import known
from tests.made import cell


@pytest.mark.parametrize(
    ("ranks", "alone"),
    [
        ((2,), {"stream": ("multi-stream", "incast"), "pingpong": ("multi-pingpong",)}),
        ((3,), {"stream": ("multi-stream",), "pingpong": ("multi-pingpong",)}),
        ((2, 4), None),
        ((4,), None),
    ],
)
def test_several_pairs_are_one_where_no_job_has_ranks_for_two(
    ranks: tuple[int, ...], alone: dict[str, tuple[str, ...]] | None
) -> None:
    names = ("pingpong", "multi-stream", "multi-pingpong", "incast")
    cells = [cell(name, 8, known()[name].modes[0].name, ranks=each) for each in ranks for name in names]
    assert [one.alone for one in one_pair(cells, known())] == [alone] * (alone is not None)


def test_it_is_told_what_they_measure() -> None:
    cells = [cell(name, 8, known()[name].modes[0].name) for name in ("multi-stream", "incast", "outcast")]
    cells.append(cell("multi-pingpong", 8, "standard"))
    assert one_pair_sentence(cells, known()) == (
        "the ranks are one pair: multi-stream, incast and outcast measure what stream does, "
        "multi-pingpong what pingpong does; use --np 4 or more"
    )
    assert one_pair_sentence(cells[-1:], known()).partition(": ")[2].startswith("multi-pingpong measures")
    assert one_pair_sentence([cell("pingpong", 8, "standard")], known()) == ""
