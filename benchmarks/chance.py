"""How often `mpigauge compare` calls equals slower, simulated: at one look, and at any until it is decided.

    python benchmarks/chance.py [CAMPAIGNS]

A campaign has a library under two labels, launch by launch, and 12 sizes. Launches differ by normal
distributions of log t, half of whose variance all sizes share. A steady machine has one state; a restless one
has two, four times apart, which each launch of either label draws for itself. At the edge all sizes differ by
just the 1 % that the instrument cannot promise, and whatever is beyond counts (`--margin 0`). Times of
launches go through the pairing by states and the whole decision, without samples and files.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.compare.comparison import compare
from mpigauge.compare.interim_looks import level_of, looks_of
from mpigauge.compare.sides import pairs_between, pairs_by
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.rows.estimate import Timing
from mpigauge.rows.rows import Row
from mpigauge.stats.decision import INSTRUMENT, Thresholds
from mpigauge.vocabulary import PASSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from mpigauge.vocabulary import ComparisonVerdict, StateName

    Logs = npt.NDArray[np.float64]

CAMPAIGNS = 10_000
SIZES = tuple(8 << place for place in range(12))
PLAN = Plan((Measure("pingpong"),), until="decided", launches_max=30)
LAUNCHES = PLAN.launches_max
ONE_LOOK = 10
STATES: Mapping[StateName, float] = {"near": 0.0, "far": float(np.log(4))}
LABELS = ("a", "b")


@dataclass(frozen=True)
class World:
    """Kind of campaigns that compare two libraries of known difference.

    Attributes:
        slower: By how much the second label is slower in truth, as a fraction.
        spread: Standard deviation of log t of launches.
        near: Share of launches of either label that are near; 1 for a machine of one state.
        margin: Of the comparison.
    """

    name: str
    slower: float
    spread: float
    near: float = 1.0
    margin: float = Thresholds().margin

    def campaign(self, chance: np.random.Generator) -> Campaign:
        """Return a random campaign."""
        shape = (len(LABELS), LAUNCHES, len(SIZES))
        common, own = chance.normal(size=(*shape[:2], 1)), chance.normal(size=shape)
        logs = self.spread * (common + own) / np.sqrt(2)
        logs[1] += np.log1p(self.slower)
        return Campaign(logs, chance.random(shape[:2]) < self.near, self)


@dataclass(frozen=True)
class Campaign:
    """Logarithms of launch times by label, launch and size, and which launches were near."""

    logs: Logs
    near: npt.NDArray[np.bool_]
    world: World

    def rows(self, launches: int, labels: tuple[int, ...] = (0, 1)) -> list[Row]:
        """Return the rows of the first launches, one for each state that a cell was measured in."""
        return [
            row
            for label in labels
            for place, size in enumerate(SIZES)
            for row in self._of(label, place, size, launches)
        ]

    def _of(self, label: int, place: int, size: int, launches: int) -> Iterator[Row]:
        cell = Cell("pingpong", "standard", size, 2, "openmpi", "5.0", label=LABELS[label])
        for state, far in STATES.items():
            launches_in_state = np.flatnonzero(self.near[label, :launches] == (state == "near"))
            times = {
                int(n) + 1: 1e-6 * float(np.exp(self.logs[label, n, place] + far)) for n in launches_in_state
            }
            if times:
                yield row_of(cell, state if self.world.near < 1 else None, times)

    def until_decided(self) -> tuple[int, ComparisonVerdict]:
        """Return the number of launches after which the campaign stops, and the verdict then."""
        for number in looks_of(PLAN):
            verdict = self.verdict(number, level_of(PLAN))
            if verdict == "slower" or verdict in PASSES:
                break
        return number, verdict

    def verdict(self, launches: int, level: float = Thresholds().level) -> ComparisonVerdict:
        """Return the verdict after so many launches, as the stop rule asks for it."""
        thresholds = Thresholds(margin=self.world.margin, level=level)
        pairs = pairs_by(self.rows(launches), "label")
        return compare(pairs, thresholds, controlled=False).strictly()

    def as_two_results(self, launches: int) -> ComparisonVerdict:
        """Return the verdict on the same launches as two results, measured one after the other."""
        base, other = (self.rows(launches, (label,)) for label in (0, 1))
        thresholds = Thresholds(margin=self.world.margin)
        return compare(pairs_between(base, other), thresholds, controlled=False).verdict


def row_of(cell: Cell, state: StateName | None, times: Mapping[int, float]) -> Row:
    """Return the row of a cell of which only the seconds of each launch are known."""
    time = Timing(estimate=geometric_mean(times.values()), launches=len(times), by_launch=times)
    return Row(
        cell=cell,
        status="ok",
        reason=None,
        time=time,
        rate_bytes_per_s=None,
        directions=1,
        cpu_s_per_op=None,
        first_s=None,
        limit_bytes=None,
        advised_samples=None,
        batch=1,
        warnings=(),
        state=state,
    )


WORLDS = (
    World("equals, steady machine, 2 %", 0.0, 0.02),
    World("equals, two states, 2 %", 0.0, 0.02, near=0.5),
    World("at the edge, steady machine, 3 %", INSTRUMENT, 0.03, margin=0.0),
    World("at the edge, two states, 3 %", INSTRUMENT, 0.03, near=0.5, margin=0.0),
)


def lines(world: World, campaigns: int) -> Iterator[str]:
    """Yield the rows of the table: until decided, at one look, and as two results."""
    chance = np.random.default_rng(20)
    verdicts = {name: Counter[str]() for name in ("until decided", f"{ONE_LOOK} launches", "two results")}
    until, one_look, as_two_results = verdicts.values()
    ends = []
    for _ in range(campaigns):
        campaign = world.campaign(chance)
        number, verdict = campaign.until_decided()
        ends.append(number)
        until[verdict] += 1
        one_look[campaign.verdict(ONE_LOOK)] += 1
        as_two_results[campaign.as_two_results(ONE_LOOK)] += 1
    for name, counts in verdicts.items():
        launches = f"{median(ends):g}" if counts is until else f"{ONE_LOOK}"
        verdict_counts = ", ".join(f"{verdict}: {count}" for verdict, count in counts.most_common())
        share = f"{100 * counts['slower'] / campaigns:.2f} %"
        yield f"| {world.name} | {name} | {campaigns} | {launches} | {share} | {verdict_counts} |"


def main() -> None:
    """Print a table for results.md."""
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else CAMPAIGNS
    print("| world | judged | campaigns | launches, median | called slower | verdicts |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    for world in WORLDS:
        for line in lines(world, campaigns):
            print(line, flush=True)


if __name__ == "__main__":
    main()
