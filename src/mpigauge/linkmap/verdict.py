"""What is slow in a link map: a verdict on its links and hosts, and why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.linkmap.slow_links import HOSTS_LEAST, Blame, Extent, blame, groups_of
from mpigauge.stats.limits import LAUNCHES_OF_A_MAP
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import MapVerdict, Status


@dataclass(frozen=True, slots=True)
class TooFewHosts:
    """Of so few hosts or ranks nobody can tell which is slow, nor what is usual."""

    count: int
    needed: int = HOSTS_LEAST


@dataclass(frozen=True, slots=True)
class LaunchesDifferTooMuch:
    """No number of launches would tell."""


@dataclass(frozen=True, slots=True)
class TooFewLaunches:
    """More launches would tell."""

    launches: int
    needed: int


@dataclass(frozen=True, slots=True)
class MayBeChance:
    """What looks slow does so in so few launches that chance may do it."""

    launches: int


@dataclass(frozen=True, slots=True)
class HiddenByScatter:
    """What looks slow is so by less than can be told at this size, where links differ anyway."""

    bytes: int
    factor: float


@dataclass(frozen=True, slots=True)
class LinksIncomplete:
    """Some links were not measured in all sizes."""

    missing: int
    links: int


@dataclass(frozen=True, slots=True)
class UsualIsFastest:
    """Of three the fastest link is taken for the usual, so that culprits cannot be told apart."""


@dataclass(frozen=True, slots=True)
class ScatterRaisesFactor:
    """Links of a uniform part differ so much that only a larger factor counts at this size."""

    bytes: int
    factor: float


UndecidedReason = (
    TooFewHosts | LaunchesDifferTooMuch | TooFewLaunches | MayBeChance | HiddenByScatter | LinksIncomplete
)
MapNote = UsualIsFastest | ScatterRaisesFactor


def launches_needed(found: Mapping[int, Blame]) -> int | None:
    """To name at every size what is slow in all of them; None if no number would do."""
    needs = [one.launches_needed for one in found.values()]
    known = [need for need in needs if need is not None]
    return max(known) if known and len(known) == len(needs) else None


def reasons(
    count: int, launches: int, found: Mapping[int, Blame], *, links: int, missing: int
) -> Iterator[UndecidedReason]:
    """Why a map is undecided, or would be if nothing were slow.

    Args:
        count: Of the hosts or ranks that are judged.
        launches: Those that tell something.
        found: What is slow, or looks so, at each size.
        missing: How many of the links were not measured in all sizes.
    """
    needed = launches_needed(found)
    if count < HOSTS_LEAST:
        yield TooFewHosts(count)
    elif needed is None and launches == 1:
        yield TooFewLaunches(launches, LAUNCHES_OF_A_MAP)
    elif needed is None and launches:
        yield LaunchesDifferTooMuch()
    elif needed is not None and needed > launches:
        yield TooFewLaunches(launches, needed)
    else:
        yield from _of_suspects(found, launches)
    if missing:
        yield LinksIncomplete(missing, links)


def _of_suspects(found: Mapping[int, Blame], launches: int) -> Iterator[UndecidedReason]:
    hidden = {
        size: [extent.factor <= one.threshold for extent in one.suspects.values()]
        for size, one in found.items()
    }
    if not all(all(each) for each in hidden.values()):
        yield MayBeChance(launches)
    yield from (HiddenByScatter(size, found[size].threshold) for size, each in hidden.items() if any(each))


def notes(word: MapVerdict, count: int, found: Mapping[int, Blame], factor: float) -> Iterator[MapNote]:
    """What else must be known of a map.

    Args:
        count: Of the hosts or ranks that are judged.
        found: What is slow at each size.
        factor: What is slower by less is not slow.
    """
    if count == HOSTS_LEAST and word == "slow":
        yield UsualIsFastest()
    for size, one in found.items():
        if one.threshold > 1.001 * factor:
            yield ScatterRaisesFactor(size, one.threshold)


# ---- Verdicts ------------------------------------------------------------------------------------

Pair = tuple[int, int]

TROUBLE: frozenset[Status] = BROKEN | {"blocked"}
"""What a link is called failed for."""


@dataclass(frozen=True, slots=True)
class MeasuredLink:
    """One pair of ranks.

    Attributes:
        names: Of both ends, as the map names them.
        latency: The row of the smallest message; None if the map has none.
        rate: That of the largest.
        rows: Of all sizes.
    """

    ranks: tuple[int, int]
    names: tuple[str, str]
    latency: Row | None
    rate: Row | None
    rows: tuple[Row, ...]

    @property
    def trouble(self) -> Row | None:
        """The first of its rows that went wrong; None if nothing did."""
        return next((row for row in self.rows if row.status in TROUBLE), None)

    @property
    def whole(self) -> bool:
        """Whether all sizes were measured."""
        return all(row.time is not None for row in self.rows)


@dataclass(frozen=True, slots=True)
class Slow:
    """A link or a host that takes longer than is usual for its kind.

    Attributes:
        names: Both ends of a link, or one host.
        latency: In how many launches the smallest message takes longer, and how much; None if that is not
            slow.
        rate: The same of the largest.
    """

    names: tuple[str, ...]
    latency: Extent | None
    rate: Extent | None

    @property
    def factor(self) -> float:
        """The larger of the two."""
        return max(one.factor for one in (self.latency, self.rate) if one)

    @property
    def flaky(self) -> bool:
        """Whether it is slow in some launches only, in whatever is slow of it."""
        return all(one.flaky for one in (self.latency, self.rate) if one)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is slow.

    Attributes:
        word: slow, failed (some link could not be measured), none or undecided.
        judged: What it is about: ranks, or hosts where they have several.
        groups: Of these: nearer to each other than to the rest.
        suspects: Look slow, but in too few launches, or by too little where links differ anyway.
        reasons: Why it is undecided, or would be if nothing were slow.
        notes: What else must be known.
        factor: What is slower by less is not slow.
        error_rate: With which anything in a uniform network is called slow.
        launches_needed: To name what is slow in all of them; None if no number would do.
    """

    word: MapVerdict
    judged: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    links: tuple[Slow, ...]
    hosts: tuple[Slow, ...]
    suspects: tuple[Slow, ...]
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
    """What is slow.

    Args:
        judged: The names of what the tables are of.
        tables: By size, logarithms of launch medians, shape ``(launches, judged, judged)``, NaN where not
            measured.
        sizes: Of latency and of rate.
        factor: What is slower than usual by less is not slow.
        error_rate: Of the whole map.

    Source:
        docs/map.md#what-counts-as-slow
    """
    launches = next(iter(tables.values())).shape[0]
    groups = groups_of(next(iter(tables.values())), factor) if launches else [list(range(len(judged)))]
    tests = len(tables) * len(judged) * (len(judged) + 1) // 2
    found = {
        size: blame(table, groups, factor, error_rate / tests) for size, table in tables.items() if launches
    }
    slow_links, slow_hosts, suspects = (
        _together({size: kind(one) for size, one in found.items()}, sizes, judged)
        for kind in (lambda one: one.links, _hosts_of, lambda one: one.suspects)
    )
    missing = sum(not link.whole for link in links)
    needed = launches_needed(found)
    decided = not suspects and not missing and needed is not None and needed <= launches
    word = _word(links, slow=bool(slow_links or slow_hosts), decided=decided)
    trials = launches if found else 0
    why = reasons(len(judged), trials, found, links=len(links), missing=missing)
    return Verdict(
        word=word,
        judged=judged,
        groups=tuple(tuple(judged[i] for i in group) for group in groups),
        links=slow_links,
        hosts=slow_hosts,
        suspects=suspects,
        reasons=tuple(why),
        notes=tuple(notes(word, len(judged), found, factor)),
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


def _hosts_of(one: Blame) -> dict[Pair, Extent]:
    return {(host, host): extent for host, extent in one.hosts.items()}


def _together(
    found: Mapping[int, Mapping[Pair, Extent]],
    sizes: tuple[int | None, int | None],
    judged: Sequence[str],
) -> tuple[Slow, ...]:
    """What is slow in latency or rate or both, the slowest first."""
    latency, rate = (found.get(size, {}) if size is not None else {} for size in sizes)
    slow = [
        Slow(tuple(judged[end] for end in dict.fromkeys(ends)), latency.get(ends), rate.get(ends))
        for ends in {**latency, **rate}
    ]
    return tuple(sorted(slow, key=lambda one: (-one.factor, one.names)))
