"""The same cells measured at several times, in one result or in several: what the next session may find.

Source: docs/method-comparison.md#other-minutes
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec.structs import asdict

from mpigauge.rows.machine.conditions import ALIKE, distances_of, middle_of
from mpigauge.rows.machine.sessions import OverSessions, Session, across_times, dated_sessions, session_time
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.samples import by_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.result.reader import Result
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.machine.split import SplitPart
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import Distance, StateName

MIN_SESSIONS = 2
"""Sessions needed for an interval over sessions; that of two is wide."""

IGNORED_FIELDS = {
    "memory_bytes",
    "python",
    "shared_memory_bytes",
    "shared_memory_free_bytes",
    "user_is_root",
    "variables",
}
"""Fields of the environment that may differ between sessions; memory has some pages less after a restart."""

LAUNCH_KEYS = ("hosts", "lab", "binding", "launcher", "variables", "mpi_options", "abi")
"""Fields of a plan that affect launching and are no factors of a cell."""

LIBRARY = ("name", "version", "standard", "show", "flags", "built_by", "parameter_files")
"""Fields of a library and its kernel that must be equal in all sessions."""

JOB_VARIABLE_PREFIX = "SLURM_"
"""Prefixes of variables that differ from job to job, whatever is measured."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredResult:
    """A result with what is said of its cells."""

    result: Result
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class SessionIntervals:
    """Intervals within and over sessions of results that are sessions of each other: medians of their rows.

    Attributes:
        members: Indices of these results.
        sessions: How many there are.
        within: Relative half-width within a result; None if no row has one.
        within_s: Over how much time a session was measured, median.
        over: Relative half-width over the sessions.
        over_s: From the begin of the first to the end of the last.
    """

    members: tuple[int, ...]
    sessions: int
    within: float | None
    within_s: float
    over: float
    over_s: float


@dataclass(frozen=True, slots=True)
class SessionMismatch:
    """Two results that would be sessions of each other, had their ranks been equally far apart.

    Attributes:
        first: The place of the one among the results that were given.
        other: Index of the second result.
        of: What was handed over.
        first_s: How long that took in the one, median of the cells that both have.
        other_s: Hand-over time in the second result.
    """

    first: int
    other: int
    of: Distance
    first_s: float
    other_s: float


class Placed(Protocol):
    """Anything of which it may be known how far apart its ranks were.

    Attributes:
        member: The place of the result that it is part of.
        at: Kind of the hand-over and its seconds; None if unknown.
    """

    @property
    def member(self) -> int: ...

    @property
    def at(self) -> tuple[Distance, float] | None: ...


AnyPlaced = TypeVar("AnyPlaced", bound=Placed)


class _Part(NamedTuple):
    """A cell in one state of one result.

    Attributes:
        member: The place of the result.
        at: How far apart its ranks were: of what, and in seconds; None if that is not known.
    """

    member: int
    state: StateName | None
    time: Timing
    at: tuple[Distance, float] | None


Key = tuple[bytes, "Cell"]


def with_sessions(measured: Sequence[MeasuredResult]) -> list[list[Row]]:
    """Return the rows of each result with their times over the sessions of all results of its setting.

    Sessions are matched by cell and, since a machine has states, by how far apart the ranks were. What is not
    known of that matches any other. Sessions at the same time, as of a file and its copy, are one.

    Args:
        measured: Results in any order, of any machines.
    """
    dated = [dated_sessions(one.result.launches, one.result.done) for one in measured]
    if sum(map(len, dated)) < MIN_SESSIONS:
        return [list(one.rows) for one in measured]
    found: dict[tuple[int, Cell, StateName | None], OverSessions] = {}
    for (_, cell), parts in _parts(measured).items():
        for mine in alike(parts):
            if (over := _over(mine, dated)) is not None:
                found |= {(part.member, cell, part.state): over for part in mine}
    return [
        [
            replace(row, sessions=found.get((member, row.cell, row.state))) if row.time else row
            for row in one.rows
        ]
        for member, one in enumerate(measured)
    ]


