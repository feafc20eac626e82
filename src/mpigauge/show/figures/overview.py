"""Overview figure: a panel per family, messages first, then collectives, then memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge.plan.patterns import has_rates, is_point_to_point, representative_mode
from mpigauge.query.kinds import maker
from mpigauge.query.series import (
    MAX_SERIES,
    against_size,
    common_words,
    pieces_of,
    rate_point,
    time_point,
    varying_factors,
    with_labels,
)
from mpigauge.rows.group import STATE, state_in
from mpigauge.rows.machine.split import split_of
from mpigauge.sequences import group_by
from mpigauge.show.figures import MAKERS, chart, end_labels, lines, style
from mpigauge.show.figures.curves import below, described, intervals, set_up_below, with_below
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.show.figures.ratios import Ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.figure import Figure

    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.query import Query
    from mpigauge.query.series import Point, Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart, Quantity
    from mpigauge.show.figures.ratios import Pair, Pieces
    from mpigauge.show.figures.widths import Widths

COLUMNS = 2
MAX_LABELS = 8
"""Most labels that can be told apart in a small panel."""

SIZES_OF_PANEL, MAX_PANELS = 5, 8
HEIGHT = 2.35
HEIGHT_OF_LOW = 1.0
"""Inches of what stands below the curves of a panel."""


@dataclass(frozen=True, slots=True)
class FigureFamily:
    """Contents of one panel.

    Attributes:
        title: Title above it: its quantity.
        keep: Returns whether a pattern belongs to it.
        point: Returns what is drawn of a row.
        rates: Whether it shows bandwidths, not times.
    """

    title: str
    keep: Callable[[Pattern], bool]
    point: Callable[[Row], Point | None]
    rates: bool = False


FAMILIES = (
    FigureFamily("latency, one way", lambda curve: curve.talks and curve.one_way, time_point),
    FigureFamily("bandwidth", has_rates, rate_point, rates=True),
    FigureFamily(
        "time of one operation of all ranks",
        lambda curve: curve.talks and not (is_point_to_point(curve) or has_rates(curve)),
        time_point,
    ),
    FigureFamily(
        "bandwidth in memory", lambda curve: curve.in_memory and curve.moves_bytes, rate_point, rates=True
    ),
    FigureFamily(
        "time of one access to memory", lambda curve: curve.in_memory and not curve.moves_bytes, time_point
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class OverviewPanel:
    """Family with its series and their points.

    Attributes:
        usual_modes: Whether others were left out for their modes.
        alone: Whether its title names its pattern, and its labels and styles do not.
        styles: Style of each series.
        over: What stands below its curves; None if nothing does.
    """

    family: FigureFamily
    series: list[Series]
    pieces: list[Pieces]
    usual_modes: bool = False
    alone: bool = False
    styles: Sequence[dict[str, Any]] = ()
    over: Ratios | Widths | None = None


@maker(MAKERS, "overview")
def overview_figure(query: Query) -> Figure:
    """Draw a panel with axes and a legend per family."""
    curves = against_size(query, most=sum(1 for source in query.sources for _ in source.rows) + 1)
    panels = [*_families(query, curves)]
    if not panels:
        raise query.lacks("all times of it are 0")
    if len(panels) > MAX_PANELS:
        raise query.lacks(f"{len(panels)} panels are more than {MAX_PANELS}", "choose with --series")
    panels = [*_with_low(query, _labelled(query, panels))]
    columns = min(COLUMNS if style.width_in() > style.NARROW else 1, len(panels))
    rows = [panels[at : at + columns] for at in range(0, len(panels), columns)]
    heights = [HEIGHT + HEIGHT_OF_LOW * any(panel.over for panel in row) for row in rows]
    shown = {curve.label: curve for panel in panels for curve in panel.series}
    title = common_words([curve for panel in panels for curve in panel.series])
    whole = style.paper(sum(heights), lines.legend_rows([*shown]))
    grid = whole.add_gridspec(len(rows), columns, height_ratios=heights)
    drawn = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        drawn.append(_draw(query, whole, grid[row, column], number, panel))
    whole.suptitle(title, fontsize=9)
    notes = [USUAL_MODES] if any(panel.usual_modes for panel in panels) else []
    notes += [intervals([*shown.values()])] if any(not curve.imported for curve in shown.values()) else []
    _label(whole, drawn, panels, title, "\n".join(notes))
    return whole


USUAL_MODES = "of each pattern the usual mode; others: --series"
"""Below panels that have no room for all modes that were measured."""


def _families(query: Query, curves: Sequence[Series]) -> Iterator[OverviewPanel]:
    """Yield the panels of all families.

    Where one has too many series, all show the usual modes only, then the usual state, then a pattern each.

    Raises:
        UsageError: They are too many nevertheless.
    """
    found = {family: [*_series_of(family, curves)] for family in FAMILIES}
    if all(len(every) <= MAX_LABELS for every in found.values()):
        yield from (_panel(family, every) for family, every in found.items() if every)
        return
    for family, every in found.items():
        usual = _representative(every)
        for whole, part in _parts(family, usual):
            if len(part) > MAX_LABELS:
                word = next(part[0].factors[of] for of in varying_factors(part) if of in part[0].factors)
                raise query.lacks(
                    f"{len(part)} series are more than the {MAX_LABELS} of a panel",
                    f'choose with --series, such as --series "{word}"'
                    + (", or draw --kind time" if len(part) <= MAX_SERIES else ""),
                )
            few, alone = len(usual) < len(every), len(part) < len(usual)
            yield replace(_panel(whole, part), usual_modes=few, alone=alone)


def _panel(family: FigureFamily, curves: Sequence[Series]) -> OverviewPanel:
    return OverviewPanel(family, [*curves], [pieces_of(curve, family.point) for curve in curves])


def _parts(family: FigureFamily, curves: Sequence[Series]) -> Iterator[tuple[FigureFamily, list[Series]]]:
    """Yield a family with its curves; of many, those in the machine's usual state, then a pattern each."""
    if len(curves) > MAX_LABELS:
        usual = [
            curve for curve in curves if state_in(curve.rows) in {None, split_of(curve.source.result).usual}
        ]
        named = {curve.factors.get(STATE, ""): None for curve in usual if len(usual) < len(curves)}
        curves = usual or curves
        family = replace(family, title=", ".join(filter(None, [family.title, *named])))
    if len(curves) <= MAX_LABELS:
        yield from [(family, [*curves])] if curves else []
        return
    for name, part in group_by(curves, lambda curve: curve.factors["pattern"]).items():
        yield replace(family, title=f"{family.title}: {name}"), part


