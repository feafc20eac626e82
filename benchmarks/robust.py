"""Whether numbers and verdicts hold where one launch in ten is odd, simulated: beside another version, too.

    python benchmarks/robust.py [PART ...] [--share 1] [--before DIR]

Launches are simulated, none is made: logarithms of times go through the interval of tables and through the
whole comparison, without samples and files. `--before DIR` takes another version's `src`, which judges the
same draws; where it says otherwise, a number reads "before → now". `--share` makes so many times the
repetitions.

Of a comparison, 30 % of the variance of a launch is shared by its sizes. An odd launch takes 1.5 times as
long: of either side 5 % are odd, all sizes at once ("whole") or each by itself ("single").
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from chance import row_of

from mpigauge.compare.comparison import compare
from mpigauge.compare.interim_looks import level_of, looks_of
from mpigauge.compare.sides import pairs_between, pairs_by
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.rows.machine.serial_correlation import widening_of
from mpigauge.stats import interval
from mpigauge.stats.decision import Thresholds
from mpigauge.stats.limits import ENOUGH_LAUNCHES, PROMISED
from mpigauge.vocabulary import PASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from mpigauge.compare.comparison import Comparison

    Logs = npt.NDArray[np.floating]
    Chance = np.random.Generator
    Distribution = Callable[[Chance, tuple[int, ...]], Logs]
    Row = tuple[str, ...]

ODD = float(np.log(1.5))
ODD_SHARE = 0.05
SHARED = 0.3
"""Share of a launch's variance that all its sizes have in common."""

SIZES = 20
POPULATION = 400_000
"""Draws of which the centre is the true one."""


def steady(chance: Chance, shape: tuple[int, ...]) -> Logs:
    """Return normal launches of 1 %."""
    return chance.normal(0, 0.01, shape)


def rarely_slow(chance: Chance, shape: tuple[int, ...]) -> Logs:
    """Return the same, of which 5 % take 1.5 times as long."""
    return steady(chance, shape) + ODD * (chance.random(shape) < ODD_SHARE)


def two_states(far: float, chance: Chance, shape: tuple[int, ...]) -> Logs:
    """Return launches of two states, 1.35 times apart; a share of them far."""
    return steady(chance, shape) + 0.3 * (chance.random(shape) < far)


def remembering(chance: Chance, shape: tuple[int, ...]) -> Logs:
    """Return launches of 5 % in their order along the last axis, each like the one before: by .7."""
    found = chance.normal(0, 0.05, shape)
    for at in range(1, shape[-1]):
        found[..., at] = 0.7 * found[..., at - 1] + np.sqrt(1 - 0.7**2) * found[..., at]
    return found


DISTRIBUTIONS: dict[str, Distribution] = {
    "normal 5 %": lambda chance, shape: chance.normal(0, 0.05, shape),
    "exponential 5 %": lambda chance, shape: 0.05 * chance.exponential(1, shape),
    "lognormal(1) 5 %": lambda chance, shape: 0.05 * np.exp(chance.normal(0, 1, shape)),
    "two states 70:30": partial(two_states, 0.3),
    "two states 90:10": partial(two_states, 0.1),
    "t, 3 degrees, 3 %": lambda chance, shape: 0.03 * chance.standard_t(3, shape),
    "autoregression .7": remembering,
    "1 %, 5 % × 1.5": rarely_slow,
}

SHAPES: dict[str, Distribution] = {
    "normal": lambda chance, shape: chance.normal(0, 1, shape),
    "exponential": lambda chance, shape: chance.exponential(1, shape) - 1,
    "t, 3 degrees": lambda chance, shape: chance.standard_t(3, shape) / np.sqrt(3),
    "two states 70:30": lambda chance, shape: ((chance.random(shape) < 0.3) - 0.3) / np.sqrt(0.21),
    "two states 90:10": lambda chance, shape: ((chance.random(shape) < 0.1) - 0.1) / 0.3,
}
"""Distributions of mean 0 and deviation 1."""


