"""The fake kernel reads plans as the real one does: it refuses the same, and leaves out the same."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find
from mpigauge.plan.factors import KERNEL_FACTORS
from tests.fakes.law import DATATYPES, KEPT, PATTERNS, modes_of, operations_of
from tests.fakes.plan import PlanError, read_plan
from tests.unit.kernel_launch import journal_of, plan_of

if TYPE_CHECKING:
    from tests.fakes.mpi import FakeMpi


@pytest.mark.parametrize(
    ("visit", "words"),
    [
        ("bcast blocking 8 frobs=1", "no key 'frobs'"),
        ("bcast psychic 8", "no mode 'psychic'"),
        ("bcast persistent 8", "no mode 'persistent'"),
        ("bcost blocking 8", "a pattern of --describe"),
        ("bcast blocking 1e9", "bytes is '1e9'"),
        ("bcast blocking 8 sync=later", "sync is 'later'"),
        ("bcast blocking 8 root=2", "rank 2 cannot be root of 2 ranks"),
        ("pingpong standard 8 root=-2", "root is '-2'"),
        ("pingpong persistent 8 root=-1", "cannot move on"),
        ("chase standard 64 root=1", "rank 1 cannot be root of 1 ranks"),
        ("bcast blocking 8 in_place=1", "no form with MPI_IN_PLACE"),
        ("allgather blocking 8 in_place=2", "in_place is '2'"),
        ("allreduce blocking 8", "needs datatype and op"),
        ("allreduce blocking 8 op=sum", "needs datatype and op"),
        ("reduce_local standard 8 datatype=double", "needs datatype and op"),
        ("allreduce blocking 8 datatype=quad op=sum", "no datatype is called 'quad'"),
        ("bcast blocking 8 op=mean", "no operation is called 'mean'"),
        ("allreduce blocking 8 datatype=float op=bxor", "no bxor of float"),
        ("allreduce blocking 12 datatype=double op=sum", "no whole number of double"),
        ("memcpy standard 0", "multiples of 1 B, not on 0 B"),
        ("chase standard 100", "multiples of 64 B, not on 100 B"),
        ("chase standard 64 pool_bytes=4096", "cannot use cold ones"),
        (f"pingpong standard {2**31}", "large counts"),
        (f"pingpong buffered {2**29}", "MPI_Buffer_attach"),
        (f"alltoallv blocking {2**30}", "the counts of alltoallv"),
        (f"bcast-acked blocking {2**31}", "the counts of bcast-acked"),
    ],
)
def test_what_the_kernel_would_refuse_is_refused(visit: str, words: str) -> None:
    with pytest.raises(PlanError, match="plan line 3: ") as caught:
        read_plan(plan_of("pingpong standard 8", visit).splitlines(keepends=True))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (" cores=2", "", "lacks 'cores'"),
        ("cores=2", "cores=0", "cores is '0'"),
        ("version=2", "version=1", "version is '1'"),
        ("ranks=2", "ranks=1", "pingpong needs 2 ranks, this job has 1"),
        (" window=4", "", "lacks 'window'"),
        ("end\n", "", "before the plan's line 'end'"),
    ],
)
def test_a_plan_must_be_whole_and_of_this_version(old: str, new: str, words: str) -> None:
    text = plan_of("pingpong standard 8")
    assert old in text
    with pytest.raises(PlanError) as caught:
        read_plan(text.replace(old, new).splitlines(keepends=True))
    assert words in str(caught.value)


def test_a_refused_plan_ends_the_launch_before_its_first_line(openmpi: FakeMpi) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        journal_of(find.find_default(), plan_of("allreduce blocking 8"))
    assert caught.value.stdout == b'{"ready":0}\n'
    assert b"allreduce needs datatype and op" in caught.value.stderr


def test_words_that_are_left_out_have_the_kernels_defaults() -> None:
    factors = {"sync": "mpi_barrier", "datatype": "int32", "op": "bor", "root": -1, "in_place": 1}
    words = " ".join(f"{key}={value}" for key, value in factors.items())
    _, (bare, full) = read_plan(
        plan_of("gather blocking 8", f"gather blocking 8 {words}").splitlines(keepends=True)
    )
    assert full.items() >= factors.items()
    assert bare.items() >= {"sync": "common", "datatype": "", "op": "", "root": 0, "in_place": 0}.items()


def test_the_kernel_says_what_a_visit_may_be_told() -> None:
    """Every factor whose key the plan has is one that the kernel knows, so no list of them is kept here."""
    known = {key["name"] for key in KEPT["visit_keys"]}
    assert {factor.key for factor in KERNEL_FACTORS} <= {"pattern", "mode", *known}
    assert all(key["about"] for key in KEPT["visit_keys"])


def test_memory_of_one_rank_may_be_larger_than_messages() -> None:
    _, visits = read_plan(
        plan_of(f"memcpy standard {2**32}", f"chase standard {2**32}").splitlines(keepends=True)
    )
    assert [visit["bytes"] for visit in visits] == [2**32, 2**32]


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if PATTERNS[name]["reduces"]])
def test_a_reduction_takes_what_is_described(pattern: str) -> None:
    mode = modes_of(pattern)[0]
    pairs = [(datatype, op) for datatype in DATATYPES for op in operations_of(datatype)]
    text = plan_of(*(f"{pattern} {mode} 64 datatype={datatype} op={op}" for datatype, op in pairs))
    _, visits = read_plan(text.splitlines(keepends=True))
    assert [(visit["datatype"], visit["op"]) for visit in visits] == pairs
