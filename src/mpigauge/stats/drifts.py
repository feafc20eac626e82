"""Steps that are one slow drift: a line that bends once fits their sessions better than they do.

Source: docs/method-history.md#history
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.stats.splits import BLUR, Step, first_with_time, outliers_damped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.stats.percentiles import Values

MIN_DRIFT_SESSIONS = 8
"""Sessions of the shortest drift: over fewer, a step looks the same."""


LIKELIER = 20
"""How many times likelier a line must make the sessions than one step, and several steps than a line.

A step has a date, so a drift must be clearly better; several small steps in one direction mostly are a drift.
"""


class _Line(NamedTuple):
    """A curve that is level up to a session and a straight slope from there to the end.

    Attributes:
        bend: The session at which the slope begins.
        rise: Rise from there to the end, shape ``(cells,)``.
        error: Its standard error.
        squares: Sum of squared residuals, per cell.
    """

    bend: int
    rise: Values
    error: Values
    squares: Values


def with_drifts(steps: Iterable[Step], logs: Values, floor: Values, margin: float) -> list[Step]:
    """Return the changes of a curve, with drifts in place of steps where a line fits sessions better.

    Only steps of one direction that follow each other are replaced.

    Both are priced by Schwarz (1978): every level, place, slope and bend costs the logarithm of the number of
    sessions.

    Args:
        steps: In the order of time.
        logs: Shape ``(sessions, cells)``.
    """
    changes: list[Step] = []
    for begin, run, end in _runs(list(steps), len(logs)):
        drift = _drift(run, logs, floor, margin, begin, end)
        changes += run if drift is None else [drift]
    return changes


def _runs(steps: Sequence[Step], sessions: int) -> Iterator[tuple[int, list[Step], int]]:
    """Yield successive steps of one direction, with the sessions between those before and after."""
    begin, run = 0, list(steps[:1])
    for step in steps[1:]:
        if step.rises != run[-1].rises:
            yield begin, run, step.place
            begin, run = run[-1].place, []
        run.append(step)
    if run:
        yield begin, run, sessions


def _drift(
    steps: Sequence[Step], logs: Values, floor: Values, margin: float, begin: int, end: int
) -> Step | None:
    """Return a drift in place of steps; None where the steps fit better."""
    changed = np.any([step.changed for step in steps], axis=0)
    # A session with a time is before every bend, so that there is one before the drift.
    begin += first_with_time(logs[begin:end], 0)
    values = outliers_damped(logs[None, begin:end])[0]
    measured = np.isfinite(values)
    counts = measured.sum(axis=0)
    known = np.where(measured, values - np.nansum(values, axis=0) / np.maximum(counts, 1), 0.0)
    cells = changed & (counts >= MIN_DRIFT_SESSIONS)
    if not cells.any() or end - begin < MIN_DRIFT_SESSIONS:
        return None

    def price(squares: Values, parameters: int) -> float:
        """Return what a description leaves unexplained and costs: less is better."""
        left = squares[cells] / counts[cells] + floor[cells] + BLUR
        fits = float((counts[cells] * np.log(left)).sum())
        return fits + math.log(end - begin) * parameters

    levels = [step.place - begin for step in steps]
    stairs = price(_squares_about_levels(known, measured, levels), len(levels) * (cells.sum() + 1))
    lines = [(price(one.squares, cells.sum() + 1), one) for one in _lines(known, measured, floor)]
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


def _squares_about_levels(known: Values, measured: Values, places: Sequence[int]) -> Values:
    """Return the squares left by levels between these places, shape ``(cells,)``."""
    left = np.zeros(known.shape[1])
    for part, present in zip(np.split(known, places), np.split(measured, places), strict=True):
        left += (part**2).sum(axis=0) - part.sum(axis=0) ** 2 / np.maximum(present.sum(axis=0), 1)
    return left


def _lines(known: Values, measured: Values, floor: Values) -> Iterator[_Line]:
    """Yield a fitted line for every session at which a drift may begin."""
    sessions, counts = len(known), np.maximum(measured.sum(axis=0), 1)
    for bend in range(sessions - MIN_DRIFT_SESSIONS + 1):
        shape = np.maximum(0.0, np.arange(sessions) - bend) / (sessions - 1 - bend)
        across = np.maximum(shape**2 @ measured - (shape @ measured) ** 2 / counts, BLUR)
        rise = shape @ known / across
        squares = np.maximum((known**2).sum(axis=0) - rise**2 * across, 0.0)
        error = np.sqrt(squares / np.maximum(counts - 2, 1) / across + floor + BLUR)
        yield _Line(bend, rise, error, squares)
