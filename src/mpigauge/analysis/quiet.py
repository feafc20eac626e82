"""A result without what others disturbed: of its visits, those whose ranks had their cores for themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.analysis.conditions import is_disturbed
from mpigauge.analysis.core_sharing import on_shared_cores
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from mpigauge.result.reader import Result


def only_quiet(result: Result) -> Result:
    """A result without visits that were disturbed, or in which a rank shared its core.

    Those of which nothing is known stay.

    Raises:
        UsageError: It is known of none.

    Source:
        docs/method.md#states-of-the-machine
    """
    shared = on_shared_cores(result.visits, result.launches)
    disturbed = [is_disturbed(visit) for visit in result.visits]
    if all(one is None for one in disturbed) and not shared.any():
        raise UsageError(
            f"{result.path}: does not know which visits were disturbed",
            "measure anew: this mpigauge counts it beside every visit",
        )
    quiet = [
        visit
        for visit, lost, divided in zip(result.visits, disturbed, shared.tolist(), strict=True)
        if not (lost or divided)
    ]
    return replace(result, visits=quiet, left_out=len(result.visits) - len(quiet))
