"""What only one of two sides has measured is named: nothing is said of it by any ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.compare.sides import unmatched_between, unmatched_by
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, launches_of, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row

LAUNCHES = range(1, 3)
SIZES = st.sets(st.sampled_from([0, 8, 64, 1024, 65536]), min_size=1)


def rows_of(*cells: Cell, unmeasured: Iterable[Cell] = ()) -> list[Row]:
    known = [one for one in cells if one not in unmeasured]
    visits = measured(known, LAUNCHES, lambda *_: [10_000, 10_100, 9_900])
    return rows(result_of(campaign(*cells), *launches_of(cells, LAUNCHES), *visits))


def curve(sizes: Iterable[int], **more: str) -> list[Cell]:
    return [cell(size=size, **more) for size in sorted(sizes)]


def alone(base: Iterable[int], other: Iterable[int]) -> set[tuple[str, int]]:
    """Sizes of one side only."""
    first, second = set(base), set(other)
    return {("base", size) for size in first - second} | {("other", size) for size in second - first}


@given(base=SIZES, other=SIZES)
def test_sizes_of_one_library_alone_have_no_partner(base: set[int], other: set[int]) -> None:
    mine, others = curve(base), curve(other, mpi="mpich", mpi_version="5.0.2")
    within = unmatched_by(rows_of(*mine, *others), "mpi")
    between = unmatched_between(rows_of(*mine), rows_of(*others))
    for found in (within, between):
        assert {(one.side, one.row.cell.bytes) for one in found} == alone(base, other)
        assert len(found) == len(alone(base, other))


def test_a_pattern_of_one_build_alone_has_no_partner_and_one_of_one_mode_is_no_question() -> None:
    both = [*curve([8]), *curve([8], mpi="mpich", mpi_version="5.0.2")]
    lone = cell("bcast", 8, "blocking")
    (found,) = unmatched_by(rows_of(*both, lone), "mpi")
    assert found.row.cell == lone
    modes = [*curve([8, 64]), *curve([8], mode="synchronous")]
    (found,) = unmatched_by(rows_of(*modes, lone), "mode")
    assert (found.side, found.row.cell.mode, found.row.cell.bytes) == ("base", "standard", 64)


def test_of_three_each_is_to_have_a_partner() -> None:
    labels = {"main": [8, 64], "one": [8, 64], "two": [8]}
    found = unmatched_by(
        rows_of(*(each for label, sizes in labels.items() for each in curve(sizes, label=label))), "label"
    )
    assert [(one.row.cell.label, one.row.cell.bytes) for one in found] == [("main", 64)]


def test_what_was_not_measured_is_no_number_without_a_partner() -> None:
    mine, others = curve([8, 64]), curve([8, 1024], mpi="mpich", mpi_version="5.0.2")
    (found,) = unmatched_by(rows_of(*mine, *others, unmeasured=[mine[1]]), "mpi")
    assert found.row.cell.bytes == 1024
    lost = rows_of(*others[:1], unmeasured=others[:1])
    assert not unmatched_between(rows_of(mine[0]), lost)  # a pair, of which one is lost


def test_a_control_arm_is_no_side() -> None:
    mine = curve([8], label="main")
    arm = [replace(one, arm="control") for one in mine]
    assert not unmatched_by(rows_of(*mine, *arm, *curve([8], label="pr")), "label")
