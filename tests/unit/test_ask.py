"""Questions about results: checked before a file is read, and answered alike for verbs and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import mpigauge
from mpigauge.ask import VERBS, Request, Selection, damage_note, sessions_in
from mpigauge.errors import UsageError
from mpigauge.importers import loading
from tests.made import campaign, cell, launches_of, measured, result_of, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpigauge.result.reader import Result
    from tests.conftest import Cli

SMALL, LARGE = cell(size=8), cell(size=65536)
ROWS = VERBS["rows"]


def records(title: str = "a test") -> list[Any]:
    """Two sizes in six launches."""
    cells, numbers = (SMALL, LARGE), range(1, 7)
    told = measured(
        cells, numbers, lambda of, number: [1000 + of.bytes + number + turn for turn in range(20)]
    )
    return [campaign(*cells, title=title), *launches_of(cells, numbers), *told]


def unread() -> Iterator[Result]:
    """Results that nobody may ask for."""
    pytest.fail("a file was read")
    yield


@pytest.mark.parametrize(
    "request_", [Request(ROWS, Selection(sizes="8x")), Request(ROWS, renames=("nothing",))]
)
def test_what_is_wrong_is_refused_before_a_file_is_read(request_: Request) -> None:
    with pytest.raises(UsageError, match=r"8x|nothing"):
        request_.query(unread())


def test_results_are_read_one_after_the_other_and_selected_by_size() -> None:
    read = []

    def each() -> Iterator[Result]:
        for number in range(2):
            read.append(number)
            yield result_of(*records())

    sources = Request(ROWS, Selection(sizes="8")).selected(each())
    assert read == [0, 1]
    assert [row.cell for source in sources for row in source.rows] == [SMALL, SMALL]


def test_verdicts_are_of_each_state_unless_one_is_named() -> None:
    assert Request(ROWS).state is None
    assert Request(ROWS, each_state=True).state == "all"
    assert Request(ROWS, Selection(state="near"), each_state=True).state == "near"


def test_a_verb_and_a_script_say_the_same_of_what_a_result_lacks(machine: Path, cli: Cli) -> None:
    path = written("r.jsonl", *records())
    done = cli("model", str(path))
    with pytest.raises(UsageError) as raised:
        mpigauge.load(path).model()
    assert done.err == f"mpigauge: {raised.value.sentence}\n  hint: {raised.value.hint}\n"


def test_a_damaged_file_is_told_and_a_whole_one_is_not() -> None:
    result = result_of(*records())
    assert damage_note(result) == ""
    result.packed_damage = "cut"
    assert damage_note(result).startswith(f"{result.path}: ")


def test_what_is_no_session_is_told_and_left_out(machine: Path) -> None:
    first, second = written("a.jsonl", *records()), written("b.jsonl", *records("another"))
    broken = machine / "broken.jsonl"
    broken.write_text("nothing\n", encoding="utf-8")
    told: list[str] = []
    found = sessions_in([first, broken, second], Request(VERBS["history"]), loading.load, told.append)
    assert found.known
    assert next(line for line in told if "broken.jsonl" in line).startswith("skipped: ")
    with pytest.raises(UsageError, match=r"broken\.jsonl"):
        sessions_in([broken], Request(VERBS["history"]), loading.load, told.append)
