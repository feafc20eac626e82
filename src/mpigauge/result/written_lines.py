"""Lines written to a result: whether the file has them and nothing else, and its content to save again."""

import os
from collections.abc import Iterator
from typing import Literal

MAX_KEPT_BYTES = 64 << 20
"""Largest result that is kept in memory; of a larger one only the first line is."""

COMPARED_BYTES = 4096
READ_BYTES = 1 << 20
NEWLINE = b"\n"
BLANKS = b" \t\r"
TAIL_BYTES = 1 << 16
"""Bytes before a line that are read to see whether others have begun it."""

Change = Literal["appended", "cut"]
"""Changes of a file by others: all of ours is there with more, or some of it is not."""


class WrittenLines:
    """The lines that an open file should have, and where in it others have put theirs.

    Args:
        size_bytes: As for `reset`.

    Attributes:
        lost: Sentence on what cannot be written again; empty while nothing is lost.
    """

    def __init__(self, descriptor: int, size_bytes: int | None = None) -> None:
        self.lost = ""
        self.reset(descriptor, size_bytes)

    def reset(self, descriptor: int, size_bytes: int | None = None) -> None:
        """Take the present content of the file as what it should have.

        Args:
            size_bytes: Size up to which it is; what follows is of others. None for all of it.
        """
        self._end = os.fstat(descriptor).st_size if size_bytes is None else size_bytes
        self._foreign: list[tuple[int, int]] = []
        self._is_cut = False  # it was shorter than we had left it
        self._last, self._last_at = b"", self._end
        self._first_line = _first_line_of(descriptor, self._end)
        kept = self._end <= MAX_KEPT_BYTES
        self._lines = bytearray().join(_pieces(descriptor, 0, self._end)) if kept else None

    def rewritten(self, size_bytes: int) -> None:
        """Note that the file was written again: it has `content`, of this size, and nothing else."""
        if self._lines is None:  # what is left of it may end in another line
            self._last = b""
        self._end, self._last_at = size_bytes, size_bytes - len(self._last)
        self._foreign, self._is_cut = [], False

    @property
    def is_known(self) -> bool:
        """Whether all lines are in memory."""
        return self._lines is not None

    def add(self, descriptor: int, line: bytes, end: int) -> bool:
        """Note a line that was written up to `end`.

        Returns:
            Whether it can be read; if not, bytes of others came between, and it has to be written again.
        """
        begin = end - len(line)
        if begin != self._end and not self._is_readable(descriptor, line, begin):
            self._note_foreign(descriptor, end)
            return False
        self._note_foreign(descriptor, begin)
        self._end, self._last, self._last_at = end, line, begin
        self._keep(line)
        return True

    def miss(self, line: bytes) -> None:
        """Note a line that others have made unreadable as often as it was written."""
        self._keep(line)
        self._is_cut = self._is_cut or self._lines is None

    def _keep(self, line: bytes) -> None:
        self._first_line = self._first_line or line.removesuffix(NEWLINE)
        if self._lines is not None:
            self._lines += line
            if len(self._lines) > MAX_KEPT_BYTES:
                self._lines = None

    def _note_foreign(self, descriptor: int, end: int) -> None:
        """Note what others have changed up to `end`, where the next of our lines begins."""
        if end < self._end:
            self._is_cut = True
            self._foreign = [(first, min(last, end)) for first, last in self._foreign if first < end]
        elif end > self._end:
            self._is_cut = self._is_cut or not self._has_last_line(descriptor)
            begin = self._end
            if self._foreign and self._foreign[-1][1] == begin:
                begin, _ = self._foreign.pop()
            self._foreign.append((begin, end))
        self._end = end

    def change(self, descriptor: int) -> Change | None:
        """Return what others did to the content, by its size, its first line and its last one."""
        try:
            size = os.fstat(descriptor).st_size
            has_ends = self._has_first_line(descriptor) and self._has_last_line(descriptor)
        except OSError:
            return "cut"
        if self._is_cut or size < self._end or not has_ends:
            return "cut"
        return "appended" if self._foreign or size > self._end else None

    def content(self, descriptor: int) -> Iterator[bytes]:
        """Yield all lines in pieces, or what is left of them, without what others have added."""
        if self._lines is not None:
            for at in range(0, len(self._lines), READ_BYTES):
                yield bytes(self._lines[at : at + READ_BYTES])
            return
        if not self._has_first_line(descriptor):
            yield self._first_line + NEWLINE
        at, piece = 0, NEWLINE
        for begin, end in [*self._foreign, (self._end, self._end)]:
            for piece in _pieces(descriptor, at, begin):
                yield piece
            at = end
        if not piece.endswith(NEWLINE):  # cut there
            yield NEWLINE

    def _has_first_line(self, descriptor: int) -> bool:
        first = self._first_line[:COMPARED_BYTES]
        at = next((end for begin, end in self._foreign if begin == 0), 0)
        return os.pread(descriptor, len(first), at) == first

    def _has_last_line(self, descriptor: int) -> bool:
        return os.pread(descriptor, len(self._last), self._last_at) == self._last

    def _is_readable(self, descriptor: int, line: bytes, begin: int) -> bool:
        """Return whether a line is in the file, with nothing but blanks before it."""
        before = os.pread(descriptor, min(begin, TAIL_BYTES), max(0, begin - TAIL_BYTES))
        is_alone = not before.rpartition(NEWLINE)[2].strip(BLANKS)
        return is_alone and os.pread(descriptor, len(line), begin) == line


def ends_within_line(descriptor: int) -> bool:
    """Return whether a file ends in the middle of a line."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != NEWLINE


def _first_line_of(descriptor: int, end: int) -> bytes:
    """Return the first line without its newline; a large campaign's is longer than a piece."""
    first_line = b""
    for piece in _pieces(descriptor, 0, end):
        line, newline, _ = piece.partition(NEWLINE)
        first_line += line
        if newline:
            break
    return first_line


def _pieces(descriptor: int, at: int, end: int) -> Iterator[bytes]:
    """Yield a range of a file in pieces, as far as the file has it."""
    while at < end and (piece := os.pread(descriptor, min(READ_BYTES, end - at), at)):
        yield piece
        at += len(piece)
