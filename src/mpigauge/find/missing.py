"""What a result should have and has not: lines that cannot be read, cells without a number, an early end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.document.status_words import reason
from mpigauge.find.kinds import MAX_LETTERS, CellsFound, FindingKind, Words, counted_lines, finding_in
from mpigauge.plan.left_out import left_out_line, number_asked_for
from mpigauge.plan.one_pair import ARE_ONE, MORE_RANKS, in_words, one_pair, what_they_measure
from mpigauge.plan.patterns import FLOORS
from mpigauge.rows.estimate import Printed
from mpigauge.rows.failure_cause import is_from_outside, line_of
from mpigauge.rows.reasons import LaunchFailed, NeverQuiet, NotInState
from mpigauge.sequences import consecutive, runs
from mpigauge.units import counted, format_factor, span
from mpigauge.vocabulary import BROKEN, RESUMABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.find.kinds import About
    from mpigauge.plan.left_out import LeftOut
    from mpigauge.plan.model import Cell
    from mpigauge.plan.one_pair import OnePair
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Failure, Unread
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import PackedDamage


# ---- Damaged files -------------------------------------------------------------------------------

RUNS_NAMED = 4

PACKED: dict[PackedDamage, str] = {
    "cut": "the compressed file ends in the middle: what it has before that is shown",
    "damaged": "the compressed file is damaged: what it has before that is shown",
    "altered": "the checksum of the compressed file is wrong: numbers may have changed",
}

FEWER_SAMPLES = "numbers rest on the samples that are left"
NOTHING_LACKS = "no launch lacks records"
ANEW = "copy it again where there is a whole one, or measure anew"
RESUMED = "mpigauge resume measures again what is lost"


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage of a file.

    Attributes:
        lines: Numbers of its damaged lines.
        packed: Its damage as a compressed one.
        unfounded: Numbers of records that are left out, by launch, as it lacks its own.
        lacks: Whether numbers may lack samples.
        resumable: Whether these can be measured again.
    """

    lines: tuple[int, ...]
    packed: PackedDamage | None = None
    unfounded: tuple[int, ...] = ()
    lacks: bool = True
    resumable: bool = False


def _damage(about: About) -> Iterator[Damage]:
    result = about.result
    if result.damaged or result.packed_damage or result.incomplete:
        yield Damage(
            tuple(result.damaged),
            result.packed_damage,
            tuple(result.unfounded.values()),
            bool(result.incomplete or result.packed_damage or not result.launches),
            bool(result.incomplete) and result.is_resumable,
        )


def _damage_words(fact: Damage) -> Words:
    parts = [PACKED[fact.packed]] if fact.packed else []
    if fact.lines:
        verb = "is" if len(fact.lines) == 1 else "are"
        line = f"{counted(len(fact.lines), 'line')} of the file {verb} damaged and left out"
        parts.append(f"{line}: {_runs(fact.lines)}")
    if fact.unfounded:
        many = len(fact.unfounded) > 1
        of = f"{len(fact.unfounded)} launches that lack their" if many else "a launch that lacks its"
        parts.append(f"{sum(fact.unfounded)} records left out of {of} first one")
    said = "; ".join(parts)
    if not fact.lacks:
        return Words(said, NOTHING_LACKS)
    if fact.resumable:
        return Words(said, FEWER_SAMPLES, RESUMED, do="mpigauge resume repairs it")
    return Words(said, FEWER_SAMPLES, ANEW, do="copy or measure it again")


def _runs(numbers: tuple[int, ...]) -> str:
    found = runs(numbers, consecutive)
    named = [span(str(run[0]), str(run[-1])) for run in found[:RUNS_NAMED]]
    return ", ".join([*named, *(["..."] if len(found) > RUNS_NAMED else [])])


def _damage_lines(fact: Damage) -> Iterator[Words]:
    words = _damage_words(fact)
    so, do = ("", words.do) if words.do else (words.consequence, "")
    yield Words(words.fact, so, do)
    if left_out := len(fact.lines) + sum(fact.unfounded):
        yield Words(f"{counted(left_out, 'line')} of the file left out", so, do)
    yield Words(words.fact)


