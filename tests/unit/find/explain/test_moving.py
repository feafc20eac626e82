"""What moves a message while ranks compute: what was planted is found, and said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.document.cell_names import varied_in
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.moving import HiddenBeside, Moving, hidden_beside, movings
from mpigauge.find.explain.topics import TOPICS
from mpigauge.rows.rows import rows
from tests.made import cell
from tests.unit.find.explain.informative import facts, sentence, told_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.plan.model import Cell

ALONE_NS, WORK_NS = 100_000, 200_000


def message(mode: str, setting: str = "") -> Cell:
    tests = 8 if mode == "tested" else 0
    return cell("message-overlap", 1 << 20, mode, sync="common", tests=tests, setting=setting)


def hiding(shares: Mapping[str, float], test_ns: int = 0, noise: float = 0.0) -> Evidence:
    """Messages of 1 MiB of which so much is hidden, by mode; the word before it is a setting."""
    cells = {message(*mode.split()[::-1]): share for mode, share in shares.items()}
    found = told_of(dict.fromkeys(cells, 1000.0), noise=0)
    found.result.visits[:] = [
        replace(
            visit,
            ops=1,
            samples_ns=[
                round(alone_ns + WORK_NS - alone_ns * (cells[visit.cell] + noise * (-1) ** visit.launch))
            ]
            * 8,
            pure_ns=[alone_ns] * 8,
            work_ns=WORK_NS,
        )
        for visit in found.result.visits
        for alone_ns in [ALONE_NS + visit.cell.tests * test_ns]
    ]
    return Evidence(found.result, rows(found.result))


def fact_of(evidence: Evidence) -> Moving:
    (fact,) = facts(movings, evidence)
    assert isinstance(fact, Moving)
    return fact


@pytest.mark.parametrize(
    ("shares", "mover", "said"),
    [
        (
            {"both": 0.08, "sender": 1.04, "receiver": 0.11, "tested": 0.08},
            "receiver",
            "copied by the receiver: hidden from a sender that computes (104 %), not from a receiver (11 %)",
        ),
        (
            {"both": 0.08, "sender": 0.05, "receiver": 0.97, "tested": 0.9},
            "sender",
            "moved by the sender: hidden from a receiver that computes (97 %), not from a sender (5.0 %)",
        ),
        ({"both": 1.0, "sender": 1.0}, "itself", "moves while both ranks compute: 100 % is hidden"),
        (
            {"both": 0.02, "sender": 0.0, "receiver": 0.0, "tested": 0.95},
            "test",
            "moves in calls of MPI: while both compute 2.0 % is hidden, with 8 calls of MPI_Test 95 %",
        ),
        (
            {"both": 0.02, "sender": 0.0, "receiver": 0.0, "tested": 0.03},
            "wait",
            "moves in the call that waits for it: while both compute 2.0 % is hidden",
        ),
        (
            {"both": 0.05, "sender": 0.26, "receiver": 0.1, "tested": 0.0},
            "",
            "hidden in part from a sender that computes (26 %), not from a receiver (10 %); MPI_Test",
        ),
        (
            {"both": 0.3, "sender": 0.3, "receiver": 0.4},
            "",
            "hidden in part from a sender or a receiver that computes (30 %, 40 %)",
        ),
        (
            {"both": 0.5, "tested": 0.6},
            "",
            "while both compute 50 % is hidden, with 8 calls of MPI_Test 60 %",
        ),
    ],
)
def test_what_moves_a_message_is_told_by_from_whom_it_is_hidden(
    shares: dict[str, float], mover: str, said: str
) -> None:
    evidence = hiding(shares)
    fact = fact_of(evidence)
    assert fact.mover == mover
    line = TOPICS["moving"].headline(fact, varied_in(evidence.rows), AUTOMATIC)
    assert line.startswith(f"message-overlap, 1 MiB: {said}")


def test_a_share_that_is_not_known_is_no_reason() -> None:
    evidence = hiding({"both": 0.9, "sender": 0.9, "receiver": 0.1}, noise=2.0)
    assert fact_of(evidence).mover == ""
    assert sentence("moving", fact_of(evidence), evidence).endswith("how much of it is hidden is not known")


@pytest.mark.parametrize(("launches", "mover"), [(2, ""), (4, ""), (5, "receiver")])
def test_nothing_is_told_from_fewer_launches_than_a_verdict_takes(launches: int, mover: str) -> None:
    result = hiding({"both": 0.08, "sender": 0.99, "receiver": 0.05}).result
    result.launches[:] = [one for one in result.launches if one.number <= launches]
    result.visits[:] = [one for one in result.visits if one.launch <= launches]
    evidence = Evidence(result, rows(result))
    assert fact_of(evidence).mover == mover
    assert ("a verdict needs 5 launches" in sentence("moving", fact_of(evidence), evidence)) is (mover == "")


def test_the_cost_of_a_test_is_told() -> None:
    evidence = hiding({"both": 0.0, "tested": 0.0}, test_ns=1000)
    assert fact_of(evidence).test_s == pytest.approx(1e-6, rel=0.01)
    assert sentence("moving", fact_of(evidence), evidence).endswith("each MPI_Test takes 1.00 µs")


def test_a_computation_of_one_side_alone_says_nothing() -> None:
    assert facts(movings, hiding({"sender": 1.0})) == []


def test_a_setting_is_told_by_the_side_that_it_changes_most() -> None:
    shares = {"T=0 both": 0.05, "T=1 both": 0.5, "T=0 receiver": 0.1, "T=1 receiver": 0.95}
    evidence = hiding(shares)
    (fact,) = facts(hidden_beside, evidence)
    assert isinstance(fact, HiddenBeside)
    assert (fact.hidden.estimate, fact.beside.estimate) == pytest.approx((0.1, 0.95), abs=0.01)
    line = TOPICS["hidden-beside"].headline(fact, varied_in(evidence.rows), AUTOMATIC)
    assert line.startswith("message-overlap, 1 MiB: while the receiver computes 10 %")
    assert "of 100 µs is hidden with T=0, 95 %" in line
    assert line.endswith("of 100 µs with T=1")


@pytest.mark.parametrize(("other", "noise"), [(0.1, 0.0), (0.9, 2.0)])
def test_what_is_as_large_or_not_known_is_no_other_part(other: float, noise: float) -> None:
    assert not facts(hidden_beside, hiding({"T=0 both": 0.1, "T=1 both": other}, noise=noise))
