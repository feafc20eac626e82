"""Charts of curves against size: grouping of curves, pictures, tables and data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mpigauge.document.document import Column, Document, Table
from mpigauge.document.phrases import phrases_of, state_words
from mpigauge.errors import UsageError
from mpigauge.find.comparisons import missing_ratios
from mpigauge.query.series import (
    against_size,
    pieces_of,
    rate_point,
    time_point,
    title_words,
    with_labels,
)
from mpigauge.rows.group import STATE, subject_of, words_key
from mpigauge.sequences import group_by
from mpigauge.show.chart import ChartCurve
from mpigauge.show.columns import NOTES, USUAL_COLUMNS
from mpigauge.show.entries import notes_of
from mpigauge.show.figures import lines
from mpigauge.show.figures.curves import below, described, time_words, with_below
from mpigauge.show.figures.line_styles import GROUPS, PLACE, WHAT, varying
from mpigauge.show.figures.lines import DASHES
from mpigauge.show.figures.ratios import Ratios
from mpigauge.show.figures.widths import Widths
from mpigauge.show.report import pictures, point_texts, words
from mpigauge.show.report.page import Entry, Heading, Picture, ReportLine, ReportTable, grid_of
from mpigauge.units import MISSING, format_relative, format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.query import Query
    from mpigauge.query.series import Point, Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart, Quantity
    from mpigauge.show.figures.ratios import Pair
    from mpigauge.show.report.cells import Cells

MAX_CURVES = 8
"""Most curves per chart that can be told apart."""

MAX_OF_PLACES = 4
"""Most curves of several modes in several places in a chart; more have a chart per place."""

ALL_CURVES = 100_000
BY_TIME = ("size", "time", "half_width", "interval", "launches", "samples")
BY_RATE = ("size", "rate", "launches")


@dataclass(frozen=True, slots=True, eq=False)
class ReportPanel:
    """Curves of one chart.

    Attributes:
        rates: Whether it shows bandwidths, not times.
        others: The same curves in states of the machine that are hidden at first.
    """

    name: str
    curves: Sequence[Series]
    rates: bool
    others: Sequence[Series] = ()

    @property
    def quantity(self) -> Quantity:
        """Quantity on the vertical axis."""
        return "rate" if self.rates else "time"

    @property
    def point(self) -> Callable[[Row], Point | None]:
        """Function that returns what is drawn of a row."""
        return rate_point if self.rates else time_point


def curves_of(query: Query, keep: Callable[[Pattern, Row], bool]) -> list[Series]:
    """Return the curves against size of the kept cells; empty where none was measured."""

    def kept(row: Row) -> bool:
        patterns = (source.patterns.get(row.cell.pattern) for source in query.sources)
        pattern = next((pattern_ for pattern_ in patterns if pattern_ is not None), None)
        return pattern is not None and not row.cell.pair and keep(pattern, row)

    try:
        return against_size(query, kept, most=ALL_CURVES)
    except UsageError:
        return []


def panels(
    name: str, query: Query, by_state: Query, keep: Callable[[Pattern, Row], bool], *, rates: bool = False
) -> list[ReportPanel]:
    """Return panels with few enough curves to tell apart, split by pattern, then by placement and so on.

    Args:
        by_state: Query with a row per state of the machine.
    """
    whole = ReportPanel(name, (), rates)
    curves = [curve for curve in curves_of(query, keep) if pieces_of(curve, whole.point)]
    variants = curves_of(by_state, keep) if by_state is not query and curves else []
    parts = [part for alike in _by_pattern(curves) for part in parted(alike)]
    return [
        replace(
            whole,
            name=f"{name}-{number}",
            curves=with_labels(part) if not query.series else part,
            others=_others(part, variants),
        )
        for number, part in enumerate(parts)
    ]


def _by_pattern(curves: Sequence[Series]) -> list[list[Series]]:
    return _split(curves, ("pattern",)) if len(curves) > MAX_CURVES else [list(curves)] if curves else []


def parted(curves: Sequence[Series]) -> list[list[Series]]:
    """Split curves into parts that are small enough to tell them apart."""
    if len(curves) > MAX_OF_PLACES and {WHAT, PLACE} <= {*varying(curves)}:
        return [part_ for part in _split(curves, PLACE) for part_ in parted(part)]
    if len(curves) <= MAX_CURVES:
        return [list(curves)]
    names = dict.fromkeys(name for curve in curves for name in curve.factors)
    for group in (*GROUPS[1:], *GROUPS[:1], *((name,) for name in names)):
        parts = _split(curves, group)
        if len(parts) > 1:
            return [part_ for part in parts for part_ in parted(part)]
    return [list(curves[at : at + MAX_CURVES]) for at in range(0, len(curves), MAX_CURVES)]


def _split(curves: Sequence[Series], group: Sequence[str]) -> list[list[Series]]:
    return [*group_by(curves, lambda curve: tuple(curve.factors.get(name, "") for name in group)).values()]


def _others(curves: Sequence[Series], variants: Sequence[Series]) -> list[Series]:
    """Return the curves that differ from given ones in their state only."""
    shown = {(_variant(curve), _base_key(curve)) for curve in curves}
    bases = {key for _, key in shown}
    return [
        curve
        for curve in variants
        if _base_key(curve) in bases and (_variant(curve), _base_key(curve)) not in shown
    ]


def _base_key(curve: Series) -> tuple[object, ...]:
    """Return what curves of all states of the machine have in common."""
    return (str(curve.source.result.path), *words_key(curve.factors, {STATE}))


def _variant(curve: Series) -> str:
    """Return the state of the machine that a curve is of; empty if it is of none."""
    return " ".join(state_words(subject_of(curve.rows)))


# ---- One chart -----------------------------------------------------------------------------------


def drawings(
    cells: Cells, query: Query, panels_: Iterable[ReportPanel], known: set[Pair]
) -> Iterator[Picture]:
    """Yield a picture per panel.

    Args:
        known: Pairs of curves whose ratios the page has already; those that are drawn are added.
    """
    for panel in panels_:
        yield _picture(cells, query, panel, known)


def _picture(cells: Cells, query: Query, panel: ReportPanel, known: set[Pair]) -> Picture:
    what = words.RATE if panel.rates else time_words(panel.curves)
    title = title_words(panel.curves) or panel.curves[0].label
    over = below(query, panel.curves, [pieces_of(curve, panel.point) for curve in panel.curves], known)
    known |= over.pairs if isinstance(over, Ratios) else set()
    chart = _chart_of(cells, query, panel, what, over)
    has_intervals = any(row.time and row.time.low is not None for curve in panel.curves for row in curve.rows)
    about = "; ".join(filter(None, [what, words.INTERVALS * has_intervals, _about(over)]))
    keys = [*map(pictures.key_of, chart.curves)]
    drawing, notes = pictures.drawn(panel.name, title, chart, over)
    several = len(panel.curves) > 1
    table = _table(cells, query, panel)
    numbers = _numbers(cells, query, panel, title) if several else replace(table, notes=())
    return Picture(
        panel.name, title, about, [drawing], keys, table if several else None, chart, notes, numbers
    )


def _about(over: Ratios | Widths | None) -> str:
    match over:
        case Ratios():
            return "; ".join(filter(None, [words.BELOW, missing_ratios(over.mismatches)]))
        case Widths():
            return words.WIDTHS_BELOW
        case _:
            return ""


def _chart_of(
    cells: Cells, query: Query, panel: ReportPanel, what: str, over: Ratios | Widths | None
) -> Chart:
    """Return the chart of a panel with curves of other states, and the texts of all points."""
    several = len({_variant(series) for series in (*panel.curves, *panel.others)}) > 1
    pieces = [pieces_of(series, panel.point) for series in panel.curves]
    bare = with_below(described(query, panel.curves, pieces, panel.quantity), over)
    drawn = [
        replace(
            _with_words(cells, query, panel, what, series, curve), variant=_variant(series) if several else ""
        )
        for series, curve in zip(panel.curves, bare.curves, strict=True)
    ]
    alike = {_base_key(series): curve for series, curve in zip(panel.curves, drawn, strict=True)}
    others = [
        _with_words(
            cells, query, panel, what, series, _in_other_state(panel, series, alike[_base_key(series)])
        )
        for series in panel.others
    ]
    pairs = zip(panel.curves, bare.below, strict=False)
    ratios = [_curve_below(cells, series, curve, over) for series, curve in pairs]
    return replace(bare, curves=[*drawn, *others], below=ratios)


def _in_other_state(panel: ReportPanel, series: Series, like: ChartCurve) -> ChartCurve:
    """Return a curve in the style of the usual state, but dashed."""
    curve_style = {**lines.usual_width(like.style), "linestyle": DASHES[5]}
    label = f"{like.label}, {_variant(series)}"
    return ChartCurve(
        label, curve_style, pieces_of(series, panel.point), variant=_variant(series), hidden=True
    )


def _with_words(
    cells: Cells, query: Query, panel: ReportPanel, what: str, series: Series, curve: ChartCurve
) -> ChartCurve:
    rows = {row.cell.bytes: row for row in series.rows if panel.point(row) is not None}
    rows_and_points = [(rows[int(point.x)], point) for point in curve.points]
    texts = [
        point_texts.of_row(curve.label, what, row, point, panel.quantity, query.units)
        for row, point in rows_and_points
    ]
    return replace(curve, texts=texts, cells=[cells.number(series.source, row) for row, _ in rows_and_points])


def _curve_below(cells: Cells, series: Series, curve: ChartCurve, over: Ratios | Widths | None) -> ChartCurve:
    rows = {row.cell.bytes: row for row in series.rows}

    def text(point: Point) -> Sequence[str]:
        if isinstance(over, Ratios):
            what = f"{words.TIMES_AS_LONG} as {over.label_of_base(series)}"
            return point_texts.of_value(what, point, "ratio")
        return [f"{words.INTERVAL}: {format_relative(point.y)}"]

    texts = [
        "\n".join([f"{curve.label}, {format_size(int(point.x))}", *text(point)]) for point in curve.points
    ]
    numbers = [cells.number(series.source, rows[int(point.x)]) for point in curve.points]
    return replace(curve, texts=texts, cells=numbers)


# ---- Its table -----------------------------------------------------------------------------------


def _table(cells: Cells, query: Query, panel: ReportPanel) -> ReportTable:
    """Return a table of the numbers in a chart."""
    names = BY_RATE if panel.rates else BY_TIME
    rows = [(curve, row) for curve in panel.curves for row in curve.rows]
    table = grid_of(
        Document(units=query.units),
        Table(title_words(panel.curves) or panel.curves[0].label, "", rows, [*_columns(panel, names)]),
        lambda pair: [cells.number(pair[0].source, pair[1])],
    )
    return replace(table, grouped=len(panel.curves) > 1)


def _sure_of_pair(panel: ReportPanel, pair: tuple[Series, Row], chosen: Units) -> str:
    return _sure(panel, pair[1], chosen)


def _numbers(cells: Cells, query: Query, panel: ReportPanel, title: str) -> ReportTable:
    """Return the numbers of several curves with their intervals: a line per size, a column per curve."""
    by_size = [{row.cell.bytes: row for row in curve.rows} for curve in panel.curves]
    sizes = sorted({size for rows in by_size for size, row in rows.items() if panel.point(row)})
    marked = False

    def entry(row: Row | None) -> Entry:
        nonlocal marked
        point = panel.point(row) if row is not None else None
        if row is None or point is None:
            return Entry(MISSING)
        marked = marked or bool(notes_of(row))
        sure = _sure(panel, row, query.units)
        value = point_texts.written(point.y, panel.quantity, query.units)
        mark = words.DOUBTFUL * bool(notes_of(row))
        return Entry("\n".join(filter(None, [value, sure + mark])), "" if sure else "quiet")

    lines = [
        ReportLine(
            [Entry(format_size(size)), *(entry(rows.get(size)) for rows in by_size)],
            tuple(
                cells.number(curve.source, rows[size])
                for curve, rows in zip(panel.curves, by_size, strict=True)
                if size in rows
            ),
        )
        for size in sizes
    ]
    headings = [Heading(words.SIZE), *(Heading(curve.label) for curve in panel.curves)]
    notes = [words.DOUBTFUL_NOTE] if marked else []
    return ReportTable(title, "", headings, lines, notes, title, wraps=True)


def _sure(panel: ReportPanel, row: Row, chosen: Units) -> str:
    """Return the interval of a number as `±2.5 %`; both ends of an uneven one, nothing without one."""
    point, time = panel.point(row), row.time
    if point is None or time is None or point.low is None or point.high is None:
        return ""
    if time.is_uneven:
        return f"({point_texts.interval(point.low, point.high, panel.quantity, chosen)})"
    return format_relative(time.half_width)


def _columns(panel: ReportPanel, names: Sequence[str]) -> Iterator[Column]:
    if len(panel.curves) > 1:
        yield Column("curve", "curve", lambda pair: pair[0].label, left=True)
    for column in (column_ for column_ in USUAL_COLUMNS if column_.name in names):
        yield of_second(column)
        if panel.rates and column.name == "rate":
            yield Column("half_width", words.WIDTH, lambda _: None, write=partial(_sure_of_pair, panel))
    yield of_second(NOTES)


def of_second(column: Column) -> Column:
    """Adapt a column of rows to pairs of something and a row."""
    return replace(
        column,
        value=lambda pair: column.value(pair[1]),
        write=lambda pair, chosen: column.text(pair[1], chosen),
        tone=lambda pair: column.tone(pair[1]),
    )


def unsized(cells: Cells, query: Query) -> ReportTable | None:
    """Return a table of operations without size, such as barriers; None if there are none."""
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
    usual = [
        of_second(column) for column in (*USUAL_COLUMNS, NOTES) if column.name in (*BY_TIME[1:], NOTES.name)
    ]
    return grid_of(
        Document(units=query.units),
        Table(words.UNSIZED, "", rows, [named, *usual]),
        lambda pair: [cells.number(*pair)],
    )
