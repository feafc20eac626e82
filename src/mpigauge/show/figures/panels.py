"""Panels on shared axes: send modes with a panel per placement, placements with a panel each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge.document.phrases import UNSAID
from mpigauge.plan.factors import PLACE
from mpigauge.query.kinds import maker
from mpigauge.query.series import (
    FILE,
    MAX_SERIES,
    against_size,
    pieces_of,
    rate_point,
    title_words,
    varying_factors,
    with_labels,
)
from mpigauge.rows.group import words_key
from mpigauge.sequences import group_by
from mpigauge.show.chart import Chart, ChartCurve
from mpigauge.show.figures import MAKERS, lines, references, scales, style
from mpigauge.show.figures.chart import draw_curves, mark_breaks
from mpigauge.show.figures.curves import below, intervals, set_up_below, with_below
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.show.figures.ratios import Ratios
from mpigauge.show.references import references_by

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Point, Series
    from mpigauge.show.figures.ratios import Pieces
    from mpigauge.show.figures.widths import Widths
    from mpigauge.show.references import Reference

MAX_PANELS = 6
LABELS_OF_PANEL = 5
COLUMNS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Series in one pair of axes: values, and what stands below them."""

    title: str
    series: list[Series]
    pieces: list[Pieces]
    over: Ratios | Widths | None
    references: list[Reference]

    @property
    def points(self) -> Iterator[Point]:
        """Points of all series."""
        return (point for pieces in self.pieces for piece in pieces for point in piece)


@maker(MAKERS, "modes")
def modes_figure(query: Query) -> Figure:
    """Draw rates of the modes of a pattern, with a panel per combination of other factors."""
    curves = _rated(query)
    # Imported numbers are drawn in the panels of ours, whose library and file they do not have.
    inside = {"mode"} | ({"mpi", FILE} if len({curve.imported for curve in curves}) > 1 else set())
    groups = [
        group
        for group in _grouped_but_for(curves, inside)
        if len({curve.factors["mode"] for curve in group}) > 1
    ]
    if not groups:
        raise query.lacks("no pattern that moves bytes was measured in two modes")
    return _panels(query, groups, inside)


@maker(MAKERS, "placements")
def placements_figure(query: Query) -> Figure:
    """Draw bandwidths with a panel per placement and transport; results with the same share panels."""
    curves = _rated(query)
    varying = set(varying_factors(curves))
    keys = varying & PLACE or varying & {FILE}
    if not keys:
        raise query.lacks("only one placement and transport was measured")
    return _panels(query, _grouped_but_for(curves, _all_names(curves) - keys), varying - keys)


def _all_names(curves: Sequence[Series]) -> set[str]:
    return {name for curve in curves for name in curve.factors}


def _rated(query: Query) -> list[Series]:
    return against_size(
        query,
        lambda row: row.rate_bytes_per_s is not None or row.time is None,
        most=MAX_PANELS * MAX_SERIES,
    )


def _grouped_but_for(curves: Sequence[Series], without: Collection[str]) -> list[list[Series]]:
    """Group series that are alike but for these factors."""
    return [*group_by(curves, lambda curve: words_key(curve.factors, without)).values()]


def _panels(query: Query, groups: Sequence[Sequence[Series]], inside: Collection[str]) -> Figure:
    """Draw groups as panels; factors within a panel get styles, the others become titles."""
    if len(groups) > MAX_PANELS:
        raise query.lacks(f"{len(groups)} panels are more than {MAX_PANELS}", "choose with --series")
    if (most := max(map(len, groups))) > MAX_SERIES:
        raise query.lacks(f"{most} series are more than the {MAX_SERIES} of a panel", "choose with --series")
    everyone = [curve for group in groups for curve in group]
    titles = [name for name in varying_factors(everyone) if name not in inside]
    named = with_labels(*groups, without=titles)
    members = iter(named)
    grouped = [[next(members) for _ in group] for group in groups]
    references = references_by(query, grouped)
    panels = [_panel(query, curves, titles, known) for curves, known in zip(grouped, references, strict=True)]
    if any(isinstance(panel.over, Ratios) for panel in panels):  # all share the axes below
        panels = [replace(one, over=one.over if isinstance(one.over, Ratios) else None) for one in panels]
    labels = list(dict.fromkeys(curve.label for curve in named))
    firsts = [next(curve for curve in named if curve.label == label) for label in labels]
    styles = dict(zip(labels, styles_of(query, firsts, titles), strict=True))
    styles = _widest_styles(panels, styles)
    whole = _drawn(query, panels, styles, len(labels))
    measured = [curve for curve in named if not curve.imported]
    note = intervals(measured) if measured else ""
    lines.caption(whole, title_words(named, (*PLACE,)), note, firsts, list(styles.values()))
    return whole


