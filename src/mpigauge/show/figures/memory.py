"""Figures of messages compared with copies in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from mpigauge.find.memory_costs import LIMITS, cache_levels
from mpigauge.query.kinds import maker
from mpigauge.query.series import (
    Point,
    against_size,
    choose_series,
    factors_of,
    grouped,
    pieces_of,
    rate_point,
    timed_rows,
)
from mpigauge.rows.baselines import CHASES, MESSAGES, YARDSTICKS
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import draw_curves, mark_breaks, size_axis, stacked
from mpigauge.show.figures.curves import described, finish, intervals, legend_rows, looks_of
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
    """Draw rates of messages and copies, with the sizes of caches."""
    shown = MESSAGES | COPIES
    curves = against_size(query, lambda row: row.cell.pattern in shown)
    curves = [curve for curve in curves if any(map(rate_point, curve.rows))]
    patterns = {curve.factors["pattern"] for curve in curves}
    if not patterns & COPIES:
        raise query.lacks(f"no copies were measured: {', '.join(sorted(COPIES))}")
    pieces = [pieces_of(curve, rate_point) for curve in curves]
    chart = described(query, curves, pieces, "rate", "bandwidth")
    whole = style.paper(3.8, legend_rows(curves))
    axes = stacked(whole, [replace(chart, across_label="size", limits_of=())])
    marked = _mark_caches(axes, query, chart.sizes)
    halved = "; copies have their bytes twice, so they leave a cache at half of its size" if marked else ""
    finish(whole, query, curves, looks_of(chart), intervals(curves) + halved)
    return whole


def _mark_caches(axes: Any, query: Query, sizes: set[float]) -> bool:
    """Draw a line per cache level, where a pointer chase saw it, or as the system reports it.

    The axes must have their range.
    """
    levels = _measured_levels(query.sources[0]) or _reported_levels(query.sources[0])
    shown = [(name, size, size / 2) for name, size in levels if min(sizes) < size / 2 < max(sizes)]
    for name, size, place in shown:
        lines.mark(axes, place, f"cache-{size}", f"half of {name} ({_about(size)})", lines.MARK_DASHES)
    return bool(shown)


def _about(size_bytes: int) -> str:
    """Return a size in two digits; a measured capacity is no more precise."""
    rounded = {unit: float(f"{size_bytes / SIZE_UNITS[unit]:.2g}") for unit in ("MiB", "KiB", "B")}
    return next(f"{value:g} {unit}" for unit, value in rounded.items() if value >= 1)


def _measured_levels(source: Source) -> list[tuple[str, int]]:
    chase = [row for row in source.rows if row.cell.pattern in CHASES and row.time is not None]
    rows_of_job = [row for row in chase if row.cell.job == chase[0].cell.job]
    levels = cache_levels(
        [row.cell.bytes for row in rows_of_job], [row.time.estimate for row in rows_of_job if row.time]
    )
    known = [level.capacity_bytes for level in levels if level.capacity_bytes]
    return [(f"L{number}", capacity) for number, capacity in enumerate(known, start=1)]


def _reported_levels(source: Source) -> list[tuple[str, int]]:
    caches = measured_machine(source.result).caches
    data = {name.split()[0]: size for name, size in caches.items() if "Instruction" not in name}
    return [(f"{name} claimed", size) for name, size in sorted(data.items())]


# ---- Ratios --------------------------------------------------------------------------------------


@maker(MAKERS, "memory-ratio")
def memory_ratio_figure(query: Query) -> Figure:
    """Draw times of messages relative to copies of their size."""
    names = [
        name
        for name in YARDSTICKS
        if any(name in row.ratios for source in query.sources for row in source.rows)
    ]
    if not names:
        raise query.lacks("no message was measured beside a copy of its size in the same launches")
    pairs = [
        (source, row)
        for source, row in timed_rows(query)
        if row.cell.pattern in MESSAGES and row.cell.bytes > 0
    ]
    curves: list[Series] = []
    keys: dict[str, str] = {}
    for name in names:
        mine = [(source, row) for source, row in pairs if name in row.ratios]
        for curve in grouped(mine, lambda source, row, name=name: _factors(source, row, name)):  # type: ignore[misc]
            curve.rows.sort(key=lambda row: row.cell.bytes)
            keys[curve.factors[OVER]] = name
            curves.append(curve)
    curves = choose_series(query, curves)
    pieces = [
        pieces_of(curve, lambda row, key=keys[curve.factors[OVER]]: _point(row, key))  # type: ignore[misc]
        for curve in curves
    ]
    curves = [_with_least(curve, mine) for curve, mine in zip(curves, pieces, strict=True)]
    looks = described(query, [_copy_of(curve, keys) for curve in curves], pieces, "ratio")
    chart = replace(looks, limits_of=curves)
    whole = style.paper(3.6, legend_rows(curves))
    axes, sizes = whole.add_subplot(), size_axis(chart)
    draw_curves(axes, chart, sizes.x)
    for number, drawn in enumerate(chart.curves):
        _ring(axes, str(number), drawn.style["color"], _least(drawn.pieces), sizes)
    sizes.set_up(axes)
    limits = _set_up(axes, chart.values, linear=query.linear)
    mark_breaks(axes, curves)
    words = " and ".join(f"{limit:g}" for limit in limits)
    lined = f"; dashed: {words} copies" if limits else ""
    finish(whole, query, curves, looks_of(chart), f"{RATIOS}; ring: the least{lined}")
    return whole


def _copy_of(curve: Series, names: Mapping[str, str]) -> Series:
    """Return the copies that a series is relative to, so that it gets their style."""
    pattern, mode = YARDSTICKS[names[curve.factors[OVER]]]
    message = " ".join(curve.factors[name] for name in ("pattern", "mode") if name in curve.factors)
    rest = {name: word for name, word in curve.factors.items() if name != OVER}
    return replace(curve, factors={**rest, "pattern": pattern, "mode": mode, "message": message})


def _factors(source: Source, row: Row, name: str) -> Factors:
    pattern, mode = YARDSTICKS[name]
    return {**factors_of(source, row), OVER: f"over {pattern}{'' if mode == 'standard' else f' {mode}'}"}


def _point(row: Row, name: str) -> Point | None:
    ratio = row.ratios.get(name)
    return None if ratio is None else Point(row.cell.bytes, ratio.estimate, ratio.low, ratio.high)


def _with_least(curve: Series, pieces: Sequence[Sequence[Point]]) -> Series:
    """Add the least ratio to the label of a series."""
    least = _least(pieces)
    return replace(
        curve, label=f"{curve.label}: least {format_factor(least.y)} at {format_size(int(least.x))}"
    )


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


def _set_up(axes: Any, values: Sequence[float], *, linear: bool) -> list[float]:
    """Set up the axis, draw lines at the limits within its range, and return these limits."""
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
