"""All pairs of ranks on real libraries: at the same time in a tournament, one after the other in series."""

import json
from collections.abc import Callable
from itertools import combinations, groupby
from typing import Any

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_UNDECIDED
from mpigauge.mpi import find, kernel
from mpigauge.mpi.library import Library
from mpigauge.plan import round_robin
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import PlannedVisit, visits_of
from mpigauge.result import journal
from tests.real.mpi.conftest import TRIES_IN_ONE_STATE, Run, prefix, usually
from tests.real.mpi.launches import journal_of
from tests.truth import check, truth

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
Shim = Callable[[Library], dict[str, str]]

TIMEOUT_S = 300.0
WAIT_FOR_A_CORE_NS = 5_000_000
MAX_LAUNCHES = 40
PAIR_OF_FOUR = ("pingpong", "--np", "4", "--sizes", "8", "--launches", "1")


def run_kernel(
    library: Library, visits: list[PlannedVisit], plan: Plan, limits: Limits
) -> list[journal.Line]:
    """The journal of one launch."""
    return journal_of(library, kernel.build(library), visits, plan, limits, {}, TIMEOUT_S)


def planned(
    library: Library, ranks: int, *measures: Measure, visits: int = 1
) -> tuple[list[PlannedVisit], Plan]:
    """The visits of a launch, and their plan."""
    plan = Plan(measures, ranks=(ranks,), visits=visits, rounds_min=1, rounds_max=200)
    cells = cells_of(plan, kernel.describe(library), library.name, library.version, "test").cells
    return visits_of([cell for cell in cells if cell.pair], plan, kernel.describe(library), 1), plan


@usually("mpich")
@pytest.mark.parametrize("ranks", [4, 5])
def test_every_pair_is_measured_whatever_the_pattern(library: Library, ranks: int) -> None:
    description = kernel.describe(library)
    names = [p.name for p in description.patterns if p.active_ranks == 2 and not p.one_sided]
    measures = [Measure(n, modes=("all",), sizes="8,10000", pairs="tournament", window=4) for n in names]
    measures.append(Measure("pingpong", sizes="10000", pairs="tournament", buffers="cold"))
    visits, plan = planned(library, ranks, *measures)
    lines = run_kernel(library, visits, plan, Limits(1e-5, 1e4, warmup_s=1e-3, pool_bytes=2**20))
    done = [line for line in lines if isinstance(line, journal.VisitLine)]
    assert [line.corrupt for line in done if line.corrupt] == []
    ended = {line.visit for line in done}
    ended |= {line.eager for line in lines if isinstance(line, journal.EagerLine)}
    ended |= {line.blocked for line in lines if isinstance(line, journal.BlockedLine)}
    assert ended == {visit.id for visit in visits}
    pairs = {(visit.cell.pattern, visit.cell.pair) for visit in visits if visit.id in ended}
    every = [round_robin.pair_name(pair) for pair in combinations(range(ranks), 2)]
    assert pairs == {(name, pair) for name in names for pair in every}


TOURNAMENT = Measure("pingpong", sizes="8", pairs="tournament")


@truth
def test_a_step_is_made_at_once(library: Library) -> None:
    """One after the other, no visit of a step would overlap another."""
    visits, plan = planned(library, 4, TOURNAMENT, visits=4)
    lines = run_kernel(library, visits, plan, Limits(0.4, 1e4))
    done = {line.visit: line for line in lines if isinstance(line, journal.VisitLine)}
    together = 0
    for _, step in groupby(visits, key=lambda visit: visit.step):
        first, second = (done.get(visit.id) for visit in step)
        if first is not None and second is not None:
            together += overlap_ns(first, second) > 0
    check(f"{library.name}, steps whose visits overlap / steps", together / (len(done) / 2), above=0.25)


