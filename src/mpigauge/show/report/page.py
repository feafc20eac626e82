"""The model of a page: sections of sentences, tables and charts, before they are HTML. All text is data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.sequences import runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.document.document import Document, Table, Tone
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart

NO_CELLS: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a column, and whether its entries are words."""

    text: str
    words: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in a place of a table."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A line of a table.

    Attributes:
        cells: Those of the page that it is of, by number.
    """

    entries: Sequence[Entry]
    cells: Sequence[int] = NO_CELLS


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table, laid out.

    Attributes:
        about: What one line is; may be empty.
        notes: What its marks mean.
        label: What it is called where its title is not seen.
        grouped: Whether neighbours with one first entry are a group, which it heads.
    """

    title: str
    about: str
    headings: Sequence[Heading]
    lines: Sequence[ReportLine]
    notes: Sequence[str] = ()
    label: str = ""
    grouped: bool = False

    @property
    def groups(self) -> list[list[ReportLine]]:
        """Lines of one group, or all of them."""
        if not self.grouped:
            return [list(self.lines)] if self.lines else []
        return runs(self.lines, lambda one, two: one.entries[0].text == two.entries[0].text)

    @property
    def headed(self) -> bool:
        """Whether anything stands above its columns."""
        return any(one.text for one in self.headings)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something that is said.

    Attributes:
        cells: Those that it rests on, by number; empty for what is of no cell in particular.
        link: The section that has more of it.
    """

    text: str
    tone: Tone = ""
    cells: Sequence[int] = NO_CELLS
    link: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """A curve in the legend of a chart.

    Attributes:
        colour: Its place in the colours of the page.
        marker: Its shape, as matplotlib calls it.
        dash: Lengths of strokes and gaps in pixels; empty for a line without gaps.
        hollow: Whether its points are empty: others have measured it.
        state: The state of the machine that it is of; empty if that does not matter.
        hidden: Whether it is seen only where its state is asked for.
    """

    label: str
    colour: int
    marker: str
    dash: str = ""
    hollow: bool = False
    state: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as the page has it: drawn, with its legend and its table.

    Attributes:
        name: Unique on the page; letters, digits and hyphens.
        about: What is drawn; stands below the title.
        drawings: SVG of our own making.
        chart: The description that was drawn; None for a map.
    """

    name: str
    title: str
    about: str
    drawings: Sequence[str]
    keys: Sequence[Key] = ()
    table: ReportTable | None = None
    chart: Chart | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes:
        name: Unique on the page; what links lead to.
        more: Sentences that are folded away.
    """

    name: str
    title: str
    lead: Sequence[str] = ()
    sentences: Sequence[Sentence] = ()
    more: Sequence[Sentence] = ()
    charts: Sequence[Picture] = ()
    grids: Sequence[ReportTable] = ()
    folded: Sequence[ReportTable] = ()
    terms: Sequence[tuple[str, str]] = ()
    copied: bool = False

    @property
    def half(self) -> bool:
        """Whether it has one chart alone, and so fits beside another."""
        return len(self.charts) == 1 and not any((self.grids, self.folded, self.sentences, self.lead))

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        parts = (self.lead, self.sentences, self.charts, self.grids, self.folded, self.terms)
        return not any(parts)


@dataclass(frozen=True, slots=True)
class Page:
    """The whole.

    Attributes:
        states: Of the machine, if there are curves of several: what can be chosen, with its name.
        cells: The row of each cell, by the number that sentences, tables and points have of it.
        made: What made it: program and version.
    """

    title: str
    subtitle: Sequence[str]
    sections: Sequence[Section]
    states: Sequence[tuple[str, str]] = ()
    cells: Sequence[Row] = ()
    made: str = ""


def grid_of(
    document: Document, table: Table, cells: Callable[[Any], Iterable[int]] = lambda _: (), label: str = ""
) -> ReportTable:
    """A table of a document, laid out.

    Args:
        cells: Of a row of the table, the numbers of the cells that it is of.
    """
    return ReportTable(
        table.title,
        table.about,
        [Heading(column.heading, column.left) for column in table.columns],
        [
            ReportLine(
                [Entry(column.text(row, document.units), column.tone(row)) for column in table.columns],
                tuple(cells(row)),
            )
            for row in table.rows
        ],
        tuple(table.notes),
        label or table.title,
    )
