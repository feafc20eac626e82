"""`compare --remeasure`: suspicious numbers in new launches, in turn; the verdict is of these alone."""

from __future__ import annotations

import random
import shlex
from typing import TYPE_CHECKING

from mpigauge.cli.screen.streams import say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.campaign.measuring import SessionEnd
    from mpigauge.result.reader import Result
    from mpigauge.show.compared import ComparedSources


def measured_again(
    found: ComparedSources, results: Sequence[Result], output: Path | None, *, trust: bool, quiet: bool
) -> tuple[SessionEnd | None, int]:
    """Measures what is suspicious: how that ended, or None with the exit status if it was cut short.

    Raises:
        UsageError: Both sides cannot be measured in turn, or a result is a stranger's.
        EnvironmentLacksError: A library is gone, or does not work.
        JobError: Nothing could be measured.
    """
    from mpigauge.campaign.prepare import lab_to_enter, prepare, with_hidden_variables
    from mpigauge.campaign.remeasure import remeasure_plan
    from mpigauge.campaign.trusted_results import check_trusted
    from mpigauge.cli.verbs.lab_runs import same_command_in
    from mpigauge.cli.verbs.session import measure, stopped
    from mpigauge.compare.suspicious import launches_for, suspicious

    paths = [str(one.path) for one in results]
    where = " and ".join(paths)
    for result in () if trust else results:
        check_trusted(result, f"mpigauge compare --remeasure --trust {shlex.join(paths)}")
    picked = suspicious(found.shown)
    launches = launches_for(found.shown.cells)
    plan = remeasure_plan(results, picked, launches, random.SystemRandom().randrange(2**31))
    if (lab := lab_to_enter(plan, where)) is not None:
        return None, same_command_in(lab, where)
    session = prepare(with_hidden_variables(plan, where), where)
    done = measure(session, output, quiet=quiet, answering=False)
    if done.signal is not None:
        return None, stopped(done, done.signal)
    if not done.lost:
        say(f"result: {done.path}", err=True)
    return done, 0
