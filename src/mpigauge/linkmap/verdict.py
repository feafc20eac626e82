"""What is slow in a link map: a verdict on its links and hosts, and why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.linkmap.slow_links import MIN_HOSTS, Blame, Extent, blame, groups_of
from mpigauge.stats.limits import LAUNCHES_OF_A_MAP
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import MapVerdict, Status


@dataclass(frozen=True, slots=True)
class TooFewHosts:
    """With so few hosts or ranks it is unknown which is slow, and what is usual."""

    count: int
    needed: int = MIN_HOSTS


@dataclass(frozen=True, slots=True)
class LaunchesDifferTooMuch:
    """Undecided: launches vary too much for any number of them to decide."""


@dataclass(frozen=True, slots=True)
class TooFewLaunches:
    """Undecided: more launches are needed."""

    launches: int
    needed: int


@dataclass(frozen=True, slots=True)
class MayBeChance:
    """What looks slow is so in few enough launches to be chance."""

    launches: int


@dataclass(frozen=True, slots=True)
class HiddenByScatter:
    """What looks slow is within the scatter of links at this size."""

    bytes: int
    factor: float


@dataclass(frozen=True, slots=True)
class LinksIncomplete:
    """Some links were not measured in all sizes."""

    missing: int
    links: int


@dataclass(frozen=True, slots=True)
class UsualIsFastest:
    """Undecided: of three links the fastest is the baseline, so the slow host cannot be identified."""


@dataclass(frozen=True, slots=True)
class ScatterRaisesFactor:
    """Links of a uniform part differ so much that only a larger factor counts at this size."""

    bytes: int
    factor: float


UndecidedReason = (
    TooFewHosts | LaunchesDifferTooMuch | TooFewLaunches | MayBeChance | HiddenByScatter | LinksIncomplete
)
MapNote = UsualIsFastest | ScatterRaisesFactor


def launches_needed(blames: Mapping[int, Blame]) -> int | None:
    """Return the launches that name, at every size, what is slow in all of them; None if none would."""
    needs = [blame.launches_needed for blame in blames.values()]
    known = [need for need in needs if need is not None]
    return max(known) if known and len(known) == len(needs) else None


def reasons(
    count: int, launches: int, blames: Mapping[int, Blame], *, links: int, missing: int
) -> Iterator[UndecidedReason]:
    """Yield why a map is undecided, or would be if nothing were slow.

    Args:
        count: Number of hosts or ranks that are judged.
        launches: Number of launches with data.
        blames: What is or looks slow at each size.
        missing: How many of the links were not measured in all sizes.
    """
    needed = launches_needed(blames)
    if count < MIN_HOSTS:
        yield TooFewHosts(count)
    elif needed is None and launches == 1:
        yield TooFewLaunches(launches, LAUNCHES_OF_A_MAP)
    elif needed is None and launches:
        yield LaunchesDifferTooMuch()
    elif needed is not None and needed > launches:
        yield TooFewLaunches(launches, needed)
    else:
        yield from _of_suspects(blames, launches)
    if missing:
        yield LinksIncomplete(missing, links)


def _of_suspects(blames: Mapping[int, Blame], launches: int) -> Iterator[UndecidedReason]:
    hidden = {
        size: [extent.factor <= blame.threshold for extent in blame.suspects.values()]
        for size, blame in blames.items()
    }
    if not all(all(each) for each in hidden.values()):
        yield MayBeChance(launches)
    yield from (HiddenByScatter(size, blames[size].threshold) for size, each in hidden.items() if any(each))


def notes(word: MapVerdict, count: int, blames: Mapping[int, Blame], factor: float) -> Iterator[MapNote]:
    """Yield what else a reader should know of a map.

    Args:
        count: Number of hosts or ranks that are judged.
        blames: What is slow at each size.
        factor: Slowdown below which a link is normal.
    """
    if count == MIN_HOSTS and word == "slow":
        yield UsualIsFastest()
    for size, quantity in blames.items():
        if quantity.threshold > 1.001 * factor:
            yield ScatterRaisesFactor(size, quantity.threshold)


# ---- Verdicts ------------------------------------------------------------------------------------

Pair = tuple[int, int]

FAILED_STATUSES: frozenset[Status] = BROKEN | {"blocked"}
"""Statuses of rows that make a link a failed one."""


@dataclass(frozen=True, slots=True)
class MeasuredLink:
    """The rows of one pair of ranks.

    Attributes:
        names: Names of both ends, as in the map.
        latency: The row of the smallest message; None if the map has none.
        rate: The row of the largest.
        rows: Rows of all sizes.
    """

    ranks: tuple[int, int]
    names: tuple[str, str]
    latency: Row | None
    rate: Row | None
    rows: tuple[Row, ...]

    @property
    def trouble(self) -> Row | None:
        """First of its rows that went wrong; None if none did."""
        return next((row for row in self.rows if row.status in FAILED_STATUSES), None)

    @property
    def whole(self) -> bool:
        """Return whether all sizes were measured."""
        return all(row.time is not None for row in self.rows)


def latency_of(link: MeasuredLink) -> float | None:
    """Return the one-way time of the smallest message, in seconds."""
    return link.latency.time.estimate if link.latency and link.latency.time else None


def rate_of(link: MeasuredLink) -> float | None:
    """Return the rate of the largest message, in bytes per second."""
    return link.rate.rate_bytes_per_s if link.rate else None


@dataclass(frozen=True, slots=True)
class SlowElement:
    """A link or a host that takes longer than is usual for its kind.

    Attributes:
        names: Both ends of a link, or one host.
        latency: In how many launches the smallest message takes longer, and how much; None if that is not
            slow.
        rate: Extent in the rate of the largest.
    """

    names: tuple[str, ...]
    latency: Extent | None
    rate: Extent | None

    @property
    def factor(self) -> float:
        """Larger of the factors of latency and rate."""
        return max(extent.factor for extent in (self.latency, self.rate) if extent)

    @property
    def flaky(self) -> bool:
        """Return whether it is slow in some launches only, in latency or rate."""
        return all(extent.flaky for extent in (self.latency, self.rate) if extent)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The slow links and hosts of a map.

    Attributes:
        word: slow, failed (some link could not be measured), none or undecided.
        judged: What it is about: ranks, or hosts where they have several.
        groups: Groups of them that are nearer to each other than to the rest.
        suspects: What looks slow, but in too few launches, or by too little where links differ anyway.
        reasons: Why it is undecided, or would be if nothing were slow.
        notes: What else must be known.
        factor: Slowdown below which a link is normal.
        error_rate: Probability that anything in a uniform network is called slow.
        launches_needed: To name what is slow in all of them; None if no number would do.
    """

    word: MapVerdict
    judged: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    links: tuple[SlowElement, ...]
    hosts: tuple[SlowElement, ...]
    suspects: tuple[SlowElement, ...]
    reasons: tuple[UndecidedReason, ...]
    notes: tuple[MapNote, ...]
    factor: float
    error_rate: float
    launches_needed: int | None


