"""Every sample as a line: for CSV, Parquet and data frames, piece by piece, since there may be millions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.document.columnar import Values, coded
from mpigauge.document.context import context_record
from mpigauge.document.document import Document
from mpigauge.plan.factors import FACTORS
from mpigauge.query.query import check_state
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.machine.steadiness import only_quiet
from mpigauge.rows.sample_table import SAMPLES_AT_ONCE, tidy_samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.document.columnar import Columns, Kind
    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Source
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from mpigauge.rows.sample_table import TidySamples
    from mpigauge.vocabulary import OnlyChoice, StateChoice, StateName

NAMES = tuple(factor.name for factor in FACTORS)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(NAMES, "text"),
    **dict.fromkeys(("bytes", "ranks", "window"), "integer"),
    "in_place": "flag",
}
"""What the column of a factor holds."""


TRACES = ("host", "started", "mpigauge")
"""Of the context, what each line has behind its cell."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleOptions:
    """What of a result is asked for.

    Attributes:
        cells: Samples of these; None for all.
        state: Samples of visits in this state alone; None for all.
    """

    result: Result
    cells: frozenset[Cell] | None = None
    state: StateName | None = None

    @property
    def visits(self) -> Sequence[Visit]:
        """Those that are asked for, in the order of the file."""
        return [
            visit
            for visit in self.result.visits
            if (self.cells is None or visit.cell in self.cells)
            and (self.state is None or split_of(self.result).of(visit) == self.state)
        ]


def chosen_of(
    result: Result,
    state: StateChoice | None = None,
    only: OnlyChoice | None = None,
    keep: Callable[[Cell], bool] | None = None,
) -> SampleOptions:
    """Samples by their cells, without any number that is computed from them.

    Raises:
        UsageError: The result knows nothing of such states, or of disturbances.
    """
    check_state(result, state)
    result = only_quiet(result) if only == "quiet" else result
    cells = None if keep is None else frozenset(cell for cell in result.campaign.cells if keep(cell))
    return SampleOptions(result, cells, None if state == "all" else state)


def chosen_of_rows(source: Source, state: StateChoice | None = None) -> SampleOptions:
    """Samples of the cells that a source has rows of."""
    cells = frozenset(row.cell for row in source.rows)
    return SampleOptions(source.result, cells, None if state == "all" else state)


def document(found: Sequence[SampleOptions]) -> Document:
    """Samples of results; factors of which no cell says anything have no column."""
    names = names_of(found)
    return Document(
        contexts=[context_record(one.result, None) for one in found],
        pieces=lambda: pieces(found, names),
    )


def names_of(found: Sequence[SampleOptions]) -> tuple[str, ...]:
    """Factors of which some cell has a value."""
    cells = [
        cell for one in found for cell in one.result.campaign.cells if one.cells is None or cell in one.cells
    ]
    return tuple(name for name in NAMES if any(getattr(cell, name) not in ("", False) for cell in cells))


def pieces(
    found: Sequence[SampleOptions], names: Sequence[str] = NAMES, most: int = SAMPLES_AT_ONCE
) -> Iterator[Columns]:
    """Columns of the samples of results, some visits at a time.

    Args:
        names: Factors that have a column.
        most: About how many samples are in one piece.
    """
    for chosen in found:
        for one in tidy_samples(chosen.visits, most):
            yield _columns(chosen, one, names)


def _columns(chosen: SampleOptions, one: TidySamples, names: Iterable[str]) -> Columns:
    def each(kind: Kind, values: Iterable[Any]) -> Values:
        """A column of what all samples of a visit have in common."""
        return coded(kind, values, one.visit)

    # Of many visits few cells are made: their factors are looked up once.
    cells: dict[Cell, int] = {}
    places = [cells.setdefault(visit.cell, len(cells)) for visit in one.visits]
    cell_of_sample = np.array(places, dtype=np.int32)[one.visit]

    def all_of(value: str) -> Values:
        """A column of what all samples of a result have in common."""
        return coded("text", [value], np.zeros(len(one.visit), np.int32))

    return {
        "file": all_of(str(chosen.result.path)),
        "launch": each("integer", (visit.launch for visit in one.visits)),
        "visit": each("integer", (visit.id for visit in one.visits)),
        "sample": Values("integer", one.number),
        "state": each("text", map(split_of(chosen.result).of, one.visits)),
        "at_s": each("number", (visit.at_s for visit in one.visits)),
        "time_s": Values("number", one.time_s),
        "in_estimate": Values("flag", one.counts),
        **{
            name: coded(KINDS[name], (getattr(cell, name) for cell in cells), cell_of_sample)
            for name in names
        },
        **{name: all_of(word) for name, word in _traces(chosen.result).items()},
    }


def _traces(result: Result) -> dict[str, str]:
    """What traces a line, beside library and version, which are factors; as in CSV of `show`."""
    whole = context_record(result, None)
    return {name: whole[name] for name in TRACES}
