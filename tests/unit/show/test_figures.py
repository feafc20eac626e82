"""Figures: each kind against the data that it shows, and a sentence for what cannot be drawn."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.result.reader import load
from mpigauge.result.records import Eager, End, Imported, Visit
from mpigauge.show.document import Units
from mpigauge.show.figures import FORMS, KINDS, figure
from mpigauge.show.figures.scales import SizeAxis
from mpigauge.show.query import Query, source_of, spread, wanted
from mpigauge.show.series import against_size
from tests.made import (
    campaign,
    cell,
    collective,
    in_states,
    launch,
    launches_of,
    measured,
    together,
    visit,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from tests.conftest import Cli, Install

SVG = "{http://www.w3.org/2000/svg}"
NAMES = (
    "(line|points|band|bars|errors|eager|cache|least|shape|median|range|first|warmup|samples|launch|"
    "latency|rate)-"
)
SIZES = (0, 8, 64, 1024, 8192, 65536)
MISSING = 64
"""Of buffered messages, planned and not measured."""

LIMIT_BYTES = 4000
LAUNCHES = (1, 2, 3)
MODES, TRANSPORTS = ("standard", "buffered"), ("shm", "tcp")


def law_ns(of: Cell) -> int:
    """What a round trip takes in the first launch."""
    slow = {"standard": 1000, "buffered": 1300, "O3": 200, "blocking": 2000}[of.mode]
    return slow * (1 if of.transport == "shm" else 5) + of.bytes * (2 if of.pattern == "pingpong" else 1)


def messages() -> list[Cell]:
    return [
        cell(size=size, mode=mode, transport=transport)
        for transport in TRANSPORTS
        for mode in MODES
        for size in SIZES
    ]


def copies() -> list[Cell]:
    return [cell("memcpy", size, transport="shm") for size in SIZES[1:]]


def reductions() -> list[Cell]:
    return [collective(size=size, ranks=ranks, transport="shm") for ranks in (2, 4) for size in (8, 1024)]


def samples_ns(of: Cell, number: int) -> list[int]:
    """Six, a little longer in every launch."""
    if of.mode == "buffered" and of.bytes == MISSING:
        return []
    return [round(law_ns(of) * (1 + 0.01 * number) * share) for share in (0.98, 1, 1, 1, 1.02, 1.5)]


def visits_of(cells: Iterable[Cell]) -> list[Visit]:
    """The last sample of those that start together was late."""
    visits = measured(cells, LAUNCHES, samples_ns)
    return [replace(one, late=[5]) if one.cell.sync else one for one in visits]


def whole() -> list[Record]:
    """A result that most kinds can be drawn of."""
    limit = cell("eager", 65536, transport="shm")
    cells = [*messages(), *copies(), *reductions()]
    eager = Eager(
        1,
        9,
        limit,
        found=True,
        control_held=True,
        limit_bytes=LIMIT_BYTES,
        longer_bytes=LIMIT_BYTES,
        max_bytes=65536,
        probes=3,
    )
    return [
        campaign(*cells, limit),
        *launches_of(cells, LAUNCHES),
        *visits_of(cells),
        eager,
        End("launches", 1.0, ""),
    ]


@pytest.fixture
def result(machine: Path) -> Path:
    return written("whole.jsonl", *whole())


def svg(cli: Cli, *words: object) -> dict[str, ET.Element]:
    """The named elements of a figure."""
    done = cli("plot", *words, "-o", "figure.svg")
    assert (done.status, done.out) == (0, ""), done.err
    assert done.err == "figure: figure.svg\n"
    return named(Path("figure.svg"))


def named(path: Path) -> dict[str, ET.Element]:
    """Elements by the names that we give, not by those of matplotlib."""
    root = ET.parse(path).getroot()  # noqa: S314 - our own file
    return {
        one.attrib["id"]: one for one in root.iter(f"{SVG}g") if re.match(NAMES, one.attrib.get("id", ""))
    }


def marks(element: ET.Element) -> int:
    """How many markers there are in an element."""
    return sum(1 for _ in element.iter(f"{SVG}use"))


def strokes(element: ET.Element) -> int:
    """How many lines there are in an element."""
    return sum(1 for _ in element.iter(f"{SVG}path"))


def count(found: dict[str, ET.Element], start: str) -> int:
    return sum(1 for name in found if re.match(rf"{start}-\d", name))


def points(found: dict[str, ET.Element], start: str = "points") -> list[int]:
    return [marks(found[name]) for name in sorted(found) if re.match(rf"{start}-\d+", name)]


# ---- Curves, points and bars against the data ----------------------------------------------------

PINGPONG = ("--series", "pingpong shm")


def expect_curves(found: dict[str, ET.Element]) -> None:
    """Two modes of one transport, with their ratio: broken at 0 B, the eager limit and what is missing."""
    assert points(found) == [len(SIZES), len(SIZES) - 1]
    assert {name for name in found if re.match(r"line-\d", name)} == {"line-0-1", "line-0-2", "line-1-3"}
    assert {name for name in found if name.startswith("eager")} == {f"eager-{LIMIT_BYTES}"}
    assert points(found, "points-ratio") == [len(SIZES) - 1]


def test_overview(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--series", "shm")
    # Latency and bandwidth of two modes, reductions of two numbers of ranks, copies: each where it belongs.
    panels = [sorted(name for name in found if name.startswith(f"points-{panel}-")) for panel in range(5)]
    assert [len(panel) for panel in panels] == [2, 2, 2, 1, 0]
    assert {"latency, one way", "bandwidth", "time of one operation of all ranks"} <= set(texts())
    assert not any(name.startswith("points-ratio") for name in found)


def test_ratios_are_within_one_pattern_unless_they_are_asked_for(result: Path, cli: Cli) -> None:
    named_ones = svg(cli, result, "--kind", "time", "--series", "memcpy", "--series", "pingpong shm standard")
    assert points(named_ones, "points-ratio")
    path = written("two.jsonl", *two_patterns())
    assert not points(svg(cli, path, "--kind", "time"), "points-ratio")


def two_patterns() -> list[Record]:
    """Messages and copies, of one mode each."""
    cells = [cell(pattern, size, transport="shm") for pattern in ("pingpong", "memcpy") for size in SIZES[1:]]
    return [campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells)]


def test_time(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "time", *PINGPONG)
    expect_curves(found)
    assert count(found, "band") == count(found, "line") == 3
    assert "break" in svg_text()


def test_rate(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "rate", *PINGPONG)
    assert points(found) == [len(SIZES) - 1, len(SIZES) - 2]
    assert count(found, "line") == 3


def test_ratio(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "ratio", *PINGPONG)
    assert points(found) == [len(SIZES) - 1]
    assert {name for name in found if re.match(r"(line|band)-\d", name)} == {"line-1-3", "band-1-3"}
    assert count(found, "bars") == 3, "what stands alone has a bar"


def test_mean(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "mean", *PINGPONG)
    assert points(found) == [len(SIZES), len(SIZES) - 1]
    assert [strokes(found[name]) for name in ("errors-0", "errors-1")] == [len(SIZES), len(SIZES) - 1]
    assert count(found, "band") == 0


def test_modes(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "modes")
    panels = {"points-0-0", "points-0-1", "points-1-0", "points-1-1"}
    assert {name for name in found if re.match(r"points-\d", name)} == panels
    assert [marks(found[name]) for name in sorted(panels)] == [5, 4, 5, 4]
    assert points(found, "points-ratio") == [5 - 1, 5 - 1]


def test_placements(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "placements", "--series", "pingpong")
    assert [marks(found[f"points-{panel}-{mode}"]) for panel in (0, 1) for mode in (0, 1)] == [5, 4, 5, 4]
    assert {"shm", "tcp"} <= set(texts())


def test_ranks(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "ranks")
    assert points(found) == [2, 2]
    assert count(found, "line") == 2
    assert "crowded" in svg_text()


def test_memory(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "memory", "--series", "shm standard")
    assert points(found) == [len(SIZES) - 1] * 2
    assert {name for name in found if name.startswith("cache")} == {"cache-32768"}
    assert "L1 claimed 32 KiB" in texts()


def test_memory_ratio(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "memory-ratio", "--series", "standard")
    assert points(found) == [len(SIZES) - 1]
    assert count(found, "least") == 1
    assert any(text.endswith("least 1.01 at 8 B") for text in texts()), texts()


def test_distribution(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "distribution", *PINGPONG)
    assert count(found, "shape") == count(found, "median") == count(found, "range") == 2 * len(SIZES) - 1


def test_samples(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "samples", "--series", "pingpong shm standard", "--sizes", "8")
    assert marks(found["samples-0"]) == 6 * len(LAUNCHES)
    assert marks(found["warmup-0"]) == marks(found["first-0"]) == 2 * len(LAUNCHES)
    assert count(found, "launch") == len(LAUNCHES)


def test_cpu(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "cpu", *PINGPONG)
    assert points(found) == points(found, "points-share") == [len(SIZES), len(SIZES) - 1]


def test_skew(result: Path, cli: Cli) -> None:
    found = svg(cli, result, "--kind", "skew")
    assert points(found) == points(found, "points-p99") == points(found, "points-late") == [2, 2]


def test_map(cli: Cli, fake_mpi: Install) -> None:
    fake_mpi()
    assert cli("map", "--np", 4, "--launches", 3, "-o", "map.jsonl").status in {0, 5}
    done = cli("plot", "map.jsonl", "--kind", "map", "-o", "map.svg")
    assert done.status == 0, done.err
    shown = {text for text in texts("map.svg") if text.startswith(("latency", "bandwidth"))}
    assert shown == {"latency of 8 B", "bandwidth of 1 MiB"}
    found = named(Path("map.svg"))
    assert count(found, "latency") == count(found, "rate") == 4 * 3, "both ways of every pair"


def test_states(machine: Path, cli: Cli) -> None:
    small, large = cell(size=8), cell(size=65536)
    course = [["near", "near", "near-far", "far", "far"]] * 3
    times_ns = {"near": 300, "far": 1000}
    visits = in_states((small, large), course, lambda of, state, _: [times_ns[state] + of.bytes] * 3)
    path = written("states.jsonl", campaign(small, large), *map(launch, (1, 2, 3)), *visits)
    done = cli("plot", path, "--kind", "states", "-o", "figure.svg")
    assert done.status == 0, done.err
    text = svg_text()
    for name in ("distance-near", "distance-far", "distance-none", "times-near", "times-far"):
        assert f'id="{name}"' in text
    shown = " ".join(texts())
    assert "near: a cache line takes 40.0 ns" in shown
    assert "changed within the visit" in shown
    assert "8 B; a point a visit" in shown
    assert cli("plot", path, "--kind", "states", "--sizes", "8,64KiB", "-o", "figure.svg").status == 0
    assert "time / median of the cell" in texts()


def test_every_kind_has_a_test() -> None:
    assert {name.replace("-", "_") for name in KINDS} <= {
        name.removeprefix("test_") for name in globals() if name.startswith("test_")
    }


def svg_text(path: str = "figure.svg") -> str:
    return Path(path).read_text(encoding="utf-8")


def texts(path: str = "figure.svg") -> list[str]:
    """All text of a figure: it is text, not shapes."""
    root = ET.parse(path).getroot()  # noqa: S314
    return ["".join(one.itertext()).strip() for one in root.iter(f"{SVG}text")]


# ---- Values --------------------------------------------------------------------------------------


def query(kind: str, *paths: Path, **more: Any) -> Query:
    return Query(KINDS[kind], [source_of(load(path), more.get("stat", "median")) for path in paths], **more)


def drawn(one: Query) -> dict[str, tuple[list[float], list[float]]]:
    """Coordinates of the points of every series, by the name of their element."""
    return {
        str(line.get_gid()): (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for axes in figure(one).axes
        for line in axes.get_lines()
        if str(line.get_gid()).startswith("points-")
    }


def test_points_are_where_the_estimates_are(result: Path) -> None:
    asked = query("time", result, series=("pingpong shm standard",))
    (one,) = against_size(asked)
    xs, ys = drawn(asked)["points-0"]
    assert xs[1:] == list(SIZES[1:])
    assert 0 < xs[0] < SIZES[1]
    assert ys == pytest.approx([row.time.estimate for row in one.rows if row.time])


def test_on_linear_axes_zero_is_at_zero(result: Path) -> None:
    xs, _ = drawn(query("time", result, series=("pingpong shm standard",), linear=True))["points-0"]
    assert xs == list(SIZES)


def test_ratios_are_paired_by_launch(result: Path) -> None:
    asked = query("ratio", result, series=("pingpong shm",))
    _, ys = drawn(asked)["points-1"]
    assert ys == pytest.approx(
        [1300 / 1000, *((1300 + 2 * s) / (1000 + 2 * s) for s in (8, 1024, 8192, 65536))], rel=0.01
    )
    axes = figure(asked).axes[0]
    # What the launches have in common is in neither: the bands are narrow, though launches differ by 2 %.
    bands = [
        one.get_datalim(axes.transData).height
        for one in axes.collections
        if str(one.get_gid()).startswith("band")
    ]
    assert max(bands, default=0) < 0.35


def test_another_statistic_moves_the_points(result: Path) -> None:
    medians = drawn(query("time", result, series=("pingpong shm standard",)))["points-0"][1]
    largest = drawn(query("time", result, series=("pingpong shm standard",), stat="max"))["points-0"][1]
    assert largest == pytest.approx([1.5 * value for value in medians], rel=0.01)


def test_an_interval_far_beyond_the_points_does_not_stretch_the_axis(machine: Path) -> None:
    of = cell(size=8)
    path = written(
        "wild.jsonl",
        campaign(of),
        *(launch(n) for n in (1, 2)),
        *(visit(n, 0, of, [10 ** (3 * n)] * 6) for n in (1, 2)),
    )
    low, high = figure(query("time", path)).axes[0].get_ylim()
    assert high / low < 100


@pytest.mark.parametrize(
    ("sizes", "linear"),
    [({0}, False), ({8}, False), ({0, 1}, False), ({1, 2**40}, False), ({1000, 1001}, True), ({0, 5}, True)],
)
def test_every_range_of_sizes_has_ticks(sizes: set[float], linear: bool) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415

    axes = Figure().add_subplot()
    axis = SizeAxis(sizes, linear=linear)
    axes.plot([axis.x(size) for size in sizes], [1.0] * len(sizes))
    axis.dress(axes)
    low, high = axes.get_xlim()
    assert all(low <= axis.x(size) <= high for size in sizes)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert 1 <= len(labels) <= 10
    assert len(set(labels)) == len(labels)


# ---- Choosing series and sizes -------------------------------------------------------------------


def test_series_are_chosen_by_whole_words_and_renamed(result: Path, cli: Cli) -> None:
    svg(cli, result, "--series", "buffered shm=MPI_Bsend", "--series", "standard pingpong shm")
    assert {"MPI_Bsend", "standard"} <= set(texts())


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
    assert all(wanted(text)(size) for size in yes)
    assert not any(wanted(text)(size) for size in no)


def test_spread_keeps_both_ends() -> None:
    assert spread(range(100), 3) == [0, 50, 99]
    assert spread([1, 2], 4) == [1, 2]
    assert spread([1, 2], 1) == [1]


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
    assert '--series "openmpi 0"' in done.err


# ---- What cannot be drawn ------------------------------------------------------------------------

LACKS = {
    "ranks": "no pattern in which all ranks take part was measured with two numbers of ranks",
    "memory-ratio": "no message was measured beside a copy",
    "map": "has no map",
    "states": "nothing is known of the state of the machine",
}
"""What they say; the others say that nothing was measured."""

ONE_CELL_LACKS = {
    "ratio": "no other series has a size in common with the first",
    "modes": "no pattern that moves bytes was measured in two modes",
    "placements": "only one placement and transport",
    "ranks": "two numbers of ranks",
    "memory": "no copies were measured",
    "memory-ratio": "no message was measured beside a copy",
    "skew": "nothing that it shows was measured",
    "map": "has no map",
    "states": "nothing is known of the state of the machine",
}


@pytest.mark.parametrize("kind", KINDS)
def test_of_nothing_measured_nothing_is_drawn(machine: Path, cli: Cli, kind: str) -> None:
    path = written("nothing.jsonl", campaign(cell(size=8)), End("budget", 1.0, ""))
    done = cli("plot", path, "--kind", kind, "-o", "figure.png")
    assert done.status == 2, done.err
    assert LACKS.get(kind, "nothing that it shows was measured") in done.err
    assert str(path) in done.err
    assert not Path("figure.png").exists()


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


# ---- Imported times ------------------------------------------------------------------------------


def printed(path: str = "printed.jsonl") -> Path:
    cells = [cell(size=size, mpi="unknown", mpi_version="", transport="shm") for size in (8, 64, 1024)]
    return written(
        path, campaign(*cells), *(Imported(of, 1e-6 + of.bytes * 1e-9, 1e-7, "mean") for of in cells)
    )


def test_imported_times_stand_beside_measured_ones_without_intervals(result: Path, cli: Cli) -> None:
    found = svg(cli, printed(), result, "--kind", "time", "--series", "pingpong shm standard")
    assert points(found) == [3, len(SIZES)]
    assert not [name for name in found if re.match(r"(band|bars)-0", name)]
    assert [name for name in found if re.match(r"band-1", name)]
    assert any(text.endswith("(imported)") for text in texts())
    assert points(found, "points-ratio") == [3]
    assert not [name for name in found if re.match(r"(band|bars)-ratio", name)]


def test_a_new_name_does_not_hide_that_it_is_imported(result: Path, cli: Cli) -> None:
    svg(
        cli,
        printed(),
        result,
        "--series",
        "printed=old cluster",
        "--series",
        "whole shm standard pingpong=ours",
    )
    assert {"old cluster (imported)", "ours"} <= set(texts())


def test_imported_means_have_their_standard_deviation(machine: Path, cli: Cli) -> None:
    found = svg(cli, printed(), "--kind", "mean")
    assert strokes(found["errors-0"]) == 3


@pytest.mark.parametrize("kind", ["distribution", "samples"])
def test_imported_times_have_no_samples(machine: Path, cli: Cli, kind: str) -> None:
    done = cli("plot", printed(), "--kind", kind, "-o", "figure.png")
    assert done.status == 2
    assert "it has no samples" in done.err


# ---- Files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", FORMS)
def test_every_form_is_written_and_the_same_again(result: Path, cli: Cli, ending: str) -> None:
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    for name in ("one", "two"):
        assert cli("plot", result, "--series", "pingpong shm", "-o", name + ending).status == 0
    one, two = (Path(name + ending).read_bytes() for name in ("one", "two"))
    assert one.startswith(starts[ending])
    assert one == two
    if ending == ".pdf":  # with fonts that any printer has
        assert b"/FontFile2" in one
        assert b"/Type3" not in one


def test_units_are_on_the_axis(result: Path, cli: Cli) -> None:
    svg(cli, result, "--kind", "rate", "--unit", "Mbit/s", "--series", "pingpong shm")
    assert "bandwidth (Mbit/s)" in texts()
    assert {"0 B", "1 KiB"} & set(texts())


@pytest.mark.parametrize("linear", [False, True])
def test_ticks_are_round_in_the_unit_of_the_axis(result: Path, linear: bool) -> None:
    asked = query("rate", result, series=("pingpong shm",), linear=linear, units=Units("auto", "Mbit/s"))
    ticks = [float(label.get_text()) for label in figure(asked).axes[0].get_yticklabels()]
    steps = np.diff(ticks) if linear else ticks
    heads = {float(f"{step / 10 ** np.floor(np.log10(step)):.3g}") for step in steps}
    assert heads <= {1, 2, 2.5, 5}
    assert len(ticks) >= 2


def test_the_list_of_kinds_is_the_registry(cli: Cli) -> None:
    said = json.loads(cli("list", "plots", "--format", "json").out)["plots"]
    assert [one["name"] for one in said] == list(KINDS)
    assert all(one["about"] and one["needs"] for one in said)
    text = cli("list", "plots").out
    assert all(name in text for name in KINDS)
    assert all(name in cli("plot", "--help").out for name in KINDS)
