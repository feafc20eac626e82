"""Figure of many ranks at once: their rate against the number of pairs, beside so many times one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.query.kinds import maker
from mpigauge.query.query import thinned
from mpigauge.query.series import Point, choose_series, factors_of, grouped, size_words, timed_rows
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import values_of
from mpigauge.show.figures.curves import finish, intervals, labels_of
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.show.figures.ranks import mark_crowd, set_up_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from mpigauge.document.phrases import Factors
    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

OF_SENDERS = {"ranks", "senders", "group"}
"""Factors that differ where fewer ranks send."""

MAX_SIZES = 4
"""Most sizes, unless sizes were selected."""


@maker(MAKERS, "pairs")
def pairs_figure(query: Query) -> Figure:
    """Draw rate against number of pairs, with a line per size, and a dotted one that grows as they do."""
    found = [
        (source, row)
        for source, row in timed_rows(query)
        if _is_of_pairs(source.patterns[row.cell.pattern]) and row.rate_bytes_per_s
    ]
    curves = [curve for curve in grouped(_thinned(query, found), _factors) if len(_points(curve)) > 1]
    if not curves:
        raise query.lacks("no stream of many ranks at once was measured with two numbers of ranks or senders")
    curves = choose_series(query, curves)
    pieces = [[_points(curve)] for curve in curves]
    ideal = [_ideal(piece) for (piece,) in pieces]
    values = [*values_of(pieces), *(point.y for piece in ideal for point in piece)]
    axis = scales.rates("rate of all pairs", values, query.units.rate, linear=query.linear)
    styles = lines.widened_below(styles_of(query, curves), pieces)
    whole = style.paper(3.4, lines.legend_rows(labels_of(curves)))
    axes = whole.add_subplot()
    for number, (piece, alone) in enumerate(zip(pieces, ideal, strict=True)):
        lines.curve(axes, str(number), styles[number], piece, lambda count: count)
        drawn = axes.plot([point.x for point in alone], [point.y for point in alone], zorder=1)
        drawn[0].set(color=styles[number]["color"], linestyle=(0, (2, 3)), linewidth=0.8, marker="")
        drawn[0].set_gid(f"ideal-{number}")
    set_up_counts(axes, sorted({point.x for (piece,) in pieces for point in piece}), linear=query.linear)
    axes.set_xlabel("pairs of ranks at once")
    axis.set_up(axes)
    mark_crowd(axes, curves, _count)
    note = "dotted: as many times the fewest"
    finish(whole, query, curves, styles, f"{intervals(curves)}; {note}" if intervals(curves) else note)
    return whole


def _is_of_pairs(pattern: Pattern) -> bool:
    return bool(pattern.one_pair) and pattern.windowed


def _count(row: Row) -> int:
    """Return how many pairs are busy: as many as send; one root has one with each of the others."""
    if row.cell.senders:
        return row.cell.senders
    return row.cell.ranks - 1 if row.cell.root else row.cell.ranks // 2


def _factors(source: Source, row: Row) -> Factors:
    """Return all factors but what the number of pairs follows from, and the size."""
    told = OF_SENDERS if row.cell.senders else {"ranks"}
    words = {name: word for name, word in factors_of(source, row).items() if name not in told}
    return words | {"size": size_words(row)}


def _thinned(query: Query, pairs: Sequence[tuple[Source, Row]]) -> list[tuple[Source, Row]]:
    """Return a few sizes, unless sizes were selected."""
    sizes = {row.cell.bytes for _, row in pairs}
    kept = sizes if query.sizes else {*thinned(sorted(sizes), MAX_SIZES)}
    return [(source, row) for source, row in pairs if row.cell.bytes in kept]


def _points(curve: Series) -> list[Point]:
    """Return the rates with intervals; of two jobs with as many pairs, that of fewer ranks."""
    found: dict[int, Point] = {}
    for row in sorted(curve.rows, key=lambda row: (_count(row), row.cell.ranks)):
        if row.time is None or not row.rate_bytes_per_s:
            continue
        moved = row.rate_bytes_per_s * row.time.estimate
        low, high = (moved / end if end else None for end in (row.time.high, row.time.low))
        found.setdefault(_count(row), Point(_count(row), row.rate_bytes_per_s, low, high))
    return [*found.values()]


def _ideal(points: Sequence[Point]) -> list[Point]:
    """Return what the fewest pairs would do, as many times as there are more."""
    first = points[0]
    return [Point(point.x, first.y * point.x / first.x, None, None) for point in points]
