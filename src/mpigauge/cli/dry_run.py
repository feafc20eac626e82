"""What --dry-run prints: the commands of a campaign, and the cells that each of them measures."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.campaign.prepare import Session
    from mpigauge.plan.model import Cell

LINES_SHOWN = 16
"""Of a file with the hosts of the ranks."""


def what_would_run(session: Session) -> str:
    """A paragraph per job: its command line with its variables, and a line per cell."""
    from mpigauge.campaign.jobs import command_of, job_of
    from mpigauge.plan.model import by_job

    plan = session.plan
    lab = [f"in a lab of {plan.lab.hosts} hosts:"] if plan.lab else []
    lines = [*lab, f"seed {plan.seed}, {plan.launches_min} to {plan.launches_max} launches of each of:"]
    for target in session.targets:
        for key, cells in by_job(target.cells).items():
            job = job_of(plan, target, key)
            variables = [f"{name}={shlex.quote(value)}" for name, value in job.environment.items()]
            command = command_of(plan, target, job)
            lines.append("  " + " ".join([*variables, *map(_quoted, command.words)]))
            lines += ["    control arm: the same a second time, for mpigauge compare"] if key.arm else []
            lines += [f"    {_file(name, text)}" for name, text in command.files.items()]
            lines += [f"    {_described(cell)}" for cell in cells]
    return "\n".join([*lines, ""])


def _quoted(word: str) -> str:
    """A word for a shell, which fills in the folder that a file of the command is in."""
    from mpigauge.launch.job import FOLDER

    quoted = shlex.quote(word)
    return f'"{word}"' if FOLDER in word and quoted == f"'{word}'" and word.count("$") == 1 else quoted


def _file(name: str, text: str) -> str:
    """What a file of the command says, as far as it fits a line."""
    from mpigauge.launch.job import FOLDER

    lines = text.splitlines()
    more = f" ... ({len(lines)} lines)" if len(lines) > LINES_SHOWN else ""
    return f"{FOLDER}/{name}: {' '.join(lines[:LINES_SHOWN])}{more}"


def _described(cell: Cell) -> str:
    from mpigauge.show.words.factors import DETAILS, phrases_of

    pair = [f"between ranks {cell.pair}"] if cell.pair else []
    factors = phrases_of(cell, DETAILS).values()
    return ", ".join([f"{cell.pattern} {cell.mode} {cell.bytes} B", *pair, *factors])
