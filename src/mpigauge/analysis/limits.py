"""Numbers of launches that rules use and sentences name; without what computes, so that names load fast."""

ENOUGH_LAUNCHES = 5
"""With fewer, an interval across launches is as wide as the few happen to differ."""

LAUNCHES_COUNTABLE = 1000
"""Beyond so many, launches that a narrower interval would take are only said to be more."""
