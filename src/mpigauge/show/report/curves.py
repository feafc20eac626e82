"""Charts of curves against size: which curves stand together, their pictures, tables and data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.document.document import Column, Document, Table
from mpigauge.document.phrases import phrases_of
from mpigauge.errors import UsageError
from mpigauge.find.comparisons import missing_ratios
from mpigauge.query.series import (
    against_size,
    labelled,
    pieces_of,
    rate_point,
    time_point,
    title_words,
)
from mpigauge.rows.group import STATE, words_key
from mpigauge.sequences import group_by
from mpigauge.show.chart import ChartCurve
from mpigauge.show.columns import NOTES, USUAL_COLUMNS
from mpigauge.show.figures import lines
from mpigauge.show.figures.curves import below, described, time_words, with_below
from mpigauge.show.figures.line_styles import BEFORE
from mpigauge.show.figures.lines import DASHES
from mpigauge.show.report import pictures, said, words
from mpigauge.show.report.page import Picture, grid_of
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.query import Query
    from mpigauge.query.series import Point, Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart, Quantity
    from mpigauge.show.figures.ratios import Ratios
    from mpigauge.show.report.cells import Cells
    from mpigauge.show.report.page import ReportTable

CURVES_MOST = 8
"""In one chart; more cannot be told apart."""

ALL_CURVES = 100_000
BY_TIME = ("size", "time", "half_width", "interval", "launches", "samples")
BY_RATE = ("size", "rate", "half_width")


@dataclass(frozen=True, slots=True, eq=False)
class ReportPanel:
    """Curves that stand in one chart.

    Attributes:
        rates: Whether bandwidths are drawn, else times.
        others: The same curves in states of the machine that are not shown at first.
    """

    name: str
    found: Sequence[Series]
    rates: bool
    others: Sequence[Series] = ()

    @property
    def quantity(self) -> Quantity:
        """What stands upward."""
        return "rate" if self.rates else "time"

    @property
    def point(self) -> Callable[[Row], Point | None]:
        """What is drawn of a row."""
        return rate_point if self.rates else time_point


def curves_of(query: Query, keep: Callable[[Pattern, Row], bool]) -> list[Series]:
    """Return the curves against size of cells that are kept; none where nothing was measured."""

    def kept(row: Row) -> bool:
        patterns = (source.patterns.get(row.cell.pattern) for source in query.sources)
        pattern = next((one for one in patterns if one is not None), None)
        return pattern is not None and not row.cell.pair and keep(pattern, row)

    try:
        return against_size(query, kept, most=ALL_CURVES)
    except UsageError:
        return []


def panels(
    name: str, query: Query, each: Query, keep: Callable[[Pattern, Row], bool], *, rates: bool = False
) -> list[ReportPanel]:
    """Return curves, so many in a chart as can be told apart; parted by pattern, then by place and so on.

    Args:
        each: The same with a row for each state of the machine.
    """
    whole = ReportPanel(name, (), rates)
    found = [one for one in curves_of(query, keep) if pieces_of(one, whole.point)]
    states = curves_of(each, keep) if each is not query and found else []
    parts = [part for mine in _by_pattern(found) for part in parted(mine)]
    return [
        replace(
            whole,
            name=f"{name}-{number}",
            found=labelled(part) if not query.series else part,
            others=_others(part, states),
        )
        for number, part in enumerate(parts)
    ]


def _by_pattern(found: Sequence[Series]) -> list[list[Series]]:
    return _split(found, ("pattern",)) if len(found) > CURVES_MOST else [list(found)] if found else []


def parted(found: Sequence[Series]) -> list[list[Series]]:
    """Return parts of so few curves that they can be told apart."""
    if len(found) <= CURVES_MOST:
        return [list(found)]
    names = dict.fromkeys(name for one in found for name in one.factors)
    for group in (*BEFORE[1:], *BEFORE[:1], *((name,) for name in names)):
        parts = _split(found, group)
        if len(parts) > 1:
            return [each for part in parts for each in parted(part)]
    return [list(found[at : at + CURVES_MOST]) for at in range(0, len(found), CURVES_MOST)]


def _split(found: Sequence[Series], group: Sequence[str]) -> list[list[Series]]:
    return [*group_by(found, lambda one: tuple(one.factors.get(name, "") for name in group)).values()]


def _others(found: Sequence[Series], states: Sequence[Series]) -> list[Series]:
    """Return the curves that are like those found but for their state."""
    there = {(_state(one), _stateless(one)) for one in found}
    mine = {key for _, key in there}
    return [one for one in states if _stateless(one) in mine and (_state(one), _stateless(one)) not in there]


def _stateless(one: Series) -> tuple[object, ...]:
    return (str(one.source.result.path), *words_key(one.factors, {STATE}))


def _state(one: Series) -> str:
    return next((row.state for row in one.rows if row.state), "")


# ---- One chart -----------------------------------------------------------------------------------


def drawings(cells: Cells, query: Query, found: Sequence[ReportPanel]) -> Iterator[Picture]:
    """Yield a picture per panel."""
    for panel in found:
        yield _picture(cells, query, panel)


def _picture(cells: Cells, query: Query, panel: ReportPanel) -> Picture:
    what = words.RATE if panel.rates else time_words(panel.found)
    title = title_words(panel.found) or panel.found[0].label
    over = below(query, panel.found)
    chart = _told(cells, query, panel, what, over)
    has_intervals = any(row.time and row.time.low is not None for one in panel.found for row in one.rows)
    about = "; ".join(filter(None, [what, words.INTERVALS * has_intervals, _about(over)]))
    keys = [*map(pictures.key_of, chart.curves)]
    drawing = pictures.drawn(panel.name, title, chart, over)
    return Picture(panel.name, title, about, [drawing], keys, _table(cells, query, panel), chart)


def _about(over: Ratios | None) -> str:
    return "" if over is None else "; ".join(filter(None, [words.BELOW, missing_ratios(over.ranks_apart)]))


def _told(cells: Cells, query: Query, panel: ReportPanel, what: str, over: Ratios | None) -> Chart:
    """Return the curves of a panel, those of other states behind them, and what all points say."""
    several = len({_state(one) for one in (*panel.found, *panel.others)}) > 1
    pieces = [pieces_of(one, panel.point) for one in panel.found]
    bare = with_below(described(query, panel.found, pieces, panel.quantity), over)
    mine = [
        replace(_with_words(cells, query, panel, what, one, curve), state=_state(one) if several else "")
        for one, curve in zip(panel.found, bare.curves, strict=True)
    ]
    alike = {_stateless(one): curve for one, curve in zip(panel.found, mine, strict=True)}
    others = [
        _with_words(cells, query, panel, what, one, _in_other_state(panel, one, alike[_stateless(one)]))
        for one in panel.others
    ]
    pairs = zip(panel.found, bare.below, strict=False)
    ratios = [_ratio_curve(cells, one, curve, over) for one, curve in pairs]
    return replace(bare, curves=[*mine, *others], below=ratios)


def _in_other_state(panel: ReportPanel, one: Series, like: ChartCurve) -> ChartCurve:
    """Return a curve that looks as that of the usual state, in other strokes."""
    look = {**lines.usual_width(like.look), "linestyle": DASHES[5]}
    label = f"{like.label}, {_state(one)}"
    return ChartCurve(label, look, pieces_of(one, panel.point), state=_state(one), hidden=True)


def _with_words(
    cells: Cells, query: Query, panel: ReportPanel, what: str, one: Series, curve: ChartCurve
) -> ChartCurve:
    rows = {row.cell.bytes: row for row in one.rows if panel.point(row) is not None}
    found = [(rows[int(point.x)], point) for point in curve.points]
    told = [said.of_row(curve.label, what, row, point, panel.quantity, query.units) for row, point in found]
    return replace(curve, said=told, cells=[cells.number(one.source, row) for row, _ in found])


def _ratio_curve(cells: Cells, one: Series, curve: ChartCurve, over: Ratios | None) -> ChartCurve:
    rows = {row.cell.bytes: row for row in one.rows}
    base = over.label_of_base(one) if over else ""
    what = f"{words.TIMES_AS_LONG} as {base}"
    told = [
        "\n".join([f"{curve.label}, {format_size(int(point.x))}", *said.of_value(what, point, "ratio")])
        for point in curve.points
    ]
    numbers = [cells.number(one.source, rows[int(point.x)]) for point in curve.points]
    return replace(curve, said=told, cells=numbers)


# ---- Its table -----------------------------------------------------------------------------------


def _table(cells: Cells, query: Query, panel: ReportPanel) -> ReportTable:
    """Return a table of the numbers of a chart."""
    names = BY_RATE if panel.rates else BY_TIME
    rows = [(one, row) for one in panel.found for row in one.rows]
    found = grid_of(
        Document(units=query.units),
        Table(title_words(panel.found) or panel.found[0].label, "", rows, [*_columns(panel.found, names)]),
        lambda pair: [cells.number(pair[0].source, pair[1])],
    )
    return replace(found, grouped=len(panel.found) > 1)


def _columns(found: Sequence[Series], names: Sequence[str]) -> Iterator[Column]:
    if len(found) > 1:
        yield Column("curve", "curve", lambda pair: pair[0].label, left=True)
    for column in (*(one for one in USUAL_COLUMNS if one.name in names), NOTES):
        yield of_second(column)


def of_second(column: Column) -> Column:
    """A column of rows, for pairs of something and a row."""
    return replace(
        column,
        value=lambda pair: column.value(pair[1]),
        write=lambda pair, chosen: column.text(pair[1], chosen),
        tone=lambda pair: column.tone(pair[1]),
    )


def unsized(cells: Cells, query: Query) -> ReportTable | None:
    """Return a table of what has no size, such as barriers; None if there is nothing."""
    rows = [
        (source, row)
        for source in query.sources
        for row in source.rows
        if not row.sized
        and row.talks
        and row.time is not None
        and not source.patterns[row.cell.pattern].is_floor
    ]
    if not rows:
        return None
    named = Column("cell", "operation", lambda pair: ", ".join(phrases_of(pair[1].cell).values()), left=True)
    usual = [of_second(one) for one in (*USUAL_COLUMNS, NOTES) if one.name in (*BY_TIME[1:], NOTES.name)]
    return grid_of(
        Document(units=query.units),
        Table(words.UNSIZED, "", rows, [named, *usual]),
        lambda pair: [cells.number(*pair)],
    )
