"""The paper: style, axes with ticks that people read, lines with bands, legends outside the data."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullFormatter

from mpigauge import units
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from mpigauge.show.series import Point, Series

WIDTH = 6.4
"""Inches: the width of a page's text."""

COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#009E73", "#CC79A7")
"""Of Okabe and Ito, dark and light in turn, without the yellow, which is lost on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)
IMPORTED_DASHES = (0, (1, 2))
BREAK_DASHES, MARK_DASHES = (0, (1, 1.5)), (0, (4, 2))
MANY_POINTS = 40
LEGEND_INCHES = 0.19
LETTERS_A_INCH = 12.0
TICKS_MOST = 9
LARGE = 1e4
NEAR_ZERO = 0.1
"""Of the largest size: a linear axis that begins below this begins with 0."""

BEYOND, LINEAR_BEYOND = 3.0, 1.3
"""How much farther than the values an axis goes for the sake of their intervals."""

_STEPS_OF_TWO = (1, 2, 3, 4, 5, 10)

STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "mpigauge",
    "hatch.linewidth": 0.5,
}
"""Fonts are embedded in PDF and text is text in SVG; the same result gives the same file."""


SMALL: Any = {"fontsize": 7.5, "color": "0.35"}
"""Of what stands below a figure."""


@contextmanager
def style() -> Iterator[None]:
    """How figures look; whatever else the user's settings of matplotlib are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def paper(height: float, rows: int = 0) -> Figure:
    """An empty figure with room for so many rows of legend."""
    whole = Figure(figsize=(WIDTH, height + LEGEND_INCHES * rows), layout="constrained")
    FigureCanvasAgg(whole)
    return whole


def save(whole: Figure, path: Path) -> None:
    """Writes it, without a date.

    Raises:
        UsageError: The file cannot be written.
    """
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})
    try:
        whole.savefig(path, dpi=200, metadata=undated)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}", "give another -o") from None


# ---- Sizes ---------------------------------------------------------------------------------------


class SizeAxis:
    """Where sizes are drawn: on a logarithmic axis 0 B has a place of its own, left of a break.

    Args:
        sizes: All that will be drawn, in bytes.
        most: Ticks with a label.
    """

    def __init__(self, sizes: Collection[float], *, linear: bool, most: int = TICKS_MOST) -> None:
        positive = [size for size in sizes if size > 0]
        self.linear = linear or not positive
        self._most = most
        self._has_zero = len(positive) < len(sizes)
        self._low, self._high = (min(positive), max(positive)) if positive else (0.0, 1.0)
        octaves = math.log2(self._high / self._low) if positive else 0
        self._zero = self._low / 2 ** max(1.0, 0.09 * octaves)

    def x(self, size: float) -> float:
        """The place of a size."""
        return self._zero if size == 0 and not self.linear else size

    def dress(self, axes: Any, label: str = "message size") -> None:
        """Scale, ticks and label of the axis, once everything is drawn."""
        axes.set_xlabel(label)
        if self.linear:
            from_zero = self._has_zero or self._low < NEAR_ZERO * self._high
            ticks = _steps_of_bytes(0 if from_zero else self._low, self._high, self._most)
            _fix(axes.xaxis, ticks, [units.format_size(tick) for tick in ticks])
            room = 0.02 * self._high
            axes.set_xlim((0 if from_zero else self._low) - room, self._high + room)
            return
        axes.set_xscale("log", base=2)
        places: list[float] = [*_powers_of_two(self._low, self._high, self._most)]
        names = [units.format_size(round(place)) for place in places]
        left = self._zero if self._has_zero else self._low
        margin = (self._high / left) ** 0.03
        if self._has_zero:
            places, names = [self._zero, *places], ["0 B", *names]
            self._break(axes)
        _fix(axes.xaxis, places, names, _powers_of_two(self._low, self._high, 99))
        axes.set_xlim(left / max(margin, 1.08), self._high * max(margin, 1.08))

    def _break(self, axes: Any) -> None:
        """Two strokes on the axis between 0 B and the smallest size."""
        middle = math.sqrt(self._zero * self._low)
        axes.text(
            middle, 0, "//", transform=axes.get_xaxis_transform(), ha="center", va="center", fontsize="small"
        ).set_gid("break")


def _fix(axis: Any, ticks: Sequence[float], names: Sequence[str], minor: Sequence[float] = ()) -> None:
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FixedFormatter(list(names)))
    axis.set_minor_locator(FixedLocator(list(minor)))
    axis.set_minor_formatter(NullFormatter())


