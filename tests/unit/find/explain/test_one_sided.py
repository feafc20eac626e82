"""One-sided operations: what was planted is found, and said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.one_sided import (
    contended,
    notified,
    own_copies,
    progresses,
    synchronisations,
    window_kinds,
)
from mpigauge.find.explain.table import varied_in
from mpigauge.find.explain.topics import TOPICS, conclusions
from mpigauge.rows.rows import rows
from tests.made import cell
from tests.unit.find.explain.informative import facts, sentence, told_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

WORK_NS = 2_000_000


def remote(
    pattern: str, size: int = 8, mode: str = "flush", window: str = "allocate", **more: object
) -> Cell:
    """A one-sided cell."""
    return cell(pattern, size, mode, rma_window=window, **more)


def headline(topic: str, fact: object, evidence: Evidence) -> str:
    """What is said in one line."""
    return TOPICS[topic].headline(fact, varied_in(evidence.rows), AUTOMATIC)


def computing(times: dict[Cell, list[float]]) -> Evidence:
    """Cells whose target computes for 2 ms; a time for each launch, in nanoseconds."""
    launches = len(next(iter(times.values())))
    of_one = dict.fromkeys(times, 1000.0)
    found = told_of(of_one, noise=0, launches=launches)
    visits = [
        replace(
            visit,
            ops=1,
            samples_ns=[round(times[visit.cell][visit.launch - 1])] * 4,
            pure_ns=[1000] * 4,
            work_ns=WORK_NS,
        )
        for visit in found.result.visits
    ]
    found.result.visits[:] = visits
    return Evidence(found.result, rows(found.result))


def test_what_the_target_sees_is_told_in_messages() -> None:
    evidence = told_of({cell(size=8): 200.0, remote("put-notify", mode="flag"): 280.0})
    (fact,) = facts(notified, evidence)
    assert fact.ratio.low < 1.4 < fact.ratio.high
    assert headline("one-sided", fact, evidence).startswith(
        "put-notify flag, 8 B: seen by the target after 28"
    )
    assert headline("one-sided", fact, evidence).endswith(" times a message")
    assert "as long as a pingpong one way" in sentence("one-sided", fact, evidence)


def test_it_is_the_first_line_of_all() -> None:
    evidence = told_of({cell(size=8): 200.0, remote("put-notify", mode="flag"): 280.0, remote("put"): 20.0})
    assert conclusions(evidence)[0].topic == "one-sided"


def test_without_a_message_of_its_size_only_the_time_is_said() -> None:
    evidence = told_of({cell(size=1024): 200.0, remote("put-notify", mode="flag"): 280.0})
    (fact,) = facts(notified, evidence)
    assert (fact.message, fact.ratio) == (None, None)
    assert "message" not in headline("one-sided", fact, evidence)


def test_whether_the_target_is_needed_is_told_for_each_kind_of_window() -> None:
    evidence = computing(
        {
            remote("progress", mode="put"): [300.0] * 3,
            remote("progress", mode="get"): [300.0] * 3,
            remote("progress", mode="put", window="create"): [0.8 * WORK_NS] * 3,
            remote("progress", mode="get", window="create"): [0.8 * WORK_NS] * 3,
            remote("progress", mode="put", window="dynamic"): [300.0, 0.8 * WORK_NS, 300.0],
        }
    )
    said = [headline("progress", fact, evidence) for fact in facts(progresses, evidence)]
    assert said == [
        "into memory of MPI_Win_allocate put and get complete while the target computes",
        "into memory of MPI_Win_create put and get wait until the target enters MPI",
        "into memory of MPI_Win_create_dynamic put waits for the target in some launches, not in all",
    ]


def test_a_target_that_computes_is_no_overlap() -> None:
    evidence = computing({remote("progress", mode="put"): [300.0] * 3})
    (row,) = evidence.rows
    assert row.overlap is None
    assert row.progress is not None
    assert row.progress.needs_target is False


def test_ways_of_synchronising_are_told_where_they_differ() -> None:
    evidence = told_of(
        {remote("put"): 100.0, remote("put", mode="lock"): 300.0, remote("put", mode="flush_local"): 100.0}
    )
    (fact,) = facts(synchronisations, evidence)
    assert fact.cell.mode == "lock"
    assert fact.ratio.estimate == pytest.approx(3.0, rel=0.05)
    assert " takes " in headline("synchronisation", fact, evidence)
    assert "lock" in sentence("synchronisation", fact, evidence)


def test_other_windows_are_told_beside_the_usual_one() -> None:
    evidence = told_of({remote("put"): 20.0, remote("put", window="create"): 800.0})
    (fact,) = facts(window_kinds, evidence)
    assert "into MPI_Win_create takes" in headline("window-kind", fact, evidence)


def test_contention_is_told_beside_one_rank_alone() -> None:
    evidence = told_of({remote("fetch_and_op"): 40.0, remote("contended", mode="fetch_and_op"): 120.0})
    (fact,) = facts(contended, evidence)
    assert "2 ranks on one word takes" in headline("atomics", fact, evidence)


@pytest.mark.parametrize(
    ("window", "copies", "more", "told"),
    [
        ("allocate", 1.05, {}, True),
        ("create", 1.05, {}, False),
        ("allocate", 4.0, {}, False),
        ("allocate", 1.05, {"placement": "different-hosts"}, False),
    ],
)
def test_a_put_that_is_a_copy_of_shared_memory_is_said_to_be_one(
    window: str, copies: float, more: dict[str, str], told: bool
) -> None:
    size = 64 * 1024
    put = remote("put", size, window=window, **more)
    evidence = told_of({cell("memcpy", size, **more): 2000.0, put: 2000.0 * copies})
    found = facts(own_copies, evidence)
    assert bool(found) == told
    if told:
        assert "a copy in memory that rank 0 shares with its target" in headline(
            "own-memory", found[0], evidence
        )
