"""The order of visits comes from the seed alone, and the kernel's text says just what was planned."""

from __future__ import annotations

import contextlib
from collections import Counter
from itertools import groupby

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan import kernel_plan as kernel_plan_module
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import MORE, Limits, kernel_plan, parts_of
from mpigauge.plan.model import Cell, JobKey, Measure, Plan
from mpigauge.plan.patterns import KernelDescription
from mpigauge.plan.visit_order import PlannedVisit, shuffled, time_slots, visits_of, with_suspects_alone
from tests.fakes.law import DATATYPES, OPERATIONS, PATTERNS, describe
from tests.fakes.plan import read_plan

repeatable = settings(derandomize=True, deadline=None)
KERNEL = msgspec.convert(describe(), KernelDescription)
PLAN = Plan(
    (
        Measure("pingpong", modes=("all",), sizes="8,64"),
        Measure("stream", sizes="8"),
        Measure("eager"),
        Measure("reduce", sizes="8", sync=("common", "barrier"), roots=(0, "rotating")),
    ),
    seed=5,
)
CELLS = cells_of(PLAN, KERNEL, "openmpi", "5.0.11", "the plan").cells

seeds = st.integers(0, 2**63 - 1)
sizes = st.one_of(st.integers(0, 10**4), st.integers(0, 2**46)).map(str)
measures = st.builds(
    Measure,
    pattern=st.sampled_from(list(PATTERNS)),
    modes=st.sampled_from([(), ("all",)]),
    sizes=st.lists(sizes, min_size=1, max_size=2).map(",".join),
    window=st.integers(1, 65_536),
    buffers=st.sampled_from(["warm", "cold"]),
    sync=st.lists(st.sampled_from(["common", "barrier", "mpi_barrier"]), max_size=2).map(tuple),
    datatypes=st.lists(st.sampled_from([*DATATYPES, "all"]), max_size=2).map(tuple),
    ops=st.lists(st.sampled_from([*OPERATIONS, "all"]), max_size=2).map(tuple),
    roots=st.lists(st.one_of(st.integers(0, 3), st.just("rotating")), max_size=2).map(tuple),
    in_place=st.booleans(),
)


def cells_of_measures(measures: list[Measure], ranks: int) -> list[Cell]:
    """All that can be measured of this, and the floor."""
    cells: dict[Cell, None] = {}
    for measure in [Measure("null"), *measures]:
        with contextlib.suppress(UsageError):
            cells |= dict.fromkeys(
                cells_of(Plan((measure,), ranks=(ranks,)), KERNEL, "m", "1", "the test").cells
            )
    return list(cells)


cell_lists = st.builds(cells_of_measures, st.lists(measures, max_size=4), st.integers(1, 5))


def seeded(seed: int) -> Plan:
    """The plan with another seed."""
    return msgspec.structs.replace(PLAN, seed=seed)


@repeatable
@given(cell_lists, seeds, st.integers(1, 1000))
def test_an_order_is_a_permutation_determined_by_seed_and_key(
    cells: list[Cell], seed: int, launch: int
) -> None:
    order = shuffled(cells, seeded(seed), launch)
    assert sorted(order) == sorted(cells)
    assert order == shuffled(cells, seeded(seed), launch)


@repeatable
@given(cell_lists, seeds)
def test_every_cell_is_visited_as_often_as_planned(cells: list[Cell], seed: int) -> None:
    visits = visits_of(cells, seeded(seed), KERNEL, 1)
    assert [visit.id for visit in visits] == list(range(len(visits)))
    expected = {cell: 1 if cell.pattern == "eager" else PLAN.visits for cell in cells}
    assert Counter(visit.cell for visit in visits) == expected