def _damage_told(_: About, fact: Damage) -> Iterator[Finding]:
    packed = {"packed": fact.packed} if fact.packed else {}
    yield finding_in("damaged", _damage_words(fact), {"lines": list(fact.lines), **packed})


@dataclass(frozen=True, slots=True)
class Torn:
    """A last line that is incomplete."""


def _torn(about: About) -> Iterator[Torn]:
    if about.result.torn and not about.result.packed_damage:
        yield Torn()


def _torn_words(_: Torn) -> Words:
    return Words(
        "the last line is incomplete (killed?) and was ignored",
        "at most one visit is lost",
        "mpigauge resume measures it again",
    )


# ---- Imported texts ------------------------------------------------------------------------------

MAX_UNREAD = 4
"""Lines that are named below a table; of more, how many they are."""

NOT_READ = "what stands below it is not read"
REPAIR = "delete the line, or repair it, and those below it are read"
MAX_QUOTED = 16
"""Letters that are quoted of a word where a line has no room for more."""


@dataclass(frozen=True, slots=True)
class UnreadLines:
    """Lines of an imported text that are no rows of their tables."""

    lines: tuple[Unread, ...]


def _unread(about: About) -> Iterator[UnreadLines]:
    if about.result.unread:
        yield UnreadLines(tuple(about.result.unread))


def _unread_words(fact: UnreadLines) -> Words:
    return _line_words(fact.lines[0])


def _line_words(one: Unread) -> Words:
    below = f"; {counted(one.below, 'line')} below not read" if one.below else ""
    said = f"{_place(one)} ends its table: {one.why}: {one.words!r}{below}"
    return Words(said, "", REPAIR) if one.below else Words(said, "")


def _unread_lines(fact: UnreadLines) -> Iterator[Words]:
    """Yield the first line that was no row, and how many others are."""
    first, more = fact.lines[0], f"; {len(fact.lines) - 1} more" if len(fact.lines) > 1 else ""
    below = f"; {counted(first.below, 'line')} below not read" if first.below else ""
    behind = f"{below}{more}"
    room = MAX_LETTERS - len(behind)
    cut = re.sub(rf"'([^']{{{MAX_QUOTED}}})[^']+'", r"'\1...'", first.why)
    ends = f"{_line(first)} ends its table:"
    ways = (f"{ends} {first.why}", f"{ends} {cut}", f"{_line(first)}: {cut}")
    said = next((way for way in ways if len(way) <= room), ends.removesuffix(":"))
    yield Words(f"{said}{behind}")


def _unread_below(_: About, fact: UnreadLines) -> Iterator[Words]:
    """Yield all lines that were no rows, with what they begin with."""
    yield from map(_line_words, fact.lines[:MAX_UNREAD])
    if len(fact.lines) > MAX_UNREAD:
        yield Words(f"{len(fact.lines) - MAX_UNREAD} more lines were no rows of their tables")


def _unread_told(_: About, fact: UnreadLines) -> Iterator[Finding]:
    """Yield lines that were no rows as findings, one for each."""
    for one in fact.lines:
        value = {"source": one.source, "why": one.why, "words": one.words, "below": one.below}
        yield finding_in("unread", _line_words(one), value)


def _line(one: Unread) -> str:
    return one.source.rpartition(": ")[2]


def _place(one: Unread) -> str:
    return f"{PurePath(one.source.rpartition(': ')[0]).name} {_line(one)}"


# ---- Launches that are none --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FarApart:
    """Printed launches that differ by more than launches of one command do.

    Attributes:
        cells: How many cells have such launches.
        of: Cells of several launches.
        most: The largest factor between two launches of a cell.
    """

    cells: int
    of: int
    most: float


