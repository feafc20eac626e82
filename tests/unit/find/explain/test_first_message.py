"""The first message of a program: its centre, beside a usual round trip; where none was told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.first_message import first_messages, sentence
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, collective, launch, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.find.explain.first_message import FirstMessage
    from mpigauge.plan.model import Cell

TRIP_NS = 1000
FIRSTS_NS = {1: 50_000, 2: 200_000, 3: 100_000}
"""Their geometric mean is 100 us."""


def found(firsts_ns: Mapping[int, int], *cells: Cell) -> list[FirstMessage]:
    """Of launches whose first round trips took so long, and whose others take `TRIP_NS`."""
    launches = [
        replace(launch(number), first_round_trip_ns=first_ns) for number, first_ns in firsts_ns.items()
    ]
    visits = measured(cells, firsts_ns, lambda *_: [TRIP_NS] * 30)
    made = result_of(campaign(*cells), *launches, *visits)
    return list(first_messages(Evidence(made, rows(made))))


def test_mean_over_launches_and_ratio() -> None:
    (fact,) = found(FIRSTS_NS, cell(size=64), cell(size=0))
    assert fact.first_s == pytest.approx(100e-6)
    assert fact.low_s < fact.first_s < fact.high_s
    assert (fact.cell.bytes, fact.launches) == (0, 3)
    assert fact.usual_s == pytest.approx(TRIP_NS * 1e-9)
    assert fact.ratio is not None
    assert fact.ratio.estimate == pytest.approx(100e-6 / (TRIP_NS * 1e-9))
    text = sentence(fact, set())
    assert text.startswith("Open MPI 5.0.11, 2 ranks: first message and its answer 100 µs (")
    assert "100 times" in text
    assert text.split("as long as ")[1].startswith("a round trip of 0 B later on, 1.00 µs")


def test_what_is_set_up_by_it_is_said_if_it_certainly_takes_longer() -> None:
    (fact,) = found({1: 90_000, 2: 100_000, 3: 110_000}, cell(size=8))
    assert fact.ratio is not None
    assert fact.ratio.low is not None
    assert fact.ratio.low > 1
    assert "what MPI_Init leaves to be set up is in it" in sentence(fact, set())
    (usual,) = found({1: 900, 2: 1000, 3: 1100}, cell(size=8))
    assert "MPI_Init" not in sentence(usual, set())


def test_equal_launches_are_no_surer_than_the_instrument() -> None:
    (fact,) = found(dict.fromkeys(range(1, 7), 18_300), cell(size=8))
    assert fact.low_s == pytest.approx(0.99 * fact.first_s, rel=1e-3)
    assert fact.high_s == pytest.approx(1.01 * fact.first_s, rel=1e-3)


def test_without_messages_it_stands_alone() -> None:
    (fact,) = found(FIRSTS_NS, collective("barrier"))
    assert (fact.usual_s, fact.ratio) == (None, None)
    assert sentence(fact, set()).endswith(")")


def test_nothing_of_one_launch_or_of_launches_that_did_not_say() -> None:
    assert found({1: 50_000}, cell()) == []
    assert found({1: -1, 2: -1, 3: -1}, cell()) == []
    assert found({1: -1, 2: -1, 3: 5}, cell()) == []


def test_a_launch_that_was_started_again_counts_once() -> None:
    one = cell()
    launches = [
        replace(launch(number, part), first_round_trip_ns=ns)
        for number, part, ns in ((1, 1, 1000), (1, 2, 9_000_000), (2, 1, 1000), (3, 1, 1000))
    ]
    made = result_of(campaign(one), *launches, *measured([one], range(1, 4), lambda *_: [TRIP_NS] * 30))
    (fact,) = first_messages(Evidence(made, rows(made)))
    assert math.isclose(fact.first_s, 1e-6)
    assert fact.launches == 3
