"""The step of the clock: what it is, and rounds as data in classes of that width.

A clock that ticks every 10 ns gives every operation between 475 and 485 ns the time 480 ns. Where that is a
visible part of a time, its rounds are grouped data: each stands for an interval as wide as a step, and
percentiles are taken as if the rounds of a class lay evenly in it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.percentiles import median_of_few
from mpigauge.stats.ragged import in_batches, ragged_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpigauge.plan.model import JobKey
    from mpigauge.result.records import Launch, Visit
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.ragged import Ragged

Steps = dict["JobKey", float]
"""Step of the clock of each job, in nanoseconds."""

VISIBLE = 0.002
"""Share of a time from which on the step of the clock is seen in its median."""

FINEST_NS = 1.0
"""Times are kept in whole nanoseconds."""

_TELLABLE_NS = 8
_CLASSES_APART = 3


def clock_resolution(launches: Iterable[Launch], visits: Iterable[Visit]) -> Steps:
    """Return the resolution of the clock of each job, as the step by which its readings move.

    What the kernel records is the smallest difference of two readings. Of a clock finer than the cost of
    reading it, that is the cost, so the samples are asked whether they really lie a step apart.

    Args:
        launches: With the step that each rank has seen.
        visits: Of any cells of these launches.

    Returns:
        In nanoseconds, at least 1; jobs without a launch are left out.

    Source:
        docs/method-collectives.md#steps-of-the-clock
    """
    recorded: Steps = {}
    for launch in launches:
        seen_ns = max((place.clock_step_ns for place in launch.ranks_at), default=0)
        recorded[launch.job] = max(recorded.get(launch.job, FINEST_NS), float(seen_ns))
    coarse = {job: step for job, step in recorded.items() if step >= _TELLABLE_NS}
    telling = _telling(visits, coarse)
    return {
        job: step if job not in coarse or _is_lattice(telling[job], step) else FINEST_NS
        for job, step in recorded.items()
    }


def _telling(visits: Iterable[Visit], steps: Mapping[JobKey, float]) -> Mapping[JobKey, list[Visit]]:
    """Return the visits of each job that are short enough to tell its step."""
    found: dict[JobKey, list[Visit]] = defaultdict(list)
    for visit in visits if steps else ():
        job = visit.cell.job
        if job in steps and visit.samples_ns[0] * VISIBLE < steps[job]:
            found[job].append(visit)
    return found


def _is_lattice(visits: Iterable[Visit], step_ns: float) -> bool:
    """Return whether samples lie one step from the median of their visit; true if nothing tells.

    Those of a finer clock lie between.
    """
    on = between = 0
    for some in in_batches(visits, lambda visit: len(visit.samples_ns)):
        ordered = ragged_of([np.asarray(visit.samples_ns) for visit in some]).ascending()
        apart = np.abs(ordered.values - ordered.repeat(ordered.middles()))
        on += int(np.count_nonzero(np.abs(apart - step_ns) <= 1))
        between += int(np.count_nonzero((apart > 1) & (apart < step_ns - 1)))
    return _CLASSES_APART * between <= on


def in_order(visits: Sequence[Values], steps_s: Sequence[float] = ()) -> Values:
    """Return the rounds of visits in ascending order, those of one class of a coarse clock spread over it.

    The median of the result is that of grouped data: with the class of width d around m that holds the
    middle, F the share of rounds below it and f its own, ``m - d / 2 + d * (0.5 - F) / f``.

    Args:
        visits: Times of rounds in seconds, shape ``(rounds,)`` each; not all empty.
        steps_s: Step of the clock over the operations of a sample, one a visit; without them, or where a
            step is below 0.2 % of the time, rounds stay what they are.

    Source:
        docs/method-collectives.md#steps-of-the-clock
    """
    ordered = ragged_of([np.concatenate(visits)]).ascending()
    largest_s = np.array([max(steps_s, default=0.0)])
    return spread_where_seen(ordered, largest_s, lambda _: (visits, steps_s)).values


def spread_where_seen(
    ordered: Ragged,
    largest_s: Values,
    part: Callable[[int], tuple[Sequence[Values], Sequence[float]]],
) -> Ragged:
    """Return groups of ordered rounds, each a part, those of one class of a coarse clock spread over it.

    Args:
        largest_s: The largest step of each group.
        part: By the place of a group, its visits and the step of each.
    """
    seen = np.flatnonzero(largest_s > VISIBLE * ordered.middles())
    if not seen.size:
        return ordered
    parts = ordered.arrays()
    for place in seen.tolist():
        parts[place] = _classes_spread(*part(place))
    return ordered._replace(values=np.concatenate(parts))


def _classes_spread(visits: Sequence[Values], steps_s: Sequence[float]) -> Values:
    classes: dict[float, list[Values]] = defaultdict(list)
    for visit, step_s in zip(visits, steps_s, strict=True):
        classes[step_s].append(visit)
    return np.sort(np.concatenate([_spread(np.concatenate(mine), step) for step, mine in classes.items()]))


def _spread(values: Values, step_s: float) -> Values:
    """Return equal times, evenly over one step around theirs; 0 stays, for the clock stood still."""
    times, counts = np.unique(values, return_counts=True)
    ranks = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    widths = np.where(times > 0, step_s, 0.0) / counts
    spread: Values = np.repeat(times - widths * (counts - 1) / 2, counts) + ranks * np.repeat(widths, counts)
    return spread


def median_of(visits: Sequence[Values], steps_s: Sequence[float] = ()) -> float:
    """Return the median of the rounds of some visits; of grouped data where the clock's step is seen."""
    ordered = in_order(visits, steps_s)
    middle = ordered.size // 2
    return float(ordered[middle] if ordered.size % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def relative_step(medians: Values, steps_s: Sequence[float]) -> float:
    """Return the step of the clock over the time; 0 where there is none or the clock stood still.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.
        steps_s: One a visit, in seconds of one operation.
    """
    centre = median_of_few(medians)
    return float(np.mean(steps_s)) / centre if len(steps_s) and centre > 0 else 0.0
