"""Panels side by side on shared axes: send modes with one panel per place, placements with one panel each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.curves import (
    INTERVALS,
    dress_ratios,
    mark_breaks,
    ratios,
    sizes_of,
    values_of,
)
from mpigauge.show.registry import maker
from mpigauge.show.series import (
    FILE,
    against_size,
    common_words,
    labelled,
    names_that_vary,
    pieces_of,
    rate_point,
)
from mpigauge.show.words.factors import UNSAID

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from matplotlib.figure import Figure

    from mpigauge.show.figures.curves import Pieces
    from mpigauge.show.query import Query
    from mpigauge.show.series import Series

PLACE = ("transport", "placement")
PANELS_MOST = 6
LABELS_OF_PANEL = 5
COLUMNS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Series that are drawn into one pair of axes: values, and their ratios below."""

    title: str
    series: list[Series]
    pieces: list[Pieces]
    ratios: list[Pieces]


@maker(MAKERS, "modes")
def modes_figure(query: Query) -> Figure:
    """Rates of the modes of a pattern, a panel for everything else."""
    groups = [group for group in _by(_rated(query), {"mode"}) if len(group) > 1]
    if not groups:
        raise query.lacks("no pattern that moves bytes was measured in two modes")
    return _panels(query, groups, {"mode"})


@maker(MAKERS, "placements")
def placements_figure(query: Query) -> Figure:
    """Bandwidths, one panel per placement and transport; results side by side if they have the same."""
    found = _rated(query)
    varying = set(names_that_vary(found))
    keys = varying & {*PLACE} or varying & {FILE}
    if not keys:
        raise query.lacks("only one placement and transport was measured")
    return _panels(query, _by(found, _all_names(found) - keys), varying - keys)


def _all_names(found: Sequence[Series]) -> set[str]:
    return {name for one in found for name in one.factors}


def _rated(query: Query) -> list[Series]:
    return against_size(query, lambda row: row.rate_bytes_per_s is not None or row.time is None)


def _by(found: Sequence[Series], without: Collection[str]) -> list[list[Series]]:
    """Groups that are equal but for these factors."""
    groups: dict[tuple[tuple[str, str], ...], list[Series]] = {}
    for one in found:
        key = tuple((name, word) for name, word in one.factors.items() if name not in without)
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _panels(query: Query, groups: Sequence[Sequence[Series]], inside: Collection[str]) -> Figure:
    """Series told apart by what is inside a panel, panels by the rest."""
    if len(groups) > PANELS_MOST:
        raise query.lacks(f"{len(groups)} panels are more than {PANELS_MOST}", "choose with --series")
    everyone = [one for group in groups for one in group]
    titles = [name for name in names_that_vary(everyone) if name not in inside]
    named = labelled(*groups, without=titles)
    members = iter(named)
    panels = [_panel([next(members) for _ in group], titles) for group in groups]
    labels = list(dict.fromkeys(one.label for one in named))
    looks = {
        label: lines.look(number, imported=next(one for one in named if one.label == label).imported)
        for number, label in enumerate(labels)
    }
    whole = _drawn(query, panels, looks, len(labels))
    measured = [one for one in named if not one.imported]
    firsts = [next(one for one in named if one.label == label) for label in labels]
    note = INTERVALS if measured else ""
    lines.caption(whole, common_words(named, PLACE), note, firsts, list(looks.values()))
    return whole


def _panel(mine: list[Series], titles: Sequence[str]) -> Panel:
    words = [mine[0].factors[name] for name in titles if name in mine[0].factors]
    short = [word for word in words if word not in UNSAID - {"same-host"}]
    pieces = [pieces_of(one, rate_point) for one in mine]
    return Panel(", ".join(short or words), mine, pieces, ratios(mine))


def _drawn(query: Query, panels: Sequence[Panel], looks: dict[str, dict[str, Any]], labels: int) -> Figure:
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    below = not query.linear and any(any(panel.ratios) for panel in panels)
    whole = style.paper((3.3 if below else 2.5) * rows + 0.6, 1 + -(-labels // 3))
    heights = [2.0, 1.0] * rows if below else [1.0] * rows
    grid = whole.add_gridspec(len(heights), columns, height_ratios=heights)
    sizes = scales.SizeAxis(
        {size for panel in panels for size in sizes_of(panel.pieces)},
        linear=query.linear,
        most=LABELS_OF_PANEL,
    )
    values = [value for panel in panels for value in values_of(panel.pieces)]
    axis = scales.rates("bandwidth", values, query.units.rate, linear=query.linear)
    room_for_limits = any(one.breaks for panel in panels for one in panel.series)
    shared: Any = {"sharex": None, "sharey": None}
    shared_low: Any = {"sharex": None, "sharey": None}
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        upper = whole.add_subplot(grid[(2 if below else 1) * row, column], **shared)
        shared = {"sharex": upper, "sharey": upper} if number == 0 else shared
        upper.set_title(panel.title, pad=14 if room_for_limits else 6)
        for one, pieces in zip(panel.series, panel.pieces, strict=True):
            name = f"{number}-{panel.series.index(one)}"
            lines.curve(upper, name, looks[one.label], pieces, sizes.x)
        mark_breaks(upper, panel.series)
        lowest = upper
        if below:
            lowest = whole.add_subplot(grid[2 * row + 1, column], sharex=upper, sharey=shared_low["sharey"])
            shared_low = {"sharey": lowest} if number == 0 else shared_low
            for one, pieces in zip(panel.series[1:], panel.ratios[1:], strict=True):
                name = f"ratio-{number}-{panel.series.index(one)}"
                lines.curve(lowest, name, looks[one.label], pieces, sizes.x)
            mark_breaks(lowest, panel.series, named=False)
            upper.tick_params(labelbottom=False)
        last = number + columns >= len(panels)
        sizes.dress(lowest, "message size" if last else "")
        lowest.tick_params(labelbottom=last)
    _dress(panels, whole.axes, axis, columns, below=below)
    return whole


def _dress(
    panels: Sequence[Panel], axes: Sequence[Any], axis: scales.ValueAxis, columns: int, *, below: bool
) -> None:
    """Axes with labels on the left only; all ratios on one."""
    uppers, lowers = (axes[::2], axes[1::2]) if below else (axes, [])
    for number, upper in enumerate(uppers):
        first = number % columns == 0
        axis.dress(upper, label=first)
        upper.tick_params(labelleft=first)
    every = [pieces for panel in panels for pieces in panel.ratios]
    for number, (lower, panel) in enumerate(zip(lowers, panels, strict=bool(lowers))):
        dress_ratios(lower, every, panel.series)
        lower.tick_params(labelleft=number % columns == 0)
        if number % columns:
            lower.set_ylabel("")
