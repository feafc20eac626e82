"""Axes with readable ticks: sizes with a position for 0 B, times and rates in one unit."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullFormatter

from mpigauge import units
from mpigauge.show.figures import style

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

MAX_TICKS, TICKS_NARROW = 9, 5
LARGE = 1e4
NEAR_ZERO = 0.1
"""Share of the largest size: a linear axis that begins below it begins at 0."""

MIN_STEPS = 8
"""Fewest steps between sizes that show whether they are even."""

BESIDE, BESIDE_ALL = 0.006, 0.02
"""Shares of the axis width: distance between series whose bars are side by side, and the most for all."""

BEYOND, LINEAR_BEYOND, LINEAR_ROOM = 3.0, 1.3, 1.05
"""Factors by which an axis may extend beyond the values for their intervals, and the least margin."""

BREAK = "break"
"""Id of the strokes that break an axis of sizes."""

_STEPS_OF_TWO = (1, 2, 3, 4, 5, 6, 10)


# ---- Sizes ---------------------------------------------------------------------------------------


class SizeAxis:
    """Axis of sizes: a logarithmic one has a separate position for 0 B, left of a break.

    Args:
        sizes: All sizes to be drawn, in bytes.
        most: Most ticks with a label; None for as many as fit.
    """

    def __init__(self, sizes: Collection[float], *, linear: bool, most: int | None = None) -> None:
        positive = [size for size in sizes if size > 0]
        self.linear = linear or not positive or _evenly(positive)
        self._most = most or (MAX_TICKS if style.width_in() > style.NARROW else TICKS_NARROW)
        self._measured = {*positive}
        self._has_zero = len(positive) < len(sizes)
        self._low, self._high = (min(positive), max(positive)) if positive else (0.0, 1.0)
        octaves = math.log2(self._high / self._low) if positive else 0
        self._zero = self._low / 2 ** max(1.0, 0.09 * octaves)

    def x(self, size: float) -> float:
        """Return the position of a size."""
        return self._zero if size == 0 and not self.linear else size

    def side_by_side(self, number: int, of: int) -> Callable[[float], float]:
        """Return the position of a size for one of several series whose bars would overlap."""
        step = (number - (of - 1) / 2) * min(BESIDE, BESIDE_ALL / max(1, of))
        if self.linear:
            return lambda size: size + step * self._high
        return lambda size: self.x(size) * (self._high / self._zero) ** step

    def set_up(self, axes: Any, label: str = "message size") -> None:
        """Set scale, ticks and label of the axis, after everything is drawn."""
        axes.set_xlabel(label)
        if self.linear:
            from_zero = self._has_zero or self._low < NEAR_ZERO * self._high
            ticks = _steps_of_bytes(0 if from_zero else self._low, self._high, self._most)
            _fix(axes.xaxis, ticks, [units.format_size(tick) for tick in ticks])
            room = 0.02 * self._high
            axes.set_xlim((0 if from_zero else self._low) - room, self._high + room)
            return
        axes.set_xscale("log", base=2)
        places: list[float] = [*_powers_of_two(self._low, self._high, self._most, self._measured)]
        names = [units.format_size(round(place)) for place in places]
        left = self._zero if self._has_zero else self._low
        margin = (self._high / left) ** 0.03
        if self._has_zero:
            places, names = [self._zero, *places], ["0 B", *names]
            for each in axes.get_shared_x_axes().get_siblings(axes):
                self._break(each)
        _fix(axes.xaxis, places, names, _powers_of_two(self._low, self._high, 99))
        axes.set_xlim(left / max(margin, 1.08), self._high * max(margin, 1.08))

    def _break(self, axes: Any) -> None:
        """Draw two strokes on the axis between 0 B and the smallest size, unless it has them."""
        if any(text.get_gid() == BREAK for text in axes.texts):
            return
        middle = math.sqrt(self._zero * self._low)
        axes.text(
            middle, 0, "//", transform=axes.get_xaxis_transform(), ha="center", va="center", fontsize="small"
        ).set_gid(BREAK)


def _fix(axis: Any, ticks: Sequence[float], names: Sequence[str], minor: Sequence[float] = ()) -> None:
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FixedFormatter(list(names)))
    axis.set_minor_locator(FixedLocator(list(minor)))
    axis.set_minor_formatter(NullFormatter())


def _powers_of_two(low: float, high: float, most: int, measured: Collection[float] = ()) -> list[int]:
    """Return powers of two, every n-th: those with most measured sizes, as many as fit."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    powers = range(first, last + 1)
    grids = (
        [power for power in powers if power % step == phase]
        for step in _STEPS_OF_TWO
        for phase in range(step)
    )
    fitting = [grid for grid in grids if grid and len(grid) <= most]
    if not fitting:
        return [2**first, 2**last] if powers else [round(low)]
    return [2**power for power in max(fitting, key=lambda grid: sum(2**power in measured for power in grid))]


def _steps_of_bytes(low: float, high: float, most: int) -> list[int]:
    """Return multiples of a power of two from the smallest to the largest size."""
    step = 1
    while (high - low) / step > most - 1:
        step *= 2
    return list(range(step * math.ceil(low / step), math.floor(high) + 1, step))


