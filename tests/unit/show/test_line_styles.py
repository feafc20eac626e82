"""Figures: a series has one colour in all figures of a result, and stays visible, in grey, too."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from matplotlib.colors import to_rgb

from mpigauge.query.series import Point, against_size
from mpigauge.result.records import Imported
from mpigauge.show.figures import figure, lines
from mpigauge.show.figures.end_labels import LABEL, SAMPLE
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.show.figures.samples import STATE_MARKERS
from mpigauge.show.figures.style import COLOURS
from mpigauge.vocabulary import STATE_NAMES
from tests.made import campaign, cell, launches_of, measured, written
from tests.unit.show.drawing import LAUNCHES, MODES, SIZES, drawn, printed, query, visits_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Query
    from mpigauge.result.records import Visit

SAME = ("color", "marker", "linestyle")


def looks(kind: str, *paths: Path, **more: Any) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Of each series of a query, by its factors without its file, how it looks."""
    asked = query(kind, *paths, **more)
    found = against_size(asked)
    return {
        tuple(word for name, word in one.factors.items() if name != "file"): tuple(
            look[name] for name in SAME
        )
        for one, look in zip(found, styles_of(asked, found), strict=True)
    }


def of_modes(name: str = "modes.jsonl", mpis: tuple[str, ...] = ("1",)) -> Path:
    """Three modes, of libraries of several versions."""
    cells = [
        cell(size=size, mode=mode, mpi_version=mpi, transport="shm")
        for mpi in mpis
        for mode in (*MODES, "synchronous")
        for size in SIZES[1:]
    ]
    return written(name, campaign(*cells), *launches_of(cells, LAUNCHES), *slower(cells))


def slower(cells: list[Cell]) -> Iterator[Visit]:
    """Every mode by itself."""
    slow = {"standard": 1, "buffered": 1.5, "synchronous": 2.5}
    return measured(
        cells, LAUNCHES, lambda of, number: [round((1000 + of.bytes) * slow[of.mode]) + number] * 6
    )


# ---- One colour per series -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "series", [("synchronous",), ("buffered",), ("synchronous", "standard"), ("synchronous", "buffered")]
)
def test_a_subset_looks_as_it_does_among_all(machine: Path, series: tuple[str, ...]) -> None:
    path = of_modes()
    everything, some = looks("time", path), looks("time", path, series=series)
    assert some == {name: everything[name] for name in some}
    assert len({*everything.values()}) == len(everything) == 3


def test_sizes_do_not_change_the_look(machine: Path) -> None:
    path = of_modes()
    assert looks("time", path) == looks("rate", path, sizes="8")


def test_samples_of_states_are_told_apart_in_grey() -> None:
    """Their colours are not."""
    marks = [STATE_MARKERS[name] for name in STATE_NAMES]
    assert len({*marks}) == len(marks)


@pytest.mark.thorough
def test_figures_of_other_kinds_have_the_same_colours(machine: Path) -> None:
    path = of_modes()
    found = {kind: colours(figure(query(kind, path))) for kind in ("time", "rate", "mean", "modes")}
    assert found["time"]["standard"] == COLOURS[0]
    assert all(mine == found["time"] for mine in found.values()), found
    ratio = colours(figure(query("ratio", path, series=("standard", "synchronous"))))
    assert ratio == {"synchronous": found["time"]["synchronous"]}


def named_lines(whole: Figure) -> dict[str, Line2D]:
    """The sample of a line beside each label: in a legend, or at the end of its curve."""
    found: dict[str, Line2D] = {}
    for legend in (*whole.legends, *filter(None, (axes.get_legend() for axes in whole.axes))):
        found |= zip((text.get_text() for text in legend.get_texts()), legend.get_lines(), strict=True)
    for axes in whole.axes:
        samples = {str(line.get_gid()): line for line in axes.get_lines()}
        for text in axes.texts:
            gid = str(text.get_gid())
            if gid.startswith(LABEL):
                found[text.get_text()] = samples[gid.replace(LABEL, SAMPLE)]
    return found


def colours(whole: Figure) -> dict[str, str]:
    """The colour that each label has beside it."""
    return {label: str(line.get_color()) for label, line in named_lines(whole).items()}


def test_copies_look_in_the_ratio_as_they_do_beside_the_message(result: Path) -> None:
    beside = colours(figure(query("memory", result, series=("pingpong shm standard", "memcpy"))))
    asked = query("memory-ratio", result, series=("shm standard",))
    (line,) = [it for axes in figure(asked).axes for it in axes.get_lines() if it.get_gid() == "points-0"]
    assert line.get_color() == next(colour for name, colour in beside.items() if name.startswith("memcpy"))


