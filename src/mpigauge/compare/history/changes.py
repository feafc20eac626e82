"""Changes of curves, with what changed at the same time: signs of the machine, versions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.compare.alike import differing_names
from mpigauge.stats import special
from mpigauge.stats.decision import POWER, Decision, Thresholds, decide
from mpigauge.stats.max_t import LEVEL, Unpaired
from mpigauge.stats.splits import MIN_SEGMENT
from mpigauge.stats.steps import steps_of
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.history.curves import HistoryCurve
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.stats.splits import Step

NEAR = 1
"""Sessions between two changes that may be one."""


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A version or setting that is another since a change.

    Attributes:
        name: Name of a library, or a key of `SessionResult.versions`.
    """

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A change of some cells of a curve that is beyond chance.

    Attributes:
        before: The last session before it.
        place: The first session after it.
        since: The first session since which all is as it is now: of a drift, of its last third.
        cells: By column of the curve, after it against before; of a drift, its end against its begin.
        signs: Controls that changed with it.
        switches: Versions and settings that changed with it.
        drifts: Whether they changed little by little from then on.
    """

    before: int
    place: int
    since: int
    cells: dict[int, Decision]
    signs: tuple[HistoryCurve, ...] = ()
    switches: tuple[VersionChange, ...] = ()
    drifts: bool = False

    @property
    def machine(self) -> bool:
        """Return whether the machine changed with it: then it need not be the library's."""
        return bool(self.signs)

    @property
    def worst(self) -> int:
        """Column that moved farthest, in either direction."""
        return max(self.cells, key=lambda cell: abs(math.log(self.cells[cell].estimate)))


def changes_of(
    curves: Sequence[HistoryCurve],
    controls: Sequence[tuple[HistoryCurve, Sequence[Change]]],
    sessions: Sequence[SessionResult],
    margin: float,
) -> list[list[Change]]:
    """Return the changes of each curve.

    Args:
        controls: With their own changes.
        sessions: Among which changes are sought: the first of those that the curves have.
    """
    until = len(sessions)
    steps = steps_of([curve.logs[:until] for curve in curves], [curve.floor for curve in curves], margin)
    return [
        [_change(curve, step, controls, sessions, margin) for step in steps_of_curve]
        for curve, steps_of_curve in zip(curves, steps, strict=True)
    ]


def _change(
    curve: HistoryCurve,
    step: Step,
    controls: Sequence[tuple[HistoryCurve, Sequence[Change]]],
    sessions: Sequence[SessionResult],
    margin: float,
) -> Change:
    last = max(place for place in curve.sessions if place < step.place)
    cells = {int(cell): _decision(step, int(cell)) for cell in np.flatnonzero(step.changed)}
    moved = _moved_controls([control for control, _ in controls], step, margin)
    signs = tuple(
        control
        for control, changes in controls
        if id(control) in moved or any(_coincides(change, last, step.place) for change in changes)
    )
    # Nothing switches little by little.
    switches = () if step.drifts else tuple(switches_of(curve, last, step.place, sessions))
    return Change(last, step.place, step.sides[1][0], cells, signs, switches, step.drifts)


def _coincides(change: Change, last: int, place: int) -> bool:
    """Return whether a change is between these sessions, or next to them."""
    return change.place >= last + 1 - NEAR and change.before <= place - 1 + NEAR


def _moved_controls(controls: Sequence[HistoryCurve], step: Step, margin: float) -> set[int]:
    """Return the ids of controls that differ between the sessions before a step and those after it."""
    columns = [(control, cell) for control in controls for cell in range(control.logs.shape[1])]
    sides = [
        np.array([control.logs[begin:end, cell] for control, cell in columns]).T
        for begin, end in step.sides
        if columns
    ]
    if not sides:
        return set()
    enough = np.min([np.isfinite(side).sum(axis=0) for side in sides], axis=0) >= MIN_SEGMENT
    if not enough.any():
        return set()
    floor = np.array([control.floor[cell] for control, cell in columns])
    decided = decide(Unpaired(sides[0][:, enough], sides[1][:, enough], floor[enough]), Thresholds(margin))
    known = [control for (control, _), judged in zip(columns, enough, strict=True) if judged]
    return {
        id(control) for control, decision in zip(known, decided, strict=True) if decision.verdict in DIFFERENT
    }


def switches_of(
    curve: HistoryCurve, last: int, place: int, sessions: Sequence[SessionResult]
) -> Iterator[VersionChange]:
    """Yield the versions and settings that differ between two sessions of a curve."""
    if curve.rows:
        old, new = (next(iter(curve.rows[at].values())).cell for at in (last, place))
        if old.mpi_version != new.mpi_version and not curve.control:
            yield VersionChange(new.mpi, old.mpi_version, new.mpi_version)
    first, second = sessions[last].versions, sessions[place].versions
    for name in differing_names(first, second):
        yield VersionChange(name, first[name], second[name])


def _decision(step: Step, cell: int) -> Decision:
    """Return the decision on a changed cell; its interval holds for all cells and places at once."""
    mean, error, freedom = (float(one[cell]) for one in (step.mean, step.error, step.freedom))
    one_sided, sure = (float(special.stdtrit(freedom, share)) for share in (1 - LEVEL, 1 - LEVEL / 2))
    reach = max(step.reach, sure)
    return Decision(
        math.exp(mean),
        low=math.exp(mean - reach * error),
        high=math.exp(mean + reach * error),
        bound=math.exp(mean + one_sided * error),
        p=float(step.p[cell]),
        verdict="slower" if mean > 0 else "faster",
        small=False,
        missed=math.expm1((reach + float(special.stdtrit(freedom, POWER))) * error),
        needed=None,
        launches=int(freedom) + 2,
        t=mean / error,
    )
