"""The answer has a line for each way in which a pattern was measured, as far as a screen has room."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.find.answer import MAX_WAYS, answers, common_heading, heading, lines_of
from mpigauge.rows.rows import rows
from tests.made import PATTERNS, RECORDS, campaign, cell, launches_of, measured, result_of
from tests.places import DOCS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.find.answer import Answer, QuoteLine
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from tests.conftest import Cli

BY_NAME = {pattern.name: pattern for pattern in PATTERNS}
ROOM = 11
MODES = ("fence", "lock", "flush", "pscw", "request")
WINDOWS = ("create", "allocate", "dynamic")


def answers_of(cells: Sequence[Cell]) -> list[Answer]:
    """The answers of a result with these cells, all of two launches."""
    records: list[Record] = [
        campaign(*cells),
        *launches_of(cells, (1, 2)),
        *measured(cells, (1, 2), lambda *_: [300] * 4),
    ]
    return answers(rows(result_of(*records, RECORDS[-1])), BY_NAME)


def lines(cells: Sequence[Cell], room: int = ROOM) -> list[QuoteLine]:
    """The lines of their answer."""
    return lines_of(answers_of(cells), room)


def puts(modes: Sequence[str], windows: Sequence[str]) -> list[Cell]:
    """One put for each mode in each window."""
    return [cell("put", 8, mode, rma_window=window) for mode, window in product(modes, windows)]


def test_each_mode_and_window_has_a_line_that_names_both() -> None:
    named = [heading(line) for line in lines(puts(MODES[:3], WINDOWS[:2]))]
    assert named == [f"put {mode}, window {window}, 8 B" for mode, window in product(MODES[:3], WINDOWS[:2])]


@settings(derandomize=True, deadline=None, max_examples=20)
@given(
    st.lists(st.sampled_from(MODES), min_size=1, unique=True),
    st.lists(st.sampled_from(WINDOWS), min_size=1, unique=True),
)
def test_every_value_has_a_line_and_no_two_lines_are_called_the_same(
    modes: list[str], windows: list[str]
) -> None:
    found = lines(puts(modes, windows))
    named = [heading(line) for line in found]
    cells = [line.first.row.cell for line in found]
    assert len(named) == len({*named}) == min(MAX_WAYS, len(modes) * len(windows))
    assert {one.mode for one in cells} == {*modes}
    assert {one.rma_window for one in cells} == {*windows}
    assert (cells[0].mode, cells[0].rma_window) == (modes[0], windows[0])


@pytest.mark.parametrize("pattern", ["layout", "matching", "partitioned", "send-overhead"])
def test_a_pattern_beside_ping_pong_has_a_line_of_its_own(pattern: str) -> None:
    mode = BY_NAME[pattern].modes[0].name
    named = [heading(line) for line in lines([cell(size=8), cell(pattern, 8, mode)])]
    assert [one for one in named if one.startswith(pattern)], named
    assert named[0].startswith("latency")


@pytest.mark.parametrize("pattern", ["layout", "matching", "partitioned"])
def test_the_bandwidth_beside_ping_pong_is_of_plain_messages(pattern: str) -> None:
    mode = BY_NAME[pattern].modes[0].name
    (line,) = (
        line
        for line in lines([cell(size=64), cell(pattern, 4096, mode), cell(pattern, 64, mode)])
        if heading(line) == "bandwidth"
    )
    assert line.first.row.cell == cell(size=64)
    alone = lines([cell(pattern, 4096, mode), cell(pattern, 64, mode)])
    assert [line.first.row.cell.pattern for line in alone if heading(line) == "bandwidth"] == [pattern]


def test_both_directions_stand_once_beside_ping_pong() -> None:
    named = [heading(line) for line in lines([cell(size=8), cell("exchange", 8, "nonblocking")])]
    assert "both directions" in named
    assert not [one for one in named if one.startswith("exchange")]


@pytest.mark.parametrize("room", range(1, ROOM + 1))
def test_there_are_never_more_lines_than_there_is_room_for(room: int) -> None:
    found = lines(puts(MODES, WINDOWS), room)
    assert 1 <= len(found) <= room
    assert "put fence" in heading(found[0])


def test_jobs_side_by_side_have_the_lines_of_both() -> None:
    cells = [
        cell("put", 8, mode, mpi=mpi, rma_window=window)
        for mpi, mode, window in product(("mpich", "openmpi"), MODES[:2], WINDOWS[:2])
    ]
    found = lines(cells)
    assert len(found) == 4
    assert len({common_heading(line) for line in found}) == 4
    assert all(all(line.quotes) for line in found)


def test_a_message_in_one_piece_is_not_chosen_over_blocks() -> None:
    (of, *_) = lines([cell("layout", 64, mode) for mode in ("contiguous", "derived")], room=1)
    assert heading(of).startswith("layout derived")


def test_what_no_message_is_of_has_a_line_beside_messages() -> None:
    found = lines([cell("layout", 64, "derived"), cell("type_commit", 64, "derived", ranks=2)])
    assert any(heading(line).startswith("type_commit") for line in found)


def test_a_target_that_computes_has_lines_where_there_are_no_others() -> None:
    of = [heading(line) for line in lines([cell("progress", 8, mode) for mode in ("put", "get")])]
    assert of == ["progress put, 8 B", "progress get, 8 B"]


def test_the_library_of_several_jobs_is_named(cli: Cli) -> None:
    assert (
        "Open MPI 5.0.11 \N{MIDDLE DOT} 4 ranks on 2 nodes"
        in cli("show", DOCS / "results" / "uplink.jsonl.gz").out
    )
