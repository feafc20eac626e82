"""Which links and hosts are slow: what a map of all pairs shows beyond chance and beyond its own structure.

The time of a link is taken to be a product: what is usual between two groups of hosts, a factor for each of
its two hosts, and one of its own. All of it is fitted by medians, anew in every launch, so that a few slow
links or hosts do not move what is usual. Arrays hold logarithms of times, shape ``(launches, hosts, hosts)``,
symmetric, NaN on the diagonal and where nothing was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.stats import special

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from mpigauge.stats.percentiles import Values

    Numbers = npt.NDArray[np.signedinteger[Any]]
    Flags = npt.NDArray[np.bool_]
    Middle = Callable[[Values, int], Values]

Link = tuple[int, int]

FACTOR = 1.25
"""The factor over the usual time from which something is called slow."""

ERROR_RATE = 0.01
"""Share of maps of uniform networks in which anything is called slow."""

MIN_HOSTS = 3
"""Hosts of the smallest map: with two it is unknown which is slow, and what is usual."""

_HOSTS_FOR_MEDIANS = 4
_MIN_GROUP = 2
_MIN_CLASS = 3
_SWEEPS = 6
_LEVELS = (1.0, 1.6, 2.5)
_SHARES = (0.8, 0.1, 0.1)
_SUSPECT = 20.0
_SHOWN = 1 / 3
_SPREADS = 5.0
_MAD_OF_NORMAL = 1.4826
_AS_A_WHOLE = 0.25
_PARTS = 3
"""Factors that make up a link's time: of its two hosts, and its own."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The factor of something slow, and in how many launches: a loose cable is slow in some only.

    Attributes:
        launches: Number of launches with its times.
        slow: Number of them in which it is slow.
        factor: Median over these of how many times slower than usual it is.
        by_middle: Whether its middle over all launches stands out, and not launch by launch.
    """

    launches: int
    slow: int
    factor: float
    by_middle: bool = False

    @property
    def flaky(self) -> bool:
        """Return whether it is as usual in some launches."""
        return self.slow < self.launches


@dataclass(frozen=True, slots=True)
class Blame:
    """Slow links and hosts of one quantity, hosts by their numbers.

    Attributes:
        links: Slow links; none whose cause is a slow host.
        hosts: Slow hosts.
        suspects: Links, and hosts as (host, host), that look slow but in too few launches, or by too little
            for a network whose links differ anyway.
        threshold: The factor that had to be exceeded: the one asked for, or more where links differ anyway.
        launches_needed: With so many, a link that is slow in all of them can be told from chance; None if
            never.
    """

    links: dict[Link, Extent]
    hosts: dict[int, Extent]
    suspects: dict[Link, Extent]
    threshold: float
    launches_needed: int | None


def blame(logs: Values, groups: Sequence[Sequence[int]], factor: float, error_rate: float) -> Blame:
    """Return the slow links and hosts.

    A link is slow if it is beyond the threshold in so many launches that chance alone would do so with less
    than the error rate. What chance does in one launch is counted, not assumed: how often any other link is
    as far above its own middle over launches. The same is asked at two higher levels, which noise reaches
    less often, so that what is very slow is found in few launches; they have a tenth of the error rate each.
    A host is slow if by the same rule its links are, three quarters of them at least by half as much in the
    launches in which it is slow; they are then not slow themselves.

    Args:
        logs: Logarithms of times, shape ``(launches, hosts, hosts)``.
        groups: From `groups_of`; links are compared within their kind.
        factor: Slower than usual by less is not slow.
        error_rate: Error rate of one link or host: that of a whole map over the number of tests.

    Source:
        Median polish: Tukey, Exploratory Data Analysis, 1977. The probability is binomial. The threshold is
        at least five robust standard deviations of links, so that a network whose links all differ is not
        called slow in places.
    """
    count = logs.shape[1]
    if count < MIN_HOSTS:
        return Blame({}, {}, {}, factor, None)
    fit = _fit(logs, _classes(count, groups))
    test = _test_of(logs, fit, factor, error_rate)
    hosts: dict[int, Extent] = {}
    suspects: dict[Link, Extent] = {}
    excess, of_slow, excused = fit.excess(), np.zeros_like(fit.of_hosts), fit.of_hosts.copy()
    for host, slow_in, extent, sure in test.findings(fit.of_hosts, test.of_hosts(logs, fit.of_hosts)):
        if _as_a_whole(excess[slow_in, host], extent.factor):
            if sure:
                hosts[host], of_slow[:, host] = extent, fit.of_hosts[:, host]
            else:
                suspects[host, host] = extent
        elif extent.factor > test.threshold:
            # A host that is not slow as a whole is no excuse for those of its links that are.
            excused[:, host] = 0
    links: dict[Link, Extent] = {}
    one_of_each = np.triu_indices(count, 1)
    own, chances = fit.residuals(excused)[:, *one_of_each], test.of_links(_less_hosts(logs, of_slow))
    for place, _, extent, sure in test.findings(own, chances):
        i, j = (int(ends[place]) for ends in one_of_each)
        (links if sure else suspects)[i, j] = extent
    known_slow = [*links, *suspects, *((host, host) for host in hosts)]
    suspects |= _slow_by_middle(logs, _classes(count, groups), math.log(factor), known_slow)
    return Blame(links, hosts, suspects, test.threshold, test.launches_needed(float(chances[0].max())))


def _slow_by_middle(
    logs: Values, classes: Numbers, asked: float, named: Sequence[Link]
) -> Iterator[tuple[Link, Extent]]:
    """Yield the links whose middle over launches is more than what is not slow could make of it.

    Where launches differ a lot, a link can show such a middle though launch by launch no more is known: in
    each, other links were slow with it, or its hosts had a share of that. Two hosts and a link, none of which
    takes `factor` times as long, are below its third power.

    Args:
        classes: Which links are compared.
        asked: Logarithm of `factor`.
        named: Links, and hosts as (host, host), that are known or suspected to be slow.
    """
    count = logs.shape[1]
    middles = _median(logs, 0)
    unnamed = middles.copy()
    for i, j in named:
        rows, columns = (i, slice(None)) if i == j else (i, j)
        unnamed[rows, columns] = unnamed[columns, rows] = np.nan
    middle = _median if count >= _HOSTS_FOR_MEDIANS else _least
    excess = _beyond_usual(unnamed[None], classes, np.zeros((1, count)), middle)[0]
    for i, j in np.argwhere(np.triu(excess, 1) > _PARTS * asked).tolist():
        above = logs[:, i, j] - (middles[i, j] - excess[i, j])
        slow = above > asked
        factor = math.exp(float(_median(above[slow], 0)))
        yield (i, j), Extent(int(np.isfinite(above).sum()), int(slow.sum()), factor, by_middle=True)


# ---- The rule ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Test:
    """The factors that must be exceeded, and in how many launches.

    Attributes:
        asked: Logarithm of the factor that was asked for.
        levels: Logarithms, the lowest first, which is `asked` or more.
        error_rates: Error rate of one link or host at each level.
    """

    asked: float
    levels: tuple[float, ...]
    error_rates: tuple[float, ...]

    @property
    def threshold(self) -> float:
        """The factor below which nothing can be called slow."""
        return math.exp(self.levels[0])

    def of_links(self, logs: Values) -> Values:
        """Return the probabilities that chance takes a link beyond each level in one launch.

        Returns:
            Shape ``(levels, links)``, links in the order of `numpy.triu_indices`.
        """
        counts = self._counts(logs)[:, *np.triu_indices(logs.shape[1], 1)]
        others = 1.0 + counts.sum(1, keepdims=True) - counts
        return np.asarray(others[:-1] / others[-1])

    def of_hosts(self, logs: Values, factors: Values) -> Values:
        """Return these probabilities for hosts, by all links; a host's own without its factor.

        Returns:
            Shape ``(levels, hosts)``.
        """
        counts, without = self._counts(logs), self._counts(logs - factors[:, :, None])
        others = 1.0 + counts.sum((1, 2))[:, None] / 2 - counts.sum(2) + without.sum(2)
        return np.asarray(others[:-1] / others[-1])

    def _counts(self, logs: Values) -> Numbers:
        """Return in how many launches each link exceeds its own median by each level, and of how many."""
        times = logs - _median(logs.reshape(logs.shape[0], -1), 1)[:, None, None]  # all may be slow in one
        above = times - _median(times, 0)
        # The middle of a link's launches is one of them, or between two: it says nothing.
        known = np.maximum(np.isfinite(above).sum(0) - 1, 0)
        return np.stack([*((above > level).sum(0) for level in self.levels), known])

    def findings(self, values: Values, chances: Values) -> Iterator[tuple[int, Flags, Extent, bool]]:
        """Yield what is or looks slow: place, launches, factor, and whether chance is ruled out.

        Args:
            values: Logarithms, beyond what is usual for each, shape ``(launches, asked)``.
            chances: Shape ``(levels, asked)``.
        """
        known = np.isfinite(values).sum(0)
        beyond = np.stack([(values > level).sum(0) for level in self.levels])
        # How often chance does that, in error rates.
        by_chance = special.bdtrc(beyond - 1, known, chances) / np.array(self.error_rates)[:, None]
        least = np.where(beyond > 0, by_chance, np.inf).min(0)
        for place in np.flatnonzero((least <= _SUSPECT) | (_median(values, 0) > self.asked)):
            rare, own = bool(least[place] <= 1), values[:, place]
            slow_in = _slow_in(own, self.levels[0] if rare else self.asked)
            middle = float(_median(own[slow_in], 0))
            if middle > self.asked:
                extent = Extent(int(known[place]), int(slow_in.sum()), math.exp(middle))
                yield int(place), slow_in, extent, rare and middle > self.levels[0]

    def launches_needed(self, chance: float) -> int | None:
        """Return the launches, all beyond the lowest level, that chance rarely brings about."""
        if chance >= 1:
            return None
        return max(1, math.ceil(math.log(self.error_rates[0]) / math.log(chance) - 1e-9))


def _test_of(logs: Values, fit: _Fit, factor: float, error_rate: float) -> _Test:
    one_of_each = np.triu_indices(logs.shape[1], 1)
    residuals = _median(fit.residuals(fit.of_hosts), 0)[one_of_each]
    fitted = math.sqrt(residuals.size / max(1, residuals.size - logs.shape[1]))  # hosts took their part
    spread = _MAD_OF_NORMAL * float(_median(np.abs(residuals - _median(residuals, 0)), 0)) * fitted
    threshold = max(math.log(factor), _SPREADS * spread)
    levels = tuple(threshold + math.log(level) for level in _LEVELS)
    return _Test(math.log(factor), levels, tuple(share * error_rate for share in _SHARES))


def _slow_in(values: Values, level: float) -> Flags:
    """Return the launches beyond a level, one at least, and those that show a third of their excess.

    A link that is slow in all launches, in some of them just below the level, is not a flaky one, and its
    factor is not that of its slowest launches alone.
    """
    return values > min(level, _SHOWN * float(_median(values[values > level], 0)))


def _as_a_whole(excess: Values, factor: float) -> bool:
    """Return whether three quarters of a host's links show half of its factor."""
    links = _median(excess, 0)
    links = np.sort(links[np.isfinite(links)])
    return links.size > 0 and float(links[int(_AS_A_WHOLE * (links.size - 1))]) >= math.log(factor) / 2


