"""The stop rule of `--until decided`: stop when every comparison in the campaign's own file has a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.compare.comparison import compare
from mpigauge.compare.interim_looks import level_of, looks_of, thresholds_of_result
from mpigauge.compare.sides import first_pairs
from mpigauge.result.reader import load
from mpigauge.rows.rows import rows
from mpigauge.stats.decision import Thresholds
from mpigauge.vocabulary import PASSES

if TYPE_CHECKING:
    from mpigauge.plan.model import Plan
    from mpigauge.result.writer import ResultFile
    from mpigauge.vocabulary import ComparisonVerdict


CONCLUSIVE: frozenset[ComparisonVerdict] = PASSES | {"slower"}
"""Verdicts that do not change with more launches: a machine that has drifted may become stable again."""


class ComparisonStopRule:
    """Comparison of what a campaign measures in turn, at interim looks whose launches are fixed in advance.

    Args:
        plan: The plan, with the largest number of launches.
        file: The campaign's result file.
    """

    def __init__(self, plan: Plan, file: ResultFile) -> None:
        self._plan = plan
        self._file = file

    def is_decided(self, number: int) -> bool:
        """Return whether all pairs have a verdict after this replication; False where no look is planned."""
        if number not in looks_of(self._plan):
            return False
        result = load(self._file.path, self._file.content())
        result = replace(result, visits=[visit for visit in result.visits if visit.launch <= number])
        _, pairs = first_pairs(rows(result), result.campaign.libraries)
        thresholds = replace(thresholds_of_result(result, Thresholds()), level=level_of(self._plan))
        comparison = compare(pairs, thresholds, controlled=False)
        return comparison.strictly() in CONCLUSIVE
