"""Tables of LaTeX with booktabs, units, intervals and captions, for a paper."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from mpigauge.document.plain_signs import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mpigauge.document.document import Column, Document, Table

NEEDS = r"% \usepackage{booktabs,graphicx}"

AS_WIDE_AS_THE_LINE = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Begins a group that is made smaller where it is wider than the line, as of many columns with intervals."""

SIGNS: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
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

_VALUE = re.compile(r"(?<=\d) (?=(?:[nµm]?s|[KMGT]?i?B(?:/s)?|[kMGT]?bit/s|%)(?![A-Za-z]))")
"""The blank between a number and its unit."""


def render(document: Document) -> str:
    """Return a table environment for each table; sentences as a list where there are no tables.

    The caption has the title, what one row is, what was measured and where, and the meaning of marks.
    """
    head = [f"% {printable(line)}" for line in document.head]
    tables = [line for table in document.tables for line in (*_table(document, table), "")]
    sentences = [] if tables else [*_itemized(line.text for line in document.foot)]
    return "\n".join([NEEDS, *head, *(tables or sentences), ""])


def _table(document: Document, table: Table) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"  \centering"
    yield f"  \\caption{{{_caption(document, table)}}}"
    if label := re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-"):
        yield f"  \\label{{tab:{label}}}"
    yield f"  {AS_WIDE_AS_THE_LINE}"
    yield f"  \\begin{{tabular}}{{{''.join(map(_alignment, table.columns))}}}"
    yield r"    \toprule"
    if table.headed:
        yield _row(column.heading for column in table.columns)
        yield r"    \midrule"
    yield from map(_row, document.entries(table))
    yield r"    \bottomrule"
    yield r"  \end{tabular}}"
    yield r"\end{table}"


def _alignment(column: Column) -> str:
    """Return how a column is aligned; long text is broken into lines."""
    if column.wraps:
        return r"p{0.3\linewidth}"
    return "l" if column.left else "r"


def _caption(document: Document, table: Table) -> str:
    """Return the sentences of a caption; of what has no source, the first line above the tables."""
    source = document.source or next(iter(document.head), "")
    title = f"{table.title} ({table.about})" if table.title and table.about else table.title or table.about
    parts = [title, source, "; ".join(table.notes)]
    return " ".join(f"{_text(part[:1].upper() + part[1:].rstrip('.'))}." for part in parts if part)


def _itemized(sentences: Iterable[str]) -> Iterator[str]:
    yield r"\begin{itemize}"
    yield from (f"  \\item {_text(sentence)}" for sentence in sentences if sentence)
    yield r"\end{itemize}"


def _row(entries: Iterable[str]) -> str:
    return f"    {' & '.join(map(_text, entries))} \\\\"


def _text(words: str) -> str:
    """Return text in which LaTeX finds no commands, with thin blanks before units."""
    parts = _VALUE.split(printable(words))
    return r"\,".join("".join(map(_sign, part)) for part in parts)


def _sign(character: str) -> str:
    """Return one character as LaTeX has it; marks of notes as raised letters."""
    kind, _, plain = unicodedata.decomposition(character).partition(" ")
    if kind == SUPERSCRIPT:
        return rf"\textsuperscript{{{chr(int(plain, 16))}}}"
    return SIGNS.get(character, character)
