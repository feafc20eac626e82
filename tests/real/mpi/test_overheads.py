"""The calls that send and receive, timed alone: a wait in one of them is found there and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.mpi import find
from tests.real.mpi.conftest import delays_of, prefix
from tests.truth import check, truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.mpi.library import Library

pytestmark = pytest.mark.mpi

DELAY_S = 100e-6
CALLS = {"MPI_Send": "send-overhead", "MPI_Recv": "recv-overhead"}


@pytest.mark.parametrize("call", CALLS)
@truth
def test_a_wait_in_a_call_is_found_in_its_overhead_alone(
    library: Library,
    rows: Callable[..., list[dict[str, Any]]],
    shim: Callable[[Library], dict[str, str]],
    call: str,
) -> None:
    """At rank 0, whose calls are timed; calls of 1048 B wait twice as long as those of 1024 B."""
    environment = shim(library) | delays_of(DELAY_S, call, rank=0)
    words = ("--sizes", "1000,1024,1048", "--launches", "2", "--stat", "min")
    found = rows(*CALLS.values(), *words, "--mpi", str(library.mpicc), environment=environment)
    times = {(row["pattern"], row["bytes"]): row["time_s"]["estimate"] for row in found if row["time_s"]}
    for pattern in CALLS.values():
        longer = times[pattern, 1048] - times[pattern, 1024]
        planted = 1 if pattern == CALLS[call] else 0
        what = f"{library.name}, {pattern} with a delay in {call} / planted"
        check(what, longer / DELAY_S, above=planted - 0.05, below=planted + 0.05)
        assert times[pattern, 1000] < 0.5 * DELAY_S


@truth
def test_a_wait_of_the_sender_is_no_overhead_of_the_receiver(
    rows: Callable[..., list[dict[str, Any]]], shim: Callable[[Library], dict[str, str]]
) -> None:
    """The message is there before its receive is timed, however late it comes."""
    library = find.find(prefix("mpich"))
    environment = shim(library) | delays_of(DELAY_S, "MPI_Send", rank=1)
    words = ("recv-overhead", "--sizes", "1000,1024", "--launches", "2", "--stat", "min")
    found = rows(*words, "--mpi", str(library.mpicc), environment=environment)
    times = {row["bytes"]: row["time_s"]["estimate"] for row in found if row["pattern"] == "recv-overhead"}
    check("recv-overhead / delay of its sender", max(times.values()) / DELAY_S, below=0.1)
