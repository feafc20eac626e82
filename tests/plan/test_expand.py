"""A plan becomes cells: all that was asked for, each once, and nothing that cannot be."""

from __future__ import annotations

import contextlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan.expand import (
    IN_FLIGHT_BYTES,
    INT_MAX,
    RANKS_PER_CORE_MOST,
    cells_of,
    check_memory,
    check_ranks,
    memory_need,
    window_for,
)
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import Description
from tests.fake_kernel import PATTERNS, describe

repeatable = settings(derandomize=True, deadline=None)
KERNEL = msgspec.convert(describe(), Description)
KERNEL_WITH_LARGE_COUNTS = msgspec.structs.replace(KERNEL, large_counts=True)


def expanded(*measure: Measure, ranks: tuple[int, ...] = (2,), kernel: Description = KERNEL) -> list[Cell]:
    """The cells of a plan, without the floor."""
    cells = cells_of(Plan(measure, ranks=ranks), kernel, "openmpi", "5.0.11", "the plan")
    return [cell for cell in cells if cell.pattern != "null"]


def test_every_combination_is_there_once() -> None:
    cells = expanded(
        Measure("pingpong", ("standard", "ready"), sizes="8,64"),
        Measure("pingpong", ("standard",), sizes="64,512"),
        ranks=(2, 3),
    )
    assert len(cells) == len(set(cells)) == 2 * (2 * 2 + 1)
    assert {(cell.mpi, cell.mpi_version, cell.transport) for cell in cells} == {("openmpi", "5.0.11", "auto")}


def test_the_floor_is_measured_first_with_every_number_of_ranks() -> None:
    cells = cells_of(Plan((Measure("ring"),), ranks=(2, 4)), KERNEL, "openmpi", "5.0.11", "the plan")
    assert [(cell.pattern, cell.ranks) for cell in cells[:2]] == [("null", 2), ("null", 4)]
    assert cells_of(Plan((Measure("null"),)), KERNEL, "openmpi", "5.0.11", "the plan") == cells[:1]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_modes_default_to_the_first_and_all_means_all(pattern: str) -> None:
    modes = [mode for mode, *_ in PATTERNS[pattern][-1]]
    asked = cells_of(Plan((Measure(pattern, ("all",), sizes="8"),)), KERNEL, "m", "1", "the plan")
    default = cells_of(Plan((Measure(pattern, sizes="8"),)), KERNEL, "m", "1", "the plan")
    assert [cell.mode for cell in asked if cell.pattern == pattern] == modes
    assert [cell.mode for cell in default if cell.pattern == pattern] == modes[:1]


def test_sizes_are_those_of_messages_only() -> None:
    assert [cell.bytes for cell in expanded(Measure("ring", sizes="8,64"))] == [8, 64]
    assert [cell.bytes for cell in expanded(Measure("eager", sizes="8,64"))] == [64]
    assert [cell.bytes for cell in expanded(Measure("eager"))] == [4 * 2**20]
    assert expanded(Measure("null", sizes="8,64")) == []


