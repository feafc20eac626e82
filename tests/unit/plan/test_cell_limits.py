"""What cannot be a cell is refused in words; windows, ranks, counts and memory have limits."""

from __future__ import annotations

import contextlib
import re
from typing import Literal

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan.buffers import Need, memory_need, needs_of, too_large, total_bytes
from mpigauge.plan.cells import (
    IN_FLIGHT_BYTES,
    INT_MAX,
    MAX_RANKS_PER_CORE,
    cells_of,
    check_ranks,
    window_for,
)
from mpigauge.plan.left_out import left_out_line
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import Lacking, Mode
from mpigauge.vocabulary import SYNCS
from tests.fakes.law import COLLECTIVES, DATATYPES, OPERATIONS, PATTERNS, modes_of
from tests.unit.plan.expanding import KERNEL, ROOTED, expanded

repeatable = settings(derandomize=True, deadline=None)
KERNEL_WITH_LARGE_COUNTS = msgspec.structs.replace(KERNEL, large_counts=True)
PERSISTENT = Mode("persistent", "as with MPI 4", 1, False, True, False)
KERNEL_OF_MPI_4 = msgspec.structs.replace(
    KERNEL,
    patterns=tuple(
        msgspec.structs.replace(pattern, modes=(*pattern.modes, PERSISTENT))
        if pattern.starts_together
        else pattern
        for pattern in KERNEL.patterns
    ),
)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (Measure("pingpung"), ["'pingpung'"]),
        (Measure("pingpong", modes=("nonsense",)), ["pingpong", "'nonsense'"]),
        (Measure("pingpong", sizes="8:4"), ["'8:4'"]),
        (Measure("pingpong", ranks=(1,)), ["pingpong", "2 ranks", "not 1"]),
        (Measure("pingpong", modes=("persistent",), sizes="8", buffers="cold"), ["persistent", "cold"]),
        (Measure("pingpong", sizes="3GiB"), ["3 GiB", "MPI 4"]),
        (Measure("pingpong", modes=("buffered",), sizes="600MiB"), ["buffered", "600 MiB"]),
        (Measure("bcast", modes=("persistent",), sizes="8"), ["bcast", "'persistent'"]),
        (Measure("bcast", sizes="8", roots=(0, 2)), ["rank 2", "2 ranks"]),
        (Measure("allreduce", sizes="8", datatypes=("quad",)), ["'quad'"]),
        (Measure("allreduce", sizes="8", ops=("mean",)), ["'mean'"]),
        (Measure("allreduce", sizes="8", datatypes=("all",), ops=("mean",)), ["'mean'"]),
        (Measure("allreduce", sizes="8", ops=("sum", "bxor")), ["not define bxor", "double"]),
        (Measure("reduce_local", sizes="8", datatypes=("double", "float"), ops=("land",)), ["land", "float"]),
        (Measure("allreduce", sizes="16GiB"), ["16 GiB", "allreduce blocking"]),
        (Measure("alltoall", sizes="2GiB", ranks=(4,)), ["2 GiB exceed", "alltoall blocking"]),
        (Measure("alltoallv", sizes="512MiB", ranks=(4,)), ["512 MiB", "4 ranks", "alltoallv"]),
        (Measure("bcast-acked", sizes="2GiB"), ["2 GiB", "bcast-acked"]),
        (Measure("bcast-rotating", sizes="2GiB"), ["2 GiB", "bcast-rotating"]),
        (Measure("contended", sizes="8", buffers="cold"), ["contended", "same buffers in every call"]),
        (Measure("chase", sizes="64", buffers="cold"), ["chase", "same buffers in every call", "cold"]),
    ],
)
def test_what_cannot_be_measured_is_refused(measure: Measure, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        expanded(measure)
    assert all(word in caught.value.sentence for word in words), caught.value.sentence
    assert caught.value.hint


def test_large_messages_need_a_library_that_can_count_them() -> None:
    measure = Measure("pingpong", sizes=str(INT_MAX + 1))
    assert expanded(measure, kernel=KERNEL_WITH_LARGE_COUNTS)[0].bytes == INT_MAX + 1
    assert expanded(Measure("pingpong", sizes=str(INT_MAX)))


@repeatable
@given(st.integers(1, 2**20), st.integers(0, 2**46))
def test_a_window_is_limited_by_memory(window: int, size: int) -> None:
    found = window_for(window, size)
    assert 1 <= found <= window
    assert found in {window, 2} or found * size <= IN_FLIGHT_BYTES < (found + 1) * size


@pytest.mark.parametrize("pattern", ["incast", "outcast"])
@pytest.mark.parametrize(
    ("ranks", "size", "window"), [(5, "64KiB", 64), (1000, "8", 64), (1000, "64KiB", 16), (1000, "1MiB", 2)]
)
def test_windows_of_many_ranks_are_limited_together(pattern: str, ranks: int, size: str, window: int) -> None:
    """By the memory of the one rank that has all of them."""
    (cell,) = expanded(Measure(pattern, sizes=size), ranks=(ranks,))
    assert cell.window == window


def test_windows_of_many_ranks_have_no_more_messages_than_an_int_counts() -> None:
    (cell,) = expanded(Measure("incast", sizes="0", window=2**20), ranks=(4097,))
    assert cell.window * 4096 < INT_MAX


def test_memory_of_one_rank_needs_no_counts() -> None:
    assert expanded(Measure("memcpy", sizes="4GiB"))[0].bytes == 2**32
    assert expanded(Measure("chase", sizes="4GiB"), ranks=(8,))[0].bytes == 2**32
    assert expanded(Measure("crosscopy", sizes="4GiB"), ranks=(8,))[0].bytes == 2**32


def test_a_reduction_in_one_rank_has_the_counts_of_one_rank() -> None:
    assert expanded(Measure("reduce_local", sizes="1GiB"), ranks=(8,))


@pytest.mark.parametrize("pattern", COLLECTIVES)
def test_a_mode_bound_to_a_root_cannot_rotate(pattern: str) -> None:
    bound = Measure(pattern, modes=("persistent",), sizes="8", roots=("rotating",))
    free = Measure(pattern, modes=tuple(modes_of(pattern)[:2]), sizes="8", roots=("rotating",))
    assert expanded(free, kernel=KERNEL_OF_MPI_4)
    if pattern not in ROOTED:
        assert expanded(bound, kernel=KERNEL_OF_MPI_4)
        return
    with pytest.raises(UsageError, match=f"{pattern} persistent is bound to one root") as caught:
        expanded(bound, kernel=KERNEL_OF_MPI_4)
    assert "--root" in caught.value.hint
    fixed = Measure(pattern, modes=("persistent",), sizes="8", roots=(1,))
    assert expanded(fixed, kernel=KERNEL_OF_MPI_4)[0].root == "1"


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_every_rank_can_be_root_and_no_other(ranks: int) -> None:
    measure = Measure("gather", sizes="8", roots=tuple(range(ranks)))
    cells = expanded(measure, ranks=(ranks,))
    assert [cell.root for cell in cells] == [str(rank) for rank in range(ranks)]
    with pytest.raises(UsageError) as caught:
        expanded(Measure("gather", sizes="8", roots=(ranks,)), ranks=(ranks,))
    assert caught.value.hint.endswith(f"0 to {ranks - 1}")


MODES = [(name, mode["name"]) for name in COLLECTIVES for mode in PATTERNS[name]["modes"]]
COUNTS_ALL = {
    **dict.fromkeys(("gatherv", "scatterv", "allgatherv", "alltoallv"), ("blocking", "overlap", "halves")),
    "gather": ("gatherv", "reduce"),
    "scatter": ("bcast", "scatterv"),
    "allgather": ("gather-bcast", "allgatherv", "allreduce"),
    "alltoall": ("alltoallv",),
    "reduce_scatter": ("allreduce", "reduce-scatterv"),
    "reduce_scatter_block": ("reduce-scatter", "allreduce"),
}
"""Modes with a count of all blocks together, or with places among them."""


@repeatable
@given(st.sampled_from(MODES), st.integers(1, 1000), st.integers(-2, 2), st.sampled_from(["double", "float"]))
def test_a_collective_may_be_as_large_as_its_counts_and_no_larger(
    of: tuple[str, str], ranks: int, more: int, datatype: str
) -> None:
    """Counts are of elements, of the ranks together only where the calls ask for it."""
    (pattern, mode), reduces = of, PATTERNS[of[0]]["reduces"]
    assume(PATTERNS[pattern]["moves_bytes"])
    unit = DATATYPES[datatype] if reduces else 1
    of_all = mode in COUNTS_ALL.get(pattern, ()) or pattern in {
        "gatherv",
        "scatterv",
        "allgatherv",
        "alltoallv",
    }
    most = INT_MAX // (ranks if of_all else 1)
    measure = Measure(
        pattern, modes=(mode,), sizes=str((most + more) * unit), datatypes=(datatype,) if reduces else ()
    )
    if more > 0:
        with pytest.raises(UsageError, match=f"exceed the counts of {pattern} {mode}"):
            expanded(measure, ranks=(ranks,))
    else:
        assert len(expanded(measure, ranks=(ranks,))) == 1


@pytest.mark.parametrize(
    ("pattern", "size", "ranks"),
    [("bcast", "64MiB", 64), ("allreduce", "1MiB", 4096), ("reduce", "4MiB", 512)],
)
def test_the_number_of_ranks_does_not_limit_a_message_to_all(pattern: str, size: str, ranks: int) -> None:
    assert len(expanded(Measure(pattern, sizes=size), ranks=(ranks,))) == 1


def test_an_impossible_size_is_left_out_with_its_reason_and_others_stay() -> None:
    measure = Measure("alltoall", modes=("blocking", "alltoallv"), sizes="8,1GiB", ranks=(4,))
    plan = Plan((measure, Measure("pingpong", modes=("standard", "buffered"), sizes="8,600MiB,3GiB")))
    found = cells_of(plan, KERNEL, "openmpi", "5.0.11", "the plan")
    gone = {(one.cell.pattern, one.cell.mode, one.cell.bytes): one for one in found.left_out}
    assert {key: one.kind for key, one in gone.items()} == {
        ("alltoall", "alltoallv", 2**30): "counts",
        ("pingpong", "standard", 3 * 2**30): "library",
        ("pingpong", "buffered", 600 * 2**20): "buffer",
        ("pingpong", "buffered", 3 * 2**30): "library",
    }
    assert all(one.reason and one.hint for one in found.left_out)
    assert ("alltoall", "blocking", 2**30) in {(cell.pattern, cell.mode, cell.bytes) for cell in found.cells}
    assert not {one.cell for one in found.left_out} & {*found.cells}


def test_cells_left_out_are_reported_in_one_line() -> None:
    plan = Plan((Measure("alltoallv", sizes="8,1GiB,2GiB", ranks=(4,)),))
    found = cells_of(plan, KERNEL, "openmpi", "5.0.11", "the plan")
    line = left_out_line(found.left_out, found.cells)
    assert line == "left out: 2 of 3 cells, e.g. alltoallv 1 GiB: beyond int counts"


def test_a_mode_that_is_left_out_is_not_taken_for_one_that_is_measured_at_this_size() -> None:
    plan = Plan((Measure("pingpong", modes=("standard", "buffered"), sizes="8,1GiB"),))
    found = cells_of(plan, KERNEL, "openmpi", "5.0.11", "the plan")
    line = left_out_line(found.left_out, found.cells)
    assert line == "left out: 1 of 4 cells, e.g. pingpong buffered 1 GiB: beyond MPI_Buffer_attach"


def test_only_patterns_with_a_window_have_one() -> None:
    assert expanded(Measure("stream", sizes="8", window=16))[0].window == 16
    assert expanded(Measure("ring", sizes="8", window=16))[0].window == 0


def test_too_many_ranks_are_refused_before_they_are_started() -> None:
    most = 2 * MAX_RANKS_PER_CORE
    check_ranks(Plan((Measure("ring", ranks=(most,)),), ranks=(most,)), 2, "the plan")
    for plan in (Plan((Measure("ring"),), ranks=(most + 1,)), Plan((Measure("ring", ranks=(2, most + 1)),))):
        with pytest.raises(UsageError) as caught:
            check_ranks(plan, 2, "the plan")
        assert str(most) in caught.value.hint


def test_memory_grows_with_what_is_allocated() -> None:
    def need(pattern: str, mode: str, size: int, **more: object) -> int:
        cell = msgspec.convert(
            {
                "pattern": pattern,
                "mode": mode,
                "bytes": size,
                "ranks": 4,
                "mpi": "m",
                "mpi_version": "1",
                **more,
            },
            Cell,
        )
        return memory_need(cell, KERNEL, 2**20)

    assert need("pingpong", "standard", 2**20) == 2 * 2 * 2**20
    assert need("ring", "standard", 2**20) == 4 * 2 * 2**20
    assert need("stream", "unidirectional", 2**20, window=8) == 2 * 16 * 2**20
    assert need("pingpong", "buffered", 2**20) == 2 * 6 * 2**20
    assert need("pingpong", "standard", 8, buffers="cold") == 2 * 2 * 2**20
    assert need("allreduce", "blocking", 2**20) == 4 * 2 * 2**20
    assert need("allgather", "blocking", 2**20) == 4 * (1 + 4) * 2**20
    assert need("reduce_scatter_block", "blocking", 2**20) == 4 * (4 + 1) * 2**20
    assert need("alltoall", "blocking", 2**20) == 4 * (4 + 4) * 2**20
    assert need("alltoall", "blocking", 2**20, in_place=True) <= need("alltoall", "blocking", 2**20)
    assert need("memcpy", "standard", 2**20) == 2 * 2**20
    assert need("chase", "standard", 2**20) == 2**20
    assert need("barrier", "blocking", 0) == 0
    assert need("put", "flush", 2**20, rma_window="create") == 2 * 2 * 2**20
    assert need("put-window", "flush", 2**20, rma_window="create", window=8) == 2 * 16 * 2**20
    assert need("put", "flush", 8, rma_window="create", buffers="cold") == 2 * 2 * 2**20


@pytest.mark.parametrize(("pattern", "mode"), [("gather", "blocking"), ("scatter", "scatterv")])
def test_the_blocks_of_all_ranks_need_memory_at_their_root_alone(pattern: str, mode: str) -> None:
    def need(root: int | Literal["rotating"], *, pattern: str = pattern, mode: str = mode) -> int:
        (cell,) = expanded(Measure(pattern, modes=(mode,), sizes="1MiB", ranks=(4,), roots=(root,)))
        return memory_need(cell, KERNEL, 2**20) >> 20

    assert need(0) == need(3) == (1 + 4) + 3 * (1 + 1)
    assert need("rotating") == 4 * (1 + 4)
    assert need(0, pattern="gather", mode="allgather") == 4 * (1 + 4 + 1)


def test_messages_that_do_not_fit_are_left_out() -> None:
    cells = expanded(Measure("pingpong", sizes="8,1GiB"))
    assert not too_large(cells, KERNEL, 2**20, 2**40)
    (gone,) = too_large(cells, KERNEL, 2**20, 2**30)
    assert gone.cell.bytes == 2**30
    assert gone.reason.startswith("pingpong standard of 1 GiB needs 4.0 GiB of buffers, but only 1.0 GiB")


def test_buffers_of_all_cells_of_a_launch_count_together() -> None:
    """A rank keeps its largest send and its largest receive buffer, of whichever cells they are."""
    assert total_bytes([Need(0, 2, 5, 1, 0), Need(0, 2, 1, 7, 0)]) == 2 * (5 + 7)
    assert total_bytes([Need(0, 4, 1, 1, 0), Need(0, 1, 0, 9, 2)]) == 4 * 2 + (9 - 1) + 2
    assert total_bytes([Need(0, 4, 1, 1, 0), Need(2, 3, 0, 9, 0)]) == 4 * 2 + (9 - 1)
    one, other = Need(0, 2, 5, 0, 0, 7, "2 create"), Need(0, 2, 5, 0, 0, 3, "2 dynamic")
    assert total_bytes([one, other]) == 2 * (5 + 7 + 3)
    assert total_bytes([one, one._replace(exposed=9)]) == 2 * (5 + 9)
    measures = [Measure(name, sizes="256MiB", ranks=(4,)) for name in ("gather", "scatter")]
    cells = [cell for measure in measures for cell in expanded(measure)]
    needs = [memory_need(cell, KERNEL, 0) for cell in cells]
    assert not too_large(cells[:1], KERNEL, 0, max(needs))
    (gone,) = too_large(cells, KERNEL, 0, max(needs))
    assert "beside those of 1 other cell" in gone.reason


NEEDS = st.builds(lambda first, more, *of: Need(first, first + more, *of), *[st.integers(1, 9)] * 5)


@given(st.lists(NEEDS, min_size=1, max_size=6))
def test_cells_together_need_at_least_their_largest_and_at_most_their_sum(needs: list[Need]) -> None:
    alone = [total_bytes([need]) for need in needs]
    assert max(alone) <= total_bytes(needs) <= sum(alone)


@repeatable
@given(
    st.lists(st.sampled_from(["gather", "scatter", "allgather", "bcast"]), min_size=1, unique=True),
    st.integers(0, 2**26),
    st.integers(0, 40).map(lambda power: 2**power),
)
def test_remaining_cells_fit_and_one_more_would_not(patterns: list[str], pool: int, available: int) -> None:
    cells = [cell for name in patterns for cell in expanded(Measure(name, sizes="1:64MiB", ranks=(4,)))]
    gone = {one.cell for one in too_large(cells, KERNEL, pool, available)}
    kept = [cell for cell in cells if cell not in gone]

    def need(of: list[Cell]) -> int:
        return total_bytes(need for cell in of for need in needs_of(cell, KERNEL, pool))

    assert need(kept) <= available
    if gone:
        smallest = min(gone, key=lambda cell: memory_need(cell, KERNEL, pool))
        assert need([*kept, smallest]) > available


@repeatable
@given(
    st.fixed_dictionaries(
        {
            "pattern": st.sampled_from([*PATTERNS, "nonsense", ""]),
            "modes": st.lists(st.sampled_from(["standard", "ready", "all", "nonsense", ""]), max_size=2),
            "sizes": st.one_of(
                st.none(), st.text(max_size=8), st.sampled_from(["8", "auto", "1TiB", "0:64"])
            ),
            "ranks": st.lists(st.integers(1, 100), max_size=2),
            "buffers": st.sampled_from(["warm", "cold"]),
        },
        optional={
            "sync": st.lists(st.sampled_from(SYNCS), max_size=2),
            "datatypes": st.lists(st.sampled_from([*DATATYPES, "all", "nonsense", ""]), max_size=2),
            "ops": st.lists(st.sampled_from([*OPERATIONS, "all", "nonsense", ""]), max_size=2),
            "roots": st.lists(st.one_of(st.integers(0, 3), st.just("rotating")), max_size=2),
            "in_place": st.booleans(),
        },
    )
)
def test_no_table_of_a_plan_makes_it_crash(words: dict[str, object]) -> None:
    with contextlib.suppress(UsageError):
        cells = expanded(msgspec.convert(words, Measure))
        assert len(cells) == len(set(cells))


# ---- Visits of a launch --------------------------------------------------------------------------


def cells_with(*measure: Measure, ranks: int = 2, visits: int = 8) -> list[Cell]:
    """The cells of a plan with so many visits of each."""
    return cells_of(
        Plan(measure, ranks=(ranks,), visits=visits), KERNEL, "openmpi", "5.0.11", "the plan"
    ).cells


def test_a_map_of_too_many_ranks_is_refused_with_the_numbers() -> None:
    """Before millions of cells are made, of which each rank would have to keep all visits."""
    with pytest.raises(UsageError) as caught:
        cells_with(Measure("pingpong", sizes="8", pairs="tournament"), ranks=2000, visits=2)
    assert "2000 ranks are 1,999,000 pairs" in caught.value.sentence
    assert "3,998,000 visits of a launch, of at most 1,000,000" in caught.value.sentence


def test_all_sizes_of_a_map_count_before_its_cells_are_made() -> None:
    """A thousand ranks with two sizes, of which either alone would do."""
    with pytest.raises(UsageError, match=r"with 2 sizes and 2 visits of each are 1,998,000 visits"):
        cells_with(Measure("pingpong", sizes="8,1MiB", pairs="tournament"), ranks=1000, visits=2)


@pytest.mark.parametrize(
    ("sizes", "visits", "hint"),
    [
        ("8,1MiB", 2, "use at most 707 ranks: --np 707, or 1 size: --sizes 8"),
        ("8", 3, "use at most 816 ranks: --np 816"),
        ("0:64", 2, "use at most 354 ranks: --np 354, or 1 size: --sizes 0"),
        ("4KiB,1MiB,3MiB", 1, "use at most 816 ranks: --np 816, or 2 sizes: --sizes 4KiB,3MiB"),
        ("4KiB,1MiB", 10**6, "use fewer visits"),
    ],
)
def test_a_map_of_too_many_ranks_is_told_how_many_there_may_be(sizes: str, visits: int, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        cells_with(Measure("pingpong", sizes=sizes, pairs="tournament"), ranks=1000, visits=visits)
    assert caught.value.hint == hint


@repeatable
@given(ranks=st.integers(2, 12), visits=st.integers(1, 4), most=st.integers(8, 300), count=st.integers(1, 4))
def test_what_a_refused_map_is_told_to_ask_for_is_possible(
    ranks: int, visits: int, most: int, count: int
) -> None:
    sizes = ",".join(map(str, range(count)))

    def refused(ranks: int, sizes: str) -> UsageError | None:
        try:
            cells_with(Measure("pingpong", sizes=sizes, pairs="serial"), ranks=ranks, visits=visits)
        except UsageError as error:
            return error
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpigauge.plan.cells.MAX_VISITS", most)
        error = refused(ranks, sizes)
        assume(error is not None and "pairs" in error.sentence)
        assert error is not None
        if asked := re.search(r"--np (\d+)", error.hint):
            assert refused(int(asked[1]), sizes) is None
            assert refused(int(asked[1]) + 1, sizes) is not None
        if asked := re.search(r"--sizes (\S+)", error.hint):
            assert refused(ranks, asked[1]) is None


@repeatable
@given(ranks=st.integers(2, 12), visits=st.integers(1, 8), most=st.integers(1, 600), sizes=st.integers(1, 3))
def test_a_launch_has_no_more_visits_than_fit(ranks: int, visits: int, most: int, sizes: int) -> None:
    """The floor, which every launch has, counts as well."""
    measure = Measure("pingpong", sizes=",".join(map(str, range(sizes))), pairs="serial")
    planned = visits * (sizes * ranks * (ranks - 1) // 2 + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpigauge.plan.cells.MAX_VISITS", most)
        if planned <= most:
            assert len(cells_with(measure, ranks=ranks, visits=visits)) * visits == planned
            return
        with pytest.raises(UsageError, match=f"{ranks} ranks .* visits"):
            cells_with(measure, ranks=ranks, visits=visits)


def test_visits_are_counted_per_job() -> None:
    measure = Measure("pingpong", sizes="0:15:+1", ranks=(2, 3, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mpigauge.plan.cells.MAX_VISITS", 8 * 17)
        assert len(cells_with(measure)) == 3 * 17


def test_what_a_library_lacks_is_left_out_with_its_name() -> None:
    lacking = (Lacking("session", "init-finalize", "MPI_Foo of MPI 4"),)
    kernel = msgspec.structs.replace(KERNEL, lacking=lacking)
    plan = Plan((Measure("session"), Measure("barrier")))
    expansion = cells_of(plan, kernel, "openmpi", "5.0.11", "the plan")
    assert [cell.pattern for cell in expansion.cells] == ["null", "barrier"]
    (left_out,) = expansion.left_out
    assert left_out.cell.pattern == "session"
    assert left_out.reason == "session needs MPI_Foo of MPI 4, which this MPI library lacks"
    with pytest.raises(UsageError, match="MPI_Foo"):
        cells_of(Plan((Measure("session"),)), kernel, "openmpi", "5.0.11", "the plan")


def test_a_size_beyond_the_operand_of_a_mode_is_left_out_and_not_replaced() -> None:
    plan = Plan((Measure("fetch_and_op", sizes="8,64KiB"),))
    found = cells_of(plan, KERNEL, "openmpi", "5.0.11", "here")
    assert [cell.bytes for cell in found.cells if cell.pattern == "fetch_and_op"] == [8]
    (gone,) = found.left_out
    assert (gone.kind, gone.cell.bytes) == ("largest", 65536)
    assert gone.reason == "the operand of fetch_and_op flush has 8 B, not 64 KiB"
