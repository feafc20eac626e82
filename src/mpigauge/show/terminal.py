"""A document on a terminal: what `tables` writes as text, fitted to the width, with a bar in every row.

What does not fit is wrapped, or hidden and named: no number is cut. Colour only repeats what words say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from mpigauge import units
from mpigauge.analysis.rows import Row
from mpigauge.show.ascii import plain
from mpigauge.show.bars import INTERVAL, NO_INTERVAL, Axis, axis_of, bar
from mpigauge.show.columns import NOTES
from mpigauge.vocabulary import BROKEN, WARNING_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from mpigauge.analysis.estimate import Timing
    from mpigauge.show.columns import Column, Units
    from mpigauge.show.document import Document, Section

UNLIMITED = 10**6
"""The width of a pipe: nothing is hidden or wrapped there, and there are no bars."""

LEAST_FIRST = (
    "samples",
    "ranks_interval",
    "launches",
    "local",
    "root",
    "pure",
    "overlap",
    "interval",
    "rate",
)
"""Columns to hide for want of width, after those without any number; then the others from the right, then ±.

The first column, size, time and notes always stay.
"""

ALWAYS = frozenset({"size", "time"})
LAST_TO_GO = "half_width"

GAP = 2
NOTES_LEAST = 22
"""Notes are wrapped, but not narrower than this."""

WRAP_LEAST = 20
"""Where a deep indentation leaves less than that, or less than the longest word, it is a shallow one."""

BAR_LEAST, BAR_MOST = 14, 32

"""States that are red; all other notes are yellow."""

LEGEND = (
    "bars: time on a logarithmic scale between the two times above them; "
    f"{INTERVAL} the 95 % interval, where it is that wide, {NO_INTERVAL} no interval is known"
)


def render(document: Document, console: Console) -> str:
    """The document as a console of this width, encoding and colours shows it."""
    return printed(_lines(document, Page(console)), console)


def printed(lines: Iterable[Text], console: Console) -> str:
    """Lines as text, with the codes of a console's colours."""
    with console.capture() as captured:
        for line in lines:
            console.print(line, soft_wrap=True)
    return captured.get()


