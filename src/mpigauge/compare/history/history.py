"""A whole history: which cells changed when, whether the machine did, and how usual the last session is."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.compare.comparison import MIN_BASE_SESSIONS
from mpigauge.compare.history.changes import changes_of
from mpigauge.compare.history.curves import curves_of
from mpigauge.rows.machine.sessions import OddSession, are_daily
from mpigauge.stats.decision import decide
from mpigauge.stats.prediction import SessionFamily, odd_values, predict
from mpigauge.stats.steps import suspected
from mpigauge.vocabulary import BROKEN, DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.compare.history.changes import Change
    from mpigauge.compare.history.curves import HistoryCurve
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.stats.decision import Decision, Thresholds
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.prediction import Flags, SessionPrediction
    from mpigauge.stats.splits import Step
    from mpigauge.vocabulary import ComparisonVerdict

MIN_SESSIONS = MIN_BASE_SESSIONS + 1
"""Sessions from which a history says anything."""


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A curve with its changes and odd sessions.

    Attributes:
        changes: In the order of time.
        apart: How far each value is from the median between changes, shape ``(sessions, cells)``.
        odd: Which of them are odd; none of the last session, which is compared with those before.
        base: The sessions before the last one; None if they are too few.
        last: Decisions on the last session against them, by column.
        suspected: A change that too few sessions suggest.
        blind: Columns whose last session may be slower by more than is allowed.
    """

    curve: HistoryCurve
    changes: tuple[Change, ...]
    apart: Values
    odd: Flags
    base: Base | None
    last: Mapping[int, Decision]
    suspected: Step | None = None
    blind: frozenset[int] = frozenset()

    @property
    def outside(self) -> dict[int, Decision]:
        """Cells whose last session is beyond the prediction and by the margin."""
        return {cell: decision for cell, decision in self.last.items() if decision.verdict in DIFFERENT}

    def leaves_out(self, place: int, cell: int) -> bool:
        """Return whether the prediction of the last session leaves out a value as odd."""
        if self.base is None or cell not in self.base.cells:
            return False
        return bool(self.odd[place, cell]) and place >= self.base.begins[self.base.cells.index(cell)]

    @property
    def lost(self) -> list[int]:
        """Cells that were measured before, and crashed, hung or were wrong in the last session."""
        if not self.curve.rows:
            return []
        now = self.curve.rows[-1]
        return [
            cell
            for cell, key in enumerate(self.curve.cells)
            if key in now and now[key].status in BROKEN and np.isfinite(self.curve.logs[:-1, cell]).any()
        ]

    def latest(self, cell: int) -> Change | None:
        """Return the last change of a cell; None if it never changed."""
        return next((change for change in reversed(self.changes) if cell in change.cells), None)

    @property
    def pending(self) -> Iterator[tuple[int, Change]]:
        """Every cell that changed, with its last change."""
        for cell in range(self.curve.logs.shape[1]):
            if (change := self.latest(cell)) is not None:
                yield cell, change


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """The sessions that the last one is compared with.

    Attributes:
        cells: Columns of the curve that have enough of them.
        begins: First session per cell: since its last change, or of the last third of a drift.
        said: Their prediction of the last session.
    """

    cells: Sequence[int]
    begins: Sequence[int]
    said: SessionPrediction


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """One plan measured over time.

    Attributes:
        sessions: In the order in which they were made.
        tracks: Curves in which an MPI library takes part.
        controls: All others, and signs of the machine.
        thresholds: What matters, and what must be excluded for the last session to pass.
    """

    sessions: Sequence[SessionResult]
    tracks: tuple[Track, ...]
    controls: tuple[Track, ...]
    thresholds: Thresholds

    @property
    def of_the_last(self) -> int:
        """How many sessions have a number of the last one: of the one that most have."""
        last = len(self.sessions) - 1
        known = (track.curve.sessions for track in self.tracks)
        return max((len(places) for places in known if last in places), default=0)

    @property
    def enough(self) -> bool:
        """Return whether there are enough sessions to judge any cell."""
        return any(track.last or track.changes for track in self.tracks)

    @property
    def blind(self) -> int:
        """Numbers whose last session may be slower by more than is allowed: sessions differ too much."""
        return sum(len(track.blind) for track in self.tracks)

    @property
    def odd_sessions(self) -> Iterator[OddSession]:
        """Each odd session once, in time order, with its odd numbers in which a library takes part."""
        daily = are_daily(one.begun_s for one in self.sessions)
        for place, session in enumerate(self.sessions):
            odd = [(track, int(cell)) for track in self.tracks for cell in np.flatnonzero(track.odd[place])]
            if odd:
                yield OddSession(
                    session.path,
                    session.begun_s,
                    daily,
                    tuple(sorted(math.exp(track.apart[place, cell]) for track, cell in odd)),
                    sum(int(np.isfinite(track.curve.logs[place]).sum()) for track in self.tracks),
                    sum(track.leaves_out(place, cell) for track, cell in odd),
                )

    @property
    def verdict(self) -> ComparisonVerdict:
        """Return the verdict on the last change of every cell: the worst of them."""
        last = [(change, change.cells[cell]) for track in self.tracks for cell, change in track.pending]
        own = [decision for change, decision in last if not change.machine]
        if any(track.lost for track in self.tracks) or any(one.estimate > 1 for one in own):
            return "slower"
        if len(own) < len(last) or any(track.changes for track in self.controls):
            return "machine"
        outside = [one for track in self.tracks for one in track.outside.values()]
        if not self.enough or self.blind or any(one.estimate > 1 for one in outside):
            return "undecided"
        return "faster" if own else "same"


