"""A usual value is said where it was varied: in sentences, comparisons and legends, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.compare.sentences import naming
from mpigauge.document.cell_names import subject, varied_in
from mpigauge.document.phrases import phrases_of
from mpigauge.query.series import distinguishing_labels
from mpigauge.rows.rows import rows
from mpigauge.vocabulary import ROTATING
from tests.made import campaign, cell, launches_of, measured, result_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row

LAUNCHES = (1, 2)
PINGPONG = cell(size=8)
VARIED = {
    "rma_window": ("put", "flush", ("allocate", "create"), ("window allocate", "window create")),
    "depth": ("matching", "posted", (0, 16), ("depth 0", "depth 16")),
    "senders": ("incast", "default", (0, 1), ("all senders", "1 sender")),
    "root": ("bcast", "blocking", ("0", ROTATING), ("root 0", "rotating root")),
}
"""By factor: a pattern and a mode, a usual value and another, and what each of them is called."""


def rows_of(*cells: Cell) -> list[Row]:
    """Rows of these cells, each of two launches."""
    visits = measured(cells, LAUNCHES, lambda *_: [10_000, 10_100, 9_900])
    return rows(result_of(campaign(*cells), *launches_of(cells, LAUNCHES), *visits))


def names_of(*cells: Cell) -> list[tuple[str, str, str]]:
    """What each cell is called in a sentence, in a comparison, and in a legend."""
    found = rows_of(*cells)
    names, varied = naming(frozenset(), found), varied_in(found)
    labels = distinguishing_labels([phrases_of(row.cell) for row in found])
    return [
        (subject(row.of, varied), names.name(row), label) for row, label in zip(found, labels, strict=True)
    ]


@pytest.mark.parametrize("factor", VARIED)
@pytest.mark.parametrize("others", [(), (PINGPONG,)], ids=["alone", "beside others"])
def test_a_usual_value_is_said_beside_another_of_its_pattern(factor: str, others: tuple[Cell, ...]) -> None:
    pattern, mode, values, phrases = VARIED[factor]
    cells = [cell(pattern, 8, mode, ranks=3, **{factor: value}) for value in values]
    for texts, phrase in zip(names_of(*cells, *others), phrases, strict=False):
        assert all(text.endswith(phrase) for text in texts), texts


@pytest.mark.parametrize("factor", VARIED)
def test_a_usual_value_is_not_said_beside_patterns_that_have_no_such_factor(factor: str) -> None:
    pattern, mode, (usual, _), (phrase, _) = VARIED[factor]
    for texts in names_of(cell(pattern, 8, mode, **{factor: usual}), PINGPONG):
        assert not any(phrase in text for text in texts), texts


def test_what_is_not_known_of_imported_numbers_is_no_other_value() -> None:
    ours = {"pattern": "bcast", "mpi": "MPICH 5.0.2", "sync": "common start", "root": "root 0"}
    assert distinguishing_labels([ours, {"pattern": "bcast", "mpi": "MPICH-G2"}]) == [
        "MPICH 5.0.2",
        "MPICH-G2",
    ]


@pytest.mark.parametrize(
    ("places", "labels"),
    [
        ([{}, {"placement": "h1,h2"}], ["same-host", "h1,h2"]),
        (
            [{"transport": "shm"}, {"transport": "tcp"}, {"transport": "tcp", "placement": "h1,h2"}],
            ["shm", "tcp", "tcp, h1,h2"],
        ),
        (
            [{"transport": "tcp"}, {"transport": "tcp", "placement": "h1,h2"}],
            ["same-host", "h1,h2"],
        ),
    ],
)
def test_one_host_is_said_where_no_transport_tells_it(
    places: list[dict[str, str]], labels: list[str]
) -> None:
    assert [label for _, _, label in names_of(*(cell(size=8, **place) for place in places))] == labels
