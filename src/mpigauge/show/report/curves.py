"""Charts of curves against size: which curves stand together, their pictures, tables and data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.document.document import Column, Document, Table
from mpigauge.document.phrases import phrases_of
from mpigauge.errors import UsageError
from mpigauge.query.series import (
    STATE,
    against_size,
    labelled,
    limits_of,
    pieces_of,
    rate_point,
    time_point,
    title_words,
)
from mpigauge.rows.group import words_key
from mpigauge.sequences import group_by
from mpigauge.show.columns import NOTES, USUAL_COLUMNS
from mpigauge.show.figures import lines, scales
from mpigauge.show.figures.curves import mark_breaks, sizes_of, time_words, values_of
from mpigauge.show.figures.line_styles import BEFORE, looks_of
from mpigauge.show.figures.lines import DASHES, IMPORTED_DASHES, MARKERS
from mpigauge.show.figures.style import COLOURS
from mpigauge.show.report import pictures, words
from mpigauge.show.report.over import denominators
from mpigauge.show.report.page import Chart, Key, grid_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.query import Query
    from mpigauge.query.series import Point, Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.report.cells import Cells
    from mpigauge.show.report.page import ReportTable

CURVES_MOST = 8
"""In one chart; more cannot be told apart."""

ALL_CURVES = 100_000
SHAPES = dict(
    zip(
        MARKERS,
        (
            "circle",
            "square",
            "triangle-up",
            "diamond",
            "triangle-down",
            "triangle-left",
            "x",
            "triangle-right",
            "cross",
        ),
        strict=True,
    )
)
"""Markers of figures as the chart library calls them."""

DASH_PIXELS = 2.0
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
    def point(self) -> Callable[[Row], Point | None]:
        """What is drawn of a row."""
        return rate_point if self.rates else time_point


def curves_of(query: Query, keep: Callable[[Pattern, Row], bool]) -> list[Series]:
    """All curves against size of cells that are kept; none where nothing was measured."""

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
    """Curves, so many in a chart as can be told apart; parted by pattern, then by place and so on.

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
    """In parts of which each can be told apart."""
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
    """The curves of other states, by the place of the curve that each is like."""
    there = {(_state(one), _stateless(one)) for one in found}
    mine = {key for _, key in there}
    return [one for one in states if _stateless(one) in mine and (_state(one), _stateless(one)) not in there]


def _stateless(one: Series) -> tuple[object, ...]:
    return (str(one.source.result.path), *words_key(one.factors, {STATE}))


def _state(one: Series) -> str:
    return next((row.state for row in one.rows if row.state), "")


# ---- One chart -----------------------------------------------------------------------------------


def charts(cells: Cells, query: Query, found: Sequence[ReportPanel]) -> Iterator[Chart]:
    """The charts of panels."""
    for panel in found:
        yield _chart(cells, query, panel)


def _chart(cells: Cells, query: Query, panel: ReportPanel) -> Chart:
    pieces = [pieces_of(one, panel.point) for one in panel.found]
    looks = looks_of(query, panel.found)
    axis: list[pictures.Axis] = []

    def draw(axes: Any) -> None:
        axis.append(_draw(axes, query, panel, looks, pieces))

    picture = pictures.drawn(panel.name, draw)
    keys = [*_keys(panel, looks)]
    what = words.SCRIPT["rate"] if panel.rates else time_words(panel.found)
    data = {
        "kind": "curves",
        "quantity": "rate" if panel.rates else "time",
        "title": what,
        "unit": _unit(panel, pieces),
        "x": axis[0]._asdict(),
        "zero": scales.SizeAxis(sizes_of(pieces), linear=query.linear).x(0),
        "curves": [{"pieces": _pieces(cells, panel, one)} for one in (*panel.found, *panel.others)],
        "over": [one._asdict() for one in denominators(cells, panel.found)],
        "marks": _marks(panel),
    }
    title = title_words(panel.found) or panel.found[0].label
    has_intervals = any(row.time and row.time.low is not None for one in panel.found for row in one.rows)
    about = "; ".join(filter(None, [what, words.INTERVALS * has_intervals]))
    return Chart(panel.name, title, about, picture, data, keys, _table(cells, query, panel))


def _draw(
    axes: Any, query: Query, panel: ReportPanel, looks: Sequence[dict[str, Any]], pieces: Sequence[Any]
) -> pictures.Axis:
    """The same as a picture; returns its axis of sizes."""
    seen = lines.seen_through(looks[::-1], pieces[::-1])[::-1]
    sizes = scales.SizeAxis(sizes_of(pieces), linear=query.linear)
    for number in reversed(range(len(pieces))):  # the first in front
        lines.curve(axes, str(number), seen[number], pieces[number], sizes.x)
    sizes.dress(axes)
    values = values_of(pieces)
    if panel.rates:
        scales.rates("", values, query.units.rate, linear=query.linear).dress(axes)
    else:
        scales.times("", values, query.units.time, linear=query.linear).dress(axes)
    mark_breaks(axes, panel.found)
    return pictures.axis_of(axes)


def _unit(panel: ReportPanel, pieces: Sequence[Any]) -> str:
    values = values_of(pieces)
    return units.rate_unit(values) if panel.rates else units.time_unit(values)


def _pieces(cells: Cells, panel: ReportPanel, one: Series) -> list[list[int]]:
    """Numbers of cells that a line may connect."""
    rows = {row.cell.bytes: row for row in one.rows if panel.point(row) is not None}
    return [
        [cells.number(one.source, rows[int(point.x)]) for point in piece]
        for piece in pieces_of(one, panel.point)
    ]


def _marks(panel: ReportPanel) -> list[dict[str, Any]]:
    """Eager limits among the sizes."""
    sizes = [row.cell.bytes for one in panel.found for row in one.rows]
    return [
        {"x": limit, "text": words}
        for limit, words in limits_of(panel.found).items()
        if min(sizes) <= limit < max(sizes)
    ]


def _keys(panel: ReportPanel, looks: Sequence[dict[str, Any]]) -> Iterator[Key]:
    """What the legend says; curves of other states look as their own, in other strokes."""
    several = len({_state(one) for one in (*panel.found, *panel.others)}) > 1
    by_curve = {_stateless(one): look for one, look in zip(panel.found, looks, strict=True)}
    label_of = {_stateless(one): one.label for one in panel.found}
    for one in panel.found:
        yield key_of(by_curve[_stateless(one)], one.label, state=_state(one) if several else "")
    for one in panel.others:
        look = by_curve[_stateless(one)] | {"linestyle": DASHES[5]}
        label = f"{label_of[_stateless(one)]}, {_state(one)}"
        yield replace(key_of(look, label, state=_state(one)), hidden=True)


def key_of(look: Mapping[str, Any], label: str, state: str = "") -> Key:
    """A legend's entry of a look of figures."""
    dash = look["linestyle"]
    strokes = "" if isinstance(dash, str) else ",".join(f"{DASH_PIXELS * each:g}px" for each in dash[1])
    colour = COLOURS.index(look["color"])
    hollow = look["markerfacecolor"] == "white" or dash == IMPORTED_DASHES
    return Key(label, colour, SHAPES[look["marker"]], strokes, hollow, state)


# ---- Its table -----------------------------------------------------------------------------------


def _table(cells: Cells, query: Query, panel: ReportPanel) -> ReportTable:
    """All numbers of a chart."""
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
    """What has no size, such as barriers: a table of its own."""
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
