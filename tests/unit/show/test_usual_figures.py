"""The usual figure of a result: what was varied chooses its kind."""

from __future__ import annotations

import pytest

from mpigauge.show.figures.usual import usual_kinds
from tests.unit.show.test_figure_layout import source


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("placements", "placements"),
        ("ring", "ranks"),
        ("parts", "parts"),
        ("map", "map"),
        ("wan", "overview"),
    ],
)
def test_what_was_varied_chooses_the_kind(name: str, kind: str) -> None:
    assert usual_kinds([source(name, None)], whole=True)[0] == kind


def test_a_part_of_a_map_is_no_map() -> None:
    assert "map" not in usual_kinds([source("map", None)], whole=False)