def _powers_of_two(low: float, high: float, most: int) -> list[int]:
    """Sizes that are powers of two, every n-th."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    for step in _STEPS_OF_TWO:
        powers = [power for power in range(first, last + 1) if power % step == 0]
        if len(powers) <= most:
            return [2**power for power in powers] or [round(low)]
    return [2**first, 2**last]


def _steps_of_bytes(low: float, high: float, most: int) -> list[int]:
    """Multiples of a power of two from the least to the largest."""
    step = 1
    while (high - low) / step > most - 1:
        step *= 2
    return list(range(step * math.ceil(low / step), math.floor(high) + 1, step))


# ---- Times and rates -----------------------------------------------------------------------------


class ValueAxis:
    """Where times or rates are drawn.

    Args:
        what: Its label.
        values: All that will be drawn, in seconds or bytes per second.
        scales: The units there are.
        unit: The one asked for, or auto.
    """

    def __init__(
        self, what: str, values: Collection[float], scales: Mapping[str, float], unit: str, *, linear: bool
    ) -> None:
        self._what, self._linear, self._scales = what, linear, scales
        self._low, self._high = (min(values), max(values)) if values else (1.0, 1.0)
        self._times = scales is units.TIME_UNITS
        self._own = unit == units.AUTO and not linear
        column = units.time_unit if self._times else units.rate_unit
        # On a linear axis the largest value decides.
        self._unit = column([max(values)] if linear and values else values) if unit == units.AUTO else unit

    def dress(self, axes: Any, *, label: bool = True) -> None:
        """Scale, ticks and label of the axis, once everything is drawn."""
        if not self._linear:
            seen_low, seen_high = axes.dataLim.intervaly
            # Shared axes are dressed once a panel, each of which sees its own data only.
            low = min(max(seen_low, self._low / BEYOND), self._low)
            high = max(min(seen_high, self._high * BEYOND), self._high)
            room = max(1.1, (high / low) ** 0.04)
            axes.set_ylim(low / room, high * room)
            axes.set_yscale("log")
            log_ticks(axes.yaxis, self._text, self._one)
        else:
            high = min(axes.get_ylim()[1], self._high * LINEAR_BEYOND)
            axes.set_ylim(0, high)
            ticks = [float(tick) * self._one for tick in MaxNLocator("auto").tick_values(0, high / self._one)]
            shown = [tick for tick in ticks if 0 <= tick <= high]
            _fix(axes.yaxis, shown, [self._text(tick) for tick in shown])
        if label:
            axes.set_ylabel(self._what if self._own else f"{self._what} ({_sign(self._unit)})")

    @property
    def _one(self) -> float:
        """1 in the unit of the axis, so that ticks are round in that."""
        return 1.0 if self._own else self._scales[self._unit]

    def _text(self, value: float) -> str:
        if not self._own:
            return _plain(value / self._scales[self._unit])
        name = (units.time_unit if self._times else units.rate_unit)([value])
        return f"{_plain(value / self._scales[name])} {_sign(name)}"


def _plain(value: float) -> str:
    """Four digits, and never an exponent for what is large."""
    return f"{value:.4g}" if abs(value) < LARGE else f"{value:.0f}"


def times(what: str, values: Collection[float], unit: str, *, linear: bool) -> ValueAxis:
    """An axis of seconds."""
    return ValueAxis(what, values, units.TIME_UNITS, unit, linear=linear)


def rates(what: str, values: Collection[float], unit: str, *, linear: bool) -> ValueAxis:
    """An axis of bytes per second."""
    return ValueAxis(what, values, units.RATE_UNITS, unit, linear=linear)


def _sign(unit: str) -> str:
    return "\N{MICRO SIGN}s" if unit == "us" else unit


def log_ticks(axis: Any, text: Any, one: float = 1.0) -> None:
    """Ticks of a logarithmic axis that always have some labels: 1, or 1 2 5, or whatever fits between.

    Args:
        one: What counts as 1: a unit.
    """
    low, high = (end / one for end in axis.get_view_interval())
    decades = math.log10(high / low)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    heads = (1,) if decades > 2 else (1, 2, 5)  # noqa: PLR2004 - enough decades
    ticks = [head * 10.0**power for power in range(first, last + 1) for head in heads]
    if decades < 0.7:  # noqa: PLR2004 - less than three of 1 2 5
        ticks = [float(tick) for tick in MaxNLocator(5).tick_values(low, high) if tick > 0]
    ticks = [tick for tick in ticks if low <= tick <= high]
    ticks = ticks[:: max(1, math.ceil(len(ticks) / TICKS_MOST))]
    minor = [head * 10.0**power for power in range(first, last + 1) for head in range(1, 10)]
    fine = minor if decades > 0.7 and decades < 7 else []  # noqa: PLR2004 - not a black bar
    ticks = [tick * one for tick in ticks]
    _fix(axis, ticks, [text(tick) for tick in ticks], [tick * one for tick in fine])
    axis.set_view_interval(low * one, high * one, ignore=True)


# ---- Lines ---------------------------------------------------------------------------------------


def look(number: int, *, imported: bool = False) -> dict[str, Any]:
    """Colour, marker and dashes of a series, by its place in the legend."""
    colour = COLOURS[number % len(COLOURS)]
    return {
        "color": colour,
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": IMPORTED_DASHES if imported else DASHES[number % len(DASHES)],
        "markerfacecolor": "white" if imported else colour,
    }


def curve(
    axes: Any, name: str, looks: Mapping[str, Any], pieces: Sequence[Sequence[Point]], scale: Any
) -> None:
    """A series: a line and a band a piece, a marker a point; a point that stands alone has a bar.

    Args:
        name: Becomes part of the names of its elements in SVG.
        scale: From a point's x to its place.
    """
    colour = looks["color"]
    flat = [point for piece in pieces for point in piece]
    for number, piece in enumerate(pieces):
        xs = [scale(point.x) for point in piece]
        if len(piece) > 1:
            (line,) = axes.plot(xs, [point.y for point in piece], color=colour, linestyle=looks["linestyle"])
            line.set_gid(f"line-{name}-{number}")
        _uncertainty(axes, f"{name}-{number}", colour, xs, piece)
    small = 2.0 if len(flat) > MANY_POINTS else 4.0
    (points,) = axes.plot(
        [scale(point.x) for point in flat],
        [point.y for point in flat],
        color=colour,
        linestyle="none",
        marker=looks["marker"],
        markerfacecolor=looks["markerfacecolor"],
        markersize=small,
        zorder=3,
    )
    points.set_gid(f"points-{name}")


def _uncertainty(axes: Any, name: str, colour: str, xs: Sequence[float], piece: Sequence[Point]) -> None:
    """A band over points that have an interval, a bar where only one has."""
    known = [
        (x, p.low, p.high) for x, p in zip(xs, piece, strict=True) if p.low is not None and p.high is not None
    ]
    if not known:
        return
    places, lows, highs = zip(*known, strict=True)
    if len(known) == len(piece) and len(piece) > 1:
        axes.fill_between(places, lows, highs, color=colour, alpha=0.22, linewidth=0).set_gid(f"band-{name}")
    else:
        axes.vlines(places, lows, highs, color=colour, linewidth=1.1).set_gid(f"bars-{name}")


def mark(axes: Any, x: float, name: str, words: str, dashes: Any) -> None:
    """A vertical line, with its words above the axes if it has some."""
    axes.axvline(x, color="0.45", linewidth=0.9, linestyle=dashes, zorder=1).set_gid(name)
    if words:
        axes.text(
            x,
            1.0,
            words,
            transform=axes.get_xaxis_transform(),
            fontsize="x-small",
            color="0.35",
            ha="center",
            va="bottom",
        )


def caption(
    whole: Figure, words: str, note: str, found: Sequence[Series], looks: Sequence[Mapping[str, Any]]
) -> None:
    """Title, legend below everything, never over data, and in small letters what must be known."""
    if words:
        whole.suptitle(words, fontsize=9)
    labels = [one.label for one in found]
    if len(labels) > 1 or (labels and labels[0] not in words):
        handles = [Line2D([], [], **one) for one in looks]
        below(whole, handles, labels, note)
    elif note:
        whole.supxlabel(note, **SMALL)


def below(whole: Figure, handles: Sequence[Line2D], labels: Sequence[str], note: str = "") -> None:
    """A legend under everything, headed by a note."""
    made = whole.legend(
        handles, labels, loc="outside lower center", ncols=columns_of(labels), title=note or None
    )
    made.get_title().set(**SMALL)


def columns_of(labels: Sequence[str]) -> int:
    """How many labels fit beside each other."""
    widest = max(map(len, labels)) / LETTERS_A_INCH + 0.65
    return max(1, min(len(labels), int(WIDTH / widest), 4))


def legend_rows(labels: Sequence[str]) -> int:
    """How many rows a legend has, the note above it counted."""
    return 1 + -(-len(labels) // columns_of(labels))