def _series_of(family: FigureFamily, curves: Iterable[Series]) -> Iterator[Series]:
    for curve in curves:
        if family.keep(curve.source.patterns[curve.factors["pattern"]]) and pieces_of(curve, family.point):
            yield curve


def _labelled(query: Query, panels: Sequence[OverviewPanel]) -> list[OverviewPanel]:
    """Return panels whose series have styles, and labels for one legend; labels that --series gives stay."""
    found: dict[int, OverviewPanel] = {}
    together = [panel for panel in panels if not panel.alone]
    for group in (together, *([panel] for panel in panels if panel.alone)):
        curves = [curve for panel in group for curve in panel.series]
        curves = curves if query.series else with_labels(*[panel.series for panel in group])
        known = {curve.label: curve for curve in curves}
        styles = dict(zip(known, styles_of(query, [*known.values()]), strict=True))
        of_panels = iter(curves)
        for panel in group:
            series = [next(of_panels) for _ in panel.series]
            looks = [styles[curve.label] for curve in series]
            found[id(panel)] = replace(panel, series=series, styles=looks)
    return [found[id(panel)] for panel in panels]


def _with_low(query: Query, panels: Sequence[OverviewPanel]) -> Iterator[OverviewPanel]:
    """Yield panels with what stands below their curves; the ratios of two curves stand in one panel."""
    known: set[Pair] = set()
    for panel in panels:
        over = below(query, panel.series, panel.pieces, known)
        known |= over.pairs if isinstance(over, Ratios) else set()
        yield replace(panel, over=over)


def _representative(series: Sequence[Series]) -> list[Series]:
    """Return the series of each pattern in its representative mode."""
    modes: dict[str, dict[str, None]] = {}
    for curve in series:
        modes.setdefault(curve.factors["pattern"], {})[curve.rows[0].cell.mode] = None
    return [
        curve
        for curve in series
        if curve.rows[0].cell.mode
        == representative_mode(
            curve.source.patterns[curve.factors["pattern"]], [*modes[curve.factors["pattern"]]]
        )
    ]


def _draw(query: Query, whole: Figure, place: Any, number: int, panel: OverviewPanel) -> Any:
    """Draw a panel, and return the axes of its curves."""
    described = with_below(_described(query, panel), panel.over)
    if panel.over is None:
        axes = whole.add_subplot(place)
        chart.draw(axes, described, f"{number}-", SIZES_OF_PANEL)
    else:
        upper, lower = place.subgridspec(2, 1, height_ratios=(HEIGHT, HEIGHT_OF_LOW))
        axes = whole.add_subplot(upper)
        low = whole.add_subplot(lower, sharex=axes)
        chart.draw(axes, described, f"{number}-", SIZES_OF_PANEL, low, f"{panel.over.prefix}{number}-")
        set_up_below(low, [panel.over])
    axes.set_ylabel("")
    axes.set_title(panel.family.title, loc="left")
    return axes


def _described(query: Query, panel: OverviewPanel) -> Chart:
    """Return the chart of a panel; the last curve is drawn first, and is wider where others cover it."""
    quantity: Quantity = "rate" if panel.family.rates else "time"
    return described(
        query,
        panel.series,
        panel.pieces,
        quantity,
        panel.family.title,
        first_in_front=True,
        styles=panel.styles,
    )


def _label(
    whole: Figure,
    drawn: Sequence[Any],
    panels: Sequence[OverviewPanel],
    title: str,
    note: str,
) -> None:
    """Name the curves of all panels: at their ends if those of all panels fit there, in one legend if not.

    A single curve is named in the title of its panel, unless the title of the figure names it.
    """
    for axes, panel in zip(drawn, panels, strict=True):
        if len(panel.series) == 1 and panel.series[0].label not in title:
            axes.set_title(f"{panel.family.title}: {panel.series[0].label}", loc="left")
    several = [number for number, panel in enumerate(panels) if len(panel.series) > 1]
    labels = {number: [curve.label for curve in panels[number].series] for number in several}
    names = {number: [f"{number}-{place}" for place in range(len(labels[number]))] for number in several}
    looks = [pair for number in several for pair in zip(labels[number], panels[number].styles, strict=True)]
    known = dict(looks)
    heights = {
        number: end_labels.heights_of(drawn[number], names[number], labels[number]) for number in several
    }
    if not all(heights.values()):
        lines.below(whole, [*map(lines.handle, known.values())], [*known], note)
        return
    for number in several:
        styles = panels[number].styles
        end_labels.write(drawn[number], names[number], labels[number], styles, heights[number])
    whole.set_figheight(whole.get_figheight() - style.LEGEND_INCHES * lines.legend_rows([*known, ""]))
    if note:
        whole.supxlabel(note, **style.SMALL)
