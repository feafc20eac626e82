"""A time and its interval as a bar of characters, on a logarithmic axis whose ends a heading names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.rows.estimate import Timing

CERTAIN, INTERVAL, NO_INTERVAL = "\N{FULL BLOCK}", "\N{MEDIUM SHADE}", "\N{LIGHT SHADE}"
EIGHTHS = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589"
"""Blocks of no to seven eighths of a character."""

_STEPS = (1.0, 2.0, 5.0, 10.0)
_ROOM = 1.2
"""The shortest bar begins this factor above the left end, so that it can be seen."""

_REACH = 3.0
"""An interval makes the axis longer up to this factor; a wider one runs out of it."""


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis between two round times, s."""

    left_s: float
    right_s: float

    def place(self, seconds: float, width: int) -> float:
        """Where a time is, in characters from the left."""
        if seconds <= self.left_s:
            return 0.0
        share = math.log(seconds / self.left_s) / math.log(self.right_s / self.left_s)
        return min(1.0, share) * width

    def heading(self, width: int, unit: str = units.AUTO) -> str:
        """Both ends; nothing if they do not fit."""
        left, right = (_label(end, unit) for end in (self.left_s, self.right_s))
        room = width - len(left) - len(right)
        return f"{left}{' ' * room}{right}" if room > 0 else ""


def axis_of(times: Sequence[Timing]) -> LogAxis | None:
    """The axis of a table; None if there are no two times to compare."""
    known = [time for time in times if 0 < time.estimate < math.inf]
    if len(known) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    least = min(max(time.low or time.estimate, time.estimate / _REACH) for time in known)
    most = max(min(time.high or time.estimate, time.estimate * _REACH) for time in known)
    return LogAxis(_round_down(least / _ROOM), _round_up(most))


def bar(axis: LogAxis, time: Timing, width: int) -> str:
    """Full blocks up to the interval, shaded ones in it; light ones where there is no interval.

    Where the interval is narrower than a character, the bar ends at the estimate, to an eighth.
    """
    end = axis.place(time.estimate, width)
    if time.low is None or time.high is None:
        return NO_INTERVAL * max(1, round(end))
    low, high = axis.place(time.low, width), axis.place(time.high, width)
    if high - low < 1:
        return _to_an_eighth(end)
    return CERTAIN * int(low) + INTERVAL * (math.ceil(high) - int(low))


def _to_an_eighth(end: float) -> str:
    whole, eighths = divmod(max(1, round(end * 8)), 8)
    return (CERTAIN * whole + EIGHTHS[eighths]).rstrip()


def _round_down(seconds: float) -> float:
    decade = 10.0 ** math.floor(math.log10(seconds))
    return max((step * decade for step in _STEPS if step * decade <= seconds), default=decade)


def _round_up(seconds: float) -> float:
    decade = 10.0 ** math.floor(math.log10(seconds))
    return min((step * decade for step in _STEPS if step * decade >= seconds), default=10 * decade)


def _label(seconds: float, unit: str) -> str:
    unit = units.time_unit((seconds,)) if unit == units.AUTO else unit
    return f"{seconds / units.TIME_UNITS[unit]:.4g} {units.unit_symbol(unit)}"
