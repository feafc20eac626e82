"""Do intervals keep their promise? Many results of the same thing: how many contain what the others say.

An A/A test: nothing differs between the results but the time at which they were measured.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import tools

from mpigauge import units
from mpigauge.analysis.estimate import Estimate
from mpigauge.mpi.library import Library

SIZES = (0, *tools.SIZES)
RESULTS = 20
RESULTS_QUICK = 6
BUDGET_S = 6.0
HEADINGS = (
    "size",
    "t interval contains",
    "rank interval contains",
    "half-width, median",
    "max / min of results",
)

SHARE_IS = (
    "An interval counts if it contains the median of what the other results say. 95 % are expected of a "
    "machine that stays as it is. An interval covers the launches of its own few seconds: where the machine "
    "changes from minute to minute, fewer contain what the others saw. A rank interval needs 6 launches."
)

Result = dict[int, Estimate]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many intervals of a kind there are, and how many of them contain what the others say."""

    contain: int = 0
    intervals: int = 0

    def plus(self, low: float | None, high: float | None, centre: float) -> "Tally":
        """With one interval more, if there is one."""
        if low is None or high is None:
            return self
        return Tally(self.contain + (low <= centre <= high), self.intervals + 1)

    def join(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(self.contain + other.contain, self.intervals + other.intervals)

    def __str__(self) -> str:
        """A share, and what it is a share of."""
        if not self.intervals:
            return units.MISSING
        return f"{self.contain / self.intervals:.0%} ({self.contain} of {self.intervals})"


def main() -> None:
    """Prints the section."""
    parser = tools.options("how often do intervals contain what other results say")
    parser.add_argument("--results", type=int, metavar="N", help="how many to measure")
    given = parser.parse_args()
    results = given.results or (RESULTS_QUICK if given.quick else RESULTS)
    print(section(tools.libraries(given.mpi), results))


def section(libraries: Sequence[Library], count: int) -> str:
    """Measures, and says in Markdown what came out."""
    library = _quick_to_start(libraries)
    results: list[Result] = []
    for number in range(1, count + 1):
        tools.say(f"agreement {number}/{count}: {library.label}")
        options = ["--budget", f"{BUDGET_S}s", "--seed", str(number)]
        results.append(tools.attempt(partial(tools.run_mpigauge, library, SIZES, options)) or {})
    return "\n\n".join(["## Agreement: the same measurement again", *_words(library, results)])


def _quick_to_start(libraries: Sequence[Library]) -> Library:
    """Not Open MPI, if there is another: its wheel sleeps for a second in MPI_Init, instead of a launch."""
    return next((library for library in libraries if library.name != "openmpi"), libraries[0])


def tallies(estimates: Sequence[Estimate]) -> tuple[Tally, Tally]:
    """Of the t and of the rank intervals of one size, each against the median of the other results."""
    by_t, by_rank = Tally(), Tally()
    for index, time in enumerate(estimates):
        others = [other.estimate for place, other in enumerate(estimates) if place != index]
        if others:
            by_t = by_t.plus(time.low, time.high, median(others))
            by_rank = by_rank.plus(time.rank_low, time.rank_high, median(others))
    return by_t, by_rank


def _row(size: str, by_t: Tally, by_rank: Tally, estimates: Sequence[Estimate]) -> list[str]:
    widths = [time.half_width for time in estimates if time.half_width is not None]
    centres = [time.estimate for time in estimates]
    return [
        size,
        str(by_t),
        str(by_rank),
        units.format_relative(median(widths)) if widths else units.MISSING,
        f"{max(centres) / min(centres):.3f}" if centres and min(centres) > 0 else units.MISSING,
    ]


def _table(results: Sequence[Result]) -> str:
    body, all_t, all_rank = [], Tally(), Tally()
    for size in SIZES:
        estimates = [result[size] for result in results if size in result]
        by_t, by_rank = tallies(estimates)
        all_t, all_rank = all_t.join(by_t), all_rank.join(by_rank)
        body.append(_row(units.format_size(size), by_t, by_rank, estimates))
    return tools.markdown(HEADINGS, [*body, _row("all", all_t, all_rank, [])])


def _words(library: Library, results: Sequence[Result]) -> list[str]:
    good = [result for result in results if result]
    launches = [time.launches for result in good for time in result.values()]
    command = f"mpigauge run pingpong --budget {BUDGET_S:g}s"
    head = (
        f"{library.label}; {len(good)} results of `{command}`, with `--seed` 1, 2, 3 and so on, "
        f"of {min(launches, default=0)} to {max(launches, default=0)} launches each."
    )
    return [head, _table(results), SHARE_IS]


if __name__ == "__main__":
    sys.exit(tools.ending(main))