def _far_apart(about: About) -> Iterator[FarApart]:
    times = [row.time for row in about.rows if isinstance(row.time, Printed) and len(row.time.by_launch) > 1]
    if apart := [time.by_launch.values() for time in times if time.far_apart]:
        yield FarApart(len(apart), len(times), max(max(of_one) / min(of_one) for of_one in apart))


def _far_apart_words(fact: FarApart) -> Words:
    factor = format_factor(fact.most)
    return Words(
        f"launches up to {factor} times apart in {fact.cells} of {fact.of} numbers",
        "they are hardly of one command, so no mean is quoted",
        "write above each table of the text what it is of, and import it again",
        so="no mean",
        do="name each table",
    )


def _far_apart_lines(fact: FarApart) -> Iterator[Words]:
    words = _far_apart_words(fact)
    yield words
    yield Words(words.fact)


# ---- Cells without a number ----------------------------------------------------------------------

MAX_BROKEN = 3
"""Cells that are named below a table."""

NO_NUMBER = "these have no number"


def _broken(about: About) -> Iterator[CellsFound]:
    if rows := [row for row in about.rows if row.status in BROKEN]:
        yield _cells(about, rows)


def _cells(about: About, rows: Sequence[Row]) -> CellsFound:
    """Return cells among all, without the floor of the instrument, unless nothing else is among them."""
    asked_for = [row for row in rows if row.cell.pattern not in FLOORS]
    floors = 0 if asked_for else len(rows)
    of = floors + number_asked_for(row.cell for row in about.rows)
    return CellsFound(tuple(asked_for or rows), of, varied=about.varied)


def _broken_words(cells: CellsFound) -> Words:
    named = [f"{cells.name(row)} ({reason(row) or row.status})" for row in cells.rows[:MAX_BROKEN]]
    more = len(cells.rows) - MAX_BROKEN
    return Words(
        f"not measured: {len(cells.rows)} of {counted(cells.of, 'cell')}: "
        f"{'; '.join(named)}{f'; {more} more' if more > 0 else ''}",
        NO_NUMBER,
        "look at what failed: mpigauge show --all",
    )


def _broken_lines(cells: CellsFound) -> Iterator[Words]:
    corrupt = sum(row.status == "corrupt" for row in cells.rows)
    what = "wrong results" if corrupt == len(cells.rows) else "not measured"
    so = f"{corrupt} with wrong results; no number" if 0 < corrupt < len(cells.rows) else "no number"
    yield from counted_lines(what, cells, so, "--all", "cells", f" ({cells.rows[0].status})")


def _launch_failed(about: About) -> Iterator[CellsFound]:
    yield from _messages_first(about, [row for row in about.rows if isinstance(row.reason, LaunchFailed)])


def _launch_failed_words(cells: CellsFound) -> Words:
    first = cells.rows[0]
    count = f"{len(cells.rows)} of {counted(cells.of, 'cell')}"
    remedy = "mpigauge doctor checks this machine"
    return Words(f"not started: {count}, {cells.name(first)} first ({reason(first)})", NO_NUMBER, remedy)


def _launch_failed_lines(cells: CellsFound) -> Iterator[Words]:
    said = f"{len(cells.rows)} of {cells.of} cells not started"
    yield Words(f"{said}: {reason(cells.rows[0])}")
    yield Words(said, remedy="mpigauge show --all says why")


def _launch_failed_told(_: About, cells: CellsFound) -> Iterator[Finding]:
    yield _cells_finding("launch-failed", _launch_failed_words(cells), cells)


HUNG = "a launch that hung or was ended took the time: when the reason of that is gone, run it again"


@dataclass(frozen=True, slots=True)
class CellsNotReached(CellsFound):
    """Cells that there was no time for.

    Attributes:
        hung: Whether that is because a launch hung, or somebody ended it.
    """

    hung: bool = False


