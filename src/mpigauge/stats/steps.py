"""When cells of a history changed for good, or for a while: sessions permuted for all cells at once.

Whatever a session does to all of its cells is in the null as it is in the data, as in `stats.max_t`.

Source: docs/method-history.md#history
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.stats import special
from mpigauge.stats.max_t import LEVEL, holm, step_down
from mpigauge.stats.splits import (
    BLUR,
    MIN_SEGMENT,
    MIN_SESSIONS,
    SEGMENTS,
    Step,
    first_with_time,
    outliers_damped,
    permuted_largest_t,
    steps,
    stretches,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.splits import Search

    Chance = Callable[[Search, "_Piece", "_Likeliest", float], tuple[Values, float]]
    from collections.abc import Iterable

    from mpigauge.stats.percentiles import Values

STRETCHES_FROM = 3 * MIN_SEGMENT
"""Sessions from which a stretch can have come and gone."""

LEVEL_OF_STRETCHES = 0.02
"""Error level of stretches, where they are sought; steps have the rest."""


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


def steps_of(logs: Sequence[Values], floors: Sequence[Values], margin: float) -> list[list[Step]]:
    """Return the changes of each of several curves, in their order.

    In each piece the likeliest place is sought; where it is none, the likeliest stretch that differs from
    what is before and after it. Where there is neither, the piece is whole, else its parts are searched
    again. Steps that a line fits better become one drift. With a probability of 95 % or more, no unchanged
    curve is said to have changed.

    Args:
        logs: Logarithms of times per curve, shape ``(sessions, cells)``, NaN where there is none; all curves
            have as many sessions.
        floors: Variance of a difference of each cell that sessions do not average out, shape ``(cells,)``.
        margin: Relative changes that are less do not matter.
    """
    changes: Mapping[int, list[Step]] = defaultdict(list)
    whole = range(len(logs)), 0, len(logs[0]) if logs else 0
    pieces: list[tuple[Sequence[int], int, int]] = [whole]
    while pieces:
        members, begin, end = pieces.pop()
        split: Mapping[tuple[int, ...], list[int]] = defaultdict(list)
        for member, own_steps in _changes_within(_piece(members, begin, end, logs, floors), margin).items():
            changes[member] += own_steps
            split[tuple(step.place for step in own_steps)].append(member)
        for places, changed in split.items():
            pieces += [(changed, *ends) for ends in pairwise((begin, *places, end))]
    return [
        with_drifts(_isolated(changes[member], *curve, margin), *curve, margin)
        for member, curve in enumerate(zip(logs, floors, strict=True))
    ]


def _isolated(changes: Sequence[Step], logs: Values, floor: Values, margin: float) -> list[Step]:
    """Return the changes of a curve in time order, each cell judged between its own neighbouring changes.

    The piece in which it was found may contain other changes of that cell, whose effect is no part of it.
    """
    ordered = sorted(changes, key=lambda step: step.place)
    bounds = [0, *(step.place for step in ordered), len(logs)]
    neighbours = zip(bounds, ordered, bounds[2:])  # noqa: B905 - begin, step and end
    isolated = [
        replace(_between(step, ordered, logs, floor, margin), begin=begin, end=end)
        for begin, step, end in neighbours
    ]
    return [step for step in isolated if step.changed.any()]


def _between(step: Step, others: Sequence[Step], logs: Values, floor: Values, margin: float) -> Step:
    """Return a change judged by the sessions between two other changes of the same cell alone."""
    spans: dict[tuple[int, int], list[int]] = defaultdict(list)
    for cell in np.flatnonzero(step.changed):
        places = [other.place for other in others if other.changed[cell]]
        begin = max([step.begin, *(place for place in places if place < step.place)])
        spans[begin, min([step.end, *(place for place in places if place > step.place)])].append(int(cell))
    spans.pop((step.begin, step.end), None)
    mean, error, freedom, changed = (
        one.copy() for one in (step.mean, step.error, step.freedom, step.changed)
    )
    for (begin, end), cells_of_span in spans.items():
        ((_, moments),) = steps(outliers_damped(logs[None, begin:end, cells_of_span]), floor[cells_of_span])
        at_place = [np.broadcast_to(one, moments[0].shape)[0, step.place - begin - 1] for one in moments]
        known = at_place[0] != 0
        cells = np.array(cells_of_span)[known]
        mean[cells], error[cells], freedom[cells] = (one[known] for one in at_place)
        changed[cells] = np.abs(mean[cells]) >= np.maximum(math.log1p(margin), step.reach * error[cells])
    return replace(step, mean=mean, error=error, freedom=freedom, changed=changed)


def suspected(logs: Sequence[Values], floors: Sequence[Values], margin: float) -> dict[int, Step]:
    """Return the likeliest change of each curve in sessions too few to permute, by Student's t and Holm.

    It assumes that sessions vary normally, and decides nothing.

    Args:
        logs: Logarithms of times per curve, shape ``(sessions, cells)``; the rest as in `steps_of`.

    Returns:
        By place of the curve; empty where there are sessions enough, or too few for a change.
    """
    piece = _piece(range(len(logs)), 0, len(logs[0]) if logs else 0, logs, floors)
    if not SEGMENTS[steps] * MIN_SEGMENT <= len(piece.values) < MIN_SESSIONS:
        return {}
    return {member: found[0] for member, found in _significant(steps, piece, margin, LEVEL, _by_student)}


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """The values of some curves within some sessions.

    Attributes:
        begin: The first of these sessions.
        values: Shape ``(sessions, cells of all curves)``.
        owner: The curve of each cell.
    """

    begin: int
    values: Values
    floor: Values
    owner: Values


def _piece(
    members: Sequence[int], begin: int, end: int, logs: Sequence[Values], floors: Sequence[Values]
) -> _Piece:
    values = [logs[member][begin:end] for member in members]
    owner = [np.full(array.shape[1], member) for member, array in zip(members, values, strict=True)]
    floor = [floors[member] for member in members]
    if not values:
        return _Piece(begin, np.empty((0, 0)), np.empty(0), np.empty(0))
    return _Piece(begin, np.hstack(values), np.concatenate(floor), np.concatenate(owner))


def _changes_within(piece: _Piece, margin: float) -> dict[int, list[Step]]:
    """Return the curves that change within a piece: at one place, or from one to another."""
    sessions = len(piece.values)
    if sessions < MIN_SESSIONS:
        return {}
    if sessions < STRETCHES_FROM:
        return dict(_significant(steps, piece, margin, LEVEL, _by_orders))
    changes = dict(_significant(steps, piece, margin, LEVEL - LEVEL_OF_STRETCHES, _by_orders))
    if set(piece.owner.tolist()) == changes.keys():
        return changes
    return dict(_significant(stretches, piece, margin, LEVEL_OF_STRETCHES, _by_orders)) | changes


def _significant(
    search: Search, piece: _Piece, margin: float, level: float, chance: Chance
) -> Iterator[tuple[int, list[Step]]]:
    """Yield the changes that one search finds at this error level, over all curves of a piece."""
    likeliest = _likeliest(search, piece)
    p, reach = chance(search, piece, likeliest, level)
    enough = (p <= level) & (likeliest.t > 0) & (np.abs(likeliest.mean) >= math.log1p(margin))
    for member, places in likeliest.places.items():
        own = piece.owner == member
        if enough[own].any():
            ends = [piece.begin + first_with_time(piece.values[:, own], at) for at in places]
            bounds = (piece.begin, *ends, piece.begin + len(piece.values))
            mean, error, freedom = (one[own] for one in (likeliest.mean, likeliest.error, likeliest.freedom))
            neighbours = zip(bounds, bounds[1:], bounds[2:])  # noqa: B905 - three in a row
            # After a stretch it is as before it: the same difference the other way.
            yield (
                member,
                [
                    Step(*three, sign * mean, error, freedom, reach, p[own], enough[own])
                    for sign, three in zip((1.0, -1.0), neighbours, strict=False)
                ],
            )


@dataclass(frozen=True, slots=True, eq=False)
class _Likeliest:
    """The candidate of a search that is farthest from chance, per curve.

    Attributes:
        places: Places of the candidate, by curve.
        mean: With error and freedom as in `Step`, per cell, at its curve's places.
    """

    places: dict[int, tuple[int, ...]]
    mean: Values
    error: Values
    freedom: Values

    @property
    def t(self) -> Values:
        """Size of t, per cell."""
        return np.abs(self.mean / self.error)


def _likeliest(search: Search, piece: _Piece) -> _Likeliest:
    candidates = list(search(outliers_damped(piece.values[None]), piece.floor))
    places = [place for of_candidate, _ in candidates for place in of_candidate]
    moments = [np.concatenate([known[at][0] for _, known in candidates]) for at in range(3)]
    t = np.abs(moments[0] / moments[1])
    members = dict.fromkeys(piece.owner.tolist())
    best = {member: int(t[:, piece.owner == member].max(axis=1).argmax()) for member in members}
    best_places = np.array([best[member] for member in piece.owner]), np.arange(len(piece.owner))
    mean, error, freedom = (one[best_places] for one in moments)
    return _Likeliest({member: places[at] for member, at in best.items()}, mean, error, freedom)


def _by_orders(search: Search, piece: _Piece, likeliest: _Likeliest, level: float) -> tuple[Values, float]:
    """Return the adjusted p of each cell, and how many standard errors their joint interval takes."""
    null = permuted_largest_t(search, piece.values, piece.floor)
    return step_down(np.vstack([likeliest.t, null])), float(np.quantile(null.max(axis=1), 1 - level))


def _by_student(_: Search, piece: _Piece, likeliest: _Likeliest, level: float) -> tuple[Values, float]:
    """Return what `_by_orders` does, for too few sessions: all places of all cells count as one family."""
    places = len(piece.values) - SEGMENTS[steps] * MIN_SEGMENT + 1
    p = 2 * special.stdtr(likeliest.freedom, -likeliest.t)
    reach = special.stdtrit(likeliest.freedom, 1 - level / 2 / places / len(likeliest.t))
    return np.minimum(holm(p) * places, 1.0), float(reach.max())