JOB = Cell("pingpong", "standard", 0, 2, "openmpi", "5.0.11")
ORDERS: tuple[tuple[dict[str, object], int, str], ...] = (
    ({}, 1, "2 7 4 0 3 8 5 9 1 6"),
    ({}, 2, "2 5 6 4 1 7 3 8 9 0"),
    ({"transport": "tcp"}, 1, "8 2 3 5 0 9 1 7 4 6"),
    ({"transport": "tcp"}, 2, "4 9 5 7 2 8 0 1 6 3"),
    ({"placement": "different-hosts"}, 1, "0 7 6 5 9 4 3 1 2 8"),
    ({"placement": "different-hosts"}, 2, "5 9 7 0 8 2 4 1 3 6"),
    ({"placement": "h1,h3", "transport": "shm"}, 1, "6 9 5 8 1 0 3 2 7 4"),
    ({"placement": "h1,h3", "transport": "shm"}, 2, "0 8 6 3 1 4 5 9 7 2"),
    ({"ranks": 4}, 1, "8 2 7 9 5 6 4 1 0 3"),
    ({"ranks": 4}, 2, "0 2 3 6 9 1 7 8 4 5"),
    ({"ranks": 4, "pairing": "tournament"}, 1, "0-1 2-3 0-3 1-2 0-2 1-3"),
    ({"ranks": 4, "pairing": "tournament"}, 2, "0-2 1-3 0-1 2-3 0-3 1-2"),
    ({"ranks": 4, "pairing": "tournament", "placement": "h1,h2,h1,h2"}, 1, "0-2 1-3 0-3 1-2 0-1 2-3"),
    ({"ranks": 4, "pairing": "tournament", "placement": "h1,h2,h1,h2"}, 2, "0-2 1-3 0-3 1-2 0-1 2-3"),
)
"""What a launch of ten sizes, or of all pairs of four ranks, visits: files wait to be resumed like that."""


@pytest.mark.parametrize(("job", "launch", "order"), ORDERS)
def test_a_result_resumes_in_its_order(job: dict[str, object], launch: int, order: str) -> None:
    of = msgspec.structs.replace(JOB, **job)
    if of.pairing:
        cells = [msgspec.structs.replace(of, pair=f"{a}-{b}") for a in range(4) for b in range(a + 1, 4)]
    else:
        cells = [msgspec.structs.replace(of, bytes=size) for size in range(10)]
    visits = visits_of(cells, msgspec.structs.replace(PLAN, visits=1), KERNEL, launch)
    assert " ".join(visit.cell.pair or str(visit.cell.bytes) for visit in visits) == order


class LaterJob(JobKey, frozen=True):
    """An identity with a field that came later."""

    threads: str = "single"


def test_a_later_field_with_its_default_changes_no_order_and_no_name() -> None:
    words = ("openmpi", "5.0.11", "auto", "same-host", 2)
    before, usual, unusual = JobKey(*words), LaterJob(*words), LaterJob(*words, threads="multiple")
    assert usual.seed_words == before.seed_words == ("openmpi", "5.0.11", "auto", 2)
    assert usual.name == before.name == "Open MPI 5.0.11, 2 ranks"
    assert unusual.seed_words == (*before.seed_words, "multiple")
    assert unusual.name == "Open MPI 5.0.11, multiple, 2 ranks"


def test_launches_libraries_ranks_and_seeds_have_different_orders() -> None:
    mpich = [msgspec.structs.replace(cell, mpi="mpich") for cell in CELLS]
    wider = [msgspec.structs.replace(cell, ranks=4) for cell in CELLS]
    orders = [
        visits_of(CELLS, PLAN, KERNEL, 1),
        visits_of(CELLS, PLAN, KERNEL, 2),
        visits_of(CELLS, seeded(6), KERNEL, 1),
        visits_of(mpich, PLAN, KERNEL, 1),
        visits_of(wider, PLAN, KERNEL, 1),
    ]
    names = [
        tuple((visit.cell.pattern, visit.cell.mode, visit.cell.bytes) for visit in one) for one in orders
    ]
    assert len(set(names)) == len(names)
    assert visits_of(CELLS, PLAN, KERNEL, 2) == orders[1]


def test_a_cell_is_not_always_first() -> None:
    firsts = Counter(visits_of(CELLS, PLAN, KERNEL, launch)[0].cell for launch in range(1, 400))
    assert len(firsts) == len(CELLS)
    assert max(firsts.values()) < 399 / 4


def parsed(text: str) -> tuple[dict[str, int], list[dict[str, object]]]:
    """The kernel's text as a kernel reads it."""
    launch, visits = read_plan(text.splitlines(keepends=True))
    return launch, visits


