"""Figure of the link map: latency and rate of every pair, slow ones bright, ordered by group."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter, ScalarFormatter

from mpigauge import units
from mpigauge.errors import UsageError
from mpigauge.linkmap.linkmap import link_map
from mpigauge.linkmap.table import verdict_lines
from mpigauge.linkmap.verdict import latency_of, rate_of
from mpigauge.query.kinds import maker
from mpigauge.query.series import CROWDED
from mpigauge.show.figures import FORMS, MAKERS, check_place, lines, style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.linkmap.verdict import MeasuredLink
    from mpigauge.query.query import Query
    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values

COLOURS = "cividis"
"""Readable for all kinds of colour vision; its lightness alone gives the order, so also in grey."""

MAX_NUMBERS, MAX_LARGE_DIGITS = 12, 6
MAX_LABELS = 48
MIN_INCHES, MAX_INCHES = 4.0, 12.0
WITH_SCALE = 1.2
"""Width of a panel with its scale of colours, in heights of it."""

DIGITS_INCHES = 0.3
"""Least width of a square with a number in it."""

BRIGHT = 0.55
DECADE = 10
LEAST_SPAN = 1.33
UNSEEN: Any = {"markerfacecolor": "none", "markeredgewidth": 0, "linestyle": "none"}
POINTS_AN_INCH = 72
MAX_VERDICTS = 4
"""Most lines of the verdict above the figure."""


def check(path: Path) -> None:
    """Refuse a file name whose suffix is no figure format, or whose folder does not exist.

    Raises:
        UsageError: The name is one of these, or of another file.
    """
    check_place(path)
    if path.suffix.lower() not in FORMS:
        raise UsageError(f"--figure: {path} is not the name of a figure", f"end it in {', '.join(FORMS)}")
    if not os.path.isdir(path.parent):  # noqa: PTH112 - Path raises at names too long
        raise UsageError(f"--figure: there is no folder {path.parent}", "give another --figure")


def draw(shown: LinkMap, path: Path, origin: str) -> None:
    """Draw the figure into a file, in the format of its suffix.

    Args:
        origin: Where and when it was measured.

    Raises:
        UsageError: The suffix is unknown.
        EnvironmentLacksError: The file cannot be written.
    """
    check(path)
    whole = figure(shown)
    lines.origin(whole, [origin])
    style.save(whole, path)


@maker(MAKERS, "map")
def map_figure(query: Query) -> Figure:
    """Draw latency and bandwidth of all pairs."""
    if len(query.sources) > 1:
        raise query.lacks("a map is of one result", "give one RESULT")
    with mpl.rc_context({"axes.grid": False, "axes.spines.top": True, "axes.spines.right": True}):
        return figure(link_map(query.sources[0].result), query.paper.width_in)


def figure(shown: LinkMap, width_in: float | None = None) -> Figure:
    """Draw both panels, below each other in a narrow figure.

    Args:
        width_in: Width in inches; None for one by the number of hosts.
    """
    whole = figure_of(panels(shown), shown, width_in)
    whole.suptitle(_title(shown), fontsize="medium")
    return whole


@dataclass(frozen=True, slots=True)
class PairGrid:
    """One quantity of all pairs, in a square each.

    Attributes:
        get: Returns its value for a pair, in SI units.
        row: Returns the row that it was measured in.
        is_rate: Whether it is a bandwidth, of which the largest is the fastest.
    """

    title: str
    get: Callable[[MeasuredLink], float | None]
    row: Callable[[MeasuredLink], Row | None]
    is_rate: bool


def panels(shown: LinkMap) -> list[PairGrid]:
    """Return latency and bandwidth, as far as the map has them."""
    grids = []
    if shown.latency_bytes is not None:
        size = units.format_size(shown.latency_bytes)
        grids.append(PairGrid(f"latency of {size}", latency_of, lambda link: link.latency, is_rate=False))
    if shown.rate_bytes is not None:
        size = units.format_size(shown.rate_bytes)
        grids.append(PairGrid(f"bandwidth of {size}", rate_of, lambda link: link.rate, is_rate=True))
    return grids


def figure_of(grids: Sequence[PairGrid], shown: LinkMap, width_in: float | None = None) -> Figure:
    """Return panels without a title.

    Args:
        width_in: Width in inches; None for one by the number of hosts.
    """
    order = _order(shown)
    columns = 1 if width_in is not None and width_in <= style.NARROW else len(grids)
    side = min(MAX_INCHES, max(MIN_INCHES, 0.5 * len(order) + 1.5))
    side = side if width_in is None else width_in / columns / WITH_SCALE
    rows = len(grids) // columns
    whole = Figure(figsize=(side * WITH_SCALE * columns, side * rows + 0.9), layout="constrained")
    FigureCanvasAgg(whole)
    for place, grid in enumerate(grids, start=1):
        axes = whole.add_subplot(rows, columns, place)
        _panel(axes, shown, order, grid.title, grid.get, fast_is_large=grid.is_rate)
    return whole


def squares(whole: Figure, panel: PairGrid, shown: LinkMap) -> tuple[dict[str, list[str]], float]:
    """Add an invisible mark per square to a figure of one panel, in a series per rank.

    Returns the texts of the marks by the SVG id of their series, and the side of a square in points.
    """
    order = _order(shown)
    place = {rank: number for number, rank in enumerate(order)}
    whole.draw_without_rendering()
    axes = whole.axes[0]
    side = axes.get_window_extent().width / len(order) * POINTS_AN_INCH / whole.dpi
    by_rank: dict[int, list[tuple[int, str]]] = {}
    for link in shown.links:
        i, j = (place[rank] for rank in link.ranks)
        words = _text_of_pair(panel, link)
        by_rank.setdefault(i, []).append((j, words))
        by_rank.setdefault(j, []).append((i, words))
    for i, marks_of_rank in sorted(by_rank.items()):
        marks_of_rank.sort()
        (marks,) = axes.plot(
            [j for j, _ in marks_of_rank], [i] * len(marks_of_rank), "s", markersize=side, **UNSEEN
        )
        marks.set_gid(f"points-{i}")
    return {
        f"points-{i}": [words for _, words in marks_of_rank] for i, marks_of_rank in by_rank.items()
    }, side


def _text_of_pair(panel: PairGrid, link: MeasuredLink) -> str:
    value, row = panel.get(link), panel.row(link)
    write = units.format_rate if panel.is_rate else units.format_time
    lines = [
        " \N{EN DASH} ".join(link.names),
        f"{panel.title}: {'not measured' if value is None else write(value)}",
    ]
    if row is not None and row.time is not None and row.time.launches:
        lines.append(f"launches: {row.time.launches}")
    return "\n".join(lines)


def _title(shown: LinkMap) -> str:
    verdict = [line.text for line in verdict_lines(shown)]
    more = [f"and {len(verdict) - MAX_VERDICTS} more"] if len(verdict) > MAX_VERDICTS else []
    crowded = any(row.oversubscribed for link in shown.links for row in link.rows)
    words = ", ".join([shown.cell.job.name, *([f"{CROWDED}: more ranks than cores"] if crowded else [])])
    return "\n".join([words, *verdict[:MAX_VERDICTS], *more])


def _order(shown: LinkMap) -> list[int]:
    """Return ranks by group; those of a host are adjacent."""
    place = {name: number for number, group in enumerate(shown.verdict.groups) for name in group}

    def group_of(rank: int) -> int:
        name = shown.names[rank]
        return place.get(name, place.get(name.rpartition(":")[0], 0))

    return sorted(range(len(shown.names)), key=lambda rank: (group_of(rank), rank))


def _panel(
    axes: Any,
    shown: LinkMap,
    order: Sequence[int],
    title: str,
    get: Callable[[MeasuredLink], float | None],
    *,
    fast_is_large: bool,
) -> None:
    """Draw one matrix, where slow pairs are bright whichever the quantity."""
    values = _matrix(shown, order, get)
    known = values[np.isfinite(values)]
    axes.set_title(title)
    _ticks(axes, shown, order)
    if known.size == 0:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center")
        return
    unit = (units.rate_unit if fast_is_large else units.time_unit)(known.tolist())
    scale = (units.RATE_UNITS if fast_is_large else units.TIME_UNITS)[unit]
    low, high = _range(known / scale, fast_is_large=fast_is_large)
    norm = LogNorm(low, high)
    colours = COLOURS + ("_r" if fast_is_large else "")
    image = axes.imshow(values / scale, cmap=colours, norm=norm)
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.8)
    bar.ax.yaxis.set_major_formatter(ScalarFormatter())
    # Over a decade or more, labels between the powers of ten would overlap.
    between = ScalarFormatter() if high < DECADE * low else NullFormatter()
    bar.ax.yaxis.set_minor_formatter(between)
    bar.ax.set_title(units.unit_symbol(unit), fontsize="medium")
    if len(order) <= MAX_NUMBERS and _inches(axes) >= len(order) * DIGITS_INCHES:
        name = "rate" if fast_is_large else "latency"
        _numbers(axes, name, values / scale, norm, fast_is_large=fast_is_large)
    _borders(axes, shown, order)
    _marks(axes, shown, order, fast_is_large=fast_is_large)


def _inches(axes: Any) -> float:
    """Return the width of axes before they are laid out."""
    return float(axes.get_window_extent().width) / float(axes.figure.dpi)


def _range(known: Values, *, fast_is_large: bool) -> tuple[float, float]:
    """Return the range of the scale: from the fastest to the slowest, but wide enough to hide noise."""
    low, high = float(known.min()), float(known.max())
    low, high = (min(low, high / LEAST_SPAN), high) if fast_is_large else (low, max(high, low * LEAST_SPAN))
    return low / 1.05, high * 1.05


def _matrix(shown: LinkMap, order: Sequence[int], get: Callable[[MeasuredLink], float | None]) -> Values:
    place = {rank: number for number, rank in enumerate(order)}
    values = np.full((len(order), len(order)), math.nan)
    for link in shown.links:
        value = get(link)
        i, j = (place[rank] for rank in link.ranks)
        values[i, j] = values[j, i] = math.nan if value is None else value
    return values


def _ticks(axes: Any, shown: LinkMap, order: Sequence[int]) -> None:
    step = -(-len(order) // MAX_LABELS)
    places = range(0, len(order), step)
    labels = [shown.names[order[place]] for place in places]
    crowded = sum(map(len, labels)) > 3 * MAX_NUMBERS or max(map(len, labels)) > 3  # noqa: PLR2004 - they touch
    turned = {"rotation": 90} if crowded else {}
    axes.set_xticks(places, labels, **turned)
    axes.set_yticks(places, labels)
    axes.patch.set(facecolor="white", edgecolor="0.7", hatch="////")  # cells without a value


def _numbers(axes: Any, name: str, values: Values, norm: LogNorm, *, fast_is_large: bool) -> None:
    size = "medium" if len(values) <= MAX_LARGE_DIGITS else "x-small"
    for (i, j), value in np.ndenumerate(values):
        if math.isfinite(value):
            lightness = float(norm(value))
            bright = (1 - lightness if fast_is_large else lightness) > BRIGHT
            colour = "black" if bright else "white"
            words = axes.text(
                j, i, units.format_factor(value), ha="center", va="center", fontsize=size, color=colour
            )
            words.set_gid(f"{name}-{i}-{j}")


def _borders(axes: Any, shown: LinkMap, order: Sequence[int]) -> None:
    """Draw lines between groups."""
    names = [shown.names[rank] for rank in order]
    members = [
        [name for name in names if name in group or name.rpartition(":")[0] in group]
        for group in shown.verdict.groups
    ]
    edge = -0.5
    for group in members[:-1]:
        edge += len(group)
        axes.axhline(edge, color="white", linewidth=2)
        axes.axvline(edge, color="white", linewidth=2)


def _marks(axes: Any, shown: LinkMap, order: Sequence[int], *, fast_is_large: bool) -> None:
    """Draw frames around slow links, and around rows and columns of slow hosts.

    They are dashed around what is slow in some launches only.
    """
    ends = [{shown.names[rank], shown.names[rank].rpartition(":")[0]} for rank in order]
    for slow in (*shown.verdict.links, *shown.verdict.hosts):
        if (extent := slow.rate if fast_is_large else slow.latency) is None:
            continue
        line: Any = {"edgecolor": "red", "linewidth": 2.5, "linestyle": "--" if extent.flaky else "-"}
        for left, top, width, height in _boxes(slow.names, ends):
            axes.add_patch(Rectangle((left - 0.5, top - 0.5), width, height, fill=False, **line))


def _boxes(names: tuple[str, ...], ends: Sequence[set[str]]) -> Iterator[tuple[int, int, int, int]]:
    """Return the cells of a link, or the row and column of a host: left, top, width and height."""
    for i, row in enumerate(ends):
        if len(names) == 1 and names[0] in row:
            yield 0, i, len(ends), 1
            yield i, 0, 1, len(ends)
        for j, column in enumerate(ends):
            if len(names) > 1 and i != j and {*names} in ({a, b} for a in row for b in column):
                yield j, i, 1, 1
