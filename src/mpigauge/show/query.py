"""What was asked for, a figure or a table: results, a kind, and which of their series and sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from mpigauge.analysis.comparisons import several_windows
from mpigauge.analysis.rows import rows
from mpigauge.analysis.samples import by_cell
from mpigauge.errors import UsageError
from mpigauge.plan.sizes import parse_sizes
from mpigauge.show.document import Units
from mpigauge.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from mpigauge.show.registry import Kind

RANGE_ENDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One result and what is said of its cells.

    Attributes:
        name: Of its file, without ending.
        limits: The eager limit of every job that probed it, in bytes.
        windows: Cells, without their window, that were measured with several.
    """

    name: str
    result: Result
    rows: list[Row]
    patterns: dict[str, Pattern]
    visits: dict[Cell, list[Visit]]
    limits: dict[JobKey, int]
    windows: frozenset[Cell] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A figure or table that was asked for.

    Attributes:
        linear: Sizes and values on linear axes.
        stat: What stands for a launch.
        series: Which ones, as the command line has it: words, or words=label.
        sizes: Which ones: a list or ranges.
    """

    kind: Kind
    sources: list[Source]
    linear: bool = False
    units: Units = field(default_factory=Units)
    stat: str = "median"
    series: tuple[str, ...] = ()
    sizes: str = ""

    def lacks(self, what: str, hint: str = "") -> UsageError:
        """The error that says why it cannot be made."""
        files = ", ".join(str(source.result.path) for source in self.sources)
        return UsageError(
            f"{files}: no {self.kind.noun} of kind {self.kind.name}: {what}", hint or _needs(self.kind)
        )


def _needs(kind: Kind) -> str:
    return f"it needs {kind.needs}; mpigauge list {kind.listing} names all kinds"


def source_of(result: Result, stat: str) -> Source:
    """A result, with what is said of its cells."""
    found = rows(result, stat)
    limits = {row.cell.job: row.limit_bytes for row in found if row.limit_bytes is not None}
    name = result.path.name.removesuffix(".gz").removesuffix(".jsonl")
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    visits = by_cell(result.visits)
    return Source(name, result, found, patterns, visits, limits, several_windows(found))


# ---- Sizes ---------------------------------------------------------------------------------------


@cache
def wanted(text: str) -> Callable[[int], bool]:
    """Which sizes a text chooses: `0:2000` all from 0 to 2000, `8,1KiB` these; nothing chooses all.

    Steps and factors are those of `plan.sizes`.

    Raises:
        UsageError: It is none of these.
    """
    if not text.strip():
        return lambda _: True
    tests = [_chooses(item, text) for item in text.split(",")]
    return lambda size: any(test(size) for test in tests)


def _chooses(item: str, text: str) -> Callable[[int], bool]:
    ends = item.split(":")
    if len(ends) == RANGE_ENDS and "*" not in item and "auto" not in item:
        low, high = (_end(end, text) for end in ends)
        if low > high:
            raise UsageError(
                f"--sizes {text!r}: the range ends below its start", f"write {ends[1]}:{ends[0]}"
            )
        return lambda size: low <= size <= high
    these = frozenset(parse_sizes(item))
    return lambda size: size in these


def _end(word: str, text: str) -> int:
    try:
        return parse_size(word)
    except UsageError as error:
        raise UsageError(f"--sizes {text!r}: {error.sentence}", error.hint) from None


def all_of(query: Query) -> Sequence[tuple[Source, Row]]:
    """Every row of every result, with the result."""
    return [(source, row) for source in query.sources for row in source.rows]


def spread(items: Sequence[Any], most: int) -> list[Any]:
    """At most so many of them, the first and the last and what lies evenly between."""
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[0]]
    return [items[round(number * (len(items) - 1) / (most - 1))] for number in range(most)]
