"""Steps that are one slow drift: a line that bends once fits their sessions better than they do.

Source: docs/method-comparison.md#history
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.stats.splits import BLUR, calmed
from mpigauge.stats.step import Step, first_with_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.stats.percentiles import Values

DRIFT_LEAST = 8
"""Sessions that a drift lasts: of fewer a step looks the same."""


LIKELIER = 20
"""How many times likelier a line must make the sessions than one step, and several steps than a line.

One step has a day to look at; several small ones in one direction are mostly what a drift looks like.
"""


class _Line(NamedTuple):
    """Straight until a session, and from there straight to the end.

    Attributes:
        bend: That session.
        rise: From there to the end, shape ``(cells,)``.
        error: Its standard error.
        squares: What it leaves of each cell.
    """

    bend: int
    rise: Values
    error: Values
    squares: Values


def with_drifts(steps: Iterable[Step], logs: Values, floor: Values, margin: float) -> list[Step]:
    """The changes of a curve, where a line describes sessions better than the steps of one direction.

    Both are priced by Schwarz (1978): every level, place, slope and bend costs the logarithm of the number of
    sessions.

    Args:
        steps: In the order of time.
        logs: Shape ``(sessions, cells)``.
    """
    found: list[Step] = []
    for begin, mine, end in _runs(list(steps), len(logs)):
        drift = _drift(mine, logs, floor, margin, begin, end)
        found += mine if drift is None else [drift]
    return found


def _runs(steps: Sequence[Step], sessions: int) -> Iterator[tuple[int, list[Step], int]]:
    """Steps of one direction that follow each other, with the sessions between those before and after."""
    begin, mine = 0, list(steps[:1])
    for step in steps[1:]:
        if step.rises != mine[-1].rises:
            yield begin, mine, step.place
            begin, mine = mine[-1].place, []
        mine.append(step)
    if mine:
        yield begin, mine, sessions


def _drift(
    steps: Sequence[Step], logs: Values, floor: Values, margin: float, begin: int, end: int
) -> Step | None:
    """A line in the place of steps; None where it leaves more."""
    changed = np.any([step.changed for step in steps], axis=0)
    # A session with a time is before every bend, so that there is one before the drift.
    begin += first_with_time(logs[begin:end], 0)
    values = calmed(logs[None, begin:end])[0]
    there = np.isfinite(values)
    counts = there.sum(axis=0)
    known = np.where(there, values - np.nansum(values, axis=0) / np.maximum(counts, 1), 0.0)
    cells = changed & (counts >= DRIFT_LEAST)
    if not cells.any() or end - begin < DRIFT_LEAST:
        return None

    def price(squares: Values, parameters: int) -> float:
        """Return what a description leaves unexplained and costs: less is better."""
        left = squares[cells] / counts[cells] + floor[cells] + BLUR
        fits = float((counts[cells] * np.log(left)).sum())
        return fits + math.log(end - begin) * parameters

    levels = [step.place - begin for step in steps]
    stairs = price(_about_levels(known, there, levels), len(levels) * (cells.sum() + 1))
    lines = [(price(one.squares, cells.sum() + 1), one) for one in _lines(known, there, floor)]
    least, line = min(lines, key=lambda pair: pair[0])
    changed = cells & (np.abs(line.rise) >= math.log1p(margin))
    doubt = 2 * math.log(LIKELIER) * (1 if len(steps) == 1 else -1)
    if least + doubt >= stairs or not changed.any():
        return None
    return Step(
        begin,
        begin + first_with_time(values, line.bend + 1),
        end,
        line.rise,
        line.error,
        np.maximum(counts - 2.0, 1.0),
        max(step.reach for step in steps),
        np.min([step.p for step in steps], axis=0),
        changed,
        drifts=True,
    )


def _about_levels(known: Values, there: Values, places: Sequence[int]) -> Values:
    """The squares that levels between some places leave, shape ``(cells,)``."""
    left = np.zeros(known.shape[1])
    for mine, here in zip(np.split(known, places), np.split(there, places), strict=True):
        left += (mine**2).sum(axis=0) - mine.sum(axis=0) ** 2 / np.maximum(here.sum(axis=0), 1)
    return left


def _lines(known: Values, there: Values, floor: Values) -> Iterator[_Line]:
    """Return one for every session from which a drift may last."""
    sessions, counts = len(known), np.maximum(there.sum(axis=0), 1)
    for bend in range(sessions - DRIFT_LEAST + 1):
        shape = np.maximum(0.0, np.arange(sessions) - bend) / (sessions - 1 - bend)
        across = np.maximum(shape**2 @ there - (shape @ there) ** 2 / counts, BLUR)
        rise = shape @ known / across
        squares = np.maximum((known**2).sum(axis=0) - rise**2 * across, 0.0)
        error = np.sqrt(squares / np.maximum(counts - 2, 1) / across + floor + BLUR)
        yield _Line(bend, rise, error, squares)