def interval_of(logs: Logs) -> tuple[float, float, float]:
    """Return centre and ends as logarithms, as tables have them: of this version, or of one before."""
    times = np.exp(logs)
    if hasattr(interval, "interval_of"):
        found = interval.interval_of(times).ends
    else:
        found = vars(interval)["launch_interval"](times)
    centre, low, high = np.log(np.array(found[:3], dtype=float))
    return float(centre), float(low), float(high)


def centre_of(distribution: Distribution, launches: int) -> float:
    """Return the true value of what an interval of so many launches is about: their mean or their median."""
    probe = np.zeros(launches)
    probe[-1] = 1.0
    is_mean = np.isclose(interval_of(probe)[0], 1 / launches)
    drawn = distribution(np.random.default_rng(0), (POPULATION,))
    return float(drawn.mean() if is_mean else np.median(drawn))


def intervals(share: float) -> Iterator[Row]:
    """Yield how often intervals hold, and half their mean length, in %."""
    yield ("launches", *DISTRIBUTIONS)
    for launches in (2, 3, 5, 6, 8, 10, 15, 30):
        row = [f"{launches}"]
        for place, distribution in enumerate(DISTRIBUTIONS.values()):
            truth = 0.0 if distribution is remembering else centre_of(distribution, launches)
            drawn = distribution(np.random.default_rng((launches, place)), (_times(4000, share), launches))
            found = np.array([interval_of(one) for one in drawn]).T
            holds = np.mean((found[1] <= truth) & (truth <= found[2]))
            row.append(f"{_percent(holds)}, {50 * (found[2] - found[1]).mean():.2g}")
        yield tuple(row)


def odd_launch(share: float) -> Iterator[Row]:
    """Yield ± in %, its mean and 95 % point, of launches of 1 %."""
    yield "launches", "none odd", "one odd"
    for launches in (5, 6, 7, 8, 9, 10, 15, 30):
        drawn = steady(np.random.default_rng(launches), (_times(2000, share), launches))
        row = [f"{launches}"]
        for odd in (0.0, ODD):
            found = _width(np.array([interval_of(one + odd * (np.arange(launches) == 0)) for one in drawn]).T)
            row.append(f"{found.mean():.2g}, {np.quantile(found, 0.95):.2g}")
        yield tuple(row)


# ---- Whole campaigns -----------------------------------------------------------------------------

ROWS, ROWS_ASKED = 20, 4
"""Rows of a campaign, whose launches have most in common, and how many of them are held against the truth."""


def _alike(drawn: Logs, sd: float, chance: Chance) -> Logs:
    """Return rows that share a launch's effect, with noise of their own; shape ``(rows, launches)``."""
    return np.asarray(drawn[np.newaxis] + chance.normal(0, sd, (ROWS, drawn.size)))


def _correlated(r: float, launches: int, chance: Chance) -> Logs:
    """Return launches of 3 %, each like the one before by r."""
    found = chance.normal(0, 1, launches)
    for at in range(1, launches):
        found[at] = r * found[at - 1] + np.sqrt(1 - r**2) * found[at]
    return _alike(0.03 * found, 0.01, chance)


def _normal(launches: int, chance: Chance) -> Logs:
    shared, own = chance.normal(0, 1, (1, launches)), chance.normal(0, 1, (ROWS, launches))
    return np.asarray(0.02 * (np.sqrt(0.8) * shared + np.sqrt(0.2) * own))


def _lognormal(launches: int, chance: Chance) -> Logs:
    return np.asarray(0.05 * np.expm1(_normal(launches, chance) / 0.02))


def _exponential(launches: int, chance: Chance) -> Logs:
    return _alike(0.05 * (chance.exponential(1, launches) - np.log(2)), 0.002, chance)


