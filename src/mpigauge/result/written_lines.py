"""What was written to a result: checking that the file still has it, and its content to save it again."""

import os
from collections.abc import Iterator

MAX_KEPT_BYTES = 64 << 20
"""Largest result that is kept in memory; of a larger one only the first line is."""

COMPARED_BYTES = 4096
READ_BYTES = 1 << 20


class WrittenLines:
    """The lines that an open file should have.

    Attributes:
        lost: Sentence on what cannot be written again; empty while nothing is lost.
    """

    def __init__(self, descriptor: int) -> None:
        self.lost = ""
        self.reset(descriptor)

    def reset(self, descriptor: int) -> None:
        """Take the present content of the file as what it should have."""
        self._end = os.fstat(descriptor).st_size
        self._cut = False  # it was shorter than we had left it
        self._last = b""
        self._first_line = _first_line_of(descriptor)
        kept = self._end <= MAX_KEPT_BYTES
        self._lines = bytearray().join(_pieces(descriptor)) if kept else None

    @property
    def is_known(self) -> bool:
        """Whether all lines are in memory."""
        return self._lines is not None

    def add(self, line: bytes, begin: int) -> None:
        """Note a line that was written at the end of the file, at `begin`."""
        self._cut = self._cut or begin < self._end
        self._end, self._last = begin + len(line), line
        self._first_line = self._first_line or line.removesuffix(b"\n")
        if self._lines is not None:
            self._lines += line
            if len(self._lines) > MAX_KEPT_BYTES:
                self._lines = None

    def is_whole(self, descriptor: int) -> bool:
        """Return whether the file has all lines, by its size, its first line and its last one."""
        first = self._first_line[:COMPARED_BYTES]
        try:
            return (
                not self._cut
                and os.fstat(descriptor).st_size >= self._end
                and os.pread(descriptor, len(first), 0) == first
                and os.pread(descriptor, len(self._last), self._end - len(self._last)) == self._last
            )
        except OSError:
            return False

    def content(self, descriptor: int, *, whole: bool) -> Iterator[bytes]:
        """Yield all lines in pieces, or what is left of them.

        Args:
            whole: Whether the file has all lines.
        """
        if not whole and self._lines is not None:
            yield bytes(self._lines)
            return
        has_first_line = next(_pieces(descriptor), b"").startswith(self._first_line[:COMPARED_BYTES])
        if not has_first_line:
            yield self._first_line + b"\n"
        yield from _pieces(descriptor)


def _first_line_of(descriptor: int) -> bytes:
    """Return the first line without its newline; a large campaign's is longer than a piece."""
    first_line = b""
    for piece in _pieces(descriptor):
        line, end, _ = piece.partition(b"\n")
        first_line += line
        if end:
            break
    return first_line


def _pieces(descriptor: int) -> Iterator[bytes]:
    at = 0
    while piece := os.pread(descriptor, READ_BYTES, at):
        yield piece
        at += len(piece)
