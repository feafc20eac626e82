"""Numbers that rules use and sentences name; without what computes, so that names load fast."""

import math

ENOUGH_LAUNCHES = 6
"""Launches from which the median has an assumption-free 95 % interval; with fewer, a number is marked."""

LAUNCHES_OF_A_VERDICT = 5
"""Launches from which a cell of a comparison is judged."""

LAUNCHES_OF_A_MAP = 5
"""Launches from which a slow link can be distinguished from chance."""

ODD_ONE_IN = 5
"""At most one session in so many is odd, and moves no mean: if more are far, they are not."""

LAUNCHES_COUNTABLE = 1000
"""The largest number of needed launches that is named; beyond it they are only said to be more."""

PROMISED = 0.01
"""Half-width of what the instrument promises at best: up to 1 % of a sample is the clock."""


def by_clock_speeds(machine_half_width: float | None, promised: float = PROMISED) -> bool:
    """Return whether the cores' speeds have more of the machine's part of an interval than the instrument."""
    return machine_half_width is not None and math.log1p(machine_half_width) > math.sqrt(2) * promised
