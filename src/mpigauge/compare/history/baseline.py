"""A result compared with a baseline of sessions, whose differences show what chance does."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.compare.comparison import Compared, Comparison
from mpigauge.compare.history.changes import switches_of
from mpigauge.compare.history.history import history_of
from mpigauge.compare.pairs import Pair
from mpigauge.compare.sides import Unmatched
from mpigauge.rows.estimate import Timing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.history.changes import VersionChange
    from mpigauge.compare.history.curves import HistoryCurve
    from mpigauge.compare.history.history import Track
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.stats.decision import Thresholds


@dataclass(frozen=True, slots=True, eq=False)
class Against:
    """A result compared with the sessions before it.

    Attributes:
        shown: The comparison.
        switches: Versions that differ from those of the last session.
    """

    shown: Comparison
    switches: Sequence[VersionChange]


def against(before: Sequence[SessionResult], new: SessionResult, thresholds: Thresholds) -> Against:
    """Return each cell of a result compared with the prediction of the sessions since its last change.

    The probability that any equal cell is called slower is 5 % at most (Holm, over all cells).

    Args:
        before: In the order in which they were made, of one machine, without the result itself.

    Source: docs/method-history.md#history
    """
    sessions = [*before, new]
    history = history_of(sessions, thresholds, len(before))
    controls = tuple(one for track in history.controls for one in _compared(track, trusted=True))
    signs = tuple(track.curve.sign for track in history.controls if track.curve.sign and track.outside)
    controls_only = Comparison((), controls, thresholds, False, sessions=len(before), signs=signs)
    trusted = controls_only.judges and not controls_only.moved and not signs
    cells = tuple(one for track in history.tracks for one in _compared(track, trusted=trusted))
    switches = dict.fromkeys(
        switch
        for track in history.tracks
        for last in track.curve.sessions[-2:-1]
        if len(before) in track.curve.sessions
        for switch in switches_of(track.curve, last, len(before), sessions)
    )
    odd, unmatched = tuple(history.odd_sessions), tuple(_unmatched([track.curve for track in history.tracks]))
    return Against(replace(controls_only, cells=cells, odd=odd, unmatched=unmatched), list(switches))


def _unmatched(curves: Sequence[HistoryCurve]) -> Iterator[Unmatched]:
    """Yield the cells that the last session before measured and the result did not even plan."""
    present = {key for curve in curves for key in curve.rows[-1]}
    for curve in curves:
        for rows in curve.rows[-2:-1]:
            yield from (
                Unmatched(row, "base")
                for key, row in rows.items()
                if key not in present and row.time is not None
            )


def _compared(track: Track, *, trusted: bool) -> Iterator[Compared]:
    """Yield the cells that the last session has, compared; signs of the machine have none."""
    curve = track.curve
    for cell, key in enumerate(curve.cells):
        if key not in curve.rows[-1]:
            continue
        row = curve.rows[-1][key]
        change = track.latest(cell)
        since = slice(change.since if change else 0, -1)
        known = curve.logs[since, cell]
        known = known[np.isfinite(known) & ~track.odd[since, cell]]
        time = Timing(estimate=math.exp(known.mean())) if known.size else None
        base = replace(row, time=time, status="ok" if time else row.status)
        if time is not None or row.time is not None:
            pair = Pair(base, row, interleaved=False, sessions=int(known.size))
            yield Compared(pair, track.last.get(cell), trusted)
