"""What visits were made in: how far apart the ranks' cores were, and whether somebody else used them.

A condition is measured beside the samples of a visit, never of them:
docs/method-launches.md#states-of-the-machine.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.sequences import group_by
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mpigauge.result.records import Visit
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import Distance

    Places = NDArray[np.intp]
    Flags = NDArray[np.bool_]

ALIKE = 1.15
"""Hand-over times whose ratio is less are of one condition."""

LEAST_NS = 1e-3
"""Nothing is handed over faster; and what is nearly nothing has no logarithm once it is in seconds."""

LINE_MOST_NS = 3000.0
"""No two cores are so far apart: a rank had to wait for a core that another one had."""

DISTURBED_SHARE = 0.01
"""Of the time of a visit, for which a rank was ready to run and had no core."""

SWITCH_NS = 10_000
"""What a lost core costs at least, where nobody says how long it was: two switches and cold caches."""

_MOST_OF_THEM = 0.5


class Condition(NamedTuple):
    """How far apart the ranks of a visit were.

    Attributes:
        of: What was handed over: a cache line (line) or an empty message between hosts (path).
        before_s: One way, before the samples.
        after_s: The same after them.
    """

    of: Distance
    before_s: float
    after_s: float

    @property
    def middle_s(self) -> float:
        """Geometric mean of both."""
        return math.sqrt(self.before_s * self.after_s)


def condition_of(visit: Visit) -> Condition | None:
    """Return how far apart the ranks of a visit were; None if a clock stood still or a core was shared.

    A line says more than a path: what lies between hosts is not what moves ranks about on them.
    """
    if visit.line_ns:
        before_ns, after_ns = visit.line_ns
        if LEAST_NS < before_ns < LINE_MOST_NS and LEAST_NS < after_ns < LINE_MOST_NS:
            return Condition("line", before_ns * NS, after_ns * NS)
    if visit.path_ns:
        before_ns, after_ns = visit.path_ns
        if before_ns > LEAST_NS and after_ns > LEAST_NS:
            return Condition("path", before_ns * NS, after_ns * NS)
    return None


def readings_of(visits: Sequence[Visit]) -> dict[Distance, tuple[Places, Values]]:
    """Return the conditions of many visits, by what was handed over.

    Returns:
        Places of the visits of which it is known, rising, and their readings before and after the samples in
        seconds, shape ``(visits, 2)``.
    """
    lines = _pairs([visit.line_ns for visit in visits], LINE_MOST_NS)
    paths = _pairs([visit.path_ns for visit in visits], math.inf)
    by_line = _whole(lines)
    by_path = _whole(paths) & ~by_line
    both: tuple[tuple[Distance, Flags, Values], ...] = (("line", by_line, lines), ("path", by_path, paths))
    return {of: (np.flatnonzero(known), pairs[known] * NS) for of, known, pairs in both if known.any()}


def _whole(pairs: Values) -> Flags:
    known: Flags = np.isfinite(pairs[:, 0]) & np.isfinite(pairs[:, 1])
    return known


def _pairs(readings: Sequence[Sequence[float]], most: float) -> Values:
    """Return two readings of each, NaN where there are none or where they are out of range."""
    pairs = np.full((len(readings), 2), math.nan)
    known = [number for number, pair in enumerate(readings) if pair]
    flat = chain.from_iterable(filter(None, readings))
    pairs[known] = np.fromiter(flat, np.float64, 2 * len(known)).reshape(-1, 2)
    pairs[~((pairs > LEAST_NS) & (pairs < most))] = math.nan
    return pairs


# ---- Like with like ------------------------------------------------------------------------------

Distances = dict[int, tuple["Distance", float]]
"""Number of a launch to what was handed over, and how long that took in the middle of its visits, s."""


def distances_of(visits: Iterable[Visit]) -> Distances:
    """Return how far apart the ranks of a cell were in each launch in which it is known."""
    known: dict[tuple[int, Distance], list[float]] = {}
    for visit in visits:
        if (condition := condition_of(visit)) is not None:
            known.setdefault((visit.launch, condition.of), []).append(condition.middle_s)
    return {launch: (of, median(values)) for (launch, of), values in known.items()}


def in_like_conditions(
    over: Mapping[int, float],
    under: Mapping[int, float],
    over_at: Distances,
    under_at: Distances,
) -> tuple[dict[int, float], dict[int, float]]:
    """Return what may be divided by each other: launches in which both were made at one distance.

    Args:
        over: Launch number to the launch's time in seconds.
        under: The same of what it is compared with.
        over_at: How far apart the ranks were in the launches of the first.
        under_at: And in those of the second.

    Returns:
        Both without the launches that both have but at different distances; if they have no launch in
        common, nothing of either if their distances differ as a whole. What is not known is not held
        against anybody.

    Source:
        docs/method-launches.md#states-of-the-machine
    """
    unlike = {
        launch
        for launch in over.keys() & under.keys()
        if not _alike(over_at.get(launch), under_at.get(launch))
    }
    if not over.keys() & under.keys() and not _alike(middle_of(over_at), middle_of(under_at)):
        return {}, {}
    return (
        {launch: value for launch, value in over.items() if launch not in unlike},
        {launch: value for launch, value in under.items() if launch not in unlike},
    )


def middle_of(distances: Distances) -> tuple[Distance, float] | None:
    """Return how far apart the ranks were in all launches; None if that is not known of one kind."""
    if len({of for of, _ in distances.values()}) != 1:
        return None
    (of,) = {of for of, _ in distances.values()}
    return of, median(value for _, value in distances.values())


def _alike(one: tuple[Distance, float] | None, other: tuple[Distance, float] | None) -> bool:
    """Return whether two distances are not known to differ.

    Messages between hosts are sent by the library over the network under test: a longer time is the
    difference to be found, not another placement of the ranks.
    """
    if one is None or other is None or "path" in {one[0], other[0]}:
        return True
    return max(one[1], other[1]) < ALIKE * min(one[1], other[1])


# ---- Disturbed or not ----------------------------------------------------------------------------


def is_disturbed(visit: Visit) -> bool | None:
    """Return whether others ran on the cores of a visit for more than 1 % of its time; None if not known.

    How long a rank waited for a core is counted by the system; where it is not, a lost core stands for it.
    """
    if visit.wait_ns < 0 and visit.switches < 0:
        return None
    lost_ns = visit.wait_ns if visit.wait_ns >= 0 else visit.switches * SWITCH_NS
    return lost_ns * NS > DISTURBED_SHARE * visit.elapsed_s


def disturbed_share(visits: Iterable[Visit]) -> float | None:
    """Return the share of disturbed visits among those of which it is known; None if it is of none."""
    known = [found for visit in visits if (found := is_disturbed(visit)) is not None]
    return sum(known) / len(known) if known else None


def disturbed_launches(visits: Iterable[Visit]) -> dict[int, int]:
    """Return by number of a launch how many of its cells were disturbed in most of their visits."""
    cells = group_by(visits, lambda visit: (visit.launch, visit.cell))
    found = Counter(launch for (launch, _), mine in cells.items() if mostly_disturbed(mine))
    return dict(sorted(found.items()))


def mostly_disturbed(visits: Iterable[Visit]) -> bool:
    """Return whether more than half of the visits of a cell in a launch are."""
    return (disturbed_share(visits) or 0.0) > _MOST_OF_THEM
