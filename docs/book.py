"""Results to speak about: their rows, ratios of two of them, and the words for both."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.analysis.like_ratio import like_ratio
from mpigauge.analysis.rows import rows
from mpigauge.analysis.samples import by_cell
from mpigauge.analysis.verdict import verdict as verdict_of
from mpigauge.errors import UsageError
from mpigauge.formats import read
from mpigauge.result import writer
from mpigauge.result.reader import load
from mpigauge.show.words.ratios import verdict_words
from mpigauge.units import format_factor as factor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from mpigauge.analysis.ratios import Ratio
    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit

    Statement = Callable[["Book"], Iterator[str]]

USELESS = 100.0
"""An interval whose ends differ by more says nothing."""

AND = ", "


@dataclass(eq=False)
class Story:
    """One result and what is said of its cells."""

    result: Result
    rows: list[Row]

    @cached_property
    def visits(self) -> dict[Cell, list[Visit]]:
        """Of every cell."""
        return by_cell(self.result.visits)

    def all(self, **wanted: Any) -> list[Row]:
        """Rows that have a time and whose cells are so, the smallest first."""
        found = [row for row in self.rows if row.time is not None and is_so(row, wanted)]
        return sorted(found, key=lambda row: row.cell.bytes)

    def one(self, **wanted: Any) -> Row | None:
        """The first of them."""
        return next(iter(self.all(**wanted)), None)

    def sizes(self, **wanted: Any) -> list[int]:
        """The sizes that were measured, the smallest first."""
        return sorted({row.cell.bytes for row in self.all(**wanted)})

    def values(self, name: str, **wanted: Any) -> list[Any]:
        """What a field of the cells is, each once, in the order of the plan."""
        return list(dict.fromkeys(getattr(row.cell, name) for row in self.rows if is_so(row, wanted)))

    def ratio(self, over: Row | None, under: Row | None, *, paired: bool = True) -> Ratio | None:
        """The time of one cell over that of another; None if one was not measured.

        Args:
            paired: Both are of this result, launch by launch.
        """
        if over is None or under is None:
            return None
        if over.time is None or under.time is None:
            return None
        return like_ratio(over.time, under.time, paired=paired)


def is_so(row: Row, wanted: dict[str, Any]) -> bool:
    """Whether the fields of its cell are these."""
    return all(getattr(row.cell, name) == value for name, value in wanted.items())


@dataclass(frozen=True, slots=True)
class Book:
    """All results, by name.

    Attributes:
        folder: Where they are, and `examples/` with what others have printed.
    """

    folder: Path
    stories: dict[str, Story] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Story:
        if name not in self.stories:
            path = self.folder / f"{name}.jsonl"
            if not path.exists():
                raise UsageError(f"docs/results/{path.name}.gz is not there", "make reports")
            result = load(path)
            self.stories[name] = Story(result, rows(result))
        return self.stories[name]

    def printed(self, name: str) -> Story:
        """A table of a report, imported."""
        path = self.folder / f"printed-{name}.jsonl"
        if not path.exists():
            table = self.folder / "examples" / "published" / name
            with writer.create(path) as file:
                for record in read("csv", (table.with_suffix(".csv"),), table.with_suffix(".toml")):
                    file.append(record)
        return self[path.stem]


def quotient(over: Row | None, under: Row | None) -> float:
    """One time over another, of which others have printed no more; NaN if one is missing."""
    if over is None or under is None or over.time is None or under.time is None:
        return float("nan")
    return over.time.estimate / under.time.estimate


def deviations(of: Iterable[Row]) -> list[float]:
    """Standard deviations over means, where both are known."""
    known = [row.time for row in of if row.time is not None]
    return [one.stddev / one.mean for one in known if one.stddev is not None and one.mean]


# ---- Statements ----------------------------------------------------------------------------------

STATEMENTS: dict[str, Callable[[Book], Iterator[str]]] = {}
"""The list of them; `statements.py` imports all modules that have some."""


def statement(name: str) -> Callable[[Statement], Statement]:
    """Enters a function under a name."""

    def enter(function: Statement) -> Statement:
        STATEMENTS[name] = function
        return function

    return enter


# ---- Words ---------------------------------------------------------------------------------------


def bullets(lines: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {line}" for line in lines)


def size(size_bytes: int) -> str:
    """512 B, 64 KiB."""
    return units.format_size(size_bytes)


def time(row: Row | None) -> str:
    """Its time, with the interval where there is one."""
    if row is None or row.time is None:
        return "not measured"
    said = units.format_time(row.time.estimate)
    if row.time.low is None or row.time.high is None:
        return said
    return f"{said} ({units.format_time(row.time.low)} to {units.format_time(row.time.high)})"


def times(ratio: Ratio | None) -> str:
    """How many times as long, with the interval where there is one."""
    if ratio is None:
        return "not known"
    if ratio.low is None or ratio.high is None:
        return f"{factor(ratio.estimate)} times (no interval)"
    if ratio.high > USELESS * ratio.low:
        said = f"the interval of {ratio.launches} launches is too wide to say"
        return f"{factor(ratio.estimate)} times ({said})"
    return f"{factor(ratio.estimate)} times ({factor(ratio.low)} to {factor(ratio.high)})"


def verdict(ratio: Ratio | None) -> str:
    """What the whole interval says, in the words of the program's own sentences."""
    if ratio is None or ratio.low is None:
        return "undecided, without an interval"
    return verdict_words(verdict_of(ratio), ratio)


def span(values: Iterable[float], form: str = "#.3g", unit: str = "") -> str:
    """`0.9 to 1.3`, or a single number."""
    found = sorted(values)
    ends = [f"{value:{form}}{unit}" for value in (found[0], found[-1])] if found else ["not known"]
    return " to ".join(dict.fromkeys(ends))


def percents(values: Iterable[float]) -> str:
    """`2.1 % to 14 %`."""
    ends = sorted(values)
    return (
        " to ".join(dict.fromkeys(units.format_percent(end) for end in (ends[0], ends[-1]))) if ends else "?"
    )


def place(transport: str, placement: str) -> str:
    """`tcp, h1,h3` as words."""
    where = "on one host" if placement == "same-host" else f"between {placement.replace(',', ' and ')}"
    return f"{transport} {where}" if transport != "auto" else where


def places(story: Story, **wanted: Any) -> Iterator[tuple[str, str]]:
    """Transport and placement of every job, as the plan has them."""
    cells = [row.cell for row in story.rows if is_so(row, wanted)]
    yield from dict.fromkeys((cell.transport, cell.placement) for cell in cells)
