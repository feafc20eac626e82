"""Steadiness of the machine and sessions beside each other: what intervals cover, and what changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge.compare.session_sentences import sessions_finding, sessions_line, unlike_line
from mpigauge.document.finding import Finding, finding_record
from mpigauge.find.kinds import FindingKind, Words, finding_in
from mpigauge.query.query import measured_result
from mpigauge.rows.machine.conditions import disturbed_launches
from mpigauge.rows.machine.crowding import with_processors
from mpigauge.rows.machine.over_sessions import session_mismatches, spans_of
from mpigauge.rows.machine.steadiness import speeds_apart, steadiness_of, times_of_slowest_launch
from mpigauge.stats.limits import PROMISED, by_clock_speeds
from mpigauge.units import counted, format_factor, format_percent, format_relative, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.find.kinds import About
    from mpigauge.query.query import Source
    from mpigauge.rows.machine.over_sessions import SessionIntervals
    from mpigauge.rows.machine.steadiness import SpeedsApart, Steadiness


# ---- One machine ---------------------------------------------------------------------------------

MAX_CAUSES = 2
"""Most causes on one line of a screen."""

MIN_FELT = 0.5
"""Share of what arithmetic takes longer in the slowest launch that messages must take longer, too."""


@dataclass(frozen=True, slots=True)
class Unsteady:
    """A machine that did not stay as fast as it was, as far as messages feel it.

    Attributes:
        seen: What arithmetic beside the visits tells.
        times_move: Half-width by which other speeds of the cores move times of messages, median of numbers;
            None where they hardly do.
        slowest_launch: How many times as long messages took in the slowest launch as in the fastest, median
            of numbers; None where they hardly did.
    """

    seen: Steadiness
    times_move: float | None
    slowest_launch: float | None = None

    @property
    def causes(self) -> list[str]:
        """Return what happened, in a few words each."""
        seen, said = self.seen, []
        if self.slowest_launch is not None:
            said.append(f"slowest launch {format_percent(self.slowest_launch - 1)} slower than the fastest")
        if self.times_move and seen.has_speeds and seen.usual_share is not None:
            said.append(f"clock speed changed in {format_percent(1 - seen.usual_share)} of visits")
        if seen.shares_cores and seen.shared_share is not None:
            said.append(f"cores shared in {format_percent(seen.shared_share)} of visits")
        if seen.has_steal and seen.stolen_share is not None:
            said.append(f"{format_percent(seen.stolen_share)} of core time stolen")
        return said

    @property
    def has_quiet_visits(self) -> bool:
        """Whether leaving out visits is a remedy."""
        return self.seen.shares_cores or (self.times_move is not None and self.seen.has_speeds)


def _unsteady(about: About) -> Iterator[Unsteady]:
    """Yield a machine whose speed moves times, or whose cores others used."""
    seen, times = steadiness_of(about.result), [row.time for row in about.numbers if row.time and row.talks]
    # Of short one-sided operations the instrument itself has most of it.
    usual = [time.machine_half_width or 0.0 for time in times if time.promised <= PROMISED]
    middle = median(usual or [0.0])
    longer = times_of_slowest_launch(about.result, [time.by_launch for time in times])
    felt = seen.changes and seen.ratio is not None and longer and longer > seen.ratio**MIN_FELT
    fact = Unsteady(seen, middle if by_clock_speeds(middle) else None, longer if felt else None)
    if fact.causes:
        yield fact


def _unsteady_words(fact: Unsteady) -> Words:
    seen, said = fact.seen, []
    if fact.slowest_launch is not None and seen.fast_s and seen.slow_s:
        times = f"{format_time(seen.fast_s)} to {format_time(seen.slow_s)}"
        longer = f"messages up to {format_factor(fact.slowest_launch)} times as long"
        said.append(f"from launch to launch the same arithmetic took {times}, and {longer}")
    if fact.times_move and seen.has_speeds and seen.usual_share is not None and seen.usual_s is not None:
        said.append(
            f"{format_percent(1 - seen.usual_share)} of the visits were made at another clock speed than the "
            f"usual one, at which arithmetic takes {format_time(seen.usual_s)}"
        )
    if seen.shares_cores and seen.shared_share is not None and seen.shared_slowdown is not None:
        said.append(
            f"in {format_percent(seen.shared_share)} of the visits another hardware thread used a rank's "
            f"core, and arithmetic took {format_factor(seen.shared_slowdown)} times as long"
        )
    if seen.has_steal and seen.stolen_share is not None:
        said.append(f"a hypervisor gave {format_percent(seen.stolen_share)} of its cores' time to others")
    moves = f"times move by {format_relative(fact.times_move)} with them, and " if fact.times_move else ""
    quiet = "look at --only quiet, fix the frequency, or " if fact.has_quiet_visits else ""
    return Words(
        f"unsteady machine: {'; '.join(said)}",
        f"{moves}intervals cover what was seen in these launches, not another hour",
        f"{quiet}spread the launches: --over 1h",
    )


def _unsteady_lines(fact: Unsteady) -> Iterator[str]:
    moves = f"times {format_relative(fact.times_move)}" if fact.times_move else "times may vary"
    remedy = "--only quiet" if fact.has_quiet_visits else "--over 1h"
    for count in range(MAX_CAUSES, 0, -1):
        yield f"{', '.join(fact.causes[:count])}: {moves}; {remedy}"
    yield f"{fact.causes[0]}; {remedy}"


def _unsteady_told(_: About, fact: Unsteady) -> Iterator[Finding]:
    parts = {"times_move": fact.times_move, "slowest_launch": fact.slowest_launch}
    value = asdict(fact.seen) | {"ratio": fact.seen.ratio} | parts
    yield finding_in("unsteady-machine", _unsteady_words(fact), value)


UNSTEADY = FindingKind(
    "unsteady-machine", "usual", _unsteady, _unsteady_words, _unsteady_lines, told=_unsteady_told
)


# ---- Launches that were disturbed ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DisturbedLaunches:
    """Launches in which something else used the cores, and in how many cells of each."""

    cells_by_launch: Mapping[int, int]


def _disturbed_launches(about: About) -> Iterator[DisturbedLaunches]:
    if cells := disturbed_launches(with_processors(about.result)):
        yield DisturbedLaunches(cells)


def _disturbed_words(fact: DisturbedLaunches) -> Words:
    cells = fact.cells_by_launch
    worst = max(cells, key=lambda number: cells[number])
    launches = f"launch {worst}" if len(cells) == 1 else f"{len(cells)} launches, most of all {worst}"
    return Words(
        f"disturbed: in {launches}, something else used the cores of most visits of "
        f"{counted(cells[worst], 'cell')} for over 1 % of their time",
        "their times are too long",
        "stop it, or look at what is left with --only quiet",
    )


def _disturbed_told(_: About, fact: DisturbedLaunches) -> Iterator[Finding]:
    value = {str(number): cells for number, cells in fact.cells_by_launch.items()}
    yield finding_in("disturbed-launches", _disturbed_words(fact), value)


DISTURBED_LAUNCHES = FindingKind(
    "disturbed-launches",
    "harmless",
    _disturbed_launches,
    _disturbed_words,
    told=_disturbed_told,
)
"""Not on a screen, since the median holds where few launches are so: of many visits, `disturbed` says it."""


# ---- One machine in several results --------------------------------------------------------------


def speeds_finding(fact: SpeedsApart, names: Sequence[str]) -> Finding:
    """Return that the machine was slower in one result than in another.

    Args:
        names: Of all results.
    """
    ratio = format_factor(fact.ratio)
    times = f"{format_time(fact.slow_s)} instead of {format_time(fact.fast_s)}"
    text = (
        f"machine {ratio} times as slow in {names[fact.slow]} as in {names[fact.fast]} (arithmetic: {times})"
    )
    return Finding("speeds-apart", "warning", (), asdict(fact) | {"ratio": fact.ratio}, text)


# ---- Several results -----------------------------------------------------------------------------


def spans(sources: Sequence[Source]) -> list[SessionIntervals]:
    """Return both intervals of each set of sources that are sessions of each other."""
    return spans_of([measured_result(source) for source in sources])


def sessions_lines(sources: Sequence[Source]) -> Iterator[str]:
    """Yield what intervals of one time and over sessions cover; names the sources if there are others."""
    found = spans(sources)
    for one in found:
        everything = len(found) == 1 and len(one.members) == len(sources)
        yield sessions_line(one, () if everything else [sources[member].name for member in one.members])
    # One says it: of several results the others are as the first, or as far from it.
    for fact in session_mismatches([measured_result(source) for source in sources])[:1]:
        yield unlike_line(fact, [source.name for source in sources])
    if slower := _speeds(sources):
        yield slower.text


def _speeds(sources: Sequence[Source]) -> Finding | None:
    """Return that the machine itself was slower in one of them; None if it was not."""
    fact = speeds_apart([source.result for source in sources])
    return speeds_finding(fact, [source.name for source in sources]) if fact else None


def sessions_records(sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """Yield findings about sessions, each with the files that it is of."""
    for one in spans(sources):
        members = [sources[member] for member in one.members]
        files = [str(source.result.path) for source in members]
        found = sessions_finding(one, [source.name for source in members])
        yield {"file": files[0], "files": files, **finding_record(found)}
    if speeds := _speeds(sources):
        files = [str(source.result.path) for source in sources]
        yield {"file": files[0], "files": files, **finding_record(speeds)}
