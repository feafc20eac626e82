"""Signs that some terminals cannot print, or none should, and their replacements.

Where output can only be ASCII, "12.3 µs ±1.2 %" becomes "12.3 us ~1.2 %", braille dots become asterisks, and
columns stay aligned.
"""

from __future__ import annotations

import re

from mpigauge.document.bars import CERTAIN, EIGHTHS, INTERVAL, NO_INTERVAL

PLAIN = {
    "\N{MICRO SIGN}": "u",
    "\N{GREEK SMALL LETTER MU}": "u",
    "\N{EN DASH}": "-",
    "\N{MINUS SIGN}": "-",
    "\N{PLUS-MINUS SIGN}": "~",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{DIVISION SIGN}": ":",
    "\N{MIDDLE DOT}": "|",
    "\N{HORIZONTAL ELLIPSIS}": "~",
    "\N{CHECK MARK}": "+",
    "\N{BALLOT X}": "x",
    CERTAIN: "#",
    INTERVAL: "-",
    NO_INTERVAL: ":",
    **dict.fromkeys(EIGHTHS.strip(), "#"),
    **dict.fromkeys(map(chr, range(0x2801, 0x2900)), "*"),
}

_TABLE = str.maketrans(PLAIN)


def printable(words: str) -> str:
    """Return text as one line without control codes, which could steer the terminal that prints it."""
    words = re.sub(r"[^\S ]", " ", words)
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def printable_lines(text: str) -> str:
    """Return text without control codes, but with its line breaks."""
    return "\n".join(map(printable, text.split("\n")))


def plain(text: str) -> str:
    """Return text in ASCII, of the same length; "?" for what has no likeness."""
    return text.translate(_TABLE).encode("ascii", "replace").decode("ascii")


def replaced(error: UnicodeError) -> tuple[str, int]:
    """Return ASCII for what an encoding lacks; for `codecs.register_error`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end
