"""How often the interval of a campaign holds what the next campaign of the same machine says."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.rows.rows import rows
from tests.made import campaign, cell, launch, result_of, visit
from tests.truth import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.stats.percentiles import Values

    Machine = Callable[[np.random.Generator], tuple[Values, Values]]

CELLS = [cell(size=8 * 2**place) for place in range(12)]
LAUNCHES, VISITS, BETWEEN = 9, 6, 20
PAIRS = 200
SPEEDS = np.array([1735.0, 1896.0])
MOMENTS = 2 * LAUNCHES + BETWEEN


def _still(_: np.random.Generator) -> tuple[Values, Values]:
    return np.zeros(MOMENTS), np.zeros(MOMENTS)


def _steps(chance: np.random.Generator) -> tuple[Values, Values]:
    """The machine goes to another level of 5 % about every other launch."""
    level, levels = chance.normal(0, 0.05), []
    for _ in range(MOMENTS):
        level = chance.normal(0, 0.05) if chance.random() < 0.5 else level
        levels.append(level)
    return np.array(levels), np.zeros(MOMENTS)


def _wandering(chance: np.random.Generator) -> tuple[Values, Values]:
    """Launches of 4 % are each like the one before, by .4."""
    levels = chance.normal(0, 0.04, MOMENTS)
    for place in range(1, MOMENTS):
        levels[place] = 0.4 * levels[place - 1] + math.sqrt(1 - 0.4**2) * levels[place]
    return levels, np.zeros(MOMENTS)


def _clock(chance: np.random.Generator) -> tuple[Values, Values]:
    """The cores are at the lower of two speeds for another share of the time in each campaign."""
    shares = np.repeat(chance.uniform(0.08, 0.92, 2), (LAUNCHES, MOMENTS - LAUNCHES))
    return np.zeros(MOMENTS), shares


MACHINES: dict[str, Machine] = {"still": _still, "steps": _steps, "wandering": _wandering, "clock": _clock}


def estimates_of(
    chance: np.random.Generator, levels: Values, slow: Values
) -> list[tuple[float, float, float]]:
    """Return each number with its ends, as logarithms, of a campaign; launches share most of what they do."""
    visits = []
    for number, (level, share) in enumerate(zip(levels, slow, strict=True), 1):
        shared = level + chance.normal(0, 0.03)
        for of in CELLS:
            own = shared + chance.normal(0, 0.01)
            for place in range(VISITS):
                speed = SPEEDS[int(chance.random() < share)]
                time = 20_000 * math.exp(own + chance.normal(0, 0.01)) * (speed / SPEEDS[0]) ** 0.8
                samples = (time * np.exp(chance.normal(0, 0.01, 7))).round().astype(int).tolist()
                visits.append(visit(number, place, of, samples, alu_ns=[float(speed)] * 2))
    result = result_of(campaign(*CELLS), *map(launch, range(1, len(levels) + 1)), *visits)
    times = [row.time for row in rows(result) if row.time is not None]
    return [
        (math.log(time.estimate), math.log(time.low or math.nan), math.log(time.high or math.nan))
        for time in times
    ]


def held_by_pairs(machine: str, pairs: int) -> float:
    """Return the share of numbers that intervals of the other campaign hold."""
    chance, held = np.random.default_rng(len(machine)), []
    for _ in range(pairs):
        levels, slow = MACHINES[machine](chance)
        one, other = (
            estimates_of(chance, levels[part], slow[part])
            for part in (slice(LAUNCHES), slice(MOMENTS - LAUNCHES, None))
        )
        for (centre, low, high), (centre_too, low_too, high_too) in zip(one, other, strict=True):
            held += [low <= centre_too <= high, low_too <= centre <= high_too]
    return fmean(held)


@pytest.mark.parametrize("machine", MACHINES)
def test_campaigns_of_one_machine_hardly_contradict_each_other(machine: str) -> None:
    assert held_by_pairs(machine, 4) > 0.5


@pytest.mark.truth
@pytest.mark.parametrize("machine", MACHINES)
def test_an_interval_holds_what_the_next_campaign_says(machine: str) -> None:
    """Both have an error, so that right intervals of 95 % hold in 83 % of the cases."""
    held = held_by_pairs(machine, PAIRS)
    check(f"{machine}: numbers of the next campaign that intervals hold", held, 0.75, 0.92)
