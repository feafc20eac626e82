"""`mpigauge compare` of two that have not measured the same: the gate must not pass by what is missing."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_UNDECIDED
from tests.histories import SIZES, folder, records, usual
from tests.made import campaign, cell, launches_of, measured, written

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from tests.conftest import Cli

LAUNCHES = range(1, 9)


def samples_ns(of: Cell, number: int) -> list[int]:
    luck = random.Random(f"{of.bytes} {of.mpi} {number}")
    return [round(50_000 * luck.gauss(1, 0.005)) for _ in range(20)]


@pytest.fixture
def both(machine: object) -> str:
    """Two libraries that are as fast, with two sizes in common, and two and one of their own."""
    cells = [
        *(cell(size=size) for size in (8, 64, 1024, 65536)),
        *(cell(size=size, mpi="mpich", mpi_version="5.0.2") for size in (8, 64, 4096)),
    ]
    visits = measured(cells, LAUNCHES, samples_ns)
    return str(written("both.jsonl", campaign(*cells), *launches_of(cells, LAUNCHES), *visits))


def test_numbers_without_a_partner_are_counted_and_named(cli: Cli, both: str) -> None:
    done = cli("compare", both)
    assert done.status == EXIT_DONE
    said = "without a partner: 3 numbers of pingpong (2 of Open MPI 5.0.11, 1 of MPICH 5.0.2)"
    assert said in done.out
    named = cli("compare", both, "--all").out
    assert "without a partner: pingpong standard 2 ranks, Open MPI 5.0.11: 1 KiB, 64 KiB\n" in named
    assert "without a partner: pingpong standard 2 ranks, MPICH 5.0.2: 4 KiB\n" in named
    found = json.loads(cli("compare", both, "--format", "json").out)["unmatched"]
    assert [(one["side"], one["mpi"], one["bytes"]) for one in found] == [
        ("base", "openmpi", 1024),
        ("base", "openmpi", 65536),
        ("other", "mpich", 4096),
    ]


def test_strictly_they_keep_the_whole_from_passing(cli: Cli, both: str) -> None:
    strict = cli("compare", both, "--strict")
    assert strict.status == EXIT_UNDECIDED
    assert strict.out.startswith("undecided: 3 numbers without a partner; ")
    alike = cli("compare", both, "--strict", "--sizes", "8,64")
    assert alike.status == EXIT_DONE
    assert "without a partner" not in alike.out


def test_what_the_sessions_had_and_a_result_has_not_is_named(cli: Cli) -> None:
    """Sizes that a result lost cannot be slower than sessions before."""
    sessions = folder("sessions", 5, usual, spread=0.001)
    written("new.jsonl", *records(6, usual, spread=0.001, sizes=SIZES[:-2]))
    done = cli("compare", "new.jsonl", "--baseline", sessions)
    assert done.status == EXIT_DONE
    assert "without a partner: 2 numbers of pingpong (2 of the base); --all names them" in done.out
    assert cli("compare", "new.jsonl", "--baseline", sessions, "--strict").status == EXIT_UNDECIDED
