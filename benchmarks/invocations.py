"""The same measurement again: mpigauge, a loop in the way of OSU's and IMB-MPI1, twenty times in turns.

Two sections come of it: by how much what a tool reports differs from time to time, and whether mpigauge's
intervals hold what the others of its results say. All under Intel MPI, whose wheel brings IMB.
"""

import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean, median

import tools
from agreement import SIZES, InState, Set, holds_others, in_states, of_sessions, speed_classes, spread

from mpigauge import units
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi.library import Library
from mpigauge.result.reader import Result
from mpigauge.rows.machine.speeds import STEADY, speeds_of
from mpigauge.rows.machine.split import Split, split_visits
from mpigauge.rows.machine.steadiness import core_sharing, only_quiet
from mpigauge.vocabulary import StateName

INVOCATIONS = 20
INVOCATIONS_QUICK = 4
BUDGET_S = 6.0
TRIAL_REPETITIONS = 20

REPEATABILITY_IS = (
    "Times are of one way, medians over invocations; max / min is the largest time that any of them reported "
    "over the smallest. The loop is one pair of clock readings around all round trips of a size, one size "
    "after the other, as in OSU's latency test; IMB fills its time with many short lines for each size, in "
    "turns, of which this is the mean. IMB says 0 B with two decimals of a microsecond only, too few to "
    "compare."
)
STATES_ARE = (
    "The states are those of all invocations together, told apart by how long it took to hand over a cache "
    "line around each visit; an invocation counts in a state if it has an interval there."
)
AGREEMENT_IS = (
    "An interval counts if it contains the median of what the other invocations say of the same state. 95 % "
    "are expected of a machine that has no other states than those told apart."
)
QUIET_VISITS_ARE = (
    "In the middle of the invocations, {0} of the visits were of "
    "[shared cores](../docs/method-launches.md#shared-cores), and {1} began or ended at another "
    "[speed](../docs/method-launches.md#speeds) than the usual one. The same invocations with all of their "
    "visits and with the others alone, as `--only quiet` shows them; of the latter intervals, {2} hold."
)
QUIET_VISITS_HEADINGS = (
    "size",
    "state",
    "all: max / min",
    "quiet: max / min",
    "all: median",
    "quiet: median",
    "quiet: intervals that hold",
)
SESSIONS_ARE = (
    "Every {0} invocation together is one result of up to {1} sessions, as `mpigauge show` of {1} files has "
    "it: how many of these intervals contain the median of the invocations of the other results, and the "
    "middle of their half-widths; {2} of all."
)
SPEEDS_ARE = (
    "Of quiet visits, classes of invocations whose usual speed was the same: what fixed arithmetic beside "
    "these visits took differs by less than {0} within each. An interval holds if it contains the median of "
    "the other invocations of its class."
)
SESSIONS = 5
"""Number of sessions from which an interval over sessions is made."""
LEAST_RESULTS = 2
ORDINALS = {2: "second", 3: "third", 4: "fourth"}


@dataclass(slots=True)
class Measured:
    """Times that each tool reported, by invocation; `wall_s` has the duration of each invocation."""

    results: list[Result] = field(default_factory=list)
    loops: list[tools.Times] = field(default_factory=list)
    imb: list[tools.Times] = field(default_factory=list)
    wall_s: dict[str, list[float]] = field(default_factory=dict)

    def timed(self, name: str, run: Callable[[], tools.Anything]) -> tools.Anything | None:
        """Run and time an invocation; return its times, or None if it fails."""
        times, wall_s = tools.timed(partial(tools.attempt, run))
        if times is not None:
            self.wall_s.setdefault(name, []).append(wall_s)
        return times


def main() -> None:
    """Print both sections."""
    parser = tools.options("twenty invocations of mpigauge, of a bare loop and of IMB-MPI1")
    parser.add_argument("--invocations", type=int, metavar="N", help="of each tool")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where to leave the results of mpigauge")
    arguments = parser.parse_args()
    count = arguments.invocations or (INVOCATIONS_QUICK if arguments.quick else INVOCATIONS)
    print(section(tools.libraries(arguments.mpi), count, arguments.keep))


def section(libraries: Sequence[Library], count: int, keep: Path | None = None) -> str:
    """Measure, and return the section in Markdown.

    Raises:
        EnvironmentLacksError: There is no IMB to compare with.
    """
    imb = tools.find_imb(libraries)
    if imb is None:
        raise EnvironmentLacksError(
            "invocations: IMB-MPI1 was not found", "give the prefix of Intel MPI: --mpi /path"
        )
    library = next(library for library in libraries if library.name == "intelmpi")
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        measured = _measure(library, imb, count, keep or Path(folder))
    split = split_visits([visit for result in measured.results for visit in result.visits])
    return "\n\n".join(
        [
            "## Repeatability: the same run again",
            *_repeatability(library, measured, split),
            "### Of quiet visits",
            *_of_quiet_visits(measured.results, split),
            "## Agreement: do the intervals hold?",
            *_agreement(measured, split),
            "## Speed of the machine: invocations at equal speed",
            *_at_equal_speed([only_quiet(one) for one in measured.results]),
        ]
    )


