"""Which links and hosts are slow: what a map of all pairs shows beyond chance and beyond its own structure.

The time of a link is taken to be a product: what is usual between two groups of hosts, a factor for each of
its two hosts, and one of its own. All of it is fitted by medians, anew in every launch, so that a few slow
links or hosts do not move what is usual. Arrays hold logarithms of times, shape ``(launches, hosts, hosts)``,
symmetric, NaN on the diagonal and where nothing was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special
from scipy.cluster import hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from mpigauge.analysis.percentiles import Values

    Numbers = npt.NDArray[np.signedinteger[Any]]
    Middle = Callable[[Values, int], Values]

Link = tuple[int, int]

FACTOR = 1.25
"""What is slower than usual by less is not called slow."""

ERROR_RATE = 0.01
"""Of maps of uniform networks, the share in which anything is called slow."""

HOSTS_LEAST = 3
"""Of two hosts nobody can tell which is slow, nor what is usual."""

_HOSTS_FOR_MEDIANS = 4
_GROUP_LEAST = 2
_CLASS_LEAST = 3
_SWEEPS = 6
_LEVELS = (1.0, 1.6, 2.5)
_SHARES = (0.8, 0.1, 0.1)
_SPREADS = 5.0
_MAD_OF_NORMAL = 1.4826
_AS_A_WHOLE = 0.25


@dataclass(frozen=True, slots=True)
class Extent:
    """In how many launches something is slow: a broken cable is in all, one that wears out in some.

    Attributes:
        launches: Those with its times.
        slow: Those of them in which it is beyond the threshold.
        factor: How many times slower than usual, in the middle one of these.
    """

    launches: int
    slow: int
    factor: float


@dataclass(frozen=True, slots=True)
class Blame:
    """What is slow in one quantity, hosts by their numbers.

    Attributes:
        links: How many times slower than usual, of slow links; none whose cause is a slow host.
        hosts: The same, of slow hosts.
        suspects: Links, and hosts as (host, host), that look slow but in too few launches, or by too little
            for a network whose links differ anyway.
        extents: Of all of these, hosts as (host, host).
        threshold: The factor that had to be exceeded: the one asked for, or more where links differ anyway.
        launches_needed: With so many, what is slow in all of them can be told from chance; None if never.
        decided: Whether there are as many.
    """

    links: dict[Link, float]
    hosts: dict[int, float]
    suspects: dict[Link, float]
    extents: dict[Link, Extent]
    threshold: float
    launches_needed: int | None
    decided: bool


def blame(logs: Values, groups: Sequence[Sequence[int]], factor: float, error_rate: float) -> Blame:
    """Names the slow links and hosts.

    A link is slow if it is beyond the threshold in so many launches that chance alone would do so with less
    than the error rate. What chance does in one launch is counted, not assumed: how often any link is as far
    above its own middle over launches. The same is asked at two higher levels, which noise reaches less
    often, so that what is very slow is found in few launches; they have a tenth of the error rate each. A
    host is slow if by the same rule its links are, three quarters of them at least by half as much; they
    are then not slow themselves.

    Args:
        logs: Logarithms of times, shape ``(launches, hosts, hosts)``.
        groups: From `groups_of`; links are compared within their kind.
        factor: Slower than usual by less is not slow.
        error_rate: Of one link or host: the rate of a whole map over how many it asks of.

    Source:
        Median polish: Tukey, Exploratory Data Analysis, 1977. The probability is binomial. The threshold is
        at least five robust standard deviations of links, so that a network whose links all differ is not
        called slow in places.
    """
    launches, count, _ = logs.shape
    if count < HOSTS_LEAST:
        return Blame({}, {}, {}, {}, factor, None, decided=False)
    fit = _fit(logs, _classes(count, groups))
    test = _test_of(logs, fit, factor, error_rate)
    hosts, suspects = _slow_hosts(fit, test)
    # A host that is not slow as a whole is no excuse for those of its links that are.
    whole = {*hosts, *(host for host, _ in suspects)}
    excused = [test.middle(fit.of_hosts[:, i]) <= test.threshold or i in whole for i in range(count)]
    own = fit.residuals(np.where(excused, fit.of_hosts, 0.0))
    links: dict[Link, float] = {}
    for i, j in combinations(range(count), 2):
        if test.middle(own[:, i, j]) > test.asked:
            (links if test.passes(own[:, i, j]) else suspects)[i, j] = test.factor(own[:, i, j])
    named = {*links, *((host, host) for host in hosts)}
    extents = {
        (i, j): test.extent(
            fit.of_hosts[:, i] if i == j else own[:, i, j],
            test.threshold if (i, j) in named else test.asked,
        )
        for i, j in (*named, *suspects)
    }
    needed = test.launches_needed()
    decided = needed is not None and needed <= launches
    return Blame(links, hosts, suspects, extents, math.exp(test.threshold), needed, decided)


# ---- The rule ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Test:
    """What must be exceeded, and how often.

    Attributes:
        asked: What is slower than usual by less is not slow; a logarithm.
        levels: Logarithms, the lowest first: it is the threshold, which is `asked` or more.
        chances: That a link exceeds each in one launch though it is not slow.
        error_rates: Of one link or host at each level.
    """

    asked: float
    levels: tuple[float, ...]
    chances: tuple[float, ...]
    error_rates: tuple[float, ...]

    @property
    def threshold(self) -> float:
        """What is slower than usual by less cannot be told to be slow; a logarithm."""
        return self.levels[0]

    def middle(self, values: Values) -> float:
        """Median over launches; NaN if there is none."""
        return float(_median(values, 0))

    def factor(self, values: Values) -> float:
        """How many times slower than usual."""
        return math.exp(self.middle(values))

    def extent(self, values: Values, above: float) -> Extent:
        """Of what is slower in at least one launch than `above`, a logarithm."""
        slow = values[values > above]
        return Extent(int(np.isfinite(values).sum()), slow.size, self.factor(slow))

    def passes(self, values: Values) -> bool:
        """Whether chance would hardly do that; one value a launch."""
        if not self.middle(values) > self.threshold:
            return False
        launches = int(np.isfinite(values).sum())
        beyond = [int((values > level).sum()) for level in self.levels]
        return any(
            times > 0 and float(special.bdtrc(times - 1, launches, chance)) <= rate
            for times, chance, rate in zip(beyond, self.chances, self.error_rates, strict=True)
        )

    def launches_needed(self) -> int | None:
        """Of launches that all exceed the threshold."""
        if self.chances[0] >= 1:
            return None
        return max(1, math.ceil(math.log(self.error_rates[0]) / math.log(self.chances[0]) - 1e-9))


def _test_of(logs: Values, fit: _Fit, factor: float, error_rate: float) -> _Test:
    one_of_each = np.triu_indices(logs.shape[1], 1)
    residuals = _median(fit.residuals(fit.of_hosts), 0)[one_of_each]
    fitted = math.sqrt(residuals.size / max(1, residuals.size - logs.shape[1]))  # hosts took their part
    spread = _MAD_OF_NORMAL * float(_median(np.abs(residuals - _median(residuals, 0)), 0)) * fitted
    threshold = max(math.log(factor), _SPREADS * spread)
    times = logs[:, one_of_each[0], one_of_each[1]]
    times = times - _median(times, 1)[:, None]  # a launch may be slow as a whole
    above = times - _median(times, 0)
    # The middle of a link's launches is one of them, or between two: it says nothing.
    known = max(0, int(np.isfinite(above).sum()) - above.shape[1])
    levels = tuple(threshold + math.log(level) for level in _LEVELS)
    chances = tuple(min(1.0, (1 + int((above > level).sum())) / (1 + known)) for level in levels)
    return _Test(math.log(factor), levels, chances, tuple(share * error_rate for share in _SHARES))


def _slow_hosts(fit: _Fit, test: _Test) -> tuple[dict[int, float], dict[Link, float]]:
    hosts: dict[int, float] = {}
    suspects: dict[Link, float] = {}
    excess = _median(fit.excess(), 0)
    for host in range(fit.of_hosts.shape[1]):
        mine = fit.of_hosts[:, host]
        links = np.sort(excess[host][np.isfinite(excess[host])])
        if links.size == 0 or not test.middle(mine) > test.asked:
            continue
        if links[int(_AS_A_WHOLE * (links.size - 1))] < test.middle(mine) / 2:
            continue
        if test.passes(mine):
            hosts[host] = test.factor(mine)
        else:
            suspects[host, host] = test.factor(mine)
    return hosts, suspects


# ---- Groups --------------------------------------------------------------------------------------


def groups_of(latencies: Values, factor: float = FACTOR) -> list[list[int]]:
    """Hosts that are nearer to each other than to the rest, as behind one switch; else all in one.

    Single linkage, cut at its largest gap: a slow link parts nobody, since the way through a third host is
    short. A host that is left alone is slow rather than a group, and joins the nearest one.

    Args:
        latencies: Logarithms, shape ``(launches, hosts, hosts)``.
        factor: The least gap, as a ratio of distances.
    """
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
        if (sizes >= _GROUP_LEAST).sum() >= _GROUP_LEAST:
            return _gathered(distances, labels, sizes)
    return [list(range(count))]


def _gathered(distances: Values, labels: Numbers, sizes: Numbers) -> list[list[int]]:
    """Groups in the order of their first hosts, with those left alone in the nearest."""
    real = [label for label in range(sizes.size) if sizes[label] >= _GROUP_LEAST]
    groups = [np.flatnonzero(labels == label) for label in real]
    members = [group.tolist() for group in groups]
    for host in np.flatnonzero(sizes[labels] < _GROUP_LEAST):
        nearest = min(range(len(groups)), key=lambda g: float(np.median(distances[host, groups[g]])))
        members[nearest].append(int(host))
    return sorted(sorted(group) for group in members)


def _classes(count: int, groups: Sequence[Sequence[int]]) -> Numbers:
    """What is compared with what: a number for each link, shape ``(hosts, hosts)``.

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
        mine = classes == number
        if (mine & upper).sum() < _CLASS_LEAST:
            classes[mine] = 0 if low[mine].flat[0] == high[mine].flat[0] else 1
    return classes