def verdict_of(
    links: Sequence[MeasuredLink],
    judged: tuple[str, ...],
    tables: Mapping[int, Values],
    sizes: tuple[int | None, int | None],
    factor: float,
    error_rate: float,
) -> Verdict:
    """Return the verdict on a map.

    Args:
        judged: The names of what the tables are of.
        tables: By size, logarithms of launch medians, shape ``(launches, judged, judged)``, NaN where not
            measured.
        sizes: Sizes for latency and for rate.
        factor: What is slower than usual by less is not slow.
        error_rate: Error rate of the whole map.

    Source:
        docs/map.md#what-counts-as-slow
    """
    launches = next(iter(tables.values())).shape[0]
    groups = groups_of(next(iter(tables.values())), factor) if launches else [list(range(len(judged)))]
    tests = len(tables) * len(judged) * (len(judged) + 1) // 2
    blames = {
        size: blame(table, groups, factor, error_rate / tests) for size, table in tables.items() if launches
    }
    slow_links, slow_hosts, suspects = (
        _together({size: kind(of_size) for size, of_size in blames.items()}, sizes, judged)
        for kind in (lambda of_size: of_size.links, _hosts_of, lambda of_size: of_size.suspects)
    )
    missing = sum(not link.whole for link in links)
    needed = launches_needed(blames)
    decided = not suspects and not missing and needed is not None and needed <= launches
    word = _word(links, slow=bool(slow_links or slow_hosts), decided=decided)
    trials = launches if blames else 0
    why = reasons(len(judged), trials, blames, links=len(links), missing=missing)
    return Verdict(
        word=word,
        judged=judged,
        groups=tuple(tuple(judged[i] for i in group) for group in groups),
        links=slow_links,
        hosts=slow_hosts,
        suspects=suspects,
        reasons=tuple(why),
        notes=tuple(notes(word, len(judged), blames, factor)),
        factor=factor,
        error_rate=error_rate,
        launches_needed=needed,
    )


def _word(links: Sequence[MeasuredLink], *, slow: bool, decided: bool) -> MapVerdict:
    if slow:
        return "slow"
    if any(link.trouble for link in links):
        return "failed"
    return "none" if decided else "undecided"


def _hosts_of(blame: Blame) -> dict[Pair, Extent]:
    return {(host, host): extent for host, extent in blame.hosts.items()}


def _together(
    extents: Mapping[int, Mapping[Pair, Extent]],
    sizes: tuple[int | None, int | None],
    judged: Sequence[str],
) -> tuple[SlowElement, ...]:
    """Return what is slow in latency, rate or both, the slowest first."""
    latency, rate = (extents.get(size, {}) if size is not None else {} for size in sizes)
    slow = [
        SlowElement(tuple(judged[end] for end in dict.fromkeys(ends)), latency.get(ends), rate.get(ends))
        for ends in {**latency, **rate}
    ]
    return tuple(sorted(slow, key=lambda one: (-one.factor, one.names)))
