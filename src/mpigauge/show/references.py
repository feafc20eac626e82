"""References for bandwidths in figures: the rate of a link, a given rate, copies in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.errors import UsageError, choose_from
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.routes import ways_of
from mpigauge.find.phrases import rate as rate_words
from mpigauge.find.phrases import wire_rate
from mpigauge.plan.patterns import baselines
from mpigauge.query.series import Point, rate_point
from mpigauge.rows.group import of_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

LINK, TCP = "link", "tcp"


@dataclass(frozen=True, slots=True)
class Reference:
    """Line that curves of bandwidth are compared with.

    Attributes:
        words: Its label.
        points: Rates by size; empty for a constant rate.
        rate_bytes_per_s: The constant rate, or the largest of the points.
    """

    words: str
    rate_bytes_per_s: float
    points: tuple[Point, ...] = ()


def names() -> list[str]:
    """Return all names of references: the link, TCP over it, and patterns that messages are compared with."""
    return [LINK, TCP, *dict.fromkeys(pattern for pattern, _ in baselines().values())]


def references_of(query: Query, series: Sequence[Series]) -> list[Reference]:
    """Return the references that a query asks for, each once.

    Raises:
        UsageError: A word is neither a name nor a rate, or the results of these series do not know it.
    """
    return references_by(query, [series])[0]


def references_by(query: Query, panels: Sequence[Sequence[Series]]) -> list[list[Reference]]:
    """Return the references of each panel that its series know.

    Raises:
        UsageError: A word is neither a name nor a rate, or no panel knows it.
    """
    panels_known: list[dict[tuple[str, float], Reference]] = [{} for _ in panels]
    for name in query.references:
        by_panel = [list(_of(name, _sources(series), series)) for series in panels]
        if not any(by_panel):
            raise query.lacks(*_missing(name))
        for known, new in zip(panels_known, by_panel, strict=True):
            known |= {(reference.words, reference.rate_bytes_per_s): reference for reference in new}
    return [list(known.values()) for known in panels_known]


def _sources(series: Sequence[Series]) -> list[Source]:
    return list({id(curve.source): curve.source for curve in series}.values())


def check(words: Sequence[str]) -> None:
    """Refuse words that are neither names of references nor rates.

    Raises:
        UsageError: There is one.
    """
    for name in words:
        if name not in names():
            _named_rate(name)


def _of(name: str, sources: Sequence[Source], series: Sequence[Series]) -> Iterator[Reference]:
    if name in (LINK, TCP):
        yield from _links(name, sources, series)
    elif name in names():
        yield from _curves(name, sources, series)
    else:
        rate = _named_rate(name)
        yield Reference(wire_rate(rate) if "bit" in name.lower() else rate_words(rate), rate)


def _links(name: str, sources: Sequence[Source], series: Sequence[Series]) -> Iterator[Reference]:
    """Return the slower direction of each link between ranks of the series, or what TCP leaves of it."""
    jobs = {row.cell.job for curve in series for row in curve.rows}
    for source in sources:
        ways = ways_of(Evidence(source.result, source.rows))
        directions = [way for job, way in ways.items() if job in jobs]
        rates = {way.rate_bytes_per_s if name == LINK else way.payload_bytes_per_s for way in directions}
        for rate in sorted(rates - {0.0}):
            words = "link" if name == LINK else "TCP at most"
            yield Reference(f"{words} {wire_rate(rate)} one way", rate)


def _curves(name: str, sources: Sequence[Source], series: Sequence[Series]) -> Iterator[Reference]:
    """Return rates of a pattern, in the mode that messages are compared with, of these series' jobs."""
    modes = {mode for pattern, mode in baselines().values() if pattern == name}
    for source in sources:
        rows = [row for row in source.rows if row.cell.pattern == name and row.cell.buffers == "warm"]
        rows = _rows_like(rows, series)
        for mode in dict.fromkeys(row.cell.mode for row in rows if row.cell.mode in modes):
            points = {row.cell.bytes: rate_point(row) for row in rows if row.cell.mode == mode}
            known = tuple(points[size] for size in sorted(points) if points[size] is not None)
            kept = tuple(point for point in known if point is not None)
            if kept:
                words = " ".join(dict.fromkeys([name, *([mode] if len(modes) > 1 else [])]))
                yield Reference(words, max(point.y for point in kept), kept)


def _rows_like(rows: list[Row], series: Sequence[Series]) -> list[Row]:
    """Return rows of the jobs of these series and in their state; all if none of these jobs has any."""
    of_series = [row for curve in series for row in curve.rows]
    jobs = {row.cell.job for row in of_series}
    return of_states((row for row in rows if row.cell.job in jobs), of_series) or rows


def _named_rate(text: str) -> float:
    try:
        return units.parse_rate(text)
    except UsageError:
        raise UsageError(
            f"--reference: {text!r} is neither a name nor a rate",
            f"{choose_from(names(), text)}, or a rate: 100Gbit/s",
        ) from None


def _missing(name: str) -> tuple[str, str]:
    """Return what a result lacks for a reference, and the remedy."""
    if name in (LINK, TCP):
        return "the rate of its link is not known", "name the rate: --reference 100Gbit/s"
    return f"{name} was not measured in it", f"measure it with the messages: mpigauge run pingpong {name}"
