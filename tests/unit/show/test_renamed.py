"""--rename: placements of two results under one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.query.renamed import renamed
from mpigauge.show.figures import figure
from tests.made import campaign, cell, launches_of, written
from tests.unit.show.drawing import LAUNCHES, query, texts, visits_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli


def in_places(name: str, *places: str) -> Path:
    cells = [cell(size=size, placement=place, transport="tcp") for place in places for size in (8, 64, 512)]
    return written(name, campaign(*cells), *launches_of(cells, LAUNCHES), *visits_of(cells))


@pytest.fixture
def two(machine: Path) -> tuple[Path, Path]:
    return in_places("theirs.jsonl", "far", "near"), in_places("ours.jsonl", "h1,h2", "h1,h3")


@pytest.mark.thorough
def test_renamed_placements_share_a_panel(two: tuple[Path, Path], cli: Cli) -> None:
    words = ("--kind", "placements", "-o", "figure.svg")
    assert cli("plot", *two, *words).status == 0
    assert {"far", "near", "h1,h2", "h1,h3"} <= {one.rpartition("tcp, ")[2] for one in texts()}
    done = cli("plot", *two, *words, "--rename", "far=h1,h3", "--rename", "near = h1,h2")
    assert done.status == 0, done.err
    titles = {one.rpartition("tcp, ")[2] for one in texts()}
    assert {"h1,h2", "h1,h3"} <= titles
    assert not {"far", "near"} & titles


def test_renamed_placements_share_a_table(two: tuple[Path, Path], cli: Cli) -> None:
    apart = cli("show", *two, "--table", "rates").out
    done = cli("show", *two, "--table", "rates", "--rename", "far=h1,h3", "--rename", "near=h1,h2")
    assert done.status == 0, done.err
    assert "near" in apart
    assert "near" not in done.out
    assert "theirs" in done.out


def test_what_is_renamed_keeps_its_numbers_limits_and_visits(result: Path) -> None:
    before = query("time", result).sources
    (after,) = renamed(before, ["same-host=here"])
    assert {row.cell.placement for row in after.rows} == {"here"}
    assert [row.time for row in after.rows] == [row.time for row in before[0].rows]
    assert {job.placement for job in after.limits} == {"here"}
    assert all(after.visits[row.cell] == list(row.visits) for row in after.rows if row.visits)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("far", "'far' renames nothing"),
        ("=h1,h2", "renames nothing"),
        ("near=", "renames nothing"),
        ("moon=h1,h2", "no result has a placement 'moon'"),
        ("far=near", "two placements of one name: near"),
    ],
)
@pytest.mark.parametrize("verb", ["plot", "show"])
def test_what_renames_nothing_is_refused(
    two: tuple[Path, Path], cli: Cli, verb: str, text: str, sentence: str
) -> None:
    more = ("-o", "figure.png") if verb == "plot" else ("--table", "rates")
    done = cli(verb, *two, *more, "--rename", text)
    assert done.status == 2
    assert sentence in done.err


def test_an_unknown_name_is_answered_with_all_there_are(two: tuple[Path, Path], cli: Cli) -> None:
    assert "far, h1,h2, h1,h3, near" in cli("plot", *two, "--rename", "moon=h1,h2").err


def test_two_placements_may_not_get_one_new_name(two: tuple[Path, Path], cli: Cli) -> None:
    done = cli("plot", *two, "--rename", "far=x", "--rename", "near=x")
    assert (done.status, "two placements of one name: x" in done.err) == (2, True)


def test_limits_are_drawn_of_renamed_places(result: Path) -> None:
    asked = query("time", result, series=("pingpong shm standard",))
    asked.sources[:] = renamed(asked.sources, ["same-host=here"])
    ids = {str(line.get_gid()) for axes in figure(asked).axes for line in axes.get_lines()}
    assert any(one.startswith("eager-") for one in ids)