# ---- Measuring -----------------------------------------------------------------------------------


def _measure(library: Library, imb: Path, count: int, folder: Path) -> Measured:
    measured = Measured()
    program = tools.build_bare(library, folder)
    trial = tools.run_bare(library, program, SIZES)
    loops = {size: max(1, round(BUDGET_S / len(SIZES) / (2 * trial[size]))) for size in SIZES}
    for number in range(1, count + 1):
        tools.say(f"invocations {number}/{count}: {library.label}: mpigauge, loop, IMB")
        options = ["--budget", f"{BUDGET_S:g}s", "--seed", str(number)]
        campaign = partial(tools.campaign, library, SIZES, options, folder / f"{number}.jsonl")
        if (result := measured.timed("mpigauge", campaign)) is not None:
            measured.results.append(result)
        loop = partial(tools.run_loops, library, program, loops)
        if (said := measured.timed("loop", loop)) is not None:
            measured.loops.append(said)
        lines = measured.timed("IMB-MPI1 PingPong", partial(_imb, library, imb))
        if lines is not None:
            measured.imb.append({size: fmean(values) for size, values in lines.items()})
    return measured


def _imb(library: Library, imb: Path) -> tools.Repetitions:
    """Run one launch with as many lines per size as take the time that mpigauge has."""
    run = partial(tools.run_imb, library, imb, SIZES)
    lines, wall_s = tools.timed(partial(run, TRIAL_REPETITIONS))
    looping_s = sum(2 * sum(lines[size]) * tools.rounds_of(size) for size in SIZES)
    startup_s = max(0.0, wall_s - looping_s)
    return run(max(1, round(TRIAL_REPETITIONS * (BUDGET_S - startup_s) / looping_s)))


# ---- Saying it -----------------------------------------------------------------------------------


def _ratio(value: float) -> str:
    return units.MISSING if math.isnan(value) else f"{value:.3f}"


def _state_heading(split: Split, name: StateName | None) -> str:
    if name is None:
        return "mpigauge, all states"
    (state,) = (one for one in split.states if one.name == name)
    return f"{name} ({state.handover_s * 1e9:.0f} ns)"


def _repeatability(library: Library, measured: Measured, split: Split) -> list[str]:
    runs = ", ".join(
        f"{len(walls)} of {name} ({median(walls):.1f} s each)" for name, walls in measured.wall_s.items()
    )
    found = in_states(measured.results, split)
    names = [one.state for one in found[SIZES[0]]]
    headings = ["size", *(f"{_state_heading(split, name)}: max / min" for name in names)]
    body = []
    for size in SIZES:
        ours = [f"{_ratio(one.spread)} ({len(one.estimates)})" for one in found[size]]
        theirs = [[times[size] for times in tool] for tool in (measured.loops, measured.imb)]
        body.append([units.format_size(size), *ours, *(_ratio(spread(values)) for values in theirs)])
    head = f"{library.label}; invocations, in turns: {runs}. mpigauge was given `--budget {BUDGET_S:g}s`."
    table = tools.markdown([*headings, "loop: max / min", "IMB: max / min"], body)
    return [head, table, REPEATABILITY_IS, STATES_ARE]


def _of_quiet_visits(results: Sequence[Result], split: Split) -> list[str]:
    """Return how much invocations differ with all visits, and with those of whole cores at usual speed."""
    shared = [found.share for one in results if (found := core_sharing(one.visits, one.launches))]
    others = [1 - seen.usual_share for one in results if (seen := speeds_of(one.visits))]
    whole, quiet_only = (
        in_states(subset, split) for subset in (results, [only_quiet(one) for one in results])
    )
    body, kept = [], []
    for size in SIZES:
        for every, quiet_state in zip(
            whole[size][1:] or whole[size], quiet_only[size][1:] or quiet_only[size], strict=True
        ):
            spreads = [f"{_ratio(one.spread)} ({len(one.estimates)})" for one in (every, quiet_state)]
            times = [_median_time(one) for one in (every, quiet_state)]
            head = [units.format_size(size), _state_heading(split, every.state)]
            body.append([*head, *spreads, *times, _share(quiet_state)])
            kept.append(quiet_state.contain())
    table = tools.markdown(QUIET_VISITS_HEADINGS, body)
    contained, count = (sum(each) for each in zip(*kept, strict=True))
    shares = (f"{median(found):.0%}" if found else "an unknown share" for found in (shared, others))
    return [QUIET_VISITS_ARE.format(*shares, _share_text(contained, count)), table]


