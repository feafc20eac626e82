"""Sessions in words: what an interval covers, of the minutes of one result and of the days of several."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import DOT
from mpigauge.document.finding import Finding
from mpigauge.plan.library_names import kind_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.history.changes import VersionChange
    from mpigauge.rows.machine.over_sessions import Spans, Unlike
    from mpigauge.rows.machine.sessions import OddSession

SWITCHES = {"kernel": "system", "huge_pages": "huge pages", "smt": "SMT"}
"""What versions are called whose name says too little."""

ODD_SHARE = 5
"""A session is named that is odd in one of so many numbers: single ones are odd by chance now and then."""

ODD_MOST = 5
"""Odd sessions that are named."""


def count_of(sessions: int) -> str:
    """`6 sessions`."""
    return units.counted(sessions, "session")


def few(there: int, least: int) -> str:
    """How many sessions are missing for a verdict."""
    here = f"{there} session{'' if there == 1 else 's'}"
    return f"{here}; a verdict takes {least} sessions of each number: measure {max(least - there, 1)} more"


def day_of(begun_s: float, *, daily: bool) -> str:
    """When a session began: its day, UTC, or the minute if there are several a day."""
    if not begun_s:
        return "date unknown"
    return datetime.fromtimestamp(begun_s, UTC).strftime("%Y-%m-%d" if daily else "%Y-%m-%d %H:%M")


def odd_lines(found: Sequence[OddSession]) -> Iterator[str]:
    """Odd sessions, each once, the last ones first; those that are odd in few numbers are counted only."""
    named = [one for one in found if ODD_SHARE * len(one.ratios) >= one.of][::-1]
    yield from map(_odd_line, named[:ODD_MOST])
    if len(named) > ODD_MOST:
        more = units.counted(len(named) - ODD_MOST, "odd session")
        yield f"before these, {more} more: --format json"
    single = [one for one in found if one not in named and one.left_out]
    if single:
        numbers = sum(one.left_out for one in single)
        yield f"single odd numbers, left out of what is expected: {numbers} in {count_of(len(single))}"


def _odd_line(one: OddSession) -> str:
    """`odd session 2026-01-07: 1.4 times as long in 6 of 6 numbers, left out of what is expected`."""
    least, most = one.ratios[0], one.ratios[-1]
    factors = [least, most] if least < 1 < most else [one.ratio]
    said = f"{' to '.join(map(units.format_factor, factors))} times as long"
    where = f"in {len(one.ratios)} of {units.counted(one.of, 'number')}"
    out = ", left out of what is expected" if one.left_out else ""
    return f"odd session {day_of(one.begun_s, daily=one.daily)}: {said} {where}{out}"


def baseline_words(name: str, folder: str, sessions: int, known: Sequence[VersionChange]) -> str:
    """What is held against what: `new.jsonl against 8 sessions of results (Open MPI 5.0.7 -> 5.0.8)`."""
    what = switches(known)
    return f"{name} against {count_of(sessions)} of {folder}{f' ({what})' if what else ''}"


def switches(known: Sequence[VersionChange]) -> str:
    """`Open MPI 5.0.7 -> 5.0.8, system 6.1 -> 6.2`."""
    return ", ".join(
        f"{SWITCHES.get(one.name, kind_name(one.name))} {one.before} -> {one.after}" for one in known
    )


def sessions_line(spans: Spans, names: Sequence[str] = ()) -> str:
    """Both intervals: `±1.1 % within 43 s · ±9.0 % over 6 sessions, 3 days`.

    Args:
        names: Of the results, where there are others beside them.
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


def unlike_line(fact: Unlike, names: Sequence[str]) -> str:
    """Why two results are no sessions of each other.

    Args:
        names: Of all results.
    """
    times = f"{units.format_time(fact.first_s)} and {units.format_time(fact.other_s)}"
    pair = f"{names[fact.first]} and {names[fact.other]}"
    return f"no sessions of each other: {pair}, whose ranks were {times} apart"


def sessions_finding(spans: Spans, names: Sequence[str] = ()) -> Finding:
    """The same for programs."""
    values = {
        "sessions": spans.sessions,
        "within": spans.within,
        "within_s": spans.within_s,
        "over": spans.over,
        "over_s": spans.over_s,
    }
    return Finding("sessions", "info", (), values, sessions_line(spans, names))
