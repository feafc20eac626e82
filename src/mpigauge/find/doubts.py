"""What is doubtful in a result as a whole: its troubles and warnings by kind, the worst first.

A kind of warning that is new comes in by itself, beside the others of no particular severity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.document.lateness_words import consequence, is_useless
from mpigauge.find.disturbances import (
    NetworkOnHost,
    Settings,
    SmallSharedMemory,
    disturbance_line,
    disturbances_of,
    stopped_by_a_limit,
    throttled_times,
)
from mpigauge.find.imported import damage_lines, unread_line
from mpigauge.find.sessions import steadiness_words
from mpigauge.find.warning_sentences import ON_ONE_CORE, WORDS, beyond_launches, ranks_of, short
from mpigauge.plan.left_out import left_out_line
from mpigauge.plan.library_names import library_name
from mpigauge.rows.machine.steadiness import Steadiness, steadiness_of
from mpigauge.rows.reasons import NotInState
from mpigauge.rows.rows import FLOORS
from mpigauge.units import format_relative, format_size
from mpigauge.vocabulary import BROKEN, DISTURBANCES, MISSING, RESUMABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.find.disturbances import Fact
    from mpigauge.find.warning_sentences import WarningSeverity
    from mpigauge.plan.left_out import LeftOut
    from mpigauge.plan.model import Cell
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Unread
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.rows.warnings import WarningKind
    from mpigauge.vocabulary import PackedDamage, Trouble

    DoubtKind = WarningKind | Trouble

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
        """The share of numbers that have it; all, if it is about the result as a whole."""
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


def _warnings_that_are(severity: WarningSeverity) -> list[WarningKind]:
    return [kind for kind, text in WORDS.items() if text.severity == severity]


_WORST_FIRST: tuple[DoubtKind, ...] = (*_warnings_that_are("worst"), *DISTURBANCES)
_PLACES: dict[DoubtKind, int] = {kind: place for place, kind in enumerate(_WORST_FIRST)}
SEVERITY: dict[DoubtKind, int] = {**_PLACES, **dict.fromkeys(MISSING, len(_WORST_FIRST))}
"""Numbers that are wrong mislead more than those that are not there, and these more than wide ones."""

BY_FACTORS: frozenset[DoubtKind] = frozenset({"throttled", *_warnings_that_are("by factors")})
"""Other doubts by which numbers change by factors, where others only widen their intervals."""

HARMLESS: frozenset[DoubtKind] = frozenset({"portable-library", *_warnings_that_are("harmless")})
"""Doubts that change no reading of a number whose interval is narrow."""


def doubts_of(result: Result, rows: Sequence[Row], quoted: Collection[Cell]) -> list[Doubt]:
    """Return all doubts about a result, the worst first.

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
    """Return whether a library is a wheel, built to run everywhere; older files say so only of some."""
    return bool(library.wheel) or "wheel" in library.origin


def _disturbed(result: Result, rows: Sequence[Row], quoted: Collection[Cell]) -> Iterator[Doubt]:
    """Yield what disturbed; a cause that is named with what it did is not said again."""
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
    """Return names of the variables that put ranks on one processor."""
    shared = (one.values["binding"] for row in rows for one in row.warnings if one.kind == "shared-core")
    return {setting.partition("=")[0] for binding in shared for setting in str(binding or "").split()}


def _missing(result: Result, rows: Sequence[Row]) -> Iterator[Doubt]:
    """Yield what the result should have and has not."""
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
    """Return whether a row was measured, but never in the state of the machine that was asked for."""
    return isinstance(row.reason, NotInState)


def _warned(rows: Sequence[Row], quoted: Collection[Cell], precision: float) -> Iterator[Doubt]:
    """Yield warnings of the numbers that tables show, by kind; the widest interval is the worst of each."""
    timed = [row for row in rows if row.time is not None and row.cell.pattern not in FLOORS]
    kinds = dict.fromkeys(warning.kind for row in timed for warning in row.warnings)
    for kind in kinds:
        mine = [row for row in timed if any(warning.kind == kind for warning in row.warnings)]
        mine.sort(key=_width, reverse=True)
        among = any(row.cell in quoted for row in mine)
        yield Doubt(kind, tuple(mine), len(timed), among, precision)


def _width(row: Row) -> float:
    return (row.time.half_width or 0.0) if row.time else 0.0


# ---- Sentences -----------------------------------------------------------------------------------


def doubt_line(doubt: Doubt) -> str:
    """Return the one line of a doubt: what is the matter, a colon, and where."""
    if doubt.fact is not None:
        return disturbance_line(doubt.fact)
    return SENTENCES.get(doubt.kind, _warned_sentence)(doubt)


def _warned_sentence(doubt: Doubt) -> str:
    what = short(doubt.kind) if doubt.kind in WORDS else doubt.kind
    return f"{what}: {len(doubt.rows)} of {doubt.of} numbers, as {_cell(doubt.rows[0])}"