# ---- Groups --------------------------------------------------------------------------------------


def groups_of(latencies: Values, factor: float = FACTOR) -> list[list[int]]:
    """Return hosts grouped by nearness, as behind one switch; else all in one group.

    Single linkage, cut at its largest gap: a slow link separates no hosts, since the way through a third one
    is short. A host that is left alone is slow rather than a group, and joins the nearest one.

    Args:
        latencies: Logarithms, shape ``(launches, hosts, hosts)``.
        factor: The least gap, as a ratio of distances.
    """
    from scipy.cluster import hierarchy  # noqa: PLC0415 - slow, and of maps alone

    count = latencies.shape[1]
    distances = _median(latencies, 0)
    condensed = distances[np.triu_indices(count, 1)]
    if count < _HOSTS_FOR_MEDIANS or np.isnan(condensed).any():
        return [list(range(count))]
    merges = hierarchy.linkage(condensed - condensed.min(), "single")
    gaps = np.diff(merges[:, 2])
    for place in np.argsort(-gaps, kind="stable"):
        if gaps[place] < math.log(factor):
            break
        labels = hierarchy.fcluster(merges, merges[place, 2] + gaps[place] / 2, "distance")
        sizes = np.bincount(labels)
        if (sizes >= _MIN_GROUP).sum() >= _MIN_GROUP:
            return _gathered(distances, labels, sizes)
    return [list(range(count))]


