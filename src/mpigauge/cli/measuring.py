"""What run and resume share: a campaign with its progress and signals, and the table at its end."""

import sys
from collections.abc import Sequence

from mpigauge.campaign.rounds import Rounds
from mpigauge.campaign.targets import Target
from mpigauge.cli.progress import observer_for
from mpigauge.launch.process import Interruption
from mpigauge.plan.model import Plan
from mpigauge.result.append import ResultFile
from mpigauge.result.load import Result


def measure(
    plan: Plan, targets: Sequence[Target], file: ResultFile, before: Result | None, *, quiet: bool
) -> int | None:
    """Runs a campaign to its end; the signal that ended it, if one did."""
    with Interruption() as interruption, observer_for(plan, sys.stderr, quiet=quiet) as observer:
        Rounds(plan, targets, file, observer, interruption, before).run()
        return interruption.signal
