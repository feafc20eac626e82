"""What the hardware says of states: whether ranks that were bound elsewhere shared a core or a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.document.state_words import states_lines
from mpigauge.result import environment
from mpigauge.result.cpu_lists import ranges
from mpigauge.rows.machine.hardware_distance import nearness_of
from tests.made import PLACE, campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.reader import Result

CELL = cell(size=8)
TWO_SOCKETS = {"core": ["0,8", "1,9", "4,12", "5,13"], "L3": ["0-3,8-11", "4-7,12-15"]}
LINES_NS = {("0", "8"): 20.0, ("0", "1"): 60.0, ("0", "4"): 250.0, ("0-15", "0-15"): 120.0}


def result_on(*seats: tuple[str, str], groups: dict[str, list[str]] | None = None) -> Result:
    """A launch for each pair of processors; handing over a line takes what is usual between these."""
    of = campaign(CELL)
    kept = TWO_SOCKETS if groups is None else groups
    of = replace(of, environment=replace(of.environment, cpu_groups=kept))
    launches = [
        replace(launch(number), ranks_at=tuple(replace(PLACE, cpus=cpu) for cpu in pair))
        for number, pair in enumerate(seats, 1)
    ]
    visits = [
        visit(number, place, CELL, [200, 210], line_ns=[LINES_NS[pair], LINES_NS[pair] * 1.01])
        for number, pair in enumerate(seats, 1)
        for place in range(4)
    ]
    return result_of(of, *launches, *visits)


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        ([("0", "8"), ("0", "1")] * 3, {"near": "core", "far": "cache"}),
        ([("0", "1"), ("0", "4")] * 3, {"near": "cache", "far": "apart"}),
        ([("0", "8"), ("0", "1"), ("0", "4")] * 3, {"near": "core", "mid": "cache", "far": "apart"}),
    ],
)
def test_what_ranks_share_is_told_of_each_state(
    seats: list[tuple[str, str]], expected: dict[str, str]
) -> None:
    result = result_on(*seats)
    assert nearness_of(result) == expected
    words = {"core": "same core", "cache": "same L3", "apart": "other L3"}
    (first, *_) = states_lines(result, ())
    assert all(words[near] in first for near in expected.values())


def test_ranks_that_are_free_or_of_a_machine_that_says_nothing_are_not_placed() -> None:
    free = result_on(*[("0", "1"), ("0-15", "0-15"), ("0", "4")] * 3)
    told = nearness_of(free)
    assert "mid" not in told
    silent = result_on(*[("0", "1"), ("0", "4")] * 3, groups={})
    assert nearness_of(silent) == {}


def test_one_place_in_all_states_is_not_what_makes_them() -> None:
    result = result_on(*[("0", "1"), ("0", "4")] * 3, groups={"core": ["0"], "L3": ["0-15"]})
    assert nearness_of(result) == {}


@given(st.sets(st.integers(0, 300), min_size=1))
def test_lists_of_processors_are_read(cpus: set[int]) -> None:
    assert {cpu for part in ranges(",".join(map(str, cpus))) for cpu in part} == cpus
    low, high = min(cpus), max(cpus)
    assert ranges(f"{low}-{high}") == [range(low, high + 1)]


@pytest.mark.truth
@given(st.text(max_size=20) | st.from_regex(r"[0-9\u00b2,-]{0,30}", fullmatch=True))
def test_what_is_no_list_is_no_error(text: str) -> None:
    assert all(isinstance(part, range) for part in ranges(text))


def test_the_system_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu, (threads, cache) in enumerate((("0,2", "0-3"), ("1,3", "0-3"), ("0,2", "0-3"), ("1,3", "0-3"))):
        for name, text in (
            ("topology/thread_siblings_list", threads),
            ("cache/index0/level", "1"),
            ("cache/index0/shared_cpu_list", threads),
            ("cache/index3/level", "3"),
            ("cache/index3/shared_cpu_list", cache),
        ):
            path = tmp_path / f"cpu{cpu}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
    monkeypatch.setattr(environment, "CPU", tmp_path)
    assert environment.cpu_groups() == {"core": ["0,2", "1,3"], "L3": ["0-3"]}
    monkeypatch.setattr(environment, "CPU", tmp_path / "none")
    assert environment.cpu_groups() == {}
