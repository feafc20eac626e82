"""How often a row carries a doubt though nothing is wrong: campaigns simulated under known nulls.

    python benchmarks/doubts.py [CELLS]

A cell has as many launches as the table says, 8 visits each and 62 rounds a visit. Launches, visits and
rounds differ by normal distributions of log t; nothing else is put in. The clock ticks where the table says
so. The second table is of stable cells and a clock of 10 ns: how often the 95 % interval holds the truth.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mpigauge.find.warning_sentences import NOTES
from mpigauge.rows.warnings import Circumstances, warnings_for
from mpigauge.units import format_percent
from tests.unit.rows.planted import estimate

CELLS = 1000
VISITS, ROUNDS = 8, 62
SHOWN = ("outlier-launches", "two-kinds-of-launches", "drift", "clock-step")
EXPECTED_WARNING = {"clock-step"}
"""Warning about a coarse clock, which is no false alarm."""

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Null:
    """A world without anything to doubt.

    Attributes:
        launch: Standard deviation of log t between launches; so `visit` and `round`.
        time_ns: Time of an operation.
        step_ns: Step of the clock; 0 for none.
    """

    launches: int
    launch: float
    visit: float
    round: float
    time_ns: float = 5000.0
    step_ns: float = 0.0

    def cell(self, generator: np.random.Generator) -> Times:
        """Return the times of one cell in seconds, shape ``(launches, visits, rounds)``."""
        shape = (self.launches, VISITS, ROUNDS)
        logs = generator.normal(0, self.launch, (self.launches, 1, 1)) + generator.normal(
            0, self.round, shape
        )
        times = self.time_ns * np.exp(logs + generator.normal(0, self.visit, (self.launches, VISITS, 1)))
        if self.step_ns:
            times = (
                np.floor((times + generator.uniform(0, self.step_ns, shape)) / self.step_ns) * self.step_ns
            )
        seconds: Times = 1e-9 * times
        return seconds

    def doubts(self, generator: np.random.Generator) -> set[str]:
        """Return the warnings of one cell."""
        steps = [[1e-9 * self.step_ns] * VISITS] * self.launches if self.step_ns else None
        found = estimate([list(launch) for launch in self.cell(generator)], steps_s=steps)
        of = Circumstances(estimate=found, ranks=2, cores=2, precision=0.03)
        return {warning.kind for warning in warnings_for(of) if warning.kind not in NOTES}


NULLS = (
    *(Null(10, launch, 0.0, 0.03) for launch in (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)),
    *(Null(launches, 0.03, 0.0, 0.03) for launches in (5, 6, 8, 20, 30)),
    Null(10, 0.01, 0.02, 0.01),
    Null(10, 0.02, 0.05, 0.03),
    Null(10, 0.005, 0.0, 0.03, 488.0, 10.0),
    Null(10, 0.0, 0.0, 0.03, 485.0, 10.0),
)


def coverage(
    generator: np.random.Generator, time_ns: float, launch: float, cells: int
) -> tuple[float, float]:
    """Return how often an interval contains the truth, by plain and by grouped medians."""
    step_ns, contained = 10.0, [0, 0]
    for _ in range(cells):
        null = Null(10, launch, 0.0, 0.03, time_ns + generator.uniform(0, step_ns), step_ns)
        launches = [list(one) for one in null.cell(generator)]
        for way, steps in enumerate((None, [[1e-9 * step_ns] * VISITS] * 10)):
            found = estimate(launches, steps_s=steps)
            contained[way] += (found.low or 0.0) <= 1e-9 * null.time_ns <= (found.high or 0.0)
    return contained[0] / cells, contained[1] / cells


def main() -> None:
    """Print both tables."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else CELLS
    doubt_table(cells)
    print("\n| time | launch sd | plain medians | grouped medians |\n| ---: | ---: | ---: | ---: |")
    for time_ns in (300.0, 500.0, 1000.0):
        for launch in (0.003, 0.005, 0.01):
            plain, grouped = coverage(np.random.default_rng(2), time_ns, launch, cells)
            shares = (format_percent(launch), format_percent(plain), format_percent(grouped))
            print(f"| {time_ns:g} ns | {' | '.join(shares)} |")


def doubt_table(cells: int) -> None:
    """Print the table, with a row for each null."""
    heading = ("launches", "launch sd", "visit sd", "round sd", "clock", *SHOWN, "any other")
    print(f"| {' | '.join(heading)} |")
    print(f"| ---: | ---: | ---: | ---: | ---: | {' | '.join(['---:'] * len(SHOWN))} | ---: |")
    generator = np.random.default_rng(1)
    for null in NULLS:
        found = [null.doubts(generator) for _ in range(cells)]
        counts = [sum(kind in one for one in found) for kind in SHOWN]
        counts.append(sum(bool(one - EXPECTED_WARNING) for one in found))
        clock = f"{null.step_ns:g} of {null.time_ns:g} ns" if null.step_ns else "fine"
        spreads = [format_percent(spread) for spread in (null.launch, null.visit, null.round)]
        shares = [format_percent(count / cells) for count in counts]
        print(f"| {' | '.join([str(null.launches), *spreads, clock, *shares])} |")


if __name__ == "__main__":
    main()
