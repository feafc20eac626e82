"""Sentences of a history: its verdict first, then since when, and what changed with it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from mpigauge import units
from mpigauge.compare.history.history import MIN_SESSIONS
from mpigauge.compare.sentences import (
    MACHINE,
    MAY_HAVE_MOVED,
    NOT_IN_TURN,
    SIGNS,
    CellNaming,
    sizes_between,
    stood_still,
)
from mpigauge.compare.session_sentences import count_of, day_of, odd_lines, switches, too_few_words
from mpigauge.document.ratio_words import VERDICTS
from mpigauge.plan.factors import ALONG
from mpigauge.rows.machine.sessions import are_daily
from mpigauge.sequences import group_by
from mpigauge.stats.splits import MIN_SESSIONS as CHANGES_FROM
from mpigauge.stats.steps import STRETCHES_FROM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.history.changes import Change
    from mpigauge.compare.history.history import History, Track
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Decision
    from mpigauge.vocabulary import ComparisonVerdict


@dataclass(frozen=True, slots=True, eq=False)
class HistoryLine:
    """Cells of one curve about which one line says the same.

    Attributes:
        cells: Columns of the curve, from the smallest size.
        change: Their last change.
        outside: Whether the last session is outside of the prediction.
        suspected: Whether too few sessions suggest a change.
        blind: Whether the last session may be slower by more than is allowed.
    """

    track: Track
    cells: Sequence[int]
    change: Change | None
    outside: bool
    lost: bool
    suspected: bool = False
    blind: bool = False

    @property
    def worst(self) -> int:
        """Cell that is farthest from what it was."""
        return max(self.cells, key=self._distance)

    @property
    def factor(self) -> Decision | None:
        """How many times as long the worst cell takes since the change."""
        return self.change.cells[self.worst] if self.change else None

    @property
    def last(self) -> Decision | None:
        """Decision on the worst cell's last session against those before."""
        return self.track.last.get(self.worst)

    def _distance(self, cell: int) -> float:
        known = self.change.cells if self.change else self.track.last
        return abs(np.log(known[cell].estimate)) if cell in known else 0.0


def lines_of(track: Track) -> list[HistoryLine]:
    """Return the lines of a curve: cells with the same change together."""
    lost = set(track.lost)
    maybe = set() if track.suspected is None else set(np.flatnonzero(track.suspected.changed))

    def said(cell: int) -> tuple[object, ...]:
        change, out = track.latest(cell), track.outside.get(cell)
        longer = change is not None and change.cells[cell].estimate > 1
        out_word = out.verdict if out else ""
        return (
            change.place if change else None,
            longer,
            out_word,
            cell in lost,
            cell in maybe,
            cell in track.blind,
        )

    groups = group_by(range(track.curve.logs.shape[1]), said)
    return [
        HistoryLine(
            track,
            cells,
            track.latest(cells[0]),
            cells[0] in track.outside,
            cells[0] in lost,
            cells[0] in maybe,
            cells[0] in track.blind,
        )
        for cells in groups.values()
    ]


# ---- One line ------------------------------------------------------------------------------------


def name(line: HistoryLine, names: CellNaming) -> str:
    """Return the name of the cells of a line."""
    curve = line.track.curve
    if curve.sign is not None:
        return SIGNS[curve.sign]
    distance = [f"ranks {units.format_time(curve.at[1])} apart"] if curve.at else []
    cells = [_row(line, cell).cell for cell in line.cells]
    several = [along for along in ALONG if len({getattr(cell, along) for cell in cells}) > 1]
    return " ".join([names.name(_row(line, line.cells[0]), several), *distance])


def sizes(line: HistoryLine) -> str:
    """Return `8 B to 1 KiB (6 of 7 sizes)`; for several pairs or windows `8 B to 1 KiB (12 numbers)`."""
    if line.track.curve.sign is not None:
        return ""
    first, last = line.cells[0], line.cells[-1]
    rows = sorted((_row(line, cell) for cell in line.cells), key=lambda row: row.cell.bytes)
    if len({row.cell.bytes for row in rows}) < len(rows):
        ends = dict.fromkeys(units.format_size(row.cell.bytes) for row in (rows[0], rows[-1]))
        return f"{' to '.join(ends)} ({len(rows)} numbers)"
    return sizes_between(_row(line, first), _row(line, last), len(line.cells), last - first + 1)


def verdict_of(line: HistoryLine) -> str:
    """Return the word for the verdict on a line."""
    if line.lost:
        return "lost"
    if line.change is not None and line.factor is not None:
        if line.track.curve.control:
            return NOT_IN_TURN[line.factor.verdict]
        return MACHINE if line.change.machine else VERDICTS[line.factor.verdict]
    if line.outside and line.last is not None:
        return "last session longer" if line.last.estimate > 1 else "last session shorter"
    if line.last is not None:
        return "may have changed" if line.suspected else "may be slower" if line.blind else "no change"
    sessions = len(line.track.curve.sessions)
    last = len(line.track.curve.logs) - 1
    ended = sessions >= MIN_SESSIONS and last not in line.track.curve.sessions
    return "not in the last session" if ended else "too few sessions"