def spans_of(measured: Sequence[MeasuredResult]) -> list[SessionIntervals]:
    """Return both intervals of each set of results that are sessions of each other.

    Args:
        measured: With rows that know their sessions.
    """
    groups = linked([[row.sessions for row in one.rows] for one in measured])
    return [_spans(tuple(members), measured) for members in groups]


def linked(known: Sequence[Iterable[OverSessions | None]]) -> list[list[int]]:
    """Return places of those that have a time over sessions in common, directly or by others."""
    groups: list[tuple[set[int], list[int]]] = []
    for place, mine in enumerate(known):
        ids = {id(one) for one in mine if one is not None}
        touching = [group for group in groups if group[0] & ids]
        whole = ids.union(*(group[0] for group in touching))
        members = [member for group in touching for member in group[1]]
        groups = [group for group in groups if group not in touching]
        groups += [(whole, [*members, place])] if ids else []
    return sorted(sorted(members) for _, members in groups)


def _spans(members: tuple[int, ...], measured: Sequence[MeasuredResult]) -> SessionIntervals:
    rows = [(row.time, row.sessions) for member in members for row in measured[member].rows]
    overs = [over for _, over in rows if over]
    within = [time.half_width for time, over in rows if time and over and time.half_width is not None]
    results = [measured[member].result for member in members]
    lasted = [one.end_s - one.begin_s for made in results for one in dated_sessions(made.launches, made.done)]
    return SessionIntervals(
        members,
        max(over.sessions for over in overs),
        median(within) if within else None,
        median(lasted),
        median(half for over in overs if (half := over.time.half_width) is not None),
        max(over.seconds for over in overs),
    )


def session_mismatches(measured: Sequence[MeasuredResult]) -> list[SessionMismatch]:
    """Return results of one setting that distance alone keeps apart, each beside the first of them.

    Args:
        measured: With rows that know their sessions.
    """
    if len(measured) < MIN_SESSIONS:
        return []
    groups = linked([[row.sessions for row in one.rows] for one in measured])
    first_of = {member: group[0] for group in groups for member in group}
    found: dict[tuple[int, int, Distance], list[tuple[float, float]]] = defaultdict(list)
    for parts in _parts(measured).values():
        # Each under the first result of its sessions.
        known = sorted(
            (first_of.get(part.member, part.member), at)
            for part, at in zip(parts, _telling(parts), strict=True)
            if at is not None
        )
        for (first, at), (other, other_at) in combinations(known, 2):
            if first != other and at[0] == other_at[0]:
                found[first, other, at[0]].append((at[1], other_at[1]))
    middles = {key: [median(side) for side in zip(*pairs, strict=True)] for key, pairs in found.items()}
    return [SessionMismatch(*key, *pair) for key, pair in middles.items() if max(pair) >= ALIKE * min(pair)]


# ---- What is the same ----------------------------------------------------------------------------


def setting_of(result: Result, job: JobKey) -> bytes:
    """Return all that must be the same so that a job's launches in two results are sessions of each other."""
    campaign = result.campaign
    machine, plan = campaign.environment, campaign.plan
    mine = (job.mpi, job.mpi_version, job.label)
    libraries = [one for one in campaign.libraries if (one.name, one.version, one.label) == mine]
    return msgspec.json.encode(
        [
            campaign.mpigauge,
            {name: value for name, value in asdict(machine).items() if name not in IGNORED_FIELDS},
            {
                name: word
                for name, word in machine.variables.items()
                if not name.startswith(JOB_VARIABLE_PREFIX)
            },
            [getattr(plan, name) for name in LAUNCH_KEYS],
            [[getattr(one, name) for name in LIBRARY] for one in libraries],
        ],
        order="deterministic",
    )


