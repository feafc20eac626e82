"""Phrases of cells: how many ranks work."""

from __future__ import annotations

from typing import Any

import pytest

from mpigauge.document.phrases import phrases_of
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
