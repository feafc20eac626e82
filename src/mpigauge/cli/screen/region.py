"""Lines at the cursor of a terminal that are drawn again in place: only what has changed is written."""

from __future__ import annotations

import os
from operator import eq
from typing import TYPE_CHECKING

from rich.cells import cell_len

from mpigauge.sequences import runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.text import Text

BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
"""Between these a terminal with synchronised output shows nothing that is half drawn; others ignore them."""

ERASE_BELOW, ERASE_REST, ERASE_ROW = "\x1b[J", "\x1b[K", "\x1b[2K"

GAP = 8
"""Letters that are written anew between two changes: to move the cursor over them takes as many."""

Cells = list[tuple[str, tuple[str, ...]]]
"""Characters of a line, each with its styles."""


class Region:
    """Lines that end at the cursor, and were the last to be written.

    When its size changes, a terminal moves what is on the screen, and most break long lines anew, so that
    these take more or fewer rows; the region is then erased from its first row on, and drawn as a whole.
    """

    def __init__(self, console: Console, environment: Mapping[str, str] | None = None) -> None:
        self._console = console
        self._lines: list[Text] = []
        self._size = console.size
        known = os.environ if environment is None else environment
        # xterm and GNU screen cut lines on the screen where they do not fit any more.
        self._breaks_anew = not ("XTERM_VERSION" in known or "STY" in known)

    @property
    def is_of_another_size(self) -> bool:
        """Whether the size of the terminal has changed since the lines were drawn."""
        return bool(self._lines) and self._console.size != self._size

    def draw(self, lines: Sequence[Text]) -> None:
        """Replace the lines by others, none wider than the terminal."""
        if self.is_of_another_size:
            written = [*self._erased(), *self._changes([], lines)]
        else:
            written = [*self._changes(self._lines, lines)]
        self._lines, self._size = [line.copy() for line in lines], self._console.size
        self._write(written)

    def erase(self) -> None:
        """Remove all lines; the cursor is where the first of them began."""
        self._write([*self._erased()] if self._lines else [])
        self._lines = []

    def leave(self) -> None:
        """Leave the lines where they are, and begin below them the next time."""
        self._write(["\n"] if self._lines else [])
        self._lines = []

    def _write(self, pieces: Sequence[str]) -> None:
        if pieces:
            self._console.file.write("".join([BEGIN_FRAME, *pieces, END_FRAME]))
            self._console.file.flush()

    def _erased(self) -> Iterator[str]:
        """Yield what erases all lines, from wherever the terminal has moved their first one to.

        Row by row: some terminals keep what is erased at once, if it is all that they show.
        """
        yield f"\r{ERASE_ROW}"
        yield from [f"\x1b[A{ERASE_ROW}"] * (sum(map(self._rows, self._lines)) - 1)

    def _rows(self, line: Text) -> int:
        """Return how many rows of the screen a line takes now."""
        if not self._breaks_anew:
            return 1
        return max(1, -(-cell_len(line.plain) // max(1, self._console.width)))

    def _changes(self, old: Sequence[Text], new: Sequence[Text]) -> Iterator[str]:
        """Yield what turns lines into others; the cursor ends behind the last of them."""
        row, moved = max(0, len(old) - 1), False
        for number, line in enumerate(new):
            before = old[number] if number < len(old) else None
            change = self._printed(line) if before is None else self._difference(before, line)
            if change or before is None:
                yield from _moved(row, number, len(old))
                yield change
                row, moved = number, True
        last = len(new) - 1
        if len(new) < len(old):
            yield from _moved(row, last + 1, len(old))
            yield f"\r{ERASE_BELOW}"
            yield from _moved(last + 1, max(0, last), len(old))
            moved = True
        elif moved:
            yield from _moved(row, last, len(old))
        if moved and new:
            yield _to_column(cell_len(new[-1].plain))

    def _difference(self, old: Text, new: Text) -> str:
        """Return what turns one line of the screen into another: the pieces that differ."""
        before, after = _cells(old), _cells(new)
        written = "".join(
            f"{_to_column(cell_len(new.plain[:begin]))}{self._printed(new[begin:end])}"
            for begin, end in _differing(before, after)
        )
        shorter = cell_len(new.plain) < cell_len(old.plain)
        return f"{written}{_to_column(cell_len(new.plain))}{ERASE_REST}" if shorter else written

    def _printed(self, text: Text) -> str:
        with self._console.capture() as captured:
            self._console.print(text, end="", soft_wrap=True)
        return captured.get()


def _moved(row: int, to: int, old: int) -> Iterator[str]:
    """Yield what moves the cursor from the beginning of a row to that of another; rows may be new below.

    Args:
        old: How many rows there are; a new one begins behind the row before it.
    """
    if to >= old and to > row:
        yield "\r\n" * (to - row)
    elif to != row:
        yield f"\x1b[{abs(to - row)}{'A' if to < row else 'B'}"


def _to_column(cells: int) -> str:
    return f"\x1b[{cells + 1}G"


def _cells(line: Text) -> Cells:
    styles: list[tuple[str, ...]] = [(str(line.style),)] * len(line.plain)
    for span in line.spans:
        for place in range(span.start, min(span.end, len(styles))):
            styles[place] = (*styles[place], str(span.style))
    return [*zip(line.plain, styles, strict=True)]


def _differing(before: Cells, after: Cells) -> Iterator[tuple[int, int]]:
    """Yield where the pieces begin and end in which a line differs from before, with short gaps in them."""
    wide = any(cell_len(letter) != 1 for letter, _ in (*before, *after))
    same = [] if wide else [*map(eq, before, after)]
    differing = [place for place in range(len(after)) if place >= len(same) or not same[place]]
    for piece in runs(differing, lambda one, next_: next_ - one <= GAP):
        yield piece[0], piece[-1] + 1
