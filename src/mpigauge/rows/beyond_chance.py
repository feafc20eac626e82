"""Warnings that more rows have than chance gives them: each row keeps its own at 1 to 2 % a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.estimate import Estimate
from mpigauge.sequences import group_by
from mpigauge.stats.beyond_chance import RowSet, chances
from mpigauge.stats.launch_drifts import mean_drifts
from mpigauge.stats.launch_groups import launch_marks
from mpigauge.stats.max_t import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.rows.rows import Row
    from mpigauge.rows.warnings import WarningKind
    from mpigauge.stats.beyond_chance import Strengths
    from mpigauge.stats.percentiles import Values

SCREEN_CHANCE = 0.03
"""How often chance may bring one of these warnings on a screen; 1 % more is that of launches in time."""

OF_LAUNCHES: tuple[WarningKind, ...] = ("outlier-launches", "two-kinds-of-launches", "phases")
OF_DRIFTS: tuple[WarningKind, ...] = ("drift",)

BY_CHANCE: frozenset[WarningKind] = frozenset({*OF_LAUNCHES, *OF_DRIFTS})
"""Warnings that healthy rows have by chance; all others are facts."""


@dataclass(frozen=True, slots=True)
class MarkedRows:
    """A table of numbers, one a launch, of rows."""

    kinds: tuple[WarningKind, ...]
    strengths: Strengths
    values: Mapping[int, Mapping[int, float]]
    centred: bool


def beyond_chance(rows: Sequence[Row], quoted: Sequence[bool]) -> frozenset[WarningKind]:
    """Return kinds of warnings that rows have more often, or more clearly, than by chance.

    All rows are one family, and those that the screen quotes are another: one number of a hundred that is
    marked says nothing of the machine, but much of itself.

    Args:
        rows: Those that are counted.
        quoted: Whether the screen quotes each of them.

    Source:
        docs/method-launches.md#what-chance-marks
    """
    present = {one.kind for row in rows for one in row.warnings} & BY_CHANCE
    if not present:
        return frozenset()
    families = np.unique(np.array([[True] * len(rows), quoted]), axis=0)
    found = {kind: np.ones(len(families)) for kind in (*OF_LAUNCHES, *OF_DRIFTS)}
    for mine in (_of_launches(rows), _of_drifts(rows)):
        if not present.isdisjoint(mine.kinds):
            known = chances(_sets(rows, mine.values), mine.strengths, families, centred=mine.centred)
            found |= dict(zip(mine.kinds, known, strict=True))
    adjusted = holm(np.concatenate([*found.values()])).reshape(len(found), -1)
    return frozenset(
        kind for kind, chance in zip(found, adjusted.min(axis=1), strict=True) if chance <= SCREEN_CHANCE
    )


def _of_launches(rows: Sequence[Row]) -> MarkedRows:
    logs = {
        place: {number: float(np.log(time_s)) for number, time_s in time.by_launch.items()}
        for place, time in _measured(rows)
        if min(time.by_launch.values(), default=0.0) > 0
    }
    return MarkedRows(OF_LAUNCHES, launch_marks, logs, centred=True)


def _of_drifts(rows: Sequence[Row]) -> MarkedRows:
    drifts = {
        # Where a launch does not tell, which is rare, those after it are taken for the ones before them.
        place: dict(zip(time.by_launch, time.drifts, strict=False))
        for place, time in _measured(rows)
        if time.drifts
    }
    return MarkedRows(OF_DRIFTS, _drift_marks, drifts, centred=False)


def _drift_marks(drifts: Values, clock_steps: Values) -> Values:
    return mean_drifts(drifts, clock_steps)[1][np.newaxis]


def _measured(rows: Sequence[Row]) -> Iterable[tuple[int, Estimate]]:
    return [(place, row.time) for place, row in enumerate(rows) if isinstance(row.time, Estimate)]


def _sets(rows: Sequence[Row], values: Mapping[int, Mapping[int, float]]) -> list[RowSet]:
    """Return rows with their numbers by launch, those of the same launches together."""
    launches = sorted({number for mine in values.values() for number in mine})
    place_of = {number: place for place, number in enumerate(launches)}
    return [
        RowSet(
            np.array(mine, dtype=np.intp),
            np.array([place_of[number] for number in numbers], dtype=np.intp),
            np.array([[values[row][number] for number in numbers] for row in mine]),
            np.array([row.time.step if (row := rows[place]).time else 0.0 for place in mine]),
        )
        for numbers, mine in group_by(values, lambda row: tuple(sorted(values[row]))).items()
    ]
