r"""Tables of LaTeX for a paper: numbers in columns of siunitx, their unit in the heading, notes below.

A file is a document of its own, and what `\input` puts into another one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.document.document import DOT, LETTERS, Measured
from mpigauge.document.plain_signs import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Column, Document, Table, Units
    from mpigauge.stats.interval import Number

PACKAGES = "booktabs,siunitx,threeparttable"

PREAMBLE = (
    rf"% In a document: \usepackage{{{PACKAGES}}} in its preamble, and \input of this file.",
    r"% Alone it is a document, too.",
    r"\expandafter\ifx\csname @nodocument\endcsname\relax\else",
    rf"  \documentclass{{article}}\usepackage{{{PACKAGES}}}",
    r"  \def\mpigaugeend{\end{document}}\begin{document}",
    r"\fi",
)
"""Begins a document unless one has begun: then LaTeX has no error for text outside one any more."""

END = r"\csname mpigaugeend\endcsname"
"""Ends that document; does nothing in another one."""

SIGNS: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "\N{MICRO SIGN}": r"\textmu{}",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{DIVISION SIGN}": r"$\div$",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
    "\N{MIDDLE DOT}": r"\textperiodcentered{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{VULGAR FRACTION ONE HALF}": r"$\frac{1}{2}$",
    "\N{GREEK SMALL LETTER ALPHA}": r"$\alpha$",
    "\N{GREEK SMALL LETTER BETA}": r"$\beta$",
    "\N{GREEK SMALL LETTER KAPPA}": r"$\kappa$",
}
"""What LaTeX has for characters that it reads as commands, or that its usual fonts lack."""

SUPERSCRIPT = "<super>"
"""How Unicode marks that a character is another one, raised."""

INTERVAL = "\N{PLUS-MINUS SIGN} is half the length of the 95 % interval across launches"
UNEVEN = "; of an uneven one, both sides"

LINE = 78
"""Characters of a table that a line of an article has room for, in small letters."""

BETWEEN = 2
"""Room between columns, in characters."""

LABEL, WORDS = 52, 28
"""Longest name of a row, and longest entry of words, on one line."""

PAGE = 42
"""Lines of small letters that a page has room for."""

LEAST_ROWS = 12

LEAST, MOST = 0.01, 100_000
"""Numbers between which one unit suits all columns of a table."""

_VALUE = re.compile(r"(?<=\d) (?=(?:[nµm]?s|[KMGT]?i?B(?:/s)?|[kMGT]?bit/s|%)(?![A-Za-z]))")
"""The blank between a number and its unit."""


def render(document: Document) -> str:
    """Return a float for each table, or several if it is large; a list of sentences without tables.

    The caption has the title, what was measured and where, and the meaning of intervals; notes are below.
    """
    head = [f"% {printable(line)}" for line in document.head]
    tables = [
        line
        for number, table in enumerate(document.tables, 1)
        for line in (*_floats(document, table, _label(document, table, number)), "")
    ]
    sentences = [] if tables else [*_itemized(line.text for line in document.foot)]
    return "\n".join([*PREAMBLE, *head, *(tables or sentences), END, ""])


# ---- Floats --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns of LaTeX that show one column of a table.

    Attributes:
        kinds: Column types, one per column.
        heading: Lines of what stands above all of them.
        below: What stands above each.
        entries: Per row, its cells with `&` between them.
        widths: Per row, how many characters its cells have.
        heights: Per row, how many lines its cells take.
        marks: Per row, the letters of its notes.
        above: Letters of notes at the heading.
        has_interval: Whether a column has intervals.
        is_uneven: Whether one of these has both sides.
        leads: Whether it tells rows apart, so that it stands in each part of a table.
    """

    kinds: Sequence[str]
    heading: Sequence[str]
    below: Sequence[str]
    entries: Sequence[str]
    widths: Sequence[int]
    heights: Sequence[int]
    marks: Sequence[str]
    above: str = ""
    has_interval: bool = False
    is_uneven: bool = False
    leads: bool = False

    @property
    def width(self) -> int:
        """Characters of its widest row, or of its heading."""
        return max([*self.widths, *map(len, self.heading)], default=0) + BETWEEN * len(self.kinds)

    def of(self, rows: slice) -> _Columns:
        """Return some of the rows."""
        return replace(
            self,
            entries=self.entries[rows],
            widths=self.widths[rows],
            heights=self.heights[rows],
            marks=self.marks[rows],
        )


