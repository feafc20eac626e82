"""A plan becomes cells: all that was asked for, each once, in sizes that can be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan import suites
from mpigauge.plan.cells import cells_of
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.plan_file import Asked, plan_of
from mpigauge.vocabulary import RMA_WINDOWS, SYNCS
from tests.fakes.law import DATATYPES, OPERATIONS, PATTERNS, modes_of, operations_of
from tests.unit.plan.expanding import KERNEL, ROOTED, expanded, one_of_each

repeatable = settings(derandomize=True, deadline=None)
REDUCTIONS = [name for name in PATTERNS if PATTERNS[name]["reduces"]]


def test_every_combination_is_there_once() -> None:
    cells = expanded(
        Measure("pingpong", modes=("standard", "ready"), sizes="8,64"),
        Measure("pingpong", modes=("standard",), sizes="64,512"),
        ranks=(2, 3),
    )
    assert len(cells) == len(set(cells)) == 2 * (2 * 2 + 1)
    assert {(cell.mpi, cell.mpi_version, cell.transport) for cell in cells} == {("openmpi", "5.0.11", "auto")}


def test_the_floor_is_measured_first_with_every_number_of_ranks() -> None:
    cells = cells_of(Plan((Measure("ring"),), ranks=(2, 4)), KERNEL, "openmpi", "5.0.11", "the plan").cells
    assert [(cell.pattern, cell.ranks) for cell in cells[:2]] == [("null", 2), ("null", 4)]
    assert cells_of(Plan((Measure("null"),)), KERNEL, "openmpi", "5.0.11", "the plan").cells == cells[:1]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_modes_default_to_the_first_with_those_it_is_compared_with_and_all_means_all(pattern: str) -> None:
    modes = modes_of(pattern)
    asked = cells_of(Plan((Measure(pattern, modes=("all",), sizes="8"),)), KERNEL, "m", "1", "the plan").cells
    default = cells_of(Plan((Measure(pattern, sizes="8"),)), KERNEL, "m", "1", "the plan").cells
    assert list(dict.fromkeys(cell.mode for cell in asked if cell.pattern == pattern)) == modes
    beside = [mode.name for mode in KERNEL.pattern(pattern, "").modes if mode.beside_first]
    assert list(dict.fromkeys(cell.mode for cell in default if cell.pattern == pattern)) == modes[:1] + beside


def test_sizes_are_those_of_messages_only() -> None:
    assert [cell.bytes for cell in expanded(Measure("ring", sizes="8,64"))] == [8, 64]
    assert [cell.bytes for cell in expanded(Measure("eager", sizes="8,64"))] == [64]
    assert [cell.bytes for cell in expanded(Measure("eager"))] == [4 * 2**20]
    assert expanded(Measure("null", sizes="8,64")) == []


def test_random_sizes_come_from_the_seed() -> None:
    def sizes(seed: int) -> list[int]:
        cells = cells_of(
            Plan((Measure("ring", sizes="auto"),), seed=seed), KERNEL, "m", "1", "the plan"
        ).cells
        return [cell.bytes for cell in cells]

    assert sizes(3) == sizes(3) != sizes(4)


# ---- Factors of collectives ----------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name not in ("null", "eager")])
def test_only_patterns_that_start_together_differ_in_how(pattern: str) -> None:
    together = PATTERNS[pattern]["sampled"]["starts_together"]
    cells = expanded(one_of_each(pattern, sizes="8", sync=SYNCS))
    assert [cell.sync for cell in cells] == (list(SYNCS) if together else [""])
    (default,) = expanded(one_of_each(pattern, sizes="8"))
    assert default.sync == ("common" if together else "")


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name not in ("null", "eager")])
def test_only_reductions_have_a_datatype_and_an_operation(pattern: str) -> None:
    (default,) = expanded(one_of_each(pattern, sizes="8"))
    assert (default.datatype, default.op) == (("double", "sum") if pattern in REDUCTIONS else ("", ""))
    cells = expanded(one_of_each(pattern, sizes="8", datatypes=("float", "int32"), ops=("max", "prod")))
    pairs = [(datatype, op) for datatype in ("float", "int32") for op in ("max", "prod")]
    assert [(cell.datatype, cell.op) for cell in cells] == (pairs if pattern in REDUCTIONS else [("", "")])


def test_all_datatypes_and_operations_are_those_that_mpi_defines_together() -> None:
    every = [(datatype, op) for datatype in DATATYPES for op in operations_of(datatype)]
    cells = expanded(Measure("allreduce", sizes="8", datatypes=("all",), ops=("all",)))
    assert [(cell.datatype, cell.op) for cell in cells] == every
    assert len(every) < len(DATATYPES) * len(OPERATIONS)
    some = expanded(Measure("allreduce", sizes="8", datatypes=("all",), ops=("sum", "bxor")))
    assert {cell.datatype for cell in some if cell.op == "bxor"} == {"int64", "int32", "uint8"}
    assert {cell.datatype for cell in some if cell.op == "sum"} == set(DATATYPES)


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name not in ("null", "eager")])
def test_only_what_has_a_root_has_roots(pattern: str) -> None:
    cells = expanded(one_of_each(pattern, sizes="8", roots=(0, 1, "rotating")))
    assert [cell.root for cell in cells] == (["0", "1", "rotating"] if pattern in ROOTED else [""])
    (default,) = expanded(one_of_each(pattern, sizes="8"))
    assert default.root == ("0" if pattern in ROOTED else "")


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name not in ("null", "eager")])
def test_in_place_applies_where_it_is_possible(pattern: str) -> None:
    (cell,) = expanded(one_of_each(pattern, sizes="8", in_place=True))
    assert cell.in_place == PATTERNS[pattern]["may_in_place"]
    assert not expanded(one_of_each(pattern, sizes="8"))[0].in_place


def test_all_factors_are_combined() -> None:
    measure = Measure(
        "reduce",
        modes=("blocking", "nonblocking"),
        sizes="8,64",
        sync=SYNCS,
        datatypes=("double", "int32"),
        ops=("sum", "min"),
        roots=(0, "rotating"),
    )
    cells = expanded(measure, ranks=(2, 4))
    assert len(cells) == len(set(cells)) == 2 * 2 * 3 * 2 * 2 * 2 * 2
    assert expanded(measure, measure, ranks=(2, 4)) == cells


def test_a_barrier_has_no_size_and_is_there_once() -> None:
    (cell,) = expanded(Measure("barrier", sizes="8,64,1KiB"))
    assert cell.bytes == 0


@repeatable
@given(
    st.sampled_from(REDUCTIONS),
    st.sampled_from(list(DATATYPES)),
    st.lists(st.integers(0, 2**20), min_size=1, max_size=5),
)
def test_sizes_of_reductions_are_whole_elements_and_not_smaller(
    pattern: str, datatype: str, sizes: list[int]
) -> None:
    text = ",".join(map(str, sizes))
    found = [cell.bytes for cell in expanded(Measure(pattern, sizes=text, datatypes=(datatype,)))]
    width = DATATYPES[datatype]
    assert len(found) == len(set(found))
    assert all(size % width == 0 for size in found)
    assert all(any(size <= rounded < size + width for rounded in found) for size in sizes)


def most_bytes(pattern: str) -> int:
    """The largest size of its first mode; 0 for any."""
    return int(PATTERNS[pattern]["modes"][0]["most_bytes"])


def test_sizes_of_words_end_with_the_largest_word() -> None:
    for sizes in ("0,3,4,8,64KiB", "auto"):
        assert [cell.bytes for cell in expanded(Measure("fetch_and_op", sizes=sizes))] == [4, 8]
    with pytest.raises(UsageError, match="the operand of compare_and_swap flush has 8 B, not 1 MiB"):
        expanded(Measure("compare_and_swap", sizes="1MiB"))


@pytest.mark.parametrize("pattern", ["put", "contended"])
def test_windows_of_one_sided_operations_are_cells(pattern: str) -> None:
    cells = expanded(Measure(pattern, sizes="8", rma_windows=RMA_WINDOWS))
    assert [cell.rma_window for cell in cells] == ["allocate", "create", "dynamic", "shared"]
    (usual,) = expanded(Measure(pattern, sizes="8"))
    assert usual.rma_window == "allocate"
    (message,) = expanded(Measure("pingpong", sizes="8", rma_windows=RMA_WINDOWS))
    assert message.rma_window == ""


@repeatable
@given(
    st.sampled_from([name for name in PATTERNS if PATTERNS[name]["unit_bytes"] and not most_bytes(name)]),
    st.lists(st.integers(0, 2**20), min_size=1, max_size=5),
)
def test_sizes_of_memory_are_whole_units_and_never_0(pattern: str, sizes: list[int]) -> None:
    unit = PATTERNS[pattern]["unit_bytes"]
    found = [cell.bytes for cell in expanded(one_of_each(pattern, sizes=",".join(map(str, sizes))))]
    assert len(found) == len(set(found))
    assert all(size % unit == 0 and size > 0 for size in found)
    assert all(any(size <= rounded < max(size, 1) + unit for rounded in found) for size in sizes)


@pytest.mark.parametrize("ranks", [2, 3, 8, 2048, 10_000])
@pytest.mark.parametrize(
    "suite", [suites.DEFAULT, suites.QUICK, suites.THOROUGH, *(of() for of in suites.SUITES.values())]
)
def test_the_suites_can_be_measured(suite: Asked, ranks: int) -> None:
    plan = plan_of(suite, Asked(ranks=(ranks,)), 1, "the suite")
    cells, left_out = cells_of(plan, KERNEL, "openmpi", "5.0.11", "the suite")
    assert {one.kind for one in left_out} <= {"counts"}
    assert {cell.pattern for cell in cells} == {"null", *(measure.pattern for measure in plan.measure)}
