"""`mpigauge lab`: emulated hosts on this machine, for one command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.launch.lab.counters import Counters
    from mpigauge.plan.lab import Lab
    from mpigauge.plan.model import Plan

LATE_SHARE = 0.02
LATE_LEAST = 20
"""From so many late packets on, if they are so large a share of all, it is told."""

NO_QUEUES = (
    "this kernel has no queues with rates (sch_htb, cls_u32): traffic in both directions at once "
    "was slower in the lab than between real hosts"
)


@click.command("lab", context_settings={"allow_interspersed_args": False})
@click.option("--hosts", type=int, default=2, show_default=True, metavar="N", help="How many: h1 ... hN.")
@click.option(
    "--rate", default="1gbit", show_default=True, metavar="RATE", help="Of each host's port, or none."
)
@click.option(
    "--delay", default="20us", show_default=True, metavar="TIME", help="One way, beside the time on the wire."
)
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="hA-hB:rate=RATE,delay=TIME",
    help="A pair with a cable or a delay of its own; repeatable.",
)
@click.option(
    "--host",
    "ports",
    multiple=True,
    metavar="hA:rate=RATE,delay=TIME",
    help="A host with a port of another rate, or farther away; repeatable.",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[--] [COMMAND]...")
def command(
    *,
    hosts: int,
    rate: str,
    delay: str,
    links: tuple[str, ...],
    ports: tuple[str, ...],
    words: tuple[str, ...],
) -> int:
    """Run COMMAND on h1 of some emulated hosts, which end with it; without one, your shell.

    Every host has its own network, address, name and shared memory. Packets between them take the time
    that the rates and delays say. Nothing of this machine is changed, and root is not needed.

    \b
    mpigauge lab --hosts 4 --rate 100mbit -- mpiexec --host h1,h2,h3,h4 ./program
    mpigauge lab --hosts 3 --link h1-h3:rate=100mbit,delay=1ms -- mpigauge run pingpong
    mpigauge lab --hosts 4 --host h3:rate=100mbit
    """
    from mpigauge.plan.lab import HOSTS_MOST, Lab, Link, Port

    if not 1 <= hosts <= HOSTS_MOST:
        raise UsageError(f"--hosts: {hosts} hosts are not possible", f"take 1 to {HOSTS_MOST}")
    lab = Lab(
        hosts=hosts,
        rate=rate,
        delay=delay,
        links=tuple(Link(*_described("--link", text)) for text in links),
        ports=tuple(Port(*_described("--host", text)) for text in ports),
    )
    return enter(lab, words or (os.environ.get("SHELL") or "/bin/sh",), "the command line")


def _described(option: str, text: str) -> tuple[str, str | None, str | None]:
    """`h1-h3:rate=100mbit,delay=1ms` as its three parts."""
    name, _, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",")]
    values = {key.strip(): value.strip() for key, _, value in pairs}
    if not values.keys() <= {"rate", "delay"} or not all(values.values()) or len(pairs) != len(values):
        raise UsageError(f"{option}: {text!r} is not understood", "write it as NAME:rate=100mbit,delay=1ms")
    return name.strip(), values.get("rate"), values.get("delay")


def again_in(plan: Plan, where: str) -> tuple[Plan, int | None]:
    """The plan with the lab that we are in, or the exit status of these same words in the lab that it wants.

    Raises:
        UsageError: It wants another lab than the one that we are in.
    """
    from msgspec.structs import replace

    from mpigauge.launch.lab import context

    here = context.current()
    if here is None:
        if plan.lab is None:
            return plan, None
        words = click.get_current_context().find_root().obj
        return plan, enter(plan.lab, (sys.executable, "-m", "mpigauge", *words), where)
    if plan.lab not in (None, here.table):
        raise UsageError(
            f"{where}: its lab is another than this one", "leave this lab: the plan makes its own"
        )
    return replace(plan, lab=here.table), None


def enter(lab: Lab, words: Sequence[str], where: str) -> int:
    """Runs the words in a new lab; says so if its relay could not keep up; their exit status."""
    from mpigauge.launch.lab import start

    ended = start.run(lab, words, where)
    if not ended.queues:
        click.echo(f"mpigauge: {NO_QUEUES}", err=True)
    if ended.counters.late >= LATE_LEAST and ended.counters.late_share > LATE_SHARE:
        click.echo(f"mpigauge: {_late(ended.counters)}", err=True)
    return ended.status


def _late(counters: Counters) -> str:
    from mpigauge import units

    return (
        f"{units.format_percent(counters.late_share)} of {counters.forwarded} packets of the lab were more "
        f"than 50 µs late, the latest {units.format_time(counters.latest_s)}: its relay shares the cores "
        "with what was measured"
    )
