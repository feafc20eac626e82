"""The usual figure of results: the kind follows what was varied."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mpigauge.errors import UsageError
from mpigauge.plan.factors import PLACE
from mpigauge.plan.patterns import known
from mpigauge.show.figures import OVERVIEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.query.query import Source
    from mpigauge.rows.rows import Row

Drawn = TypeVar("Drawn")

MAP, OVERLAP, PARTS, PLACEMENTS, RANKS = "map", "overlap", "parts", "placements", "ranks"
OF_PARTS = ("depth", "block_bytes", "partitions")
"""Fields of a cell that figures of parts have an axis for."""

INSTEAD = ("one-sided", "pairs", "parts", "compare")
"""Kinds to draw, the first that can be, where an overview would have too many series."""

FEWEST_RANKS = 3
"""Fewest numbers of ranks for which a curve against them says more than one against sizes."""


def usual_kinds(sources: Sequence[Source], *, whole: bool) -> Sequence[str]:
    """Return the usual kinds of figure of results, of which the first that can be made is.

    A map of all pairs is a heat map; modes in several places have a panel per place; one operation of many
    numbers of ranks, and depths, blocks and partitions, are drawn against these; anything else is an
    overview of its curves.

    Args:
        whole: Whether no series or sizes are selected, as a map has all.
    """
    from mpigauge.linkmap.linkmap import is_map  # noqa: PLC0415 - maps, which other figures do not wait for

    if whole and len(sources) == 1 and is_map(sources[0].result):
        return (MAP,)
    return (*_of_what_was_varied(sources), OVERVIEW, *INSTEAD)


def _of_what_was_varied(sources: Sequence[Source]) -> Iterator[str]:
    hidden = {name for name, one in known().items() if all(mode.overlaps for mode in one.modes)}
    if {one.pattern for source in sources for one in source.result.campaign.plan.measure} <= hidden:
        yield OVERLAP
    rows = [row for source in sources for row in source.rows if _is_curve(source, row)]
    cells = [row.cell for row in rows]
    if any(len({getattr(cell, name) for cell in cells}) > 1 for name in OF_PARTS):
        yield PARTS
    if len({cell.pattern for cell in cells}) != 1 or len(sources) > 1:
        return
    places = {tuple(getattr(cell, name) for name in PLACE) for cell in cells}
    modes, ranks = {cell.mode for cell in cells}, {cell.ranks for cell in cells}
    if len(places) > 1 and len(modes) > 1:
        yield PLACEMENTS
    if len(places) == len(modes) == 1 and len(ranks) >= FEWEST_RANKS:
        yield RANKS


def _is_curve(source: Source, row: Row) -> bool:
    """Return whether a row is of messages or collectives, with a size."""
    pattern = source.patterns.get(row.cell.pattern)
    return bool(pattern and pattern.talks and not pattern.probes and row.sized and not pattern.is_floor)


def first_that_can(kinds: Sequence[str], drawn: Callable[[str], Drawn]) -> Drawn:
    """Return the first figure that can be made.

    Raises:
        UsageError: None can; why the first cannot.
    """
    reasons = []
    for kind in kinds:
        try:
            return drawn(kind)
        except UsageError as reason:
            reasons.append(reason)
    raise reasons[0]
