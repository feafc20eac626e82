"""Short campaigns whose result is kept in memory only."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge.campaign.failure_remedies import cause_of
from mpigauge.campaign.launch.job import temporary_folder
from mpigauge.campaign.launch.orphans import sweep
from mpigauge.campaign.loop import CampaignLoop
from mpigauge.campaign.prepare import open_result, prepare, with_lab_and_hosts
from mpigauge.errors import JobError
from mpigauge.plan.model import Measure, Plan
from mpigauge.result.reader import load

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.campaign.job_run import Observer
    from mpigauge.campaign.launch.interruption import Interruption
    from mpigauge.campaign.prepare import PreparedCampaign
    from mpigauge.result.reader import Result


def run_probe(plan: Plan, where: str, observer: Observer, interruption: Interruption) -> Result:
    """Run a plan and return its result; no file is kept.

    Raises:
        MpigaugeError: Nothing can be measured: no MPI library works, or a host does not answer.
    """
    session = prepare(plan, where)
    if words := sweep().sentence:
        observer.trouble(words)
    folder = temporary_folder("a look at hosts")
    try:
        return _run_in(session, folder / "look.jsonl", observer, interruption)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_in(session: PreparedCampaign, path: Path, observer: Observer, interruption: Interruption) -> Result:
    try:
        with open_result(session, path, path, kept=False) as file:
            CampaignLoop(session.plan, session.targets, file, observer, interruption).run()
    except JobError as error:
        # The original sentence names a file that is about to be deleted.
        causes = [cause_of(failure).line for failure in load(path).failures]
        raise JobError(": ".join(["nothing could be measured", *causes[:1]]), error.hint) from None
    return load(path)


def probe_hosts(plan: Plan, where: str, observer: Observer, interruption: Interruption) -> Result:
    """Run one launch with a rank on each host, to learn what the hosts are.

    Args:
        plan: The hosts, and how ranks are started; what to measure is replaced.

    Raises:
        MpigaugeError: A host does not answer, or ranks cannot be started on all hosts.
    """
    plan = with_lab_and_hosts(plan)
    return run_probe(
        replace(
            plan,
            measure=(Measure("barrier"),),
            ranks=(len(plan.hosts),),
            launches_min=1,
            launches_max=1,
            visits=1,
            # That a barrier ends is asked, not how long it takes: where ranks share cores that is seconds.
            rounds_min=1,
            rounds_max=1,
        ),
        where,
        observer,
        interruption,
    )
