"""Whether the machine stayed as fast as it was, as arithmetic beside the visits tells, never samples."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.find.findings import doubts_of, findings_of, told
from mpigauge.find.foot import foot_of
from mpigauge.find.sessions import speeds_finding
from mpigauge.rows.machine.steadiness import (
    LEAST_VISITS,
    Steadiness,
    speeds_apart,
    steadiness_of,
    stolen_share,
)
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, launch, result_of, visit, written

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from tests.conftest import Cli

CELL = cell(size=8)


def visits_at(
    speeds_ns: list[float], each: int = 8, noise: float = 0.01, felt: float = 0.0, **more: object
) -> list[Visit]:
    """Launches in which the arithmetic takes so long, give or take some noise.

    Args:
        felt: How much messages follow it: 0 for always the same.
    """
    chance = np.random.default_rng(1)
    return [
        visit(
            number,
            place,
            CELL,
            [round(of * (speed / speeds_ns[0]) ** felt) for of in (200, 210, 190)],
            alu_ns=(speed * chance.normal(1, noise, 2)).tolist(),
            **more,
        )
        for number, speed in enumerate(speeds_ns, 1)
        for place in range(each)
    ]


def result_with(visits: list[Visit], cores: int = 2) -> Result:
    of = campaign(CELL)
    of = replace(of, environment=replace(of.environment, cores_online=cores))
    return result_of(of, *(launch(number) for number in sorted({one.launch for one in visits})), *visits)


def test_a_machine_that_stays_as_it_is_is_not_doubted() -> None:
    """Twenty results of thirty launches each, with noise of 1 % in every reading."""
    for _ in range(20):
        seen = steadiness_of(result_with(visits_at([2000.0] * 30)))
        assert seen.steady
        assert seen.ratio == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("factor", [1.1, 1.5])
def test_one_slower_launch_is_enough(factor: float) -> None:
    result = result_with(visits_at([2000.0] * 9 + [2000.0 * factor], felt=1.0))
    seen = steadiness_of(result)
    assert seen.changes
    assert seen.ratio == pytest.approx(factor, rel=0.02)
    assert seen.middle_s == pytest.approx(2e-6, rel=0.01)
    (doubt,) = (one for one in doubts_of(result, rows(result)) if one.kind == "unsteady-machine")
    assert "slower than the fastest" in doubt.line
    (found,) = (one for one in told(findings_of(result, rows(result))) if one.kind == "unsteady-machine")
    assert found.value["ratio"] == seen.ratio
    assert found.text in {line.text for line in foot_of(result, rows(result))}


def test_a_launch_of_few_visits_tells_nothing() -> None:
    few = visits_at([2000.0, 9000.0], each=LEAST_VISITS - 1)
    assert steadiness_of(result_with(few)) == Steadiness()


def test_what_is_stolen_is_of_the_time_of_all_cores() -> None:
    """3 ms of each visit of 100 ms on each of two cores: of 64 cores, that is little."""
    visits = visits_at([2000.0] * 5, steal_ns=6_000_000)
    assert stolen_share(visits, 2) == pytest.approx(0.03)
    assert steadiness_of(result_with(visits)).has_steal
    assert steadiness_of(result_with(visits, cores=64)).steady


def test_what_is_not_known_is_no_doubt() -> None:
    old = [visit(number, 0, CELL, [200, 210]) for number in (1, 2, 3)]
    seen = steadiness_of(result_with(old))
    assert (seen.middle_s, seen.ratio, seen.stolen_share, seen.steady) == (None, None, None, True)


def test_results_of_one_machine_say_in_which_it_was_slower() -> None:
    fast, slow, same = (result_with(visits_at([speed] * 5)) for speed in (2000.0, 2300.0, 2010.0))
    fact = speeds_apart([slow, fast, same])
    assert fact is not None
    assert (fact.slow, fact.fast) == (0, 1)
    assert fact.ratio == pytest.approx(1.15, rel=0.02)
    assert "1.1" in speeds_finding(fact, ["a", "b", "c"]).text
    assert speeds_apart([fast, same]) is None
    other = replace(slow.campaign.environment, host="another")
    elsewhere = dataclasses.replace(slow, campaign=replace(slow.campaign, environment=other))
    assert speeds_apart([fast, elsewhere]) is None


def test_side_by_side_it_stands_below(machine: Path, cli: Cli) -> None:
    for name, speed in (("a", 2000.0), ("b", 2400.0)):
        visits = visits_at([speed] * 5, noise=0)
        written(f"{name}.jsonl", campaign(CELL), *(launch(n) for n in range(1, 6)), *visits)
    for words in ((), ("--table", "latency")):
        shown = cli("show", "a.jsonl", "b.jsonl", *words)
        assert "machine 1.20 times as slow in b as in a" in shown.out, shown.err
        said = json.loads(cli("show", "a.jsonl", "b.jsonl", *words, "--format", "json").out)
        (found,) = (one for one in said["findings"] if one["kind"] == "speeds-apart")
        assert found["value"]["ratio"] == pytest.approx(1.2, rel=0.02)


# ---- A limit of processor time -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "times"),
    [((0, 40, 90), 90), ((1000, 1040, 1090), 90), ((7, 7, 7), 0), ((5, 5, 6), 0), ((None, None, None), 0)],
)
def test_ranks_that_a_limit_stops_are_doubted(counts: tuple[int | None, ...], times: int) -> None:
    """Only what the count grows by is ours; once in three launches is not worth a word."""
    launches = [replace(launch(number), throttled=count) for number, count in enumerate(counts, 1)]
    result = result_of(campaign(CELL), *launches, *visits_at([2000.0] * 3))
    found = [one for one in doubts_of(result, rows(result)) if one.kind == "throttled"]
    assert [one.fact.times for one in found] == ([times] if times else [])
