"""The figure of a comparison: its marks are the ratios of the verdict, however many there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.errors import EXIT_DONE, EXIT_USAGE, UsageError
from mpigauge.plan.factors import COMPARED_BY
from mpigauge.result.records import Failure
from mpigauge.show.compared import compare_sources
from mpigauge.show.figures import figure
from mpigauge.show.figures.compare import MAX_CONTROLS, MAX_LINES
from mpigauge.stats.decision import Thresholds
from tests.made import campaign, cell, launches_of, measured, written
from tests.unit.show.drawing import count, drawn, marks, query, svg, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mpigauge.plan.model import Cell
    from tests.conftest import Cli

OTHER = {"mpi": "mpich", "mpi_version": "5.0.2"}
SIZES = (8, 64, 512, 4096, 32768)
FEW = range(1, 9)


def both(
    path: str,
    factor: Callable[[Cell], float],
    sizes: Sequence[int] = SIZES,
    launches: Sequence[int] = FEW,
    noise: float = 0.003,
) -> Path:
    """Two libraries in turn, of which the second takes so many times as long; and copies, which do not."""
    chance = np.random.default_rng(1)
    cells = [cell(size=size, **other) for other in ({}, OTHER) for size in sizes]
    cells += [cell("memcpy", 4096, **other) for other in ({}, OTHER)]

    def samples_ns(of: Cell, _: int) -> list[int]:
        slower = factor(of) if of.mpi == OTHER["mpi"] and of.pattern != "memcpy" else 1.0
        return [round(1e6 * slower * np.exp(noise * chance.normal()))] * 5

    return written(
        path, campaign(*cells), *launches_of(cells, launches), *measured(cells, launches, samples_ns)
    )


def shift(of: Cell) -> float:
    """The smallest is slower, the largest faster."""
    return {SIZES[0]: 1.3, SIZES[-1]: 0.8}.get(of.bytes, 1.0)


def test_marks_are_the_ratios_of_the_verdict(machine: Path) -> None:
    asked = query("compare", both("both.jsonl", shift))
    shown = compare_sources(asked).shown
    ratios = [one.decision.estimate for one in (*shown.cells, *shown.controls) if one.decision]
    found = sorted(drawn(asked).values(), key=lambda at: at[1])
    assert [xs for xs, _ in found] == [[pytest.approx(ratio)] for ratio in ratios]
    assert len({tuple(ys) for _, ys in found}) == len(ratios), "a line each"


def test_a_verdict_has_a_shape_and_a_colour_of_its_own(machine: Path) -> None:
    lines = [
        line
        for line in figure(query("compare", both("both.jsonl", shift))).axes[0].get_lines()
        if str(line.get_gid()).startswith("points-")
    ]
    shapes = [str(line.get_marker()) for line in lines]
    assert (shapes[0], shapes[len(SIZES) - 1]) == (">", "<")
    assert set(shapes[1 : len(SIZES) - 1]) == {"o"}
    assert len({(line.get_marker(), line.get_color()) for line in lines[:-1]}) == len(set(shapes))
    assert lines[-1].get_color() == "0.6", "a control"


@pytest.mark.thorough
def test_the_title_is_what_compare_says_first(machine: Path, cli: Cli) -> None:
    path = both("both.jsonl", shift)
    verdict, basis, *_ = cli("compare", path, "--margin", "5%").out.splitlines()
    found = svg(cli, path, "--kind", "compare", "--margin", "5%")
    assert verdict in texts()
    assert set(basis.split(" \N{MIDDLE DOT} ")) <= set(
        " \N{MIDDLE DOT} ".join(texts()).split(" \N{MIDDLE DOT} ")
    )
    assert {"margin 5.0 %", "allowed 10 %"} <= set(texts())
    assert count(found, "points") == count(found, "bars") == len(SIZES) + 1
    assert all(marks(found[name]) == 1 for name in found if name.startswith("points"))


@pytest.mark.thorough
def test_of_many_neighbours_with_one_verdict_are_a_line(machine: Path) -> None:
    """And all that differs is there: nothing is left out that a reader must know."""
    sizes = [8 * n for n in range(1, MAX_LINES + 20)]
    path = both("many.jsonl", lambda of: 1.4 if of.bytes <= 8 * 30 else 1.0, sizes)
    whole = figure(query("compare", path))
    labels = [label.get_text() for label in whole.axes[0].get_yticklabels()]
    assert "8 B to 240 B" in labels
    assert len(labels) <= MAX_LINES + MAX_CONTROLS
    assert whole.get_size_inches()[1] < 12


@pytest.mark.thorough
def test_more_than_fit_are_counted(machine: Path, cli: Cli) -> None:
    sizes = [8 * n for n in range(1, MAX_LINES + 20)]
    path = both("many.jsonl", lambda _: 1.0, sizes)
    svg(cli, path, "--kind", "compare")
    (note,) = (text for text in texts() if "not drawn: " in text)
    assert int(re.findall(r"not drawn: (\d+) more", note)[0]) == len(sizes) - MAX_LINES


def test_nothing_that_is_drawn_overlaps(machine: Path) -> None:
    """Texts of one column stand a line apart, and none leaves the page."""
    whole = figure(query("compare", both("both.jsonl", shift)))
    whole.draw_without_rendering()
    axes, page = whole.axes[0], whole.bbox
    for column in (axes.texts, axes.get_yticklabels()):
        boxes = [text.get_window_extent() for text in column if text.get_text()]
        assert all(page.x0 <= box.x0 and box.x1 <= page.x1 + 1 for box in boxes)
        assert not any(
            one.overlaps(other) for number, one in enumerate(boxes) for other in boxes[number + 1 :]
        )


def test_results_of_two_times_have_hollow_marks(machine: Path) -> None:
    paths = [both("before.jsonl", lambda _: 1.0), both("after.jsonl", lambda _: 1.2)]
    lines = figure(query("compare", *paths)).axes[0].get_lines()
    hollow = [line for line in lines if str(line.get_marker()) in "<>D" and line.get_color() != "0.6"]
    assert {line.get_marker() for line in hollow} >= {">"}
    assert {line.get_markerfacecolor() for line in hollow} == {"white"}


def test_an_interval_that_goes_far_does_not_press_the_points_together(machine: Path) -> None:
    path = both("noisy.jsonl", lambda _: 1.0, SIZES[:2], range(1, 6), noise=2.0)
    whole = figure(query("compare", path, thresholds=Thresholds(0.03, 0.1)))
    low, high = whole.axes[0].get_xlim()
    points = [xs[0] for xs, _ in drawn(query("compare", path)).values()]
    most = max(*(abs(np.log(x)) for x in points), np.log(1.1))
    assert max(-np.log(low), np.log(high)) < 3 * most


def test_what_was_lost_is_said_where_there_is_no_ratio(machine: Path, cli: Cli) -> None:
    cells = [cell(size=size, **other) for other in ({}, OTHER) for size in SIZES]
    gone = cells[-1]
    visits = measured(cells, FEW, lambda of, number: [] if of == gone else [1000 + number] * 5)
    failures = [Failure(number, "crash", "signal 11", cell=gone) for number in FEW]
    path = written("lost.jsonl", campaign(*cells), *launches_of(cells, FEW), *visits, *failures)
    found = svg(cli, path, "--kind", "compare")
    assert "lost" in texts()
    assert any(text.startswith("lost: 1 of 5 numbers") for text in texts())
    assert count(found, "points") == len(SIZES) - 1


def test_few_launches_are_no_figure(machine: Path) -> None:
    with pytest.raises(UsageError, match="launches enough"):
        figure(query("compare", both("few.jsonl", shift, launches=(1, 2, 3))))


def test_controls_alone_are_no_figure(machine: Path) -> None:
    cells = [cell(pattern, 4096, **other) for pattern in ("pingpong", "memcpy") for other in ({}, OTHER)]
    visits = measured(
        cells, FEW, lambda of, number: [1000] * 5 if of.pattern == "memcpy" or number < 4 else []
    )
    path = written("controls.jsonl", campaign(*cells), *launches_of(cells, FEW), *visits)
    with pytest.raises(UsageError, match="launches enough"):
        figure(query("compare", path))


@pytest.mark.thorough
@pytest.mark.parametrize("words", [("--by", "mpi"), ("--margin", "5%"), ("--allow", "5%"), ("--force",)])
def test_what_only_a_comparison_takes_is_not_ignored(machine: Path, cli: Cli, words: tuple[str, ...]) -> None:
    path = both("both.jsonl", shift)
    done = cli("plot", path, "--kind", "time", *words, "-o", "figure.svg")
    assert (done.status, f"--kind time does not take {words[0]}" in done.err) == (EXIT_USAGE, True)
    assert cli("plot", path, "--kind", "compare", *words, "-o", "figure.svg").status == EXIT_DONE


def test_what_is_refused_of_a_verdict_is_refused_of_its_figure(machine: Path, cli: Cli) -> None:
    path = both("both.jsonl", shift)
    for words, expected in (
        ((path, path, path), "3 results"),
        ((path, path, "--by", "mpi"), "--by compares"),
        ((path, "--margin", "20%"), "--allow 10% is less"),
        ((path, "--by", COMPARED_BY[-1]), f"nothing differs in {COMPARED_BY[-1]}"),
    ):
        done = cli("plot", *words, "--kind", "compare", "-o", "figure.svg")
        assert (done.status, expected in done.err) == (EXIT_USAGE, True), done.err