class Page:
    """What lines must keep to: a width in characters, and an encoding.

    Attributes:
        width: Characters in a line.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self.width = console.width
        self._ascii = console.options.ascii_only

    def shown(self, words: str) -> str:
        """Words as they can be printed: in one line, without codes that would move the cursor."""
        words = re.sub(r"[^\S ]", " ", words)
        words = "".join(letter if letter.isprintable() else "?" for letter in words)
        return plain(words) if self._ascii else words

    def wrapped(self, words: str | Text, style: str = "", indent: int = 0, hang: int = 2) -> Iterator[Text]:
        """Lines of words that fit; all but the first one begin `hang` characters further right."""
        text = words if isinstance(words, Text) else Text(self.shown(words), style)
        margin = Text(" " * indent)
        if indent + cell_len(text.plain) <= self.width:
            yield margin + text
            return
        longest = max(map(cell_len, text.plain[hang:].split()), default=0)
        if self.width - indent - hang < max(WRAP_LEAST, longest):
            hang = 2
        lead, rest = text[:hang], text[hang:]
        for line in rest.wrap(self._console, max(1, self.width - indent - cell_len(lead.plain))):
            line.rstrip()
            yield self.cut(margin + lead + line)
            lead = Text(" " * hang)

    def pieces(self, words: str, style: str, width: int) -> list[Text]:
        """One line or more of them."""
        return list(Text(words, style).wrap(self._console, width)) or [Text()]

    def cut(self, line: Text) -> Text:
        """Of a terminal narrower than any table: the beginning, with a sign that there was more."""
        line.rstrip()
        line.truncate(self.width, overflow="ellipsis" if not self._ascii else "crop")
        return line


def _lines(document: Document, page: Page) -> Iterator[Text]:
    first, *others = document.head
    yield from page.wrapped(first, "bold")
    for line in others:
        yield from page.wrapped(line)
    yield Text()
    tables = [_table(section, document.units, page) for section in document.sections]
    hidden = _hidden(tables, page.width)
    layouts = _layouts(tables, hidden, page.width, document.units)
    for table, layout in zip(tables, layouts, strict=True):
        yield from page.wrapped(table.section.title, "bold")
        if table.section.about:
            yield from page.wrapped(table.section.about, "dim", indent=2)
        yield from _rows(table, layout, page)
        yield Text()
    for line in document.foot:
        yield from page.wrapped(_foot_line(line, page))
    if any(layout.axis for layout in layouts):
        yield from page.wrapped(LEGEND, "dim")
    yield from hidden_line(_headings(tables, hidden), page)


def _foot_line(line: str, page: Page) -> Text:
    """A line of the foot; its kind stands out if it is a warning."""
    kind, colon, _ = line.partition(":")
    text = Text(page.shown(line))
    if colon and kind in WARNING_KINDS:
        text.stylize("yellow", 0, len(kind))
    return text


def hidden_line(headings: Sequence[str], page: Page) -> Iterator[Text]:
    """Which columns are not there, and how to see them."""
    if headings:
        words = f"hidden for want of width: {', '.join(headings)}; widen the terminal, or pipe into less -S"
        yield from page.wrapped(words, "bold")


# ---- What fits -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """A section, with its entries as words.

    Attributes:
        columns: All but the notes.
        entries: Those of each row by column name.
        widths: The longest entry of each column, its heading included; of notes, if there are any.
    """

    section: Section
    columns: list[Column]
    entries: list[dict[str, str]]
    widths: dict[str, int]


def _table(section: Section, chosen: Units, page: Page) -> _Table:
    entries = [
        {column.name: page.shown(column.text(row, chosen)) for column in section.columns}
        for row in section.rows
    ]
    noted = any(row.get(NOTES.name) for row in entries)
    shown = [column for column in section.columns if column.name != NOTES.name or noted]
    widths = {
        column.name: max(
            cell_len(words) for words in (page.shown(column.heading), *(row[column.name] for row in entries))
        )
        for column in shown
    }
    return _Table(section, [column for column in shown if column.name != NOTES.name], entries, widths)


def _hidden(tables: Sequence[_Table], width: int) -> list[str]:
    """As few columns as it takes, the same in all tables, in the order of `hiding_order`."""
    names = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    firsts = {table.columns[0].name for table in tables}
    order = [name for name in hiding_order(names, _used(tables)) if name not in firsts]
    hidden: list[str] = []
    while order and any(_need(table, hidden) > width for table in tables):
        hidden.append(order.pop(0))
    return hidden


def _headings(tables: Sequence[_Table], hidden: Sequence[str]) -> list[str]:
    """What stood above the columns of these names; it may differ from table to table."""
    columns = [column for table in tables for column in table.columns]
    headings = [column.heading for name in hidden for column in columns if column.name == name]
    return list(dict.fromkeys(headings))


def _used(tables: Sequence[_Table]) -> set[str]:
    """The names of columns that have a number somewhere."""
    nothing = {"", units.MISSING, plain(units.MISSING)}
    rows = [row for table in tables for row in table.entries]
    return {name for row in rows for name, words in row.items() if words not in nothing}


def hiding_order(names: Sequence[str], used: set[str]) -> list[str]:
    """The names of columns in the order in which they are hidden; those that always stay are not in it.

    Args:
        used: Columns with at least one number.
    """
    empty = [name for name in names if name not in used]
    known = [name for name in LEAST_FIRST if name in names]
    others = [name for name in reversed(names) if name not in (*LEAST_FIRST, LAST_TO_GO)]
    last = [LAST_TO_GO] if LAST_TO_GO in names else []
    return [name for name in dict.fromkeys([*empty, *known, *others, *last]) if name not in ALWAYS]


def _need(table: _Table, hidden: Sequence[str]) -> int:
    """The least width of a table, its margin included."""
    numbers = sum(GAP + table.widths[column.name] for column in table.columns if column.name not in hidden)
    notes = table.widths.get(NOTES.name, 0)
    return numbers + (GAP + min(notes, NOTES_LEAST) if notes else 0)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a table shows.

    Attributes:
        columns: With their widths.
        notes: The width of the notes; 0 if there are none.
        bar: The width of the bars; 0 if there are none.
        above: What stands above the bars.
    """

    columns: list[tuple[Column, int]]
    notes: int
    bar: int = 0
    axis: Axis | None = None
    above: str = ""


