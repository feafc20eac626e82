"""Drawing of the description of a chart, for figures and for pictures of a report: one loop over curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.query.series import limits_of
from mpigauge.show.figures import lines, scales
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.series import Series
    from mpigauge.show.chart import Chart

STRIP, LINE = 0.045, 0.06
"""Heights of the hatched strip over sizes that would deadlock, and of its label, as shares of the axes."""


def draw(
    axes: Any, chart: Chart, name: str = "", most: int | None = None, low: Any = None, low_name: str = ""
) -> None:
    """Draw curves, axes and marks.

    Args:
        name: Prefix of the SVG ids of its curves.
        most: Most sizes with a label; None for as many as fit.
        low: Axes of what stands below, which share that of the sizes; None if nothing does.
        low_name: Prefix of the SVG ids of the curves there.
    """
    sizes = size_axis(chart, most)
    draw_curves(axes, chart, sizes.x if chart.across == "size" else float, name)
    if low is not None:
        draw_curves(low, chart, sizes.x, low_name, below=True)
        axes.tick_params(labelbottom=False)
        mark_breaks(low, chart.limits_of, named=False)
    if chart.across == "size":
        sizes.set_up(axes if low is None else low, chart.across_label)
    else:
        axes.set_xlabel(chart.across_label)
    set_up_values(axes, chart)
    mark_breaks(axes, chart.limits_of)


def draw_curves(
    axes: Any, chart: Chart, place: Callable[[float], float] = float, name: str = "", *, below: bool = False
) -> None:
    """Draw the curves of a chart.

    Args:
        place: Position on the horizontal axis.
        name: Prefix of the SVG ids of its curves.
        below: Whether to draw what stands below instead.
    """
    numbered = [*enumerate(chart.below if below else chart.curves)]
    for number, curve in reversed(numbered) if chart.first_in_front else numbered:
        lines.curve(axes, curve.gid or f"{name}{number}", curve.style, curve.pieces, place)


def stacked(whole: Figure, charts: Sequence[Chart]) -> Any:
    """Draw charts of the same sizes below each other, and return the axes of the first."""
    if len(charts) > 1:
        every = whole.subplots(len(charts), 1, sharex=True, height_ratios=(1.8, *[1] * (len(charts) - 1)))
    else:
        every = [whole.add_subplot()]
    sizes = size_axis(charts[0])
    for axes, chart in zip(every, charts, strict=True):
        draw_curves(axes, chart, sizes.x)
    sizes.set_up(every[-1], charts[0].across_label)
    for axes, chart in zip(every, charts, strict=True):
        set_up_values(axes, chart)
        mark_breaks(axes, chart.limits_of, named=axes is every[0])
    return every[0]


def size_axis(chart: Chart, most: int | None = None) -> scales.SizeAxis:
    """Return the axis of the sizes of a chart."""
    return scales.SizeAxis(chart.sizes, linear=chart.linear or chart.across != "size", most=most)


def value_axis(chart: Chart) -> scales.ValueAxis:
    """Return the vertical axis of a chart of times or rates."""
    make = scales.rates if chart.quantity == "rate" else scales.times
    return make(chart.what, chart.values, chart.unit, linear=chart.linear)


def set_up_values(axes: Any, chart: Chart) -> None:
    """Set scale, ticks and label of the vertical axis, and draw its levels, after all curves are drawn."""
    for level in chart.levels:
        axes.axhline(level, color="0.45", linewidth=0.8, zorder=1)
    axes.set_ylabel(chart.what)
    match chart.quantity:
        case "time" | "rate":
            value_axis(chart).set_up(axes)
        case "ratio" if min(chart.values) > 0 and max(chart.values) > LOG_FROM * min(chart.values):
            axes.set_yscale("log")
            scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")
        case "share":
            if chart.span != (None, None):
                axes.set_ylim(*chart.span)
            axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
        case _:
            pass


# ---- Marks of eager limits -----------------------------------------------------------------------


def mark_breaks(axes: Any, curves: Sequence[Series], *, named: bool = True) -> None:
    """Mark the eager limits among the sizes, where curves are broken, and sizes that would deadlock.

    The axes must have their range.
    """
    if not curves:
        return
    sizes = [row.cell.bytes for curve in curves for row in curve.rows]
    for limit, words in limits_of(curves).items():
        if min(sizes) <= limit < max(sizes):
            lines.mark(axes, limit, f"eager-{limit}", words if named else "", lines.BREAK_DASHES)
    if named:
        _mark_blocked(axes, curves)


def _mark_blocked(axes: Any, curves: Sequence[Series]) -> None:
    """Hatch a strip over the sizes that were not measured since they would deadlock, and label it."""
    for number, ((since, begin), labels) in enumerate(_blocked(curves).items()):
        words = f"{_common_label(labels)} would deadlock {since} {format_size(begin)}"
        low, right = number * (STRIP + LINE), axes.get_xlim()[1]
        strip = axes.axvspan(begin, right, low, low + STRIP, **_HATCHED)
        strip.set_gid(f"blocked-{number}")
        lines.write_note(axes, low + 1.2 * STRIP, words, "bottom")


def _blocked(curves: Sequence[Series]) -> dict[tuple[str, int], list[str]]:
    """Return the labels of the series that would deadlock, by the word and size of where that begins."""
    labels: dict[tuple[str, int], list[str]] = {}
    for curve in curves:
        sizes = [row.cell.bytes for row in curve.rows if row.status == "blocked"]
        if sizes:
            known = [limit for limit in curve.breaks if limit < min(sizes)]
            begin = ("above", max(known)) if known else ("from", min(sizes))
            labels.setdefault(begin, []).append(curve.label)
    return labels


def _common_label(labels: Sequence[str]) -> str:
    """Return the words that labels have in common; all labels if there are none."""
    words = [label.split(", ") for label in labels]
    common = [word for word in words[0] if all(word in others for others in words)]
    return ", ".join(common) or "; ".join(labels)


_HATCHED: Any = {"facecolor": "none", "edgecolor": "0.45", "hatch": "//////", "linewidth": 0}
