"""The grammar of sizes: its forms, its limits, and that no text makes it crash."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan.sizes import MAX_SIZE_BYTES, MAX_SIZES, parse_sizes

MIB = 2**20

repeatable = settings(derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8,1KiB,1MiB", (8, 1024, MIB)),
        ("8, 8 ,8", (8,)),
        ("1MiB,8", (8, MIB)),
        ("0:4MiB", (0, *(2**power for power in range(23)))),
        ("0:5", (0, 1, 2, 4, 5)),
        ("0:0", (0,)),
        ("7:7", (7,)),
        ("3:20", (3, 6, 12, 20)),
        ("32:2KiB*4", (32, 128, 512, 2048)),
        ("32:100 * 1.5", (32, 48, 72, 100)),
        ("1:6*1.1", (1, 2, 3, 4, 5, 6)),
        ("0:64*4", (0, 1, 4, 16, 64)),
        ("1KiB:4KiB:+1KiB", (1024, 2048, 3072, 4096)),
        ("1:8:+3", (1, 4, 7, 8)),
        ("0:8:+4", (0, 4, 8)),
        ("8,1:4,100:300:+100,1kB", (1, 2, 4, 8, 100, 200, 300, 1000)),
        ("64TiB", (MAX_SIZE_BYTES,)),
    ],
)
def test_a_list_is_read(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "8,",
        ",8",
        "8,,9",
        ":",
        "8:",
        ":8",
        "8:4",
        "4MiB:0",
        "8:16*1",
        "8:16*0.5",
        "8:16*",
        "8:16*x",
        "8:16*-2",
        "8:16:+0",
        "8:16:+",
        "8:16:4",
        "8:16:+4:+4",
        "8*2",
        "0:100000:+1",
        "1:100000*1.00001",
        "65TiB",
        "1:65TiB",
        "4K",
        "-8",
        "auto:",
        "auto:x",
        "auto:16MiB*2",
        "auto:65TiB",
        "8:auto",
        "automatic",
    ],
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_sizes(text)
    assert repr(text) in caught.value.sentence
    assert caught.value.hint


def test_as_many_sizes_as_allowed_and_not_one_more() -> None:
    assert len(parse_sizes(f"1:{MAX_SIZES}:+1")) == MAX_SIZES
    with pytest.raises(UsageError, match="more than"):
        parse_sizes(f"0:{MAX_SIZES}:+1")


def test_auto_has_the_powers_of_two_and_a_dozen_others_a_decade() -> None:
    sizes = parse_sizes("auto")
    assert {0, *(2**power for power in range(23))} <= set(sizes)
    assert sizes[-1] == 4 * MIB
    for decade in range(2, 6):
        within = [size for size in sizes if 10**decade <= size < 10 ** (decade + 1)]
        others = [size for size in within if size & (size - 1)]
        assert 9 <= len(others) <= 12
        assert max(b / a for a, b in pairwise(within)) <= 2


def test_auto_is_another_list_for_another_seed_only() -> None:
    assert parse_sizes("auto", seed=3) == parse_sizes("auto", seed=3)
    assert parse_sizes("auto", seed=3) != parse_sizes("auto", seed=4)


@repeatable
@given(st.integers(0, MAX_SIZE_BYTES), st.integers())
def test_auto_ends_at_the_given_size(end: int, seed: int) -> None:
    sizes = parse_sizes(f"auto:{end}", seed)
    assert (sizes[0], sizes[-1]) == (0, end)


@repeatable
@given(st.text())
def test_no_text_makes_it_crash(text: str) -> None:
    _read_or_refused(text)


@repeatable
@given(st.text(alphabet="0189KMiB:*+,. auto", max_size=30))
def test_no_text_of_the_grammars_characters_makes_it_crash(text: str) -> None:
    _read_or_refused(text)


def _read_or_refused(text: str) -> None:
    sizes: tuple[int, ...] = ()
    refusal = None
    try:
        sizes = parse_sizes(text)
    except UsageError as error:
        refusal = error
    assert bool(sizes) == (refusal is None)
    assert list(sizes) == sorted(set(sizes))
    assert refusal is None or (repr(text) in refusal.sentence and refusal.hint)


ends = st.tuples(st.integers(0, MAX_SIZE_BYTES), st.integers(0, MAX_SIZE_BYTES)).map(sorted)


@repeatable
@given(ends, st.sampled_from([1.5, 2, 3, 4, 10]))
def test_a_factor_reaches_the_end_and_is_kept(ends: list[int], factor: float) -> None:
    first, last = ends
    sizes = parse_sizes(f"{first}:{last}*{factor}")
    assert (sizes[0], sizes[-1]) == (first, last)
    for small, large in pairwise(sizes[1:-1]):
        # Rounding moves each size by half a byte, and by one where it would stand still.
        assert math.isclose(large, factor * small, rel_tol=1e-9, abs_tol=factor + 1)


@repeatable
@given(ends, st.integers(1, MAX_SIZES - 2))
def test_a_step_reaches_the_end_and_is_kept(ends: list[int], count: int) -> None:
    first, last = ends
    step = max(1, (last - first) // count + 1)
    sizes = parse_sizes(f"{first}:{last}:+{step}")
    assert (sizes[0], sizes[-1]) == (first, last)
    assert all(large - small == step for small, large in pairwise(sizes[:-1]))
