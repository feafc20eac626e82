"""Reading results: no bytes make it crash, and whatever can be loaded can be shown."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mpigauge.document.document import Units
from mpigauge.errors import UsageError
from mpigauge.result.kernel_data import ClockCheck
from mpigauge.rows.rows import rows
from mpigauge.show.columns import EXTRA_COLUMNS
from mpigauge.show.curves import document
from mpigauge.show.formats import GENERAL, render
from tests.made import LARGE, RECORDS, SMALL, campaign, clock, collective, launch, lines_of, together, visit
from tests.unit.result.reading import WHOLE, loaded

if TYPE_CHECKING:
    from pathlib import Path

repeatable = settings(derandomize=True, deadline=None)


@repeatable
@given(st.binary(), st.booleans())
def test_no_bytes_make_it_crash(file: Path, content: bytes, after_a_good_line: bool) -> None:
    with contextlib.suppress(UsageError):
        loaded(file, (lines_of(RECORDS[0]) if after_a_good_line else b"") + content)


@pytest.mark.thorough
@settings(repeatable, max_examples=60)
@given(st.sets(st.integers(1, len(WHOLE.splitlines()) - 1)))
def test_whatever_lines_are_lost_the_others_can_be_shown(file: Path, lost: set[int]) -> None:
    lines = WHOLE.splitlines()
    result = loaded(file, b"\n".join(b"junk" if i in lost else line for i, line in enumerate([*lines, b""])))
    assert result.damaged == sorted(number + 1 for number in lost)
    for form in GENERAL:
        assert render(document(result, rows(result), list(EXTRA_COLUMNS), Units()), form)


def _mutated(data: st.DataObject) -> bytes:
    content = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        content[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=4))
    return bytes(content)


@repeatable
@given(st.data())
def test_no_mutation_makes_it_crash(file: Path, data: st.DataObject) -> None:
    with contextlib.suppress(UsageError):
        loaded(file, _mutated(data))


@settings(repeatable)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([SMALL, LARGE]),
            st.integers(1, 3),
            st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9),
            st.integers(-1, 3),
            st.lists(st.integers(-2, 10**12), max_size=2),
        ),
        max_size=4,
    )
)
def test_whatever_can_be_loaded_can_be_shown(
    file: Path, visits: list[tuple[object, int, list[int], int, list[int]]]
) -> None:
    records = [
        visit(number, i, of, samples, ops=ops, trial_ns=trial)  # type: ignore[arg-type]
        for i, (of, number, samples, ops, trial) in enumerate(visits)
    ]
    with contextlib.suppress(UsageError):
        result = loaded(file, lines_of(campaign(SMALL, LARGE), launch(1), *records))
        for form in GENERAL:
            assert render(document(result, rows(result), ["first", "cpu"], Units()), form)


nanoseconds = st.integers(-2, 10**12)
lists = st.lists(nanoseconds, max_size=4)


@settings(repeatable, report_multiple_bugs=False)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3),
            st.lists(nanoseconds, min_size=1, max_size=4),
            st.fixed_dictionaries(
                {},
                optional={
                    "late": st.lists(st.integers(-1, 4), max_size=4),
                    "skew_ns": lists,
                    "root_ns": lists,
                    "local_ns": lists,
                    "pure_ns": lists,
                    "work_ns": nanoseconds,
                    "cpu_ns": st.one_of(st.none(), nanoseconds),
                },
            ),
        ),
        max_size=4,
    ),
    st.lists(st.tuples(st.integers(1, 3), st.booleans(), lists, lists), max_size=3),
    st.sampled_from(["common", "barrier", "mpi_barrier"]),
)
@example([(1, [9, 9], {"root_ns": []})], [], "common")
@example([(1, [9, 9], {})], [], "")
@example(
    [(1, [9], {"pure_ns": [0], "work_ns": 9}), (1, [9] * 3, {"pure_ns": [9] * 3, "work_ns": 9})], [], "common"
)
@example([(1, [9, 9], {"skew_ns": [5, 5], "late": [2]})], [], "common")
@example([(1, [9, 9], {"skew_ns": [5], "late": []})], [], "common")
@example([(1, [0, 0], {"skew_ns": [5, 5], "late": []})], [], "common")
@example([(1, [9, 9], {"skew_ns": [5, 5], "late": []})], [], "barrier")
def test_whatever_can_be_loaded_of_a_collective_can_be_shown(
    file: Path,
    visits: list[tuple[int, list[int], dict[str, object]]],
    clocks: list[tuple[int, bool, list[int], list[int]]],
    sync: str,
) -> None:
    of = collective("allreduce", mode="overlap", sync=sync)
    whole = [together(number, i, of, samples) for i, (number, samples, _) in enumerate(visits)]
    altered = [msgspec.to_builtins(one) | more for one, (*_, more) in zip(whole, visits, strict=True)]
    checked = [
        msgspec.structs.replace(
            clock(number, shared=shared),
            checks=tuple(ClockCheck(1, low, high) for low, high in zip(lows, highs, strict=False)),
        )
        for number, shared, lows, highs in clocks
    ]
    with contextlib.suppress(UsageError):
        content = lines_of(campaign(of), launch(1), *checked)
        result = loaded(file, content + b"".join(msgspec.json.encode(one) + b"\n" for one in altered))
        for form in GENERAL:
            assert render(document(result, rows(result), list(EXTRA_COLUMNS), Units()), form)
