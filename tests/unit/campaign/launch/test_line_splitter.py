"""Lines of a stream: whole whatever pieces they come in, and cheap however long they are."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from mpigauge.campaign.launch.process import MAX_OTHER_LINE_BYTES, OBJECT, LineSplitter

PIECE_BYTES = 1 << 16


def lines_of(pieces: list[bytes]) -> list[bytes]:
    """All lines of a stream, the last one even if it has no end."""
    splitter = LineSplitter()
    lines = [line for piece in pieces for line in splitter.take(piece)]
    rest = splitter.rest()
    return [*lines, rest] if rest else lines


@given(st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"\n\n", b'{"a":1}\n', b"{"])))
def test_lines_are_the_same_in_whatever_pieces_they_come(pieces: list[bytes]) -> None:
    expected = b"".join(pieces).replace(b"\r", b"\n").split(b"\n")
    assert lines_of(pieces) == (expected if expected[-1] else expected[:-1])


@given(st.integers(0, MAX_OTHER_LINE_BYTES), st.integers(1, 5000))
def test_a_kernels_line_is_complete_after_an_unfinished_line(before: int, step: int) -> None:
    line = b"w" * before + OBJECT + b"v" * 20_000
    pieces = [line[at : at + step] for at in range(0, len(line), step)]
    assert lines_of([*pieces, b"\nnext"]) == [line, b"next"]


@given(st.integers(1, 9000))
def test_a_long_line_of_another_program_is_cut(step: int) -> None:
    line = b"0123456789" * 2000
    pieces = [line[at : at + step] for at in range(0, len(line), step)]
    assert lines_of([*pieces, b"\nnext"]) == [line[:MAX_OTHER_LINE_BYTES], b"next"]
    assert lines_of([line + b"\n" + line + b"\n"]) == [line[:MAX_OTHER_LINE_BYTES]] * 2


def test_a_line_without_an_end_takes_no_memory() -> None:
    tracemalloc.start()
    try:
        lines = lines_of([b"50 % .." * (PIECE_BYTES // 7)] * 1000)
        assert tracemalloc.get_traced_memory()[1] < 8 * PIECE_BYTES
    finally:
        tracemalloc.stop()
    assert [len(line) for line in lines] == [MAX_OTHER_LINE_BYTES]


def test_a_line_without_an_end_is_seen_as_one() -> None:
    splitter = LineSplitter()
    splitter.take(b"." * MAX_OTHER_LINE_BYTES)
    assert splitter.endless == b""  # it may still be the kernel's
    splitter.take(b"..\r")
    assert splitter.endless == b""
    splitter.take(b"." * (MAX_OTHER_LINE_BYTES + 2))
    assert splitter.endless == b"." * MAX_OTHER_LINE_BYTES


@given(st.integers(0, 3 * MAX_OTHER_LINE_BYTES))
def test_a_kernels_line_is_complete_among_those_of_a_progress_bar(bars: int) -> None:
    line = OBJECT + b"v" * 20_000
    assert lines_of([b"50 %\r" * bars + line + b"\n50 %\r"])[bars] == line


def test_splitting_takes_time_linear_in_a_lines_length() -> None:
    """Copies would make the time grow with the square of the length."""
    splitter = LineSplitter()
    splitter.take(OBJECT)
    splitter.take(b"v" * PIECE_BYTES)
    pieces = [bytes([65 + number % 26]) * PIECE_BYTES for number in range(256)]
    tracemalloc.start()
    try:
        for piece in pieces:
            splitter.take(piece)
        assert tracemalloc.get_traced_memory()[1] < 8 * PIECE_BYTES + 256 * PIECE_BYTES
    finally:
        tracemalloc.stop()
    assert len(splitter.rest()) == len(OBJECT) + 257 * PIECE_BYTES
