"""Decompressing results that may be cut or damaged, up to the first byte that cannot be decompressed.

Python's own reader returns nothing of the block that is damaged.
"""

import io
import zlib
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.vocabulary import PackedDamage

MAGIC = b"\x1f\x8b"
WITH_HEADER = zlib.MAX_WBITS | 16
CHUNK_BYTES = 1 << 16

CHECKSUM_ERRORS = "incorrect data check", "incorrect length check"
"""Messages of zlib where all can be decompressed, but a checksum does not match."""


class Decompressed(io.RawIOBase):
    """The content of a compressed file of one or several members, as `cat a.gz b.gz` makes them.

    Attributes:
        damage: Why the content ended early; None while no damage is known.
    """

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._inflater = zlib.decompressobj(WITH_HEADER)
        self._left = b""  # of what was read, not unpacked yet
        self.damage: PackedDamage | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        """Read the next bytes; return 0 at the end, or where the file is damaged."""
        piece = self._piece(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def _piece(self, most_bytes: int) -> bytes:
        while not self.damage:
            data, self._left = self._left or self._packed.read(CHUNK_BYTES), b""
            if self._inflater.eof:
                if not data:
                    break
                if not (data := data.lstrip(b"\0")):  # padding after the end, as on a tape
                    continue
                self._inflater = zlib.decompressobj(WITH_HEADER)
            if piece := self._inflated(data, most_bytes):
                return piece
            if not data and not self._inflater.eof:
                self.damage = "cut"
        return b""

    def _inflated(self, data: bytes, most_bytes: int) -> bytes:
        before = self._inflater.copy()
        try:
            piece = self._inflater.decompress(data, most_bytes)
        except zlib.error as error:
            self.damage = "altered" if str(error).endswith(CHECKSUM_ERRORS) else "damaged"
            return _byte_by_byte(before, data)[:most_bytes]
        self._left = self._inflater.unconsumed_tail or self._inflater.unused_data
        return piece


def is_packed(file: io.BufferedReader) -> bool:
    """Return whether a file is compressed, by its first bytes, which are not consumed."""
    return file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC


def _byte_by_byte(inflater: "zlib._Decompress", data: bytes) -> bytes:
    """Return all that can be decompressed before the first byte that cannot."""
    content = []
    try:
        for at in range(len(data)):
            content.append(inflater.decompress(data[at : at + 1]))  # noqa: PERF401 - the last one raises
    except zlib.error:
        pass
    return b"".join(content)
