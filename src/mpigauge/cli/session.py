"""What verbs that measure share: a campaign with its progress and signals, and where its result goes."""

import platform
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from mpigauge.campaign.hosts import check_reachable
from mpigauge.campaign.loop import CampaignLoop
from mpigauge.campaign.targets import Target, campaign_record
from mpigauge.cli.progress import observer_for
from mpigauge.launch.process import Interruption
from mpigauge.plan.model import Plan
from mpigauge.result import writer
from mpigauge.result.reader import Result
from mpigauge.result.writer import ResultFile


def measure_anew(
    plan: Plan, targets: Sequence[Target], output: Path | None, *, quiet: bool
) -> tuple[Path, int | None]:
    """The new result file of a campaign, and the signal that ended it, if one did.

    Args:
        output: Its name; None means one of our own choice.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
        JobError: Nothing could be measured.
    """
    check_reachable(plan, targets)
    with writer.create(output) if output else writer.create_beside(default_path()) as file:
        file.append(campaign_record(plan, targets))
        return file.path, measure(plan, targets, file, None, quiet=quiet)


def default_path() -> Path:
    """results/<host>-<UTC time>.jsonl."""
    host = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "host"
    return Path("results") / f"{host}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.jsonl"


def measure(
    plan: Plan, targets: Sequence[Target], file: ResultFile, before: Result | None, *, quiet: bool
) -> int | None:
    """Runs a campaign to its end; the signal that ended it, if one did."""
    with Interruption() as interruption, observer_for(plan, sys.stderr, quiet=quiet) as observer:
        CampaignLoop(plan, targets, file, observer, interruption, before).run()
        return interruption.signal
