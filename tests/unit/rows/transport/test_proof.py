"""The proof of a transport: what the network interfaces count against what was sent."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.document.status_words import reason_sentence
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import Mode, Pattern, completed
from mpigauge.result.records import Visit
from mpigauge.rows.rates import wire_bytes
from mpigauge.rows.transport.proof import (
    HEADER_BYTES,
    PAYLOAD_LEAST_BYTES,
    TransportEvidence,
    evidence,
    reports,
)
from tests.fakes.law import describe
from tests.made import cell, collective, launch

repeatable = settings(derandomize=True, deadline=None)

CELL = Cell("pingpong", "standard", 8, 2, "openmpi", "5.0.11", "tcp")
MODE = Mode("standard", "", 1, needs_eager=False, binds_buffers=False, attaches_buffer=False)
PATTERN = completed(
    Pattern("pingpong", "", "", "chained", 2, 2, windowed=False, moves_bytes=True, modes=(MODE,))
)
LARGE = PAYLOAD_LEAST_BYTES * 100


def visit(net_bytes: int, net_calls: int, cell: Cell = CELL) -> Visit:
    return Visit(
        launch=1,
        id=0,
        cell=cell,
        at_s=0.0,
        elapsed_s=1.0,
        batch=3,
        ops=6,
        pool_bytes=0,
        cpu_ns=1,
        trial_ns=[],
        warmup_ns=[],
        samples_ns=[100],
        net_bytes=net_bytes,
        net_calls=net_calls,
    )


@pytest.mark.parametrize(
    ("transport", "share", "is_refuted"),
    [
        ("tcp", 1.0, False),
        ("tcp", 0.5, False),
        ("tcp", 12.0, False),
        ("tcp", 0.0, True),
        ("tcp", 0.2, True),
        ("shm", 0.0, False),
        ("shm", 0.01, False),
        ("shm", 1.0, True),
        ("auto", 0.0, False),
        ("auto", 1.0, False),
    ],
)
def test_a_label_is_refuted_by_what_it_cannot_explain(transport: str, share: float, is_refuted: bool) -> None:
    found = TransportEvidence(round(share * LARGE), LARGE).refutes(transport, ["h1", "h1"])
    assert (found is not None) == is_refuted
    if found is not None:
        assert found.transport == transport
        assert found.share == pytest.approx(share, abs=1e-3)
        assert transport in reason_sentence(found)


@pytest.mark.parametrize(
    ("transport", "share", "emulated", "is_refuted"),
    [
        ("tcp", 0.5, False, False),
        ("tcp", 0.01, False, True),
        ("auto", 0.0, False, False),
        ("auto", 0.0, True, True),
        ("auto", 0.5, True, False),
    ],
)
def test_between_hosts_a_part_is_enough_and_none_is_not(
    transport: str, share: float, emulated: bool, is_refuted: bool
) -> None:
    seen = TransportEvidence(round(share * LARGE), LARGE)
    assert bool(seen.refutes(transport, ["h1", "h2"], emulated=emulated)) == is_refuted
    assert not seen.refutes("auto", ["h1", "h1"], emulated=emulated)


@given(
    st.integers(0, PAYLOAD_LEAST_BYTES - 1), st.integers(0, 10**9), st.sampled_from(["shm", "tcp", "auto"])
)
def test_too_little_payload_proves_nothing(payload: int, net: int, transport: str) -> None:
    assert TransportEvidence(net, payload).refutes(transport, ["h1", "h2"], emulated=True) is None


@pytest.mark.parametrize(
    ("transport", "reported", "is_refuted"),
    [
        ("tcp", "shm", True),
        ("tcp", "on-host sm", True),
        ("tcp", "on-host sm, off-host tcp", False),
        ("tcp", "on-host tcp", False),
        ("tcp", "ofi, provider tcp;ofi_rxm", False),
        ("tcp", "shm + ofi, provider tcp;ofi_rxm", False),
        ("tcp", "provider tcp;ofi_rxm", False),
        ("tcp", "ch4:ofi, provider tcp", False),
        ("tcp", "ch4:ucx", False),
        ("shm", "shm", False),
        ("shm", "on-host sm", False),
        ("shm", "on-host sm, off-host tcp", False),
        ("shm", "on-host tcp", True),
        ("shm", "on-host tcp, off-host tcp", True),
        ("shm", "ofi, provider tcp;ofi_rxm", True),
        ("shm", "ofi, provider psm3", False),  # which has shared memory of its own
        ("shm", "shm + ofi, provider tcp;ofi_rxm", False),
        ("shm", "provider tcp;ofi_rxm", False),
        ("shm", "ch4:ofi, provider tcp", False),  # of the ranks of one host MPICH says nothing
        ("shm", "ch4:ucx", False),
        ("auto", "shm", False),
        ("auto", "on-host tcp", False),
    ],
)
def test_a_report_refutes_a_label_only_if_it_leaves_no_doubt(
    transport: str, reported: str, is_refuted: bool
) -> None:
    hosts = ["h1", "h1"]
    net_bytes = LARGE if transport == "tcp" else 0  # as if the bytes had nothing against it
    found = TransportEvidence(net_bytes, LARGE, (reported,)).refutes(transport, hosts)
    assert (found is not None) == is_refuted
    if found is not None:
        assert (found.kind, found.reported) == ("reported", reported)
        assert reported in reason_sentence(found)
    assert bool(TransportEvidence(net_bytes, LARGE, ("", reported)).refutes(transport, hosts)) == is_refuted


def test_reports_are_of_the_cells_of_their_job() -> None:
    mine = replace(launch(1, job=CELL.job), reported="on-host tcp")
    launches = [
        mine,
        replace(mine, number=2),
        replace(mine, job=replace(CELL.job, ranks=4), reported="shm"),
        launch(3),
    ]
    assert evidence([visit(1000, 30)], {"pingpong": PATTERN}, launches)[CELL].reported == ("on-host tcp",)
    launches.append(replace(mine, number=3, reported="on-host sm"))
    assert reports(launches)[CELL.job] == ("on-host tcp", "on-host sm")


def test_payload_is_counted_by_calls_and_never_less_than_a_header() -> None:
    found = evidence([visit(1000, 30), visit(500, 30)], {"pingpong": PATTERN})
    assert found == {CELL: TransportEvidence(1500, 2 * 30 * 2 * HEADER_BYTES)}


def test_each_cell_has_its_own_evidence() -> None:
    other = Cell("pingpong", "standard", 1 << 20, 2, "openmpi", "5.0.11", "tcp")
    found = evidence([visit(0, 10), visit(10**9, 10, other)], {"pingpong": PATTERN})
    assert found[CELL].net_bytes == 0
    assert found[other].share == pytest.approx(10**9 / (20 * (1 << 20)))


PATTERNS = {one.name: one for one in msgspec.convert(describe()["patterns"], tuple[Pattern, ...])}


@repeatable
@given(st.integers(1, 2**30), st.integers(1, 1000))
def test_what_must_travel_is_what_no_rank_has_itself(size: int, ranks: int) -> None:
    def travels(pattern: str, size: int = size) -> int:
        of = cell(pattern, size, PATTERNS[pattern].modes[0].name, ranks=ranks)
        return wire_bytes(of, PATTERNS[pattern])

    others = (ranks - 1) * size
    for pattern in ("bcast", "reduce", "scan", "exscan", "gather", "gatherv", "scatter", "scatterv"):
        assert travels(pattern) == others, pattern
    for pattern in (
        "allgather",
        "allgatherv",
        "alltoall",
        "alltoallv",
        "reduce_scatter_block",
        "reduce_scatter",
    ):
        assert travels(pattern) == ranks * others, pattern
    assert travels("allreduce") == 2 * others
    # A reduction of all blocks, then spread, is one that is scattered and gathered again.
    assert travels("allreduce", ranks * size) == travels("reduce_scatter_block") + travels("allgather")
    assert (travels("pingpong"), travels("exchange")) == (size, 2 * size)
    assert travels("ring") == travels("shift") == ranks * size


@pytest.mark.parametrize("pattern", ["gather", "scatter", "allgather", "bcast", "allreduce"])
@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_a_collective_that_travels_whole_is_whole(pattern: str, ranks: int) -> None:
    of = collective(pattern, 1 << 20, ranks=ranks, transport="tcp")
    sent = 10 * wire_bytes(of, PATTERNS[pattern])
    one = msgspec.structs.replace(visit(sent, 10, of), batch=1, ops=1)
    assert evidence([one], PATTERNS)[of].share == 1


def test_a_rank_alone_is_no_evidence() -> None:
    alone = collective("allreduce", 1 << 20, ranks=1, transport="tcp")
    assert evidence([visit(0, 10, alone)], PATTERNS) == {}


def test_what_was_not_counted_is_no_evidence() -> None:
    assert evidence([visit(0, 0)], {"pingpong": PATTERN}) == {}
    no_operation = replace(visit(0, 1), batch=10**6)
    assert evidence([no_operation], {"pingpong": PATTERN}) == {}
    assert evidence([visit(0, -1)], {"pingpong": PATTERN}) == {}
    assert evidence([visit(0, 10)], {}) == {}