def _of_two(share: float, apart: float, launches: int, chance: Chance) -> Logs:
    """Return launches of 1 %, a share of them longer; the median of all is 0."""
    drawn = np.random.default_rng(1).normal(0, 0.01, POPULATION)
    drawn += apart * (np.random.default_rng(2).random(POPULATION) < share)
    return _alike(apart * (chance.random(launches) < share), 0.01, chance) - np.median(drawn)


def _drifting(launches: int, chance: Chance) -> Logs:
    """Return launches that take 5 % longer at last; right is what they take in the middle."""
    return _alike(0.05 * (np.arange(launches) / (launches - 1) - 0.5), 0.01, chance)


CAMPAIGNS: dict[str, Callable[[int, Chance], Logs]] = {
    "normal 2 %": _normal,
    "lognormal(1) 5 %": _lognormal,
    "exponential 5 %": _exponential,
    "two states 30:70, 10 % apart": partial(_of_two, 0.3, 0.1),
    "1 %, 5 % × 1.5": partial(_of_two, 0.05, ODD),
    "1 %, 10 % × 1.5": partial(_of_two, 0.1, ODD),
    "drift of 5 %": _drifting,
    "r = .5": partial(_correlated, 0.5),
    "r = .7": partial(_correlated, 0.7),
    "r = .9": partial(_correlated, 0.9),
}


def of_campaign(rows: Logs) -> Iterator[Logs]:
    """Yield centre and ends of the first rows of a campaign, widened as tables are for its correlation."""
    times = np.exp(rows)
    widening = widening_of(dict(enumerate(one)) for one in times)
    for one in times[:ROWS_ASKED]:
        yield np.log(np.array(interval.interval_of(one, instrument=PROMISED, widening=widening), dtype=float))


def campaigns(share: float) -> Iterator[Row]:
    """Yield how often intervals of a campaign hold, in %, and the middle ±, widened for its correlation."""
    yield ("launches", *CAMPAIGNS)
    for launches in (6, 9, 14, 30):
        row = [f"{launches}"]
        for place, drawn in enumerate(CAMPAIGNS.values()):
            chance = np.random.default_rng((launches, place))
            sets = (drawn(launches, chance) for _ in range(_times(4000, share)))
            found = np.array([one for rows in sets for one in of_campaign(rows)]).T
            holds = np.mean((found[1] <= 0) & (found[2] >= 0))
            row.append(f"{_percent(holds)}, {np.median(_width(found)):.2g}")
        yield tuple(row)


def step(share: float) -> Iterator[Row]:
    """Yield ± of 14 launches of 1 % with one step of 10 %, median and 95 % point, in %."""
    yield "launches before it", "\N{PLUS-MINUS SIGN}, median", "95 % point"
    for before in (4, 7, 8, 10, 12):
        chance = np.random.default_rng(before)
        sets = (_alike(0.1 * (np.arange(14) >= before), 0.01, chance) for _ in range(_times(1000, share)))
        found = _width(np.array([one for rows in sets for one in of_campaign(rows)]).T)
        yield f"{before}", f"{np.median(found):.2g}", f"{np.quantile(found, 0.95):.2g}"


STOPPED_SHAPES: dict[str, Distribution] = {
    "normal 2 %": lambda chance, shape: chance.normal(0, 0.02, shape),
    "normal 3 %": lambda chance, shape: chance.normal(0, 0.03, shape),
    "normal 5 %": lambda chance, shape: chance.normal(0, 0.05, shape),
    "exponential 3 %": lambda chance, shape: 0.03 * chance.exponential(1, shape),
    "lognormal(1) 3 %": lambda chance, shape: 0.03 * np.exp(chance.normal(0, 1, shape)),
    "t, 3 degrees, 3 %": lambda chance, shape: 0.03 * chance.standard_t(3, shape),
    "two states 10:90, 20 % apart": lambda chance, shape: (
        steady(chance, shape) + 0.2 * (chance.random(shape) < 0.1)
    ),
    "two states 30:70, 20 % apart": lambda chance, shape: (
        steady(chance, shape) + 0.2 * (chance.random(shape) < 0.3)
    ),
    "1 %, 5 % × 1.5": rarely_slow,
}


