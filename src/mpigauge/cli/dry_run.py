"""What --dry-run prints: the commands of a campaign, and the cells that each of them measures."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.campaign.prepare import Session
    from mpigauge.plan.model import Cell


def what_would_run(session: Session) -> str:
    """A paragraph per job: its command line with its variables, and a line per cell."""
    from mpigauge.campaign.jobs import job_of, words_of
    from mpigauge.plan.model import by_job

    plan = session.plan
    lab = [f"in a lab of {plan.lab.hosts} hosts:"] if plan.lab else []
    lines = [*lab, f"seed {plan.seed}, {plan.launches_min} to {plan.launches_max} launches of each of:"]
    for target in session.targets:
        for key, cells in by_job(target.cells).items():
            job = job_of(plan, target, key)
            variables = [f"{name}={shlex.quote(value)}" for name, value in job.environment.items()]
            lines.append("  " + " ".join([*variables, shlex.join(words_of(plan, target, job))]))
            lines += [f"    {_described(cell)}" for cell in cells]
    return "\n".join([*lines, ""])


def _described(cell: Cell) -> str:
    from mpigauge.show.words.factors import DETAILS, phrases_of

    pair = [f"between ranks {cell.pair}"] if cell.pair else []
    factors = phrases_of(cell, DETAILS).values()
    return ", ".join([f"{cell.pattern} {cell.mode} {cell.bytes} B", *pair, *factors])
