"""Eager limits: what was planted at the crossing is found, and nothing is said where no size is near."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.find.explain.eager_limits import eager_limits
from mpigauge.find.explain.evidence import Evidence
from mpigauge.result.records import Blocked, Eager
from tests.made import cell
from tests.unit.find.explain.informative import facts, sentence, told_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

SIZES = (8, 512, 1024, 2048, 4096, 8192)
LIMIT = 2500


def eager(limit: int, **more: str) -> Eager:
    """A probe that found a limit."""
    of = cell("eager", 2**22, "standard", **more)
    return Eager(
        1,
        0,
        of,
        found=True,
        control_held=True,
        limit_bytes=limit,
        longer_bytes=limit,
        max_bytes=2**22,
        probes=9,
    )


def line(size: int) -> float:
    """Nanoseconds of a message of so many bytes."""
    return 1000 + 0.1 * size


def with_step(extra_ns: float, sizes: tuple[int, ...] = SIZES) -> dict[Cell, float]:
    """Messages that take longer above the limit."""
    times = {cell(size=size): line(size) + extra_ns * (size > LIMIT) for size in sizes}
    return times | {cell("eager", 2**22): 0.0}


@pytest.mark.parametrize("extra_ns", [300.0, 2000.0])
def test_the_cost_of_crossing_is_what_was_planted(extra_ns: float) -> None:
    evidence = told_of(with_step(extra_ns), eager(LIMIT), noise=0.01, launches=10)
    (fact,) = facts(eager_limits, evidence)
    assert (fact.crossing.below_bytes, fact.crossing.above_bytes) == (2048, 4096)
    assert fact.crossing.low_s * 1e9 < extra_ns < fact.crossing.high_s * 1e9
    said = sentence("eager-limit", fact, evidence)
    assert said.startswith("the eager limit is 2500 B; pingpong standard of 4 KiB takes ")
    assert "crossing it costs" in said


def test_where_nothing_was_planted_nothing_is_found() -> None:
    evidence = told_of(with_step(0.0), eager(LIMIT), noise=0.01)
    (fact,) = facts(eager_limits, evidence)
    assert "costs nothing that can be told from 0" in sentence("eager-limit", fact, evidence)


def test_a_size_far_above_tells_nothing_of_crossing() -> None:
    evidence = told_of(with_step(500.0, (8, 512, 2048, 8192)), eager(LIMIT))
    (fact,) = facts(eager_limits, evidence)
    assert fact.crossing is None
    assert sentence("eager-limit", fact, evidence) == "the eager limit is 2500 B"


@pytest.mark.truth
def test_the_interval_holds_what_was_planted_in_ninety_of_a_hundred() -> None:
    held = 0
    for seed in range(100):
        (fact,) = facts(
            eager_limits, told_of(with_step(400.0), eager(LIMIT), noise=0.02, launches=6, seed=seed)
        )
        held += fact.crossing.low_s * 1e9 <= 400 <= fact.crossing.high_s * 1e9
    assert held >= 88


def test_what_would_deadlock_is_counted() -> None:
    blind = [cell("exchange", size, "blocking") for size in (1024, 4096, 8192)]
    probe = eager(LIMIT)
    stopped = [Blocked(1, place, of, found=True, limit_bytes=LIMIT) for place, of in enumerate(blind[1:])]
    times = {probe.cell: 0.0, blind[0]: 900.0, **dict.fromkeys(blind[1:], 0.0)}
    evidence = told_of(times, probe, *stopped)
    (fact,) = facts(eager_limits, evidence)
    assert (fact.blocked, fact.of) == (2, 3)
    assert "2 of 3 sizes of modes that rely on it would deadlock" in sentence("eager-limit", fact, evidence)


def test_sizes_are_counted_once_on_a_machine_of_two_states() -> None:
    sizes = [cell("exchange", size, "blocking") for size in (8, 1024)]
    evidence = told_of(dict.fromkeys(sizes, 1000.0) | {cell("eager", 2**22): 0.0}, eager(LIMIT))
    twice = [*evidence.rows, *(replace(row, state="far") for row in evidence.rows if row.cell in sizes)]
    (fact,) = facts(eager_limits, Evidence(evidence.result, twice))
    assert (fact.blocked, fact.of) == (0, 2)
