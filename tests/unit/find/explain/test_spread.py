"""How far single operations lie apart: a spread that was put in is found, and whose it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.spread import Spread, SpreadBeside, sentence, spreads
from mpigauge.find.fact import launches_of
from mpigauge.rows.rows import rows
from tests.made import cell
from tests.unit.find.explain.informative import facts
from tests.unit.find.explain.made_evidence import evidence, varied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mpigauge.plan.model import Cell
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.interval import Number

SIZES = (8, 1024, 65536)
SAMPLES = 100
STEP_NS = 1000
QUARTILE = 0.6745
"""Of a normal distribution, in standard deviations."""


def lognormal(spreads: Mapping[str, float], middle_ns: float = 1e5) -> Callable[[Cell, int], list[int]]:
    """Round trips whose logarithm has a standard deviation by place and mode, other ones in every launch."""

    def samples_ns(of: Cell, launch: int) -> list[int]:
        spread = spreads[f"{of.placement} {of.mode}"]
        random = np.random.default_rng([launch, of.bytes, len(of.placement), len(of.mode)])
        effect = 0.02 * random.standard_normal()
        times = middle_ns * np.exp(effect + spread * random.standard_normal(SAMPLES))
        return [round(one) for one in times]

    return samples_ns


def quartiles_of(spread: float) -> float:
    """Their distance over the median, of a lognormal distribution."""
    return 2 * math.sinh(QUARTILE * spread)


def covers(of: Number | Ratio, truth: float) -> bool:
    return of.low is not None and of.high is not None and of.low < truth < of.high


def single(found: Evidence) -> list[Spread]:
    return [fact for fact in spreads(found) if isinstance(fact, Spread)]


def beside(found: Evidence) -> list[SpreadBeside]:
    return [fact for fact in spreads(found) if isinstance(fact, SpreadBeside)]


NEAR = {"placement": "h1,h2"}
FAR = {"placement": "h1,h3"}


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.3])
def test_the_spread_within_a_launch_is_found_whatever_launches_do(spread: float) -> None:
    cells = [cell(size=size) for size in SIZES]
    (fact,) = single(evidence(cells, lognormal({"same-host standard": spread})))
    truth = quartiles_of(spread)
    assert fact.quartiles.estimate == pytest.approx(truth, rel=0.15)
    assert covers(fact.quartiles, truth)
    assert (fact.sizes, launches_of(fact), fact.batch) == (3, 6, 1)


@pytest.mark.parametrize(("spread", "told"), [(0.0, False), (0.005, False), (0.1, True)])
def test_a_coarse_clock_makes_no_spread(spread: float, told: bool) -> None:
    """Of samples of 100 steps of it: what lies less than three apart may be the clock's alone."""
    by_law = lognormal({"same-host standard": spread})
    cells = [cell(size=size) for size in SIZES]
    found = evidence(cells, lambda of, launch: [STEP_NS * round(one / STEP_NS) for one in by_law(of, launch)])
    found.result.launches[:] = [
        replace(one, ranks_at=tuple(replace(at, clock_step_ns=STEP_NS) for at in one.ranks_at))
        for one in found.result.launches
    ]
    assert bool(facts(spreads, Evidence(found.result, rows(found.result)))) == told


def test_the_time_is_known_better_than_its_messages_vary() -> None:
    cells = [cell(size=size) for size in SIZES]
    found = evidence(cells, lognormal({"same-host standard": 0.3}))
    (fact,) = single(found)
    assert fact.half_width is not None
    assert fact.half_width < fact.quartiles.estimate / 2
    text = sentence(fact, varied(found))
    assert text.startswith("pingpong: single messages vary by 4")
    assert "median of 3 sizes" in text
    assert "the time itself is known to ±" in text


def test_a_deviation_that_one_sample_in_a_hundred_makes_is_told_with_and_without_it() -> None:
    usual = lognormal({"same-host standard": 0.05})

    def samples_ns(of: Cell, launch: int) -> list[int]:
        times = usual(of, launch)
        return [*times[:-1], 300 * times[-1]] if of.bytes == SIZES[1] else times

    found = evidence([cell(size=size) for size in SIZES], samples_ns)
    (fact,) = single(found)
    assert fact.deviation.bytes == SIZES[1]
    assert fact.deviation.over_mean > 1
    assert fact.deviation.rest == pytest.approx(0.05, rel=0.5)
    assert (fact.deviation.slowest, fact.deviation.samples) == (6, 600)
    text = sentence(fact, varied(found))
    assert "times the mean, but" in text
    assert "without the slowest 6 of 600 samples" in text


