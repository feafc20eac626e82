"""Commands inside a lab: any command, or the command line of this process again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli.screen.streams import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.campaign.lab.counters import Counters
    from mpigauge.plan.lab import Lab

ITSELF = (sys.executable, "-P", "-m", "mpigauge")
LATE_SHARE = 0.02
MIN_LATE = 20
"""The user is told of late packets if there are that many and they are that large a share of all."""

NO_QUEUES = (
    "this kernel has no queues with rates (sch_htb, cls_u32): traffic in both directions at once "
    "was slower in the lab than between real hosts"
)


def enter(lab: Lab, argv: Sequence[str], where: str) -> int:
    """Run a command in a new lab; report late packets; return the command's exit status."""
    from mpigauge.campaign.lab import start

    ended = start.run(lab, argv, where)
    if not ended.queues:
        note(f"mpigauge: {NO_QUEUES}")
    if ended.counters.late >= MIN_LATE and ended.counters.late_share > LATE_SHARE:
        note(f"mpigauge: {_late(ended.counters, lab, measured=_is_own(argv))}")
    return ended.status


def same_command_in(lab: Lab, where: str) -> int:
    """Run the command line of this process again inside a new lab; return its exit status.

    A lab is a network namespace, which a running process cannot enter with its MPI jobs. The second process
    finds itself in the lab that its plan needs, and measures.
    """
    argv = click.get_current_context().find_root().obj
    return enter(lab, (*ITSELF, *argv), where)


def _is_own(argv: Sequence[str]) -> bool:
    return Path(argv[0]).name == "mpigauge" or (*argv[: len(ITSELF)],) == ITSELF


def _late(counters: Counters, lab: Lab, *, measured: bool) -> str:
    """Return how late packets were, and what to do with numbers, unless a result says that of each."""
    from mpigauge import units
    from mpigauge.document.lateness_words import consequence
    from mpigauge.plan.lab import least_delay_s
    from mpigauge.rows.warnings import RELAY_LATE_S

    what = (
        "numbers that this touches are marked: mpigauge show --all"
        if measured
        else consequence(counters.late_share, RELAY_LATE_S, least_delay_s(lab), "numbers between hosts")
    )
    return (
        f"{units.format_percent(counters.late_share)} of the lab's packets were over 50 µs late, by up to "
        f"{units.format_time(counters.latest_s)}: its relay shares the cores; {what}"
    )
