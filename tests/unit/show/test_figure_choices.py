"""Figures: which series and sizes are drawn, and a sentence for what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.document.document import Units
from mpigauge.errors import UsageError
from mpigauge.plan.sizes import size_filter
from mpigauge.query.query import thinned
from mpigauge.query.series import against_size
from mpigauge.result.records import End, Imported
from mpigauge.show.figures import KINDS, figure
from tests.made import (
    campaign,
    cell,
    collective,
    launch,
    together,
    visit,
    written,
)
from tests.unit.show.drawing import (
    query,
    svg,
    texts,
    whole,
)

if TYPE_CHECKING:
    from tests.conftest import Cli

# ---- Choosing series and sizes -------------------------------------------------------------------


@pytest.mark.thorough
def test_series_are_chosen_by_whole_words_and_renamed(result: Path, cli: Cli) -> None:
    svg(cli, result, "--series", "buffered shm=MPI_Bsend", "--series", "standard pingpong shm")
    assert {"MPI_Bsend", "standard"} <= set(texts())


@pytest.mark.parametrize(
    "words", ["openmpi 5.0.11", "Open MPI 5.0.11", "openmpi standard", "Open MPI standard"]
)
def test_a_library_is_chosen_as_plans_or_as_people_call_it(machine: Path, words: str) -> None:
    cells = [cell(size=8), cell(size=8, mpi="mpich", mpi_version="5.0.2")]
    path = written("two.jsonl", campaign(*cells), *(visit(1, n, of, [100] * 6) for n, of in enumerate(cells)))
    (one,) = against_size(query("time", path, series=(words,)))
    assert one.factors["mpi"] == "Open MPI 5.0.11"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--series", "block"), "no series has the words 'block'"),
        (("--series", "pingpong=one"), "one label does for one"),
        (("--series", ""), "no series has the words ''"),
        (("--sizes", "5:1"), "ends below its start"),
        (("--sizes", "5:x"), "--sizes"),
        (("--sizes", "3"), "in the sizes 3"),
        (("--unit", "furlong"), "no unit is called"),
        (("-o", "figure.txt"), "is not the name of a figure"),
        (("-o", "no/such/folder/figure.png"), "cannot be written"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    result: Path, cli: Cli, words: tuple[str, ...], sentence: str
) -> None:
    done = cli("plot", result, "-o", "figure.png", *words)
    assert done.status == 2, done.err
    assert sentence in done.err
    assert not Path("figure.png").exists()


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("0:2000", (0, 1, 1999, 2000), (2001,)),
        ("8,1KiB", (8, 1024), (9,)),
        ("8:64*2", (8, 16, 64), (9,)),
        ("", (0, 2**40), ()),
    ],
)
def test_sizes_are_ranges_or_lists(text: str, yes: tuple[int, ...], no: tuple[int, ...]) -> None:
    assert all(size_filter(text)(size) for size in yes)
    assert not any(size_filter(text)(size) for size in no)


def test_spread_keeps_both_ends() -> None:
    assert thinned(range(100), 3) == [0, 50, 99]
    assert thinned([1, 2], 4) == [1, 2]
    assert thinned([1, 2], 1) == [1]


@pytest.mark.thorough
def test_several_results_are_named_where_nothing_else_tells_them_apart(result: Path, cli: Cli) -> None:
    other = written("other.jsonl", *whole())
    svg(cli, result, other, "--series", "pingpong shm standard")
    assert {"whole", "other"} <= set(texts())


def test_too_many_series_are_refused_with_a_way_out(machine: Path, cli: Cli) -> None:
    cells = [cell(size=8, mpi_version=str(number)) for number in range(20)]
    path = written(
        "many.jsonl", campaign(*cells), *(visit(1, n, of, [100] * 6) for n, of in enumerate(cells))
    )
    done = cli("plot", path, "-o", "figure.png")
    assert done.status == 2
    assert "20 series are more than" in done.err
    assert '--series "Open MPI 0"' in done.err


# ---- What cannot be drawn ------------------------------------------------------------------------

LACKS = {
    "compare": "nothing can be compared: nothing was measured",
    "ranks": "no pattern in which all ranks take part was measured with two numbers of ranks",
    "pairs": "no stream of many ranks at once was measured with two numbers of ranks",
    "parts": "no message was measured with two depths, sizes of blocks or numbers",
    "memory-ratio": "no message was measured beside a copy",
    "one-sided": "no one-sided operation was measured",
    "map": "has no map",
    "states": "nothing is known of the state of the machine",
}
"""What they say; the others say that nothing was measured."""

ONE_CELL_LACKS = {
    "compare": "nothing can be compared: it has one of everything",
    "ratio": "no other series has a size in common with the first",
    "modes": "no pattern that moves bytes was measured in two modes",
    "placements": "only one placement and transport",
    "ranks": "two numbers of ranks",
    "pairs": "two numbers of ranks",
    "parts": "no message was measured with two depths, sizes of blocks or numbers",
    "memory": "no copies were measured",
    "memory-ratio": "no message was measured beside a copy",
    "one-sided": "no one-sided operation was measured",
    "skew": "nothing that it shows was measured",
    "overlap": "nothing that it shows was measured",
    "map": "has no map",
    "states": "nothing is known of the state of the machine",
    "history": "1 of 4 results at different times",
}


@pytest.mark.parametrize("kind", KINDS)
def test_of_nothing_measured_nothing_is_drawn(machine: Path, cli: Cli, kind: str) -> None:
    path = written("nothing.jsonl", campaign(cell(size=8)), End("budget", 1.0, ""))
    done = cli("plot", path, "--kind", kind, "-o", "figure.png")
    assert done.status == 2, done.err
    assert LACKS.get(kind, "nothing that it shows was measured") in done.err
    assert str(path) in done.err
    assert not Path("figure.png").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_of_one_cell_what_can_be_drawn_is_drawn(machine: Path, cli: Cli, kind: str) -> None:
    of = cell(size=8)
    path = written("one.jsonl", campaign(of), launch(1), visit(1, 0, of, [200, 210, 190]))
    done = cli("plot", path, "--kind", kind, "-o", "figure.png")
    assert done.status == (2 if kind in ONE_CELL_LACKS else 0), done.err
    assert ONE_CELL_LACKS.get(kind, "figure: ") in done.err


@pytest.mark.parametrize("kind", KINDS)
def test_times_of_nothing_are_refused(machine: Path, cli: Cli, kind: str) -> None:
    """A clock may be so coarse that all samples are 0."""
    of = collective(size=8)
    visits = [
        together(n, 0, of, [0] * 6, cpu_ns=0, trial_ns=[0], warmup_ns=[], skew_ns=[0] * 6) for n in (1, 2)
    ]
    path = written("zero.jsonl", campaign(of), launch(1), launch(2), *visits)
    done = cli("plot", path, "--kind", kind, "-o", "figure.png")
    assert done.status == 2, done.err
    assert done.err.startswith("mpigauge: zero.jsonl: ")


def test_an_imported_time_that_is_no_mean_is_not_drawn_as_one(machine: Path) -> None:
    of = cell(size=8)
    path = written("best.jsonl", campaign(of), Imported(of, 1e-6, None, "best of three"))
    with pytest.raises(UsageError, match="means of its samples are not known"):
        figure(query("mean", path))


@pytest.mark.parametrize("unit", ["auto", "Mbit/s"])
def test_panels_on_shared_axes_show_the_points_of_all(result: Path, unit: str) -> None:
    whole = figure(query("placements", result, series=("pingpong",), units=Units("auto", unit)))
    for axes in whole.axes:
        low, high = axes.get_ylim()
        values = [
            value
            for line in axes.get_lines()
            if str(line.get_gid()).startswith("points")
            for value in np.asarray(line.get_ydata())
        ]
        assert all(low < value < high for value in values)


def test_rates_need_bytes(machine: Path) -> None:
    of = cell(size=0)
    path = written("empty.jsonl", campaign(of), launch(1), visit(1, 0, of, [200, 210, 190]))
    with pytest.raises(UsageError, match="nothing that it shows"):
        figure(query("rate", path))
