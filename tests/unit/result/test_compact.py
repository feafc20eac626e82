"""Numbers of visits in machine words: the same numbers, in memory of the order of the file."""

from __future__ import annotations

import gzip
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.result.compact import EMPTY, LISTS, Numbers, as_list, numbers, pack
from mpigauge.result.kernel_data import READINGS
from mpigauge.result.reader import load
from mpigauge.result.writer import line_of
from tests.made import SMALL, campaign, collective, launch, lines_of, together, visit
from tests.unit.result.reading import WHOLE, loaded

if TYPE_CHECKING:
    from pathlib import Path

READ = {"line_ns": [40.5, 41.0], "alu_ns": [5000.25, 5001.0], "path_ns": []}
INT64 = st.integers(-(2**63), 2**63 - 1)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.one_of(st.integers(-(2**31), 2**31 - 1), INT64)))
def test_arrays_equal_lists_of_the_same_numbers(values: list[int]) -> None:
    packed = numbers(values)
    assert packed == values
    assert values == packed
    assert packed != [*values, 1]
    assert as_list(packed) == values
    assert packed.itemsize == (4 if all(-(2**31) <= value < 2**31 for value in values) else 8)


def test_arrays_of_different_widths_are_equal() -> None:
    assert Numbers("i", [1, 2]) == Numbers("q", [1, 2])
    assert Numbers("i", [1, 2]) != Numbers("q", [1, 3])


def test_other_types_are_not_encoded() -> None:
    with pytest.raises(TypeError, match="set is no part of a record"):
        as_list({1})


def test_a_packed_visit_is_the_visit_and_writes_the_same_line() -> None:
    of = collective()
    written = together(1, 0, of, [300, 2**40], late=[1], behind=[0], pure_ns=[200], work_ns=210)
    packed = replace(written)
    pack(packed)
    assert packed == written
    assert line_of(packed) == line_of(written)
    assert all(isinstance(getattr(packed, name), Numbers) for name in LISTS)
    bare = replace(written, late=[], behind=[])
    pack(bare)
    assert bare.late is bare.behind is EMPTY


def test_readings_are_packed_too_and_keep_their_value(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(lines_of(campaign(SMALL), launch(1), visit(1, 0, SMALL, [1000], **READ)))
    (loaded_,) = load(path).visits
    assert {name: getattr(loaded_, name) for name in READ} == READ
    assert all(isinstance(getattr(loaded_, name), Numbers) for name in READINGS)


# ---- Memory --------------------------------------------------------------------------------------


def file_of(path: Path, visits: int, samples: int) -> int:
    """Writes a result of one cell, with so many samples a visit; its size."""
    records = [visit(1, number, SMALL, [1000 + number % 7] * samples) for number in range(visits)]
    path.write_bytes(lines_of(campaign(SMALL), launch(1), *records))
    return path.stat().st_size


def memory_of_loading(path: Path) -> tuple[int, int]:
    """Bytes that the result takes, and the most at any time while it was read."""
    tracemalloc.start()
    result = load(path)
    try:
        assert result.visits
        return tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("samples", [20, 1000])
def test_a_result_takes_little_more_memory_than_its_file(tmp_path: Path, samples: int) -> None:
    """As lists it was eight to ten times that, of which the measured node had to have gigabytes."""
    path = tmp_path / "r.jsonl"
    size = file_of(path, 40_000 // samples, samples)
    load(path)  # what is imported and cached on the way is not of the result
    kept, most = memory_of_loading(path)
    assert kept < 3 * size
    assert most < 3 * size + 2**20


@pytest.mark.thorough
def test_memory_and_file_grow_alike(tmp_path: Path) -> None:
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    sizes = [file_of(small, 50, 500), file_of(large, 500, 500)]
    load(small)
    kept = [memory_of_loading(path)[1] for path in (small, large)]
    assert kept[1] / kept[0] < 1.5 * sizes[1] / sizes[0]


@pytest.mark.thorough
def test_a_compressed_file_is_never_unpacked_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    size = file_of(path, 100, 5000)
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    load(packed)
    _, most = memory_of_loading(packed)
    assert most < size


def test_size_is_that_of_all_lines(tmp_path: Path) -> None:
    for content in (WHOLE, WHOLE[:-5], WHOLE + b"junk\n"):
        assert loaded(tmp_path / "r.jsonl", content).size_bytes == len(content)
