"""Figures: what they say of limits, of what blocks, of cores, of what is far off, and of their origin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from msgspec.structs import replace

from mpigauge.query.series import against_size, title_words
from mpigauge.result.records import Eager, End, Imported
from mpigauge.show.figures import KINDS, figure
from mpigauge.show.figures.chart import mark_breaks
from mpigauge.show.figures.scales import SizeAxis
from tests.made import campaign, cell, collective, launch, launches_of, measured, written
from tests.unit.show.drawing import LAUNCHES, LIMIT_BYTES, MODES, SIZES, drawn, printed, query, visits_of
from tests.unit.show.drawing import whole as everything

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mpigauge.plan.model import Cell


def words(whole: Figure) -> list[str]:
    """All that stands in a figure."""
    from matplotlib.text import Text  # noqa: PLC0415

    return [text.get_text() for text in whole.findobj(Text) if text.get_text()]


def of_cells(cells: list[Cell], took_ns: Callable[[Cell], float], name: str = "made.jsonl") -> Path:
    visits = measured(cells, LAUNCHES, lambda of, number: [round(took_ns(of) * (1 + 0.01 * number))] * 6)
    return written(name, campaign(*cells), *launches_of(cells, LAUNCHES), *visits)


def in_places() -> Path:
    """Two libraries over two networks, one of them 50 times as slow; the second library takes 10 % more."""
    cells = [
        cell(size=size, mpi_version=mpi, transport="tcp", placement=place)
        for mpi in "12"
        for place in ("a,b", "a,c")
        for size in (8, 64, 512)
    ]
    slow = {"a,b": 1, "a,c": 50, "1": 1, "2": 1.1}
    return of_cells(cells, lambda of: 10_000 * slow[of.placement] * slow[of.mpi_version])


# ---- Ratios --------------------------------------------------------------------------------------


def test_a_legend_has_what_is_drawn(result: Path) -> None:
    """Not what is below the line of all ratios, which is 1."""
    whole = figure(query("ratio", result, series=("pingpong shm standard", "pingpong shm buffered")))
    assert [text.get_text() for text in whole.legends[0].get_texts()] == ["buffered"]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["time", "rate", "ratio"])
def test_the_denominator_is_always_named(result: Path, kind: str) -> None:
    for series in (("pingpong shm",), ("pingpong tcp", "memcpy"), ()):
        whole = figure(query(kind, result, series=series, sizes="8:64KiB"))
        labels = [axes.get_ylabel() for axes in whole.axes if axes.get_ylabel().startswith("time /")]
        assert not [label for label in labels if "first" in label]
        assert kind != "ratio" or labels


def test_libraries_are_compared_in_the_same_place(machine: Path) -> None:
    whole = figure(query("time", in_places()))
    assert whole.axes[1].get_ylabel().split() == ["time", "/", "Open", "MPI", "1"]
    ratios = {name: ys for name, (_, ys) in drawn(query("time", in_places())).items() if "ratio" in name}
    assert len(ratios) == 2
    assert np.allclose([*ratios.values()], 1.1, rtol=0.01)


@pytest.mark.parametrize(("sizes", "said"), [((8, 64), True), ((8, 64, 512, 1024), False)])
def test_few_ratios_of_unlike_sizes_are_explained(machine: Path, sizes: tuple[int, ...], said: bool) -> None:
    cells = [
        *(cell(size=size, mpi_version="1") for size in (8, 64, 512, 1024, 4096)),
        *(cell(size=size, mpi_version="2") for size in sizes),
    ]
    for kind in ("time", "ratio"):
        told = " ".join(words(figure(query(kind, of_cells(cells, lambda _: 10_000.0))))).replace("\n", " ")
        assert (f"ratios at the {len(sizes)} of 5 sizes that both have" in told) == said


def test_imported_series_do_not_change_that(machine: Path) -> None:
    cells = [
        cell(size=8, mpi="MPICH", mpi_version="", transport="tcp", placement=place)
        for place in ("a,b", "a,c")
    ]
    times = [Imported(of, 1e-6, None, "", "paper.csv: line 2") for of in cells]
    others = written("printed.jsonl", campaign(*cells), *times, End("imported", 0.0, ""))
    whole = figure(query("time", in_places(), others))
    assert whole.axes[1].get_ylabel().split() == ["time", "/", "Open", "MPI", "1"]


def test_the_first_that_is_named_is_below_all(machine: Path) -> None:
    asked = query("time", in_places(), series=("a,c", "a,b"))
    assert figure(asked).axes[1].get_ylabel().split()[2:] == ["Open", "MPI", "1,", "a,c"]


def test_a_series_far_off_is_drawn_whole(machine: Path) -> None:
    cells = [
        cell(size=size, placement=place, transport="tcp") for place in ("a,b", "a,c", "x") for size in (8, 64)
    ]
    factor = {"a,b": 1, "a,c": 1.2, "x": 0.01}
    whole = figure(query("time", of_cells(cells, lambda of: 100_000 * factor[of.placement])))
    low, high = whole.axes[1].get_ylim()
    assert low < 0.01
    assert 1.2 < high < 2


# ---- Lines, limits and blocked sizes -------------------------------------------------------------


FAR_APART = (8, 512, 32768)
"""Sizes with the eager limit between the last two."""


def with_limits(cells: list[Cell], *jobs: Cell) -> Path:
    """A result in which the eager limit was probed of some jobs, one byte more in each further one."""
    probed = next(one for one in everything() if isinstance(one, Eager))
    return written(
        "limits.jsonl",
        campaign(*cells, *jobs),
        *launches_of(cells, LAUNCHES),
        *measured(cells, LAUNCHES, lambda of, number: [1000 + of.bytes + number] * 6),
        *(
            replace(probed, cell=job, limit_bytes=LIMIT_BYTES + more, longer_bytes=LIMIT_BYTES + more)
            for more, job in enumerate(jobs)
        ),
    )


def ends_of(path: Path) -> dict[str, float]:
    """Until where the longest line of each series goes, by its label."""
    asked = query("time", path)
    found: dict[str, float] = {}
    for number, one in enumerate(against_size(asked)):
        for line in figure(asked).axes[0].get_lines():
            if str(line.get_gid()).startswith(f"line-{number}-"):
                end = float(np.max(np.asarray(line.get_xdata())))
                found[one.label] = max(found.get(one.label, 0.0), end)
    return found


def test_only_messages_that_have_an_eager_limit_are_cut_there(machine: Path) -> None:
    of = {"transport": "shm"}
    cells = [
        one
        for size in FAR_APART
        for one in (
            cell(size=size, **of),
            cell(size=size, mode="synchronous", **of),
            cell("memcpy", size, **of),
            cell("crosscopy", size, **of),
            collective(size=size, ranks=2, **of),
        )
    ]
    found = ends_of(with_limits(cells, cell("eager", 65536, **of)))
    assert len(found) == 5
    assert {label for label, end in found.items() if end < FAR_APART[-1]} == {"pingpong, standard"}


def test_a_limit_cuts_the_curves_of_its_library_and_says_whose_it_is(machine: Path) -> None:
    mpis = [{"mpi": "openmpi", "mpi_version": "5.0.11"}, {"mpi": "mpich", "mpi_version": "5.0.2"}]
    cells = [cell(size=size, transport="shm", **mpi) for mpi in mpis for size in FAR_APART]
    probes = [cell("eager", 65536, transport="shm", **mpi) for mpi in mpis]
    path = with_limits(cells, probes[0])
    assert ends_of(path) == {"Open MPI 5.0.11": FAR_APART[1], "MPICH 5.0.2": FAR_APART[2]}
    assert limits_said(path) == ["eager limit 4000 B, Open MPI 5.0.11"]
    assert limits_said(with_limits(cells, *probes)) == [
        "eager limit 4000 B, Open MPI 5.0.11",
        "eager limit 4001 B, MPICH 5.0.2",
    ]


def test_a_limit_of_one_way_of_travelling_names_it(machine: Path) -> None:
    cells = [cell(size=size, transport=transport) for transport in ("shm", "tcp") for size in FAR_APART]
    path = with_limits(cells, cell("eager", 65536, transport="tcp"))
    assert limits_said(path) == ["eager limit 4000 B, tcp"]
    alone = [one for one in cells if one.transport == "tcp"]
    assert limits_said(with_limits(alone, cell("eager", 65536, transport="tcp"))) == ["eager limit 4000 B"]


def limits_said(path: Path) -> list[str]:
    axes = figure(query("time", path)).axes[0]
    return sorted(text.get_text() for text in axes.texts if text.get_text().startswith("eager limit"))


def test_lines_of_copies_are_said_where_they_are_drawn(machine: Path) -> None:
    def lined(factor: float) -> tuple[int, str]:
        cells = [of for size in (8, 64) for of in (cell(size=size), cell("copy", size, "O3"))]
        path = of_cells(
            cells, lambda of: 1000 if of.pattern == "copy" else 2000 * factor * (of.bytes < 64) + 1500
        )
        whole = figure(query("memory-ratio", path))
        level = [line for line in whole.axes[0].get_lines() if len({*np.asarray(line.get_ydata())}) == 1]
        lines = [line for line in level if len(np.asarray(line.get_ydata())) == 2]
        (note,) = (one for one in words(whole) if "ring: the least" in one)
        return len(lines), note.splitlines()[0].partition("; dashed: ")[2]

    assert lined(0.1) == (0, "")
    assert lined(1) == (1, "2 copies")
    assert lined(20) == (2, "10 and 2 copies")


@pytest.mark.parametrize("linear", [False, True])
def test_no_sample_stands_on_the_number_of_a_launch(result: Path, linear: bool) -> None:
    whole = figure(query("samples", result, series=("pingpong shm standard",), sizes="8,64", linear=linear))
    whole.canvas.draw()
    for axes in whole.axes:
        numbers = [text.get_window_extent().y0 for text in axes.texts if text.get_text().isdigit()]
        points = [line.get_transform().transform(line.get_xydata())[:, 1].max() for line in axes.get_lines()]
        assert len(numbers) == len(LAUNCHES)
        assert max(points) < min(numbers)


@pytest.mark.thorough
def test_blocked_sizes_are_marked(exchange: Path) -> None:
    whole = figure(query("placements", exchange))
    assert any("would deadlock" in one for one in words(whole))
    hatched = [one for axes in whole.axes for one in axes.patches if str(one.get_gid()).startswith("blocked")]
    assert hatched
    assert all(one.get_hatch() for one in hatched)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "linear"), [("time", False), ("modes", True), ("overview", True)])
def test_words_of_limits_stay_within_their_panel(result: Path, kind: str, linear: bool) -> None:
    whole = figure(query(kind, result, linear=linear))
    whole.canvas.draw()
    renderer: Any = whole.canvas.get_renderer()  # type: ignore[attr-defined]
    for axes in whole.axes:
        box = axes.get_window_extent(renderer)
        for text in axes.texts:
            if text.get_text().startswith("eager"):
                extent = text.get_window_extent(renderer)
                assert box.x0 - 1 <= extent.x0
                assert extent.x1 <= box.x1 + 1


# ---- Cores, bars and sizes -----------------------------------------------------------------------


@pytest.mark.thorough
def test_more_ranks_than_cores_are_marked_in_every_kind(machine: Path) -> None:
    cells = [cell("ring", size, ranks=ranks, transport="shm") for ranks in (2, 512) for size in (8, 64)]
    visits = measured(cells, LAUNCHES, lambda _, __: [1000] * 6)
    path = written("ring.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits)
    crowded = [one for source in query("time", path).sources for one in source.rows if one.oversubscribed]
    assert {row.cell.ranks for row in crowded} == {512}
    for kind in ("time", "mean", "rate", "ratio", "overview", "distribution"):
        shown = words(figure(query(kind, path)))
        assert any("512 ranks, oversubscribed" in one for one in shown), (kind, shown)
        assert not any(one.startswith("2 ranks, oversubscribed") for one in shown)


def test_error_bars_are_beside_each_other_and_cut_without_a_cap(machine: Path) -> None:
    cells = [cell(size=size, mode=mode, transport="shm") for mode in MODES for size in (8, 64, 512)]
    visits = measured(cells, LAUNCHES, lambda of, _: [1000] * 5 + [90_000 if of.bytes == 8 else 1010])
    path = written("wild.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits)
    (axes,) = figure(query("mean", path)).axes
    found = {str(line.get_gid()): np.asarray(line.get_xdata()) for line in axes.get_lines()}
    assert not {*found["points-0"]} & {*found["points-1"]}
    assert (len(found["tops-0"]), len(found["feet-0"])) == (3, 2)


def test_even_sizes_are_on_an_even_axis() -> None:
    assert SizeAxis([1, 1024, *range(28_000, 1_000_000, 27_000)], linear=False).linear
    assert not SizeAxis([2**power for power in range(21)], linear=False).linear
    assert not SizeAxis([*range(51), *(2**power for power in range(6, 21))], linear=False).linear
    assert not SizeAxis(SIZES, linear=False).linear


# ---- Titles and origin ---------------------------------------------------------------------------

DRAWN = ("overview", "time", "rate", "ratio", "mean", "modes", "placements", "distribution", "samples", "cpu")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", DRAWN)
def test_every_figure_says_where_it_was_measured(result: Path, kind: str) -> None:
    assert kind in KINDS
    chosen = () if kind == "placements" else ("pingpong shm",)
    shown = "\n".join(words(figure(query(kind, result, series=chosen))))
    assert "3 launches" in shown


def test_of_several_results_each_has_its_origin(result: Path) -> None:
    shown = "\n".join(words(figure(query("time", printed(), result, series=("pingpong shm standard",)))))
    assert "printed: " in shown
    assert "whole: " in shown


def test_a_title_names_the_patterns(result: Path) -> None:
    two = against_size(query("time", result, series=("pingpong shm standard", "memcpy")))
    assert title_words(two).startswith("pingpong and memcpy, ")


def test_bands_say_how_wide_they_are(machine: Path) -> None:
    of = cell(size=8, transport="shm")
    path = written("one.jsonl", campaign(of), *map(launch, LAUNCHES), *visits_of([of]))
    assert any("half of them within " in one for one in words(figure(query("time", path))))


def test_bands_of_ratios_are_not_those_of_times(result: Path) -> None:
    whole = figure(query("ratio", result, series=("pingpong shm standard", "pingpong shm buffered")))
    said = "\n".join(words(whole))
    assert "95 % intervals that hold for all numbers at once" in said.replace("\n", " ")
    assert "half of them within" not in said


def test_the_words_of_each_hatched_strip_stand_right_above_it() -> None:
    """Two libraries that would deadlock from different sizes have a strip each."""
    axes = Figure().add_subplot()
    axes.set_xlim(1, 100)
    found: Any = [
        SimpleNamespace(
            label=label, breaks=(), rows=[SimpleNamespace(status="blocked", cell=SimpleNamespace(bytes=size))]
        )
        for label, size in (("Open MPI", 8), ("MPICH", 32))
    ]
    mark_breaks(axes, found)
    ends = [
        (one.get_y(), one.get_y() + one.get_height()) for one in axes.patches if isinstance(one, Rectangle)
    ]
    words_at = [text.get_position()[1] for text in axes.texts]
    assert [text.get_text().split(" would")[0] for text in axes.texts] == ["Open MPI", "MPICH"]
    assert ends[0][1] < words_at[0] < ends[1][0] < ends[1][1] < words_at[1]
