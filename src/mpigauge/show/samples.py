"""Table of all samples for CSV, Parquet and data frames, in pieces, since there may be millions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from mpigauge.document.columnar import ColumnValues, dictionary_encoded
from mpigauge.document.context import context_record
from mpigauge.document.document import Document
from mpigauge.plan.factors import FACTORS
from mpigauge.plan.model import Cell
from mpigauge.query.query import check_state
from mpigauge.result.home_paths import shortened
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.machine.steadiness import only_quiet
from mpigauge.rows.sample_table import SAMPLES_AT_ONCE, tidy_samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.document.columnar import Columns, Kind
    from mpigauge.query.query import Source
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from mpigauge.rows.sample_table import TidySamples
    from mpigauge.vocabulary import OnlyChoice, StateChoice, StateName

NAMES = tuple(factor.name for factor in FACTORS)
_TYPES = get_type_hints(Cell)
KINDS: dict[str, Kind] = {
    name: "integer" if _TYPES[name] is int else "flag" if _TYPES[name] is bool else "text" for name in NAMES
}
"""Type of the column of each factor."""


TRACES = ("host", "started", "mpigauge")
"""Fields of the context that each line has after its cell."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleChoice:
    """Choice of samples of a result.

    Attributes:
        cells: Samples of these; None for all.
        state: Samples of visits in this state alone; None for all.
    """

    result: Result
    cells: frozenset[Cell] | None = None
    state: StateName | None = None

    @property
    def visits(self) -> Sequence[Visit]:
        """The chosen visits, in the order of the file."""
        return [
            visit
            for visit in self.result.visits
            if (self.cells is None or visit.cell in self.cells)
            and (self.state is None or split_of(self.result).of(visit) == self.state)
        ]


def choose_samples(
    result: Result,
    state: StateChoice | None = None,
    only: OnlyChoice | None = None,
    keep: Callable[[Cell], bool] | None = None,
) -> SampleChoice:
    """Choose samples by their cells, without computing any row.

    Raises:
        UsageError: The result has no such states, or records no disturbances.
    """
    check_state(result, state)
    result = only_quiet(result) if only == "quiet" else result
    cells = None if keep is None else frozenset(cell for cell in result.campaign.cells if keep(cell))
    return SampleChoice(result, cells, None if state == "all" else state)


def choose_samples_of_rows(source: Source, state: StateChoice | None = None) -> SampleChoice:
    """Choose the samples of the cells that a source has rows of."""
    cells = frozenset(row.cell for row in source.rows)
    return SampleChoice(source.result, cells, None if state == "all" else state)


def document(choices: Sequence[SampleChoice]) -> Document:
    """Return samples of results as a document; factors that no cell has get no column."""
    names = names_of(choices)
    return Document(
        contexts=[context_record(choice.result, None) for choice in choices],
        pieces=lambda: pieces(choices, names),
    )


def names_of(choices: Sequence[SampleChoice]) -> tuple[str, ...]:
    """Return the factors that some cell has a value of."""
    cells = [
        cell
        for choice in choices
        for cell in choice.result.campaign.cells
        if choice.cells is None or cell in choice.cells
    ]
    return tuple(name for name in NAMES if any(getattr(cell, name) not in ("", False) for cell in cells))


def pieces(
    choices: Sequence[SampleChoice], names: Sequence[str] = NAMES, most: int = SAMPLES_AT_ONCE
) -> Iterator[Columns]:
    """Return columns of the samples of results, some visits at a time.

    Args:
        names: Factors that have a column.
        most: Approximate number of samples per piece.
    """
    for chosen in choices:
        for part in tidy_samples(chosen.visits, most):
            yield _columns(chosen, part, names)


def _columns(chosen: SampleChoice, part: TidySamples, names: Iterable[str]) -> Columns:
    def each(kind: Kind, values: Iterable[Any]) -> ColumnValues:
        """Return the column of a value that all samples of a visit share."""
        return dictionary_encoded(kind, values, part.visit)

    # Many visits have few distinct cells, whose factors are looked up once.
    cells: dict[Cell, int] = {}
    places = [cells.setdefault(visit.cell, len(cells)) for visit in part.visits]
    cell_of_sample = np.array(places, dtype=np.int32)[part.visit]

    def all_of(value: str) -> ColumnValues:
        """Return the column of a value that all samples of a result share."""
        return dictionary_encoded("text", [value], np.zeros(len(part.visit), np.int32))

    return {
        "file": all_of(shortened(str(chosen.result.path))),
        "launch": each("integer", (visit.launch for visit in part.visits)),
        "visit": each("integer", (visit.id for visit in part.visits)),
        "sample": ColumnValues("integer", part.number),
        "state": each("text", map(split_of(chosen.result).of, part.visits)),
        "at_s": each("number", (visit.at_s for visit in part.visits)),
        "time_s": ColumnValues("number", part.time_s),
        "in_estimate": ColumnValues("flag", part.counts),
        **{
            name: dictionary_encoded(KINDS[name], (getattr(cell, name) for cell in cells), cell_of_sample)
            for name in names
        },
        **{name: all_of(word) for name, word in _traces(chosen.result).items()},
    }


def _traces(result: Result) -> dict[str, str]:
    """Return the provenance on each line, besides library and version, which are factors."""
    whole = context_record(result, None)
    return {name: whole[name] for name in TRACES}
