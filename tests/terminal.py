"""A terminal in memory: as much of one as our drawing needs. It breaks long lines anew when it is resized."""

from __future__ import annotations

import re

CODE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Terminal:
    """Rows of text with a cursor, of a width or without a limit, and what it showed frame by frame.

    Attributes:
        rows: Text of each row.
        soft: Rows that go on in the next one, since their line was too long.
        frames: What was shown at the end of each synchronised update, and before a row was erased.
    """

    def __init__(self, width: int = 10**6) -> None:
        self.width = width
        self.rows: list[str] = [""]
        self.soft: set[int] = set()
        self.row = self.column = 0
        self.frames: list[str] = []

    @property
    def text(self) -> str:
        """All rows, without spaces at their ends."""
        return "\n".join(row.rstrip() for row in self.rows)

    def feed(self, text: str) -> None:
        """Takes what was written."""
        at = 0
        for code in CODE.finditer(text):
            self._write(text[at : code.start()])
            self._obey(code[1], code[2])
            at = code.end()
        self._write(text[at:])

    def resize(self, width: int) -> None:
        """Breaks all lines anew; the cursor stays where it is in its line."""
        lines: list[tuple[str, int | None]] = []
        whole, cursor = "", None
        for number, row in enumerate(self.rows):
            if number == self.row:
                cursor = len(whole) + self.column
            whole += row
            if number not in self.soft:
                lines.append((whole, cursor))
                whole, cursor = "", None
        self.width, self.rows, self.soft = width, [], set()
        for line, place in lines:
            pieces = [line[begin : begin + width] for begin in range(0, len(line), width)] or [""]
            if place is not None:
                at = min(place // width, len(pieces) - 1)
                self.row, self.column = len(self.rows) + at, place - at * width
            self.soft.update(range(len(self.rows), len(self.rows) + len(pieces) - 1))
            self.rows += pieces

    def _obey(self, number: str, letter: str) -> None:
        match letter:
            case "A":
                self.row = max(0, self.row - int(number or 1))
            case "B":
                self.row += int(number or 1)
                assert self.row < len(self.rows), "moving down does not scroll"
            case "G":
                self.column = int(number) - 1
            case "K":
                self.frames.append(self.text)
                self.rows[self.row] = "" if number == "2" else self.rows[self.row][: self.column]
                self.soft.discard(self.row)
            case "J":
                self.rows[self.row] = self.rows[self.row][: self.column]
                del self.rows[self.row + 1 :]
            case "l" if number == "?2026":
                self.frames.append(self.text)

    def _write(self, text: str) -> None:
        for piece in re.split("([\r\n])", text):
            if piece == "\n":
                self.row, self.column = self.row + 1, 0
                self.rows += [""] * (self.row + 1 - len(self.rows))
            elif piece == "\r":
                self.column = 0
            else:
                row = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = row[: self.column] + piece + row[self.column + len(piece) :]
                self.column += len(piece)
                assert self.column <= self.width, "we break lines ourselves"
