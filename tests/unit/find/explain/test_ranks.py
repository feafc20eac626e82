"""What the number of ranks does: planted growth is found, and named as a law only where that can be told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.ranks import growths, is_lap, sentence
from mpigauge.plan.patterns import known
from mpigauge.rows.rows import rows
from tests.made import ENVIRONMENT, campaign, cell, collective, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mpigauge.find.explain.ranks import Growth
    from mpigauge.plan.model import Cell

LAUNCHES = range(1, 9)
MANY_CORES = 64
FIRST_NS = 4000


def growth_of(
    cells: Iterable[Cell],
    time_ns: Callable[[Cell], float],
    *,
    cores: int = MANY_CORES,
    spread: float = 0.01,
    **more: object,
) -> list[Growth]:
    """What is found where each cell takes so long, give or take, in every launch."""
    random, cells = np.random.default_rng(5), list(cells)

    def samples(of: Cell, _launch: int) -> list[int]:
        return 30 * [round(time_ns(of) * math.exp(random.normal(0, spread)) * (1 if of.sync else 2))]

    first = replace(campaign(*cells), environment=replace(ENVIRONMENT, cores=cores))
    made = result_of(first, *measured(cells, LAUNCHES, samples, **more))
    return list(growths(Evidence(made, rows(made))))


def barriers(*counts: int) -> list[Cell]:
    return [collective("barrier", ranks=count) for count in counts]


def test_barrier_of_a_tree() -> None:
    (fact,) = growth_of(barriers(2, 4, 16), lambda of: FIRST_NS * math.log2(of.ranks))
    (at,) = fact.at
    assert at.fitting is not None
    assert at.fitting.ranks == 16
    assert at.law == "logarithmic"
    assert at.expected == pytest.approx(4)
    assert at.fitting.ratio is not None
    assert at.fitting.ratio.estimate == pytest.approx(4, rel=0.05)
    text = sentence(fact, {"ranks"})
    assert text.startswith("barrier: 2 ranks take ")
    assert ", as log2 p would (4.00 times)" in text
    assert "scheduler" not in text


def test_barrier_of_one_rank_that_tells_all() -> None:
    (fact,) = growth_of(barriers(2, 8), lambda of: FIRST_NS * (of.ranks - 1))
    assert fact.at[0].law == "linear"
    assert "as p \N{MINUS SIGN} 1 would (7.00 times)" in sentence(fact, {"ranks"})


@pytest.mark.parametrize(("growth", "spread"), [(5.0, 0.01), (3.0, 1.0)])
def test_no_law_is_named_that_the_interval_does_not_single_out(growth: float, spread: float) -> None:
    """One ratio is between both laws, the other is so uncertain that it agrees with both."""
    facts = growth_of(barriers(2, 8), lambda of: FIRST_NS * (growth if of.ranks > 2 else 1), spread=spread)
    assert facts[0].at[0].law is None
    assert "would" not in sentence(facts[0], {"ranks"})


def test_no_law_of_large_collectives() -> None:
    cells = [collective("allreduce", size, ranks=count) for count in (2, 8) for size in (8, 2**20)]
    (fact,) = growth_of(cells, lambda of: FIRST_NS * math.log2(of.ranks) * (of.bytes / 8))
    assert [at.bytes for at in fact.at] == [8, 2**20]
    assert [at.law for at in fact.at] == ["logarithmic", None]


def test_ranks_that_share_cores_are_told_apart() -> None:
    """They grow as a law does here, which is chance: nobody may say so."""
    (fact,) = growth_of(barriers(2, 4, 8, 16), lambda of: FIRST_NS * math.log2(of.ranks), cores=2)
    (at,) = fact.at
    assert at.fitting is None
    assert [one.ranks for one in at.crowded] == [4, 16]
    assert {one.cores for one in at.crowded} == {2}
    assert at.law is None
    text = sentence(fact, {"ranks"})
    assert "16 ranks on 2 cores" in text
    assert "beyond 2 ranks they also wait for the scheduler" in text
    assert "would" not in text


def test_fitting_and_crowded_side_by_side() -> None:
    (fact,) = growth_of(barriers(2, 4, 16), lambda of: FIRST_NS * of.ranks, cores=4)
    (at,) = fact.at
    assert at.fitting is not None
    assert at.fitting.ranks == 4
    assert [one.ranks for one in at.crowded] == [16]


def test_lap_grows_with_its_messages() -> None:
    cells = [cell("ring", size, ranks=count) for count in (2, 4, 8) for size in (8, 4096, 2**20)]
    (fact,) = growth_of(cells, lambda of: of.ranks * (500 + of.bytes / 10))
    assert fact.lap
    assert [at.bytes for at in fact.at] == [8, 2**20]
    assert [at.law for at in fact.at] == ["proportional", "proportional"]
    assert fact.at[0].fewest.message_s == pytest.approx(501e-9, rel=0.02)
    text = sentence(fact, {"ranks"})
    assert text.startswith("lap of ring: at 8 B 2 ranks take 999 ns")
    assert "ns a message" in text
    assert "as p would (4.00 times)" in text


@pytest.mark.parametrize(("growth", "word"), [(9.0, "more"), (2.0, "less")])
def test_lap_that_grows_otherwise(growth: float, word: str) -> None:
    cells = [cell("ring", 8, ranks=count) for count in (2, 8)]
    (fact,) = growth_of(cells, lambda of: FIRST_NS * (growth if of.ranks > 2 else 1))
    assert fact.at[0].law is None
    assert f", {word} than p would (4.00 times)" in sentence(fact, {"ranks"})


def test_start_skew_that_matters_is_said() -> None:
    cells = barriers(2, 8)
    for skew_ns, said in ((100, False), (2500, True)):
        (fact,) = growth_of(cells, lambda of: 1000.0 * of.ranks, skew_ns=30 * [skew_ns])
        assert ("(start skew 2.5" in sentence(fact, {"ranks"})) is said
    assert fact.at[0].fitting is not None
    assert fact.at[0].fitting.skew_share == pytest.approx(2500 / 8000, rel=0.05)


def test_nothing_of_one_number_of_ranks_or_one_rank() -> None:
    assert growth_of(barriers(4), lambda _: FIRST_NS) == []
    assert growth_of(barriers(1, 4), lambda _: FIRST_NS) == []
    assert growth_of([cell(ranks=count) for count in (2, 4)], lambda _: FIRST_NS) == []


def test_laps_are_those_that_describe_themselves_so() -> None:
    """A message at a time through all ranks; neither shifts, which all ranks do at once, nor collectives."""
    laps = [name for name, one in known().items() if is_lap(one, one.modes[0])]
    assert laps == ["ring"]
