"""Rates: bytes of one operation over its time, and what of it a link carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.plan.patterns import Pattern
from mpigauge.rows.estimate import printed
from mpigauge.rows.rates import algorithm_bytes, bus_bytes, message_rate_of
from tests.fakes.law import COLLECTIVES, describe
from tests.made import cell

if TYPE_CHECKING:
    from collections.abc import Callable

repeatable = settings(derandomize=True, deadline=None)
PATTERNS = {one.name: one for one in msgspec.convert(describe()["patterns"], tuple[Pattern, ...])}

PUBLISHED = {
    # bytes of the operation by n of one rank and p ranks; share of them that each link carries
    "bcast": ("n", "1"),
    "reduce": ("n", "1"),
    "allreduce": ("n", "2(p-1)/p"),
    "allgather": ("pn", "(p-1)/p"),
    "reduce_scatter_block": ("pn", "(p-1)/p"),
    "reduce_scatter": ("pn", "(p-1)/p"),
    "alltoall": ("pn", "(p-1)/p"),
    "gather": ("pn", "(p-1)/p"),
    "scatter": ("pn", "(p-1)/p"),
}
"""nccl-tests, doc/PERFORMANCE.md."""

SHARES: dict[str, Callable[[int], float]] = {
    "1": lambda _: 1.0,
    "(p-1)/p": lambda p: (p - 1) / p,
    "2(p-1)/p": lambda p: 2 * (p - 1) / p,
}

ranks = st.integers(1, 10**6)
sizes = st.integers(1, 2**40)


def sent(pattern: str, size: int, of_ranks: int) -> tuple[int, float | None]:
    """Bytes of an operation, and over a link."""
    of = cell(pattern, size, PATTERNS[pattern].modes[0].name, ranks=of_ranks)
    moved = algorithm_bytes(of, PATTERNS[pattern])
    assert moved is not None
    return moved, bus_bytes(of, PATTERNS[pattern])


@pytest.mark.parametrize("pattern", PUBLISHED)
@repeatable
@given(size=sizes, of_ranks=ranks)
def test_bus_bandwidth_is_that_of_the_field(pattern: str, size: int, of_ranks: int) -> None:
    whole, share = PUBLISHED[pattern]
    algorithm, bus = sent(pattern, size, of_ranks)
    assert algorithm == size * (of_ranks if whole == "pn" else 1)
    assert bus == pytest.approx(SHARES[share](of_ranks) * algorithm)


@repeatable
@given(st.sampled_from([name for name, one in PATTERNS.items() if one.bus]), sizes, ranks)
def test_rates_grow_with_size_and_no_link_carries_more_than_twice(
    pattern: str, size: int, of_ranks: int
) -> None:
    algorithm, bus = sent(pattern, size, of_ranks)
    twice, twice_bus = sent(pattern, 2 * size, of_ranks)
    assert bus is not None
    assert twice == 2 * algorithm
    assert twice_bus == pytest.approx(2 * bus)
    assert 0 <= bus <= 2 * algorithm


@repeatable
@given(sizes, st.integers(2, 10**6))
def test_allreduce_is_a_reduction_that_is_scattered_and_gathered(block: int, of_ranks: int) -> None:
    """Over a link goes as much as of both its halves."""
    _, whole = sent("allreduce", of_ranks * block, of_ranks)
    halves = [sent(pattern, block, of_ranks)[1] for pattern in ("reduce_scatter_block", "allgather")]
    assert whole == pytest.approx(sum(half or 0 for half in halves))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_only_collectives_with_a_payload_have_a_bus(pattern: str) -> None:
    of = PATTERNS[pattern]
    collective = pattern in COLLECTIVES or pattern.startswith("bcast-")
    assert (sent(pattern, 64, 4)[1] is not None) == (collective and of.moves_bytes)


def test_both_directions_count_and_ranks_that_only_pass_on_do_not() -> None:
    assert sent("pingpong", 64, 2)[0] == sent("ring", 64, 8)[0] == sent("memcpy", 64, 2)[0] == 64
    assert sent("exchange", 64, 2)[0] == 128


@repeatable
@given(st.sampled_from(sorted(PATTERNS)), sizes, ranks)
def test_what_depends_on_ranks_is_not_known_without_them(pattern: str, size: int, of_ranks: int) -> None:
    """Figures of others may name no ranks, which are 0 then."""
    one, mode = PATTERNS[pattern], PATTERNS[pattern].modes[0].name
    known, unknown = (cell(pattern, size, mode, ranks=count) for count in (of_ranks, 0))
    for terms, moved in ((one.volumes.operation, algorithm_bytes), (one.volumes.bus, bus_bytes)):
        inverse, _, each, squared = terms
        assert moved(unknown, one) == (None if inverse or each or squared else moved(known, one))


MESSAGES = {
    ("pingpong", "standard"): 1,
    ("exchange", "nonblocking"): 2,
    ("stream", "bidirectional"): 2,
    ("multi-pingpong", "standard"): 2,
    ("neighbours", "nonblocking"): 4,
    ("send-overhead", "standard"): 1,
    ("allgather", "blocking"): 1,
}


@pytest.mark.parametrize(("pattern", "mode"), MESSAGES)
def test_the_message_rate_counts_the_messages_of_the_bandwidth(pattern: str, mode: str) -> None:
    of, one_s = cell(pattern, 8, mode, ranks=5), 1e-6
    time = printed({1: one_s}, "mean")
    rate = message_rate_of(of, PATTERNS[pattern], time)
    assert rate == pytest.approx(MESSAGES[pattern, mode] / one_s)
    assert message_rate_of(replace(of, ranks=0), PATTERNS[pattern], time) == (
        None if pattern == "multi-pingpong" else rate
    )
