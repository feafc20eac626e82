"""How much do ten runs of the same tool differ? mpigauge beside IMB-MPI1, both with the same time to spend.

Both run under Intel MPI, whose wheel brings IMB, and take turns.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import tools

from mpigauge import units
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi.library import Library

SIZES = (0, *tools.SIZES)
RUNS = 10
RUNS_QUICK = 3
BUDGET_S = 8.0
BUDGET_QUICK_S = 4.0
HEADINGS = ("size", "mpigauge, ns", "max / min", "IMB, ns", "max / min", "smaller spread")


SPREAD_IS = (
    "Times are of one way, medians over runs; max / min is the largest time that any of the runs reported "
    "over the smallest. IMB says 0 B with two decimals of a microsecond only, too few to compare."
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
    gauge, other = _measure(library, imb, runs, budget_s)
    return "\n\n".join(["## Repeatability: the same run again", *_words(library, gauge, other, budget_s)])


# ---- Measuring -----------------------------------------------------------------------------------


def _measure(library: Library, imb: Path, runs: int, budget_s: float) -> tuple[Series, Series]:
    gauge, other = Series(), Series()
    for number in range(1, runs + 1):
        tools.say(f"repeatability {number}/{runs}: {library.label}: mpigauge, IMB")
        gauge.add(*tools.timed(partial(tools.attempt, partial(_mpigauge, library, budget_s, number))))
        target_s = median(gauge.wall_s) if gauge.wall_s else budget_s
        effort = _effort(library, imb, target_s)
        run = partial(tools.run_imb, library, imb, SIZES, effort)
        other.add(*tools.timed(partial(tools.attempt, run)))
    return gauge, other


def _mpigauge(library: Library, budget_s: float, seed: int) -> tools.Times:
    estimates = tools.run_mpigauge(library, SIZES, ["--budget", f"{budget_s}s", "--seed", str(seed)])
    return {size: time.estimate for size, time in estimates.items()}


def _effort(library: Library, imb: Path, target_s: float) -> tools.Effort:
    """One line a size, as IMB is used, with so many rounds that the run takes as long as mpigauge's.

    A short run directly before tells how many: IMB's own `-time` gives nearly all to the first size.
    """
    trial = tools.Effort(repetitions=1)
    run = partial(tools.run_imb, library, imb, SIZES, trial)
    times, wall_s = tools.timed(partial(tools.attempt, run))
    if not times:
        return tools.Effort(repetitions=1)
    looping_s = sum(2 * seconds * tools.rounds_of(size) for size, seconds in times.items())
    startup_s = max(0.0, wall_s - looping_s)
    return tools.Effort(repetitions=1, scale=max(1.0, (target_s - startup_s) / looping_s))


# ---- Saying it -----------------------------------------------------------------------------------


def _spread(values: Sequence[float]) -> float | None:
    return max(values) / min(values) if len(values) > 1 and min(values) > 0 else None


def _row(size: int, gauge: Series, other: Series) -> list[str]:
    ours, theirs = _spread(gauge.of(size)), _spread(other.of(size))
    entries = [units.format_size(size)]
    for series, spread in ((gauge, ours), (other, theirs)):
        entries.append(f"{median(series.of(size)) * 1e9:.0f}" if series.said else units.MISSING)
        entries.append(f"{spread:.3f}" if spread else units.MISSING)
    if ours is None or theirs is None or size == 0:  # IMB rounds too much there
        return [*entries, units.MISSING]
    return [*entries, "mpigauge" if ours < theirs else "IMB" if theirs < ours else "equal"]


def _words(library: Library, gauge: Series, other: Series, budget_s: float) -> list[str]:
    runs = " and ".join(
        f"{len(series.said)} of {name}, {median(series.wall_s) if series.said else 0:.1f} s each"
        for name, series in (("mpigauge", gauge), ("IMB-MPI1 PingPong", other))
    )
    head = (
        f"{library.label}; runs, taking turns: {runs} (median wall time). mpigauge was given "
        f"`--budget {budget_s:g}s` and `--seed` 1, 2, 3 and so on."
    )
    return [head, tools.markdown(HEADINGS, [_row(size, gauge, other) for size in SIZES]), SPREAD_IS]


if __name__ == "__main__":
    sys.exit(tools.ending(main))
