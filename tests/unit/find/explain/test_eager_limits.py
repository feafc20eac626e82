"""Eager limits: what was planted at the crossing is found, and nothing is said where it was not timed."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.find.explain.eager_limits import eager_limits
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.phrases import time
from mpigauge.result.kernel_data import CrossingSamples
from mpigauge.result.records import Blocked, Eager
from tests.made import cell, eager
from tests.unit.find.explain.informative import facts, sentence, told_of

if TYPE_CHECKING:
    from mpigauge.find.explain.eager_limits import EagerLimit

LIMIT = 2500
LAUNCHES = range(1, 9)
ODD_NS = 5.0
"""What an odd byte costs wherever it is."""


def line(size: int) -> float:
    """Nanoseconds of a message of so many bytes."""
    return 1000 + 0.1 * size


def around(extra_ns: float, noise: float = 0.0, seed: int = 1) -> list[Eager]:
    """Probes of all launches: messages above the limit take longer, and so do odd ones everywhere.

    The curve is concave, as that of a library that copies ever larger messages faster.
    """
    luck = np.random.default_rng(seed)
    sizes = (LIMIT, LIMIT + 1, LIMIT - 8, LIMIT - 7)

    def samples(size: int, speed: float) -> tuple[int, ...]:
        one_ns = (300 + size / 12 + 5 * size**0.5 + ODD_NS * (size % 2) + extra_ns * (size > LIMIT)) * speed
        return tuple(round(2 * one_ns * float(np.exp(luck.normal(0, noise)))) for _ in range(21))

    found = []
    for launch in LAUNCHES:
        speed = float(np.exp(luck.normal(0, 0.1)))
        crossing = CrossingSamples(*(samples(size, speed) for size in sizes))
        found.append(replace(eager(LIMIT), launch=launch, crossing=crossing))
    return found


def limit_of(probes: list[Eager]) -> tuple[EagerLimit, str]:
    """The only limit that is found, and what is said of it."""
    evidence = told_of({cell(size=8): 1000.0, probes[0].cell: 0.0}, *probes)
    (fact,) = facts(eager_limits, evidence)
    return fact, sentence("eager-limit", fact, evidence)


@pytest.mark.parametrize("extra_ns", [300.0, 2000.0])
def test_the_cost_of_crossing_is_what_was_planted(extra_ns: float) -> None:
    fact, said = limit_of(around(extra_ns, noise=0.01))
    assert fact.crossing is not None
    assert (fact.crossing.below_bytes, fact.crossing.above_bytes) == (LIMIT, LIMIT + 1)
    assert fact.crossing.low_s * 1e9 < extra_ns < fact.crossing.high_s * 1e9
    assert fact.launches == len(LAUNCHES)
    assert fact.crossing.odd_byte_s * 1e9 == pytest.approx(ODD_NS, abs=3)
    costs = time(fact.crossing.extra_s, fact.crossing.low_s, fact.crossing.high_s)
    assert said == f"the eager limit is 2500 B; crossing it costs {costs}"


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_smooth_curve_with_dear_odd_bytes_says_nothing_of_crossing(noise: float) -> None:
    fact, said = limit_of(around(0.0, noise))
    assert fact.crossing is not None
    assert not fact.crossing.matters
    assert said == "the eager limit is 2500 B"


def test_a_difference_within_the_margin_says_nothing_of_crossing() -> None:
    fact, said = limit_of(around(0.02 * 758))
    assert fact.crossing is not None
    assert fact.crossing.extra_s > 0
    assert said == "the eager limit is 2500 B"


def test_a_library_that_is_faster_above_is_said_to_be() -> None:
    _, said = limit_of(around(-200.0))
    assert said.startswith("the eager limit is 2500 B; one byte more takes ")
    assert said.endswith(" less")


def test_files_without_messages_around_the_limit_name_it_and_no_cost() -> None:
    """Whatever the curve shows between the sizes that were measured."""
    times = {cell(size=size): line(size) + 500 * (size > LIMIT) for size in (8, 512, 1024, 2048, 4096)}
    probes = [replace(eager(LIMIT), launch=launch) for launch in LAUNCHES]
    evidence = told_of({**times, probes[0].cell: 0.0}, *probes)
    (fact,) = facts(eager_limits, evidence)
    assert fact.crossing is None
    assert sentence("eager-limit", fact, evidence) == "the eager limit is 2500 B"


@pytest.mark.parametrize(
    ("differs", "values", "names"),
    [
        ("mpi_version", ("5.0.10", "5.0.11"), ("Open MPI 5.0.10", "Open MPI 5.0.11")),
        ("label", ("main", "pr"), ("main Open MPI 5.0.11", "pr Open MPI 5.0.11")),
        ("placement", ("same-core", "same-socket"), ("same-core", "same-socket")),
    ],
)
def test_limits_of_several_jobs_say_whose_they_are_where_nothing_was_timed_beside_them(
    differs: str, values: tuple[str, str], names: tuple[str, str]
) -> None:
    probes = [
        eager(limit, **{differs: value}) for limit, value in zip((LIMIT, 2 * LIMIT), values, strict=True)
    ]
    evidence = told_of({probe.cell: 0.0 for probe in probes}, *probes)
    said = [sentence("eager-limit", fact, evidence) for fact in facts(eager_limits, evidence)]
    assert said == [
        f"{name}: the eager limit is {limit} B" for name, limit in zip(names, (LIMIT, 2 * LIMIT), strict=True)
    ]


def test_launches_with_another_limit_do_not_count() -> None:
    probes = around(300.0)
    other = [replace(one, limit_bytes=LIMIT + 4) for one in probes[:2]]
    fact, _ = limit_of([*other, *probes[2:]])
    assert fact.crossing is not None
    assert fact.crossing.launches == len(LAUNCHES) - 2


@pytest.mark.truth
def test_the_interval_holds_what_was_planted_in_ninety_of_a_hundred() -> None:
    held = 0
    for seed in range(100):
        fact, _ = limit_of(around(400.0, noise=0.02, seed=seed))
        assert fact.crossing is not None
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
    assert "above it 2 of 3 sizes would deadlock" in sentence("eager-limit", fact, evidence)


def test_sizes_are_counted_once_on_a_machine_of_two_states() -> None:
    sizes = [cell("exchange", size, "blocking") for size in (8, 1024)]
    evidence = told_of(dict.fromkeys(sizes, 1000.0) | {cell("eager", 2**22): 0.0}, eager(LIMIT))
    twice = [*evidence.rows, *(with_fields(row, state="far") for row in evidence.rows if row.cell in sizes)]
    (fact,) = facts(eager_limits, Evidence(evidence.result, twice))
    assert (fact.blocked, fact.of) == (0, 2)
