"""Signs that not every terminal can print, or nobody should, and what stands for them there.

Where output can only be ASCII, "12.3 µs ±1.2 %" becomes "12.3 us ~1.2 %", and columns stay aligned.
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
}

_TABLE = str.maketrans(PLAIN)


def printable(words: str) -> str:
    """Words in one line, without codes that would speak to a terminal, whoever wrote them."""
    words = re.sub(r"[^\S ]", " ", words)
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def printable_lines(text: str) -> str:
    """The same of words that may have several lines."""
    return "\n".join(map(printable, text.split("\n")))


def plain(text: str) -> str:
    """The same in ASCII, of the same length; "?" for what has no likeness."""
    return text.translate(_TABLE).encode("ascii", "replace").decode("ascii")


def replaced(error: UnicodeError) -> tuple[str, int]:
    """What to print for what an encoding lacks; for `codecs.register_error`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end
