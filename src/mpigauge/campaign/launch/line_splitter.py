"""Splitting a stream into lines, in linear time and bounded memory however long a line is."""

MAX_LINE_BYTES = 1 << 28
"""Length to which a line that may be the kernel's is cut; no journal has a longer one."""

MAX_OTHER_LINE_BYTES = 4096
"""Length to which any other line is cut, such as a progress bar that never ends its line."""

OBJECT = b'{"'
"""Beginning of a kernel's line, after at most MAX_OTHER_LINE_BYTES of an unfinished line of a library."""


class LineSplitter:
    """Splitter for the lines of one stream, which end with a newline or, as in a progress bar, a return.

    A line that is too long is cut. Pieces of a line are joined once, when it ends: joining them as they
    come would take time quadratic in its length.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._kept_bytes = 0
        self._most_bytes = MAX_LINE_BYTES

    def take(self, data: bytes) -> list[bytes]:
        """Take the next bytes and return the lines that they complete, without newlines."""
        first, *others = data.replace(b"\r", b"\n").split(b"\n")
        self._keep(first)
        if not others:
            return []
        *whole, last = others
        lines = [self.rest(), *(line[: _most_bytes_of(line)] for line in whole)]
        self._keep(last)
        return lines

    @property
    def endless(self) -> bytes:
        """The beginning of an unfinished line that is too long already; empty if there is none."""
        is_cut = self._kept_bytes == self._most_bytes
        return self._pieces[0] if is_cut else b""

    def rest(self) -> bytes:
        """Return the unfinished line, and forget it."""
        line = b"".join(self._pieces)
        self._pieces, self._kept_bytes, self._most_bytes = [], 0, MAX_LINE_BYTES
        return line

    def _keep(self, piece: bytes) -> None:
        room_bytes = self._most_bytes - self._kept_bytes
        if not piece or room_bytes <= 0:
            return
        self._pieces.append(piece[:room_bytes])
        before_bytes = self._kept_bytes
        self._kept_bytes += len(self._pieces[-1])
        if before_bytes <= MAX_OTHER_LINE_BYTES + len(OBJECT):  # until here it is not known what line it is
            self._decide()

    def _decide(self) -> None:
        """Lower the limit of the line once it is seen not to be the kernel's."""
        self._pieces = [b"".join(self._pieces)]
        self._most_bytes = _most_bytes_of(self._pieces[0])
        self._pieces[0] = self._pieces[0][: self._most_bytes]
        self._kept_bytes = len(self._pieces[0])


def _most_bytes_of(beginning: bytes) -> int:
    """Return the limit for a line that begins so: the higher one as long as it may be the kernel's."""
    is_known = len(beginning) >= MAX_OTHER_LINE_BYTES + len(OBJECT)
    if is_known and beginning.find(OBJECT, 0, MAX_OTHER_LINE_BYTES + len(OBJECT)) < 0:
        return MAX_OTHER_LINE_BYTES
    return MAX_LINE_BYTES
