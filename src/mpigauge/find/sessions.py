"""Steadiness of the machine and sessions beside each other: what intervals cover, and what changed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.compare.session_sentences import sessions_finding, sessions_line, unlike_line
from mpigauge.document.finding import Finding, finding_record
from mpigauge.find.kinds import FindingKind, Words, finding_in
from mpigauge.query.query import measured_result
from mpigauge.rows.machine.conditions import disturbed_launches
from mpigauge.rows.machine.crowding import with_processors
from mpigauge.rows.machine.over_sessions import session_mismatches, spans_of
from mpigauge.rows.machine.sessions import spread_s
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

NEARLY_ALWAYS = 0.9
"""Share of the visits on shared cores from which on no other moment is better."""

HOUR_S = 3600.0

WATCH = "doctor --watch 10s"
FIX = "fix the frequency"
REMEDIES: Mapping[str, str] = {
    "--only quiet": "look at --only quiet",
    "--over 1h": "spread the launches: --over 1h",
    FIX: "fix the frequency of the cores",
    WATCH: f"mpigauge {WATCH} shows when others use the cores: stop them, or use other cores",
}
"""Remedies, in whole words."""


class UnsteadyCause(NamedTuple):
    """Causes that made a machine unsteady.

    Attributes:
        brief: What happened, in a few words.
        so: What follows for times, in a few words; empty if that is said.
        whole: What happened, with its numbers.
        weight: Share of the visits that it touched, times the logarithm of what it does to them.
        on_screen: Whether it has a line of a screen.
    """

    brief: str
    so: str
    whole: str
    weight: float
    on_screen: bool = True


@dataclass(frozen=True, slots=True)
class Unsteady:
    """A machine that did not stay as fast as it was, as far as messages feel it.

    Attributes:
        seen: What arithmetic beside the visits tells.
        times_move: Half-width by which other speeds of the cores move times of messages, median of numbers;
            None where they hardly do.
        slowest_launch: How many times as long messages took in the slowest launch as in the fastest, median
            of numbers; None where they hardly did.
        launches: How many there were.
        quiet_helps: Whether quoted numbers are surer without visits that were not quiet.
        over_helps: Whether launches were so close in time that spreading them shows more of the machine.
        speeds_matter: Whether a quoted number leaves its interval without visits at other speeds.
    """

    seen: Steadiness
    times_move: float | None
    slowest_launch: float | None = None
    launches: int = 1
    quiet_helps: bool = False
    over_helps: bool = True
    speeds_matter: bool = True

    @property
    def causes(self) -> list[UnsteadyCause]:
        """Return what happened, what touches most visits and does most to them first."""
        found = (self._slow_launch(), self._other_speeds(), self._shared_cores(), self._stolen())
        return sorted(filter(None, found), key=lambda cause: -cause.weight)

    def _slow_launch(self) -> UnsteadyCause | None:
        seen, longer = self.seen, self.slowest_launch
        if longer is None or seen.fast_s is None or seen.slow_s is None:
            return None
        times = f"{format_time(seen.fast_s)} to {format_time(seen.slow_s)}"
        return UnsteadyCause(
            f"slowest launch {format_percent(longer - 1)} slower than the fastest",
            "",
            f"from launch to launch the same arithmetic took {times}, and messages up to "
            f"{format_factor(longer)} times as long",
            math.log(longer) / self.launches,
        )

    def _other_speeds(self) -> UnsteadyCause | None:
        seen, moves = self.seen, self.times_move
        if not (moves and seen.has_speeds) or seen.usual_share is None or seen.usual_s is None:
            return None
        share = format_percent(1 - seen.usual_share)
        return UnsteadyCause(
            f"clock speed changed in {share} of visits",
            f"times {format_relative(moves)}",
            f"{share} of the visits were made at another clock speed than the usual one, at which arithmetic "
            f"takes {format_time(seen.usual_s)}",
            (1 - seen.usual_share) * math.log1p(moves),
            self.speeds_matter,
        )

    def _shared_cores(self) -> UnsteadyCause | None:
        seen = self.seen
        if not seen.shares_cores or seen.shared_share is None or seen.shared_slowdown is None:
            return None
        share, longer = format_percent(seen.shared_share), format_factor(seen.shared_slowdown)
        return UnsteadyCause(
            f"cores shared in {share} of visits",
            f"up to {longer} times as long",
            f"in {share} of the visits another hardware thread used a rank's core, and arithmetic took "
            f"{longer} times as long",
            seen.shared_share * math.log(seen.shared_slowdown),
        )

    def _stolen(self) -> UnsteadyCause | None:
        if not self.seen.has_steal or self.seen.stolen_share is None:
            return None
        share = format_percent(self.seen.stolen_share)
        return UnsteadyCause(
            f"{share} of core time stolen",
            "times may vary",
            f"a hypervisor gave {share} of its cores' time to others",
            self.seen.stolen_share,
        )

    @property
    def always_shares_cores(self) -> bool:
        """Whether ranks shared cores nearly all the time, so that no other moment is a remedy."""
        return self.seen.shares_cores and (self.seen.shared_share or 0.0) >= NEARLY_ALWAYS

    @property
    def remedies(self) -> list[str]:
        """Return what helps, the shortest way first."""
        found = ["--only quiet"] if self.quiet_helps else []
        if self.always_shares_cores:
            return [*found, WATCH]
        found += ["--over 1h"] if self.over_helps else []
        return found or [WATCH if self.seen.shares_cores or self.seen.has_steal else FIX]


def _unsteady(about: About) -> Iterator[Unsteady]:
    """Yield a machine whose speed moves times, or whose cores others used."""
    result = about.result
    seen, times = steadiness_of(result), [row.time for row in about.numbers if row.time and row.talks]
    # Of short one-sided operations the instrument itself has most of it.
    usual = [time.machine_half_width or 0.0 for time in times if time.promised <= PROMISED]
    middle = median(usual or [0.0])
    longer = times_of_slowest_launch(result, [time.by_launch for time in times])
    felt = seen.changes and seen.ratio is not None and longer and longer > seen.ratio**MIN_FELT
    fact = Unsteady(
        seen,
        middle if by_clock_speeds(middle) else None,
        longer if felt else None,
        len({launch.number for launch in result.launches}) or 1,
        over_helps=spread_s(result.launches, result.done) < HOUR_S,
    )
    if fact.causes:
        changing = fact.times_move is not None and seen.has_speeds
        yield replace(
            fact,
            quiet_helps=(seen.shares_cores or changing) and about.quiet_helps,
            speeds_matter=changing and about.speeds_matter,
        )


def _unsteady_words(fact: Unsteady) -> Words:
    moves = f"times move by {format_relative(fact.times_move)} with them, and " if fact.times_move else ""
    return Words(
        f"unsteady machine: {'; '.join(cause.whole for cause in fact.causes)}",
        f"{moves}intervals cover what was seen in these launches, not another hour",
        " or ".join(REMEDIES[remedy] for remedy in fact.remedies),
    )


def _unsteady_lines(fact: Unsteady) -> Iterator[Words]:
    """Yield what happened, the largest cause first, with what follows; smaller causes go before larger.

    Other clock speeds only if they moved a number beyond its interval, which covers them.
    """
    causes = [cause for cause in fact.causes if cause.on_screen]
    if not causes:
        return
    first, *others = causes
    remedy = fact.remedies[0]
    so = f": {first.so}" if first.so else ""
    for other in others[: MAX_CAUSES - 1]:
        yield Words(f"{first.brief}{so}; {other.brief}", remedy=remedy)
    yield Words(f"{first.brief}{so}", remedy=remedy)
    yield Words(f"{first.brief}{so}")
    yield Words(first.brief)


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
    """Launches in which something else used the cores, and in how many cells of each.

    Attributes:
        quiet_helps: Whether quoted numbers are surer without visits that were not quiet.
    """

    cells_by_launch: Mapping[int, int]
    quiet_helps: bool = False


def _disturbed_launches(about: About) -> Iterator[DisturbedLaunches]:
    if cells := disturbed_launches(with_processors(about.result)):
        yield DisturbedLaunches(cells, about.quiet_helps)


def _disturbed_words(fact: DisturbedLaunches) -> Words:
    cells = fact.cells_by_launch
    worst = max(cells, key=lambda number: cells[number])
    launches = f"launch {worst}" if len(cells) == 1 else f"{len(cells)} launches, most of all {worst}"
    return Words(
        f"disturbed: in {launches}, something else used the cores of most visits of "
        f"{counted(cells[worst], 'cell')} for over 1 % of their time",
        "their times are too long",
        "stop it, or look at what is left with --only quiet"
        if fact.quiet_helps
        else "stop it, and measure again",
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