def _median_time(of: InState) -> str:
    times = [one.estimate for one in of.estimates]
    return units.format_time(median(times)) if times else units.MISSING


def _agreement(measured: Measured, split: Split) -> list[str]:
    found = in_states(measured.results, split)
    names = [one.state for one in found[SIZES[0]]]
    headings = ["size", *(_state_heading(split, name) for name in names), "half-width, median"]
    body = [[units.format_size(size), *map(_share, found[size]), _widths(found[size])] for size in SIZES]
    sums = [[found[size][place].contain() for size in SIZES] for place in range(len(names))]
    total = [
        _share_text(sum(contained for contained, _ in one), sum(count for _, count in one)) for one in sums
    ]
    apart = [one for found_in in sums[1:] or sums for one in found_in]
    share = _share_text(sum(contained for contained, _ in apart), sum(count for _, count in apart))
    table = tools.markdown(headings, [*body, ["all", *total, units.MISSING]])
    return [
        table,
        f"Of all these intervals, {share} hold. {AGREEMENT_IS}",
        *_over_sessions(measured.results, split),
    ]


def _at_equal_speed(results: Sequence[Result]) -> list[str]:
    """Return how much invocations differ at equal CPU speed, and whether their intervals hold."""
    found = [
        (
            speeds,
            {size: InState(None, tuple(one[size] for one in class_states if size in one)) for size in SIZES},
        )
        for speeds, class_states in speed_classes(results)
    ]
    headings = [f"{min(speeds) * 1e6:.2f} to {max(speeds) * 1e6:.2f} µs" for speeds, _ in found]
    body = []
    for size in SIZES:
        class_states = [one[size] for _, one in found]
        contained, count = (sum(each) for each in zip(*(one.contain() for one in class_states), strict=True))
        spreads = [f"{_ratio(one.spread)} ({len(one.estimates)})" for one in class_states]
        body.append([units.format_size(size), *spreads, _share_text(contained, count)])
    sums = [one[size].contain() for _, one in found for size in SIZES]
    total = _share_text(sum(contained for contained, _ in sums), sum(count for _, count in sums))
    body.append(["all", *[units.MISSING] * len(found), total])
    table = tools.markdown(["size", *(f"{one}: max / min" for one in headings), "intervals that hold"], body)
    return [table, SPEEDS_ARE.format(f"{STEADY - 1:.0%}")]


def _over_sessions(results: Sequence[Result], split: Split) -> list[str]:
    """Return whether intervals over sessions contain the estimates of other sessions."""
    stride = len(results) // SESSIONS
    if stride < LEAST_RESULTS:
        return []
    names: list[StateName | None] = [one.name for one in split.states]
    names = names or [None]
    found = [_sets(results, split, name, stride) for name in names]
    body = [[units.format_size(size), *(_sets_text(sets, size) for sets in found)] for size in SIZES]
    contained = [one for sets in found for size in SIZES for one in _contained(sets, size)]
    table = tools.markdown(["size", *(_state_heading(split, name) for name in names)], body)
    return [
        table,
        SESSIONS_ARE.format(
            ORDINALS.get(stride, f"{stride}th"), SESSIONS, _share_text(sum(contained), len(contained))
        ),
    ]


def _sets(results: Sequence[Result], split: Split, name: StateName | None, stride: int) -> list[Set]:
    return [of_sessions(results[first::stride], split, name) for first in range(stride)]


def _contained(sets: Sequence[Set], size: int) -> list[bool]:
    return [one for place in range(len(sets)) if (one := holds_others(sets, place, size)) is not None]


def _sets_text(sets: Sequence[Set], size: int) -> str:
    """Return how many intervals hold, and the median of their half-widths, in words."""
    contained = _contained(sets, size)
    widths = [half for over, _ in sets if size in over and (half := over[size].half_width) is not None]
    return f"{_share_text(sum(contained), len(contained))}, {_middle(widths)}"


def _share(one: InState) -> str:
    return _share_text(*one.contain())


def _share_text(contained: int, count: int) -> str:
    return f"{contained / count:.0%} ({contained} of {count})" if count else units.MISSING


def _widths(found: Sequence[InState]) -> str:
    """Return the half-widths of the states if there are several, else of all."""
    widths = [
        one.half_width
        for state in found[1:] or found
        for one in state.estimates
        if one.half_width is not None
    ]
    return _middle(widths)


def _middle(widths: Sequence[float]) -> str:
    return units.format_relative(median(widths)) if widths else units.MISSING


if __name__ == "__main__":
    sys.exit(tools.ending(main))