def _evenly(sizes: Collection[float]) -> bool:
    """Return whether most sizes are equal steps: a logarithmic axis would crowd them at its end."""
    ordered = sorted(sizes)
    steps = [high - low for low, high in pairwise(ordered)]
    if len(steps) < MIN_STEPS:
        return False
    usual = median(steps)
    even = [step for step in steps if abs(step - usual) < usual / 4]
    return 2 * sum(even) > ordered[-1] - ordered[0] and 2 * len(even) > len(steps)


# ---- Times and rates -----------------------------------------------------------------------------


class ValueAxis:
    """Axis of times or rates.

    Args:
        what: Its label.
        values: All values to be drawn, in seconds or bytes per second.
        scales: Units to choose from.
        unit: Unit to use, or auto.
    """

    def __init__(
        self, what: str, values: Collection[float], scales: Mapping[str, float], unit: str, *, linear: bool
    ) -> None:
        self._what, self._linear, self._scales = what, linear, scales
        # A time of zero and its infinite rate have no position on a logarithmic axis.
        values = [value for value in values if math.isfinite(value) and (linear or value > 0)]
        self._low, self._high = (min(values), max(values)) if values else (1.0, 1.0)
        self._times = scales is units.TIME_UNITS
        self._own = unit == units.AUTO and not linear
        column = units.time_unit if self._times else units.rate_unit
        # On a linear axis the largest value determines the unit.
        self._unit = column([max(values)] if linear and values else values) if unit == units.AUTO else unit

    def set_up(self, axes: Any, *, label: bool = True) -> None:
        """Set scale, ticks and label of the axis, after everything is drawn."""
        if not self._linear:
            seen_low, seen_high = axes.dataLim.intervaly
            # Shared axes are set up once per panel, each of which sees its own data only.
            low = min(max(seen_low, self._low / BEYOND), self._low)
            high = max(min(seen_high, self._high * BEYOND), self._high)
            room = max(1.1, (high / low) ** 0.04)
            axes.set_ylim(low / room, high * room)
            axes.set_yscale("log")
            log_ticks(axes.yaxis, self._text, self._one)
        else:
            high = max(min(axes.get_ylim()[1], self._high * LINEAR_BEYOND), self._high * LINEAR_ROOM)
            axes.set_ylim(0, high)
            ticks = [float(tick) * self._one for tick in MaxNLocator("auto").tick_values(0, high / self._one)]
            shown = [tick for tick in ticks if 0 <= tick <= high]
            _fix(axes.yaxis, shown, [self._text(tick) for tick in shown])
        if label:
            unit = units.unit_symbol(self._unit)
            axes.set_ylabel(self._what if self._own else f"{self._what} ({unit})" if self._what else unit)

    def words(self, value: float) -> str:
        """Return a value in the unit of the axis."""
        return self._text(value) if self._own else f"{self._text(value)} {units.unit_symbol(self._unit)}"

    @property
    def _one(self) -> float:
        """1 in the unit of the axis, so that ticks are round in it."""
        return 1.0 if self._own else self._scales[self._unit]

    def _text(self, value: float) -> str:
        if not self._own:
            return _plain(value / self._scales[self._unit])
        name = (units.time_unit if self._times else units.rate_unit)([value])
        return f"{_plain(value / self._scales[name])} {units.unit_symbol(name)}"


def _plain(value: float) -> str:
    """Return a number with four digits, never with an exponent."""
    return f"{value:.4g}" if abs(value) < LARGE else f"{value:.0f}"


def times(what: str, values: Collection[float], unit: str, *, linear: bool) -> ValueAxis:
    """Return an axis of seconds."""
    return ValueAxis(what, values, units.TIME_UNITS, unit, linear=linear)


def rates(what: str, values: Collection[float], unit: str, *, linear: bool) -> ValueAxis:
    """Return an axis of bytes per second."""
    return ValueAxis(what, values, units.RATE_UNITS, unit, linear=linear)


def log_ticks(axis: Any, text: Any, one: float = 1.0) -> None:
    """Set ticks of a logarithmic axis, always with some labels: 1, or 1 2 5, or whatever fits.

    Args:
        one: Value of 1 in the unit of the axis.
    """
    low, high = (end / one for end in axis.get_view_interval())
    decades = math.log10(high / low)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    heads = (1,) if decades > 2 else (1, 2, 5)  # noqa: PLR2004 - enough decades
    ticks = [head * 10.0**power for power in range(first, last + 1) for head in heads]
    if decades < 0.7:  # noqa: PLR2004 - less than three of 1 2 5
        ticks = [float(tick) for tick in MaxNLocator(5).tick_values(low, high) if tick > 0]
    ticks = [tick for tick in ticks if low <= tick <= high]
    ticks = ticks[:: max(1, math.ceil(len(ticks) / MAX_TICKS))]
    minor = [head * 10.0**power for power in range(first, last + 1) for head in range(1, 10)]
    fine = minor if decades > 0.7 and decades < 7 else []  # noqa: PLR2004 - not a black bar
    ticks = [tick * one for tick in ticks]
    _fix(axis, ticks, [text(tick) for tick in ticks], [tick * one for tick in fine])
    axis.set_view_interval(low * one, high * one, ignore=True)