def hang_took_time(result: Result) -> bool:
    """Return whether launches that hung or were ended took longer by a launch's share of the budget."""
    plan = result.campaign.plan
    hung = {(one.launch, one.job) for one in result.failures if _took_time(one)}
    seconds = [one.elapsed_s for one in result.done if (one.launch, one.job) in hung]
    usual_s = [one.elapsed_s for one in result.done if (one.launch, one.job) not in hung]
    lost_s = sum(seconds) - len(seconds) * (median(usual_s) if usual_s else 0.0)
    return bool(seconds) and plan.budget_s is not None and lost_s * plan.launches_min >= plan.budget_s


def _took_time(failure: Failure) -> bool:
    return failure.kind == "timeout" or is_from_outside(line_of(failure))


def _not_reached(about: About) -> Iterator[CellsNotReached]:
    # What was never in the state of the machine that was asked for, or never quiet, was measured.
    others = LaunchFailed, NeverQuiet, NotInState
    if _is_cut_short(about.result):  # to be continued, which measures them
        return
    skipped = [row for row in about.rows if row.status == "skipped" and not isinstance(row.reason, others)]
    for cells in _messages_first(about, skipped):
        yield CellsNotReached(cells.rows, cells.of, varied=cells.varied, hung=hang_took_time(about.result))


def _messages_first(about: About, rows: Sequence[Row]) -> Iterator[CellsFound]:
    if rows:
        yield _cells(about, sorted(rows, key=lambda row: not row.talks))


def _not_reached_words(cells: CellsNotReached) -> Words:
    count = f"{len(cells.rows)} of {counted(cells.of, 'cell')}"
    remedy = HUNG if cells.hung else "raise --budget, or measure less"
    return Words(f"no time left: {count}, {cells.name(cells.rows[0])} first", NO_NUMBER, remedy)


def _not_reached_lines(cells: CellsNotReached) -> Iterator[Words]:
    so, do = ("no number: a launch hung", "") if cells.hung else ("no number", "raise --budget")
    yield from counted_lines("no time left", cells, so, do, "cells")


def _never_quiet(about: About) -> Iterator[CellsFound]:
    yield from _messages_first(about, [row for row in about.rows if isinstance(row.reason, NeverQuiet)])


def _never_quiet_words(cells: CellsFound) -> Words:
    count = f"{len(cells.rows)} of {counted(cells.of, 'cell')}"
    remedy = "leave out --only quiet, or measure on a quiet machine"
    return Words(f"never quiet: {count}, {cells.name(cells.rows[0])} first", NO_NUMBER, remedy)


def _never_quiet_lines(cells: CellsFound) -> Iterator[Words]:
    for so in ("no number", ""):
        yield from counted_lines("never quiet", cells, so, "measure on a quiet machine", "cells")


def _never_quiet_told(_: About, cells: CellsFound) -> Iterator[Finding]:
    yield _cells_finding("never-quiet", _never_quiet_words(cells), cells)


def _broken_told(_: About, cells: CellsFound) -> Iterator[Finding]:
    yield _cells_finding("broken", _broken_words(cells), cells)


def _not_reached_told(_: About, cells: CellsNotReached) -> Iterator[Finding]:
    yield _cells_finding("not-reached", _not_reached_words(cells), cells)


def _cells_finding(kind: str, words: Words, cells: CellsFound) -> Finding:
    value = {"cells": len(cells.rows), "of": cells.of}
    return finding_in(kind, words, value, tuple(row.cell for row in cells.rows))


@dataclass(frozen=True, slots=True)
class LeftOutCells:
    """Cells of the plan that cannot be measured, and those that are measured."""

    cells: tuple[LeftOut, ...]
    measured: tuple[Cell, ...]


def _left_out(about: About) -> Iterator[LeftOutCells]:
    campaign = about.result.campaign
    if campaign.left_out:
        yield LeftOutCells(tuple(campaign.left_out), tuple(campaign.cells))


def _left_out_words(fact: LeftOutCells) -> Words:
    first = fact.cells[0]
    return Words(f"{left_out_line(fact.cells, fact.measured)}: {first.reason}", NO_NUMBER, first.hint)