def test_the_kernels_plan_has_the_planned_visits() -> None:
    planned = visits_of(CELLS, PLAN, KERNEL, 1)
    launch, visits = parsed(kernel_plan(planned, PLAN, Limits(0.05, 12.5, pool_bytes=2**25), 4))
    assert launch == {
        "version": 2,
        "ranks": 2,
        "cores": 4,
        "visits_per_cell": PLAN.visits,
        "rounds_min": PLAN.rounds_min,
        "rounds_max": PLAN.rounds_max,
        "precision_ppm": 10_000,
        "cell_ns": 50_000_000,
        "deadline_ns": 12_500_000_000,
        "warmup_ns": 50_000_000,
    }
    for visit, words in zip(planned, visits, strict=True):
        cell = visit.cell
        assert (words["id"], words["pattern"], words["mode"]) == (visit.id, cell.pattern, cell.mode)
        assert (words["bytes"], words["pool_bytes"]) == (cell.bytes, 0)
        assert words["window"] == (cell.window or 1)
    numbers = {words["cell"] for words in visits}
    assert numbers == set(range(len(CELLS)))


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_the_kernels_plan_has_the_number_of_cores(cores: int) -> None:
    launch, _ = parsed(kernel_plan(visits_of(CELLS, PLAN, KERNEL, 1), PLAN, Limits(0.05, 1), cores))
    assert launch["cores"] == cores


def test_only_collectives_have_keys_of_their_own() -> None:
    """What a cell has not is left out, so that the kernel's defaults count."""
    text = kernel_plan(visits_of(CELLS, PLAN, KERNEL, 1), PLAN, Limits(0.05, 1), 4)
    for line in text.splitlines()[1:-1]:
        words = dict(word.split("=") for word in line.split()[1:])
        own = words.keys() & {"sync", "datatype", "op", "root", "in_place"}
        assert own == ({"sync", "datatype", "op", "root"} if words["pattern"] == "reduce" else set())
    assert text.count("root=-1") == text.count("root=0") == 2 * PLAN.visits


def told(cell: Cell) -> dict[str, object]:
    """What a kernel must understand of a cell."""
    return {
        "pattern": cell.pattern,
        "mode": cell.mode,
        "bytes": cell.bytes,
        "window": cell.window or 1,
        "pool_bytes": 4096 if cell.buffers == "cold" else 0,
        "sync": cell.sync or "common",
        "datatype": cell.datatype,
        "op": cell.op,
        "root": -1 if cell.root == "rotating" else int(cell.root or 0),
        "in_place": int(cell.in_place),
    }


@repeatable
@given(cell_lists, st.floats(1e-12, 1e6), st.floats(1e-12, 1e6), st.floats(1e-9, 0.999), st.integers(1, 512))
def test_whatever_is_planned_the_kernel_understands(
    cells: list[Cell], cell_s: float, deadline_s: float, precision: float, cores: int
) -> None:
    """Nothing that `expand` lets through is refused by the kernel, and no word is lost on the way."""
    plan = msgspec.structs.replace(PLAN, precision=precision)
    planned = [PlannedVisit(number * 3, cell) for number, cell in enumerate(cells)]
    text = kernel_plan(planned, plan, Limits(cell_s, deadline_s, pool_bytes=4096), cores)
    launch, visits = parsed(text)
    assert text.endswith("\nend\n")
    assert text.isascii()
    assert all(len(line) < 1024 for line in text.splitlines())
    assert min(launch.values()) >= 1
    assert [visit["id"] for visit in visits] == [visit.id for visit in planned]
    for visit, cell in zip(visits, cells, strict=True):
        assert {key: visit[key] for key in told(cell)} == told(cell)


def test_remaining_visits_keep_their_numbers_and_order() -> None:
    planned = visits_of(CELLS, PLAN, KERNEL, 1)
    left = planned[3::2]
    _, visits = parsed(kernel_plan(left, PLAN, Limits(0.05, 1), 4))
    assert [visit["id"] for visit in visits] == [visit.id for visit in left]


@repeatable
@given(st.integers(0, 300), st.integers(64, 4096))
def test_parts_join_to_the_text_and_none_is_too_long(visits: int, most_bytes: int) -> None:
    text = kernel_plan([PlannedVisit(n, CELLS[n % 5]) for n in range(visits + 1)], PLAN, Limits(1, 1), 2)
    longest = max(map(len, text.splitlines(keepends=True)))
    parts = parts_of(text, most_bytes)
    assert "".join(part.removesuffix(MORE) for part in parts) == text
    assert all(part.endswith(MORE) for part in parts[:-1])
    assert parts[-1].endswith("end\n")
    assert max(map(len, parts)) <= max(most_bytes, longest + len(MORE))


# ---- Pairs ---------------------------------------------------------------------------------------

