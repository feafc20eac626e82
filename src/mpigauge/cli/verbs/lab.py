"""`mpigauge lab`: emulated hosts on this machine, for one command."""

from __future__ import annotations

import os

import click

from mpigauge.cli.sessions.lab_runs import enter
from mpigauge.errors import UsageError


@click.command("lab", context_settings={"allow_interspersed_args": False})
@click.option(
    "--hosts", type=int, default=2, show_default=True, metavar="N", help="Number of hosts: h1 ... hN."
)
@click.option(
    "--rate", default="1gbit", show_default=True, metavar="RATE", help="Rate of each host's port, or none."
)
@click.option(
    "--delay",
    default="20us",
    show_default=True,
    metavar="TIME",
    help="One-way delay, in addition to the time on the wire.",
)
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="hA-hB:rate=RATE,delay=TIME",
    help="A pair with its own cable or delay; repeatable.",
)
@click.option(
    "--host",
    "ports",
    multiple=True,
    metavar="hA:rate=RATE,delay=TIME",
    help="A host with a different port rate or delay; repeatable.",
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
    """Run COMMAND (default: your shell) on h1 of emulated hosts, which exist until it ends.

    Every host has its own network, address, name and shared memory. Packets between hosts take as long as
    the rates and delays imply. The machine itself is not changed, and root is not needed.

    \b
    mpigauge lab --hosts 4 --rate 100mbit -- mpiexec --host h1,h2,h3,h4 ./program
    mpigauge lab --hosts 3 --link h1-h3:rate=100mbit,delay=1ms -- mpigauge run pingpong
    mpigauge lab --hosts 4 --host h3:rate=100mbit
    """
    from mpigauge.plan.lab import MAX_HOSTS, Lab, Link, Port

    if not 1 <= hosts <= MAX_HOSTS:
        raise UsageError(f"--hosts: {hosts} hosts are out of range", f"use 1 to {MAX_HOSTS}")
    lab = Lab(
        hosts=hosts,
        rate=rate,
        delay=delay,
        links=tuple(Link(*_described("--link", text)) for text in links),
        ports=tuple(Port(*_described("--host", text)) for text in ports),
    )
    return enter(lab, words or (os.environ.get("SHELL") or "/bin/sh",), "the command line")


def _described(option: str, text: str) -> tuple[str, str | None, str | None]:
    """Return the two ends and the values of `h1-h3:rate=100mbit,delay=1ms`."""
    name, _, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",")]
    values = {key.strip(): value.strip() for key, _, value in pairs}
    if not values.keys() <= {"rate", "delay"} or not all(values.values()) or len(pairs) != len(values):
        raise UsageError(
            f"{option}: {text!r} is not a description of a link or host",
            "write it as NAME:rate=100mbit,delay=1ms",
        )
    return name.strip(), values.get("rate"), values.get("delay")
