"""Figures: what stands below curves that span decades, labels for all panels, axes that are broken alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.query.query import Query
from mpigauge.show.figures import KINDS, figure
from mpigauge.show.figures.scales import BREAK
from mpigauge.show.report.curves import curves_of, panels, parted
from tests.made import campaign, cell, launches_of, measured, written
from tests.unit.show.drawing import LAUNCHES, SIZES, query
from tests.unit.show.test_figure_layout import source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mpigauge.plan.model import Cell


def of_cells(cells: Sequence[Cell], ns: Callable[[Cell], float]) -> Path:
    """A result in which launches differ by 2 %."""
    visits = measured(cells, LAUNCHES, lambda of, number: [round(ns(of) * (1 + 0.01 * number))] * 6)
    return written("below.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits)


def values(axes: Any) -> list[list[float]]:
    """The heights of all points, by curve."""
    points = [line for line in axes.get_lines() if str(line.get_gid()).startswith("points-")]
    return [[float(value) for value in line.get_ydata()] for line in points]


def test_where_decades_hide_intervals_their_widths_stand_below(machine: Path) -> None:
    path = of_cells([cell(size=size) for size in SIZES], lambda of: 300 + 10 * of.bytes)
    _, low = figure(query("time", path)).axes
    (widths,) = values(low)
    assert len(widths) == len(SIZES)
    assert all(0 < width < 0.2 for width in widths)
    assert all("%" in tick.get_text() for tick in low.get_yticklabels() if tick.get_text())


@pytest.mark.thorough
def test_where_intervals_can_be_seen_nothing_stands_below(machine: Path) -> None:
    whole = figure(query("time", of_cells([cell(size=size) for size in (8, 16)], lambda of: 1000 + of.bytes)))
    assert len(whole.axes) == 1


@pytest.mark.thorough
def test_patterns_in_two_libraries_are_each_held_against_itself(machine: Path) -> None:
    cells = [
        cell(pattern, size, mpi=mpi)
        for pattern in ("pingpong", "stream")
        for mpi in ("Open MPI 1", "MPICH 2")
        for size in SIZES[1:]
    ]
    factors = {"pingpong": 2.0, "stream": 3.0}
    path = of_cells(cells, lambda of: (1000 + of.bytes) * (factors[of.pattern] if "MPICH" in of.mpi else 1))
    _, low = figure(query("time", path)).axes
    assert "Open MPI 1" in " ".join(low.get_ylabel().split())
    assert {round(of_curve[0]) for of_curve in values(low)} == {2, 3}


@pytest.mark.thorough
def test_panels_share_one_legend_in_which_a_label_looks_one_way(machine: Path) -> None:
    whole = figure(Query(KINDS["overview"], [source("libraries", None)]))
    (legend,) = whole.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert len(labels) == len({*labels}) > 5
    assert not any(axes.get_legend() for axes in whole.axes)


@pytest.mark.thorough
def test_0_b_is_left_of_a_break_in_all_panels(machine: Path) -> None:
    modes = ("standard", "synchronous")
    cells = [cell(size=size, mode=mode) for mode in modes for size in SIZES]
    whole = figure(query("time", of_cells(cells, lambda of: 1000 + of.bytes)))
    broken = [[text for text in axes.texts if text.get_gid() == BREAK] for axes in whole.axes]
    assert [*map(len, broken)] == [1, 1]


def test_modes_in_several_places_have_a_chart_per_place_on_the_page(machine: Path) -> None:
    places = ("a,b", "a,c", "a,d")
    cells = [
        cell(size=size, mode=mode, placement=place, transport="tcp")
        for place in places
        for mode in ("standard", "synchronous")
        for size in (8, 64)
    ]
    asked = query("time", of_cells(cells, lambda of: 1000 + of.bytes))
    curves = curves_of(asked, lambda *_: True)
    assert [[curve.factors["placement"] for curve in part] for part in parted(curves)] == [
        [place, place] for place in places
    ]
    assert len(panels("modes", asked, asked, lambda *_: True)) == len(places)
