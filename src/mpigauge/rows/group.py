"""Rows alike in all factors but some: the one way to form groups, in the order in which each is first seen.

Callers name what may differ, mostly by a group of factors (`plan.factors`: SIZE, ALONG, LIBRARY, PLACE).
All else must be equal, so that a new factor keeps rows apart everywhere without a change here or there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from mpigauge.plan.factors import FACTORS
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import StateName

Key = tuple[object, ...]
"""Equal for what is alike."""

STATE = "state"
"""Name of the state of the machine: no factor of a cell, but rows of one cell differ in it."""


class OfCell(Protocol):
    """A row, a curve or whatever else is of a cell in a state of the machine."""

    @property
    def cell(self) -> Cell:
        """The cell."""

    @property
    def of(self) -> Subject:
        """The cell, in its state of the machine."""


class Subject(NamedTuple):
    """What a number is of: a cell, in a state of the machine if that had several."""

    cell: Cell
    state: StateName | None = None

    @property
    def of(self) -> Subject:
        """The subject itself, which can be grouped as what is of it."""
        return self


R = TypeVar("R", bound=OfCell)


def group(rows: Iterable[R], but: Container[str]) -> list[list[R]]:
    """Return rows in groups that are alike in all factors and in the state of the machine, but for these.

    Args:
        but: Names of factors, and `STATE` if rows of all states belong together.
    """
    return [*group_by(rows, lambda row: row_key(row, but)).values()]


def group_cells(cells: Iterable[Cell], but: Container[str]) -> list[list[Cell]]:
    """Return cells in groups that are alike in all factors but these."""
    return [*group_by(cells, lambda cell: cell_key(cell, but)).values()]


def row_key(row: OfCell, but: Container[str] = ()) -> Key:
    """Return what a row is of, its state of the machine included, without these factors."""
    return (*cell_key(row.cell, but), None if STATE in but else row.of.state)


def cell_key(cell: Cell, but: Container[str] = ()) -> Key:
    """Return the values of all factors of a cell but these."""
    return tuple([getattr(cell, factor.name) for factor in FACTORS if factor.name not in but])


def words_key(words: Mapping[str, str], but: Container[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return what something is of, in the words of legends and titles by factor, without these factors."""
    return tuple([pair for pair in words.items() if pair[0] not in but])


def each_state(rows: Sequence[R]) -> list[list[R]]:
    """Return rows for each state of the machine that they are of, with those of no state in each."""
    states = dict.fromkeys(row.of.state for row in rows if row.of.state) or (None,)
    return [[row for row in rows if row.of.state in {state, None}] for state in states]


def by_state(rows: Sequence[R]) -> Iterator[tuple[list[R], list[R]]]:
    """Yield rows of one state, or of none, and those that they may be divided by: theirs, and of no state."""
    for state, mine in group_by(rows, lambda row: row.of.state).items():
        yield mine, [row for row in rows if row.of.state in {state, None}]


def in_one_state(rows: Iterable[OfCell]) -> bool:
    """Return whether rows are of one state of the machine, as far as they are of any."""
    return len({row.of.state for row in rows} - {None}) <= 1


def same_state(one: OfCell, other: OfCell) -> bool:
    """Return whether two rows are of the same state of the machine, or both of none."""
    return one.of.state == other.of.state


def of_states(rows: Iterable[R], others: Iterable[OfCell]) -> list[R]:
    """Return rows of the states of the machine that others are of, and of no state."""
    states = {row.of.state for row in others} | {None}
    return [row for row in rows if row.of.state in states]


def subject_of(rows: Sequence[OfCell]) -> Subject:
    """Return the cell of the first of several rows, in the state that any of them is of."""
    return Subject(rows[0].cell, state_in(rows))


def state_in(rows: Iterable[OfCell]) -> StateName | None:
    """Return the state of the machine that any of several rows is of; None if none is of any."""
    return next((row.of.state for row in rows if row.of.state), None)


def job_key(row: OfCell) -> Key:
    """Return the job that a row is of, and the state of the machine."""
    return row.cell.job, row.of.state