def since_words(change: Change, sessions: Sequence[SessionResult], cell: int | None = None) -> str:
    """Return `2026-11-03 (Open MPI 5.0.7 -> 5.0.8)`, or `about 2026-11-03, rising`.

    Args:
        cell: The cell of the change; None for the one that moved farthest.
    """
    if change.drifts:
        where = change.worst if cell is None else cell
        return f"about {date(sessions, change.place)}, {_drifting(change, where)}"
    what = switches(change.switches)
    return f"{date(sessions, change.place)}{f' ({what})' if what else ''}"


def date(sessions: Sequence[SessionResult], place: int) -> str:
    """Return when a session began."""
    return day_of(sessions[place].begun_s, daily=are_daily(one.begun_s for one in sessions))


def _drifting(change: Change, cell: int) -> str:
    return "rising" if change.cells[cell].estimate > 1 else "falling"


def _row(line: HistoryLine, cell: int) -> Row:
    return line.track.curve.row(cell, len(line.track.curve.logs) - 1)


def _name_and_sizes(line: HistoryLine, names: CellNaming) -> str:
    return " ".join(filter(None, [name(line, names), sizes(line)]))


def _factor(decision: Decision) -> str:
    return f"{units.format_factor(decision.estimate)} times as long"


def _change(line: HistoryLine, sessions: Sequence[SessionResult], names: CellNaming) -> str:
    if line.change is None or line.factor is None:
        return _name_and_sizes(line, names)
    if line.change.drifts:
        began = date(sessions, line.change.place)
        how = f"{_drifting(line.change, line.worst)} since about {began}, {_factor(line.factor)} in all"
        return f"{_name_and_sizes(line, names)} {how}"
    return f"{_name_and_sizes(line, names)} {_factor(line.factor)} since {since_words(line.change, sessions)}"


# ---- Above and below -----------------------------------------------------------------------------


def headline(
    shown: History, verdict: ComparisonVerdict, lines: Sequence[HistoryLine], names: CellNaming
) -> str:
    """Return the verdict on the whole history as a sentence.

    Args:
        lines: The lines of all cells, the worst first.
    """
    own = [line for line in lines if line.change is not None and not line.change.machine]
    match verdict:
        case "slower" if lost := [line for line in lines if line.lost]:
            return f"lost: {_name_and_sizes(lost[0], names)} did not work in the last session"
        case "slower" | "faster":
            words = [_change(line, shown.sessions, names) for line in own[:1]]
            more = [_changes(len(own) - 1, " more")] if len(own) > 1 else []
            return f"{VERDICTS[verdict]}: {'; '.join([*words, *more])}"
        case "machine":
            return f"{MACHINE}: {_moved_controls(shown)}"
        case "same":
            count = sum(len(track.last) for track in shown.tracks)
            return f"no change that matters: {count} numbers over {count_of(len(shown.sessions))}"
        case "undecided":
            return f"undecided: {_open(shown, lines, names)}"


def _changes(count: int, more: str = "") -> str:
    return f"{count}{more} change{'' if count == 1 else 's'}"


def _moved_controls(shown: History) -> str:
    own = [(track, change) for track in shown.controls for change in track.changes]
    names = dict.fromkeys(_control(track) for track, _ in own)
    if own:
        last = max((change for _, change in own), key=lambda change: change.place)
        when = since_words(last, shown.sessions)
        return f"{', '.join(names)} changed, in which no MPI library takes part; since {when}"
    change = next(change for track in shown.tracks for _, change in track.pending if change.machine)
    names = dict.fromkeys(
        SIGNS[one.sign] if one.sign else one.row(0, change.place).cell.pattern for one in change.signs
    )
    return f"{', '.join(names)} changed, too; since {since_words(change, shown.sessions)}"


def _control(track: Track) -> str:
    curve = track.curve
    return SIGNS[curve.sign] if curve.sign else curve.row(0, len(curve.logs)).cell.pattern


def _open(shown: History, lines: Sequence[HistoryLine], names: CellNaming) -> str:
    if not shown.enough:
        return too_few_words(len(shown.sessions), MIN_SESSIONS, shown.of_the_last)
    for suspected in _suspected(shown, names):
        return suspected
    outside = [(line, line.last) for line in lines if line.outside and line.last is not None]
    longer = [(line, last) for line, last in outside if last.estimate > 1]
    if not longer:
        allow = units.format_percent(shown.thresholds.allow)
        return f"{shown.blind} numbers of the last session may be slower by {allow}: sessions differ too much"
    line, last = longer[0]
    what = f"{_name_and_sizes(line, names)} {_factor(last)} in the last session alone"
    return f"{what}; it may be the machine: measure again"


