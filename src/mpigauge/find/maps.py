"""Results that are maps of all pairs: whatever is shown of one begins with the verdict on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.document.document import AUTOMATIC, Line
from mpigauge.find.answer import AWAITED
from mpigauge.find.findings import worst_doubts
from mpigauge.linkmap import table as linkmap_table
from mpigauge.linkmap.linkmap import is_map, link_map_of, map_or_none
from mpigauge.linkmap.slow_links import ERROR_RATE, FACTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.document.document import Document, Units
    from mpigauge.find.so_far import SoFar
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.query.query import Source
    from mpigauge.result.reader import Result


def map_of(source: Source) -> LinkMap | None:
    """Return the map that a result is, of the state that its rows are of; None if it is none, or several."""
    return map_or_none(source.result, source.rows) if is_map(source.result) else None


def verdicts(sources: Sequence[Source]) -> Iterator[str]:
    """Yield what `mpigauge map` concludes of each result that is a map, by its name if there are several."""
    for source in sources:
        if (shown := map_of(source)) is not None:
            name = f"{source.name}: " if len(sources) > 1 else ""
            yield from (f"{name}{line.text}" for line in linkmap_table.document(shown, quiet=True).foot)


def begun(document: Document, sources: Sequence[Source]) -> Document:
    """Return a document that begins with the verdicts on those of its results that are maps."""
    said = [*verdicts(sources)]
    source = "; ".join([document.source, *said]) if document.source else ""
    return replace(document, head=[*said, *document.head], source=source) if said else document


def progress(
    so_far: SoFar, *, factor: float = FACTOR, error_rate: float = ERROR_RATE, chosen: Units = AUTOMATIC
) -> Document:
    """Return the map of a running campaign: its links so far, and its verdict once there is one.

    Raises:
        UsageError: It has several maps.
    """
    found = so_far.rows(all_planned=True)
    shown = link_map_of(so_far.result, found, factor=factor, error_rate=error_rate)
    whole = linkmap_table.document(shown, chosen=chosen, unknown=AWAITED)
    decided = shown.verdict.word != "undecided"
    tables = whole.tables if shown.launches else ()  # the first launch says what ranks are called
    return replace(whole, tables=tables, foot=linkmap_table.verdict_lines(shown) if decided else [])


def with_doubts(document: Document, result: Result, shown: LinkMap) -> Document:
    """Return the document of a map, or of some of its pairs, with what makes its numbers doubtful below."""
    doubts = [*worst_doubts(result, [row for link in shown.links for row in link.rows])]
    apart = [Line("")] if document.foot else []  # from its tables it is apart by itself
    return replace(document, foot=[*document.foot, *apart, *doubts]) if doubts else document


def answered(document: Document, sources: Sequence[Source]) -> Document:
    """Return the answer of results; for maps what they say as a whole, instead of one of their pairs."""
    found = [map_of(source) for source in sources]
    shown = [one for one in found if one is not None]
    if len(shown) < len(sources):
        return begun(document, sources)
    begins = begun(document, sources)
    if len(shown) > 1:
        heads = [
            f"{source.name}: {line}"
            for source, one in zip(sources, shown, strict=True)
            for line in linkmap_table.document(one, chosen=document.units).head
        ]
        return replace(begins, head=[*begins.head, *heads], tables=())
    whole, verdict = (
        linkmap_table.document(*shown, quiet=quiet, chosen=document.units) for quiet in (False, True)
    )
    after = whole.foot[len(verdict.foot) :]
    return replace(
        begins,
        head=[*begins.head, *whole.head],
        tables=whole.tables,
        foot=[*after, Line(""), *document.foot],
    )
