"""Operations of all ranks against how many there are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpigauge.query.kinds import maker
from mpigauge.query.query import spread
from mpigauge.query.series import Point, chosen, factors_of, grouped, size_words, timed
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import values_of
from mpigauge.show.figures.curves import finish, intervals, labels_of
from mpigauge.show.figures.line_styles import looks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

SIZES_MOST = 4
"""Of a pattern, if nobody has chosen."""


@maker(MAKERS, "ranks")
def ranks_figure(query: Query) -> Figure:
    """Time against number of ranks, a line per size."""
    pairs = [
        (source, row)
        for source, row in timed(query)
        if source.patterns[row.cell.pattern].active_ranks == 0 and row.cell.ranks
    ]
    found = [one for one in grouped(_thinned(query, pairs), _factors) if len(_points(one)) > 1]
    if not found:
        raise query.lacks("no pattern in which all ranks take part was measured with two numbers of ranks")
    found = chosen(query, found)
    pieces = [_pieces(one) for one in found]
    axis = scales.times("time", values_of(pieces), query.units.time, linear=query.linear)
    looks = lines.seen_through(looks_of(query, found), pieces)
    whole = style.paper(3.4, lines.legend_rows(labels_of(found)))
    axes = whole.add_subplot()
    for number, mine in enumerate(pieces):
        lines.curve(axes, str(number), looks[number], mine, lambda count: count)
    counts = sorted({point.x for mine in pieces for piece in mine for point in piece})
    _dress(axes, counts, linear=query.linear)
    axis.dress(axes)
    _mark_crowd(axes, found)
    finish(whole, query, found, looks, intervals(found))
    return whole


def _factors(source: Source, row: Row) -> Factors:
    """All but the number of ranks, and the size instead."""
    words = {name: word for name, word in factors_of(source, row).items() if name != "ranks"}
    return words | ({"size": size_words(row)} if row.sized else {})


def _thinned(query: Query, pairs: Sequence[tuple[Source, Row]]) -> list[tuple[Source, Row]]:
    """A few sizes of each pattern, unless sizes were asked for."""
    if query.sizes:
        return list(pairs)
    sizes: dict[str, set[int]] = {}
    for _, row in pairs:
        sizes.setdefault(row.cell.pattern, set()).add(row.cell.bytes)
    kept = {pattern: set(spread(sorted(mine), SIZES_MOST)) for pattern, mine in sizes.items()}
    return [(source, row) for source, row in pairs if row.cell.bytes in kept[row.cell.pattern]]


def _points(one: Series) -> list[Point]:
    return [
        Point(row.cell.ranks, row.time.estimate, row.time.low, row.time.high)
        for row in sorted(one.rows, key=lambda row: row.cell.ranks)
        if row.time is not None and row.time.estimate > 0
    ]


def _pieces(one: Series) -> list[list[Point]]:
    """No line over a number of ranks that is missing."""
    pieces: list[list[Point]] = [[]]
    points = {point.x: point for point in _points(one)}
    for row in sorted(one.rows, key=lambda row: row.cell.ranks):
        if row.cell.ranks in points:
            pieces[-1].append(points[row.cell.ranks])
        else:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _dress(axes: Any, counts: Sequence[float], *, linear: bool) -> None:
    if not linear:
        axes.set_xscale("log", base=2)
    axes.set_xticks(list(counts), [f"{count:g}" for count in counts])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("ranks")


def _mark_crowd(axes: Any, found: Sequence[Series]) -> None:
    """Where there are more ranks than cores."""
    crowded = [row.cell.ranks for one in found for row in one.rows if row.oversubscribed]
    roomy = [
        row.cell.ranks for one in found for row in one.rows if row.time is not None and not row.oversubscribed
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
