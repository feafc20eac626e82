"""Charts as lines of text: time and bandwidth over message size in eight lines of a terminal.

The description of a chart is that of figures and the report. The first curve is a line of braille dots, two
by four to a letter; the second has a letter at each of its points. In ASCII the line is of asterisks.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from mpigauge import units
from mpigauge.find.answer import answers
from mpigauge.find.explain.contrasts import sides_of
from mpigauge.find.fact import weight_of
from mpigauge.plan.factors import SIZE
from mpigauge.query.series import rate_point, time_point
from mpigauge.rows.group import cell_key, of_states
from mpigauge.show.chart import Chart, ChartCurve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.headline import VariedFactors
    from mpigauge.query.query import Source
    from mpigauge.query.series import Point
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row

LINES = 8
"""Lines of charts side by side: titles, plots, sizes, and which curve is which if there are two."""

GAP = 2
MIN_POINTS = 3
"""Fewest sizes of a curve that is drawn."""

HEADS, ROUNDING = (1, 2, 5), 1e-9
"""First digits of round values, and how far a value may be beyond one that it equals."""

LOG_FROM = 3.0
"""Factor between the ends of an axis from which on it is logarithmic."""

BLANK = 0x2800
"""Braille letter without dots."""

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots of a braille letter, by row and column."""

LINE, MARK = "\N{BRAILLE PATTERN DOTS-36}" * 2, "o"
"""Signs of the first curve and of the second."""


# ---- Drawing of a description --------------------------------------------------------------------


class Scale(NamedTuple):
    """Positions of values on an axis, from 0 to 1; logarithmic where they are far apart."""

    low: float
    high: float
    is_log: bool

    def place(self, value: float) -> float:
        """Return the position of a value; 0.5 on an axis of one value."""
        low, high, value = (self._moved(one) for one in (self.low, self.high, value))
        return 0.5 if high == low else (value - low) / (high - low)

    def at(self, place: float) -> float:
        """Return the value at a position."""
        low, high = self._moved(self.low), self._moved(self.high)
        value = low + place * (high - low)
        return math.exp(value) if self.is_log else value

    def _moved(self, value: float) -> float:
        return math.log(value) if self.is_log else value


def scale_of(values: Sequence[float]) -> Scale:
    """Return the scale of some positive values."""
    low, high = min(values), max(values)
    return Scale(low, high, high >= LOG_FROM * low > 0)


def round_scale_of(values: Sequence[float]) -> Scale:
    """Return a scale that begins and ends at round values: 1, 2 or 5 times a power of ten, or even steps."""
    scale = scale_of(values)
    if scale.is_log:
        low = max(one for one in _heads(scale.low) if one <= scale.low * (1 + ROUNDING))
        high = min(one for one in _heads(scale.high) if one >= scale.high * (1 - ROUNDING))
        return Scale(low, high, is_log=True)
    step = (
        min(one for one in _heads(span) if one >= span) if (span := (scale.high - scale.low) / 2) > 0 else 0.0
    )
    if not step:
        return scale
    return Scale(math.floor(scale.low / step) * step, math.ceil(scale.high / step) * step, is_log=False)


def _heads(value: float) -> list[float]:
    """Return the round values around a positive one, ascending."""
    power = math.floor(math.log10(value))
    return [head * 10.0**at for at in range(power - 1, power + 2) for head in HEADS]


def _ticks(scale: Scale) -> list[float]:
    """Return round values of a scale, the ends and those near the middle first."""
    if not scale.is_log:
        return [scale.high, scale.low, (scale.low + scale.high) / 2]
    powers = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
    inside = [ten for ten in (10.0**power for power in powers) if scale.low < ten < scale.high]
    inside = inside or [one for one in _heads(scale.at(0.5)) if scale.low < one < scale.high]
    return [scale.high, scale.low, *sorted(inside, key=lambda tick: abs(scale.place(tick) - 0.5))]


def drawn(charts: Sequence[Chart], width: int, left_out: str = "") -> list[str]:
    """Return charts side by side, in LINES lines of at most this width.

    Args:
        left_out: Which curves are not drawn, in a few words.
    """
    labels = [curve.label for curve in charts[0].curves]
    several = len(labels) > 1
    each = (width - GAP * (len(charts) - 1)) // len(charts)
    panels = [_panel(chart, each, LINES - 2 - several) for chart in charts]
    gap = " " * GAP
    lines = [gap.join(line.ljust(each) for line in row).rstrip() for row in zip(*panels, strict=True)]
    signs = zip((LINE, MARK), labels, strict=False)
    legend = "  ".join([*(f"{sign} {label}" for sign, label in signs), *([left_out] if left_out else [])])
    return [*lines, *([legend[:width]] if several else [])]


def _panel(chart: Chart, width: int, rows: int) -> list[str]:
    """Return a chart: its title, its rows with round values at their left, and its sizes."""
    values = round_scale_of(chart.values)
    write = _writer(chart)
    heads = [""] * rows
    for tick in _ticks(values):
        row = round((1 - values.place(tick)) * (rows - 1))
        if row in (0, rows - 1) or not any(heads[max(0, row - 1) : row + 2]):
            heads[row] = write(tick)
    margin = max(map(len, heads))
    columns = width - margin - 1
    plot = _plotted(chart, values, columns, rows)
    sizes = _sizes(sorted(chart.sizes), columns)
    return [
        _title(chart, width),
        *(f"{head:>{margin}}|{line}" for head, line in zip(heads, plot, strict=True)),
        f"{'':{margin}} {sizes}",
    ]


