"""Labels at the ends of curves: near them, apart from each other, and a legend where they do not fit."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from mpigauge.show.figures.end_labels import LABEL, SAMPLE, label_ends, spread
from mpigauge.show.figures.style import style
from tests.unit.show.test_figure_layout import box, faults, overlap

if TYPE_CHECKING:
    from collections.abc import Sequence

STYLE: Any = {"color": "black", "marker": "o", "linestyle": "-", "markerfacecolor": "black"}


def drawn(ends: Sequence[tuple[float, float]], width_in: float = 6.4) -> tuple[Figure, Any]:
    """Curves from (0, 0) to these ends, on axes from 0 to 1."""
    whole = Figure(figsize=(width_in, 3), layout="constrained")
    FigureCanvasAgg(whole)
    axes = whole.add_subplot()
    for number, end in enumerate(ends):
        (points,) = axes.plot(*zip((0, 0), end, strict=True))
        points.set_gid(f"points-{number}")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    return whole, axes


def labelled(axes: Any, labels: Sequence[str]) -> bool:
    return label_ends(axes, [*map(str, range(len(labels)))], labels, [STYLE] * len(labels))


def labels_in(axes: Any) -> dict[str, Any]:
    return {text.get_text(): text for text in axes.texts if str(text.get_gid()).startswith(LABEL)}


def test_labels_stand_at_the_ends_of_their_curves_without_touching() -> None:
    with style():
        whole, axes = drawn([(1, 0.9), (1, 0.2), (1, 0.22), (0.95, 0.9)])
        assert labelled(axes, ["first", "low", "next", "equal"])
        assert faults(whole) == []
        found = labels_in(axes)
        boxes = {label: box(whole, text) for label, text in found.items()}
    assert not [pair for pair in combinations(boxes.values(), 2) if overlap(*pair)]
    assert boxes["first"].y0 > boxes["equal"].y0 > boxes["next"].y0 > boxes["low"].y0
    assert all(one.x0 > axes.get_window_extent().x1 for one in boxes.values())
    assert [str(line.get_gid()) for line in axes.lines if str(line.get_gid()).startswith(SAMPLE)] == [
        f"{SAMPLE}{number}" for number in range(4)
    ]


@pytest.mark.parametrize(
    ("ends", "labels", "width_in"),
    [
        ([(1, 0.9), (0.5, 0.2)], ["a", "ends early"], 6.4),
        ([(1, 0.9), (1, 0.2)], ["a", "a label that takes most of the width of the figure"], 3.3),
        ([(1, 0.5)] * 8, [*"abcdefgh"], 6.4),
    ],
    ids=["an end far left", "no room", "all in one place"],
)
def test_nothing_is_written_where_labels_do_not_fit(
    ends: Sequence[tuple[float, float]], labels: Sequence[str], width_in: float
) -> None:
    with style(width_in):
        _, axes = drawn(ends, width_in)
        assert not labelled(axes, labels)
    assert not labels_in(axes)
    assert len(axes.lines) == len(ends)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.01, 0.5))
def test_heights_are_within_the_axes_in_the_order_of_their_ends_and_a_step_apart(
    ends: list[float], step: float
) -> None:
    heights = spread(ends, step)
    if not heights:
        assert (len(ends) - 1) * step > 1
        return
    assert all(-1e-9 <= height <= 1 + 1e-9 for height in heights)
    order = sorted(range(len(ends)), key=lambda at: (ends[at], -at))
    assert all(heights[after] - heights[at] >= step - 1e-9 for at, after in pairwise(order))
    if all(ends[after] - ends[at] >= step for at, after in pairwise(order)):
        assert heights == pytest.approx(ends)