def _label(document: Document, table: Table, number: int) -> str:
    """Return a label that is another one for each table of each result: `tab:node1-times-2`."""
    files = [PurePath(str(context.get("file", ""))).name.partition(".")[0] for context in document.contexts]
    title = (table.caption or table.title).partition(":" if table.caption else DOT)[0]
    count = [str(number)] if number > 1 else []
    words = re.findall(r"[a-z0-9]+", " ".join([*files, title, *count]).lower())
    return f"tab:{'-'.join(words) or 'table'}"


def _floats(document: Document, table: Table, label: str) -> Iterator[str]:
    """Yield a table, or several where a line has no room for its columns or a page for its rows."""
    columns = _printed(document, table)
    blocks = [*_blocks(columns)]
    notes = [*filter(None, [table.about if table.meaning is None else table.meaning]), *table.notes]
    above = 6 + sum(math.ceil(len(note) / (LINE * 1.2)) for note in notes)
    heights = [max(row) for row in zip(*(column.heights for column in columns), strict=True)]
    most = max(LEAST_ROWS, (PAGE - above) * len(heights) // max(1, sum(heights)))
    firsts = range(0, max(1, len(table.rows)), most)
    parts = [
        [column.of(slice(first, first + most)) for column in block] for block in blocks for first in firsts
    ]
    for number, part in enumerate(parts, 1):
        of_parts = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
        caption = f"{_caption(document, table, part)}{of_parts}."
        yield from _float(part, _text(caption), f"{label}-part-{number}" if number > 1 else label, notes)


def _blocks(columns: Sequence[_Columns]) -> Iterator[list[_Columns]]:
    """Yield as many columns as fit on a line, each time behind those that tell rows apart."""
    leading = [column for column in columns if column.leads]
    room = LINE - sum(column.width for column in leading)
    block: list[_Columns] = []
    for column in (column for column in columns if not column.leads):
        if block and sum(one.width for one in block) + column.width > room:
            yield [*leading, *block]
            block = []
        block.append(column)
    if block or leading:
        yield [*leading, *block]


def _caption(document: Document, table: Table, columns: Sequence[_Columns]) -> str:
    """Return one sentence without its full stop; of what has no source, the first line above the tables."""
    source = document.machine or document.source or next(iter(document.head), "")
    interval = ""
    if any(column.has_interval or r"$\pm$" in "".join(column.entries) for column in columns):
        interval = INTERVAL + (UNEVEN if any(column.is_uneven for column in columns) else "")
    title = (table.caption or table.title).replace(DOT, ", ")
    return "; ".join(filter(None, [title, source.rstrip("."), interval]))


def _float(columns: Sequence[_Columns], caption: str, label: str, notes: Sequence[str]) -> Iterator[str]:
    rows = [" & ".join(entries) for entries in zip(*(column.entries for column in columns), strict=True)]
    yield r"\begin{table}"
    yield r"  \centering\small"
    yield r"  \setlength{\tabcolsep}{4pt}\hbadness=10000 \renewcommand{\TPTminimum}{\linewidth}"
    yield r"  \begin{threeparttable}"
    yield f"    \\caption{{{caption}}}"
    yield f"    \\label{{{label}}}"
    yield f"    \\begin{{tabular}}{{{' '.join(kind for column in columns for kind in column.kinds)}}}"
    yield r"      \toprule"
    if any(column.heading or any(column.below) for column in columns):
        yield from _headings(columns)
        yield r"      \midrule"
    yield from (f"      {row} \\\\" for row in rows)
    yield r"      \bottomrule"
    yield r"    \end{tabular}"
    used = {mark for column in columns for marks in (column.above, *column.marks) for mark in marks}
    told = [(marks, text) for marks, text in map(_split_note, notes) if used >= {*marks}]
    if told:
        yield r"    \begin{tablenotes}[flushleft]\footnotesize\raggedright"
        yield from (f"      \\item[{','.join(marks)}] {_text(text)}" for marks, text in told)
        yield r"    \end{tablenotes}"
    yield r"  \end{threeparttable}"
    yield r"\end{table}"


def _headings(columns: Sequence[_Columns]) -> Iterator[str]:
    """Yield the lines of the heading: what columns are, rules below what spans several, and units."""
    if any(column.heading for column in columns):
        yield f"      {' & '.join(map(_spanning_heading, columns))} \\\\"
    if not any(text for column in columns for text in column.below):
        return
    first = 1
    for column in columns:
        last = first + len(column.kinds) - 1
        if column.heading and last > first:
            yield f"      \\cmidrule(lr){{{first}-{last}}}"
        first = last + 1
    yield f"      {' & '.join(text for column in columns for text in column.below)} \\\\"


def _spanning_heading(column: _Columns) -> str:
    lines = [_text(line) for line in column.heading]
    text = r"\\".join(lines)
    if len(lines) > 1:
        text = rf"\begin{{tabular}}[b]{{@{{}}c@{{}}}}{text}\end{{tabular}}"
    if len(column.kinds) > 1 or column.kinds[0].startswith("S"):
        return f"\\multicolumn{{{len(column.kinds)}}}{{c}}{{{text}}}"
    return text


# ---- Columns -------------------------------------------------------------------------------------


def _printed(document: Document, table: Table) -> list[_Columns]:
    """Return the columns of a table; where rows are of different quantities, each row has its unit."""
    entries = [*zip(*document.entries(table), strict=True)] or [() for _ in table.columns]
    numbers = [[_measured(column, row) for row in table.rows] for column in table.columns]
    kinds = [{number.unit for number in column if number} for column in numbers]
    mixed = any(len(found) > 1 for found in kinds)
    of_rows = [_unit(row, document.units) for row in zip(*numbers, strict=True)] if mixed else []
    of_all = _unit_of_all([number for column in numbers for number in column if number], document.units)
    printed: list[_Columns] = []
    for number, (column, texts, values) in enumerate(zip(table.columns, entries, numbers, strict=True)):
        if not kinds[number]:
            printed.append(replace(_words(column, texts), leads=number == 0 or column.tells))
            continue
        if of_rows and not any(kinds[:number]):
            printed.append(replace(_unit_column(of_rows), leads=True))
        of_column = of_rows or [of_all or _unit(values, document.units)] * len(values)
        printed.append(_numbers(column, texts, values, of_column, named=not of_rows))
    return printed


def _measured(column: Column, row: Any) -> Measured | None:
    """Return a row's entry as a number; None where it is words, and of columns that write their own."""
    if column.number is not None:
        return column.number(row)
    if column.write is not None or column.unit not in {"s", "B/s"}:
        return None
    from mpigauge.stats.interval import Number  # noqa: PLC0415 - numpy, which --help does not wait for

    value = column.value(row)
    return None if value is None or not math.isfinite(value) else Measured(Number(value), column.unit)


def _unit_of_all(numbers: Sequence[Measured], chosen: Units) -> str:
    """Return one unit for the numbers of all columns; empty if they are too far apart for one."""
    if len({number.unit for number in numbers}) != 1:
        return ""
    unit = _unit(numbers, chosen)
    written = [abs(float(_written(number, unit))) for number in numbers if number.number.estimate]
    return unit if all(LEAST <= one < MOST for one in written) else ""


def _unit(numbers: Iterable[Measured | None], chosen: Units) -> str:
    """Return the unit that all of these numbers are written in; empty if there are none."""
    known = [number for number in numbers if number is not None]
    if not known:
        return ""
    estimates = [number.number.estimate for number in known]
    if known[0].unit == "s":
        return units.time_unit(estimates) if chosen.time == units.AUTO else chosen.time
    return units.rate_unit(estimates) if chosen.rate == units.AUTO else chosen.rate


UNIT_COMMANDS = {
    "ns": r"\nano\second",
    "us": r"\micro\second",
    "\N{MICRO SIGN}s": r"\micro\second",
    "ms": r"\milli\second",
    "s": r"\second",
}
"""Units whose letters siunitx must choose; it takes the others as they are."""


def _si(unit: str) -> str:
    return f"{{\\si{{{UNIT_COMMANDS.get(unit, unit)}}}}}" if unit else ""


def _unit_column(of_rows: Sequence[str]) -> _Columns:
    count = len(of_rows)
    cells, widths = [*map(_si, of_rows)], [*map(len, of_rows)]
    return _Columns(["l"], ["unit"], [""], cells, widths, [1] * count, [""] * count)


def _words(column: Column, texts: Sequence[str]) -> _Columns:
    """Return a column of words; long ones are broken into lines."""
    plain, marks = [_without_marks(text) for text in texts], [*map(_marks_of, texts)]
    most = WORDS if column.wraps else LABEL
    longest = max(map(len, plain), default=0)
    kind = "l" if column.left else "r"
    if longest > most and column.left:
        kind = rf">{{\raggedright\arraybackslash}}p{{{most / LINE:.2f}\linewidth}}"
    heading, above = _heading(column)
    widths = [min(most, len(text)) if kind[0] == ">" else len(text) for text in plain]
    heights = [max(1, math.ceil(len(text) / most)) if kind[0] == ">" else 1 for text in plain]
    letters = [*map(_plain, marks)]
    return _Columns([kind], heading, [""], [*map(_text, texts)], widths, heights, letters, _plain(above))


def _heading(column: Column) -> tuple[list[str], str]:
    """Return the lines of a heading, the last one with its letters, and these."""
    return (column.heading.split(", ") if column.heading else []), _marks_of(column.heading)


def _numbers(
    column: Column,
    texts: Sequence[str],
    numbers: Sequence[Measured | None],
    of_rows: Sequence[str],
    *,
    named: bool,
) -> _Columns:
    """Return a column of numbers and one of their intervals, if there are any.

    Args:
        of_rows: The unit of each row.
        named: Whether it stands in the heading, as that of all rows.
    """
    values = [_written(one, unit) if one else "" for one, unit in zip(numbers, of_rows, strict=True)]
    sides = [_sides(one.number) if one else "" for one in numbers]
    has_interval = any(sides)
    marks = [one.marks if one else _marks_of(text) for one, text in zip(numbers, texts, strict=True)]
    span = 1 + has_interval
    entries = [
        " & ".join([value + _tnote(_plain(mark)), *([side or "{--}"] if has_interval else [])])
        if value
        else rf"\multicolumn{{{span}}}{{c}}{{{_text(text)}}}"
        for value, side, text, mark in zip(values, sides, texts, marks, strict=True)
    ]
    kinds = [_format(values, max(marks, key=len, default=""))]
    below = [_si(of_rows[0]) if named else ""]
    if has_interval:
        kinds.append(_format([side for side in sides if _is_plain(side)], ""))
        below.append(r"{$\pm$ (\%)}")
    whole, decimals = _places(values)
    room = whole + 1 + decimals + max((len(",".join(mark)) for mark in marks), default=0)
    room += max(6, *(len(_shown(side)) for side in sides)) if has_interval else 0
    words = [text for value, text in zip(values, texts, strict=True) if not value]
    room = max([room, *map(len, words)])
    heading, above = _heading(column)
    return _Columns(
        kinds,
        heading,
        below,
        entries,
        [room] * len(values),
        [1] * len(values),
        [*map(_plain, marks)],
        _plain(above),
        has_interval,
        any(one is not None and one.number.is_uneven for one in numbers),
    )


def _written(measured: Measured, unit: str) -> str:
    """Return a number in a unit, without an exponent."""
    write = units.format_time_in if measured.unit == "s" else units.format_rate_in
    return format(Decimal(write(measured.number.estimate, unit)), "f")


def _sides(number: Number) -> str:
    """Return half of an interval in per cent: `4.1`; both sides of an uneven one, and factors, as words."""
    half_width, low, high = number.half_width, number.low, number.high
    if half_width is None or low is None or high is None:
        return ""
    far = high / number.estimate if number.estimate else math.inf
    if half_width >= units.MAX_REACH - 1 or not number.is_uneven:
        text = units.format_half_width(half_width)
        return text.removesuffix(" %") if text.endswith(" %") else f"{{{_text(text)}}}"
    if far - 1 >= units.FACTOR_FROM or far <= 1:
        return rf"{{$\div{units.format_factor(number.estimate / low)}/\times{units.format_factor(far)}$}}"
    below, above = (
        units.format_percent(share).removesuffix(" %") for share in (1 - low / number.estimate, far - 1)
    )
    return rf"{{$-{below}/{{+}}{above}$}}"


def _is_plain(side: str) -> bool:
    return bool(side) and not side.startswith("{")


def _shown(side: str) -> str:
    """Return about what is seen of the sides of an interval."""
    return re.sub(r"\\[a-z]+|[{}$]", "", side)


def _format(numbers: Sequence[str], marks: str) -> str:
    """Return a column type with the room that its numbers need before and behind the point."""
    whole, decimals = _places(numbers)
    room = f",table-align-text-post=false,table-space-text-post={_tnote(_plain(marks))}" if marks else ""
    return f"S[table-format={whole}{f'.{decimals}' if decimals else ''}{room}]"


def _places(numbers: Sequence[str]) -> tuple[int, int]:
    """Return how many digits stand before the point at most, and behind it."""
    parts = [number.partition(".") for number in numbers if number]
    whole = max((len(before) for before, _, _ in parts), default=1)
    return whole, max((len(behind) for _, _, behind in parts), default=0)


# ---- Words ---------------------------------------------------------------------------------------


def _itemized(sentences: Iterable[str]) -> Iterator[str]:
    yield r"\begin{itemize}"
    yield from (f"  \\item {_text(sentence)}" for sentence in sentences if sentence)
    yield r"\end{itemize}"


def _text(words: str) -> str:
    """Return text in which LaTeX finds no commands, with thin blanks before units and marks of notes."""
    plain, marks = _without_marks(printable(words)), _plain(_marks_of(printable(words)))
    parts = _VALUE.split(plain)
    return r"\,".join("".join(map(_sign, part)) for part in parts) + _tnote(marks)


def _sign(character: str) -> str:
    """Return one character as LaTeX has it."""
    kind, _, plain = unicodedata.decomposition(character).partition(" ")
    if kind == SUPERSCRIPT:
        return rf"\textsuperscript{{{_sign(chr(int(plain, 16)))}}}"
    return SIGNS.get(character, character)


_MARKS = re.compile(f"[{LETTERS}]+$")


def _marks_of(text: str) -> str:
    """Return the letters of notes that a text ends in."""
    found = _MARKS.search(text)
    return found[0] if found else ""


def _without_marks(text: str) -> str:
    return text.removesuffix(marks) if (marks := _marks_of(text)) else text


def _plain(marks: str) -> str:
    """Return raised letters as plain ones."""
    return unicodedata.normalize("NFKC", marks)


def _tnote(letters: str) -> str:
    return rf"\tnote{{{','.join(letters)}}}" if letters else ""


def _split_note(note: str) -> tuple[str, str]:
    """Return the letters that a note explains, and what it says."""
    letters, _, said = note.partition(" ")
    return (_plain(letters), said) if letters and not letters.strip(LETTERS) else ("", note)
