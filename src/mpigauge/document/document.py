"""What is shown, before it has a form: lines above and below, and tables. A format is one function of it.

Curves, pivots, maps, the doctor's findings and lists are all Documents, so that each format serves them all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mpigauge import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpigauge.document.columnar import Columns
    from mpigauge.rows.estimate import Timing
    from mpigauge.stats.interval import Number

Tone = Literal["", "good", "doubt", "bad", "title", "quiet"]
"""What a terminal may colour; words say it all without."""

Unit = Literal["", "s", "B/s", "B", "1"]

DOT = " \N{MIDDLE DOT} "

LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
"""Marks of notes, which Markdown and a terminal show alike; Unicode has no superscript q."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units in which times and rates are printed."""

    time: str = units.AUTO
    rate: str = units.AUTO


AUTOMATIC = Units()
"""Each number in the unit that suits it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number in SI units, for a format that names the unit once for a column.

    Attributes:
        number: The number with its interval.
        unit: `s` or `B/s`.
        marks: Letters of its notes.
    """

    number: Number
    unit: Unit
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its value, unit, and text.

    Attributes:
        name: What users ask for it by, and what CSV calls it.
        heading: What stands above it.
        value: A row's entry in the SI unit; None where there is nothing.
        unit: "" if the values are words.
        write: How people read the entry; None for the usual way of its unit.
        left: Whether its entries are aligned at the left.
        wraps: Whether it may be broken into lines on a narrow terminal.
        goes: When it is hidden on a narrow terminal, the lowest first; None if never.
        tells: Whether it tells rows apart, as the first column does: both stand in each block of a table that
            goes on below, as far as there is room.
        sheds: Whether clauses after a semicolon are left out where there is no room for them on a line.
        joined: Whether it stays beside the column before it where a table goes on in a block below.
        tone: Tone of a row's entry.
        field: What JSON calls its value in each row, where nothing else there has it.
        about: What it is, for the list of those that can be asked for and for docs/numbers.md.
        number: A row's entry as a number with its interval; None where it is words, as is the whole column
            if this is not given.
    """

    name: str
    heading: str
    value: Callable[[Any], Any]
    unit: Unit = ""
    write: Callable[[Any, Units], str] | None = None
    left: bool = False
    wraps: bool = False
    goes: int | None = 50
    tells: bool = False
    sheds: bool = False
    joined: bool = False
    tone: Callable[[Any], Tone] = lambda _: ""
    field: str = ""
    about: str = ""
    number: Callable[[Any], Measured | None] | None = None

    def text(self, row: Any, chosen: Units) -> str:
        """Return a row's entry as people read it."""
        if self.write is not None:
            return self.write(row, chosen)
        return format_value(self.value(row), self.unit, chosen)


def format_value(value: Any, unit: Unit, chosen: Units) -> str:
    """Return a value as text, in the usual way of its unit."""
    match unit:
        case "s":
            return units.format_time(value, chosen.time)
        case "B/s":
            return units.format_rate(value, chosen.rate)
        case "B":
            return units.format_size(value)
        case "1":
            return units.MISSING if value is None else str(value)
        case _:
            return value or ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its title.

    Attributes:
        about: What one row is; may be empty.
        rows: Whatever its columns can read.
        notes: What its marks mean.
        time: The time that a terminal draws as a bar beside a row; None for tables without bars.
        caption: Title in a paper, beside the source; empty where it is the title.
        meaning: `about` for a format that says itself how it writes intervals; None if they do not differ.
    """

    title: str
    about: str
    rows: Sequence[Any]
    columns: Sequence[Column]
    notes: Sequence[str] = ()
    time: Callable[[Any], Timing | None] | None = None
    caption: str = ""
    meaning: str | None = None

    @property
    def headed(self) -> bool:
        """Return whether any column has a heading."""
        return any(column.heading for column in self.columns)


@dataclass(frozen=True, slots=True)
class Cases:
    """A table whose rows a CI system follows from run to run.

    Attributes:
        names: Names of its rows, which do not depend on their values.
    """

    table: Table
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Metric:
    """A gauge, for programs that follow numbers over time.

    Attributes:
        name: Its name, with the SI base unit as its last words.
        samples: Values, each with its labels.
    """

    name: str
    about: str
    samples: Sequence[tuple[Mapping[str, str], float]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line above or below the tables; a tone colours the text before its colon."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Document:
    """Everything to be shown, before it has a format.

    Attributes:
        head: Lines above the tables, the most important first.
        foot: Lines below them.
        steps: Lines of commands that come next, below all others.
        source: Origin of the numbers in a few words, for tables that are pasted elsewhere: Markdown has it
            in the place of head and foot.
        machine: Origin in a caption: machine, libraries, launches, day; empty where it is `source`.
        data: What JSON shows; None for the values of the tables.
        records: The lines of CSV; None for the rows of the tables.
        cases: What JUnit has as test cases, a row per number; None for the rows of the tables.
        metrics: Its gauges, where they are not the times of its records; None where they are.
        schema: Name of its data in `show.formats.json.VERSIONS`; "" for lists, which have no version.
        contexts: Where its numbers come from, one per result: `document.context`.
        properties: Facts about the whole, by name, where a format has room for such; those that are empty are
            left out.
        sparse: Whether CSV leaves out columns that are empty on every line.
        pieces: Its records as columns, piece by piece, where they are too many to be kept as records.
        drawn: Lines of a chart in a width, which text has below its tables; None if there is none.
    """

    head: Sequence[str] = ()
    tables: Sequence[Table] = ()
    foot: Sequence[Line] = ()
    steps: Sequence[Line] = ()
    units: Units = field(default_factory=Units)
    source: str = ""
    machine: str = ""
    data: Callable[[], Mapping[str, Any]] | None = None
    records: Callable[[], Iterable[Mapping[str, Any]]] | None = None
    cases: Callable[[], Sequence[Cases]] | None = None
    metrics: Callable[[], Sequence[Metric]] | None = None
    schema: str = ""
    contexts: Sequence[Mapping[str, Any]] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    sparse: bool = False
    pieces: Callable[[], Iterable[Columns]] | None = None
    drawn: Callable[[int], Sequence[str]] | None = None

    @property
    def below(self) -> Sequence[Line]:
        """All lines below the tables."""
        return [*self.foot, *([Line("")] if self.foot and self.steps else []), *self.steps]

    def entries(self, table: Table) -> list[list[str]]:
        """Return the rows of a table as people read them."""
        return [[column.text(row, self.units) for column in table.columns] for row in table.rows]


def values_of(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table as programs read them: by column, in SI units."""
    return [{column.name: column.value(row) for column in table.columns} for row in table.rows]