def test_an_even_deviation_is_not_blamed_on_the_slowest() -> None:
    found = evidence([cell(size=size) for size in SIZES], lognormal({"same-host standard": 0.2}))
    (fact,) = single(found)
    assert "of the mean" in sentence(fact, varied(found))
    assert "without the slowest" not in sentence(fact, varied(found))


def test_batches_are_no_single_messages() -> None:
    cells = [cell(size=size) for size in SIZES]
    usual = lognormal({"same-host standard": 0.1})
    found = evidence(
        cells, usual, of=lambda one: replace(one, batch=16) if one.cell.bytes == SIZES[0] else one
    )
    (fact,) = single(found)
    assert (fact.sizes, fact.batched, fact.of.cell.bytes) == (2, (SIZES[0],), SIZES[1])
    assert "1 more size timed in batches" in sentence(fact, varied(found))


def test_where_all_are_batches_it_says_so() -> None:
    found = evidence(
        [cell(size=size) for size in SIZES],
        lognormal({"same-host standard": 0.1}),
        of=lambda one: replace(one, batch=16),
    )
    (fact,) = single(found)
    assert (fact.batch, fact.batched) == (16, ())
    assert "means of up to 16 messages, which vary less than single ones, vary by" in sentence(
        fact, varied(found)
    )


@pytest.mark.parametrize("times_wider", [0.33, 3.0])
def test_a_place_that_varies_otherwise_is_told(times_wider: float) -> None:
    cells = [cell(size=size, **place) for place in (NEAR, FAR) for size in SIZES]
    spreads = {"h1,h2 standard": 0.06, "h1,h3 standard": 0.06 * times_wider}
    found = evidence(cells, lognormal(spreads))
    (fact,) = beside(found)
    wide = {place: quartiles_of(spreads[f"{place} standard"]) for place in ("h1,h2", "h1,h3")}
    assert covers(fact.ratio, wide[fact.other.placement] / wide[fact.base.cell.placement])
    text = sentence(fact, varied(found))
    assert f"as far apart over {fact.other.placement} as over {fact.base.cell.placement}: " in text
    assert "(median of 3 common sizes)" in text


def test_a_slow_place_that_varies_as_much_in_proportion_varies_more() -> None:
    """Five times as far apart is five times as much, if it takes five times as long or not."""
    usual = lognormal({"h1,h2 standard": 0.1, "h1,h3 standard": 0.1})

    def samples_ns(of: Cell, launch: int) -> list[int]:
        return [one * (5 if of.placement == "h1,h3" else 1) for one in usual(of, launch)]

    cells = [cell(size=size, **place) for place in (NEAR, FAR) for size in SIZES]
    (fact,) = beside(evidence(cells, samples_ns))
    assert covers(fact.ratio, 5.0)
    assert fact.base_share == pytest.approx(fact.other_share, rel=0.3)


def test_equal_spread_is_not_compared() -> None:
    cells = [cell(size=size, mode=mode) for mode in ("standard", "synchronous") for size in SIZES]
    spreads = {"same-host standard": 0.1, "same-host synchronous": 0.1}
    assert beside(evidence(cells, lognormal(spreads))) == []


def test_batches_are_not_compared_with_single_messages() -> None:
    cells = [cell(size=size, mode=mode) for mode in ("standard", "synchronous") for size in SIZES]
    found = evidence(
        cells,
        lognormal({"same-host standard": 0.3, "same-host synchronous": 0.05}),
        of=lambda one: replace(one, batch=9) if one.cell.mode == "synchronous" else one,
    )
    assert beside(found) == []


def test_few_samples_or_one_launch_say_nothing() -> None:
    cells = [cell(size=size) for size in SIZES]
    usual = lognormal({"same-host standard": 0.1})
    assert list(spreads(evidence(cells, lambda of, launch: usual(of, launch)[:10]))) == []
    assert list(spreads(evidence(cells, usual, launches=[1]))) == []


def test_a_clock_that_stands_still_shows_no_spread() -> None:
    assert single(evidence([cell()], lambda _of, _launch: 50 * [200])) == []
