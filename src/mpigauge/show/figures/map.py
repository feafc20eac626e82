"""The link map as a figure: latency and rate of every pair, slow ones bright, in the order of the groups."""

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
from mpigauge.inputs import check_output
from mpigauge.linkmap.linkmap import link_map
from mpigauge.linkmap.table import latency_of, rate_of, verdict_lines
from mpigauge.query.kinds import maker
from mpigauge.query.series import CROWDED
from mpigauge.show.figures import FORMS, MAKERS, lines, style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.linkmap.verdict import MeasuredLink
    from mpigauge.query.query import Query
    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values

COLOURS = "cividis"
"""Seen alike by all kinds of colour vision, and its lightness alone tells the order: readable in grey."""

NUMBERS_MOST, LARGE_DIGITS_MOST = 12, 6
LABELS_MOST = 48
INCHES_LEAST, INCHES_MOST = 4.0, 12.0
BRIGHT = 0.55
DECADE = 10
LEAST_SPAN = 1.33
UNSEEN: Any = {"markerfacecolor": "none", "markeredgewidth": 0, "linestyle": "none"}
POINTS_AN_INCH = 72
VERDICTS_MOST = 4
"""Lines of the verdict above the figure."""


def check(path: Path) -> None:
    """Refuses a name that says no form of a figure, or is in no folder.

    Raises:
        UsageError: It is one of these.
    """
    check_output(path)
    if path.suffix.lower() not in FORMS:
        raise UsageError(f"--figure: {path} is not the name of a figure", f"end it in {', '.join(FORMS)}")
    if not os.path.isdir(path.parent):  # noqa: PTH112 - Path raises at names too long
        raise UsageError(f"--figure: there is no folder {path.parent}", "give another --figure")


def draw(shown: LinkMap, path: Path, origin: str) -> None:
    """Writes the figure; its form is that of the file's name.

    Args:
        origin: Where and when it was measured.

    Raises:
        UsageError: The name ends in another form.
        EnvironmentLacksError: The file cannot be written.
    """
    check(path)
    whole = figure(shown)
    lines.origin(whole, [origin])
    style.save(whole, path)


@maker(MAKERS, "map")
def map_figure(query: Query) -> Figure:
    """Latency and bandwidth of all pairs."""
    if len(query.sources) > 1:
        raise query.lacks("a map is of one result", "give one RESULT")
    with mpl.rc_context({"axes.grid": False, "axes.spines.top": True, "axes.spines.right": True}):
        return figure(link_map(query.sources[0].result))


def figure(shown: LinkMap) -> Figure:
    """Both panels."""
    whole = figure_of(panels(shown), shown)
    whole.suptitle(_title(shown), fontsize="medium")
    return whole


@dataclass(frozen=True, slots=True)
class PairGrid:
    """One quantity of all pairs, a square per pair.

    Attributes:
        get: Its value for a pair, in SI units.
        row: What it was measured in.
        is_rate: Whether it is a bandwidth, of which the largest is the fastest.
    """

    title: str
    get: Callable[[MeasuredLink], float | None]
    row: Callable[[MeasuredLink], Row | None]
    is_rate: bool


def panels(shown: LinkMap) -> list[PairGrid]:
    """Return latency and bandwidth, as far as the map has them."""
    found = []
    if shown.latency_bytes is not None:
        size = units.format_size(shown.latency_bytes)
        found.append(PairGrid(f"latency of {size}", latency_of, lambda link: link.latency, is_rate=False))
    if shown.rate_bytes is not None:
        size = units.format_size(shown.rate_bytes)
        found.append(PairGrid(f"bandwidth of {size}", rate_of, lambda link: link.rate, is_rate=True))
    return found


def figure_of(found: Sequence[PairGrid], shown: LinkMap) -> Figure:
    """Return panels beside each other, without a title."""
    order = _order(shown)
    side = min(INCHES_MOST, max(INCHES_LEAST, 0.5 * len(order) + 1.5))
    whole = Figure(figsize=(side * 1.2 * len(found), side + 0.9), layout="constrained")
    FigureCanvasAgg(whole)
    for place, one in enumerate(found, start=1):
        axes = whole.add_subplot(1, len(found), place)
        _panel(axes, shown, order, one.title, one.get, fast_is_large=one.is_rate)
    return whole


