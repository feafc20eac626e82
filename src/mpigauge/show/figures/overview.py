"""Overview figure: a panel per family, messages first, then collectives, then memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import ScaledTranslation

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
from mpigauge.show.figures import MAKERS, chart, end_labels, lines, style
from mpigauge.show.figures.curves import described, intervals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.query import Query
    from mpigauge.query.series import Point, Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart, Quantity
    from mpigauge.show.figures.ratios import Pieces

COLUMNS = 2
MAX_LABELS = 8
"""Most labels that can be told apart in a small panel."""

SIZES_OF_PANEL = 5
HEIGHT = 2.35
HEIGHT_OF_LABEL = 0.155
BELOW_AXIS = 0.43
"""Inches from an axis of sizes to the legend below its ticks and label."""


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
    """Family with its series and their points; whether others were left out for their modes."""

    family: FigureFamily
    series: list[Series]
    pieces: list[Pieces]
    usual_modes: bool = False


@maker(MAKERS, "overview")
def overview_figure(query: Query) -> Figure:
    """Draw a panel with axes and a legend per family."""
    curves = against_size(query, most=sum(1 for source in query.sources for _ in source.rows) + 1)
    panels = [panel for family in FAMILIES if (panel := _panel(query, family, curves)).series]
    if not panels:
        raise query.lacks("all times of it are 0")
    columns = min(COLUMNS if style.width_in() > style.NARROW else 1, len(panels))
    grid_rows = -(-len(panels) // columns)
    labels = max(len(panel.series) for panel in panels)
    whole = style.paper((HEIGHT + HEIGHT_OF_LABEL * -(-labels // columns_of_labels(panels))) * grid_rows)
    grid = whole.add_gridspec(grid_rows, columns)
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        # The last one has its row to itself where it has no neighbour.
        place = grid[row, column:] if number + 1 == len(panels) else grid[row, column]
        _draw(query, whole.add_subplot(place), number, panel)
    shown = [curve for panel in panels for curve in panel.series]
    title = common_words(shown)
    whole.suptitle(title, fontsize=9)
    _label(query, whole, panels, title)
    below = [USUAL_MODES] if any(panel.usual_modes for panel in panels) else []
    if any(not curve.imported for curve in shown):
        below.append(intervals(shown))
    if below:
        whole.supxlabel("\n".join(below), **style.SMALL)
    return whole


def columns_of_labels(panels: Sequence[OverviewPanel]) -> int:
    """Return how many labels fit side by side below a panel."""
    widest = max(len(curve.label) for panel in panels for curve in panel.series)
    return 2 if widest * COLUMNS <= MAX_LABEL_CHARS else 1


MAX_LABEL_CHARS = 40

USUAL_MODES = "of each pattern the usual mode; others: --series"
"""Below panels that have no room for all modes that were measured."""


def _panel(query: Query, family: FigureFamily, curves: Iterable[Series]) -> OverviewPanel:
    """Return the series of a family; if too many, only of the usual modes, then of the usual state.

    Raises:
        UsageError: They are too many nevertheless.
    """
    kept = [curve for curve in curves if family.keep(curve.source.patterns[curve.factors["pattern"]])]
    kept = [curve for curve in kept if pieces_of(curve, family.point)]
    every, kept = kept, _representative(kept) if len(kept) > MAX_LABELS else kept
    usual_modes = len(kept) < len(every)
    if len(kept) > MAX_LABELS and any(STATE in curve.factors for curve in kept):
        usual = [
            curve for curve in kept if state_in(curve.rows) in {None, split_of(curve.source.result).usual}
        ]
        kept = usual or kept
        named = dict.fromkeys(curve.factors[STATE] for curve in kept if STATE in curve.factors)
        family = replace(family, title=", ".join([family.title, *named]))
    if len(kept) > MAX_LABELS:
        word = next(kept[0].factors[name] for name in varying_factors(kept) if name in kept[0].factors)
        raise query.lacks(
            f"{len(kept)} series are more than the {MAX_LABELS} of a panel",
            f'choose with --series, such as --series "{word}"'
            + (", or draw --kind time" if len(kept) <= MAX_SERIES else ""),
        )
    # Labels chosen by --series stay.
    kept = with_labels(kept) if kept and not query.series else kept
    return OverviewPanel(family, kept, [pieces_of(curve, family.point) for curve in kept], usual_modes)


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


def _draw(query: Query, axes: Any, number: int, panel: OverviewPanel) -> None:
    chart.draw(axes, _described(query, panel), f"{number}-", SIZES_OF_PANEL)
    axes.set_ylabel("")
    axes.set_title(panel.family.title, loc="left")


def _described(query: Query, panel: OverviewPanel) -> Chart:
    """Return the chart of a panel; the last curve is drawn first, and is wider where others cover it."""
    quantity: Quantity = "rate" if panel.family.rates else "time"
    return described(query, panel.series, panel.pieces, quantity, panel.family.title, first_in_front=True)


def _label(query: Query, whole: Figure, panels: Sequence[OverviewPanel], title: str) -> None:
    """Name the curves of all panels: at their ends if those of all panels fit there, in legends if not.

    A single curve is named in the title of its panel, unless the title of the figure names it.
    """
    labels = [[curve.label for curve in panel.series] for panel in panels]
    names = [[f"{number}-{place}" for place in range(len(own))] for number, own in enumerate(labels)]
    several = [number for number, own in enumerate(labels) if len(own) > 1]
    heights = {
        number: end_labels.heights_of(whole.axes[number], names[number], labels[number]) for number in several
    }
    for number in several:
        styles = [dict(curve.style) for curve in _described(query, panels[number]).curves]
        axes = whole.axes[number]
        if all(heights.values()):
            end_labels.write(axes, names[number], labels[number], styles, heights[number])
        else:
            _legend(axes, panels[number], styles)
    for axes, panel in zip(whole.axes, panels, strict=True):
        if len(panel.series) == 1 and panel.series[0].label not in title:
            axes.set_title(f"{panel.family.title}: {panel.series[0].label}", loc="left")


def _legend(axes: Any, panel: OverviewPanel, styles: Sequence[dict[str, Any]]) -> None:
    """Draw the legend below the panel."""
    handles = [lines.handle(lines.usual_width(curve_style)) for curve_style in styles]
    labels = [curve.label for curve in panel.series]
    axes.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=axes.transAxes + ScaledTranslation(0, -BELOW_AXIS, axes.figure.dpi_scale_trans),
        borderaxespad=0,
        ncols=columns_of_labels([panel]),
        fontsize="small",
    )