# ---- The fit -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """What is usual; the rest is each link's own.

    Attributes:
        of_hosts: Shape ``(launches, hosts)``, around 0.
        beyond: A link's time beyond what is usual in its class, shape ``(launches, hosts, hosts)``.
    """

    of_hosts: Values
    beyond: Values

    def excess(self) -> Values:
        """Row i: links of host i beyond what is usual with their other hosts."""
        return self.beyond - self.of_hosts[:, None, :]

    def residuals(self, of_hosts: Values) -> Values:
        """What is a link's own, given the factors of hosts."""
        return self.beyond - of_hosts[:, None, :] - of_hosts[:, :, None]


def _fit(logs: Values, classes: Numbers) -> _Fit:
    """Median polish of a symmetric table.

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
    rest = logs - of_hosts[:, None, :] - of_hosts[:, :, None]
    beyond = logs.copy()
    for number in np.unique(classes):
        mine = (classes == number) & ~np.eye(classes.shape[0], dtype=bool)
        if mine.any():
            beyond[:, mine] -= middle(rest[:, mine], 1)[:, None]
    return beyond


def _median(values: Values, axis: int) -> Values:
    """Of what is known; NaN where nothing is."""
    ordered = np.sort(values, axis=axis)  # NaN last
    known = np.isfinite(values).sum(axis=axis, keepdims=True)
    lower = np.take_along_axis(ordered, np.maximum(known - 1, 0) // 2, axis)
    upper = np.take_along_axis(ordered, known // 2 * (known > 0), axis)
    middle: Values = ((lower + upper) / 2).squeeze(axis)
    return middle


def _least(values: Values, axis: int) -> Values:
    return np.asarray(np.fmin.reduce(values, axis=axis))
