"""Why a link map is undecided, and what else must be known of it; `linkmap.sentences` has the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.linkmap.slow_links import HOSTS_LEAST
from mpigauge.stats.limits import LAUNCHES_OF_A_MAP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.linkmap.slow_links import Blame
    from mpigauge.vocabulary import MapVerdict


@dataclass(frozen=True, slots=True)
class TooFewHosts:
    """With so few hosts or ranks it is unknown which is slow, and what is usual."""

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
    """Of three links the fastest is taken for the usual, so that culprits cannot be told apart."""


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
    """Return the launches that name, at every size, what is slow in all of them; None if none would."""
    needs = [one.launches_needed for one in found.values()]
    known = [need for need in needs if need is not None]
    return max(known) if known and len(known) == len(needs) else None


def reasons(
    count: int, launches: int, found: Mapping[int, Blame], *, links: int, missing: int
) -> Iterator[UndecidedReason]:
    """Yield why a map is undecided, or would be if nothing were slow.

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
    """Yield what else a reader should know of a map.

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
