"""Figure of messages behind a queue, in blocks and in partitions, against these numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.query.kinds import maker
from mpigauge.query.query import thinned
from mpigauge.query.series import Point, choose_series, factors_of, grouped, size_words, timed_rows
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import values_of
from mpigauge.show.figures.curves import finish, intervals, labels_of
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import PartFactor

MAX_SIZES = 2
"""Most sizes per pattern, unless sizes were selected."""

AXES: Mapping[PartFactor, str] = {
    "depth": "queue depth",
    "block_bytes": "block",
    "partitions": "partitions",
}
"""What a panel is against, in the order of the panels."""


@maker(MAKERS, "parts")
def parts_figure(query: Query) -> Figure:
    """Draw time against depth, block and partitions, a panel each, with a line per mode and size."""
    pairs = [(source, row) for source, row in timed_rows(query) if _factor(source, row) is not None]
    curves = [curve for curve in grouped(_thinned(query, pairs), _factors) if len(_points(curve)) > 1]
    if not curves:
        raise query.lacks("no message was measured with two depths, sizes of blocks or numbers of partitions")
    curves = choose_series(query, curves)
    pieces = [[_points(curve)] for curve in curves]
    axis = scales.times("time", values_of(pieces), query.units.time, linear=query.linear)
    styles = lines.widened_below(styles_of(query, curves), pieces)
    whole = style.paper(3.4, lines.legend_rows(labels_of(curves)))
    panels = [name for name in AXES if any(_of(curve) == name for curve in curves)]
    drawn = whole.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, name in zip(drawn, panels, strict=True):
        mine = [number for number, curve in enumerate(curves) if _of(curve) == name]
        for number in mine:
            lines.curve(axes, str(number), styles[number], pieces[number], lambda value: value)
        axis.set_up(axes)
        _set_up(axes, name, sorted({point.x for number in mine for point in pieces[number][0]}))
    for axes in drawn[1:]:
        axes.set_ylabel("")
    finish(whole, query, curves, styles, intervals(curves))
    return whole


def _factor(source: Source, row: Row) -> PartFactor | None:
    """Return the factor that a row is drawn against; None if it has none."""
    if source.patterns[row.cell.pattern].queues:
        return "depth"
    return "block_bytes" if row.cell.block_bytes else "partitions" if row.cell.partitions else None


def _of(curve: Series) -> PartFactor | None:
    return _factor(curve.source, curve.rows[0])


def _factors(source: Source, row: Row) -> Factors:
    """Return all factors but the one that is drawn against, and the size."""
    against = _factor(source, row)
    words = {name: word for name, word in factors_of(source, row).items() if name != against}
    return words | ({"size": size_words(row)} if row.sized else {})


def _thinned(query: Query, pairs: Sequence[tuple[Source, Row]]) -> list[tuple[Source, Row]]:
    """Return a few sizes of each pattern, unless sizes were selected."""
    if query.sizes:
        return list(pairs)
    sizes: dict[str, set[int]] = {}
    for _, row in pairs:
        sizes.setdefault(row.cell.pattern, set()).add(row.cell.bytes)
    kept = {pattern: set(thinned(sorted(those), MAX_SIZES)) for pattern, those in sizes.items()}
    return [(source, row) for source, row in pairs if row.cell.bytes in kept[row.cell.pattern]]


def _points(curve: Series) -> list[Point]:
    name = str(_of(curve))
    return [
        Point(getattr(row.cell, name), row.time.estimate, row.time.low, row.time.high)
        for row in sorted(curve.rows, key=lambda row: getattr(row.cell, name))
        if row.time is not None and row.time.estimate > 0
    ]


def _set_up(axes: Any, name: PartFactor, values: Sequence[float]) -> None:
    """Set up the axis: logarithmic, but from 0 to 1, since a queue can be empty."""
    write = format_size if name == "block_bytes" else str
    axes.set_xscale("symlog", base=2, linthresh=1)
    axes.set_xlim(values[0] / 1.2 if values[0] else -0.3, 1.2 * values[-1])
    axes.set_xticks(list(values), [write(int(value)) for value in values])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(AXES[name])
