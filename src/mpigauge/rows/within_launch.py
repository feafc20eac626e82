"""What is said of the rounds of one launch, which share its luck. All times are in seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np

from mpigauge.errors import UsageError
from mpigauge.rows.clock_resolution import spread_where_seen
from mpigauge.stats.autocorrelation import correlation_times
from mpigauge.stats.percentiles import PERCENTS, Values
from mpigauge.stats.ragged import Ragged, in_batches, ragged_of
from mpigauge.vocabulary import ENDS, STATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.stats.ragged import Counts


_LEAST_FOR_DRIFT = 32
_QUARTILES_OF_NORMAL = 1.349

WIDTH_OF_NORMAL = 3.92
"""Of a 95 % interval, in standard deviations."""

VARIANCE_OF_MEDIAN = math.pi / 2
"""Of many normal values, over that of their mean."""


@dataclass(frozen=True, slots=True)
class LaunchSummary:
    """What is said of the rounds of one launch.

    Attributes:
        count: How many rounds.
        median: The statistic that stands for the launch, s: the median unless another was chosen.
        round_variance: Variance of log t that one round adds to a median: pi/2 * robust variance * integrated
            autocorrelation time; NaN if a quartile is 0.
        drift: ln of the median of the first quarter of the rounds over that of the last half; None under 32
            rounds.
        visit_variance: Variance of the logarithms of visit medians; NaN for a single visit or a median of 0.
        within_variance: Variance of log t of single rounds around the median of their visit, from quartiles;
            NaN if a median or a quartile is 0.
        visits: How many visits.
    """

    count: int
    median: float
    round_variance: float
    drift: float | None
    visit_variance: float
    within_variance: float
    visits: int


Launch = tuple[Sequence[Values], Sequence[float]]
"""In time order the times of the rounds of its visits in seconds, shape ``(rounds,)`` each, and of each visit
the step of the clock in seconds of one operation; no step at all: a clock without steps."""


@dataclass(frozen=True, slots=True)
class _Launches:
    """Some launches, of which much is computed at once.

    Attributes:
        visits: Of each launch those that have rounds.
        steps_s: The step of the clock for each of them.
        by_visit: All rounds in time order.
        by_launch: The same ones by launch.
        counts: How many visits each launch has, shape ``(launches,)``.
    """

    visits: Sequence[Sequence[Values]]
    steps_s: Sequence[Sequence[float]]
    by_visit: Ragged
    by_launch: Ragged
    counts: Counts

    @classmethod
    def of(cls, launches: Sequence[Launch]) -> Self:
        """Return launches without visits that have no rounds.

        Raises:
            ValueError: If a launch has no round at all.
        """
        each = [_with_rounds(*launch) for launch in launches]
        visits, steps_s = zip(*each, strict=True)
        if not all(visits):
            raise ValueError("a launch without rounds")
        counts = np.array([len(mine) for mine in visits])
        by_visit = ragged_of([visit for mine in visits for visit in mine])
        sizes = np.add.reduceat(by_visit.lengths, np.cumsum(counts) - counts)
        return cls(visits, steps_s, by_visit, by_visit._replace(lengths=sizes), counts)

    @property
    def each_step_s(self) -> Values:
        """Of every visit, shape ``(visits,)``."""
        return np.fromiter(chain.from_iterable(self.steps_s), np.float64)

    @property
    def largest_steps_s(self) -> Values:
        """Of every launch, shape ``(launches,)``."""
        steps: Values = np.maximum.reduceat(self.each_step_s, np.cumsum(self.counts) - self.counts)
        return steps


def _with_rounds(visits: Sequence[Values], steps_s: Sequence[float]) -> Launch:
    steps_s = steps_s or [0.0] * len(visits)
    if all(visit.size for visit in visits):
        return visits, steps_s
    known = [place for place, visit in enumerate(visits) if visit.size]
    return [visits[place] for place in known], [steps_s[place] for place in known]


def summarise_launches(launches: Iterable[Launch], stat: str = "median") -> Iterator[LaunchSummary]:
    """Yield what is said of each launch, in their order; of a few thousand rounds at once.

    Args:
        stat: One of STATS.

    Raises:
        ValueError: If one has no round at all.

    Source:
        docs/method.md#enough-within-a-launch
    """
    for some in in_batches(launches, lambda launch: sum(visit.size for visit in launch[0])):
        yield from _summaries(_Launches.of(some), stat)


def _summaries(some: _Launches, stat: str) -> Iterator[LaunchSummary]:
    plain = some.by_launch.ascending()
    ordered = spread_where_seen(
        plain, some.largest_steps_s, lambda place: (some.visits[place], some.steps_s[place])
    )
    owners = np.repeat(np.arange(some.counts.size), some.counts)
    taus = correlation_times(some.by_visit, owners, plain)
    medians = Ragged(_medians(some.by_visit, some.each_step_s), some.counts)
    yield from map(
        LaunchSummary,
        plain.lengths.tolist(),
        _statistics(ordered, stat),
        (VARIANCE_OF_MEDIAN * _robust_variances(ordered) * taus).tolist(),
        _drifts(some),
        _visit_variances(medians).tolist(),
        _within_variances(some, medians).tolist(),
        some.counts.tolist(),
    )


def _statistics(ordered: Ragged, stat: str) -> list[float]:
    if stat in PERCENTS:
        return list(map(float, ordered.percentiles(PERCENTS[stat])))
    if stat == "mean":
        return [float(rounds.mean()) for rounds in ordered.arrays()]
    if stat in ENDS:
        return [float(rounds[0 if stat == "min" else -1]) for rounds in ordered.arrays()]
    raise UsageError(f"no statistic is called {stat!r}", f"choose from {', '.join(STATS)}")


def _robust_variances(ordered: Ragged) -> Values:
    """Return for each part the variance of log t of a normal with its quartiles; NaN if one is 0."""
    lower, upper = ordered.percentiles(25), ordered.percentiles(75)
    ratios = np.divide(upper, lower, out=np.full(lower.size, math.nan), where=lower > 0)
    variances: Values = (np.log(ratios) / _QUARTILES_OF_NORMAL) ** 2
    return variances


def _medians(parts: Ragged, steps_s: Values) -> Values:
    """Return the median of each part, of grouped data where the step of the clock is seen."""
    each = parts.arrays()
    ordered = spread_where_seen(parts.ascending(), steps_s, lambda place: ([each[place]], [steps_s[place]]))
    return ordered.medians()


def _visit_variances(medians: Ragged) -> Values:
    """Return the variance of the logarithms of visit medians, for each launch."""
    known = (medians.lengths > 1) & (np.minimum.reduceat(medians.values, medians.begins) > 0)
    logs = np.log(np.where(medians.values > 0, medians.values, 1.0))
    squares = medians._replace(values=medians._replace(values=logs).centred() ** 2).sums()
    return np.where(known, squares / np.maximum(medians.lengths - 1, 1), math.nan)


def _within_variances(some: _Launches, medians: Ragged) -> Values:
    """Return the variance of the logarithms of rounds around their visit's median, for each launch."""
    positive = np.where(medians.values > 0, medians.values, 1.0)
    relative = some.by_visit.values / some.by_visit.repeat(positive)
    variances = _robust_variances(some.by_launch._replace(values=relative).ascending())
    known = np.minimum.reduceat(medians.values, medians.begins) > 0
    return np.where(known, variances, math.nan)