def stopping(share: float) -> Iterator[Row]:
    """Yield how often intervals of campaigns hold that stop as soon as they are precise to 3 %, from 6 on."""
    yield "launches", "hold, %", "launches, mean"
    for place, (name, drawn) in enumerate(STOPPED_SHAPES.items()):
        chance = np.random.default_rng(place)
        right = float(np.median(drawn(np.random.default_rng(0), (POPULATION,))))
        held, made = [], []
        for _ in range(_times(4000, share)):
            times = np.exp(drawn(chance, (30,)))
            for count in range(ENOUGH_LAUNCHES, 31):
                widening = widening_of([dict(enumerate(times[:count]))])
                alone = interval.interval_of(times[:count], widening=widening).precision
                if alone is not None and alone <= 0.03:
                    break
            found = interval.interval_of(times[:count], instrument=PROMISED, widening=widening)
            _, low, high = np.log(np.array(found, dtype=float))
            held.append(low <= right <= high)
            made.append(count)
        yield name, _percent(np.mean(held)), f"{np.mean(made):.0f}"


@dataclass(frozen=True)
class World:
    """Two sides whose launches are drawn.

    Attributes:
        spread: Standard deviation of log t of launches of the first side, and of the second.
        odd: Kind of odd launches: "none", "whole" or "single".
        shape: Distribution of launches, of `SHAPES`.
        sizes: Number of sizes of each side.
    """

    spread: tuple[float, float] = (0.01, 0.01)
    odd: str = "none"
    shape: str = "normal"
    sizes: int = SIZES

    def side(self, chance: Chance, launches: int, which: int = 0) -> Logs:
        """Return logarithms of times, shape ``(launches, sizes)``."""
        drawn = SHAPES[self.shape]
        own = drawn(chance, (launches, self.sizes))
        logs = np.sqrt(SHARED) * drawn(chance, (launches, 1)) + np.sqrt(1 - SHARED) * own
        where = chance.random((launches, self.sizes if self.odd == "single" else 1)) < ODD_SHARE
        return np.asarray(self.spread[which] * logs + ODD * (where & (self.odd != "none")))


def judged(base: Logs, other: Logs, level: float = Thresholds().level, *, in_turn: bool = True) -> Comparison:
    """Return the whole comparison of two sides, in pairs or as two results."""
    rows = [
        row_of(
            Cell("pingpong", "standard", 8 * size, 2, "openmpi", "5.0", label=label),
            None,
            dict(enumerate(1e-6 * np.exp(times), 1)),
        )
        for label, side in (("a", base), ("b", other))
        for size, times in enumerate(side.T, 1)
    ]
    half = base.shape[1]
    pairs = pairs_by(rows, "label") if in_turn else pairs_between(rows[:half], rows[half:])
    return compare(pairs, Thresholds(level=level), controlled=False)


@dataclass
class Tally:
    """Words over repetitions, of sizes that are slower in truth and of those that are not.

    Attributes:
        found: Shares of the former called slower.
        named: Whether anything is slower.
        slower: Whether one of the latter was called slower.
        faster: Whether one of them was called faster.
        contained: Whether all intervals hold.
        passes: Whether the whole passes.
    """

    found: list[float]
    named: list[bool]
    slower: list[bool]
    faster: list[bool]
    contained: list[bool]
    passes: list[bool]

    @classmethod
    def of(cls, comparisons: Iterator[Comparison], truth: Logs) -> Tally:
        """Return that of some comparisons, with the true difference of each size as a logarithm."""
        tally = cls([], [], [], [], [], [])
        for one in comparisons:
            tally.add(one, truth)
        return tally

    def add(self, one: Comparison, truth: Logs) -> None:
        """Count one more."""
        decided = [cell.decision for cell in one.cells if cell.decision is not None]
        words = np.array([decision.verdict for decision in decided])
        ends = np.log([(decision.low, decision.high) for decision in decided])
        self.found.append(float(np.mean(words[truth > 0] == "slower")) if truth.any() else 0.0)
        self.named.append(one.verdict == "slower")
        self.slower.append("slower" in words[truth == 0])
        self.faster.append("faster" in words[truth == 0])
        self.contained.append(bool(np.all((ends[:, 0] <= truth) & (truth <= ends[:, 1]))))
        self.passes.append(one.verdict in PASSES)

    @property
    def wrong(self) -> str:
        """The share of repetitions with a false word, slower / faster, in %."""
        return f"{100 * np.mean(self.slower):.1f} / {100 * np.mean(self.faster):.1f}"


