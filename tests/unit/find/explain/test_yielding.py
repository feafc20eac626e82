"""Ranks that share cores and give way, or do not: found in two results and in one, of like things alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.yielding import sentence, yieldings
from mpigauge.rows.rows import rows
from tests.made import ENVIRONMENT, campaign, collective, launch, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.find.explain.yielding import Yielding
    from mpigauge.plan.model import Cell

LAUNCHES = range(1, 7)
YIELD = "OMPI_MCA_mpi_yield_when_idle"
WAYS = {"openmpi": {YIELD: "1"}, "mpich": {"MPIR_YIELD": "1", "MPIR_AFTER": "1"}}
CROWDED = collective("barrier", ranks=8)


def evidence_of(
    times_ns: Mapping[Cell, float], variables: Mapping[str, str], *, spread: float = 0.02, **machine: object
) -> Evidence:
    """A result of cells that take so long, in launches with these variables and those of their settings."""
    random = np.random.default_rng(3)

    def samples(of: Cell, _launch: int) -> list[int]:
        return 30 * [round(times_ns[of] * math.exp(random.normal(0, spread)))]

    first = replace(campaign(*times_ns), environment=replace(ENVIRONMENT, **machine))
    set_by = {of.job: dict([of.setting.split("=")]) if of.setting else {} for of in times_ns}
    launches = [
        replace(launch(number, job=job), variables={**variables, **own})
        for number in LAUNCHES
        for job, own in set_by.items()
    ]
    made = result_of(first, *launches, *measured(list(times_ns), LAUNCHES, samples))
    return Evidence(made, rows(made), WAYS)


TOLD = evidence_of({CROWDED: 50_000}, {YIELD: "1"})


def found(*evidences: Evidence) -> list[Yielding]:
    return list(yieldings(evidences))


def test_two_results() -> None:
    (fact,) = found(TOLD, evidence_of({CROWDED: 30_000_000}, {YIELD: "0"}))
    (at,) = fact.at
    assert (fact.results, fact.cores, fact.untold) == ((0, 1), 2, ((YIELD, "0"),))
    assert at.verdict == "slower"
    assert at.ratio.estimate == pytest.approx(600, rel=0.05)
    assert not at.ratio.paired
    text = sentence(fact, set())
    assert text.startswith(f"barrier, 8 ranks on 2 cores: not told to give way while they wait ({YIELD}=0)")
    assert "slower: 59" in text or "slower: 60" in text
    assert " ms for " in text
    assert "polls" in text


def test_the_order_of_the_results_does_not_matter() -> None:
    (fact,) = found(evidence_of({CROWDED: 30_000_000}, {YIELD: "0"}), TOLD)
    assert fact.results == (1, 0)
    assert fact.at[0].verdict == "slower"


def test_two_settings_of_one_result_are_paired() -> None:
    cells = {replace(CROWDED, setting=f"{YIELD}={value}"): time for value, time in (("0", 9e6), ("1", 9e4))}
    (fact,) = found(evidence_of(cells, {}))
    assert fact.results == (0, 0)
    assert fact.at[0].ratio.paired
    assert fact.at[0].ratio.estimate == pytest.approx(100, rel=0.05)


def test_a_library_that_gives_way_by_itself() -> None:
    """Then the variable makes no difference, and nobody says why it does."""
    (fact,) = found(TOLD, evidence_of({CROWDED: 50_000}, {}, spread=0.001))
    text = sentence(fact, set())
    assert fact.at[0].verdict in {"same", "undecided"}
    assert f"{YIELD} unset" in text
    assert "polls" not in text


def test_the_smallest_and_the_largest_size() -> None:
    sizes = [collective("allreduce", size, ranks=8) for size in (8, 512, 4096)]
    told = evidence_of(dict.fromkeys(sizes, 40_000), {YIELD: "1"})
    (fact,) = found(told, evidence_of(dict.fromkeys(sizes, 80_000), {YIELD: "0"}))
    assert [at.bytes for at in fact.at] == [8, 4096]
    assert "slower at 4 KiB: " in sentence(fact, set())


@pytest.mark.parametrize(
    "other",
    [
        evidence_of({CROWDED: 90_000}, {YIELD: "1"}),
        evidence_of({CROWDED: 90_000}, {YIELD: "0"}, host="elsewhere"),
        evidence_of({CROWDED: 90_000}, {YIELD: "0"}, cores=3),
        evidence_of({CROWDED: 90_000}, {YIELD: "0", "OMPI_MCA_btl": "tcp,self"}),
        evidence_of({collective("barrier", ranks=4): 90_000}, {YIELD: "0"}),
        evidence_of({collective("barrier", ranks=8, mpi="mpich"): 90_000}, {}),
    ],
    ids=[
        "same variable",
        "another machine",
        "other cores",
        "another variable",
        "fewer ranks",
        "another library",
    ],
)
def test_what_is_unlike_in_anything_else_is_not_compared(other: Evidence) -> None:
    assert found(TOLD, other) == []


def test_ranks_with_a_core_each_need_not_give_way() -> None:
    few = collective("barrier")
    assert found(evidence_of({few: 500}, {YIELD: "1"}), evidence_of({few: 900}, {YIELD: "0"})) == []


def test_what_a_library_reads_that_is_not_this_one_does_not_matter() -> None:
    (fact,) = found(TOLD, evidence_of({CROWDED: 90_000}, {YIELD: "0", "MPIR_YIELD": "0"}))
    assert fact.untold == ((YIELD, "0"),)
