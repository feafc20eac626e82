"""Text of another program as people keep it: decoded, and lines without prefixes.

Launchers tag lines, schedulers and CI systems put times before them, mails and issues quote and indent them.
Of this no list is kept: what stands before the first title is looked at, and what has the same shape is taken
from the lines around it.
"""

from __future__ import annotations

import bz2
import gzip
import html
import io
import lzma
import re
import sys
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO

from mpigauge import inputs
from mpigauge.errors import UsageError
from mpigauge.result.reader import STANDARD_INPUT
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SHORTER = "name the file that has the table, or cut it out of this one"

PACKED: tuple[tuple[bytes, Callable[[io.BytesIO], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
"""First bytes of compressed files, and the function that opens each."""

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
PEEKED_BYTES = 4096

_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""Escape sequences that set colours, move the cursor or name the window."""

_ENTITY = re.compile(r"&(?:gt|lt|amp|nbsp|quot|#[0-9]{1,5}|#x[0-9A-Fa-f]{1,4});")
_ELEMENTS = (
    *(
        "html",
        "head",
        "title",
        "body",
        "main",
        "article",
        "section",
        "header",
        "footer",
        "nav",
        "aside",
        "div",
    ),
    *("p", "br", "wbr", "hr", "pre", "blockquote", "address", "center", "details", "summary", "figure"),
    *(
        "figcaption",
        "h[1-6]",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "img",
        "a",
        "span",
        "font",
        "label",
        "mark",
    ),
    *("b", "i", "u", "s", "em", "strong", "small", "big", "tt", "code", "kbd", "samp", "var", "del", "ins"),
    *("strike", "q", "cite", "abbr", "dfn", "bdi", "bdo", "sub", "sup"),
)
_TAG = re.compile(rf"<(/?)({'|'.join(_ELEMENTS)})(?: [^<>]{{0,400}})?/?>", re.IGNORECASE)
"""Tags of HTML pages between whose lines a table may be; not those of launchers, such as `<stdout>`, nor
those of HTML tables, which `importers.table` reads."""

_RAISED = {"sup": "^", "sub": "_"}
"""Signs in place of tags without which `2<sup>20</sup>` were another number."""

_ESCAPED = re.compile(r"\\([#_*|<>\[\]])")
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,3}([0-9][0-9.,]*)\*{1,3}(?![\w*])")
"""A number in bold or italics in Markdown."""

_CHARACTERS = {
    **dict.fromkeys((*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, 0xAD, 0xFEFF, *range(0x200B, 0x2010))),
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    0x2212: "-",
}
"""Translation of control and invisible characters to nothing, and of unusual blanks to a blank."""

WRITTEN_RETURN = "^M"
"""A carriage return at the end of a line, as terminals and old mail show it."""

MAX_PREFIX = 240
"""Longest prefix of a title: Open MPI's, with names, times and tags, has some 120 characters."""

MAX_TITLE = 400
MAX_LINE = 1 << 20
"""Characters of a line that are read: no row is longer."""

LINES_BEHIND_TITLE = 3
"""Lines behind a title, of which one must have its prefix; else the prefix is of that title alone."""

_TOKEN = re.compile(r"[\w.+-]+|[ \t]+|.", re.DOTALL)
_DIGITS = re.compile(r"[0-9.+-]+", re.ASCII)
_RANK_TAG = re.compile(
    r"\[[0-9]{1,7}(?:,[0-9]{1,7})*\](?:<stdout>)?:?(?=[ \t]*[0-9]{1,18}[ \t]+\S*[0-9])", re.ASCII
)
"""A launcher's tag before a row, where the heading was printed by another program and has none."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """Line of a text.

    Attributes:
        file: Name of the file.
        number: Number of the line in the file, from 1.
        text: Text without prefix and trailing blanks.
    """

    file: str
    number: int
    text: str

    @property
    def where(self) -> str:
        """File and line, for people."""
        return f"{self.file}: line {self.number}"

    @property
    def words(self) -> list[str]:
        """Words of the line, split at blanks."""
        return self.text.split()

    def refused(self, why: str, hint: str) -> LineError:
        """Return the error of a line that cannot be understood."""
        return LineError(self, why, hint)


class LineError(UsageError):
    """Error of a line that its format does not allow there."""

    def __init__(self, line: TextLine, why: str, hint: str) -> None:
        super().__init__(f"{line.where}: {why}", hint)
        self.line, self.why = line, why


# ---- From a file to characters -------------------------------------------------------------------


def content_of(path: Path) -> bytes:
    """Return a whole file, unpacked, or standard input for `-`.

    Raises:
        UsageError: It cannot be read or unpacked, or is longer than any table.
    """
    if path != STANDARD_INPUT:
        return _unpacked(path, inputs.content_of(path, SHORTER))
    try:
        content = _standard_input(sys.stdin.buffer)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", "name the file that has it") from None
    if len(content) > inputs.TEXT_MOST_BYTES:
        raise UsageError(f"{path}: is longer than {inputs.TEXT_MOST_BYTES >> 20} MiB", SHORTER)
    return _unpacked(path, content)


@lru_cache(maxsize=1)
def _standard_input(stream: BinaryIO) -> bytes:
    """Return the content of standard input, which can be read only once."""
    return stream.read(inputs.TEXT_MOST_BYTES + 1)


def _unpacked(path: Path, content: bytes) -> bytes:
    unpack = next((unpack for magic, unpack in PACKED if content.startswith(magic)), None)
    if unpack is None:
        return content
    try:
        found: bytes = unpack(io.BytesIO(content)).read(inputs.TEXT_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise UsageError(f"{path}: cannot be unpacked: {error}", "unpack what can be saved of it") from None
    if len(found) > inputs.TEXT_MOST_BYTES:
        raise UsageError(f"{path}: unpacked it is longer than {inputs.TEXT_MOST_BYTES >> 20} MiB", SHORTER)
    return found


def decoded(content: bytes) -> str:
    """Return bytes as text: UTF-8, UTF-16 with or without a byte order mark, else Windows-1252."""
    for mark, encoding in BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    if encoding := _utf16_without_bom(content[:PEEKED_BYTES]):
        return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _utf16_without_bom(begin: bytes) -> str:
    """Return the encoding of a text in which every other byte is 0; empty for any other."""
    even, odd = begin[::2], begin[1::2]
    if odd and odd.count(0) > len(odd) * 3 // 4 and not even.count(0):
        return "utf-16-le"
    return "utf-16-be" if even and even.count(0) > len(even) * 3 // 4 and not odd.count(0) else ""


# ---- From characters to lines --------------------------------------------------------------------


def lines_of(name: str, content: bytes, mark: re.Pattern[str]) -> list[TextLine]:
    """Return the lines of a text without the prefixes that launchers and logs put before each.

    Args:
        name: Name of the file, for people.
        content: Content of the file.
        mark: Beginning of a table of any format, at the start of a line or behind a prefix.
    """
    text = decoded(content)
    raw = text.split("\n") if "\n" in text else text.split("\r")
    # A carriage return overwrites the line, as progress bars do: keep what is visible.
    visible = [one.rstrip("\r").rpartition("\r")[2] for one in raw]
    plain = _without_prefixes([cleaned(one[:MAX_LINE]) for one in visible], mark)
    return [TextLine(name, number, line) for number, line in enumerate(plain, start=1)]


def cleaned(raw: str) -> str:
    """Return a line without colours, invisible characters, and escapes of Markdown and HTML."""
    text = _CODES.sub("", raw) if "\x1b" in raw else raw
    if "<" in text:
        text = _TAG.sub(lambda tag: "" if tag[1] else _RAISED.get(tag[2].lower(), ""), text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    text = text.translate(_CHARACTERS).rstrip().removesuffix(WRITTEN_RETURN).rstrip()
    text = _ESCAPED.sub(r"\1", text) if "\\" in text else text
    return _EMPHASIS.sub(r"\1", text) if "*" in text else text


def _without_prefixes(lines: Sequence[str], mark: re.Pattern[str]) -> list[str]:
    """Return the lines without their prefixes, recognised by the shape of those before titles."""
    found, shape, inside, above = list(lines), _MATCHES_NOTHING, _MATCHES_NOTHING, 0
    for at, line in enumerate(lines):
        if (begins := _title_start(line, mark)) is not None:
            before, shape = shape, _prefix_pattern(line[:begins])
            inside = _tag_inside(line[:begins])
            found[at] = line[begins:]
            behind = [one for one in lines[at + 1 : at + 40] if one][:LINES_BEHIND_TITLE]
            if shape is not _MATCHES_NOTHING and not any(map(shape.match, behind)):
                shape = inside = _MATCHES_NOTHING
            if before is _MATCHES_NOTHING and shape is not _MATCHES_NOTHING:
                # Strip lines above the first title, too: some of them describe the table.
                for place in range(above, at):
                    if match := shape.match(found[place]):
                        found[place] = found[place][match.end() :]
            above = at + 1
        elif match := shape.match(line):
            found[at] = inside.sub(" ", line[match.end() :])
        elif above and (match := _RANK_TAG.match(line)):
            found[at] = _tag_inside(match[0]).sub(" ", line[match.end() :])
    return found


def _title_start(line: str, mark: re.Pattern[str]) -> int | None:
    """Return the position at which a title begins in a line; None if it has none."""
    found = mark.search(line, 0, MAX_PREFIX + MAX_TITLE)
    return found.start() if found and found.start() <= MAX_PREFIX else None


_MATCHES_NOTHING = re.compile(r"(?!)")


def _prefix_pattern(prefix: str) -> re.Pattern[str]:
    """Return a pattern for prefixes of the same shape, with other numbers, and with other names if safe."""
    if not prefix:
        return _MATCHES_NOTHING
    if not prefix.strip():
        return re.compile(rf"[ \t]{{1,{len(prefix)}}}")
    tokens: list[str] = _TOKEN.findall(prefix)
    loose = any(not (token[0].isalnum() or token.isspace()) for token in tokens)
    last = len(tokens) - 1
    return re.compile("".join(_token(token, loose=loose, last=at == last) for at, token in enumerate(tokens)))


def _tag_inside(prefix: str) -> re.Pattern[str]:
    """Return a pattern for the tag of a launcher that tags each piece of a row, right behind another word.

    Only numbers in it may differ: `t_avg[usec]` is no tag `[node1]`.
    """
    tag = prefix.strip()
    if not tag or tag[0] not in "[<(" or tag[-1].isalnum():
        return _MATCHES_NOTHING
    tokens: list[str] = _TOKEN.findall(tag)
    shape = "".join(_token(token, loose=False, last=False) for token in tokens)
    return re.compile(rf"(?<=\S){shape}")


def _token(token: str, *, loose: bool, last: bool) -> str:
    if token.isspace():
        # The last blank of a prefix may be missing: trailing blanks are stripped.
        return r"[ \t]*" if last and loose else r"(?:[ \t]+|\Z)" if last else r"[ \t]+"
    if _DIGITS.fullmatch(token):
        return r"[0-9.+-]+"
    return r"[\w.+-]+" if loose and token[0].isalnum() else re.escape(token)


# ---- Words -----------------------------------------------------------------------------------------

_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,25})?(?:[eE][+-]?[0-9]{1,2})?", re.ASCII)
_EXPONENT = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,25})?[eE][+-]?[0-9]{2}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,15}\.([0-9]{2,9})", re.ASCII)
_GROUPED_WHOLE = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,5}", re.ASCII)
_WITH_COMMAS = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?", re.ASCII)
_NUMBERS = re.compile(r"(?<!\S)[0-9][0-9.,]*(?!\S)", re.ASCII)
_FIELDS = re.compile(r"(?:\A|[,;|\t]) {0,80}[0-9][0-9.]{0,30} {0,80}(?=[,;|\t]|\Z)", re.ASCII)
FIELDS_OF_ROW = 2
"""Numbers between separators that make a line a row, whatever fields are before them."""

NUMBERS_OF_ROW = 4
"""Numbers that make a line a row, whatever word is before them; prose and command lines have fewer."""

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+", re.ASCII)
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[0-9]{1,3}(?:,[0-9]{3}){2,5}", re.ASCII)


def number(word: str, *, whole: bool = False) -> str:
    """Return a word without thousands commas, where the commas can be nothing else.

    `1,024` alone may be 1.024 of half of the world; `1,024.50` and `1,048,576` are no such numbers.

    Args:
        whole: Whether it is a count, such as of bytes: it has no decimals, so that one comma is enough.
    """
    grouped = _GROUPED.fullmatch(word) or (whole and _GROUPED_WHOLE.fullmatch(word))
    return word.replace(",", "") if grouped else word


def number_hint(word: str, otherwise: str = "complete the row") -> str:
    """Return what to do about a word that is no number.

    Args:
        otherwise: Hint if the word does not tell.
    """
    if _GROUPED_WHOLE.fullmatch(word):
        return f"write {word.replace(',', '')} or {word.replace(',', '.', 1)}, whichever it is"
    if _DECIMAL_COMMA.fullmatch(word):
        return f"write {word.replace(',', '.')}, with a decimal point"
    if word.startswith("-") and is_number(number(word[1:])):
        return "nothing is below 0: a counter or clock of that run was wrong, so measure it again"
    return otherwise


def is_whole(word: str) -> bool:
    """Return whether a word is a whole number that is not negative."""
    return _WHOLE.fullmatch(word) is not None


def is_number(word: str) -> bool:
    """Return whether a word is a number that is not negative: whole, decimal, or with an exponent."""
    return _NUMBER.fullmatch(word) is not None


def has_exponent(word: str) -> bool:
    """Return whether a word is a number with a whole exponent: one of two digits, as `1.2e+04`."""
    return _EXPONENT.fullmatch(word) is not None


def significant_digits(word: str) -> int:
    """Return the number of significant digits of a printed number."""
    return len(word.lower().partition("e")[0].replace(".", "").lstrip("0"))


def decimals(word: str) -> int:
    """Return the number of digits behind the point; 0 if there are fewer than two."""
    found = _DECIMAL.fullmatch(word)
    return len(found[1]) if found else 0


def begins_row(words: Sequence[str]) -> bool:
    """Return whether a line can only be a row of a table, whole or torn: a whole number, and digits."""
    return bool(words) and is_whole(words[0]) and (len(words) == 1 or any(map(str.isdigit, words[1])))


def may_be_row(text: str) -> bool:
    """Return whether a line can be a row of a table of any format, whatever precedes its numbers."""
    bare = text.lstrip(" \t|>*")
    if bare.startswith("#"):
        return False
    return bare[:1].isdigit() or bare.startswith("</t") or len(_NUMBERS.findall(bare)) >= NUMBERS_OF_ROW


def may_be_row_of_fields(text: str) -> bool:
    """Return whether a line can be a row whose fields have separators, words before its numbers.

    In a caption these may be a list: `on devices 0,1,4,6`.
    """
    return len(_FIELDS.findall(text)) >= FIELDS_OF_ROW


def is_headless_row(words: Sequence[str], columns: int) -> bool:
    """Return whether a line is a row except for its first word: the others are numbers, one per column."""
    numbers = [is_whole(word) or decimals(word) > 0 for word in words]
    return len(words) == columns > 1 and all(numbers[1:]) and not numbers[0]


def column_mismatch(words: Sequence[str], columns: int) -> str:
    """Return the sentence for a row that has another number of words than there are columns."""
    return f"has {counted(len(words), 'word')} below {counted(columns, 'column')}"


def without_note(words: Sequence[str], columns: int) -> list[str]:
    """Return the words of a row without a note that somebody has added behind its last column.

    A note begins with a sign (`<- here`, `# warm`, `★`): a word may be the rest of another line.
    """
    if len(words) <= columns or columns < 2 or words[columns][0].isalnum() or words[columns][0] in "+-.":  # noqa: PLR2004
        return list(words)
    return list(words[:columns] if all(map(_WITH_COMMAS.fullmatch, words[:2])) else words)


def agree(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Return whether two rounded numbers can be equal, each given as a range, with 1 % tolerance."""
    spare = 1.01
    return first[0] <= second[1] * spare and second[0] <= first[1] * spare


def relative_step(word: str) -> float:
    """Return the unit of the last digit of a number divided by the number; 0 if the word is no number."""
    try:
        low, high = rounding_range(word)
    except ValueError:
        return 0.0
    return 2 * (high - low) / (high + low) if high > 0 else 0.0


def rounding_range(word: str) -> tuple[float, float]:
    """Return the range that a number was rounded from: half a unit of its last digit to both sides."""
    mantissa, _, power = word.lower().partition("e")
    half = 0.5 * 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    return max(0.0, float(word) - half), float(word) + half
