"""What a link map says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.analysis.map_reasons import (
    LaunchesDifferTooMuch,
    LinksIncomplete,
    NotInAllLaunches,
    ScatterRaisesFactor,
    TooFewHosts,
    TooFewLaunches,
    UsualIsFastest,
)
from mpigauge.show.words.status import status_and_reason

if TYPE_CHECKING:
    from mpigauge.analysis.linkmap import Link
    from mpigauge.analysis.map_reasons import MapNote, UndecidedReason


def undecided(reason: UndecidedReason) -> str:
    """Why a map is undecided, or would be if nothing were slow."""
    match reason:
        case TooFewHosts(count, needed):
            return f"with {count} nobody can tell which is slow, nor what is usual: it takes {needed} or more"
        case LaunchesDifferTooMuch():
            return "launches differ so much that no number of them would tell"
        case TooFewLaunches(launches, needed):
            return f"{launches} launches are too few: use --launches {needed} or more"
        case NotInAllLaunches(launches):
            return f"what looks slow does not in all launches: use more than {launches}"
        case LinksIncomplete(missing, links):
            return f"{missing} of {links} links were not measured in all sizes"


def note(fact: MapNote) -> str:
    """What else must be known of a map."""
    match fact:
        case UsualIsFastest():
            return (
                "of three the fastest link is taken for the usual: a slow link cannot be told from two slow "
                "hosts, nor a slow host from a fast link"
            )
        case ScatterRaisesFactor(size_bytes, factor):
            return f"links differ anyway at {size_bytes} B: there only a factor of {factor:.3g} counts"


def trouble(link: Link) -> str:
    """What went wrong on a link; empty if nothing did."""
    return "" if link.trouble is None else status_and_reason(link.trouble)
