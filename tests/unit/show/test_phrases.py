"""Phrases of cells: how many ranks work, and what is near or far."""

from __future__ import annotations

from typing import Any

import pytest

from mpigauge.document.phrases import phrases_of, state_phrase, state_suffix
from mpigauge.rows.group import STATE, Subject
from tests.made import cell


@pytest.mark.parametrize(
    ("more", "phrase"),
    [
        ({"ranks": 4}, "4 ranks"),
        ({"ranks": 5}, "4 of 5 ranks"),
        ({"ranks": 5, "order": "random:1", "group": "4,1,0,2,3"}, "4 of 5 ranks"),
        ({"ranks": 5, "senders": 1, "group": "0,2"}, "5 ranks"),
        ({"ranks": 6, "group": "0-2"}, "2 of 6 ranks"),
    ],
)
def test_a_rank_rests_where_those_that_take_part_are_odd(more: dict[str, Any], phrase: str) -> None:
    assert phrases_of(cell("multi-pingpong", **more))["ranks"] == phrase


@pytest.mark.parametrize(
    ("placement", "what"),
    [
        ("same-host", "cores"),
        ("h1,h1", "cores"),
        ("h1,h1,h2,h2", "cores"),
        ("h1,h2", "hosts"),
        ("different-hosts", "hosts"),
    ],
)
def test_a_state_says_what_is_far(placement: str, what: str) -> None:
    """Of ranks that share a host it is their cores, whose cache line was handed over."""
    far = Subject(cell(placement=placement), "far")
    assert state_phrase(far) == {STATE: f"{what} far"}
    assert state_suffix(far) == f", {what} far"
    assert state_phrase(Subject(far.cell)) == {}
