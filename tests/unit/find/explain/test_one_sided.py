"""One-sided operations: what was planted is found, and said."""

from __future__ import annotations

import math
import re
from dataclasses import replace as with_fields
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.document.cell_names import varied_in
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
    assert headline("one-sided", fact, evidence).endswith(") as long as a message, launch by launch")
    assert sentence("one-sided", fact, evidence).endswith(" as long as a message (pingpong, one way)")


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
    kinds = ("allocate put and get complete", "create put and get wait", "create_dynamic put waits")
    ends = (
        "while the target computes",
        "until the target enters MPI",
        "for the target in some launches, not in all",
    )
    assert said == [
        f"progress, 8 B: in a window of MPI_Win_{kind} {end}" for kind, end in zip(kinds, ends, strict=True)
    ]


def test_every_kind_of_window_of_which_the_same_holds_is_named() -> None:
    """One name reads as if it held of that kind alone."""
    waits, alone = [0.8 * WORK_NS] * 3, [300.0] * 3
    evidence = computing(
        {
            remote("progress", mode=mode, window=window): alone if window == "allocate" else waits
            for window in ("allocate", "create", "dynamic")
            for mode in ("put", "get")
        }
    )
    said = [headline("progress", fact, evidence) for fact in facts(progresses, evidence)]
    assert said == [
        "progress, 8 B: in a window of MPI_Win_allocate put and get complete while the target computes",
        (
            "progress, 8 B: in windows of MPI_Win_create and MPI_Win_create_dynamic put and get wait "
            "until the target enters MPI"
        ),
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
    assert fact.of.cell.mode == "lock"
    assert fact.ratio.estimate == pytest.approx(3.0, rel=0.05)
    assert " takes " in headline("synchronisation", fact, evidence)
    assert "lock" in sentence("synchronisation", fact, evidence)


def test_an_epoch_is_told_of_the_windows_that_it_was_measured_in() -> None:
    times = {remote("put"): 32.0, remote("put", mode="fence"): 986.0}
    times |= {remote("empty-epoch", 0, "fence", "create"): 944.0}
    (fact,) = facts(synchronisations, told_of(times, noise=0.002))
    assert fact.empty is None


def test_the_usual_mode_and_window_come_first_and_small_before_large() -> None:
    size, mode, window = (8, 4096), ("flag", "send"), ("allocate", "create")
    made = [remote("put-notify", s, m, w) for w in window for m in mode for s in size]
    evidence = told_of({cell(size=s): 200.0 for s in size} | dict.fromkeys(made, 280.0))
    cells = [(fact.of.cell, fact.weight) for fact in facts(notified, evidence)]
    weights = {(of.bytes, of.mode, of.rma_window): weight for of, weight in cells}
    assert weights[8, "flag", "allocate"] == pytest.approx(10 / (1 + math.log2(9)))
    assert weights[4096, "flag", "allocate"] == pytest.approx(10 / (1 + math.log2(4097)))
    for others in ((8, "send", "allocate"), (8, "flag", "create"), (8, "send", "create")):
        assert weights[others] == pytest.approx(1 / (1 + math.log2(9)))


def test_a_way_of_synchronising_is_said_with_both_names_and_times() -> None:
    evidence = told_of({remote("put"): 100.0, remote("put", mode="lock"): 300.0}, noise=0.0)
    (fact,) = facts(synchronisations, evidence)
    said = sentence("synchronisation", fact, evidence)
    other, base = "put lock, window allocate, 8 B", "put flush, window allocate"
    times = "3.00 times (3.00 \N{EN DASH} 3.00)"
    assert said == f"{other}: {times} as long as {base}, 300 ns against 100 ns"


@pytest.mark.parametrize(("size", "told"), [(32 * 1024 - 1, False), (32 * 1024, True)])
def test_a_copy_is_told_from_the_size_on_at_which_its_time_says_what_it_is(size: int, told: bool) -> None:
    evidence = told_of({cell("memcpy", size): 2000.0, remote("put", size): 2100.0})
    assert bool(facts(own_copies, evidence)) == told


def test_other_windows_are_told_beside_the_usual_one() -> None:
    evidence = told_of({remote("put"): 20.0, remote("put", window="create"): 800.0})
    (fact,) = facts(window_kinds, evidence)
    line = headline("window-kind", fact, evidence)
    assert line.startswith("put, 8 B: window of MPI_Win_create: 4")
    assert re.search(r" as long as of MPI_Win_allocate, 8\d\d ns against (19|20)\.\d ns$", line)


def test_contention_is_told_beside_one_rank_alone() -> None:
    evidence = told_of({remote("fetch_and_op"): 40.0, remote("contended", mode="fetch_and_op"): 120.0})
    (fact,) = facts(contended, evidence)
    assert headline("atomics", fact, evidence).startswith("fetch_and_op, 8 B: 2 ranks on one word take 3.0")


def test_what_is_told_of_two_libraries_names_them() -> None:
    ours = [remote("fetch_and_op"), remote("contended", mode="fetch_and_op"), remote("progress", mode="put")]
    theirs = [replace(one, mpi="mpich", mpi_version="5.0.2") for one in ours]
    alone, every, _ = zip(ours, theirs, strict=True)
    evidence = told_of(dict.fromkeys(alone, 40.0) | dict.fromkeys(every, 120.0))
    said = [headline("atomics", fact, evidence) for fact in facts(contended, evidence)]
    assert [line.split(":")[0] for line in said] == [
        "fetch_and_op, Open MPI 5.0.11, 8 B",
        "fetch_and_op, MPICH 5.0.2, 8 B",
    ]
    needs = computing({side[-1]: [300.0] * 3 for side in (ours, theirs)})
    said = [headline("progress", fact, needs) for fact in facts(progresses, needs)]
    assert said[1].startswith("progress, MPICH 5.0.2, 8 B: in a window of MPI_Win_allocate put completes")


def test_sizes_of_which_something_else_holds_are_told_apart() -> None:
    """In one fact they said that get waits, and completes without it."""
    waits, alone = [0.8 * WORK_NS] * 3, [300.0] * 3
    evidence = computing(
        {
            remote("progress", 8, "put"): alone,
            remote("progress", 8, "get"): alone,
            remote("progress", 65536, "put"): alone,
            remote("progress", 65536, "get"): waits,
            remote("progress", 4096, "put"): alone,
            remote("progress", 4096, "get"): alone,
        }
    )
    found = facts(progresses, evidence)
    window = "in a window of MPI_Win_allocate"
    assert [headline("progress", fact, evidence) for fact in found] == [
        f"progress, 8 B and 4 KiB: {window} put and get complete while the target computes",
        f"progress, 64 KiB: {window} get waits until the target enters MPI",
    ]
    said = sentence("progress", found[1], evidence)
    assert "; put completes without it; get took 1.6" in said
    assert "ms (" in said


def test_a_copy_of_no_state_goes_with_puts_of_each_state() -> None:
    """One rank copies: how far apart two are is nothing to it."""
    put = remote("put", 64 * 1024)
    made = told_of({cell("memcpy", 64 * 1024): 2000.0, put: 2100.0})
    kept = [row for row in made.rows if row.cell != put]
    states = [with_fields(row, state=one) for row in made.rows if row.cell == put for one in ("near", "far")]
    found = facts(own_copies, Evidence(made.result, [*kept, *states]))
    said = [headline("own-memory", fact, made).split(":")[0] for fact in found]
    assert said == [f"put, cores {state}, 64 KiB" for state in ("near", "far")]


def test_of_one_state_the_launches_of_that_state_are_compared() -> None:
    put = remote("put", 64 * 1024)
    made = told_of({cell("memcpy", 64 * 1024): 2000.0, put: 2100.0})
    copy, row = sorted(made.rows, key=lambda one: one.cell == put)
    assert row.time is not None
    few = {launch: time_s for launch, time_s in row.time.by_launch.items() if launch <= 4}
    near = with_fields(row, state="near", time=with_fields(row.time, by_launch=few))
    (fact,) = facts(own_copies, Evidence(made.result, [copy, near]))
    assert (fact.ratio.paired, fact.ratio.launches) == (True, 4)


def test_ways_of_synchronising_are_told_by_one_topic() -> None:
    times = {remote("put"): 100.0, remote("put", mode="lock"): 300.0}
    times |= {remote("put-notify", mode=mode): 200.0 for mode in ("flag", "send")}
    times |= {remote("progress", mode=mode): 200.0 for mode in ("put", "get")}
    found = conclusions(told_of(times))
    assert [one.fact.of.cell.pattern for one in found if one.topic == "synchronisation"] == ["put"]
    assert [one.fact.base.cell.pattern for one in found if one.topic == "mode"] == ["put-notify"]


def test_synchronisation_is_told_beside_an_epoch_without_an_operation() -> None:
    times = {remote("put"): 32.0, remote("put", mode="fence"): 986.0}
    times |= {remote("empty-epoch", 0, "fence"): 944.0, remote("empty-epoch", 0, "pscw"): 500.0}
    evidence = told_of(times, noise=0.002)
    (fact,) = facts(synchronisations, evidence)
    assert fact.empty.of.cell.mode == "fence"
    assert fact.empty.ratio.estimate == pytest.approx(944 / 986, rel=0.01)
    assert re.search(
        r"as flush, 9\d\d ns against 3\d\.\d ns; an empty epoch 9[34]\d ns$",
        headline("synchronisation", fact, evidence),
    )
    said = sentence("synchronisation", fact, evidence)
    assert re.search(r"; an empty epoch of fence 9[34]\d ns, 0\.9\d* times \(.*\) as long$", said)


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