def _left_out_lines(fact: LeftOutCells) -> Iterator[Words]:
    said = left_out_line(fact.cells, fact.measured)
    yield Words(said, "no number", "--all")
    yield Words(said, remedy="--all")
    yield Words(said)


def _left_out_told(_: About, fact: LeftOutCells) -> Iterator[Finding]:
    cells = tuple(one.cell for one in fact.cells)
    value = {"cells": len(cells), "of": len(cells) + number_asked_for(fact.measured)}
    yield finding_in("left-out", _left_out_words(fact), value, cells)


# ---- Several pairs that are one ------------------------------------------------------------------


def _one_pair(about: About) -> Iterator[OnePair]:
    campaign = about.result.campaign
    yield from one_pair(campaign.cells, {pattern.name: pattern for pattern in campaign.patterns})


def _one_pair_words(fact: OnePair) -> Words:
    return Words(ARE_ONE, what_they_measure(fact), MORE_RANKS)


def _one_pair_lines(fact: OnePair) -> Iterator[Words]:
    yield _one_pair_words(fact)
    many = counted(sum(map(len, fact.alone.values())), "pattern")
    yield Words(ARE_ONE, f"{many} measure what {in_words([*fact.alone])} do", do="--np 4")


# ---- An early end --------------------------------------------------------------------------------

NOTHING_YET = "nothing is measured yet"


@dataclass(frozen=True, slots=True)
class CutShort:
    """A campaign that was ended before it was done.

    Attributes:
        cells: How many are to be measured, if none is measured yet; else 0.
    """

    cells: int = 0


def _is_cut_short(result: Result) -> bool:
    has_begun = bool(result.launches) or not (result.imported or result.failures)
    return has_begun and (not result.ends or result.ends[-1].reason in RESUMABLE)


def is_begun_only(result: Result) -> bool:
    """Return whether a campaign was ended before anything was measured."""
    return _is_cut_short(result) and not result.visits


def _cut_short(about: About) -> Iterator[CutShort]:
    if _is_cut_short(about.result):
        yield CutShort(number_asked_for(about.result.campaign.cells) if is_begun_only(about.result) else 0)


def _cut_short_words(fact: CutShort) -> Words:
    if fact.cells:
        return Words(NOTHING_YET, f"0 of {counted(fact.cells, 'cell')}", "mpigauge resume measures them")
    return Words("cut short", "launches or cells are missing", "mpigauge resume continues it")


def _cut_short_lines(fact: CutShort) -> Iterator[Words]:
    yield _cut_short_words(fact)


MISSING: tuple[FindingKind, ...] = (
    FindingKind("damaged", "missing", _damage, _damage_words, _damage_lines, told=_damage_told),
    FindingKind("torn", "harmless", _torn, _torn_words),
    FindingKind("unread", "missing", _unread, _unread_words, _unread_lines, _unread_below, _unread_told),
    FindingKind("far-apart", "by factors", _far_apart, _far_apart_words, _far_apart_lines),
    FindingKind("broken", "missing", _broken, _broken_words, _broken_lines, told=_broken_told),
    FindingKind("cut-short", "missing", _cut_short, _cut_short_words, _cut_short_lines),
    FindingKind(
        "launch-failed",
        "missing",
        _launch_failed,
        _launch_failed_words,
        _launch_failed_lines,
        told=_launch_failed_told,
    ),
    FindingKind(
        "not-reached",
        "missing",
        _not_reached,
        _not_reached_words,
        _not_reached_lines,
        told=_not_reached_told,
    ),
    FindingKind(
        "never-quiet",
        "missing",
        _never_quiet,
        _never_quiet_words,
        _never_quiet_lines,
        told=_never_quiet_told,
    ),
    FindingKind("left-out", "missing", _left_out, _left_out_words, _left_out_lines, told=_left_out_told),
    FindingKind("one-pair", "missing", _one_pair, _one_pair_words, _one_pair_lines),
)
