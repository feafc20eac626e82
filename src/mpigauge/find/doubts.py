"""What is doubtful in a result as a whole: its troubles and warnings by kind, the worst first.

A kind of warning that is new comes in by itself, beside the others of no particular severity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.find.disturbances import (
    NetworkOnHost,
    Settings,
    SmallSharedMemory,
    disturbances_of,
    stopped_by_a_limit,
    throttled_times,
)
from mpigauge.plan.library_names import library_name
from mpigauge.rows.machine.steadiness import Steadiness, steadiness_of
from mpigauge.rows.rows import FLOORS
from mpigauge.rows.status import NotInState
from mpigauge.vocabulary import BROKEN, BY_FACTORS, DISTURBANCES, HARMLESS, MISSING, RESUMABLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mpigauge.find.disturbances import Fact
    from mpigauge.plan.left_out import LeftOut
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Unread
    from mpigauge.result.surroundings import LibraryRecord
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import DoubtKind, PackedDamage


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
        left_out: Of cells that cannot be measured.
        lines: Of a damaged file: their numbers.
        packed: Of a damaged file: what is wrong with it as a compressed one.
        unread: Of an imported text: lines that were no rows.
        times: How often we were throttled.
        fact: Of a disturbance.
    """

    kind: DoubtKind
    rows: tuple[Row, ...] = ()
    of: int = 0
    quoted: bool = False
    precision: float = 0.0
    about: str = ""
    steadiness: Steadiness = STEADY_MACHINE
    left_out: tuple[LeftOut, ...] = ()
    lines: tuple[int, ...] = ()
    packed: PackedDamage | None = None
    unread: tuple[Unread, ...] = ()
    times: int = 0
    fact: Fact | None = None

    @property
    def share(self) -> float:
        """Of the numbers, those that have it: all, if it is about the result as a whole."""
        return len(self.rows) / self.of if self.of else 1.0

    @property
    def rank(self) -> tuple[int, bool, bool, bool, float]:
        """The smaller, the worse: disturbed, missing, then what is quoted, by factors, widespread."""
        return (
            SEVERITY.get(self.kind, len(SEVERITY)),
            self.kind in HARMLESS,
            not self.quoted,
            self.kind not in BY_FACTORS,
            -self.share,
        )


_WORST_FIRST: tuple[DoubtKind, ...] = ("shared-core", *DISTURBANCES)
SEVERITY = {kind: place for place, kind in enumerate(_WORST_FIRST)} | dict.fromkeys(
    MISSING, len(_WORST_FIRST)
)
"""Numbers that are wrong mislead more than those that are not there, and these more than wide ones."""


def doubts_of(result: Result, rows: Sequence[Row], quoted: Collection[Cell]) -> list[Doubt]:
    """All doubts about a result, the worst first.

    Args:
        quoted: The cells that answer for it.
    """
    found = [
        *_disturbed(result, rows, quoted),
        *_missing(result, rows),
        *_warned(rows, quoted, result.campaign.plan.precision),
    ]
    if not (seen := steadiness_of(result)).steady:
        # All numbers are of this machine, so also those that are quoted.
        found.append(Doubt("unsteady-machine", quoted=True, steadiness=seen))
    if stopped_by_a_limit(result):
        found.append(Doubt("throttled", quoted=True, times=throttled_times(result)))
    found += [
        Doubt("portable-library", about=library_name(library.name, library.version, ""))
        for library in result.campaign.libraries
        if is_portable(library)
    ]
    return sorted(found, key=lambda doubt: doubt.rank)


def is_portable(library: LibraryRecord) -> bool:
    """Whether it is a wheel, built to run everywhere; older files say so only of some."""
    return bool(library.wheel) or "wheel" in library.origin


def _disturbed(result: Result, rows: Sequence[Row], quoted: Collection[Cell]) -> Iterator[Doubt]:
    """What disturbed; a cause that is named with what it did is not said again."""
    found = disturbances_of(result, rows, quoted)
    over = found.get("network-on-host")
    named = over.settings if isinstance(over, NetworkOnHost) else ()
    binding = _binding_variables(rows)
    for kind, fact in found.items():
        if isinstance(fact, Settings):
            left = tuple(one for one in fact.settings if one not in named and one.name not in binding)
            if left:
                yield Doubt(kind, quoted=True, fact=Settings(left))
        elif not (isinstance(fact, SmallSharedMemory) and over is not None):
            yield Doubt(kind, quoted=True, fact=fact)


def _binding_variables(rows: Iterable[Row]) -> set[str]:
    """Names of the variables that put ranks on one processor."""
    shared = (one.values["binding"] for row in rows for one in row.warnings if one.kind == "shared-core")
    return {setting.partition("=")[0] for binding in shared for setting in str(binding or "").split()}


def _missing(result: Result, rows: Sequence[Row]) -> Iterator[Doubt]:
    """What the result should have and has not."""
    if result.damaged or result.packed_damage:
        yield Doubt("damaged", lines=tuple(result.damaged), packed=result.packed_damage)
    if result.unread:
        yield Doubt("unread", unread=tuple(result.unread))
    if result.launches and (not result.ends or result.ends[-1].reason in RESUMABLE):
        yield Doubt("cut-short")
    if broken := tuple(row for row in rows if row.status in BROKEN):
        yield Doubt("broken", broken, len(rows))
    if left := [row for row in rows if row.status == "skipped" and not _not_in_state(row)]:
        messages_first = sorted(left, key=lambda row: not row.talks)
        yield Doubt("not-reached", tuple(messages_first), len(rows))
    if cannot := result.campaign.left_out:
        yield Doubt("left-out", of=len(result.campaign.cells), left_out=cannot)


def _not_in_state(row: Row) -> bool:
    """Whether it was measured, but never in the state of the machine that was asked for."""
    return isinstance(row.reason, NotInState)


def _warned(rows: Sequence[Row], quoted: Collection[Cell], precision: float) -> Iterator[Doubt]:
    """The warnings of the numbers that tables show, by kind; the widest interval is the worst of each."""
    timed = [row for row in rows if row.time is not None and row.cell.pattern not in FLOORS]
    kinds = dict.fromkeys(warning.kind for row in timed for warning in row.warnings)
    for kind in kinds:
        mine = [row for row in timed if any(warning.kind == kind for warning in row.warnings)]
        mine.sort(key=_width, reverse=True)
        among = any(row.cell in quoted for row in mine)
        yield Doubt(kind, tuple(mine), len(timed), among, precision)


def _width(row: Row) -> float:
    return (row.time.half_width or 0.0) if row.time else 0.0
