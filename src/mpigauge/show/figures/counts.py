"""Figures against a count: of ranks, of pairs at once, and of entries of a queue, blocks or partitions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mpigauge.query.kinds import maker
from mpigauge.query.query import thinned
from mpigauge.query.series import Point, choose_series, factors_of, grouped, size_words, timed_rows
from mpigauge.sequences import group_by
from mpigauge.show.figures import MAKERS, style
from mpigauge.show.figures.chart import draw_curves, set_up_values
from mpigauge.show.figures.curves import described, finish, intervals, legend_rows, looks_of
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart, Quantity
    from mpigauge.show.figures.ratios import Pieces
    from mpigauge.vocabulary import PartFactor


@dataclass(frozen=True, slots=True)
class AgainstCount:
    """A figure against a count, with a line per size.

    Attributes:
        keep: Whether a row belongs to it.
        count: What it is drawn against.
        but: Factors that the count follows from, in which the rows of a line differ.
        what: Label of the vertical axis.
        across: Label of the horizontal axis.
        lacks: What results have not that lack two counts.
        most_sizes: Most sizes of what `alike` says the same of, unless sizes were selected.
        proportional: Whether a dotted line shows what would grow as the count does.
    """

    keep: Callable[[Source, Row], object]
    count: Callable[[Source, Row], int]
    but: Callable[[Source, Row], Collection[str]]
    quantity: Quantity
    what: str
    across: str
    lacks: str
    most_sizes: int
    alike: Callable[[Row], object] = lambda row: row.cell.pattern
    proportional: bool = False


def curves_of(query: Query, kind: AgainstCount) -> tuple[list[Series], Chart]:
    """Return the lines that have two points or more, and their chart.

    Raises:
        UsageError: There are none, or too many.
    """

    def factors(source: Source, row: Row) -> Factors:
        but = kind.but(source, row)
        words = {name: word for name, word in factors_of(source, row).items() if name not in but}
        return words | ({"size": size_words(row)} if row.sized else {})

    kept = [(source, row) for source, row in timed_rows(query) if kind.keep(source, row)]
    if not query.sizes:
        alike = group_by((row for _, row in kept), kind.alike)
        sizes = {
            key: thinned(sorted({row.cell.bytes for row in mine}), kind.most_sizes)
            for key, mine in alike.items()
        }
        kept = [(source, row) for source, row in kept if row.cell.bytes in sizes[kind.alike(row)]]
    pieces = {id(one): (one, _pieces(one, kind)) for one in grouped(kept, factors)}
    curves = [one for one, mine in pieces.values() if sum(map(len, mine)) > 1]
    if not curves:
        raise query.lacks(kind.lacks)
    curves = choose_series(query, curves)
    chart = described(query, curves, [_pieces(one, kind) for one in curves], kind.quantity, kind.what)
    return curves, replace(chart, limits_of=())


def _pieces(curve: Series, kind: AgainstCount) -> Pieces:
    """Return points by rising count, of equal ones that of the fewest ranks; no line spans a missing one."""
    pieces: Pieces = [[]]
    for count, mine in sorted(group_by(curve.rows, lambda row: kind.count(curve.source, row)).items()):
        points = (_point(row, count, kind.quantity) for row in sorted(mine, key=lambda row: row.cell.ranks))
        if found := next(filter(None, points), None):
            pieces[-1].append(found)
        else:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _point(row: Row, count: int, quantity: Quantity) -> Point | None:
    time, rate = row.time, row.rate_bytes_per_s
    if time is None or time.estimate <= 0:
        return None
    if quantity == "time":
        return Point(count, *time.ends)
    if not rate:
        return None
    low, high = (rate * time.estimate / end if end else None for end in (time.high, time.low))
    return Point(count, rate, low, high)


# ---- Ranks and pairs -----------------------------------------------------------------------------


def _pairs(_: Source, row: Row) -> int:
    """Return how many pairs are busy: as many as send; one root has one with each of the others."""
    return row.cell.senders or (row.cell.ranks - 1 if row.cell.root else row.cell.ranks // 2)


RANKS = AgainstCount(
    keep=lambda source, row: source.patterns[row.cell.pattern].active_ranks == 0 and row.cell.ranks,
    count=lambda _, row: row.cell.ranks,
    but=lambda *_: {"ranks"},
    quantity="time",
    what="time",
    across="ranks",
    lacks="no pattern in which all ranks take part was measured with two numbers of ranks",
    most_sizes=4,
)

PAIRS = AgainstCount(
    keep=lambda source, row: (
        source.patterns[row.cell.pattern].one_pair
        and source.patterns[row.cell.pattern].windowed
        and row.rate_bytes_per_s
    ),
    count=_pairs,
    but=lambda _, row: {"ranks", "senders", "group"} if row.cell.senders else {"ranks"},
    quantity="rate",
    what="rate of all pairs",
    across="pairs of ranks at once",
    lacks="no stream of many ranks at once was measured with two numbers of ranks or senders",
    most_sizes=4,
    alike=lambda _: None,
    proportional=True,
)


def figure_of(kind: AgainstCount, query: Query) -> Figure:
    """Draw a figure against a count, with a tick for each, where more ranks than cores are marked.

    Raises:
        UsageError: No series has two counts, or there are too many.
    """
    curves, chart = curves_of(query, kind)
    note = intervals(curves)
    growing: list[list[tuple[float, float]]] = []
    if kind.proportional:
        growing = [
            [(at.x, one.points[0].y * at.x / one.points[0].x) for at in one.points] for one in chart.curves
        ]
        chart = replace(chart, reach=[y for points in growing for _, y in points])
        note += "; dotted: as many times the fewest"
    whole = style.paper(3.4, legend_rows(curves))
    axes = whole.add_subplot()
    draw_curves(axes, chart)
    if not query.linear:
        axes.set_xscale("log", base=2)
    _ticks(axes, sorted(chart.sizes), kind.across)
    set_up_values(axes, chart)
    _mark_crowd(axes, [(row, kind.count(curve.source, row)) for curve in curves for row in curve.rows])
    for number, (points, curve) in enumerate(zip(growing, chart.curves, strict=False)):
        (dotted,) = axes.plot(*zip(*points, strict=True), zorder=1)
        dotted.set(color=curve.style["color"], linestyle=(0, (2, 3)), linewidth=0.8, marker="")
        dotted.set_gid(f"ideal-{number}")
    finish(whole, query, curves, looks_of(chart), note)
    return whole


for figure, row_of_it in {"ranks": RANKS, "pairs": PAIRS}.items():
    maker(MAKERS, figure)(partial(figure_of, row_of_it))


def _ticks(axes: Any, values: Sequence[float], label: str, write: Callable[[int], str] = str) -> None:
    axes.set_xticks(values, [write(int(value)) for value in values])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(label)


def _mark_crowd(axes: Any, counts: Sequence[tuple[Row, int]]) -> None:
    """Mark where there are more ranks than cores."""
    crowded = [count for row, count in counts if row.oversubscribed]
    if not crowded:
        return
    roomy = (count for row, count in counts if row.time is not None and not row.oversubscribed)
    below = [count for count in roomy if count < min(crowded)]
    left = math.sqrt(max(below) * min(crowded)) if below else min(crowded) * 0.9
    right = axes.get_xlim()[1]
    axes.axvspan(left, right, color="0.5", alpha=0.12, linewidth=0, zorder=0).set_gid("crowded")
    axes.set_xlim(right=right)
    place: Any = {"transform": axes.get_xaxis_transform(), "ha": "right", "va": "bottom"}
    axes.text(right, 1.0, "more ranks than cores", fontsize="x-small", color="0.35", **place)


# ---- Parts ---------------------------------------------------------------------------------------

AXES: Mapping[PartFactor, str] = {
    "depth": "queue depth",
    "block_bytes": "block",
    "partitions": "partitions",
}
"""Horizontal axis of each panel, in their order."""


def _part(source: Source, row: Row) -> PartFactor | None:
    """Return the factor that a row is drawn against; None if it has none."""
    if source.patterns[row.cell.pattern].queues:
        return "depth"
    return "block_bytes" if row.cell.block_bytes else "partitions" if row.cell.partitions else None


PARTS = AgainstCount(
    keep=_part,
    count=lambda source, row: int(getattr(row.cell, str(_part(source, row)))),
    but=lambda source, row: {str(_part(source, row))},
    quantity="time",
    what="time",
    across="",
    lacks="no message was measured with two depths, sizes of blocks or numbers of partitions",
    most_sizes=2,
)


@maker(MAKERS, "parts")
def parts_figure(query: Query) -> Figure:
    """Draw time against depth, block and partitions, a panel each."""
    curves, chart = curves_of(query, PARTS)
    parts = [_part(curve.source, curve.rows[0]) for curve in curves]
    panels = [name for name in AXES if name in parts]
    whole = style.paper(3.4, legend_rows(curves))
    for axes, name in zip(whole.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True):
        numbered = [
            replace(curve, gid=str(number))
            for number, (curve, part) in enumerate(zip(chart.curves, parts, strict=True))
            if part == name
        ]
        mine = replace(chart, curves=numbered)
        draw_curves(axes, mine)
        set_up_values(axes, chart)
        values = sorted(mine.sizes)
        # Logarithmic, but from 0 to 1, since a queue can be empty.
        axes.set_xscale("symlog", base=2, linthresh=1)
        axes.set_xlim(values[0] / 1.2 if values[0] else -0.3, 1.2 * values[-1])
        _ticks(axes, values, AXES[name], format_size if name == "block_bytes" else str)
    for axes in whole.axes[1:]:
        axes.set_ylabel("")
    finish(whole, query, curves, looks_of(chart), intervals(curves))
    return whole