def _layouts(tables: Sequence[_Table], hidden: Sequence[str], width: int, chosen: Units) -> list[_Layout]:
    """Bars in all tables that have times to compare, or in none."""
    layouts = [_layout(table, hidden, width, chosen, bars=width < UNLIMITED) for table in tables]
    if all(layout.axis or _axis(table) is None for table, layout in zip(tables, layouts, strict=True)):
        return layouts
    return [_layout(table, hidden, width, chosen, bars=False) for table in tables]


def _axis(table: _Table) -> Axis | None:
    return axis_of([time for row in table.section.rows if (time := _time(row))])


def _time(row: object) -> Timing | None:
    """Its time, if it is a row of a curve: rows are whatever the columns of their section can write."""
    return row.time if isinstance(row, Row) else None


def _layout(table: _Table, hidden: Sequence[str], width: int, chosen: Units, *, bars: bool) -> _Layout:
    """Notes get what the columns leave, but for the least bar; the bar gets what the notes leave."""
    columns = [(column, table.widths[column.name]) for column in table.columns if column.name not in hidden]
    longest = table.widths.get(NOTES.name, 0)
    spare = max(1, width - sum(GAP + wide for _, wide in columns) - (GAP if longest else 0))
    without = _Layout(columns, min(longest, spare))
    axis = _axis(table) if bars else None
    if axis is None or spare - min(longest, NOTES_LEAST) < BAR_LEAST + GAP:
        return without
    notes = min(longest, spare - BAR_LEAST - GAP)
    bar_width = min(BAR_MOST, spare - notes - GAP)
    above = axis.heading(bar_width, chosen.time)
    return _Layout(columns, notes, bar_width, axis, above) if above else without


# ---- Rows ----------------------------------------------------------------------------------------


def _rows(table: _Table, layout: _Layout, page: Page) -> Iterator[Text]:
    headings = {column.name: page.shown(column.heading) for column in table.section.columns}
    yield from _row(headings, Text(page.shown(layout.above)), layout, page, note="")
    for row, entries in zip(table.section.rows, table.entries, strict=True):
        time = _time(row)
        drawn = bar(layout.axis, time, layout.bar) if layout.axis and time else ""
        note = "red" if isinstance(row, Row) and row.status in BROKEN else "yellow"
        yield from _row(entries, Text(page.shown(drawn), "cyan"), layout, page, note)


def _row(entries: dict[str, str], drawn: Text, layout: _Layout, page: Page, note: str) -> Iterator[Text]:
    """A line, and more of them where its notes are wrapped."""
    line = Text()
    for column, width in layout.columns:
        words = entries[column.name]
        room = " " * (width - cell_len(words))
        line.append(" " * GAP + (words + room if column.left else room + words))
    if layout.axis:
        line = line + Text(" " * GAP) + drawn + Text(" " * (layout.bar - cell_len(drawn.plain)))
    margin = cell_len(line.plain) + GAP
    first, *more = page.pieces(entries[NOTES.name], note, layout.notes) if layout.notes else [Text()]
    yield page.cut(line + Text(" " * GAP) + first)
    for piece in more:
        yield page.cut(Text(" " * margin) + piece)
