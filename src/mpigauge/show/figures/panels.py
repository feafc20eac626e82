"""Panels side by side on shared axes: send modes with one panel per place, placements with one panel each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.document.phrases import UNSAID
from mpigauge.plan.factors import PLACE
from mpigauge.query.kinds import maker
from mpigauge.query.series import (
    FILE,
    SERIES_MOST,
    against_size,
    labelled,
    names_that_vary,
    pieces_of,
    rate_point,
    title_words,
)
from mpigauge.rows.group import words_key
from mpigauge.sequences import group_by
from mpigauge.show.figures import MAKERS, lines, ratios, references, scales, style
from mpigauge.show.figures.chart import mark_breaks, sizes_of, values_of
from mpigauge.show.figures.curves import intervals
from mpigauge.show.figures.line_styles import looks_of
from mpigauge.show.references import references_by

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.show.figures.ratios import Pieces, Ratios
    from mpigauge.show.references import Reference

PANELS_MOST = 6
LABELS_OF_PANEL = 5
COLUMNS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Series that are drawn into one pair of axes: values, and their ratios below."""

    title: str
    series: list[Series]
    pieces: list[Pieces]
    ratios: Ratios
    beside: list[Reference]


@maker(MAKERS, "modes")
def modes_figure(query: Query) -> Figure:
    """Rates of the modes of a pattern, a panel for everything else."""
    found = _rated(query)
    # What others have printed is drawn beside ours, whose library and file it cannot have.
    inside = {"mode"} | ({"mpi", FILE} if len({one.imported for one in found}) > 1 else set())
    groups = [group for group in _by(found, inside) if len({one.factors["mode"] for one in group}) > 1]
    if not groups:
        raise query.lacks("no pattern that moves bytes was measured in two modes")
    return _panels(query, groups, inside)


@maker(MAKERS, "placements")
def placements_figure(query: Query) -> Figure:
    """Bandwidths, one panel per placement and transport; results side by side if they have the same."""
    found = _rated(query)
    varying = set(names_that_vary(found))
    keys = varying & PLACE or varying & {FILE}
    if not keys:
        raise query.lacks("only one placement and transport was measured")
    return _panels(query, _by(found, _all_names(found) - keys), varying - keys)


def _all_names(found: Sequence[Series]) -> set[str]:
    return {name for one in found for name in one.factors}


def _rated(query: Query) -> list[Series]:
    return against_size(
        query,
        lambda row: row.rate_bytes_per_s is not None or row.time is None,
        most=PANELS_MOST * SERIES_MOST,
    )


def _by(found: Sequence[Series], without: Collection[str]) -> list[list[Series]]:
    """Groups that are equal but for these factors."""
    return [*group_by(found, lambda one: words_key(one.factors, without)).values()]


def _panels(query: Query, groups: Sequence[Sequence[Series]], inside: Collection[str]) -> Figure:
    """Series told apart by what is inside a panel, panels by the rest."""
    if len(groups) > PANELS_MOST:
        raise query.lacks(f"{len(groups)} panels are more than {PANELS_MOST}", "choose with --series")
    if (most := max(map(len, groups))) > SERIES_MOST:
        raise query.lacks(f"{most} series are more than the {SERIES_MOST} of a panel", "choose with --series")
    everyone = [one for group in groups for one in group]
    titles = [name for name in names_that_vary(everyone) if name not in inside]
    named = labelled(*groups, without=titles)
    members = iter(named)
    grouped = [[next(members) for _ in group] for group in groups]
    beside = references_by(query, grouped)
    panels = [_panel(query, mine, titles, known) for mine, known in zip(grouped, beside, strict=True)]
    labels = list(dict.fromkeys(one.label for one in named))
    firsts = [next(one for one in named if one.label == label) for label in labels]
    looks = dict(zip(labels, looks_of(query, firsts, titles), strict=True))
    looks = _seen(panels, looks)
    whole = _drawn(query, panels, looks, len(labels))
    measured = [one for one in named if not one.imported]
    note = intervals(measured) if measured else ""
    lines.caption(whole, title_words(named, (*PLACE,)), note, firsts, list(looks.values()))
    return whole


