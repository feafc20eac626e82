"""What each host's cards carried, told by one rank of each, and gathered from pairs and from many hosts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from mpigauge.plan.round_robin import pair_ranks
from mpigauge.result.reader import load
from tests.real.mpi.conftest import prefix

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.records import Visit
    from tests.real.lab.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]


def visits_of(lab: Lab, folder: Path, hosts: int, *words: str) -> list[Visit]:
    """The visits of a short campaign between emulated hosts."""
    words = (*words, "--mpi", prefix("mpich"), "--launches", "1", "-q", "-o", "r.jsonl")
    done = lab(sys.executable, "-m", "mpigauge", *words, options=("--hosts", str(hosts)))
    assert "Traceback" not in done.stderr
    visits = load(folder / "r.jsonl").visits
    assert visits, done.stderr
    return visits


def check(visit: Visit, ranks: set[int]) -> None:
    """Each of these ranks, one a host, has received and sent, and together they have what the sums say."""
    assert {one.rank for one in visit.by_card} == ranks
    assert all(one.received_bytes > 0 and one.sent_bytes > 0 for one in visit.by_card if one.card == "eth0")
    assert sum(one.received_bytes for one in visit.by_card) == visit.ip_received_bytes
    assert sum(one.sent_bytes for one in visit.by_card) == visit.ip_sent_bytes
    assert [one.both_bytes for one in visit.by_card] == sorted(
        (one.both_bytes for one in visit.by_card), reverse=True
    )


def test_of_a_pair_both_hosts_are_told_by_their_ranks_of_the_world(lab: Lab, folder: Path) -> None:
    visits = [visit for visit in visits_of(lab, folder, 3, "map", "--sizes", "16KiB") if visit.cell.pair]
    assert {visit.cell.pair for visit in visits} == {"0-1", "0-2", "1-2"}
    for visit in visits:
        check(visit, {*pair_ranks(visit.cell.pair)})


def test_five_hosts_are_all_told(lab: Lab, folder: Path) -> None:
    """Which is no power of two, and every rank of the tree has something to say."""
    words = ("run", "allreduce", "--ranks", "5", "--placement", "different-hosts", "--sizes", "64KiB")
    for visit in visits_of(lab, folder, 5, *words, "--samples", "10"):
        if visit.cell.pattern == "allreduce":
            check(visit, {0, 1, 2, 3, 4})