def history_of(
    sessions: Sequence[SessionResult], thresholds: Thresholds, settled: int | None = None
) -> History:
    """Return the history of every curve over sessions of one machine.

    Args:
        sessions: In the order in which they were made.
        settled: Number of first sessions among which changes are sought; None for all.

    Source: docs/method-history.md#history
    """
    return judged_history(sessions, curves_of(sessions), thresholds, settled)


def judged_history(
    sessions: Sequence[SessionResult],
    curves: Sequence[HistoryCurve],
    thresholds: Thresholds,
    settled: int | None = None,
) -> History:
    """Return the history of given curves."""
    among, margin = sessions[:settled], thresholds.margin
    controls = [curve for curve in curves if curve.control]
    cells = [curve for curve in curves if not curve.control]
    moved = changes_of(controls, [], among, margin)
    changed = changes_of(cells, list(zip(controls, moved, strict=True)), among, margin)
    maybe = suspected([curve.logs for curve in cells], [curve.floor for curve in cells], margin)
    tracks = [
        replace(track, suspected=maybe.get(at))
        for at, track in enumerate(_tracks(cells, changed, thresholds))
    ]
    return History(sessions, tuple(tracks), _tracks(controls, moved, thresholds), thresholds)


def _tracks(
    curves: Sequence[HistoryCurve], changes: Sequence[Sequence[Change]], thresholds: Thresholds
) -> tuple[Track, ...]:
    """Return each curve with its last session judged against the prediction, all as one family."""
    least = math.log1p(thresholds.margin)
    usual = [_oddness(curve, own, least) for curve, own in zip(curves, changes, strict=True)]
    bases = [_base(curve, own, odd) for curve, own, (_, odd) in zip(curves, changes, usual, strict=True)]
    known = [(curve, base) for curve, base in zip(curves, bases, strict=True) if base is not None]
    last: dict[int, dict[int, Decision]] = {}
    if known:
        now = np.concatenate([curve.logs[-1, base.cells] for curve, base in known])
        decided = iter(decide(SessionFamily([base.said for _, base in known], now), thresholds))
        last = {id(curve): {cell: next(decided) for cell in base.cells} for curve, base in known}
    return tuple(
        Track(
            curve,
            tuple(own),
            *usual_of_curve,
            base,
            last.get(id(curve), {}),
            blind=frozenset(
                cell
                for cell, decision in last.get(id(curve), {}).items()
                if not decision.passes(thresholds.allow)
            ),
        )
        for curve, own, usual_of_curve, base in zip(curves, changes, usual, bases, strict=True)
    )


def _begins(curve: HistoryCurve, changes: Sequence[Change]) -> list[list[int]]:
    """Return, per cell, the first session after each change, and of the last third of a drift."""
    return [
        [
            0,
            *dict.fromkeys(
                at for change in changes if cell in change.cells for at in (change.place, change.since)
            ),
        ]
        for cell in range(curve.logs.shape[1])
    ]


def _oddness(curve: HistoryCurve, changes: Sequence[Change], least: float) -> tuple[Values, Flags]:
    """Return distances of sessions from the median between changes, and which are odd; not the last."""
    distances, odd = np.full_like(curve.logs, np.nan), np.zeros(curve.logs.shape, dtype=bool)
    columns: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for cell, begins in enumerate(_begins(curve, changes)):
        columns[*begins, len(curve.logs) - 1].append(cell)
    for bounds, cells in columns.items():
        for begin, end in pairwise(bounds):
            block = np.ix_(range(begin, end), cells)
            distances[block], odd[block] = odd_values(curve.logs[block], least)
    return distances, odd


def _base(curve: HistoryCurve, changes: Sequence[Change], odd: Flags) -> Base | None:
    logs = curve.logs[:-1].copy()
    begins = [places[-1] for places in _begins(curve, changes)]
    for cell, begin in enumerate(begins):
        logs[:begin, cell] = np.nan
    enough = (np.isfinite(logs).sum(axis=0) >= MIN_BASE_SESSIONS) & np.isfinite(curve.logs[-1])
    cells = [int(cell) for cell in np.flatnonzero(enough)]
    if not cells:
        return None
    said = predict(logs[:, cells], curve.floor[cells], odd[:-1, cells])
    return Base(cells, [begins[cell] for cell in cells], said)