def test_a_library_is_a_colour_and_a_mode_a_marker(machine: Path) -> None:
    found = looks("time", of_modes(mpis=("1", "2")))
    by_library = {mpi: {look[0] for name, look in found.items() if f"Open MPI {mpi}" in name} for mpi in "12"}
    assert [len(mine) for mine in by_library.values()] == [1, 1]
    assert by_library["1"] != by_library["2"]
    assert len({look[1] for look in found.values()}) == 3
    assert len({*found.values()}) == 6


def test_what_is_printed_is_hollow_in_the_colour_of_ours(result: Path) -> None:
    asked = query("time", printed(), result, series=("pingpong shm standard",))
    first, second = styles_of(asked, against_size(asked))
    assert first["color"] == second["color"]
    assert (first["markerfacecolor"], second["markerfacecolor"]) == ("white", second["color"])


def test_modes_have_their_colours_in_whatever_order_they_were_measured(machine: Path) -> None:
    """So what was printed has the colours of ours, though its table begins with another mode."""
    found = []
    for number, modes in enumerate((MODES, MODES[::-1])):
        cells = [cell(size=8, mode=mode, transport="shm") for mode in modes]
        printed_ones = [Imported(of, 1e-6, None, "mean") for of in cells]
        found.append(looks("time", written(f"{number}.jsonl", campaign(*cells), *printed_ones)))
    assert found[0] == found[1]


def test_many_series_are_told_apart(machine: Path) -> None:
    cells = [cell(size=8, mpi_version=str(number), transport="shm") for number in range(14)]
    path = written("many.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells))
    assert len({*looks("time", path).values()}) == 14


def test_colours_are_apart_in_grey() -> None:
    """Luma of ITU-R BT.601, from 0 to 255, is what makes them grey."""
    greys = [
        255 * sum(share * part for share, part in zip((0.299, 0.587, 0.114), to_rgb(colour), strict=True))
        for colour in COLOURS
    ]

    def nearest(some: list[float]) -> float:
        return min(abs(a - b) for a, b in itertools.combinations(some, 2))

    assert nearest(greys[:4]) > 30
    assert nearest(greys) > 10


def test_dashes_are_as_many_as_colours() -> None:
    assert len({*map(str, lines.DASHES)}) == len(lines.DASHES) == len(COLOURS)


# ---- What lies under another ---------------------------------------------------------------------


def test_a_curve_below_another_is_wider(machine: Path) -> None:
    alike = [[Point(size, 1e-6 * size) for size in (1, 2, 4)]]
    other = [[Point(size, 5e-6 * size) for size in (1, 2, 4)]]
    plain: dict[str, Any] = {"color": "black"}
    widths = [
        look.get("linewidth", lines.WIDTH_OF_LINE)
        for look in lines.widened_below([plain, plain, plain], [alike, alike, other])
    ]
    assert widths[0] > widths[1] == widths[2] == lines.WIDTH_OF_LINE


def test_series_of_equal_times_are_both_visible(machine: Path) -> None:
    cells = [cell(size=size, mpi_version=mpi, transport="shm") for mpi in "12" for size in SIZES[1:]]
    path = written("same.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells))
    (axes, *_) = figure(query("time", path)).axes
    found = {str(line.get_gid()): line for line in axes.get_lines()}
    assert found["line-0-0"].get_linewidth() > found["line-1-0"].get_linewidth()
    assert found["points-0"].get_markersize() > found["points-1"].get_markersize()


def test_a_single_series_has_the_usual_width(result: Path) -> None:
    asked: Query = query("time", result, series=("pingpong shm standard",))
    assert drawn(asked)
    assert {
        line.get_linewidth()
        for line in figure(asked).axes[0].get_lines()
        if str(line.get_gid()).startswith("line-")
    } == {lines.WIDTH_OF_LINE}


@pytest.mark.parametrize("kind", ["time", "overview"])
def test_labels_have_lines_and_markers_of_usual_size(machine: Path, kind: str) -> None:
    cells = [cell(size=size, mpi_version=mpi, transport="shm") for mpi in "12" for size in SIZES[1:]]
    path = written("same.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells))
    found = named_lines(figure(query(kind, path)))
    assert len(found) == 2
    assert {(one.get_linewidth(), one.get_markersize()) for one in found.values()} == {
        (lines.WIDTH_OF_LINE, lines.SIZE_OF_MARKER)
    }