def test_random_sizes_come_from_the_seed() -> None:
    def sizes(seed: int) -> list[int]:
        cells = cells_of(Plan((Measure("ring", sizes="auto"),), seed=seed), KERNEL, "m", "1", "the plan")
        return [cell.bytes for cell in cells]

    assert sizes(3) == sizes(3) != sizes(4)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (Measure("pingpung"), ["'pingpung'"]),
        (Measure("pingpong", ("nonsense",)), ["pingpong", "'nonsense'"]),
        (Measure("pingpong", sizes="8:4"), ["'8:4'"]),
        (Measure("pingpong", ranks=(1,)), ["pingpong", "2 ranks", "not 1"]),
        (Measure("pingpong", ("persistent",), sizes="8", buffers="cold"), ["persistent", "cold"]),
        (Measure("pingpong", sizes="3GiB"), ["3 GiB", "MPI 4"]),
        (Measure("pingpong", ("buffered",), sizes="600MiB"), ["buffered", "600 MiB"]),
    ],
)
def test_what_cannot_be_measured_is_refused(measure: Measure, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        expanded(measure)
    assert all(word in caught.value.sentence for word in words), caught.value.sentence
    assert caught.value.hint


def test_large_messages_need_a_library_that_can_count_them() -> None:
    measure = Measure("pingpong", sizes=str(INT_MAX + 1))
    assert expanded(measure, kernel=KERNEL_WITH_LARGE_COUNTS)[0].bytes == INT_MAX + 1
    assert expanded(Measure("pingpong", sizes=str(INT_MAX)))


@repeatable
@given(st.integers(1, 2**20), st.integers(0, 2**46))
def test_a_window_is_what_was_asked_for_as_far_as_memory_goes(window: int, size: int) -> None:
    found = window_for(window, size)
    assert 1 <= found <= window
    assert found in {window, 2} or found * size <= IN_FLIGHT_BYTES < (found + 1) * size


def test_only_patterns_with_a_window_have_one() -> None:
    assert expanded(Measure("stream", sizes="8", window=16))[0].window == 16
    assert expanded(Measure("ring", sizes="8", window=16))[0].window == 0


def test_too_many_ranks_are_refused_before_they_are_started() -> None:
    most = 2 * RANKS_PER_CORE_MOST
    check_ranks(Plan((Measure("ring", ranks=(most,)),), ranks=(most,)), 2, "the plan")
    for plan in (Plan((Measure("ring"),), ranks=(most + 1,)), Plan((Measure("ring", ranks=(2, most + 1)),))):
        with pytest.raises(UsageError) as caught:
            check_ranks(plan, 2, "the plan")
        assert str(most) in caught.value.hint


def test_memory_grows_with_what_is_allocated() -> None:
    def need(pattern: str, mode: str, size: int, **more: object) -> int:
        cell = msgspec.convert(
            {
                "pattern": pattern,
                "mode": mode,
                "bytes": size,
                "ranks": 4,
                "mpi": "m",
                "mpi_version": "1",
                **more,
            },
            Cell,
        )
        return memory_need(cell, KERNEL, 2**20)

    assert need("pingpong", "standard", 2**20) == 2 * 2 * 2**20
    assert need("ring", "standard", 2**20) == 4 * 2 * 2**20
    assert need("stream", "unidirectional", 2**20, window=8) == 2 * 9 * 2**20
    assert need("pingpong", "buffered", 2**20) == 2 * 6 * 2**20
    assert need("pingpong", "standard", 8, buffers="cold") == 2 * 2 * 2**20


def test_messages_that_do_not_fit_are_refused() -> None:
    cells = expanded(Measure("pingpong", sizes="8,1GiB"))
    check_memory(cells, KERNEL, 2**20, 2**40, "the plan")
    with pytest.raises(UsageError) as caught:
        check_memory(cells, KERNEL, 2**20, 2**30, "the plan")
    assert "pingpong standard of 1 GiB needs 4.0 GiB" in caught.value.sentence


@repeatable
@given(
    st.sampled_from([*PATTERNS, "nonsense", ""]),
    st.lists(st.sampled_from(["standard", "ready", "all", "nonsense", ""]), max_size=2),
    st.one_of(st.none(), st.text(max_size=8), st.sampled_from(["8", "auto", "1TiB", "0:64"])),
    st.lists(st.integers(1, 100), max_size=2),
    st.sampled_from(["warm", "cold"]),
)
def test_no_measure_makes_it_crash(
    pattern: str, modes: list[str], sizes: str | None, ranks: list[int], buffers: str
) -> None:
    words = {"pattern": pattern, "modes": modes, "sizes": sizes, "ranks": ranks, "buffers": buffers}
    with contextlib.suppress(UsageError):
        cells = expanded(msgspec.convert(words, Measure))
        assert len(cells) == len(set(cells))