def _seen(panels: Sequence[Panel], looks: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Looks that are as wide in all panels as the one needs in which most lies over it."""
    found = dict(looks)
    for panel in panels:
        mine = lines.seen_through([looks[one.label] for one in panel.series], panel.pieces)
        for one, look in zip(panel.series, mine, strict=True):
            found[one.label] = max(found[one.label], look, key=lambda it: it.get("linewidth", 0))
    return found


def _panel(query: Query, mine: list[Series], titles: Sequence[str], beside: list[Reference]) -> Panel:
    words = [mine[0].factors[name] for name in titles if name in mine[0].factors]
    short = [word for word in words if word not in UNSAID - {"same-host"}]
    pieces = [pieces_of(one, rate_point) for one in mine]
    return Panel(", ".join(short or words), mine, pieces, ratios.like_with_like(query, mine), beside)


def _drawn(query: Query, panels: Sequence[Panel], looks: dict[str, dict[str, Any]], labels: int) -> Figure:
    columns = min(COLUMNS if style.width_in() > style.NARROW else 1, len(panels))
    rows = -(-len(panels) // columns)
    below = not query.linear and any(any(panel.ratios.pieces) for panel in panels)
    whole = style.paper((3.3 if below else 2.5) * rows + 0.6, 1 + -(-labels // 3))
    heights = [2.0, 1.0] * rows if below else [1.0] * rows
    grid = whole.add_gridspec(len(heights), columns, height_ratios=heights)
    sizes = scales.SizeAxis(
        {size for panel in panels for size in sizes_of(panel.pieces)},
        linear=query.linear,
        most=LABELS_OF_PANEL,
    )
    values = [value for panel in panels for value in values_of(panel.pieces)]
    every = [one for panel in panels for one in panel.beside]
    values += references.near(every, values, linear=query.linear)
    axis = scales.rates("bandwidth", values, query.units.rate, linear=query.linear)
    shared: Any = {"sharex": None, "sharey": None}
    shared_low: Any = {"sharex": None, "sharey": None}
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        upper = whole.add_subplot(grid[(2 if below else 1) * row, column], **shared)
        shared = {"sharex": upper, "sharey": upper} if number == 0 else shared
        upper.set_title(panel.title)
        for place, (one, pieces) in enumerate(zip(panel.series, panel.pieces, strict=True)):
            lines.curve(upper, f"{number}-{place}", looks[one.label], pieces, sizes.x)
        lowest = upper
        if below:
            lowest = whole.add_subplot(grid[2 * row + 1, column], sharex=upper, sharey=shared_low["sharey"])
            shared_low = {"sharey": lowest} if number == 0 else shared_low
            mine = [lines.usual_width(looks[one.label]) for one in panel.series]
            for place, pieces in enumerate(panel.ratios.pieces):
                lines.curve(lowest, f"ratio-{number}-{place}", mine[place], pieces, sizes.x)
            upper.tick_params(labelbottom=False)
        last = number + columns >= len(panels)
        sizes.dress(lowest, "message size" if last else "")
        lowest.tick_params(labelbottom=last)
    _dress(panels, whole.axes, axis, sizes, columns, below=below)
    return whole


def _dress(
    panels: Sequence[Panel],
    axes: Sequence[Any],
    axis: scales.ValueAxis,
    sizes: scales.SizeAxis,
    columns: int,
    *,
    below: bool,
) -> None:
    """Axes with labels on the left only; all ratios on one."""
    uppers, lowers = (axes[::2], axes[1::2]) if below else (axes, [])
    for number, (upper, panel) in enumerate(zip(uppers, panels, strict=True)):
        first = number % columns == 0
        axis.dress(upper, label=first)
        references.draw(upper, panel.beside, sizes, axis)
        upper.tick_params(labelleft=first)
        mark_breaks(upper, panel.series)
    every = [panel.ratios for panel in panels]
    for number, (lower, panel) in enumerate(zip(lowers, panels, strict=bool(lowers))):
        ratios.dress(lower, [panel.ratios, *every])
        mark_breaks(lower, panel.series, named=False)
        lower.tick_params(labelleft=number % columns == 0)
        if number % columns and panel.ratios.below == every[number - 1].below:
            lower.set_ylabel("")
