"""A session: one result of a plan that is measured again and again, as small as a history needs it.

Only the rows of its cells are kept, without samples, so that a year of results fits into memory.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.compare.alike import differing_facts, machine_of
from mpigauge.plan.factors import ALONG
from mpigauge.rows.group import cell_key, row_key
from mpigauge.rows.machine.conditions import distances_of, middle_of
from mpigauge.rows.machine.sessions import dated_sessions
from mpigauge.rows.machine.steadiness import steadiness_of
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Campaign
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import Distance, MachineSign

CellKey = tuple[str, int, int]
"""Key that distinguishes cells of one curve, in the order of their sizes."""

OF_HISTORY = ALONG | {"mpi_version"}
"""Factors in which one curve may differ: it goes on with another version of its library, unless two versions
are measured in one session."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The cells of one curve in one state of the machine.

    Attributes:
        at: Distance of its ranks: its kind, and in seconds; None if unknown.
        rows: By `CellKey`; without visits.
    """

    key: Key
    at: tuple[Distance, float] | None
    rows: Mapping[CellKey, Row]


@dataclass(frozen=True, slots=True, eq=False)
class SessionResult:
    """One result of a history, without samples.

    Attributes:
        begun_s: When its first launch began, in seconds of Unix time; of imported numbers that of their file,
            0 if it has none.
        is_dated: Whether the result itself says when it began.
        machine: Facts that identify a machine; all sessions of a history share them.
        versions: Versions and settings that may change between sessions, besides libraries, by name.
        signs: Times that show the machine itself, in seconds.
        visits: Number of visits: a copy that was cut short has fewer.
    """

    path: Path
    campaign: Campaign
    begun_s: float
    is_dated: bool
    machine: Mapping[str, str]
    versions: Mapping[str, str]
    parts: Sequence[Part]
    signs: Mapping[MachineSign, float]
    visits: int


def session_of(result: Result, rows: Iterable[Row]) -> SessionResult:
    """Return what a history needs of a result.

    Args:
        rows: One per cell and state of the machine; those of probes are ignored.
    """
    probes = {pattern.name for pattern in result.campaign.patterns if pattern.probes}
    begun_s = _begun_s(result)
    return SessionResult(
        result.path,
        result.campaign,
        _modified_s(result.path) if begun_s is None else begun_s,
        begun_s is not None,
        machine_of(result),
        _versions(result),
        _parts(row for row in rows if row.cell.pattern not in probes),
        _signs(result),
        len(result.visits),
    )


def time_of(row: Row) -> float | None:
    """Return the time of a cell in a session, s, as its table has it; None if there is none, or it is 0."""
    return row.time.estimate if row.time is not None and row.time.estimate > 0 else None


def in_time_order(sessions: Iterable[SessionResult]) -> tuple[list[SessionResult], list[SessionResult]]:
    """Return sessions in time order, and those that are copies or parts of another."""
    ordered: list[SessionResult] = []
    copies: list[SessionResult] = []
    for session in sorted(
        sessions, key=lambda session: (session.begun_s, -session.visits, str(session.path))
    ):
        (copies if any(same_session(session, other) for other in ordered) else ordered).append(session)
    return ordered, copies


def same_session(one: SessionResult, other: SessionResult) -> bool:
    """Return whether two files are of the same launches: one is a copy of the other, or of a part."""
    if one.campaign != other.campaign or one.begun_s != other.begun_s:
        return False
    return one.is_dated or _times_s(one) == _times_s(other)


def _times_s(session: SessionResult) -> list[float | None]:
    return [time_of(row) for part in session.parts for row in part.rows.values()]


def of_other_machines(
    reference: SessionResult, sessions: Iterable[SessionResult]
) -> list[tuple[SessionResult, list[str]]]:
    """Return the sessions of other machines, each with what differs."""
    differing = [(session, differing_facts(reference.machine, session.machine)) for session in sessions]
    return [(session, differs) for session, differs in differing if differs]


def _begun_s(result: Result) -> float | None:
    dated = dated_sessions(result.launches)
    if dated:
        return dated[0].begin_s
    started = result.campaign.started
    return datetime.fromisoformat(started).astimezone(UTC).timestamp() if started else None


def _modified_s(path: Path) -> float:
    """Return when a file was last written, Unix time in s; 0 if there is none, as for standard input."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _versions(result: Result) -> dict[str, str]:
    environment = result.campaign.environment
    versions = {
        # Who imports has not measured.
        "mpigauge": result.campaign.mpigauge if result.launches or not result.imported else "",
        "kernel": environment.kernel,
        "governor": environment.governor,
        "turbo": environment.turbo,
        "smt": environment.smt,
        "huge_pages": environment.huge_pages,
    }
    return {name: value for name, value in versions.items() if value}


def _parts(rows: Iterable[Row]) -> list[Part]:
    rows = list(rows)
    versions: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        versions[row.cell.mpi, row.cell.label].add(row.cell.mpi_version)

    def curve(row: Row) -> Key:
        several = len(versions[row.cell.mpi, row.cell.label]) > 1
        return *cell_key(row.cell, OF_HISTORY), row.cell.mpi_version if several else ""

    curves = group_by(rows, lambda row: (curve(row), row_key(row, OF_HISTORY)))
    return [_part(key, mine) for (key, _), mine in curves.items()]


def _part(key: Key, rows: Sequence[Row]) -> Part:
    at = middle_of(distances_of(visit for row in rows for visit in row.visits))
    return Part(key, at, {key_in_curve(row): replace(row, visits=()) for row in rows})


def key_in_curve(row: Row) -> CellKey:
    """Return what tells a cell from others of its curve."""
    return (row.cell.pair, row.cell.bytes, row.cell.window)


def _signs(result: Result) -> dict[MachineSign, float]:
    """Return medians over launches of the arithmetic's time and of the hand-over of a line, in seconds.

    Messages between hosts are left out: their time is measured, not assumed constant.
    """
    known: dict[MachineSign, list[float]] = defaultdict(list)
    for of, seconds in distances_of(result.visits).values():
        if of == "line":
            known[of].append(seconds)
    signs = {name: median(values) for name, values in known.items()}
    if (speed_s := steadiness_of(result).middle_s) is not None:
        signs["arithmetic"] = speed_s
    return {name: seconds for name, seconds in signs.items() if 0 < seconds < math.inf}