def tally(
    world: World, launches: tuple[int, int], slowdown: Logs, times: int, level: float = Thresholds().level
) -> Tally:
    """Return what is said of draws of a world; in pairs if both sides have as many launches.

    Args:
        launches: Numbers of launches of the first and the second side.
        slowdown: Slowdown of each size of the second side, as a logarithm.
    """

    def comparisons() -> Iterator[Comparison]:
        for number in range(times):
            chance = np.random.default_rng((*launches, world.sizes, number))
            base, other = (world.side(chance, launches[which], which) for which in (0, 1))
            yield judged(base, other + slowdown, level, in_turn=launches[0] == launches[1])

    return Tally.of(comparisons(), slowdown)


def planted(by: float, sizes: range) -> Logs:
    """Return a difference of some of the sizes, as logarithms."""
    found = np.zeros(SIZES)
    found[list(sizes)] = np.log1p(by)
    return found


PLAN = Plan((Measure("pingpong"),), until="decided", launches_max=30)
AT_LEVELS = (
    *((level, pairs) for level in (0.05, 0.025) for pairs in (5, 6, 8, 10, 20)),
    *((level_of(PLAN), pairs) for pairs in (*looks_of(PLAN)[:3], PLAN.launches_max)),
)
EQUAL = np.zeros(SIZES)


def paired(share: float) -> Iterator[Row]:
    """Yield what is found of + 10 % in 6 of 20 sizes, of + 5 % where launches vary more, and of equals."""
    kinds = ("none", "whole", "single")
    yield (
        "level",
        "pairs",
        *(f"1 %, odd {odd}: found" for odd in kinds),
        "3 %, + 5 %: found",
        "3 %, false words",
        *(f"equals, odd {odd}: pass" for odd in kinds),
    )
    last = range(SIZES - 6, SIZES)
    for level, pairs in AT_LEVELS:
        times, both = _times(100, share), (pairs, pairs)
        found = [tally(World(odd=odd), both, planted(0.10, last), times, level) for odd in kinds]
        varying = tally(World((0.03, 0.03)), both, planted(0.05, last), times, level)
        equals = [tally(World(odd=odd), both, EQUAL, times, level) for odd in kinds]
        yield (
            f"{level:.2g}",
            f"{pairs}",
            *(_percent(np.mean(one.found)) for one in (*found, varying)),
            varying.wrong,
            *(_percent(np.mean(one.passes)) for one in equals),
        )


def runs(share: float) -> Iterator[Row]:
    """Yield what is found of neighbouring sizes that are a little slower."""
    yield "deviation", "pairs", "slower", "sizes found", "comparison slower", "false words", "equals slower"
    for spread in (0.03, 0.05):
        for pairs in (7, 10, 20):
            world, both, times = World((spread, spread)), (pairs, pairs), _times(100, share)
            equals = tally(world, both, EQUAL, times)
            for by, count in ((0.03, 8), (0.04, 7), (0.05, 6)):
                one = tally(world, both, planted(by, range(6, 6 + count)), times)
                yield (
                    f"{100 * spread:g} %",
                    f"{pairs}",
                    f"{count} sizes, + {100 * by:g} %",
                    _percent(np.mean(one.found)),
                    _percent(np.mean(one.named)),
                    one.wrong,
                    f"{100 * np.mean(equals.named):.1f}",
                )