def test_a_step_is_written_in_order(library: Library) -> None:
    visits, plan = planned(library, 4, TOURNAMENT, visits=4)
    lines = run_kernel(library, visits, plan, Limits(0.4, 1e4))
    done = {line.visit for line in lines if isinstance(line, journal.VisitLine)}
    events = [
        ("begin", line.begin) if isinstance(line, journal.BeginLine) else ("visit", line.visit)
        for line in lines
        if isinstance(line, journal.BeginLine | journal.VisitLine)
    ]
    expected = [
        (word, visit.id)
        for _, step in groupby((v for v in visits if v.id in done), key=lambda visit: visit.step)
        for made in [list(step)]
        for word in ("begin", "visit")
        for visit in made
    ]
    assert events == expected


def test_in_series_no_two_are_made_at_once(library: Library) -> None:
    visits, plan = planned(library, 4, Measure("pingpong", sizes="8", pairs="serial"))
    lines = run_kernel(library, visits, plan, Limits(0.02, 1e4))
    done = [line for line in lines if isinstance(line, journal.VisitLine)]
    assert {line.visit for line in done} == {visit.id for visit in visits}
    assert all(overlap_ns(first, second) <= 0 for first, second in combinations(done, 2))


@truth
def test_a_delayed_link_is_named_and_only_it(mpigauge: Run, rows: Rows, shim: Shim) -> None:
    """On one of six links two hundred times as long, which the map must find among ranks that share cores.

    And no shorter than what a rank may wait for a core, or a busy machine hides it.
    """
    library = find.find(prefix("mpich"))
    (row,) = (row for row in rows(*PAIR_OF_FOUR, "--mpi", str(library.mpicc)) if row["pattern"] == "pingpong")
    delay_ns = max(round(200e9 * row["time_s"]["estimate"]), WAIT_FOR_A_CORE_NS)
    orders = {"SHIM_ACTION": "delay", "SHIM_BYTES": "8", "SHIM_PAIR": "1-3", "SHIM_DELAY_NS": str(delay_ns)}
    words = ("--np", "4", "--serial", "--sizes", "8,16KiB", "--factor", "3", "--mpi", str(library.mpicc))
    environment = shim(library) | orders
    done = mpigauge("map", *words, "--format", "json", environment=environment)
    for _ in range(TRIES_IN_ONE_STATE):
        if done.returncode != EXIT_UNDECIDED:
            break
        # On a machine that is busy it says how many launches it takes, if it does not grow busier.
        needed = min(json.loads(done.stdout)["launches_needed"] or 20, MAX_LAUNCHES)
        more = ("--launches", str(needed), "--format", "json")
        done = mpigauge("map", *words, *more, environment=environment)
    assert done.returncode == EXIT_CHECK_FAILED, done.stderr + done.stdout
    said = json.loads(done.stdout)
    (link,) = said["slow_links"]
    assert link["hosts"] == ["1", "3"]
    check("latency of the delayed link / of the others", link["latency_factor"], above=3)
    assert link["rate_factor"] is None
    assert said["slow_hosts"] == []


def overlap_ns(first: journal.VisitLine, second: journal.VisitLine) -> int:
    """For how long both visits were under way; negative if one ended before the other began."""
    begin = max(first.at_ns, second.at_ns)
    return min(first.at_ns + first.elapsed_ns, second.at_ns + second.elapsed_ns) - begin


def test_a_word_of_a_slow_round_is_heard_also_when_it_comes_at_the_end(shim: Shim) -> None:
    """What nobody receives would be an error of MPI: here none is seen before the lines that follow it."""
    library = find.find(prefix("mpich"))
    visits, plan = planned(library, 3, Measure("pingpong", sizes="1024", pairs="serial"))
    orders = {"SHIM_ACTION": "late", "SHIM_BYTES": "1024", "SHIM_DELAY_NS": "1100000000"}
    lines = journal_of(
        library,
        kernel.build(library),
        [visit for visit in visits if visit.cell.pair == "1-2"],
        plan,
        Limits(1e-3, 1e4, warmup_s=1e-3),
        {**shim(library), **orders},
        TIMEOUT_S,
    )
    assert [line.round_s > 1 for line in lines if isinstance(line, journal.TickLine) and line.round_ns] == [
        True
    ]
