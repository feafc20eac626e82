"""`mpigauge doctor`: what is here, what may disturb a measurement, and what to do."""

from __future__ import annotations

import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import assignments, format_option, place_options, spelling_in_run
from mpigauge.dependencies import check_system
from mpigauge.errors import EXIT_DONE, EXIT_ENVIRONMENT, EXIT_SIGNAL_BASE, MpigaugeError, UsageError

if TYPE_CHECKING:
    from mpigauge.doctor.table import DoctorFinding

FILES_SHOWN = 5
WATCH_LEAST_S, WATCH_MOST_S = 1.0, 3600.0
LINE_PATTERN = "cacheline"
"""Pattern that two ranks run while the machine is watched."""


@click.command("doctor")
@click.option(
    "--watch",
    "duration",
    metavar="[TIME]",
    is_flag=False,
    flag_value="10s",
    help="Watch this machine for 10s, or so long (1min): is it quiet, and does it change?",
)
@place_options
@click.option(
    "--mpi",
    metavar="NAME",
    shell_complete=completers.libraries,
    help="MPI library that starts ranks on hosts.",
)
@format_option()
def command(duration: str | None, mpi: str | None, form: str, **place: Any) -> int:
    """Check this machine: MPI libraries, compiler, cores, clock, load; or hosts: in what they differ.

    \b
    mpigauge doctor
    mpigauge doctor --watch 10s
    mpigauge doctor --hosts node[1-16]
    mpigauge doctor --format json
    """
    if duration is not None or place["hosts"]:
        check_system()
    if duration is not None:
        _refuse("is not for --watch, which looks at this machine alone", mpi=mpi, **place)
        return _watch(duration, form)
    from msgspec import to_builtins

    from mpigauge.cli.screen.progress import NoProgress
    from mpigauge.doctor.this_machine import findings_by_topic
    from mpigauge.result.environment import environment

    machine = environment()
    # What fails here becomes a finding or nothing, so the observer need not print it.
    grouped = findings_by_topic(machine, NoProgress(StringIO()))
    if place["hosts"]:
        grouped["hosts"], number = _hosts(mpi, **place)
        if number is not None:
            return EXIT_SIGNAL_BASE + number
    else:
        _refuse("says how ranks start on hosts: name them by --hosts", mpi=mpi, **place)

    from mpigauge.cli.screen.tables import rendered
    from mpigauge.doctor.table import document

    click.echo(rendered(document(grouped, to_builtins(machine)), form), nl=False)
    lacking = any(finding.state == "lacks" for group in grouped.values() for finding in group)
    return EXIT_ENVIRONMENT if lacking else EXIT_DONE


def _watch(duration: str, form: str) -> int:
    """Watch this machine for a while; a signal ends it with what was seen until then."""
    from mpigauge import units

    seconds = units.parse_duration(duration)
    if not WATCH_LEAST_S <= seconds <= WATCH_MOST_S:
        raise UsageError(f"--watch {duration}: is not between 1 s and 1 h", "10s shows what is usual")

    from mpigauge.campaign import watch
    from mpigauge.campaign.launch.interruption import Interruption
    from mpigauge.cli.screen.progress import NoProgress
    from mpigauge.cli.screen.tables import rendered
    from mpigauge.doctor.watch_table import document
    from mpigauge.result.environment import cores_allowed

    no_ranks = "" if cores_allowed() > 1 else "two ranks would share the core"
    with Interruption() as interruption:
        try:
            if not no_ranks:
                watched = watch.watch_by_ranks(LINE_PATTERN, seconds, NoProgress(sys.stderr), interruption)
        except MpigaugeError as error:
            no_ranks = error.sentence
        if no_ranks:
            watched = watch.watch_alone(seconds, interruption)
        signal_number = interruption.signal
    click.echo(rendered(document(watched, cores=cores_allowed(), no_ranks=no_ranks), form), nl=False)
    return EXIT_DONE if signal_number is None else EXIT_SIGNAL_BASE + signal_number


def _hosts(
    mpi: str | None, variables: tuple[str, ...], **place: Any
) -> tuple[list[DoctorFinding], int | None]:
    """Return findings on hosts, and the signal that ended the check, if one did."""
    from mpigauge.campaign.launch.interruption import Interruption
    from mpigauge.cli.screen.progress import NoProgress
    from mpigauge.doctor.hosts import host_findings

    # Failures become findings, so the observer need not print them.
    silent = NoProgress(StringIO())
    with Interruption() as interruption:
        findings = host_findings(silent, interruption, mpi, variables=assignments(variables), **place)
        return findings, interruption.signal


def _refuse(why: str, **options: Any) -> None:
    """Refuse options that would have no effect."""
    for name, value in options.items():
        if value:
            raise UsageError(f"{spelling_in_run(name)} {why}", "mpigauge doctor --help")
