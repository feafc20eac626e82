"""Whether a campaign that goes on until its comparison is decided may stop: it reads its own file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.campaign.control import compared
from mpigauge.compare.comparison import compare
from mpigauge.compare.interim_looks import level_of, looks_of
from mpigauge.compare.sides import first_pairs
from mpigauge.errors import UsageError
from mpigauge.result.reader import load
from mpigauge.rows.rows import rows
from mpigauge.stats.decision import Thresholds
from mpigauge.vocabulary import PASSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.campaign.targets import Target
    from mpigauge.plan.model import Plan
    from mpigauge.result.writer import ResultFile
    from mpigauge.vocabulary import ComparisonVerdict


def check_compares(plan: Plan, targets: Iterable[Target], where: str) -> None:
    """That a plan that is to decide a comparison has one.

    Raises:
        UsageError: All of its cells differ in what they measure.
    """
    if plan.until != "decided":
        return
    factor, _ = compared(cell for target in targets for cell in target.cells)
    if factor:
        return
    raise UsageError(
        f"{where}: --until decided: nothing is measured in turn",
        "name two libraries, transports, modes or settings: --mpi A --mpi B, --vary NAME=A,B",
    )


ENOUGH: frozenset[ComparisonVerdict] = PASSES | {"slower"}
"""A machine that has moved may stand still again; and what passes may still be slower than the margin."""


class UntilDecided:
    """What a campaign measures in turn, held against each other after launches that were fixed before.

    Args:
        plan: Says how many launches there may be.
        file: The campaign's, which has all that was measured.
    """

    def __init__(self, plan: Plan, file: ResultFile) -> None:
        self._plan = plan
        self._file = file

    def is_decided(self, number: int) -> bool:
        """Whether it has a verdict after this replication; False where no look at it was planned."""
        if number not in looks_of(self._plan):
            return False
        result = load(self._file.path, self._file.place)
        result = replace(result, visits=[visit for visit in result.visits if visit.launch <= number])
        _, pairs = first_pairs(rows(result, choice="all"), result.campaign.libraries)
        found = compare(pairs, Thresholds(level=level_of(self._plan)), controlled=False)
        return found.strictly() in ENOUGH
