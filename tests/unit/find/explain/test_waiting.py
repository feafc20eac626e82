"""Core time: a share that was put in is found, of what the cores allow, and libraries are told apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.find.explain.waiting import headline, sentence, waitings
from mpigauge.find.fact import launches_of
from mpigauge.plan.lab import Lab
from mpigauge.vocabulary import DIFFERENT
from tests.made import cell, collective
from tests.unit.find.explain.made_evidence import evidence, varied

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

LIBRARIES = (("openmpi", "5.0.11"), ("mpich", "5.0.2"))


def two_libraries() -> list[Cell]:
    return [collective(ranks=4, mpi=mpi, mpi_version=version) for mpi, version in LIBRARIES]


def equal(_of: Cell, _launch: int) -> list[int]:
    return 30 * [100_000]


def on_core(share_of: Callable[[Cell, int], float]) -> Callable[[Visit], Visit]:
    """Visits whose ranks are on a core for a share of the time."""

    def changed(one: Visit) -> Visit:
        ranks = one.cell.ranks if one.cell.sync else 2
        cpu_s = share_of(one.cell, one.launch) * ranks * sum(one.samples_ns)
        return replace(one, cpu_ns=round(cpu_s))

    return changed


def test_ranks_that_share_cores_can_have_no_more_than_these_give() -> None:
    """Four ranks on two cores: half of the time of each is all that there is."""
    cells = [collective(ranks=4, size=size) for size in (8, 64, 512)]
    found = evidence(cells, equal, of=on_core(lambda _of, launch: 0.45 + 0.001 * launch))
    (fact,) = waitings(found)
    (time,) = fact.times
    assert time.share.estimate == pytest.approx(0.9, abs=0.01)
    assert (time.cells, fact.ranks, fact.cores, launches_of(fact)) == (3, 4, 2, 6)
    text = sentence(fact, varied(found))
    assert text.startswith("collectives, 4 ranks on 2 cores: Open MPI 5.0.11 keeps 91 % (")
    assert "of the core time that there is for them busy (median of 3 cells)" in text


def test_with_a_core_for_each_rank_it_is_the_share_of_the_time() -> None:
    found = evidence([cell()], equal, cores=8, of=on_core(lambda _of, _launch: 0.6))
    (fact,) = waitings(found)
    assert fact.times[0].share.estimate == pytest.approx(0.6)
    assert "point-to-point, 2 ranks on 8 cores" in sentence(fact, varied(found))


def test_libraries_that_differ_are_told_apart() -> None:
    cells = two_libraries()
    shares = {"openmpi": 0.48, "mpich": 0.24}
    found = evidence(cells, equal, of=on_core(lambda of, launch: shares[of.mpi] * (1 + 0.01 * (launch % 2))))
    (fact,) = waitings(found)
    first, second = fact.times
    assert first.ratio is None
    assert second.ratio is not None
    assert second.ratio.estimate == pytest.approx(0.5)
    text = sentence(fact, varied(found))
    assert "Open MPI 5.0.11 keeps 96 %" in text
    assert "; MPICH 5.0.2 48 %" in text
    assert "0.500 times as much" in text


def test_libraries_that_do_not_differ_are_not() -> None:
    cells = two_libraries()
    found = evidence(cells, equal, of=on_core(lambda _of, launch: 0.4 + 0.001 * launch))
    (fact,) = waitings(found)
    assert "no difference" in sentence(fact, varied(found))
    assert not any(word in sentence(fact, varied(found)) for word in DIFFERENT)


def test_messages_and_collectives_are_told_apart() -> None:
    found = evidence([cell(), collective()], equal, of=on_core(lambda _of, _launch: 0.5))
    assert [fact.family for fact in waitings(found)] == ["message", "collective"]


def test_hosts_of_a_lab_share_one_machine_and_others_do_not() -> None:
    cells = [collective(ranks=4, placement="h1,h2,h3,h4")]
    share = on_core(lambda _of, _launch: 0.4)
    (emulated,) = waitings(evidence(cells, equal, lab=Lab(hosts=4), of=share))
    (real,) = waitings(evidence(cells, equal, of=share))
    assert emulated.times[0].share.estimate == pytest.approx(0.8)
    assert real.times[0].share.estimate == pytest.approx(0.4)
    assert (emulated.relayed, real.relayed) == (True, False)
    assert "4 ranks on 2 cores that the relay of the lab uses, too" in sentence(emulated, {"placement"})


def test_a_share_is_never_more_than_all_and_the_interval_neither() -> None:
    found = evidence([cell()], equal, of=on_core(lambda _of, launch: 1.0 if launch % 2 else 0.5))
    (fact,) = waitings(found)
    assert fact.times[0].share.high == 1.0
    assert "\N{EN DASH} 100 %)" in sentence(fact, varied(found))


def test_what_is_not_known_is_not_said() -> None:
    assert list(waitings(evidence([cell()], equal, of=lambda one: replace(one, cpu_ns=None)))) == []
    assert list(waitings(evidence([cell()], equal, launches=[1]))) == []


def wild(launch: int) -> float:
    """Shares whose interval leaves a factor of three open."""
    return 0.002 * math.pow(3, min(launch, 5))


def test_a_share_whose_interval_leaves_it_open_is_not_known_beside_one_that_is() -> None:
    found = evidence(
        two_libraries(), equal, of=on_core(lambda of, launch: 0.25 if of.mpi == "openmpi" else wild(launch))
    )
    (fact,) = waitings(found)
    assert headline(fact, varied(found)).endswith("Open MPI 5.0.11 50 %; MPICH 5.0.2 a share not known")
    assert "; MPICH 5.0.2 a share not known" in sentence(fact, varied(found))


def test_shares_of_which_none_is_known_are_not_told() -> None:
    found = evidence(two_libraries(), equal, of=on_core(lambda _of, launch: wild(launch)))
    assert list(waitings(found)) == []


def test_groups_at_once_share_the_cores() -> None:
    """Two groups of two ranks on two cores: half of the time of each rank is all that there is."""
    groups = [collective(ranks=4, groups="2", group=group) for group in ("0-1", "2-3")]
    (fact,) = waitings(evidence(groups, equal, of=on_core(lambda _of, _launch: 0.2)))
    assert fact.ranks == 4
    assert fact.times[0].share.estimate == pytest.approx(0.8)


def test_the_ranks_are_the_most_of_any_library() -> None:
    small, other = two_libraries()
    message = replace(small, pattern="pingpong", mode="standard", sync="", datatype="", op="")
    ring = replace(other, pattern="ring", mode="standard", datatype="", op="")
    (fact,) = waitings(evidence([message, ring], equal, of=on_core(lambda _of, _launch: 0.4)))
    assert fact.ranks == 4
