"""Does mpigauge report what the communication costs? Beside a bare loop and IMB-MPI1, in one run.

The tools are launched directly after one another, in random order, and compared pair by pair: the machine
under them may change its speed from one second to the next.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import tools

from mpigauge import units
from mpigauge.mpi.library import Library
from mpigauge.stats.interval import interval_of
from mpigauge.stats.percentiles import Values, median_interval

ROUNDS = 10
ROUNDS_QUICK = 3
MARGIN = 0.03
BARE, GAUGE, MEAN, IMB = "bare", "mpigauge", "mean of mpigauge", "IMB"
HEADINGS = (
    "library",
    "size",
    "bare, ns",
    "mpigauge, ns",
    "mpigauge / bare: mean",
    "median",
    "its mean / bare: median",
    "IMB, ns",
    "IMB / bare: median",
)
ROUND_IS = "In each of them every tool is launched once with every library."
RATIOS_ARE = (
    "Ratios are paired by round: geometric mean with its 95 % t interval, and median with its "
    "order-statistics interval (6 rounds or more). *yes*: within 3 % of the bare loop, *no*: not; "
    "with *?* the interval leaves it open."
)
TIMES_ARE = (
    "Times are of one way, geometric means over rounds. In a round mpigauge gives the median of its samples, "
    f"the bare loop and IMB the median of {tools.REPETITIONS} means over up to {tools.MAX_ROUNDS} round "
    "trips: the tail of slow messages is in a mean but not in a median. *its mean / bare* compares like with "
    "like: the mean of the same samples, as fragile as means are."
)
IMB_IS = (
    "IMB has its own buffers, warm-up and content. Its times are taken from its rates: they have more digits."
)

Reports = dict[str, tools.Times]


@dataclass(frozen=True, slots=True)
class Contest:
    """Reports of each tool for one library, round by round.

    Attributes:
        runs: Functions that run a tool, by its name.
        rounds: Reports of each round; failed launches have none.
    """

    library: Library
    runs: dict[str, Callable[[], Reports]]
    rounds: list[Reports] = field(default_factory=list)


def main() -> None:
    """Print the section."""
    parser = tools.options("mpigauge beside a bare loop and IMB-MPI1")
    parser.add_argument("--rounds", type=int, metavar="N", help="launches of each tool under each library")
    arguments = parser.parse_args()
    rounds = arguments.rounds or (ROUNDS_QUICK if arguments.quick else ROUNDS)
    print(section(tools.libraries(arguments.mpi), rounds, arguments.seed))


def section(libraries: Sequence[Library], rounds: int, seed: int) -> str:
    """Measure, and return the section in Markdown."""
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        chance = random.Random(seed)  # noqa: S311 - an order, not a secret
        imb = tools.find_imb(libraries)
        contests = [_contest(library, imb, Path(folder), chance) for library in libraries]
        _measure(contests, rounds, chance)
    return "\n\n".join(["## Fidelity: mpigauge beside a bare loop", *_words(contests, rounds, seed)])


# ---- Measuring -----------------------------------------------------------------------------------


def _contest(library: Library, imb: Path | None, folder: Path, chance: random.Random) -> Contest:
    program = tools.build_bare(library, folder)
    runs: dict[str, Callable[[], Reports]] = {
        BARE: lambda: {BARE: tools.run_bare(library, program)},
        GAUGE: partial(_gauge, library, chance),
    }
    if imb is not None and tools.can_run_imb(library):
        runs[IMB] = lambda: {IMB: tools.medians(tools.run_imb(library, imb, tools.SIZES, tools.REPETITIONS))}
    return Contest(library, runs)


def _gauge(library: Library, chance: random.Random) -> Reports:
    """Run one launch of mpigauge; return its estimate, and the mean of the same samples."""
    options = ["--launches", "1", "--seed", str(chance.randrange(2**31))]
    estimates = tools.run_mpigauge(library, tools.SIZES, options)
    return {
        GAUGE: {size: time.estimate for size, time in estimates.items()},
        MEAN: {size: time.mean for size, time in estimates.items()},
    }


def _measure(contests: list[Contest], rounds: int, chance: random.Random) -> None:
    for number in range(1, rounds + 1):
        for contest in chance.sample(contests, len(contests)):
            names = chance.sample(sorted(contest.runs), len(contest.runs))
            tools.say(f"fidelity {number}/{rounds}: {contest.library.label}: {', '.join(names)}")
            reports: Reports = {}
            for name in names:
                reports |= tools.attempt(contest.runs[name]) or {}
            contest.rounds.append(reports)


# ---- Comparing -----------------------------------------------------------------------------------


def _values(contest: Contest, name: str, size: int) -> Values:
    """Return the times of a tool for a size in seconds, one per round; NaN where it failed or cannot run."""
    return np.array([reports.get(name, {}).get(size, np.nan) for reports in contest.rounds])


def _ratios(contest: Contest, name: str, size: int) -> Values:
    """Return a tool over the bare loop, paired by round; rounds that lack one of them are left out."""
    ratios = _values(contest, name, size) / _values(contest, BARE, size)
    return ratios[np.isfinite(ratios)]


def _nanoseconds(values: Values) -> str:
    """Return the median over rounds as text."""
    measured = values[np.isfinite(values)]
    return f"{interval_of(measured).estimate * 1e9:.0f}" if measured.size else units.MISSING


def _mean_ratio(ratios: Values) -> str:
    if not ratios.size:
        return units.MISSING
    return _judged(float(np.mean(ratios)), None, None)


def _median_ratio(ratios: Values) -> str:
    if not ratios.size:
        return units.MISSING
    low, high = median_interval(ratios)
    return _judged(float(np.median(ratios)), *((low, high) if np.isfinite(low) else (None, None)))


def _judged(centre: float, low: float | None, high: float | None) -> str:
    """Return a ratio, its interval, and whether it is within the margin; `?` if that is undecided."""
    inside = abs(centre - 1) <= MARGIN
    words = f"{centre:.3f}"
    sure = False
    if low is not None and high is not None:
        words += f" ({low:.2f} \N{EN DASH} {high:.2f})"
        sure = max(abs(low - 1), abs(high - 1)) <= MARGIN if inside else low > 1 + MARGIN or high < 1 - MARGIN
    return f"{words} {'yes' if inside else 'no'}{'' if sure else '?'}"


# ---- Saying it -----------------------------------------------------------------------------------


def _row(contest: Contest, size: int) -> list[str]:
    return [
        contest.library.label,
        units.format_size(size),
        _nanoseconds(_values(contest, BARE, size)),
        _nanoseconds(_values(contest, GAUGE, size)),
        _mean_ratio(_ratios(contest, GAUGE, size)),
        _median_ratio(_ratios(contest, GAUGE, size)),
        _median_ratio(_ratios(contest, MEAN, size)),
        _nanoseconds(_values(contest, IMB, size)),
        _median_ratio(_ratios(contest, IMB, size)),
    ]


def _words(contests: list[Contest], rounds: int, seed: int) -> list[str]:
    table = tools.markdown(HEADINGS, [_row(contest, size) for contest in contests for size in tools.SIZES])
    words = [
        f"{rounds} rounds, all choices from seed {seed}. {ROUND_IS}",
        table,
        RATIOS_ARE,
        TIMES_ARE,
        IMB_IS,
    ]
    without = [contest.library.label for contest in contests if IMB not in contest.runs]
    if without:
        words.append(f"IMB is a binary for Intel MPI and MPICH; it was not run with {', '.join(without)}.")
    return words


if __name__ == "__main__":
    sys.exit(tools.ending(main))
