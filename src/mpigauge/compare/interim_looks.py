"""When a campaign that goes on until a comparison is decided looks at it, and what each look may err.

Whoever looks after every launch and stops when something is slower is wrong far more often than one look is.
Looks are fixed before the first launch, and each has an equal share of the error: at whichever of them a
campaign stops, all of them together keep the promise. Source: Bonferroni's inequality;
docs/method-comparison.md#until-decided
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.stats.max_t import LEVEL, MIN_PAIRS

if TYPE_CHECKING:
    from mpigauge.plan.model import Plan

FARTHER, LAST = 1.3, 1.15
"""Each look is at so many times the launches of the one before, the last one at so many at least."""


def looks_of(plan: Plan) -> tuple[int, ...]:
    """Return after how many launches a plan's comparison is looked at; at the latest after the last."""
    found = []
    number = MIN_PAIRS
    while number * LAST < plan.launches_max:
        found.append(number)
        number = max(number + 2, round(number * FARTHER))
    return (*found, plan.launches_max)


def level_of(plan: Plan) -> float:
    """Return the error level of one look at a campaign of this plan; all of it if there is one look."""
    return LEVEL / len(looks_of(plan)) if plan.until == "decided" else LEVEL