def apart(share: float) -> Iterator[Row]:
    """Yield what is said of two results, of which the first has 20 launches and the second fewer."""
    worlds = {
        "5 / 1 %": World((0.01, 0.05)),
        "3 / 1 %": World((0.01, 0.03)),
        "1 / 1 %, odd whole": World(odd="whole"),
        "1 / 1 %, odd single": World(odd="single"),
        "5 / 5 %, exponential": World((0.05, 0.05), shape="exponential"),
        "5 / 5 %, two states 90:10": World((0.05, 0.05), shape="two states 90:10"),
    }
    yield "deviation", "launches", *_words_of(5, 20), "6 of 20 sizes + 10 %: found"
    for name, world in worlds.items():
        for launches in (5, 8, 10, 15):
            row = [name, f"{launches}"]
            for sizes in (5, 20):
                sized = World(world.spread, world.odd, world.shape, sizes)
                one = tally(sized, (20, launches), np.zeros(sizes), _times(300, share))
                row += [one.wrong, _percent(np.mean(one.contained))]
            found = tally(world, (20, launches), planted(0.10, range(6)), _times(100, share)).found
            yield (*row, _percent(np.mean(found)))


def equals(share: float) -> Iterator[Row]:
    """Yield what is said of equals of all shapes, launches of 3 %."""
    yield "shape", "pairs", *_words_of(1, 20, 60)
    for shape in SHAPES:
        for pairs in (5, 6, 8, 10, 20):
            row = [shape, f"{pairs}"]
            for sizes in (1, 20, 60):
                world = World((0.03, 0.03), shape=shape, sizes=sizes)
                one = tally(world, (pairs, pairs), np.zeros(sizes), _times(100, share))
                row += [one.wrong, _percent(np.mean(one.contained))]
            yield tuple(row)


PARTS: dict[str, Callable[[float], Iterator[Row]]] = {
    "intervals": intervals,
    "odd-launch": odd_launch,
    "campaigns": campaigns,
    "step": step,
    "stopping": stopping,
    "paired": paired,
    "runs": runs,
    "apart": apart,
    "equals": equals,
}


def _words_of(*sizes: int) -> Iterator[str]:
    """Return the headings of comparisons, by number of sizes."""
    return (f"{count} sizes: {what}" for count in sizes for what in ("wrong words", "intervals hold"))


def _times(most: int, share: float) -> int:
    return max(2, round(most * share))


def _percent(share: float | np.floating) -> str:
    return f"{100 * share:.0f}"


def _width(found: Logs) -> Logs:
    """Return half the length of intervals in %; centres and ends have shape ``(3, intervals)``."""
    return np.asarray(100 * np.expm1((found[2] - found[1]) / 2))


def _of_another(source: Path, part: str, share: float) -> list[Sequence[str]]:
    """Return the same table by the code of another version."""
    call = [sys.executable, __file__, part, "--share", f"{share}", "--json"]
    environment = os.environ | {"PYTHONPATH": str(source)}
    output = subprocess.run(call, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def main() -> None:
    """Print a table for each part."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    options.add_argument("--share", type=float, default=1.0, help="so many times the repetitions")
    options.add_argument("--before", type=Path, metavar="DIR", help="another version's src")
    options.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    for part in arguments.parts or PARTS:
        table = PARTS[part](arguments.share)
        if arguments.json:
            for row in table:
                print(json.dumps(row), flush=True)
            continue
        before = _of_another(arguments.before, part, arguments.share) if arguments.before else None
        print(f"\n{(PARTS[part].__doc__ or '').removeprefix('Yield ')}\n")
        for place, row in enumerate(table):
            old = before[place] if before else row
            cells = (now if now == was else f"{was} → {now}" for was, now in zip(old, row, strict=True))
            print(f"| {' | '.join(cells)} |", flush=True)
            if not place:
                print(f"|{' --- |' * len(row)}")


if __name__ == "__main__":
    main()
