"""Numbers that rules use and sentences name; without what computes, so that names load fast."""

import math

ENOUGH_LAUNCHES = 6
"""Of so many the median has an interval of 95 % without any assumption; with fewer, a number is marked."""

LAUNCHES_OF_A_MAP = 5
"""The fewest that tell a slow link from chance."""

LAUNCHES_COUNTABLE = 1000
"""Beyond so many, launches that a narrower interval would take are only said to be more."""

PROMISED = 0.01
"""Half-width of what the instrument promises at best: up to 1 % of a sample is the clock."""


def by_clock_speeds(machine_half_width: float | None) -> bool:
    """Return whether the cores' speeds have more of the machine's part of an interval than the instrument."""
    return machine_half_width is not None and math.log1p(machine_half_width) > math.sqrt(2) * PROMISED
