"""Text for a terminal: fitted to its width, coloured, with a bar per time.

What does not fit is wrapped, or hidden and named; columns that are never hidden, as those of numbers that are
compared, go on in a block below, with the heads of their rows and what else tells these apart. No number is
cut. Colour only repeats what words say.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from mpigauge import units
from mpigauge.document.bars import INTERVAL, NO_INTERVAL, LogAxis, axis_of, bar
from mpigauge.document.plain_signs import plain, printable
from mpigauge.sequences import runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from mpigauge.document.document import Column, Document, Line, Table, Tone, Units

UNLIMITED = 10**6
"""Width of a pipe, where nothing is hidden or wrapped and there are no bars."""

GAP = 2
MIN_WRAPPED = 22
"""Least width of a wrapped column."""

MIN_WRAP = 20
"""If a hanging indentation leaves less than this, or less than the longest word, a smaller one is used."""

HEAD_FOLDED, MIN_HEAD = 24, 12
"""Widths that row heads are wrapped to: the first where that saves a block, the second where one number needs
it.
"""

HEADING_BREAK = ", "
"""Where the heading of a column may be broken."""

CLAUSE = "; "

MIN_BAR, MAX_BAR = 14, 32

CHART_WIDTH = 80
"""Width of a chart; on a narrower terminal there is none."""

STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "doubt": "yellow",
    "bad": "red",
    "title": "bold",
    "quiet": "dim",
}

LEGEND = (
    "bars: time on a logarithmic scale between the two times above them; "
    f"{INTERVAL} the 95 % interval, where it is that wide, {NO_INTERVAL} no interval is known"
)


TOGETHER = re.compile(
    r"(?<=\d) (?=(?:%|[num\u00b5\u03bc]?s|[KMG]?i?B(?:/s)?|[KMG]bit/s)(?!\w))"
    r"|(?<=[\w%]) (?=[\u2013-] \d)|(?<= [\u2013-]) (?=\d)"
)
"""Spaces at which no line ends: between a number and its unit, and within an interval."""

JOINED = "\ue000"
"""Placeholder for such spaces while lines are broken."""


def render(document: Document, console: Console) -> str:
    """Return the document as shown by a console of this width, encoding and colours."""
    with console.capture() as captured:
        for line in lines_of(document, console):
            console.print(line, soft_wrap=True)
    return captured.get()


def lines_of(document: Document, console: Console) -> Iterator[Text]:
    """Return the lines of the document, none wider than the console."""
    yield from _lines(document, PageSize(console))


class PageSize:
    """Limits of lines: a width in characters, and an encoding.

    Attributes:
        width: Characters per line.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self.width = console.width
        self._ascii = console.options.ascii_only

    def shown(self, words: str) -> str:
        """Return words as they can be printed: on one line, without control characters."""
        words = printable(words)
        return plain(words) if self._ascii else words

    def wrapped(self, words: str | Text, style: str = "", indent: int = 0, hang: int = 2) -> Iterator[Text]:
        """Wrap words into lines; all but the first begin `hang` characters further right."""
        text = words if isinstance(words, Text) else Text(self.shown(words), style)
        margin = Text(" " * indent)
        if indent + cell_len(text.plain) <= self.width:
            yield margin + text
            return
        joined = TOGETHER.sub(JOINED, text.plain)
        if _longest(joined) <= self.width - indent - hang:
            text = text.copy()
            text.plain = joined
        longest = _longest(text.plain[hang:])
        if self.width - indent - hang < max(MIN_WRAP, longest):
            hang = 2
        lead, rest = text[:hang], text[hang:]
        for line in rest.wrap(self._console, max(1, self.width - indent - cell_len(lead.plain))):
            line.rstrip()
            line.plain = line.plain.replace(JOINED, " ")
            yield self.cut(margin + lead + line)
            lead = Text(" " * hang)

    def pieces(self, words: str, style: str, width: int) -> list[Text]:
        """Wrap words into lines without indentation."""
        return list(Text(words, style).wrap(self._console, max(1, width))) or [Text()]

    def cut(self, line: Text) -> Text:
        """Cut a line, with a sign that there was more, on a terminal narrower than any table."""
        line.rstrip()
        line.truncate(self.width, overflow="ellipsis" if not self._ascii else "crop")
        return line


