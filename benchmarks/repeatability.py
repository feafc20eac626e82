"""How much do ten runs of the same tool differ? mpigauge beside IMB-MPI1, both with the same time to spend.

Both run under Intel MPI, whose wheel brings IMB, and take turns.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean, median

import tools

from mpigauge import units
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi.library import Library

SIZES = (0, *tools.SIZES)
RUNS = 10
RUNS_QUICK = 3
BUDGET_S = 8.0
BUDGET_QUICK_S = 4.0
TRIAL_REPETITIONS = 20
HEADINGS = (
    "size",
    "mpigauge, ns",
    "max / min",
    "IMB, ns",
    "max / min",
    "IMB, median of lines: max / min",
    "smaller spread",
)
SPREAD_IS = (
    "Times are of one way, medians over runs; max / min is the largest time that any of the runs reported "
    "over the smallest. IMB fills its time with many short lines for each size, in turns: their mean is what "
    "one long line would say; their median is not IMB's own, and shows what the choice of statistic does. "
    "IMB says 0 B with two decimals of a microsecond only, too few to compare."
)


@dataclass(frozen=True, slots=True)
class Series:
    """What a tool reported, run by run, and how long each run took."""

    said: list[tools.Times] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)

    def add(self, said: tools.Times | None, wall_s: float) -> None:
        """Takes in a run, unless it failed."""
        if said:
            self.said.append(said)
            self.wall_s.append(wall_s)

    def of(self, size: int) -> list[float]:
        """What was reported of a size, in seconds."""
        return [times[size] for times in self.said]


def main() -> None:
    """Prints the section."""
    parser = tools.options("ten runs of mpigauge and of IMB-MPI1")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of each tool")
    given = parser.parse_args()
    runs, budget_s = (RUNS_QUICK, BUDGET_QUICK_S) if given.quick else (RUNS, BUDGET_S)
    print(section(tools.libraries(given.mpi), given.runs or runs, budget_s))


def section(libraries: Sequence[Library], runs: int, budget_s: float) -> str:
    """Measures, and says in Markdown what came out.

    Raises:
        EnvironmentLacksError: There is no IMB to compare with.
    """
    imb = tools.find_imb(libraries)
    if imb is None:
        raise EnvironmentLacksError(
            "repeatability: IMB-MPI1 was not found", "give the prefix of Intel MPI: --mpi /path"
        )
    library = next(library for library in libraries if library.name == "intelmpi")
    series = _measure(library, imb, runs, budget_s)
    return "\n\n".join(["## Repeatability: the same run again", *_words(library, series, budget_s)])


# ---- Measuring -----------------------------------------------------------------------------------


def _measure(library: Library, imb: Path, runs: int, budget_s: float) -> tuple[Series, Series, Series]:
    """The runs of mpigauge, and those of IMB in two summaries: mean and median of its lines."""
    gauge, means, medians = Series(), Series(), Series()
    for number in range(1, runs + 1):
        tools.say(f"repeatability {number}/{runs}: {library.label}: mpigauge, IMB")
        gauge.add(*tools.timed(partial(tools.attempt, partial(_mpigauge, library, budget_s, number))))
        target_s = median(gauge.wall_s) if gauge.wall_s else budget_s
        run = partial(tools.run_imb, library, imb, SIZES, _repetitions(library, imb, target_s))
        lines, wall_s = tools.timed(partial(tools.attempt, run))
        if lines:
            means.add({size: fmean(values) for size, values in lines.items()}, wall_s)
            medians.add(tools.medians(lines), wall_s)
    return gauge, means, medians


def _mpigauge(library: Library, budget_s: float, seed: int) -> tools.Times:
    estimates = tools.run_mpigauge(library, SIZES, ["--budget", f"{budget_s}s", "--seed", str(seed)])
    return {size: time.estimate for size, time in estimates.items()}


def _repetitions(library: Library, imb: Path, target_s: float) -> int:
    """How many lines for each size take IMB as long as mpigauge took; a short run directly before tells."""
    run = partial(tools.run_imb, library, imb, SIZES, TRIAL_REPETITIONS)
    lines, wall_s = tools.timed(partial(tools.attempt, run))
    if not lines:
        return TRIAL_REPETITIONS
    looping_s = sum(2 * sum(lines[size]) * tools.rounds_of(size) for size in SIZES)
    startup_s = max(0.0, wall_s - looping_s)
    return max(1, round(TRIAL_REPETITIONS * (target_s - startup_s) / looping_s))


# ---- Saying it -----------------------------------------------------------------------------------


def _spread(series: Series, size: int) -> float:
    """NaN under two runs."""
    values = series.of(size)
    return max(values) / min(values) if len(values) > 1 and min(values) > 0 else math.nan


def _nanoseconds(series: Series, size: int) -> str:
    return f"{median(series.of(size)) * 1e9:.0f}" if series.said else units.MISSING


def _ratio(spread: float) -> str:
    return units.MISSING if math.isnan(spread) else f"{spread:.3f}"


def _smaller(ours: float, theirs: float) -> str:
    if math.isnan(ours) or math.isnan(theirs):
        return units.MISSING
    return "mpigauge" if ours < theirs else "IMB" if theirs < ours else "equal"


def _row(size: int, gauge: Series, means: Series, medians: Series) -> list[str]:
    ours, theirs = _spread(gauge, size), _spread(means, size)
    return [
        units.format_size(size),
        _nanoseconds(gauge, size),
        _ratio(ours),
        _nanoseconds(means, size),
        _ratio(theirs),
        _ratio(_spread(medians, size)),
        _smaller(ours, theirs) if size else units.MISSING,
    ]


def _words(library: Library, series: tuple[Series, Series, Series], budget_s: float) -> list[str]:
    runs = " and ".join(
        f"{len(one.said)} of {name}, {median(one.wall_s) if one.said else 0:.1f} s each"
        for name, one in zip(("mpigauge", "IMB-MPI1 PingPong"), series, strict=False)
    )
    head = (
        f"{library.label}; runs, taking turns: {runs} (median wall time). mpigauge was given "
        f"`--budget {budget_s:g}s` and `--seed` 1, 2, 3 and so on."
    )
    return [head, tools.markdown(HEADINGS, [_row(size, *series) for size in SIZES]), SPREAD_IS]


if __name__ == "__main__":
    sys.exit(tools.ending(main))
