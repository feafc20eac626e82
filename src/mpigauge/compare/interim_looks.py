"""Interim looks of a campaign that runs until its comparison is decided: when, and with which error level.

Looking after every launch, and stopping when something is slower, is wrong far more often than a single look.
Looks are fixed before the first launch, and share the error level equally: whichever of them a campaign
stops at, the level holds for all of them together. Source: Bonferroni's inequality;
docs/method-comparison.md#until-decided
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.rows.machine.split import split_of
from mpigauge.stats.max_t import LEVEL, MIN_PAIRS

if TYPE_CHECKING:
    from mpigauge.plan.model import Plan
    from mpigauge.result.reader import Result
    from mpigauge.stats.decision import Thresholds

FARTHER, LAST = 1.3, 1.15
"""Each look is at `FARTHER` times the launches of the one before, the last one at `LAST` times or more."""


def looks_of(plan: Plan) -> tuple[int, ...]:
    """Return after how many launches a plan's comparison is looked at; at the latest after the last."""
    looks = []
    number = MIN_PAIRS
    while number * LAST < plan.launches_max:
        looks.append(number)
        number = max(number + 2, round(number * FARTHER))
    return (*looks, plan.launches_max)


def thresholds_of_result(result: Result, thresholds: Thresholds) -> Thresholds:
    """Return thresholds with the error level of comparisons within a result, which its states share."""
    states = max(1, len(split_of(result).unchosen))
    return replace(thresholds, level=level_of(result.campaign.plan), families=states)


def level_of(plan: Plan) -> float:
    """Return the error level of one look at a campaign of this plan; all of it if there is one look."""
    return LEVEL / len(looks_of(plan)) if plan.until == "decided" else LEVEL
