"""What moves a message while ranks compute, with a library that moves it in a known way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.truth import check, truth

if TYPE_CHECKING:
    from mpigauge.mpi.library import Library

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
Shim = Callable[["Library"], dict[str, str]]
MOVES_NS, TEST_NS = 200_000, 50_000
WORDS = ("message-overlap", "--sizes", "64KiB", "--launches", "2")


def of_modes(found: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The overlap of each mode."""
    return {row["mode"]: row["overlap"] for row in found if row["overlap"]}


@pytest.mark.parametrize(("moves_in", "hidden"), [("thread", 1.0), ("wait", 0.0)])
@truth
def test_what_a_library_moves_by_itself_is_hidden_and_what_it_moves_in_the_wait_is_not(
    library: Library, rows: Rows, moving_shim: Shim, moves_in: str, hidden: float
) -> None:
    moves = {"MOVES_NS": str(MOVES_NS), "MOVES_BYTES": "65536", "MOVES_IN": moves_in}
    words = (*WORDS, "--mode", "both,sender,receiver", "--mpi", str(library.mpicc))
    for mode, overlap in of_modes(rows(*words, environment=moving_shim(library) | moves)).items():
        what = f"{library.name}, hidden from a library that moves in its {moves_in}, {mode}"
        # A rank that only waits has the message as late as one that computes.
        check(what, overlap["estimate"], above=hidden - 0.05, below=hidden + 0.05)


@truth
def test_a_planted_cost_of_a_test_is_found(library: Library, rows: Rows, moving_shim: Shim) -> None:
    slow = moving_shim(library) | {"TEST_NS": str(TEST_NS)}
    words = (*WORDS, "--mode", "both,tested", "--mpi", str(library.mpicc))
    modes = of_modes(rows(*words, environment=slow))
    each_s = (modes["tested"]["pure_s"] - modes["both"]["pure_s"]) / 8
    check(f"{library.name}, cost of an MPI_Test, found / planted", each_s / (TEST_NS * 1e-9), 0.95, 1.05)