def _parts(measured: Sequence[MeasuredResult]) -> Mapping[Key, list[_Part]]:
    """Return cells of one setting with what each result has of them."""
    found: dict[Key, list[_Part]] = defaultdict(list)
    for member, one in enumerate(measured):
        split = split_of(one.result)
        visits = by_cell(one.result.visits) if split.states else {}
        cells = {row.cell: row for row in one.rows if row.time is not None or row.states}
        settings = {job: setting_of(one.result, job) for job in {cell.job for cell in cells}}
        for cell, row in cells.items():
            parts = _of_row(member, row, split.parts(visits.get(cell, [])))
            found[settings[cell.job], cell].extend(parts)
    return found


def _of_row(member: int, row: Row, parts: Iterable[SplitPart]) -> Iterator[_Part]:
    """Yield a part for each state that the cell was measured in, or one of all."""
    if row.states:
        at = {one.state: middle_of(distances_of(one.visits)) for one in parts}
        yield from (_Part(member, one.state, one.time, at.get(one.state)) for one in row.states)
    elif row.time is not None:
        yield _Part(member, None, row.time, middle_of(distances_of(row.visits)))


def alike(parts: Sequence[AnyPlaced]) -> list[list[AnyPlaced]]:
    """Return parts in groups of one distance; those of unknown distance join the others if these agree.

    Along the line of distances a new group begins wherever the next is further than what is alike.
    """
    groups: list[list[AnyPlaced]] = []
    at = _telling(parts)
    known = sorted((one, number) for number, one in enumerate(at) if one is not None)
    for _, mine in groupby(known, key=lambda pair: pair[0][0]):
        last = 0.0
        for (_, distance), number in mine:
            if distance >= ALIKE * last:
                groups.append([])
            groups[-1].append(parts[number])
            last = distance
    unknown = [part for part, one in zip(parts, at, strict=True) if one is None]
    if len(groups) == 1 or not unknown:
        return [[*group, *unknown] for group in groups]
    return [*groups, unknown]


def _telling(parts: Sequence[AnyPlaced]) -> list[tuple[Distance, float] | None]:
    """Return the distances that tell parts from each other.

    Lines always do. Messages between hosts do where one result itself was in several states of them; else a
    result in which they take longer is of a slower network or library, not of another place.
    """
    of_path = [part.member for part in parts if part.at is not None and part.at[0] == "path"]
    path_tells = len(set(of_path)) < len(of_path)
    return [part.at if part.at and (part.at[0] == "line" or path_tells) else None for part in parts]


# ---- What the next session may find --------------------------------------------------------------


def _over(parts: Iterable[_Part], dated: Sequence[Sequence[Session[int]]]) -> OverSessions | None:
    """Return the time of one cell over sessions; None if there is one only."""
    parts = list(parts)
    sittings = _apart(sitting for part in parts for sitting in _part_sessions(part, dated[part.member]))
    times_s = [session_time(one.launches) for one in sittings]
    time = across_times(times_s, max(part.time.step for part in parts), MIN_SESSIONS)
    if time is None:
        return None
    return OverSessions(time, max(one.end_s for one in sittings) - sittings[0].begin_s)


def _part_sessions(part: _Part, sessions: Iterable[Session[int]]) -> Iterator[Session[float]]:
    for one in sessions:
        mine = [part.time.by_launch[number] for number in one.launches if number in part.time.by_launch]
        if mine and min(mine) > 0:
            yield Session(one.begin_s, one.end_s, tuple(mine))


def _apart(sittings: Iterable[Session[float]]) -> list[Session[float]]:
    """Return sittings in the order of time; those that overlap are one, since they saw the same minutes."""
    found: list[Session[float]] = []
    for one in sorted(sittings):
        if found and one.begin_s <= found[-1].end_s:
            last = found.pop()
            found.append(Session(last.begin_s, max(last.end_s, one.end_s), (*last.launches, *one.launches)))
        else:
            found.append(one)
    return found
