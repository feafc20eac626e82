"""A result of its quiet visits: ranks had their cores for themselves, and these ran at the usual speed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.rows.machine.conditions import is_disturbed
from mpigauge.rows.machine.core_sharing import on_shared_cores
from mpigauge.rows.machine.speeds import at_other_speeds, speeds_of

if TYPE_CHECKING:
    from mpigauge.result.reader import Result


def only_quiet(result: Result) -> Result:
    """A result without visits that were disturbed, of shared cores, or at another speed than the usual.

    Those of which nothing is known stay.

    Raises:
        UsageError: It is known of none.

    Source:
        docs/method.md#states-of-the-machine
    """
    unlike = on_shared_cores(result.visits, result.launches) | at_other_speeds(result.visits)
    disturbed = [is_disturbed(visit) for visit in result.visits]
    if all(one is None for one in disturbed) and not unlike.any() and speeds_of(result.visits) is None:
        raise UsageError(
            f"{result.path}: does not know which visits were disturbed",
            "measure anew: this mpigauge counts it beside every visit",
        )
    quiet = [
        visit
        for visit, lost, other in zip(result.visits, disturbed, unlike.tolist(), strict=True)
        if not (lost or other)
    ]
    return replace(result, visits=quiet, left_out=len(result.visits) - len(quiet))