def _longest(words: str) -> int:
    """Return the width of the longest word."""
    return max(map(cell_len, words.split()), default=0)


def _lines(document: Document, page: PageSize) -> Iterator[Text]:
    if document.head:
        first, *others = document.head
        yield from page.wrapped(first, STYLES["title"])
        for line in others:
            yield from page.wrapped(line)
        yield Text()
    laid_out = [_laid_out(document, table, page) for table in document.tables]
    tables, hidden = _fitted_to(laid_out, page.width)
    layouts = _layouts(tables, hidden, page.width, document.units)
    for table, blocks in zip(tables, layouts, strict=True):
        yield from _table(table, blocks, page)
    yield from _drawn(document, page)
    yield from _hidden_line(_headings(tables, hidden), page)
    for line_ in document.below:
        yield from page.wrapped(_emphasised(line_, page))
    if any(layout.axis for blocks in layouts for layout in blocks):
        yield from page.wrapped(LEGEND, STYLES["quiet"])


def _drawn(document: Document, page: PageSize) -> Iterator[Text]:
    """Return the lines of a chart, which are not wrapped; nothing where there is no room for it."""
    if document.drawn is not None and page.width >= CHART_WIDTH:
        lines = document.drawn(min(page.width, CHART_WIDTH))
        yield from (Text(page.shown(line), "cyan") for line in lines)
        yield Text()


def _emphasised(line: Line, page: PageSize) -> Text:
    """Return a line whose beginning, up to the colon, is emphasised."""
    text = Text(page.shown(line.text))
    if line.tone:
        text.stylize(STYLES[line.tone], 0, len(text.plain.partition(":")[0]))
    return text


def _hidden_line(headings: Sequence[str], page: PageSize) -> Iterator[Text]:
    """Return lines that name the hidden columns, and how to see them."""
    if headings:
        names = ", ".join(headings)
        words = f"columns hidden (terminal too narrow): {names}; widen it, or pipe into less -S"
        yield from page.wrapped(words, STYLES["title"])


