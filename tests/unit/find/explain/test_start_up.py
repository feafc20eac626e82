"""MPI_Init of a program: its centre over launches, on the slowest rank; the first message after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.start_up import headline, sentence, start_ups
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, collective, launch, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.find.explain.start_up import StartUp
    from mpigauge.plan.model import Cell

MS = 1_000_000
INITS_NS = {1: 39 * MS, 2: 44 * MS, 3: 41 * MS, 4: 40 * MS, 5: 42 * MS, 6: 41 * MS}


def found(inits_ns: Mapping[int, int], *cells: Cell, first_ns: int = 180_000) -> list[StartUp]:
    """Of launches in which MPI_Init took so long, and a millisecond less as the median over ranks."""
    launches = [
        replace(
            launch(number),
            init_ns=init_ns,
            init_median_ns=init_ns - MS if init_ns > 0 else -1,
            first_round_trip_ns=first_ns,
        )
        for number, init_ns in inits_ns.items()
    ]
    visits = measured(cells, inits_ns, lambda *_: [1000] * 30)
    made = result_of(campaign(*cells), *launches, *visits)
    return list(start_ups(Evidence(made, rows(made))))


def test_a_number_over_launches_and_the_first_message_after_it() -> None:
    (fact,) = found(INITS_NS, cell(size=64), cell(size=0))
    assert fact.init_s == pytest.approx(41e-3, rel=0.01)
    assert fact.low_s <= 40e-3
    assert fact.high_s >= 42e-3
    assert fact.median_s == pytest.approx(fact.init_s - 1e-3, rel=0.01)
    assert fact.launches == len(INITS_NS)
    assert fact.first is not None
    assert fact.first.first_s == pytest.approx(180e-6)
    assert fact.cell == fact.first.cell
    line = headline(fact, set())
    assert line.startswith("Open MPI 5.0.11, 2 ranks: MPI_Init 41")
    assert line.endswith("), first message and its answer 180 µs")
    details = sentence(fact, set())
    assert "on the slowest rank; 40" in details
    assert "as long as a round trip of 0 B later on" in details


def test_a_job_without_a_first_message_has_a_start_all_the_same() -> None:
    (fact,) = found(INITS_NS, collective("barrier"), first_ns=-1)
    assert fact.first is None
    assert headline(fact, set()).endswith(")")
    assert "message" not in sentence(fact, set())


def test_launches_that_differ_much_are_not_known() -> None:
    (fact,) = found({number: MS * (1 if number % 2 else 7) for number in range(1, 9)}, cell())
    assert "a time not known" in headline(fact, set())


def test_few_launches_have_a_number_and_ask_for_more() -> None:
    (fact,) = found({1: 200 * MS, 2: 220 * MS}, cell())
    assert ": MPI_Init 210 ms (a good interval needs 6 launches or more)" in headline(fact, set())


@pytest.mark.parametrize(
    ("mpi", "version", "init_ms", "variables", "sleeps"),
    [
        ("openmpi", "5.0.11", 1060, {}, True),
        ("openmpi", "4.1.4", 1060, {}, True),
        ("openmpi", "4.0.7", 1060, {}, False),
        ("mpich", "5.0.2", 1060, {}, False),
        ("openmpi", "5.0.11", 980, {}, False),
        ("openmpi", "5.0.11", 1900, {}, False),
        ("openmpi", "5.0.11", 1060, {"OMPI_MCA_btl": "^ofi"}, False),
        ("openmpi", "5.0.11", 1060, {"OMPI_MCA_btl": "tcp,self"}, False),
    ],
)
def test_a_sleep_of_the_library_is_no_cost_of_its_start(
    mpi: str, version: str, init_ms: int, variables: dict[str, str], sleeps: bool
) -> None:
    one = cell(mpi=mpi, mpi_version=version)
    launches = [
        replace(
            launch(number), job=one.job, init_ns=(init_ms + number) * MS, init_median_ns=init_ms * MS,
            variables=variables,
        )
        for number in range(1, 7)
    ]  # fmt: skip
    made = result_of(campaign(one), *launches, *measured([one], range(1, 7), lambda *_: [1000] * 30))
    (fact,) = start_ups(Evidence(made, rows(made)))
    assert fact.sleep_s == sleeps
    assert ("1.00 s of it a sleep" in headline(fact, set())) is sleeps
    assert ("--env OMPI_MCA_btl=^ofi" in sentence(fact, set())) is sleeps


def test_nothing_of_one_launch_or_of_older_files() -> None:
    assert found({1: 40 * MS}, cell()) == []
    assert found(dict.fromkeys(range(1, 7), -1), cell()) == []


def test_a_launch_that_was_started_again_counts_once_as_it_was_first() -> None:
    one = cell()
    launches = [
        replace(launch(number, part), init_ns=ns, init_median_ns=ns)
        for number, part, ns in ((1, 1, MS), (1, 2, 900 * MS), (2, 1, MS), (3, 1, MS))
    ]
    made = result_of(campaign(one), *launches, *measured([one], range(1, 4), lambda *_: [1000] * 30))
    (fact,) = start_ups(Evidence(made, rows(made)))
    assert fact.init_s == pytest.approx(1e-3)
    assert fact.launches == 3
