"""What is doubtful in a result as a whole: its troubles and warnings by kind, the worst first.

A kind of warning that is new comes in by itself, beside the others of no particular severity.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.analysis.reasons import NotInState
from mpigauge.analysis.sessions import sessions_of
from mpigauge.analysis.steadiness import Steadiness, steadiness_of
from mpigauge.plan.library_names import library_name
from mpigauge.vocabulary import BROKEN, FOREMOST, HARMLESS, MISSING, RESUMABLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import DoubtKind


STEADY_MACHINE = Steadiness()


@dataclass(frozen=True, slots=True)
class Doubt:
    """One kind of trouble, wherever it is.

    Attributes:
        rows: The cells that have it, the worst first; none if it is about the result as a whole.
        of: How many cells could have it.
        quoted: Whether one of them is among the numbers that answer for the result.
        precision: The relative half-width that was asked for.
        about: Of a library: its name and version.
        steadiness: Of a machine that was not steady.
        lines: Of a damaged file: their numbers.
        times: How often we were throttled.
    """

    kind: DoubtKind
    rows: tuple[Row, ...] = ()
    of: int = 0
    quoted: bool = False
    precision: float = 0.0
    about: str = ""
    steadiness: Steadiness = STEADY_MACHINE
    lines: tuple[int, ...] = ()
    times: int = 0

    @property
    def share(self) -> float:
        """Of the numbers, those that have it: all, if it is about the result as a whole."""
        return len(self.rows) / self.of if self.of else 1.0

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, float]:
        """The smaller, the worse: a shared core, then what is missing, what is quoted, what is widespread."""
        return (
            self.kind not in FOREMOST,
            self.kind not in MISSING,
            self.kind in HARMLESS,
            not self.quoted,
            -self.share,
        )


def doubts_of(result: Result, rows: Sequence[Row], quoted: Collection[Cell]) -> list[Doubt]:
    """All doubts about a result, the worst first.

    Args:
        quoted: The cells that answer for it.
    """
    found = [*_missing(result, rows), *_warned(rows, quoted, result.campaign.plan.precision)]
    if not (seen := steadiness_of(result)).steady:
        # All numbers are of this machine, so also those that are quoted.
        found.append(Doubt("unsteady-machine", quoted=True, steadiness=seen))
    if (times := _throttled(result)) >= len(result.launches) > 0:
        found.append(Doubt("throttled", quoted=True, times=times))
    found += [
        Doubt("portable-library", about=library_name(library.name, library.version, ""))
        for library in result.campaign.libraries
        if "wheel" in library.origin
    ]
    return sorted(found, key=lambda doubt: doubt.rank)


def _missing(result: Result, rows: Sequence[Row]) -> Iterator[Doubt]:
    """What the result should have and has not."""
    if result.damaged:
        yield Doubt("damaged", lines=tuple(result.damaged))
    if result.launches and (not result.ends or result.ends[-1].reason in RESUMABLE):
        yield Doubt("cut-short")
    if broken := tuple(row for row in rows if row.status in BROKEN):
        yield Doubt("broken", broken, len(rows))
    if left := [row for row in rows if row.status == "skipped" and not _not_in_state(row)]:
        messages_first = sorted(left, key=lambda row: not row.talks)
        yield Doubt("not-reached", tuple(messages_first), len(rows))


def _throttled(result: Result) -> int:
    """How often a limit of processor time stopped our processes, from the begin of a session to its end.

    The count is of the control group, and begins anew in another one: only what it grows by tells of us.
    """
    session_of = {number: at for at, numbers in enumerate(sessions_of(result.launches)) for number in numbers}
    return sum(
        max(0, later - earlier)
        for (one, earlier), (other, later) in pairwise(_throttled_counts(result))
        if session_of[one] == session_of[other]
    )


def _throttled_counts(result: Result) -> Iterator[tuple[int, int]]:
    """The counts before and after each launch that are known, with its number, in the order of time."""
    ended = {(done.launch, done.job): done.throttled for done in result.done}
    for launch, after in zip(result.launches, [*result.launches[1:], None], strict=False):
        key = launch.number, launch.job
        if launch.throttled is not None:
            yield launch.number, launch.throttled
        last_part = after is None or (after.number, after.job) != key
        if last_part and (count := ended.get(key)) is not None:
            yield launch.number, count


def _not_in_state(row: Row) -> bool:
    """Whether it was measured, but never in the state of the machine that was asked for."""
    return isinstance(row.reason, NotInState)


def _warned(rows: Sequence[Row], quoted: Collection[Cell], precision: float) -> Iterator[Doubt]:
    """The warnings, by kind; the widest interval is the worst of each."""
    timed = [row for row in rows if row.time is not None]
    kinds = dict.fromkeys(warning.kind for row in timed for warning in row.warnings)
    for kind in kinds:
        mine = [row for row in timed if any(warning.kind == kind for warning in row.warnings)]
        mine.sort(key=_width, reverse=True)
        among = any(row.cell in quoted for row in mine)
        yield Doubt(kind, tuple(mine), len(timed), among, precision)


def _width(row: Row) -> float:
    return (row.time.launches_half_width or 0.0) if row.time else 0.0