def squares(whole: Figure, panel: PairGrid, shown: LinkMap) -> tuple[dict[str, list[str]], float]:
    """Lay a mark that is not seen on every square of a figure of one panel, a series per rank.

    Returns:
        By the name of each series in SVG, what its marks say; and their side in points of print.
    """
    order = _order(shown)
    place = {rank: number for number, rank in enumerate(order)}
    whole.draw_without_rendering()
    axes = whole.axes[0]
    side = axes.get_window_extent().width / len(order) * POINTS_AN_INCH / whole.dpi
    by_rank: dict[int, list[tuple[int, str]]] = {}
    for link in shown.links:
        i, j = (place[rank] for rank in link.ranks)
        words = _said(panel, link)
        by_rank.setdefault(i, []).append((j, words))
        by_rank.setdefault(j, []).append((i, words))
    for i, mine in sorted(by_rank.items()):
        mine.sort()
        (marks,) = axes.plot([j for j, _ in mine], [i] * len(mine), "s", markersize=side, **UNSEEN)
        marks.set_gid(f"points-{i}")
    return {f"points-{i}": [words for _, words in mine] for i, mine in by_rank.items()}, side


def _said(panel: PairGrid, link: MeasuredLink) -> str:
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
    more = [f"and {len(verdict) - VERDICTS_MOST} more"] if len(verdict) > VERDICTS_MOST else []
    crowded = any(row.oversubscribed for link in shown.links for row in link.rows)
    words = ", ".join([shown.cell.job.name, *([f"{CROWDED}: more ranks than cores"] if crowded else [])])
    return "\n".join([words, *verdict[:VERDICTS_MOST], *more])


def _order(shown: LinkMap) -> list[int]:
    """Ranks by group; those of a host stay together."""
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
    """One matrix; what is slow is bright in either."""
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
    # Over a decade and more, numbers between the powers of ten would touch each other.
    between = ScalarFormatter() if high < DECADE * low else NullFormatter()
    bar.ax.yaxis.set_minor_formatter(between)
    bar.ax.set_title(units.sign(unit), fontsize="medium")
    if len(order) <= NUMBERS_MOST:
        name = "rate" if fast_is_large else "latency"
        _numbers(axes, name, values / scale, norm, fast_is_large=fast_is_large)
    _borders(axes, shown, order)
    _marks(axes, shown, order, fast_is_large=fast_is_large)


def _range(known: Values, *, fast_is_large: bool) -> tuple[float, float]:
    """From the fastest to the slowest, and to at least a quarter less: noise shall not look like trouble."""
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
    step = -(-len(order) // LABELS_MOST)
    places = range(0, len(order), step)
    labels = [shown.names[order[place]] for place in places]
    crowded = sum(map(len, labels)) > 3 * NUMBERS_MOST or max(map(len, labels)) > 3  # noqa: PLR2004 - they touch
    turned = {"rotation": 90} if crowded else {}
    axes.set_xticks(places, labels, **turned)
    axes.set_yticks(places, labels)
    axes.patch.set(facecolor="white", edgecolor="0.7", hatch="////")  # where there is no value


def _numbers(axes: Any, name: str, values: Values, norm: LogNorm, *, fast_is_large: bool) -> None:
    size = "medium" if len(values) <= LARGE_DIGITS_MOST else "x-small"
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
    """Lines between groups."""
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
    """Frames around links, and rows and columns of hosts, that are slow in what the panel shows.

    They are dashed around what is slow in some launches only.
    """
    ends = [{shown.names[rank], shown.names[rank].rpartition(":")[0]} for rank in order]
    for one in (*shown.verdict.links, *shown.verdict.hosts):
        if (extent := one.rate if fast_is_large else one.latency) is None:
            continue
        line: Any = {"edgecolor": "red", "linewidth": 2.5, "linestyle": "--" if extent.flaky else "-"}
        for left, top, width, height in _boxes(one.names, ends):
            axes.add_patch(Rectangle((left - 0.5, top - 0.5), width, height, fill=False, **line))


def _boxes(names: tuple[str, ...], ends: Sequence[set[str]]) -> Iterator[tuple[int, int, int, int]]:
    """Places of a link, or the row and the column of a host: left, top, width and height."""
    for i, row in enumerate(ends):
        if len(names) == 1 and names[0] in row:
            yield 0, i, len(ends), 1
            yield i, 0, 1, len(ends)
        for j, column in enumerate(ends):
            if len(names) > 1 and i != j and {*names} in ({a, b} for a in row for b in column):
                yield j, i, 1, 1
