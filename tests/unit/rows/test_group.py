"""Groups: every row is in exactly one, in order; what may differ is named, and all else keeps rows apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as cell_like

from mpigauge.plan.factors import ALONG, BY_NAME, CURVE, FACTORS, LIBRARY, OF_PATTERN, PLACE, SIZE
from mpigauge.plan.model import Cell
from mpigauge.rows import group as module
from mpigauge.rows.group import (
    STATE,
    Subject,
    by_state,
    cell_key,
    each_state,
    group,
    in_one_state,
    of_states,
    row_key,
    subject_of,
)
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.vocabulary import StateName

USUAL = Cell("pingpong", "standard", 8, 2, "openmpi", "5.0.11")


@dataclass(frozen=True)
class Measured:
    """The least that can be grouped."""

    cell: Cell
    state: StateName | None = None

    @property
    def of(self) -> Subject:
        return Subject(self.cell, self.state)


NAMES = st.frozensets(st.sampled_from([*BY_NAME, STATE]))
CELLS = st.builds(
    Cell,
    pattern=st.sampled_from(["pingpong", "stream"]),
    mode=st.sampled_from(["standard", "ready"]),
    bytes=st.sampled_from([0, 8, 1024]),
    ranks=st.sampled_from([2, 4]),
    mpi=st.sampled_from(["openmpi", "mpich"]),
    mpi_version=st.just("5.0"),
    placement=st.sampled_from(["same-host", "different-hosts"]),
    window=st.sampled_from([0, 64]),
)
ROWS = st.lists(st.builds(Measured, CELLS, st.sampled_from([None, "near", "far"])))


def differing(one: Measured, other: Measured) -> set[str]:
    """The factors in which two differ, and whether their states do."""
    names = {name for name in BY_NAME if getattr(one.cell, name) != getattr(other.cell, name)}
    return names | ({STATE} if one.state != other.state else set())


@given(ROWS, NAMES)
def test_every_row_is_in_exactly_one_group_and_the_order_is_kept(
    rows: list[Measured], but: frozenset[str]
) -> None:
    numbered = list(enumerate(rows))
    found = group_by(numbered, lambda pair: row_key(pair[1], but))
    assert sorted(pair for mine in found.values() for pair in mine) == numbered
    assert all(mine == sorted(mine) for mine in found.values())
    firsts = [mine[0][0] for mine in found.values()]
    assert firsts == sorted(firsts)
    assert group(rows, but) == [[row for _, row in mine] for mine in found.values()]


@given(ROWS, NAMES)
def test_rows_are_together_if_and_only_if_they_differ_in_nothing_but_what_may_differ(
    rows: list[Measured], but: frozenset[str]
) -> None:
    groups = group(rows, but)
    place = {id(row): number for number, mine in enumerate(groups) for row in mine}
    for one in rows:
        for other in rows:
            assert (place[id(one)] == place[id(other)]) == (differing(one, other) <= but)


@pytest.mark.parametrize("name", BY_NAME)
def test_any_factor_keeps_rows_apart_unless_it_is_named(name: str) -> None:
    value = (
        "0-1"
        if name in {"pair", "group"}
        else {str: "another", int: 7, bool: True}[type(getattr(USUAL, name))]
    )
    rows = [Measured(USUAL), Measured(cell_like(USUAL, **{name: value}))]
    assert group(rows, set()) == [[row] for row in rows]
    assert group(rows, {name}) == [rows]


def test_a_new_factor_is_honoured_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    class WithThreads(Cell, frozen=True):
        threads: int = 1

    new = replace(FACTORS[-1], name="threads", together="")
    monkeypatch.setattr(module, "FACTORS", (*FACTORS, new))
    one, two = (WithThreads("pingpong", "standard", 8, 2, "openmpi", "5.0.11", threads=n) for n in (1, 2))
    assert cell_key(one, SIZE) != cell_key(two, SIZE)
    assert cell_key(one, SIZE | {"threads"}) == cell_key(two, SIZE | {"threads"})


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (LIBRARY, {"mpi", "mpi_version", "label"}),
        (PLACE, {"transport", "placement"}),
        (SIZE, {"bytes", "window"}),
        (ALONG, {"pair", "bytes", "window"}),
        (
            OF_PATTERN,
            {"pattern", "mode", "in_place", "order", "senders", "groups", "sync", "rma_window", "root"}
            | {"datatype", "op", "depth", "block_bytes", "stride_bytes", "partitions", "tests", "window"},
        ),
    ],
)
def test_groups_of_factors_are_what_their_names_say(names: Collection[str], wanted: set[str]) -> None:
    assert set(names) == wanted


def test_rows_of_a_curve_are_alike_in_all_but_what_goes_along_it() -> None:
    assert len(cell_key(USUAL, ALONG)) == len(CURVE)


NEAR, FAR, ANY = (Measured(USUAL, state) for state in ("near", "far", None))


@given(ROWS)
def test_what_is_of_no_state_goes_with_each(rows: list[Measured]) -> None:
    stateless = [row for row in rows if row.state is None]
    parts = each_state(rows)
    assert len(parts) == max(1, len({row.state for row in rows} - {None}))
    assert all(in_one_state(part) for part in parts)
    assert all([row for row in part if row.state is None] == stateless for part in parts)


@given(ROWS)
def test_every_row_may_be_divided_by_those_of_its_state_and_of_none(rows: list[Measured]) -> None:
    parted = list(by_state(rows))
    assert sorted(id(row) for mine, _ in parted for row in mine) == sorted(map(id, rows))
    for mine, beside in parted:
        assert beside == of_states(rows, mine)
        assert {id(row) for row in mine} <= {id(row) for row in beside}


def test_a_subject_is_the_first_cell_in_the_state_that_any_is_of() -> None:
    assert subject_of([ANY, FAR]) == Subject(USUAL, "far")
    assert subject_of([ANY, ANY]) == Subject(USUAL)
    assert not in_one_state([NEAR, ANY, FAR])