def _drifts(some: _Launches) -> list[float | None]:
    """Return how much longer the first quarter of the rounds takes than the last half, as logarithms.

    Source:
        docs/method.md#warm-up
    """
    launches = some.by_launch.arrays()
    drifts: list[float | None] = [None] * len(launches)
    known = np.flatnonzero(some.by_launch.lengths >= _LEAST_FOR_DRIFT).tolist()
    if known:
        firsts = ragged_of([launches[place][: launches[place].size // 4] for place in known])
        lasts = ragged_of([launches[place][launches[place].size // 2 :] for place in known])
        both = (_medians(parts, some.largest_steps_s[known]).tolist() for parts in (firsts, lasts))
        for place, first, last in zip(known, *both, strict=True):
            drifts[place] = math.log(first / last) if min(first, last) > 0 else None
    return drifts


# ---- What makes launches differ ------------------------------------------------------------------


VARIANCE_OF_FEW = 1.35
"""Of the median of about 8 normal values, over that of their mean."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the variance of launch medians, each with a remedy of its own; None where it is not known.

    Attributes:
        launches: More launches average it out, nothing else does.
        visits: So do more visits of a launch, each at another moment.
        rounds: And so do more rounds.
        beyond_rounds: Variance of the logarithm of a launch median that more rounds cannot remove.
    """

    launches: float | None
    visits: float | None
    rounds: float | None
    beyond_rounds: float | None


NO_SHARES = Shares(None, None, None, None)


def shares_of(medians: Values, summaries: Sequence[LaunchSummary]) -> Shares:
    """Return what the variance of launch medians is made of, by an analysis of variance in three levels.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.
        summaries: Of the same launches.

    Returns:
        Nothing for one launch or a time of 0; no shares if nothing varies at all. Shares add up to 1.

    Source:
        docs/method-launches.md#samples-or-launches; Kalibera and Jones, Rigorous Benchmarking in
        Reasonable Time, ISMM 2013.
    """
    within = np.array([summary.within_variance for summary in summaries])
    if medians.size == 1 or medians.min() <= 0 or np.isnan(within).any():
        return NO_SHARES
    rounds = float(np.mean([VARIANCE_OF_MEDIAN * one.within_variance / one.count for one in summaries]))
    visits = _from_visits(summaries)
    launches = max(0.0, float(np.log(medians / medians[0]).var(ddof=1)) - visits - rounds)
    total = launches + visits + rounds
    if total == 0:
        return Shares(None, None, None, 0.0)
    return Shares(launches / total, visits / total, rounds / total, launches + visits)


def _from_visits(summaries: Sequence[LaunchSummary]) -> float:
    """Return what differences between visits, beyond the noise of their rounds, add to a launch median."""
    several = [summary for summary in summaries if summary.visits > 1]
    if not several:
        return 0.0
    seen = np.mean([one.visit_variance / one.visits for one in several])
    noise = np.mean([VARIANCE_OF_MEDIAN * one.within_variance / one.count for one in several])
    return VARIANCE_OF_FEW * max(0.0, float(seen - noise))
