"""The origin of a result in words: machine, day, launches, and whether its network was emulated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.core_words import cores_of
from mpigauge.plan.library_names import library_name
from mpigauge.rows.machine.machines import measured_machine

if TYPE_CHECKING:
    from mpigauge.result.provenance import Environment
    from mpigauge.result.reader import Result

TRADE_MARKS = re.compile(r"\((R|TM)\)| CPU| Processor\b", re.IGNORECASE)


def origin_of(result: Result) -> str:
    """Return a result in a few words, its title first; only the title if it was imported."""
    campaign = result.campaign
    machine = measured_machine(result)
    launches = len({launch.number for launch in result.launches})
    words = [campaign.plan.title, host_of(result), processor_of(machine), campaign.started[:10]]
    words += [units.counted(launches, "launch")] if launches else []
    words += ["emulated network"] if campaign.plan.lab else []
    return ", ".join(filter(None, words))


def source_of(result: Result) -> str:
    """Return whose numbers a table has, for one who sees it alone; of what was imported, the title.

    `vm (Intel Xeon, 2 cores), Open MPI 5.0.11, 10 launches, 2026-11-24`
    """
    campaign, machine = result.campaign, measured_machine(result)
    launches = len({launch.number for launch in result.launches})
    kind = ", ".join(filter(None, [processor_of(machine), cores_of(machine)]))
    host = host_of(result)
    words = [f"{host} ({kind})" if host and kind else host or kind]
    words += [library_name(one.name, one.version, one.label) for one in campaign.libraries]
    words += [units.counted(launches, "launch")] if launches else []
    words += [campaign.started[:10]]
    words += ["emulated network"] if campaign.plan.lab else []
    known = launches or machine.host
    return ", ".join(filter(None, words)) if known else campaign.plan.title or measured_on(result)


def measured_on(result: Result) -> str:
    """Return where and when a result was measured, without its title unless that is all there is."""
    title = result.campaign.plan.title
    return origin_of(result).removeprefix(title).removeprefix(", ") or title


def host_of(result: Result) -> str:
    """Return the machine's name; empty in a lab, whose emulated hosts have names of no use to a reader."""
    return "" if result.campaign.plan.lab else measured_machine(result).host


def processor_of(machine: Environment) -> str:
    """Return the name of a processor without trade marks."""
    return " ".join(TRADE_MARKS.sub("", machine.cpu).split())


def names_replaced(result: Result) -> str:
    """Return that a result is a copy whose names are none that anything has; "" if they are."""
    words = " and ".join(result.campaign.without)
    return words and f"{words} replaced"