# ---- What fits -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """Table with its entries as they are printed.

    Attributes:
        columns: All columns but a wrapping last one.
        last: The wrapping column, if it has any words and there is room for them.
        below: The wrapping column if there is no room beside the others and it is never hidden: its words get
            lines of their own.
        entries: Entries of each row by column name.
        widths: Width of the longest entry of each column, including the heading.
        folded: The same with headings broken where they may be.
        above: What the heads of all rows would say, and is said once above them.
    """

    table: Table
    columns: list[Column]
    last: Column | None
    entries: list[dict[str, str]]
    widths: dict[str, int]
    folded: dict[str, int]
    below: Column | None = None
    above: str = ""


def _laid_out(document: Document, table: Table, page: PageSize) -> _Table:
    entries = [
        {column.name: page.shown(column.text(row, document.units)) for column in table.columns}
        for row in table.rows
    ]
    headings = {column.name: page.shown(column.heading) for column in table.columns}
    longest = {name: max(map(cell_len, [*(row[name] for row in entries), ""])) for name in headings}
    widths = {name: max(longest[name], cell_len(heading)) for name, heading in headings.items()}
    folded = {name: max(longest[name], *map(cell_len, _parts(heading))) for name, heading in headings.items()}
    *columns, last = table.columns
    if not last.wraps:
        return _Table(table, [*columns, last], None, entries, widths, folded)
    has_words = any(row[last.name] for row in entries)
    return _Table(table, columns, last if has_words else None, entries, widths, folded)


def _parts(heading: str) -> list[str]:
    """Split a heading where it may be broken."""
    *parts, last = heading.split(HEADING_BREAK)
    return [*(f"{part}{HEADING_BREAK.rstrip()}" for part in parts), last]


def _fold(heading: str, width: int) -> Iterator[str]:
    """Return the lines of a heading in a column of this width."""
    line = ""
    for part in _parts(heading):
        longer = f"{line} {part}".lstrip()
        if line and cell_len(longer) > width:
            yield line
            longer = part
        line = longer
    yield line


def _fitted_to(tables: Sequence[_Table], width: int) -> tuple[list[_Table], list[str]]:
    """Return tables in a form that fits, and the columns to hide: as few as possible, the same in all tables.

    Notes go first. Then what heads rows is broken, and what all of them say stands once above. Then other
    columns go, in `hiding_order`; at last words that are never hidden get lines of their own. Tables that do
    not fit even then continue in blocks below.
    """
    columns = list({column.name: column for table in tables for column in table.columns}.values())
    firsts = {table.columns[0].name for table in tables if table.columns}
    notes = [
        *dict.fromkeys(table.last.name for table in tables if table.last and table.last.goes is not None)
    ]
    order = [*notes, *(name for name in hiding_order(columns, _used(tables)) if name not in firsts)]
    least = [_last_form(table, order, width) for table in tables]
    if not all(least):
        return [
            form or next(_said_above(_broken(table)), table)
            for form, table in zip(least, tables, strict=True)
        ], order
    for count in (0, *range(len(notes), len(order) + 1)):
        forms = [_form(table, order[:count], width, whole=count < len(notes)) for table in tables]
        if all(forms):
            return [form for form in forms if form], order[:count]
    return [form for form in least if form], order


def _last_form(table: _Table, hidden: Sequence[str], width: int) -> _Table | None:
    """Return the form of a table with least columns and words that fits; None if none does."""
    form = _form(table, hidden, width)
    if form is None and table.last is not None and table.last.name not in hidden:
        return _form(replace(table, last=None, below=table.last), hidden, width)
    return form


def _form(table: _Table, hidden: Sequence[str], width: int, *, whole: bool = False) -> _Table | None:
    """Return the first form of a table that fits, if any: as it is, with heads of rows broken, or said above.

    Args:
        whole: Whether nothing may be broken yet.
    """
    forms = [table] if whole else [table, _broken(table), *(_broken(one) for one in _said_above(table))]
    return next((form for form in forms if _width_needed(form, hidden) <= width), None)


def _broken(table: _Table) -> _Table:
    """Return a table with headings, and what heads its rows, broken where they may be."""
    heads = [column for place, column in enumerate(table.columns) if place == 0 or column.tells]
    parts = {
        column.name: max(
            map(
                cell_len,
                [
                    *_parts(column.heading),
                    *(one for row in table.entries for one in _parts(row[column.name])),
                ],
            )
        )
        for column in heads
    }
    return replace(table, widths=table.widths | table.folded | parts)


def _said_above(table: _Table) -> Iterator[_Table]:
    """Yield a table that says once above its rows what the heads of all of them say, if that is anything."""
    head, *others = table.columns
    parts = [row[head.name].split(HEADING_BREAK) for row in table.entries]
    common = [part for part in parts[0] if all(part in one for one in parts)] if len(parts) > 1 else []
    if not common or not others:
        return
    own = [HEADING_BREAK.join(part for part in one if part not in common) for one in parts]
    if any(own) and not all(own):
        return
    entries = [row | {head.name: name} for row, name in zip(table.entries, own, strict=True)]
    longest = max(map(cell_len, [*own, head.heading]))
    yield replace(
        table,
        columns=table.columns if any(own) else others,
        entries=entries,
        widths=table.widths | {head.name: longest},
        folded=table.folded | {head.name: longest},
        above=HEADING_BREAK.join(common),
    )


def _headings(tables: Sequence[_Table], hidden: Sequence[str]) -> list[str]:
    """Return the headings of columns by name; they may differ from table to table."""
    columns = [
        column for table in tables for column in (*table.columns, *([table.last] if table.last else []))
    ]
    headings = [_name_of(column) for name in hidden for column in columns if column.name == name]
    return list(dict.fromkeys(headings))


def _name_of(column: Column) -> str:
    """Return the name of a hidden column; some have no heading."""
    return column.heading or column.name.replace("_", " ")


def _used(tables: Sequence[_Table]) -> set[str]:
    """Return the names of columns with a number in some row."""
    nothing = {"", units.MISSING, plain(units.MISSING)}
    rows = [row for table in tables for row in table.entries]
    return {name for row in rows for name, words in row.items() if words not in nothing}


def hiding_order(columns: Sequence[Column], used: set[str]) -> list[str]:
    """Return the names of columns in the order of hiding, without those that always stay.

    Columns without any number go first, then by `Column.goes`; of equal ones the last goes first.

    Args:
        used: Names of columns with at least one number.
    """
    leaving = [
        (column.name in used, column.goes, -place, column.name)
        for place, column in enumerate(columns)
        if column.goes is not None
    ]
    return [name for *_, name in sorted(leaving)]


def _width_needed(table: _Table, hidden: Sequence[str], *, folded: bool = False) -> int:
    """Return the least width of a table, including its margin.

    Args:
        folded: Whether headings are broken where they may be.
    """
    columns = [column for column in table.columns if column.name not in hidden]
    last = table.widths[table.last.name] if table.last and table.last.name not in hidden else 0
    needs = sum(GAP + _least_width(table, column, folded=folded) for column in columns)
    return needs + (GAP + min(last, MIN_WRAPPED) if last else 0)


def _least_width(table: _Table, column: Column, *, folded: bool) -> int:
    """Return the least width of a column."""
    width = (table.folded if folded else table.widths)[column.name]
    return min(width, MIN_WRAPPED) if column.wraps else width


@dataclass(frozen=True, slots=True)
class _Layout:
    """Columns and widths of a table, or of one block of it.

    Attributes:
        columns: Columns with their widths.
        last: Width of the wrapping column; 0 if there is none.
        bar: Width of the bars; 0 if there are none.
        above: Text above the bars.
    """

    columns: list[tuple[Column, int]]
    last: int
    bar: int = 0
    axis: LogAxis | None = None
    above: str = ""


def _layouts(
    tables: Sequence[_Table], hidden: Sequence[str], width: int, chosen: Units
) -> list[list[_Layout]]:
    """Return the blocks of each table, one if it fits; bars are in all tables with times, or in none."""
    wide = [_width_needed(table, hidden) > width for table in tables]
    bars = width < UNLIMITED and not any(wide)
    layouts = [_layout(table, hidden, width, chosen, bars=bars) for table in tables]
    if any(layout.axis is None and _axis(table.table) for table, layout in zip(tables, layouts, strict=True)):
        layouts = [_layout(table, hidden, width, chosen, bars=False) for table in tables]
    return [
        _blocks(table, hidden, width) if is_wide else [layout]
        for table, layout, is_wide in zip(tables, layouts, wide, strict=True)
    ]


def _blocks(table: _Table, hidden: Sequence[str], width: int) -> list[_Layout]:
    """Divide a table that is too wide into as few blocks as possible, each with what tells its rows apart."""
    head, *columns = [column for column in table.columns if column.name not in hidden]
    if table.last is not None and table.last.name not in hidden:
        columns.append(table.last)
    needs = {column.name: GAP + _least_width(table, column, folded=True) for column in columns}
    full = table.folded[head.name]
    telling, columns = _telling(columns, needs, width - GAP - min(full, MIN_HEAD))
    left = width - GAP - sum(needs[column.name] for column in telling)
    one_each = max(MIN_HEAD, left - max(needs[column.name] for column in columns))
    head_widths = [min(full, most) for most in (full, HEAD_FOLDED, one_each, MIN_HEAD)]
    divided = [(head_width, _divided(columns, needs, left - head_width)) for head_width in head_widths]
    head_width, blocks = min(
        divided, key=lambda pair: (any(pair[0] + needs[one.name] > left for one in columns), len(pair[1]))
    )
    if too_wide := [column for column in columns if head_width + needs[column.name] > left]:
        head_width, blocks = min(full, MIN_HEAD), [[column] for column in columns]
        if all(column.left for column in too_wide) and left - min(full, HEAD_FOLDED) >= MIN_WRAPPED:
            # Words can be broken: heads need not be, and shorter words stand with the numbers.
            head_width = min(full, HEAD_FOLDED)
            others = [column for column in columns if column not in too_wide]
            beside = _divided(others, needs, left - head_width) if others else []
            blocks = [*beside, *([column] for column in too_wide)]
    room = left - head_width
    heads = [(head, head_width), *((column, needs[column.name] - GAP) for column in telling)]
    return [
        _block(
            table,
            [*heads, *((column, min(needs[column.name], room) - GAP) for column in group)],
            width,
        )
        for group in blocks
    ]


def _telling(
    columns: Sequence[Column], needs: Mapping[str, int], room: int
) -> tuple[list[Column], list[Column]]:
    """Return columns that stand in every block with the first, and the others; none if these lack room."""
    telling = [column for column in columns if column.tells]
    others = [column for column in columns if not column.tells]
    taken = sum(needs[column.name] for column in telling)
    if not others or taken + max(needs[column.name] for column in others) > room:
        return [], [*columns]
    return telling, others


def _divided(columns: Sequence[Column], needs: Mapping[str, int], room: int) -> list[list[Column]]:
    """Divide columns into blocks: as few as possible, then of similar numbers of columns."""
    joined = runs(columns, lambda _, column: column.joined)
    wide = [sum(needs[column.name] for column in group) for group in joined]
    blocks: list[list[int]] = [[]]
    for number, width in enumerate(wide):
        if blocks[-1] and sum(wide[place] for place in blocks[-1]) + width > room:
            blocks.append([])
        blocks[-1].append(number)
    most = math.ceil(len(joined) / len(blocks))
    even = [[*range(place, min(place + most, len(joined)))] for place in range(0, len(joined), most)]
    fits = all(sum(wide[place] for place in block) <= room for block in even)
    return [[column for place in block for column in joined[place]] for block in (even if fits else blocks)]


def _block(table: _Table, columns: list[tuple[Column, int]], width: int) -> _Layout:
    """Return the layout of a block; a wrapping last column gets the rest of the width."""
    if table.last is None or columns[-1][0] is not table.last:
        return _Layout(columns, 0)
    *others, _ = columns
    spare = width - sum(GAP + wide for _, wide in others) - GAP
    return _Layout(others, min(table.widths[table.last.name], max(1, spare)))


def _fitted(columns: Sequence[tuple[Column, int]], width: int) -> list[tuple[Column, int]]:
    """Return columns with widths; those that wrap share what the others and shorter ones leave."""
    widths = {column.name: wide for column, wide in columns}
    wrapped = sorted((column.name for column, _ in columns if column.wraps), key=lambda name: widths[name])
    left = width - sum(GAP + (0 if column.wraps else wide) for column, wide in columns)
    for place, name in enumerate(wrapped):
        widths[name] = max(1, min(widths[name], left // (len(wrapped) - place)))
        left -= widths[name]
    return [(column, widths[column.name]) for column, _ in columns]


def _axis(table: Table) -> LogAxis | None:
    if table.time is None:
        return None
    return axis_of([time for row in table.rows if (time := table.time(row)) is not None])


def _layout(table: _Table, hidden: Sequence[str], width: int, chosen: Units, *, bars: bool) -> _Layout:
    """Return the layout of a table: the last column gets what the others leave but for the bar."""
    columns = [(column, table.widths[column.name]) for column in table.columns if column.name not in hidden]
    longest = table.widths[table.last.name] if table.last and table.last.name not in hidden else 0
    columns = _fitted(columns, width - (GAP + min(longest, MIN_WRAPPED) if longest else 0))
    spare = max(1, width - sum(GAP + wide for _, wide in columns) - (GAP if longest else 0))
    without = _Layout(columns, min(longest, spare))
    axis = _axis(table.table) if bars else None
    if axis is None or spare - min(longest, MIN_WRAPPED) < MIN_BAR + GAP:
        return without
    last = min(longest, spare - MIN_BAR - GAP)
    bar_width = min(MAX_BAR, spare - last - GAP)
    above = axis.heading(bar_width, chosen.time)
    return _Layout(columns, last, bar_width, axis, above) if above else without


# ---- Rows ----------------------------------------------------------------------------------------


def _table(table: _Table, blocks: Sequence[_Layout], page: PageSize) -> Iterator[Text]:
    if table.table.title:
        yield from page.wrapped(table.table.title, STYLES["title"])
    if table.table.about:
        yield from page.wrapped(table.table.about, STYLES["quiet"], indent=2)
    if table.above:
        yield from page.wrapped(table.above, indent=2)
    for number, layout in enumerate(blocks, 1):
        if table.table.headed:
            yield from _headings_row(table, layout, page)
        for row, entries in zip(table.table.rows, table.entries, strict=True):
            if len(blocks) > 1 and not _says_something(table, entries, layout):
                continue
            drawn = Text(page.shown(_bar(table.table, row, layout)), "cyan")
            yield from _row(table, entries, drawn, layout, page, row)
            if number == len(blocks):
                yield from _words_below(table, entries, row, page)
        yield Text()


def _says_something(table: _Table, entries: dict[str, str], layout: _Layout) -> bool:
    """Return whether a row has a number in a block, or any words beside its head."""
    nothing = {"", units.MISSING, plain(units.MISSING)}
    _, *beside = [column for column, _ in layout.columns]
    named = [column for column in beside if not column.tells] or beside
    last = [table.last] if table.last and layout.last else []
    return any(entries[column.name] not in nothing for column in (*named, *last))


def _headings_row(table: _Table, layout: _Layout, page: PageSize) -> Iterator[Text]:
    """Return the headings, aligned at the bottom."""
    pieces = [
        [piece for line in _fold(page.shown(column.heading), width) for piece in page.pieces(line, "", width)]
        for column, width in layout.columns
    ]
    most = max(map(len, pieces))
    cells = [[Text()] * (most - len(lines)) + lines for lines in pieces]
    last = (
        [Text()] * (most - 1) + [Text(page.shown(table.last.heading))] if table.last and layout.last else []
    )
    above = [""] * (most - 1) + [page.shown(layout.above)]
    yield from _lines_of_cells(cells, [Text(text) for text in above], last, layout, page)


def _bar(table: Table, row: object, layout: _Layout) -> str:
    time = table.time(row) if table.time else None
    return bar(layout.axis, time, layout.bar) if layout.axis and time else ""


def _row(
    table: _Table, entries: dict[str, str], drawn: Text, layout: _Layout, page: PageSize, row: object
) -> Iterator[Text]:
    """Return the lines of a row; several where columns are wrapped."""
    cells = [_pieces(column, entries[column.name], width, page, row) for column, width in layout.columns]
    last = (
        _pieces(table.last, entries[table.last.name], layout.last, page, row)
        if table.last and layout.last
        else []
    )
    yield from _lines_of_cells(cells, [drawn], last, layout, page)


def _lines_of_cells(
    cells: Sequence[Sequence[Text]],
    drawn: Sequence[Text],
    last: Sequence[Text],
    layout: _Layout,
    page: PageSize,
) -> Iterator[Text]:
    """Return lines of wrapped cells, beside them the bar and the last column."""
    columns = [*zip(layout.columns, cells, strict=True)]
    for number in range(max(map(len, [*cells, last, [Text()]]))):
        line = Text()
        for (column, width), pieces in columns:
            words = _nth(pieces, number)
            room = Text(" " * (width - cell_len(words.plain)))
            line = line + Text(" " * GAP) + (words + room if column.left else room + words)
        if layout.axis:
            bar_ = _nth(drawn, number)
            line = line + Text(" " * GAP) + bar_ + Text(" " * (layout.bar - cell_len(bar_.plain)))
        yield page.cut(line + Text(" " * GAP) + _nth(last, number))


def _nth(pieces: Sequence[Text], number: int) -> Text:
    return pieces[number] if number < len(pieces) else Text()


def _words_below(table: _Table, entries: dict[str, str], row: object, page: PageSize) -> Iterator[Text]:
    """Return the words of a last column that has no room beside the others."""
    if table.below is not None:
        words = Text(entries[table.below.name], STYLES[table.below.tone(row)])
        yield from page.wrapped(words, indent=2 * GAP, hang=0)


def _pieces(column: Column, words: str, width: int, page: PageSize, row: object) -> list[Text]:
    """Return an entry, wrapped if it is longer than its column; row heads break where headings do."""
    style = STYLES[column.tone(row)]
    while column.sheds and cell_len(words) > width and CLAUSE in words:
        words = words.rpartition(CLAUSE)[0]
    if cell_len(words) <= width:
        return [Text(words, style)]
    lines = [words] if column.wraps else _fold(words, width)
    return [piece for line in lines for piece in page.pieces(line, style, width)]
