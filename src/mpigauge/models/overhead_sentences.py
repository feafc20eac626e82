"""Sentences about overheads: the parameters of LogGP and PLogP, and why some are not defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.models import sentences as words
from mpigauge.models.points import SMALL_BYTES
from mpigauge.units import MISSING, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.models.overheads import Overheads
    from mpigauge.models.places import Place
    from mpigauge.models.points import WithInterval
    from mpigauge.vocabulary import NoLatency

WHY: Mapping[NoLatency, str] = {
    "overlap": "no L: o_s + o_r are not less than one way, so they overlap the transfer",
    "unsure": "no L: nothing shows that o_s + o_r are less than one way",
    "missing": "no L: one way, o_s and o_r were not all measured",
    "large": "",
}
KEPT = "no o_r: above the eager limit"


def title(place: Place) -> str:
    """Return the title of the table of a place."""
    return ": ".join(filter(None, [place.label, "overheads, gap and latency (PLogP, LogGP)"]))


def about(place: Place) -> str:
    """Return the sentence below the title: how its times were measured."""
    clock, small = format_time(place.clock_s), format_size(SMALL_BYTES)
    return f"calls alone, without the {clock} of reading the clock; L for sizes up to {small}"


def time(number: WithInterval | None, chosen: Units) -> str:
    """Return a parameter with its interval."""
    return MISSING if number is None else words.time(number, chosen)


def note(one: Overheads) -> str:
    """Return which parameter a size lacks, and why."""
    if one.kept:
        return KEPT
    return WHY[one.why] if one.why else ""


def notes(places: Sequence[Place]) -> list[str]:
    """Return what a reader must know of the tables."""
    if not places:
        return []
    return ["o_r is of messages that MPI has already taken off the network: matching and copying them"]
