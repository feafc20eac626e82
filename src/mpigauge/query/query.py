"""A query for a figure or a table: results, a kind, and which of their series and sizes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mpigauge.compare.curves import several_windows
from mpigauge.compare.within import Between, Within
from mpigauge.document.document import Units
from mpigauge.errors import UsageError
from mpigauge.linkmap.linkmap import with_named_pairs
from mpigauge.result.files import stem_of, stems_of
from mpigauge.rows.machine.conditions import condition_of
from mpigauge.rows.machine.over_sessions import MeasuredResult, with_sessions
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.machine.steadiness import only_quiet
from mpigauge.rows.rows import rows
from mpigauge.rows.samples import by_cell
from mpigauge.stats.decision import Thresholds
from mpigauge.vocabulary import STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.compare.size_ratio import RowRatios
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.kinds import DisplayKind
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import OnlyChoice, StateChoice


@dataclass(frozen=True, eq=False)
class Source:
    """One result with its rows, and what is needed to show them.

    Attributes:
        name: Name of its file, without ending.
        limits: The eager limit of every job that probed it, in bytes.
        windows: Cells, without their window, that were measured with several.
        controls: Rows of a control arm, which are for comparisons alone.
        stat: Statistic of a launch in its rows.
    """

    name: str
    result: Result
    rows: list[Row]
    patterns: dict[str, Pattern]
    visits: dict[Cell, list[Visit]]
    limits: dict[JobKey, int]
    windows: frozenset[Cell] = frozenset()
    controls: tuple[Row, ...] = ()
    stat: str = "median"
    _against: dict[int, Between] = field(default_factory=dict, init=False)

    @cached_property
    def within(self) -> Within:
        """Comparisons within the result, of these rows."""
        return Within(self.result, [*self.rows, *self.controls])

    def against(self, other: Source) -> RowRatios:
        """Return the ratios between these rows and those of another result, or among its own."""
        if other is self:
            return self.within
        if id(other) not in self._against:
            self._against[id(other)] = Between(other.rows, self.rows)
        return self._against[id(other)]

    @cached_property
    def states_shown(self) -> list[str]:
        """States of the machine that the rows are of, from near to far."""
        return [name for name in STATE_NAMES if any(row.state == name for row in self.rows)]


@dataclass(frozen=True, slots=True)
class Paper:
    """The page of a figure: its title, width and command.

    Attributes:
        title: In place of the one that is computed; empty for that.
        width_in: Inches; None for the width of a page's text.
        command: What drew it, for those who find the file alone.
    """

    title: str = ""
    width_in: float | None = None
    command: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A figure or table that was asked for.

    Attributes:
        linear: Sizes and values on linear axes.
        stat: Statistic of a launch.
        series: Series to show, as the command line has them: words, or words=label.
        sizes: Sizes to show: a list or ranges.
        by: The factor that is compared; None for the first with several values.
        thresholds: Those of a comparison.
        model: Lines of the model instead of lines from point to point.
        references: Rates to compare bandwidths with, by name or as a rate.
        paper: The page of a figure.
    """

    kind: DisplayKind
    sources: list[Source]
    linear: bool = False
    units: Units = field(default_factory=Units)
    stat: str = "median"
    series: tuple[str, ...] = ()
    sizes: str = ""
    by: str | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    model: bool = False
    references: tuple[str, ...] = ()
    paper: Paper = Paper()

    def lacks(self, what: str, hint: str = "") -> CannotShowError:
        """Return the error that says why the figure or table cannot be made."""
        files = ", ".join(str(source.result.path) for source in self.sources)
        return CannotShowError(
            f"{files}: no {self.kind.noun} of kind {self.kind.name}: {what}", hint or _needs(self.kind), what
        )


class CannotShowError(UsageError):
    """Figure or table that cannot be made of a result.

    Attributes:
        why: What the result lacks, without the names of file and kind.
    """

    def __init__(self, sentence: str, hint: str, why: str) -> None:
        super().__init__(sentence, hint)
        self.why = why


def _needs(kind: DisplayKind) -> str:
    return f"it needs {kind.needs}; mpigauge list {kind.listing} names all kinds"


def source_of(
    result: Result, stat: str, state: StateChoice | None = None, only: OnlyChoice | None = None
) -> Source:
    """Return a result with its rows.

    Args:
        stat: Statistic of a launch.
        state: State of the machine: one, or each; None for the usual.
        only: Without visits that were disturbed; None for all.

    Raises:
        UsageError: The result knows nothing of such states, or of disturbances.
    """
    check_state(result, state)
    result = only_quiet(result) if only == "quiet" else result
    known = with_named_pairs(result, rows(result, stat, state))
    found, controls = ([row for row in known if bool(row.cell.arm) is arm] for arm in (False, True))
    limits = {row.cell.job: row.limit_bytes for row in found if row.limit_bytes is not None}
    name = stem_of(result.path)
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    visits = by_cell(result.visits)
    windows = several_windows(found)
    return Source(name, result, found, patterns, visits, limits, windows, tuple(controls), stat)


def sources_of(
    results: Iterable[Result], stat: str, state: StateChoice | None = None, only: OnlyChoice | None = None
) -> list[Source]:
    """Return several results with their rows, whose times are over the sessions of all of them."""
    sources = [source_of(result, stat, state, only) for result in results]
    names = stems_of([source.result.path for source in sources])
    rows_of_sources = with_sessions([measured_result(source) for source in sources])
    return [
        replace(source, name=name, rows=rows)
        for source, name, rows in zip(sources, names, rows_of_sources, strict=True)
    ]


def measured_result(source: Source) -> MeasuredResult:
    """Return a source as a `MeasuredResult`."""
    return MeasuredResult(source.result, source.rows)


def check_state(result: Result, choice: StateChoice | None) -> None:
    """Check that a result has a state of the machine, if one is named.

    Raises:
        UsageError: It has not.
    """
    names = list(dict.fromkeys(state.name for state in split_of(result).states))
    if choice in (None, "all", *names):
        return
    if names:
        raise UsageError(
            f"--state {choice}: {result.path} has no such state", f"choose from {', '.join(names)}, or all"
        )
    known = any(condition_of(visit) is not None for visit in result.visits)
    why = "found the machine always in one state" if known else "does not know the state of the machine"
    raise UsageError(f"--state {choice}: {result.path} {why}", "leave it out")


def all_rows(query: Query) -> Sequence[tuple[Source, Row]]:
    """Return every row of every result, with its source."""
    return [(source, row) for source in query.sources for row in source.rows]


def thinned(items: Sequence[Any], most: int) -> list[Any]:
    """Return at most so many of the items, evenly thinned; the first and the last are among them."""
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[0]]
    return [items[round(number * (len(items) - 1) / (most - 1))] for number in range(most)]