def _gathered(distances: Values, labels: Numbers, sizes: Numbers) -> list[list[int]]:
    """Return groups in the order of their first hosts, with single hosts in the nearest group."""
    real = [label for label in range(sizes.size) if sizes[label] >= _MIN_GROUP]
    groups = [np.flatnonzero(labels == label) for label in real]
    members = [group.tolist() for group in groups]
    for host in np.flatnonzero(sizes[labels] < _MIN_GROUP):
        nearest = min(range(len(groups)), key=lambda g: float(np.median(distances[host, groups[g]])))
        members[nearest].append(int(host))
    return sorted(sorted(group) for group in members)


def _classes(count: int, groups: Sequence[Sequence[int]]) -> Numbers:
    """Return which links are compared: a class number for each, shape ``(hosts, hosts)``.

    Links between the same two groups are of one class. Classes of a link or two have no middle to speak of:
    those within groups are taken together, and so are those between them.
    """
    group_of = np.zeros(count, dtype=np.int64)
    for number, group in enumerate(groups):
        group_of[list(group)] = number
    low, high = np.minimum.outer(group_of, group_of), np.maximum.outer(group_of, group_of)
    classes = 2 + low * len(groups) + high
    upper = np.triu(np.ones((count, count), dtype=bool), 1)
    for number in np.unique(classes):
        of_class = classes == number
        if (of_class & upper).sum() < _MIN_CLASS:
            classes[of_class] = 0 if low[of_class].flat[0] == high[of_class].flat[0] else 1
    return classes


