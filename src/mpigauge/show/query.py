"""What was asked for, a figure or a table: results, a kind, and which of their series and sizes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from mpigauge.analysis.compare.decision import Thresholds
from mpigauge.analysis.comparisons import several_windows
from mpigauge.analysis.conditions import condition_of, only_quiet
from mpigauge.analysis.over_sessions import Measured, with_sessions
from mpigauge.analysis.rows import rows
from mpigauge.analysis.samples import by_cell
from mpigauge.analysis.states import States, states_of
from mpigauge.errors import UsageError
from mpigauge.plan.sizes import parse_sizes
from mpigauge.show.document import Units
from mpigauge.units import parse_size
from mpigauge.vocabulary import STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from mpigauge.show.registry import Kind
    from mpigauge.vocabulary import OnlyChoice, StateChoice

RANGE_ENDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One result and what is said of its cells.

    Attributes:
        name: Of its file, without ending.
        limits: The eager limit of every job that probed it, in bytes.
        windows: Cells, without their window, that were measured with several.
        states: Those that the machine was in.
    """

    name: str
    result: Result
    rows: list[Row]
    patterns: dict[str, Pattern]
    visits: dict[Cell, list[Visit]]
    limits: dict[JobKey, int]
    windows: frozenset[Cell] = frozenset()
    states: States = field(default_factory=States)

    @property
    def states_shown(self) -> list[str]:
        """Of the states of the machine those that its rows are of, from near to far."""
        return [name for name in STATE_NAMES if any(row.state == name for row in self.rows)]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A figure or table that was asked for.

    Attributes:
        linear: Sizes and values on linear axes.
        stat: What stands for a launch.
        series: Which ones, as the command line has it: words, or words=label.
        sizes: Which ones: a list or ranges.
        by: The factor that is compared; None for the first with several values.
        thresholds: What a comparison is held to.
        model: Lines of the model instead of lines from point to point.
    """

    kind: Kind
    sources: list[Source]
    linear: bool = False
    units: Units = field(default_factory=Units)
    stat: str = "median"
    series: tuple[str, ...] = ()
    sizes: str = ""
    by: str | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    model: bool = False

    def lacks(self, what: str, hint: str = "") -> UsageError:
        """The error that says why it cannot be made."""
        files = ", ".join(str(source.result.path) for source in self.sources)
        return UsageError(
            f"{files}: no {self.kind.noun} of kind {self.kind.name}: {what}", hint or _needs(self.kind)
        )


def _needs(kind: Kind) -> str:
    return f"it needs {kind.needs}; mpigauge list {kind.listing} names all kinds"


def source_of(
    result: Result, stat: str, state: StateChoice | None = None, only: OnlyChoice | None = None
) -> Source:
    """A result, with what is said of its cells.

    Args:
        stat: What stands for a launch.
        state: Of the machine: one, or each; None for the usual.
        only: Without visits that were disturbed; None for all.

    Raises:
        UsageError: The result knows nothing of such states, or of disturbances.
    """
    states = states_of(result.visits)
    _check_state(result, states, state)
    result = only_quiet(result) if only == "quiet" else result
    found = rows(result, stat, state, states)
    limits = {row.cell.job: row.limit_bytes for row in found if row.limit_bytes is not None}
    name = result.path.name.removesuffix(".gz").removesuffix(".jsonl")
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    visits = by_cell(result.visits)
    return Source(name, result, found, patterns, visits, limits, several_windows(found), states)


def sources_of(
    results: Iterable[Result], stat: str, state: StateChoice | None = None, only: OnlyChoice | None = None
) -> list[Source]:
    """As `source_of`, of several results; rows know their time over the sessions of all of them."""
    sources = [source_of(result, stat, state, only) for result in results]
    found = with_sessions([measured(source) for source in sources])
    return [replace(source, rows=mine) for source, mine in zip(sources, found, strict=True)]


def measured(source: Source) -> Measured:
    """A source as analysis has it."""
    return Measured(source.result, source.rows, source.states)


def _check_state(result: Result, states: States, state: StateChoice | None) -> None:
    there = list(dict.fromkeys(one.name for one in states.states))
    if state in (None, "all", *there):
        return
    if there:
        raise UsageError(
            f"--state {state}: {result.path} has no such state", f"choose from {', '.join(there)}, or all"
        )
    known = any(condition_of(visit) is not None for visit in result.visits)
    why = "found the machine always in one state" if known else "does not know the state of the machine"
    raise UsageError(f"--state {state}: {result.path} {why}", "leave it out")


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
