"""Figures: no tick labels touch, no word is cut, and legends are a small part, at every width."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from mpigauge.errors import UsageError
from mpigauge.plan.patterns import known
from mpigauge.query.query import Paper, Query, source_of
from mpigauge.result.reader import load
from mpigauge.show.figures import KINDS, figure
from mpigauge.show.figures.fit import tick_labels
from mpigauge.show.figures.overview import USUAL_MODES
from mpigauge.show.figures.style import DPI, style
from tests.made import campaign, cell, launches_of, measured
from tests.made import written as written_to
from tests.thorough import rest
from tests.unit.show.drawing import LAUNCHES, query, visits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.transforms import Bbox

    from mpigauge.query.query import Source

RESULTS = Path(__file__).parents[3] / "docs" / "results"
MM = 1 / 25.4
WIDTHS_IN = {"usual": None, "84mm": 84 * MM, "170mm": 170 * MM}
OF_NEAR = ("overview", "time", "placements")
"""Kinds that are drawn at a width that is nearly the usual one, too."""

MODES = tuple(mode.name for mode in known()["pingpong"].modes)

PIXEL = 1.0
"""What rounding may cost."""

THIRD = 1 / 3


@cache
def source(name: str, state: Any) -> Source:
    return source_of(load(RESULTS / f"{name}.jsonl.gz"), "median", state)


def box(whole: Figure, what: Any) -> Bbox:
    found: Bbox = what.get_window_extent(whole.canvas.get_renderer())  # type: ignore[attr-defined]
    return found


def overlap(one: Bbox, other: Bbox) -> bool:
    return bool(
        one.x0 + PIXEL < other.x1
        and other.x0 + PIXEL < one.x1
        and one.y0 + PIXEL < other.y1
        and other.y0 + PIXEL < one.y1
    )


def touching(whole: Figure) -> list[str]:
    """Pairs of tick labels that cover each other, of all axes; and words above one pair of axes."""
    groups = [
        [text for axes in whole.axes for axis in (axes.xaxis, axes.yaxis) for _, text in tick_labels(axis)]
    ]
    for axes in whole.axes:
        above = [text for text in axes.texts if "mark" in str(text.get_gid())]
        groups.append([*above, *titles(axes)])
    return [
        f"{one.get_text()!r} {other.get_text()!r}"
        for texts in groups
        for (one, of_one), (other, of_other) in combinations([(text, box(whole, text)) for text in texts], 2)
        if overlap(of_one, of_other)
    ]


def titles(axes: Any) -> list[Text]:
    return [one for one in (axes.title, axes._left_title) if one.get_text()]


def cut(whole: Figure) -> Iterator[str]:
    """Words and legends that reach out of the figure."""
    unseen = {
        id(label)
        for axes in whole.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
    } - {
        id(text) for axes in whole.axes for axis in (axes.xaxis, axes.yaxis) for _, text in tick_labels(axis)
    }
    texts = [text for text in whole.findobj(Text) if text.get_visible() and id(text) not in unseen]
    for one in [*legends(whole), *(text for text in texts if text.get_text().strip())]:
        found = box(whole, one)
        if (
            found.x0 < -PIXEL
            or found.y0 < -PIXEL
            or found.x1 > whole.bbox.x1 + PIXEL
            or found.y1 > whole.bbox.y1 + PIXEL
        ):
            yield f"{one}: {found}"


def legends(whole: Figure) -> list[Any]:
    return [*whole.legends, *(legend for axes in whole.axes if (legend := axes.get_legend()) is not None)]


def faults(whole: Figure) -> list[str]:
    whole.draw_without_rendering()
    high = [one for one in legends(whole) if box(whole, one).height > THIRD * whole.bbox.height]
    return [*touching(whole), *cut(whole), *(f"high legend: {one}" for one in high)]


CASES = [
    ("libraries", "84mm"),
    ("map", "usual"),
    ("messages", "84mm"),
    ("messages", "usual"),
    ("modes", "usual"),
    ("network-memory", "84mm"),
    ("placements", "170mm"),
    ("placements", "84mm"),
    ("states", "usual"),
    ("wan", "usual"),
]
"""Results that differ in what is beside what: all at all widths take minutes, and show no more."""

USUAL = [("map", "usual"), ("modes", "usual"), ("placements", "84mm"), ("states", "usual")]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "width"), rest(CASES, USUAL))
def test_everything_fits_in_every_figure_of_a_stored_result(name: str, width: str) -> None:
    drawn: dict[str, list[str]] = {}
    for kind in (KINDS[name] for name in (OF_NEAR if width == "170mm" else KINDS)):
        one = source(name, "all" if kind.name == "compare" else None)
        try:
            whole = figure(Query(kind, [one], paper=Paper(width_in=WIDTHS_IN[width])))
        except UsageError:
            continue
        drawn[kind.name] = faults(whole)
    assert drawn or width == "170mm"
    assert not {kind: found for kind, found in drawn.items() if found}


@pytest.mark.parametrize("width", ["usual", "84mm"])
@pytest.mark.parametrize("kind", ["overview", "time", "placements"])
def test_everything_fits_in_a_figure(result: Path, kind: str, width: str) -> None:
    assert not faults(figure(query(kind, result, paper=Paper(width_in=WIDTHS_IN[width]))))


@pytest.mark.parametrize("title", [" ".join(["of the very long title"] * 12), "unbroken" * 12])
def test_a_long_title_is_wrapped_and_said_in_full(result: Path, title: str) -> None:
    whole = figure(query("time", result, series=("pingpong shm",), paper=Paper(title, WIDTHS_IN["84mm"])))
    assert "".join(whole.get_suptitle().split()) == title.replace(" ", "")
    assert not faults(whole)


def test_a_legend_of_many_long_names_leaves_room_for_the_curves(machine: Path) -> None:
    cells = [
        cell(size=size, mpi="openmpi", mpi_version="5.0.11", label=f"build-of-a-rather-long-name-{number}")
        for number in range(14)
        for size in (8, 64)
    ]
    path = written_to("many.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells))
    for width in WIDTHS_IN.values():
        assert not faults(figure(query("time", path, paper=Paper(width_in=width))))


def test_a_number_stays_with_its_unit() -> None:
    from mpigauge.show.figures.fit import in_lines  # noqa: PLC0415

    assert in_lines("pingpong, 2 ranks, 64 KiB", 12).splitlines() == ["pingpong,", "2 ranks,", "64 KiB"]
    assert in_lines("same-host", 4) == "same-host"


@pytest.mark.parametrize("modes", [("standard", "synchronous"), MODES])
def test_an_overview_without_room_for_all_modes_says_so(machine: Path, modes: tuple[str, ...]) -> None:
    cells = [cell(size=size, mode=mode) for mode in modes for size in (8, 64)]
    visits = measured(cells, LAUNCHES, lambda of, _: [1000 + of.bytes] * 4)
    path = written_to("modes.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits)
    whole = figure(query("overview", path))
    assert (USUAL_MODES in whole.get_supxlabel()) == (modes == MODES)
    assert not faults(whole)


@pytest.mark.thorough
def test_an_overview_of_too_many_series_advises_only_what_can_be_drawn(machine: Path) -> None:
    """Of 16 series, `--kind time` would be refused, too."""
    places = [f"a,{chr(ord('b') + number)}" for number in range(16)]
    cells = [cell(size=size, placement=place) for place in places for size in (8, 64)]
    path = written_to("places.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells))
    with pytest.raises(UsageError, match="16 series are more than the 8 of a panel") as refused:
        figure(query("overview", path))
    assert "--series" in str(refused.value.hint)
    assert "--kind time" not in str(refused.value.hint)


@pytest.mark.thorough
def test_a_comparison_in_a_column_is_not_cut_in_the_saved_file_either() -> None:
    """A file has another resolution than the figure in which the width of words was measured."""
    by = Query(KINDS["compare"], [source("wan", None)], paper=Paper(width_in=84 * MM), by="mpi")
    with style():
        whole = figure(by)
        whole.set_dpi(DPI)
        whole.draw_without_rendering()
        assert [*cut(whole)] == []


def test_words_are_as_wide_in_the_saved_file_as_where_they_are_measured() -> None:
    with style():
        whole = Figure()
        FigureCanvasAgg(whole)
        text = whole.text(0, 0, "MPICH 5.0.2 against Open MPI 5.0.11")
        widths = []
        for dpi in (100, DPI):
            whole.set_dpi(dpi)
            widths.append(box(whole, text).width / dpi)
    assert widths[0] == pytest.approx(widths[1], rel=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("width_in", [84 * MM, 170 * MM])
def test_a_map_is_as_wide_as_was_asked_for(width_in: float) -> None:
    whole = figure(Query(KINDS["map"], [source("map", None)], paper=Paper(width_in=width_in)))
    assert whole.get_figwidth() == pytest.approx(width_in)
    assert faults(whole) == []
