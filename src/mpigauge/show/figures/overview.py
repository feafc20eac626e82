"""A panel per family: messages first, then what all ranks do together, then memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import ScaledTranslation

from mpigauge.plan.patterns import between_two, has_rates, standing_mode
from mpigauge.query.kinds import maker
from mpigauge.query.series import (
    against_size,
    common_words,
    labelled,
    names_that_vary,
    pieces_of,
    rate_point,
    time_point,
)
from mpigauge.rows.group import STATE
from mpigauge.rows.machine.split import split_of
from mpigauge.show.figures import MAKERS, chart, lines, style
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
LABELS_MOST = 8
"""In a panel of this size more cannot be told apart."""

SIZES_OF_PANEL = 5
HEIGHT = 2.35
HEIGHT_OF_LABEL = 0.155
BELOW_AXIS = 0.43
"""Inches from an axis of sizes to the legend under its ticks and its label."""


@dataclass(frozen=True, slots=True)
class FigureFamily:
    """What one panel shows.

    Attributes:
        title: Above it; its quantity.
        keep: Which patterns it is of.
        point: What is drawn of a row.
        rates: Whether that is a bandwidth, else a time.
    """

    title: str
    keep: Callable[[Pattern], bool]
    point: Callable[[Row], Point | None]
    rates: bool = False


FAMILIES = (
    FigureFamily("latency, one way", lambda one: one.talks and one.one_way, time_point),
    FigureFamily("bandwidth", has_rates, rate_point, rates=True),
    FigureFamily(
        "time of one operation of all ranks",
        lambda one: one.talks and not (between_two(one) or has_rates(one)),
        time_point,
    ),
    FigureFamily(
        "bandwidth in memory", lambda one: one.in_memory and one.moves_bytes, rate_point, rates=True
    ),
    FigureFamily(
        "time of one access to memory", lambda one: one.in_memory and not one.moves_bytes, time_point
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class OverviewPanel:
    """A family with its series and what is drawn of them."""

    family: FigureFamily
    series: list[Series]
    pieces: list[Pieces]


@maker(MAKERS, "overview")
def overview_figure(query: Query) -> Figure:
    """Panels with axes and a legend each."""
    found = against_size(query, most=sum(1 for source in query.sources for _ in source.rows) + 1)
    panels = [panel for family in FAMILIES if (panel := _panel(query, family, found)).series]
    if not panels:
        raise query.lacks("all times of it are 0")
    columns = min(COLUMNS if style.width_in() > style.NARROW else 1, len(panels))
    grid_rows = -(-len(panels) // columns)
    labels = max(len(panel.series) for panel in panels)
    whole = style.paper((HEIGHT + HEIGHT_OF_LABEL * -(-labels // columns_of_labels(panels))) * grid_rows)
    for number, panel in enumerate(panels):
        _draw(query, whole.add_subplot(grid_rows, columns, number + 1), number, panel)
    shown = [one for panel in panels for one in panel.series]
    title = common_words(shown)
    whole.suptitle(title, fontsize=9)
    for axes, panel in zip(whole.axes, panels, strict=True):
        if len(panel.series) > 1 or panel.series[0].label not in title:
            _legend(axes, panel, [dict(one.look) for one in _described(query, panel).curves])
    if any(not one.imported for one in shown):
        whole.supxlabel(intervals(shown), **style.SMALL)
    return whole


def columns_of_labels(panels: Sequence[OverviewPanel]) -> int:
    """How many labels stand beside each other below a panel."""
    widest = max(len(one.label) for panel in panels for one in panel.series)
    return 2 if widest * COLUMNS <= LETTERS_OF_PANEL else 1


LETTERS_OF_PANEL = 40


def _panel(query: Query, family: FigureFamily, found: Iterable[Series]) -> OverviewPanel:
    """The series of a family; where these are too many, of the usual modes, then of the usual state.

    Raises:
        UsageError: They are too many even so.
    """
    mine = [one for one in found if family.keep(one.source.patterns[one.factors["pattern"]])]
    mine = [one for one in mine if pieces_of(one, family.point)]
    if len(mine) > LABELS_MOST:
        mine = _standing(mine)
    if len(mine) > LABELS_MOST and any(STATE in one.factors for one in mine):
        usual = [one for one in mine if one.factors.get(STATE) in {None, split_of(one.source.result).usual}]
        mine = usual or mine
        named = dict.fromkeys(one.factors[STATE] for one in mine if STATE in one.factors)
        family = replace(family, title=", ".join([family.title, *named]))
    if len(mine) > LABELS_MOST:
        word = next(mine[0].factors[name] for name in names_that_vary(mine) if name in mine[0].factors)
        raise query.lacks(
            f"{len(mine)} series are more than the {LABELS_MOST} of a panel",
            f'choose with --series, such as --series "{word}", or draw --kind time',
        )
    # Labels that users gave stay.
    mine = labelled(mine) if mine and not query.series else mine
    return OverviewPanel(family, mine, [pieces_of(one, family.point) for one in mine])


def _standing(series: Sequence[Series]) -> list[Series]:
    """Of each pattern those in the mode that stands for it."""
    modes: dict[str, dict[str, None]] = {}
    for one in series:
        modes.setdefault(one.factors["pattern"], {})[one.rows[0].cell.mode] = None
    return [
        one
        for one in series
        if one.rows[0].cell.mode
        == standing_mode(one.source.patterns[one.factors["pattern"]], [*modes[one.factors["pattern"]]])
    ]


def _draw(query: Query, axes: Any, number: int, panel: OverviewPanel) -> None:
    chart.draw(axes, _described(query, panel), f"{number}-", SIZES_OF_PANEL)
    axes.set_ylabel("")
    axes.set_title(panel.family.title, loc="left")


def _described(query: Query, panel: OverviewPanel) -> Chart:
    """The first in front; the last is drawn first, and is the wider one where others cover it."""
    quantity: Quantity = "rate" if panel.family.rates else "time"
    return described(query, panel.series, panel.pieces, quantity, panel.family.title, first_in_front=True)


def _legend(axes: Any, panel: OverviewPanel, looks: Sequence[dict[str, Any]]) -> None:
    """Below the panel, never over data."""
    handles = [lines.handle(lines.usual_width(look)) for look in looks]
    labels = [one.label for one in panel.series]
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
