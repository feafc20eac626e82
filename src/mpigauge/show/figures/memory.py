"""Messages beside copies in memory, and measured in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from mpigauge.find.memory_costs import LIMITS, cache_levels
from mpigauge.query.kinds import maker
from mpigauge.query.series import (
    Point,
    against_size,
    chosen,
    factors_of,
    grouped,
    pieces_of,
    rate_point,
    timed,
)
from mpigauge.rows.baselines import CHASES, MESSAGES, YARDSTICKS
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import mark_breaks, sizes_of, values_of
from mpigauge.show.figures.curves import finish, intervals, labels_of
from mpigauge.show.figures.line_styles import looks_of
from mpigauge.units import SIZE_UNITS, format_factor, format_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

COPIES = frozenset(pattern for pattern, _ in YARDSTICKS.values())
OVER = "over"
RATIOS = "bands: 95 % intervals of ratios paired by launch"


@maker(MAKERS, "memory")
def memory_figure(query: Query) -> Figure:
    """Rates of messages and copies, with the caches."""
    shown = MESSAGES | COPIES
    found = against_size(query, lambda row: row.cell.pattern in shown)
    found = [one for one in found if any(map(rate_point, one.rows))]
    patterns = {one.factors["pattern"] for one in found}
    if not patterns & COPIES:
        raise query.lacks(f"no copies were measured: {', '.join(sorted(COPIES))}")
    pieces = [pieces_of(one, rate_point) for one in found]
    looks = lines.seen_through(looks_of(query, found), pieces)
    whole = style.paper(3.8, lines.legend_rows(labels_of(found)))
    axes = whole.add_subplot()
    sizes = scales.SizeAxis(sizes_of(pieces), linear=query.linear)
    for number, mine in enumerate(pieces):
        lines.curve(axes, str(number), looks[number], mine, sizes.x)
    sizes.dress(axes, "size")
    scales.rates("bandwidth", values_of(pieces), query.units.rate, linear=query.linear).dress(axes)
    marked = _mark_caches(axes, query, sizes_of(pieces))
    halved = "; copies have their bytes twice, so they leave a cache at half of its size" if marked else ""
    finish(whole, query, found, looks, intervals(found) + halved)
    return whole


def _mark_caches(axes: Any, query: Query, sizes: set[float]) -> bool:
    """A line where copies leave each level: as a chase saw it, else as the system claims.

    The axes must have their range.
    """
    levels = _seen(query.sources[0]) or _claimed(query.sources[0])
    shown = [(name, size, size / 2) for name, size in levels if min(sizes) < size / 2 < max(sizes)]
    for name, size, place in shown:
        lines.mark(axes, place, f"cache-{size}", f"half of {name} ({_about(size)})", lines.MARK_DASHES)
    return bool(shown)


def _about(size_bytes: int) -> str:
    """Two digits; a capacity that was seen is no rounder than that."""
    rounded = {unit: float(f"{size_bytes / SIZE_UNITS[unit]:.2g}") for unit in ("MiB", "KiB", "B")}
    return next(f"{value:g} {unit}" for unit, value in rounded.items() if value >= 1)


def _seen(source: Source) -> list[tuple[str, int]]:
    chase = [row for row in source.rows if row.cell.pattern in CHASES and row.time is not None]
    mine = [row for row in chase if row.cell.job == chase[0].cell.job]
    levels = cache_levels([row.cell.bytes for row in mine], [row.time.estimate for row in mine if row.time])
    known = [level.capacity_bytes for level in levels if level.capacity_bytes]
    return [(f"L{number}", capacity) for number, capacity in enumerate(known, start=1)]


def _claimed(source: Source) -> list[tuple[str, int]]:
    caches = measured_machine(source.result).caches
    data = {name.split()[0]: size for name, size in caches.items() if "Instruction" not in name}
    return [(f"{name} claimed", size) for name, size in sorted(data.items())]


# ---- Ratios --------------------------------------------------------------------------------------


@maker(MAKERS, "memory-ratio")
def memory_ratio_figure(query: Query) -> Figure:
    """Messages measured in copies of their size."""
    names = [
        name
        for name in YARDSTICKS
        if any(name in row.ratios for source in query.sources for row in source.rows)
    ]
    if not names:
        raise query.lacks("no message was measured beside a copy of its size in the same launches")
    pairs = [
        (source, row) for source, row in timed(query) if row.cell.pattern in MESSAGES and row.cell.bytes > 0
    ]
    found: list[Series] = []
    keys: dict[str, str] = {}
    for name in names:
        mine = [(source, row) for source, row in pairs if name in row.ratios]
        for one in grouped(mine, lambda source, row, name=name: _factors(source, row, name)):  # type: ignore[misc]
            one.rows.sort(key=lambda row: row.cell.bytes)
            keys[one.factors[OVER]] = name
            found.append(one)
    found = chosen(query, found)
    pieces = [pieces_of(one, lambda row, key=keys[one.factors[OVER]]: _point(row, key)) for one in found]  # type: ignore[misc]
    found = [_with_least(one, mine) for one, mine in zip(found, pieces, strict=True)]
    looks = lines.seen_through(looks_of(query, [_copy_of(one, keys) for one in found]), pieces)
    whole = style.paper(3.6, lines.legend_rows(labels_of(found)))
    axes = whole.add_subplot()
    sizes = scales.SizeAxis(sizes_of(pieces), linear=query.linear)
    for number, mine_ in enumerate(pieces):
        lines.curve(axes, str(number), looks[number], mine_, sizes.x)
        _ring(axes, str(number), looks[number]["color"], _least(mine_), sizes)
    sizes.dress(axes)
    limits = _dress(axes, values_of(pieces), linear=query.linear)
    mark_breaks(axes, found)
    words = " and ".join(f"{limit:g}" for limit in limits)
    lined = f"; dashed: {words} copies" if limits else ""
    finish(whole, query, found, looks, f"{RATIOS}; ring: the least{lined}")
    return whole


def _copy_of(one: Series, names: Mapping[str, str]) -> Series:
    """What it looks like: the copies that it is over, as these look in other figures."""
    pattern, mode = YARDSTICKS[names[one.factors[OVER]]]
    message = " ".join(one.factors[name] for name in ("pattern", "mode") if name in one.factors)
    rest = {name: word for name, word in one.factors.items() if name != OVER}
    return replace(one, factors={**rest, "pattern": pattern, "mode": mode, "message": message})


def _factors(source: Source, row: Row, name: str) -> Factors:
    pattern, mode = YARDSTICKS[name]
    return {**factors_of(source, row), OVER: f"over {pattern}{'' if mode == 'standard' else f' {mode}'}"}


def _point(row: Row, name: str) -> Point | None:
    ratio = row.ratios.get(name)
    return None if ratio is None else Point(row.cell.bytes, ratio.estimate, ratio.low, ratio.high)


def _with_least(one: Series, pieces: Sequence[Sequence[Point]]) -> Series:
    """Its label says what it costs at least."""
    least = _least(pieces)
    return replace(one, label=f"{one.label}: least {format_factor(least.y)} at {format_size(int(least.x))}")


def _least(pieces: Sequence[Sequence[Point]]) -> Point:
    return min((point for piece in pieces for point in piece), key=lambda point: point.y)


def _ring(axes: Any, name: str, colour: str, least: Point, sizes: scales.SizeAxis) -> None:
    (ring,) = axes.plot(
        sizes.x(least.x),
        least.y,
        marker="o",
        markersize=10,
        markerfacecolor="none",
        markeredgecolor=colour,
        linestyle="none",
    )
    ring.set_gid(f"least-{name}")


def _dress(axes: Any, values: Sequence[float], *, linear: bool) -> list[float]:
    """The axis, and lines at the limits among the values; returns these."""
    shown = [limit for limit in LIMITS if min(values) < limit < max(values)]
    for limit in shown:
        axes.axhline(limit, color="0.45", linewidth=0.9, linestyle=lines.MARK_DASHES, zorder=1)
    axes.set_ylabel("time of a message / time of a copy")
    if linear:
        axes.set_ylim(bottom=0)
        return shown
    axes.set_yscale("log")
    axes.set_ylim(min(values) / 1.8, max(values) * 1.3)
    scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    return shown