def _widest_styles(panels: Sequence[Panel], styles: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return styles with the largest width that any panel needs."""
    widest = dict(styles)
    for panel in panels:
        widened = lines.widened_below([styles[curve.label] for curve in panel.series], panel.pieces)
        for curve, curve_style in zip(panel.series, widened, strict=True):
            widest[curve.label] = max(
                widest[curve.label], curve_style, key=lambda candidate: candidate.get("linewidth", 0)
            )
    return widest


def _panel(query: Query, curves: list[Series], titles: Sequence[str], references: list[Reference]) -> Panel:
    words = [curves[0].factors[name] for name in titles if name in curves[0].factors]
    short = [word for word in words if word not in UNSAID - {"same-host"}]
    pieces = [pieces_of(curve, rate_point) for curve in curves]
    return Panel(", ".join(short or words), curves, pieces, below(query, curves, pieces), references)


def _drawn(query: Query, panels: Sequence[Panel], styles: dict[str, dict[str, Any]], labels: int) -> Figure:
    columns = min(COLUMNS if style.width_in() > style.NARROW else 1, len(panels))
    rows = -(-len(panels) // columns)
    with_low = any(panel.over for panel in panels)
    whole = style.paper((3.3 if with_low else 2.5) * rows + 0.6, 1 + -(-labels // 3))
    heights = [2.0, 1.0] * rows if with_low else [1.0] * rows
    grid = whole.add_gridspec(len(heights), columns, height_ratios=heights)
    sizes = scales.SizeAxis(
        {point.x for panel in panels for point in panel.points},
        linear=query.linear,
        most=LABELS_OF_PANEL,
    )
    values = [point.y for panel in panels for point in panel.points]
    every = [curve for panel in panels for curve in panel.references]
    values += references.near(every, values, linear=query.linear)
    axis = scales.rates("bandwidth", values, query.units.rate, linear=query.linear)
    shared: Any = {"sharex": None, "sharey": None}
    shared_low: Any = {"sharex": None, "sharey": None}
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        upper = whole.add_subplot(grid[(2 if with_low else 1) * row, column], **shared)
        shared = {"sharex": upper, "sharey": upper} if number == 0 else shared
        upper.set_title(panel.title)
        chart = _chart(panel, styles)
        draw_curves(upper, chart, sizes.x, f"{number}-")
        lowest = upper
        if with_low:
            lowest = whole.add_subplot(grid[2 * row + 1, column], sharex=upper, sharey=shared_low["sharey"])
            shared_low = {"sharey": lowest} if number == 0 else shared_low
            if panel.over is not None:
                draw_curves(lowest, chart, sizes.x, f"{panel.over.prefix}{number}-", below=True)
            upper.tick_params(labelbottom=False)
        last = number + columns >= len(panels)
        sizes.set_up(lowest, "message size" if last else "")
        lowest.tick_params(labelbottom=last)
    _set_up(panels, whole.axes, axis, sizes, columns, with_low=with_low)
    return whole


def _chart(panel: Panel, styles: Mapping[str, dict[str, Any]]) -> Chart:
    looks = [styles[curve.label] for curve in panel.series]
    curves = zip(panel.series, looks, panel.pieces, strict=True)
    return with_below(
        Chart([ChartCurve(curve.label, look, pieces) for curve, look, pieces in curves], "rate"), panel.over
    )


def _set_up(
    panels: Sequence[Panel],
    axes: Sequence[Any],
    axis: scales.ValueAxis,
    sizes: scales.SizeAxis,
    columns: int,
    *,
    with_low: bool,
) -> None:
    """Set up axes with labels on the left only; the axes below share one range."""
    uppers, lowers = (axes[::2], axes[1::2]) if with_low else (axes, [])
    for number, (upper, panel) in enumerate(zip(uppers, panels, strict=True)):
        first = number % columns == 0
        axis.set_up(upper, label=first)
        references.draw(upper, panel.references, sizes, axis)
        upper.tick_params(labelleft=first)
        mark_breaks(upper, panel.series)
    labelled: list[Any] = []
    every = [panel.over for panel in panels if panel.over is not None]
    for number, (lower, panel) in enumerate(zip(lowers, panels, strict=bool(lowers))):
        set_up_below(lower, [*([panel.over] if panel.over is not None else []), *every])
        mark_breaks(lower, panel.series, named=False)
        lower.tick_params(labelleft=number % columns == 0)
        if number % columns and lower.get_ylabel() == lowers[number - 1].get_ylabel():
            labelled.append(lower)
    for lower in labelled:
        lower.set_ylabel("")
