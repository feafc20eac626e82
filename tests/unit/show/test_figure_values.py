"""Figures: where points and intervals stand, of what was measured and of what was imported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.query.series import against_size
from mpigauge.show.figures import figure
from mpigauge.show.figures.scales import SizeAxis
from tests.made import (
    campaign,
    cell,
    launch,
    launches_of,
    measured,
    visit,
    written,
)
from tests.unit.show.drawing import (
    LAUNCHES,
    SIZES,
    drawn,
    points,
    printed,
    query,
    strokes,
    svg,
    texts,
    visits_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.plan.model import Cell
    from tests.conftest import Cli

# ---- Values --------------------------------------------------------------------------------------


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
    axis.set_up(axes)
    low, high = axes.get_xlim()
    assert all(low <= axis.x(size) <= high for size in sizes)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert 1 <= len(labels) <= 10
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (
            [8 * 4**n for n in range(8)],
            {"8 B", "32 B", "128 B", "512 B", "2 KiB", "8 KiB", "32 KiB", "128 KiB"},
        ),
        ([8 * 8**n for n in range(6)], {"8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB"}),
        ([64 * 8**n for n in range(7)], {"64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB", "16 MiB"}),
        ([1000, 10_000, 100_000], {"1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"}),
    ],
)
def test_labels_of_sizes_are_sizes_that_were_measured(sizes: list[int], expected: set[str]) -> None:
    """As far as powers of two were."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    axes = Figure().add_subplot()
    SizeAxis(sizes, linear=False).set_up(axes)
    assert {label.get_text() for label in axes.get_xticklabels()} == expected


# ---- Imported times ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_imported_times_stand_beside_measured_ones_without_intervals(result: Path, cli: Cli) -> None:
    found = svg(cli, printed(), result, "--kind", "time", "--series", "pingpong shm standard")
    assert points(found) == [3, len(SIZES)]
    assert not [name for name in found if re.match(r"(band|bars)-0", name)]
    assert [name for name in found if re.match(r"band-1", name)]
    assert any(text.endswith("(imported)") for text in texts())
    assert points(found, "points-ratio") == [3]
    assert not [name for name in found if re.match(r"(band|bars)-ratio", name)]


@pytest.mark.thorough
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


def test_of_too_many_sizes_a_distribution_shows_every_second_and_says_so(machine: Path) -> None:
    cells = [cell(size=64 * number, transport="shm") for number in range(1, 40)]
    path = written("many.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells))
    for chosen in ({}, {"sizes": "0:1MiB"}):
        whole = figure(query("distribution", path, **chosen))
        medians = [one for one in whole.axes[0].get_lines() if str(one.get_gid()).startswith("median-")]
        assert len(medians) == 20
        assert "20 of 39 sizes" in " ".join(whole.get_supxlabel().split())


def test_one_late_sample_does_not_press_all_others_together(machine: Path) -> None:
    """The axis has 97 % of all samples; a cell of which more are beyond it has a mark."""
    cells = [cell(size=2**power, transport="shm") for power in range(12)]

    def took_ns(of: Cell, number: int) -> list[int]:
        late = 50_000 if of.bytes == 8 else 1_100
        return [1000 + step for step in range(96)] + [late] * 4

    path = written(
        "late.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *measured(cells, LAUNCHES, took_ns)
    )
    (axes,) = figure(query("distribution", path)).axes
    assert axes.get_ylim()[1] < 1.5
    (marks,) = [one for one in axes.get_lines() if str(one.get_gid()).startswith("beyond-")]
    assert np.asarray(marks.get_xdata()).tolist() == [3]


def test_a_tail_of_one_and_a_half_percent_is_marked_and_does_not_flatten_the_shapes(machine: Path) -> None:
    cells = [cell(size=2**power, transport="shm") for power in range(3)]

    def took_ns(of: Cell, number: int) -> list[int]:
        return [10_000 + step for step in range(985)] + [40_000] * 15

    path = written(
        "tail.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *measured(cells, LAUNCHES, took_ns)
    )
    (axes,) = figure(query("distribution", path)).axes
    assert axes.get_ylim()[1] < 1.2
    (marks,) = [one for one in axes.get_lines() if str(one.get_gid()).startswith("beyond-")]
    assert len(np.asarray(marks.get_xdata())) == 3