def _suspected(shown: History, names: CellNaming) -> Iterator[str]:
    """Yield what may have changed, and how many more sessions would tell."""
    count = len(shown.sessions)
    for track in shown.tracks:
        if (step := track.suspected) is None:
            continue
        cells = [int(cell) for cell in np.flatnonzero(step.changed)]
        worst = max(cells, key=lambda cell: abs(step.mean[cell]))
        factor = f"{units.format_factor(float(np.exp(step.mean[worst])))} times as long"
        since = f"in the last {count - step.place} of {count} sessions as before"
        more = f"{CHANGES_FROM} sessions tell a change from chance: measure {CHANGES_FROM - count} more"
        said = _name_and_sizes(HistoryLine(track, cells, None, outside=False, lost=False), names)
        yield f"{said} {factor} {since}; {more}"


def notes(shown: History, left_out: Sequence[tuple[SessionResult, Sequence[str]]]) -> Iterator[str]:
    """Yield what else a reader should know, below the table."""
    yield from _expected(shown)
    count = len(shown.sessions)
    yield from _came_and_went(shown)
    yield from odd_lines([*shown.odd_sessions])
    # The headline has the first one, where all of it is undecided.
    maybe = list(_suspected(shown, CellNaming()))[1 if shown.verdict == "undecided" else 0 :]
    yield from (f"may have changed: {said}" for said in maybe)
    yield from _not_looked_for(count)
    known = count >= CHANGES_FROM or any(track.last for track in shown.controls)
    if shown.controls and known and not any(track.changes for track in shown.controls):
        names = ", ".join(dict.fromkeys(map(_control, shown.controls)))
        last = [decision for track in shown.controls for decision in track.last.values()]
        yield f"controls did not move: {names}" if stood_still(last) else f"{MAY_HAVE_MOVED}: {names}"
    outside = [track for track in shown.controls if track.outside]
    if outside:
        names = ", ".join(dict.fromkeys(map(_control, outside)))
        yield f"controls that were not as expected in the last session: {names}"
    if undated := sum(not one.is_dated and one.begun_s > 0 for one in shown.sessions):
        yield f"dated by its file, as imported numbers have no date: {units.counted(undated, 'session')}"
    for session, differs in left_out:
        yield f"left out: {session.path}: {'; '.join(differs)}"


def _came_and_went(shown: History) -> Iterator[str]:
    """Yield what was slower or faster for a while and is as before since; the table has no line on it."""
    for track in (*shown.tracks, *shown.controls):
        for first, then in pairwise(track.changes):
            cells = [cell for cell in first.cells if _undoes(then, first, cell, shown.thresholds.margin)]
            if cells:
                line = HistoryLine(track, cells, first, outside=False, lost=False)
                ends = f"{date(shown.sessions, first.place)} to {date(shown.sessions, then.before)}"
                ratio = first.cells[line.worst]
                yield f"came and went: {_name_and_sizes(line, CellNaming())} {_factor(ratio)} from {ends}"


def _undoes(then: Change, first: Change, cell: int, margin: float) -> bool:
    if cell not in then.cells or first.drifts:
        return False
    return bool(abs(np.log(first.cells[cell].estimate * then.cells[cell].estimate)) < np.log1p(margin))


def _not_looked_for(count: int) -> Iterator[str]:
    """Yield what so few sessions cannot show, and how many more it takes."""
    whats = {
        "the last session against those before": MIN_SESSIONS,
        "changes for good": CHANGES_FROM,
        "what came and went again": STRETCHES_FROM,
    }
    said = [f"{what}, from {least} sessions on" for what, least in whats.items() if count < least]
    if said:
        more = f"measure {max(whats.values()) - count} more for all of it"
        yield f"not looked for, with {_sessions(count)}: {'; '.join(said)}: {more}"


def _sessions(count: int) -> str:
    return f"{count} session{'' if count == 1 else 's'}"


def _expected(shown: History) -> Iterator[str]:
    """Yield the interval in which the next session is expected."""
    lows, highs = [], []
    for track in shown.tracks:
        if track.base is not None:
            low, high = track.base.said.band()
            lows += [*low]
            highs += [*high]
    if lows:
        half = median(np.sqrt(np.array(highs) / np.array(lows)) - 1)
        yield f"the next session is expected within {units.format_relative(half)} (95 %, median of numbers)"


def seconds(line: HistoryLine, place: int) -> float | None:
    """Return the worst cell's time in its first session (0) or in the last one (-1), in seconds."""
    curve = line.track.curve
    known = curve.logs[np.isfinite(curve.logs[:, line.worst]), line.worst]
    return float(np.exp(known[place])) if known.size else None
