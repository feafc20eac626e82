"""Sentences on sessions: what intervals cover, the minutes of one result or the days of several."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import DOT
from mpigauge.document.finding import Finding
from mpigauge.plan.library_names import kind_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mpigauge.compare.history.changes import VersionChange
    from mpigauge.rows.machine.over_sessions import SessionIntervals, SessionMismatch
    from mpigauge.rows.machine.sessions import OddSession

SWITCHES = {"kernel": "system", "huge_pages": "huge pages", "smt": "SMT"}
"""Words for versions whose name says too little."""

ODD_SHARE = 5
"""A session is named if one in so many of its numbers is odd: single ones are odd by chance now and then."""

MAX_ODD = 5
"""Odd sessions that are named."""


def count_of(sessions: int) -> str:
    """Return `6 sessions`."""
    return units.counted(sessions, "session")


def too_few_words(sessions: int, least: int, known: int | None = None) -> str:
    """Return how many sessions are missing for a verdict.

    Args:
        known: How many of them have the number of which most do; None for all.
    """
    have = sessions if known is None else known
    some = "" if have == sessions else f", {have} of them with what the last one measured"
    more = max(least - have, 1)
    return f"{count_of(sessions)}{some}; a verdict takes {least} sessions of each number: measure {more} more"


def day_of(begun_s: float, *, daily: bool) -> str:
    """Return when a session began, UTC: its day, or the minute if there are several a day."""
    if not begun_s:
        return "date unknown"
    return datetime.fromtimestamp(begun_s, UTC).strftime("%Y-%m-%d" if daily else "%Y-%m-%d %H:%M")


def odd_lines(sessions: Sequence[OddSession]) -> Iterator[str]:
    """Yield odd sessions, each once, the last first; those odd in few numbers are only counted."""
    named = [session for session in sessions if ODD_SHARE * len(session.ratios) >= session.of][::-1]
    yield from map(_odd_line, named[:MAX_ODD])
    if len(named) > MAX_ODD:
        more = units.counted(len(named) - MAX_ODD, "odd session")
        yield f"before these, {more} more: --format json"
    single = [session for session in sessions if session not in named and session.left_out]
    if single:
        numbers = sum(session.left_out for session in single)
        yield f"single odd numbers, left out of what is expected: {numbers} in {count_of(len(single))}"


def _odd_line(session: OddSession) -> str:
    """Return `odd session 2026-01-07: 1.4 times as long in 6 of 6 numbers, left out of what is expected`."""
    least, most = session.ratios[0], session.ratios[-1]
    factors = [least, most] if least < 1 < most else [session.ratio]
    said = f"{' to '.join(map(units.format_factor, factors))} times as long"
    where = f"in {len(session.ratios)} of {units.counted(session.of, 'number')}"
    out = ", left out of what is expected" if session.left_out else ""
    return f"odd session {day_of(session.begun_s, daily=session.daily)}: {said} {where}{out}"


def baseline_words(name: str, folder: str, sessions: int, changes: Sequence[VersionChange]) -> str:
    """Return `new.jsonl against 8 sessions of results (Open MPI 5.0.7 -> 5.0.8)`."""
    what = switches(changes)
    return f"{name} against {count_of(sessions)} of {folder}{f' ({what})' if what else ''}"


def earlier_words(
    name: str, newest: Path | None, begun_s: float, sessions: int, changes: Sequence[VersionChange]
) -> str:
    """Return `as before? new.jsonl against results/a.jsonl of 2026-11-08 03:00 and 2 sessions before it`.

    Args:
        newest: The newest of the earlier results; None without any.
        begun_s: When it began, seconds of Unix time.
        sessions: How many earlier results there are.
        changes: Versions that differ from those of the newest.
    """
    if newest is None:
        return f"as before? {name}: there is no earlier result of its plan, neither in results/ nor kept"
    more = f" and {count_of(sessions - 1)} before it" if sessions > 1 else ""
    what = f" ({said})" if (said := switches(changes)) else ""
    return f"as before? {name} against {newest} of {day_of(begun_s, daily=False)}{more}{what}"


def other_words(path: str) -> str:
    """Return how to name other results than those that were found."""
    return f"others: mpigauge compare BEFORE {path}, or compare {path} --baseline FOLDER"


def how_to_look_back(path: str, newest: Path, sessions: int) -> str:
    """Return that there are earlier results, which nobody has asked about, and how to ask."""
    count = units.counted(sessions, "earlier result")
    return f"as before? {count} of this plan, the newest {newest}: mpigauge compare {path} --before"


def kept_words(path: Path, count: int) -> str:
    """Return where a result was kept, and how many of its plan there are."""
    return f"kept: {path} ({units.counted(count, 'result')} of this plan)"


def switches(changes: Sequence[VersionChange]) -> str:
    """Return `Open MPI 5.0.7 -> 5.0.8, system 6.1 -> 6.2`."""
    return ", ".join(
        f"{SWITCHES.get(one.name, kind_name(one.name))} {one.before} -> {one.after}" for one in changes
    )


def sessions_line(spans: SessionIntervals, names: Sequence[str] = ()) -> str:
    """Return both intervals: `±1.1 % within 43 s · ±9.0 % over 6 sessions, 3 days`.

    Args:
        names: Names of the results, if others are shown with them.
    """
    within = (
        f"{units.format_relative(spans.within)} within {units.format_duration(spans.within_s)}"
        if spans.within
        else ""
    )
    sessions = f"{count_of(spans.sessions)}, {units.format_duration(spans.over_s)}"
    over = f"{units.format_relative(spans.over)} over {sessions}"
    whose = f"{', '.join(names)}: " if names else ""
    return f"{whose}intervals, median of cells: {DOT.join(filter(None, [within, over]))}"


def unlike_line(fact: SessionMismatch, names: Sequence[str]) -> str:
    """Return why two results are not sessions of each other.

    Args:
        names: Names of all results.
    """
    times = f"{units.format_time(fact.first_s)} and {units.format_time(fact.other_s)}"
    pair = f"{names[fact.first]} and {names[fact.other]}"
    return f"no sessions of each other: {pair}, whose ranks were {times} apart"


def sessions_finding(spans: SessionIntervals, names: Sequence[str] = ()) -> Finding:
    """Return the spans of sessions as a finding."""
    values = {
        "sessions": spans.sessions,
        "within": spans.within,
        "within_s": spans.within_s,
        "over": spans.over,
        "over_s": spans.over_s,
    }
    return Finding("sessions", "info", (), values, sessions_line(spans, names))