PAIRED = Plan(
    (
        Measure("pingpong", sizes="8,1MiB", pairs="tournament"),
        Measure("stream", sizes="8", pairs="serial"),
        Measure("eager", pairs="tournament"),
        Measure("ring", sizes="8"),
    ),
    seed=3,
)


def paired_cells(ranks: int) -> list[Cell]:
    """All cells of PAIRED with so many ranks."""
    return cells_of(msgspec.structs.replace(PAIRED, ranks=(ranks,)), KERNEL, "openmpi", "5", "the plan").cells


@repeatable
@given(st.integers(2, 9), seeds, st.integers(1, 50))
def test_all_pairs_are_visited_and_steps_stay_together(ranks: int, seed: int, launch: int) -> None:
    plan = msgspec.structs.replace(PAIRED, seed=seed, ranks=(ranks,))
    visits = visits_of(paired_cells(ranks), plan, KERNEL, launch)
    times = Counter(visit.cell for visit in visits)
    assert times == {cell: 1 if cell.pattern == "eager" else plan.visits for cell in paired_cells(ranks)}
    steps = [list(step) for _, step in groupby(visits, key=lambda v: v.step if v.cell.pair else -1 - v.id)]
    numbers = [step[0].step for step in steps if step[0].cell.pair]
    assert len(numbers) == len(set(numbers))
    for step in steps:
        members = [rank for visit in step if visit.cell.pair for rank in visit.cell.pair.split("-")]
        assert len(members) == len(set(members))
        together = [visit for visit in step if visit.cell.pairing == "tournament"]
        assert len(together) in {0, ranks // 2}
        assert together or len(step) == 1
    _, told_ = parsed(kernel_plan(visits, plan, Limits(0.05, 1), 4))
    assert [(visit["pair"], visit["step"]) for visit in told_] == [
        (visit.cell.pair, -1 if visit.step is None else visit.step) for visit in visits
    ]


def test_concurrent_pairs_vary() -> None:
    plan = msgspec.structs.replace(PAIRED, ranks=(6,))
    company = set()
    for launch in range(1, 6):
        visits = visits_of(paired_cells(6), plan, KERNEL, launch)
        steps = [v.step for v in visits if v.cell.pair == "0-1" and v.cell.pairing == "tournament"]
        company |= {v.cell.pair for v in visits if v.step in steps}
    assert len(company) == 1 + 6  # itself and all pairs of the other four


def test_suspects_are_measured_one_by_one_with_their_numbers() -> None:
    plan = msgspec.structs.replace(PAIRED, ranks=(4,))
    visits = visits_of(paired_cells(4), plan, KERNEL, 1)
    step = next(v.step for v in visits if v.cell.pairing == "tournament")
    suspects = frozenset(v.id for v in visits if v.step == step)
    apart = with_suspects_alone(visits, suspects)
    assert [(v.id, v.cell) for v in apart] == [(v.id, v.cell) for v in visits]
    steps = Counter(v.step for v in apart if v.step is not None)
    assert [steps[v.step] for v in apart if v.id in suspects and v.step is not None] == [1, 1]
    assert [v for v in apart if v.id not in suspects] == [v for v in visits if v.id not in suspects]


def test_concurrent_cells_share_the_time_of_a_launch() -> None:
    cells = [cell for cell in paired_cells(8) if cell.pattern == "pingpong"]
    assert len(cells) == 2 * 28
    assert time_slots(cells) == 2 * 7
    assert time_slots(CELLS) == len(CELLS)


def test_only_patterns_of_two_have_pairs() -> None:
    plan = Plan((Measure("ring", pairs="tournament"),))
    with pytest.raises(UsageError, match="the plan: ring is not between two ranks"):
        cells_of(plan, KERNEL, "m", "1", "the plan")


def test_common_words_of_a_cells_visits_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Cell] = []
    words = kernel_plan_module._cell_words

    def counted(cell: Cell, number: int, pool_bytes: int) -> str:
        written.append(cell)
        return words(cell, number, pool_bytes)

    monkeypatch.setattr(kernel_plan_module, "_cell_words", counted)
    visits = visits_of(CELLS, PLAN, KERNEL, 1)
    kernel_plan(visits, PLAN, Limits(0.05, 1), 4)
    assert sorted(written) == sorted({visit.cell for visit in visits})
    assert len(visits) > len(written)
