"""The handshake of synchronous sends and the copy of buffered ones: what was planted is found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from mpigauge.find.explain.send_modes import buffer_copies, handshakes
from tests.made import cell, eager
from tests.unit.find.explain.informative import facts, sentence, told_of
from tests.unit.find.explain.test_eager_limits import LIMIT, line

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

SMALL, LARGE = (8, 1024), (4096, 16384, 65536)
HANDSHAKE_NS = 600.0


def synchronous(waits_above: bool) -> dict[Cell, float]:
    """Messages of two modes: the synchronous one always waits, the standard one above the limit, or never."""
    times: dict[Cell, float] = {}
    for size in (*SMALL, *LARGE):
        usual = line(size) + HANDSHAKE_NS * (waits_above and size > LIMIT)
        times |= {cell(size=size): usual, cell(size=size, mode="synchronous"): line(size) + HANDSHAKE_NS}
    return times | {cell("eager", 2**22): 0.0}


def test_a_standard_send_that_waits_above_the_limit_is_told() -> None:
    evidence = told_of(synchronous(waits_above=True), eager(LIMIT), noise=0.005)
    (fact,) = facts(handshakes, evidence)
    assert fact.small.low_s * 1e9 < HANDSHAKE_NS < fact.small.high_s * 1e9
    assert (fact.above, fact.without) == (3, 3)
    assert "MPI_Send waits there, too" in sentence("handshake", fact, evidence)


def test_a_standard_send_that_never_waits_is_not_said_to_wait() -> None:
    evidence = told_of(synchronous(waits_above=False), eager(LIMIT), noise=0.005)
    (fact,) = facts(handshakes, evidence)
    assert fact.without == 0
    assert "none of 3 sizes tells whether MPI_Send waits" in sentence("handshake", fact, evidence)


def test_without_a_limit_or_a_handshake_nothing_is_said() -> None:
    assert not facts(handshakes, told_of(synchronous(waits_above=True)))
    equal = {of: line(of.bytes) for of in synchronous(waits_above=True)}
    assert not facts(handshakes, told_of(equal, eager(LIMIT)))


@pytest.mark.parametrize("copies", [1.0, 1.5])
def test_a_buffer_that_is_copied_costs_so_many_copies(copies: float) -> None:
    times: dict[Cell, float] = {}
    for size in LARGE:
        copy = 0.05 * size
        times |= {cell("memcpy", size): copy, cell(size=size): line(size)}
        times |= {cell(size=size, mode="buffered"): line(size) + copies * copy}
    evidence = told_of(times, noise=0.003)
    (fact,) = facts(buffer_copies, evidence)
    assert fact.copies_low <= fact.copies_median <= fact.copies_high
    assert fact.copies_median == pytest.approx(copies, rel=0.15)
    ends = r"\d\.\d+ to \d\.\d+ from \d+ [KM]iB to \d+ [KM]iB, memcpy standard"
    assert re.search(rf" copies longer than MPI_Send \({ends}\)$", sentence("buffer-copy", fact, evidence))


def test_a_mode_that_is_faster_at_some_size_is_not_said_to_cost_copies() -> None:
    times: dict[Cell, float] = {}
    for size in LARGE:
        extra = -0.3 if size == LARGE[-1] else 0.05
        times |= {cell("memcpy", size): 0.05 * size, cell(size=size): line(size)}
        times |= {cell(size=size, mode="buffered"): line(size) + extra * 0.1 * size}
    assert not facts(buffer_copies, told_of(times, noise=0.002))