def _wide(doubt: Doubt) -> str:
    worst = doubt.rows[0]
    width = format_relative(worst.time.half_width if worst.time else None)
    beyond = f"wider than {format_relative(doubt.precision)}: {len(doubt.rows)} of {doubt.of} numbers"
    by_machine = [row.time for row in doubt.rows if row.time and _launches_agree(row.time, doubt.precision)]
    if not by_machine:
        return f"{beyond}, worst {width} at {_cell(worst)}"
    cause = beyond_launches(max(time.machine_half_width or 0.0 for time in by_machine))
    return f"{beyond}, worst {width}; {len(by_machine)} by {cause}"


def _launches_agree(time: Timing, precision: float) -> bool:
    return time.launches_half_width is not None and time.launches_half_width <= precision


def _shared_core(doubt: Doubt) -> str:
    """Return which ranks share a core, where, and the shortest remedy."""
    of = next((one.values for one in doubt.rows[0].warnings if one.kind == "shared-core"), {})
    if not of:
        return f"ranks share a core: {len(doubt.rows)} of {doubt.of} numbers"
    how = "bound to" if of["bound"] else "on"
    ranks = ranks_of(str(of["ranks"]), int(of["count"] or 0))
    if binding := str(of["binding"] or ""):
        remedy = f"unset {binding.partition('=')[0]}"
    else:
        remedy = "use --bind core" if of["bound"] else "use fewer ranks"
    return f"shared core: ranks {ranks} {how} CPU {of['cpus']}; {remedy}"


def _hardware_threads(doubt: Doubt) -> str:
    of = next((one.values for one in doubt.rows[0].warnings if one.kind == "hardware-threads"), {})
    count = int(of.get("count") or 2)
    what = f"{count} ranks on the hardware threads of fewer cores" if count > 2 else ON_ONE_CORE  # noqa: PLR2004
    return f"{what}: ranks {ranks_of(str(of['ranks']), count)} on CPU {of['cpus']}" if of else what


def _relay_late(doubt: Doubt) -> str:
    """Return what to do with numbers of late packets: of those that are of no use, or else of all."""
    of = {id(row): values for row in doubt.rows if (values := _values_of(row, "relay-late"))}
    if not of:
        return f"emulated network late: {len(doubt.rows)} of {doubt.of} numbers"
    useless = [row for row in doubt.rows if is_useless(**of[id(row)])]
    rows = useless or doubt.rows
    worst = max(rows, key=lambda row: of[id(row)]["share"])
    place = f", {worst.cell.placement}" if "," in worst.cell.placement else ""
    numbers = f"{len(rows)} of {doubt.of} numbers, as {_cell(worst)}{place}"
    return f"emulated network late: {consequence(**of[id(worst)], numbers=numbers)}"


def _values_of(row: Row, kind: WarningKind) -> dict[str, float]:
    values = next((one.values for one in row.warnings if one.kind == kind), {})
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}


def _broken(doubt: Doubt) -> str:
    first = doubt.rows[0]
    return f"not measured: {len(doubt.rows)} of {doubt.of} cells, as {_cell(first)} ({first.status})"


def _not_reached(doubt: Doubt) -> str:
    return f"no time left: {len(doubt.rows)} of {doubt.of} cells, as {_cell(doubt.rows[0])}"


def _left_out(doubt: Doubt) -> str:
    return left_out_line(doubt.left_out, doubt.of)


def _damaged(doubt: Doubt) -> str:
    return "; ".join(damage_lines(doubt.lines, doubt.packed))


def _unread(doubt: Doubt) -> str:
    return unread_line(doubt.unread)


def _cut_short(_: Doubt) -> str:
    return "cut short: mpigauge resume continues it"


def _portable(doubt: Doubt) -> str:
    return f"{doubt.about} from PyPI may lack single-copy transfers, network drivers"


def _unsteady(doubt: Doubt) -> str:
    return f"unsteady machine: {steadiness_words(doubt.steadiness)}"


def _throttled(doubt: Doubt) -> str:
    return f"throttled {doubt.times} times: the job's CPU limit (cpu.max) stopped its ranks"


SENTENCES: Mapping[str, Callable[[Doubt], str]] = {
    "shared-core": _shared_core,
    "hardware-threads": _hardware_threads,
    "relay-late": _relay_late,
    "wide": _wide,
    "broken": _broken,
    "damaged": _damaged,
    "unread": _unread,
    "not-reached": _not_reached,
    "left-out": _left_out,
    "cut-short": _cut_short,
    "unsteady-machine": _unsteady,
    "throttled": _throttled,
    "portable-library": _portable,
}
"""Of the kinds that are more than a short phrase and a count."""


def _cell(row: Row) -> str:
    size = f" {format_size(row.cell.bytes)}" if row.sized else ""
    return f"{row.cell.pattern}{size}"