def _title(chart: Chart, width: int) -> str:
    """Return what is drawn over what: other operations may be named above, of other sizes."""
    title = f"{chart.what} over {chart.across_label}"
    return title if len(title) <= width else f"{chart.what} over size"[:width]


def _writer(chart: Chart) -> Callable[[float], str]:
    """Return a function that writes a round value, with its unit."""

    def write(value: float) -> str:
        if chart.quantity not in ("time", "rate"):
            return f"{value:.3g}"
        text = (units.format_rate if chart.quantity == "rate" else units.format_time)(value, chart.unit)
        number, blank, unit = text.partition(" ")
        return f"{float(number):g}{blank}{unit}"

    return write


def _plotted(chart: Chart, values: Scale, columns: int, rows: int) -> list[str]:
    """Return the rows of a plot."""
    across = scale_of([size for size in chart.sizes if size > 0] or [1.0])
    bits = [[0] * columns for _ in range(rows)]
    first, *others = chart.curves
    for piece in first.pieces:
        for column, row in _line([_dot(one, across, values, columns, rows) for one in piece]):
            bits[row // 4][column // 2] |= DOTS[row % 4][column % 2]
    letters = [[chr(BLANK + dots) if dots else " " for dots in line] for line in bits]
    for curve in others:
        for point in curve.points:
            column, row = _dot(point, across, values, columns, rows)
            letters[row // 4][column // 2] = MARK
    return ["".join(line).rstrip() for line in letters]


def _dot(point: Point, across: Scale, values: Scale, columns: int, rows: int) -> tuple[int, int]:
    """Return the column and the row of the dot of a point; an empty message is at the left edge."""
    x = across.place(point.x) if point.x > 0 else 0.0
    return round(x * (2 * columns - 1)), round((1 - values.place(point.y)) * (4 * rows - 1))


def _line(dots: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the dots of lines from each to the next."""
    yield from dots[:1]
    for (x0, y0), (x1, y1) in pairwise(dots):
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(1, steps + 1):
            yield round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps)


def _sizes(sizes: Sequence[float], columns: int) -> str:
    """Return the labels of the smallest and the largest size, and between them of one near the middle."""
    first, last = (units.format_size(int(size)) for size in (sizes[0], sizes[-1]))
    text = first.ljust(columns - len(last)) + last
    scale = scale_of([size for size in sizes if size > 0] or [1.0])
    inner = [size for size in sizes[1:-1] if size > 0]
    if inner:
        middle = min(inner, key=lambda size: abs(scale.place(size) - 0.5))
        label = units.format_size(int(middle))
        begin = round(scale.place(middle) * (columns - 1)) - len(label) // 2
        if begin > len(first) + 1 and begin + len(label) + 1 < columns - len(last):
            text = text[:begin] + label + text[begin + len(label) :]
    return text


def not_drawn(varied: VariedFactors | None) -> str:
    """Return how many values of what was varied have no curve in the charts; empty if all have."""
    values = 0 if varied is None else len(varied.told) + 1
    return f"({len((LINE, MARK))} of {values})" if values > len((LINE, MARK)) else ""


# ---- The charts of an answer ---------------------------------------------------------------------


def charts_of(sources: Sequence[Source], varied: VariedFactors | None, chosen: Units) -> list[Chart]:
    """Return time and bandwidth over size: of the first sentence's curves, else of the answer's first ones.

    Args:
        varied: What was varied; None for several results, which have a curve each.

    Returns:
        Nothing where no curve has enough sizes.
    """
    curves = [*_compared(sources[0], varied)] if varied is not None else []
    curves = curves or [*_quoted(sources)]
    curves = [(label, rows) for label, rows in curves if len(rows) >= MIN_POINTS]
    if not curves:
        return []
    first = curves[0][1][0]
    pattern = sources[0].patterns[first.cell.pattern]
    time = f"{pattern.name} latency" if pattern.one_way else f"{pattern.name} time"
    rate = f"{pattern.name} bandwidth" if first.directions == 1 else f"{pattern.name}, both directions"
    charts = [
        Chart(_curves(curves, time_point), "time", what=time, unit=chosen.time),
        Chart(_curves(curves, rate_point), "rate", what=rate, unit=chosen.rate),
    ]
    return charts if all(chart.points for chart in charts) else []


def _curves(
    curves: Sequence[tuple[str, Sequence[Row]]], point: Callable[[Row], Point | None]
) -> list[ChartCurve]:
    pieces = ((label, [known for row in rows if (known := point(row))]) for label, rows in curves)
    return [ChartCurve(label, {}, [points]) for label, points in pieces]


def _compared(source: Source, varied: VariedFactors) -> Iterator[tuple[str, list[Row]]]:
    """Yield the two curves of a contrast that the first sentence is about, the one that says most."""
    if varied.first is None or not (told := varied.told):
        return
    most = max(told, key=weight_of)
    sides = sides_of(most)
    for name, cell in ((sides.base, most.base.cell), (sides.other, most.other)):
        yield name, _rows(source, most.base._replace(cell=cell))


def _quoted(sources: Sequence[Source]) -> Iterator[tuple[str, list[Row]]]:
    """Yield the curve of the first number of each of two results."""
    for source in sources[:2]:
        for answer in answers(source.rows, source.patterns)[:1]:
            yield source.name, _rows(source, answer.quotes[0].row.of)


def _rows(source: Source, of: Subject) -> list[Row]:
    """Return the rows of a curve, sizes rising."""
    curve = cell_key(of.cell, SIZE)
    rows = [row for row in source.rows if row.time is not None and cell_key(row.cell, SIZE) == curve]
    return sorted(of_states(rows, [of]), key=lambda row: row.cell.bytes)