# ---- The fit -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The usual time of links, by classes and hosts; the rest is each link's own.

    Attributes:
        of_hosts: Logarithms of factors of hosts, shape ``(launches, hosts)``, centred on 0.
        beyond: A link's time beyond the usual of its class, shape ``(launches, hosts, hosts)``.
    """

    of_hosts: Values
    beyond: Values

    def excess(self) -> Values:
        """Return, in row i, how far links of host i exceed what is usual with their other hosts."""
        return self.beyond - self.of_hosts[:, None, :]

    def residuals(self, of_hosts: Values) -> Values:
        """Return what is a link's own, given the factors of hosts."""
        return _less_hosts(self.beyond, of_hosts)


def _fit(logs: Values, classes: Numbers) -> _Fit:
    """Return the median polish of a symmetric table.

    Of three hosts each has two links, and two have no middle: there what is fastest is usual.
    """
    launches, count, _ = logs.shape
    middle = _median if count >= _HOSTS_FOR_MEDIANS else _least
    of_hosts = np.zeros((launches, count))
    beyond = logs
    for _ in range(_SWEEPS):
        beyond = _beyond_usual(logs, classes, of_hosts, middle)
        of_hosts = middle(beyond - of_hosts[:, None, :], 2)
        of_hosts = of_hosts - middle(of_hosts, 1)[:, None]
    return _Fit(of_hosts, _beyond_usual(logs, classes, of_hosts, middle))


def _beyond_usual(logs: Values, classes: Numbers, of_hosts: Values, middle: Middle) -> Values:
    rest = _less_hosts(logs, of_hosts)
    beyond = logs.copy()
    for number in np.unique(classes):
        of_class = (classes == number) & ~np.eye(classes.shape[0], dtype=bool)
        if of_class.any():
            beyond[:, of_class] -= middle(rest[:, of_class], 1)[:, None]
    return beyond


def _less_hosts(logs: Values, of_hosts: Values) -> Values:
    return logs - of_hosts[:, None, :] - of_hosts[:, :, None]


def _median(values: Values, axis: int) -> Values:
    """Return the median of the known values; NaN where there is none."""
    ordered = np.sort(values, axis=axis)  # NaN last
    known = np.isfinite(values).sum(axis=axis, keepdims=True)
    lower = np.take_along_axis(ordered, np.maximum(known - 1, 0) // 2, axis)
    upper = np.take_along_axis(ordered, known // 2 * (known > 0), axis)
    middle: Values = ((lower + upper) / 2).squeeze(axis)
    return middle


def _least(values: Values, axis: int) -> Values:
    return np.asarray(np.fmin.reduce(values, axis=axis))
