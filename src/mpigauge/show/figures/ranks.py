"""Figure of collectives against the number of ranks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpigauge.query.kinds import maker
from mpigauge.query.query import thinned
from mpigauge.query.series import Point, choose_series, factors_of, grouped, size_words, timed_rows
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import values_of
from mpigauge.show.figures.curves import finish, intervals, labels_of
from mpigauge.show.figures.line_styles import styles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

MAX_SIZES = 4
"""Most sizes per pattern, unless sizes were selected."""


@maker(MAKERS, "ranks")
def ranks_figure(query: Query) -> Figure:
    """Draw time against number of ranks, with a line per size."""
    pairs = [
        (source, row)
        for source, row in timed_rows(query)
        if source.patterns[row.cell.pattern].active_ranks == 0 and row.cell.ranks
    ]
    curves = [curve for curve in grouped(_thinned(query, pairs), _factors) if len(_points(curve)) > 1]
    if not curves:
        raise query.lacks("no pattern in which all ranks take part was measured with two numbers of ranks")
    curves = choose_series(query, curves)
    pieces = [_pieces(curve) for curve in curves]
    axis = scales.times("time", values_of(pieces), query.units.time, linear=query.linear)
    styles = lines.widened_below(styles_of(query, curves), pieces)
    whole = style.paper(3.4, lines.legend_rows(labels_of(curves)))
    axes = whole.add_subplot()
    for number, pieces_of_curve in enumerate(pieces):
        lines.curve(axes, str(number), styles[number], pieces_of_curve, lambda count: count)
    counts = sorted({point.x for pieces_of_curve in pieces for piece in pieces_of_curve for point in piece})
    set_up_counts(axes, counts, linear=query.linear)
    axes.set_xlabel("ranks")
    axis.set_up(axes)
    mark_crowd(axes, curves, lambda row: row.cell.ranks)
    finish(whole, query, curves, styles, intervals(curves))
    return whole


def _factors(source: Source, row: Row) -> Factors:
    """Return all factors but the number of ranks, and the size."""
    words = {name: word for name, word in factors_of(source, row).items() if name != "ranks"}
    return words | ({"size": size_words(row)} if row.sized else {})


def _thinned(query: Query, pairs: Sequence[tuple[Source, Row]]) -> list[tuple[Source, Row]]:
    """Return a few sizes of each pattern, unless sizes were selected."""
    if query.sizes:
        return list(pairs)
    sizes: dict[str, set[int]] = {}
    for _, row in pairs:
        sizes.setdefault(row.cell.pattern, set()).add(row.cell.bytes)
    kept = {
        pattern: set(thinned(sorted(sizes_of_pattern), MAX_SIZES))
        for pattern, sizes_of_pattern in sizes.items()
    }
    return [(source, row) for source, row in pairs if row.cell.bytes in kept[row.cell.pattern]]


def _points(curve: Series) -> list[Point]:
    return [
        Point(row.cell.ranks, row.time.estimate, row.time.low, row.time.high)
        for row in sorted(curve.rows, key=lambda row: row.cell.ranks)
        if row.time is not None and row.time.estimate > 0
    ]


def _pieces(curve: Series) -> list[list[Point]]:
    """Return points in pieces: no line spans a missing number of ranks."""
    pieces: list[list[Point]] = [[]]
    points = {point.x: point for point in _points(curve)}
    for row in sorted(curve.rows, key=lambda row: row.cell.ranks):
        if row.cell.ranks in points:
            pieces[-1].append(points[row.cell.ranks])
        else:
            pieces.append([])
    return [piece for piece in pieces if piece]


def set_up_counts(axes: Any, counts: Sequence[float], *, linear: bool) -> None:
    """Set up an axis of counts, a tick for each."""
    if not linear:
        axes.set_xscale("log", base=2)
    axes.set_xticks(list(counts), [f"{count:g}" for count in counts])
    axes.set_xticks([], minor=True)


def mark_crowd(axes: Any, curves: Sequence[Series], count_of: Callable[[Row], int]) -> None:
    """Mark where there are more ranks than cores."""
    crowded = [count_of(row) for curve in curves for row in curve.rows if row.oversubscribed]
    roomy = [
        count_of(row)
        for curve in curves
        for row in curve.rows
        if row.time is not None and not row.oversubscribed
    ]
    if not crowded:
        return
    below = [count for count in roomy if count < min(crowded)]
    left = math.sqrt(max(below) * min(crowded)) if below else min(crowded) * 0.9
    right = axes.get_xlim()[1]
    axes.axvspan(left, right, color="0.5", alpha=0.12, linewidth=0, zorder=0).set_gid("crowded")
    axes.set_xlim(right=right)
    axes.text(
        right,
        1.0,
        "more ranks than cores",
        transform=axes.get_xaxis_transform(),
        fontsize="x-small",
        color="0.35",
        ha="right",
        va="bottom",
    )
