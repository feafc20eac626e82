"""`mpigauge doctor`: what is here, what may disturb a measurement, and what to do."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import format_option, place_options, spelled
from mpigauge.doctor.table import DoctorFinding
from mpigauge.errors import (
    EXIT_DONE,
    EXIT_ENVIRONMENT,
    EXIT_SIGNAL_BASE,
    EnvironmentLacksError,
    MpigaugeError,
    UsageError,
)
from mpigauge.programs import which

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.mpi.library import Library
    from mpigauge.result.provenance import Environment

FILES_SHOWN = 5
WATCH_LEAST_S, WATCH_MOST_S = 1.0, 3600.0
LINE_PATTERN = "cacheline"
"""What two ranks do while the machine is watched."""


@click.command("doctor")
@click.option(
    "--watch",
    "duration",
    metavar="TIME",
    help="Watch this machine for so long (10s, 1min): is it quiet, and does it change?",
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
    if duration is not None:
        _refuse("is not for --watch, which looks at this machine alone", mpi=mpi, **place)
        return _watch(duration, form)
    from msgspec import to_builtins

    from mpigauge.result.environment import environment

    machine = environment()
    grouped = _look(machine)
    if place["hosts"]:
        grouped["hosts"], number = _hosts(mpi, **place)
        if number is not None:
            return EXIT_SIGNAL_BASE + number
    else:
        _refuse("says how ranks start on hosts: name them by --hosts", mpi=mpi, **place)

    from mpigauge.cli.screen.tables import rendered
    from mpigauge.doctor.table import document

    click.echo(rendered(document(grouped, to_builtins(machine)), form), nl=False)
    lacking = any(one.state == "lacks" for group in grouped.values() for one in group)
    return EXIT_ENVIRONMENT if lacking else EXIT_DONE


def _watch(duration: str, form: str) -> int:
    """What this machine does for a while; a signal ends it with what was seen until then."""
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

    alone = "" if cores_allowed() > 1 else "two ranks would share the core"
    with Interruption() as interruption:
        try:
            if not alone:
                seen = watch.watch_by_ranks(LINE_PATTERN, seconds, NoProgress(sys.stderr), interruption)
        except MpigaugeError as error:
            alone = error.sentence
        if alone:
            seen = watch.watch_alone(seconds, interruption)
        signal_number = interruption.signal
    click.echo(rendered(document(seen, cores=cores_allowed(), alone=alone), form), nl=False)
    return EXIT_DONE if signal_number is None else EXIT_SIGNAL_BASE + signal_number


def _hosts(mpi: str | None, **place: Any) -> tuple[list[DoctorFinding], int | None]:
    """What a look at hosts has found, and the signal that ended it, if one did."""
    from mpigauge.campaign.launch.interruption import Interruption
    from mpigauge.cli.verbs.doctor_hosts import of_hosts

    with Interruption() as interruption:
        found = of_hosts(interruption, mpi, **place)
        return found, interruption.signal


def _refuse(why: str, **given: Any) -> None:
    """What would have no effect."""
    for name, value in given.items():
        if value:
            raise UsageError(f"{spelled(name)} {why}", "mpigauge doctor --help")


def _look(machine: Environment) -> dict[str, list[DoctorFinding]]:
    """Findings by what they are about."""
    from mpigauge.cli.verbs import doctor_system
    from mpigauge.mpi import find

    libraries, troubles = find.find_all()
    about_mpi = [*_libraries(libraries, [t.sentence for t in troubles]), *_clashes(libraries), _compiler()]
    return {
        "MPI": about_mpi,
        "this machine": doctor_system.of_machine(machine),
        "what may disturb": [*doctor_system.disturbing(machine), *settings(machine, libraries)],
        "ways to run": [_scheduler(), _lab()],
    }


def _libraries(libraries: list[Library], troubles: list[str]) -> list[DoctorFinding]:
    from mpigauge.mpi.find import INSTALL_HINT

    findings = [
        DoctorFinding("ok", "MPI library", f"{one.kind.about} {one.version}, {one.mpicc} ({one.origin})")
        for one in libraries
    ]
    findings += [
        DoctorFinding("note", "MPI library", sentence, "repair it, or ignore it") for sentence in troubles
    ]
    if not libraries:
        findings.append(DoctorFinding("lacks", "MPI library", "none that works", INSTALL_HINT))
    return findings


def _clashes(libraries: list[Library]) -> list[DoctorFinding]:
    """Wheels that have overwritten each other in one environment."""
    from mpigauge.mpi.install.clashes import clashes

    findings = []
    for clash in clashes(library.prefix for library in libraries):
        owner = f"now belong to {clash.winner}" if clash.winner else "are missing or changed"
        shown = ", ".join(clash.files[:FILES_SHOWN]) + (" ..." if len(clash.files) > FILES_SHOWN else "")
        value = f"{clash.label} in {clash.place} is damaged: {shown} {owner}"
        remedy = (
            "keep one MPI there: uninstall the others and reinstall it with pip install --force-reinstall; "
            f"or use mpigauge mpi add {clash.label} instead"
        )
        findings.append(DoctorFinding("note", "MPI wheels", value, remedy))
    return findings


def _compiler() -> DoctorFinding:
    compiler = which("cc") or which("gcc")
    if compiler is None:
        return DoctorFinding("lacks", "C compiler", "none", "install gcc, or: module load gcc")
    return DoctorFinding("ok", "C compiler", compiler)


def _lab() -> DoctorFinding:
    """Made for a moment, since only that shows whether one can be."""
    from mpigauge.campaign.lab import context, start

    if (lab := context.current()) is not None:
        return DoctorFinding("ok", "emulated hosts", f"this is one of them: {', '.join(lab.names)}")
    try:
        start.check()
    except MpigaugeError as error:
        return DoctorFinding("note", "emulated hosts", error.sentence, error.hint)
    return DoctorFinding("ok", "emulated hosts", "mpigauge lab works")


def _scheduler() -> DoctorFinding:
    from mpigauge.campaign.allocations import allocation, manager
    from mpigauge.units import counted

    try:
        found = allocation(os.environ)
    except EnvironmentLacksError as error:
        return DoctorFinding("note", "scheduler", error.sentence, error.hint)
    scheduler = manager(os.environ)
    if found is not None and scheduler is not None:
        nodes = f"{counted(len(found.nodes), 'node')}, {counted(found.tasks, 'task')}"
        return DoctorFinding(
            "ok", "scheduler", f"{scheduler.title}, job {found.job}: {nodes}, {found.nodes[0].name} first"
        )
    if which("sbatch"):
        return DoctorFinding("ok", "scheduler", "Slurm, outside a job: mpigauge sbatch writes a job script")
    return DoctorFinding("ok", "scheduler", "none")


def settings(machine: Environment, libraries: list[Library]) -> Iterator[DoctorFinding]:
    """Return variables and parameter files: those that change what is measured by value, others by name."""
    from mpigauge.campaign.lab import context, init
    from mpigauge.campaign.launch.inherited_env import forwarded_variables
    from mpigauge.find.disturbance_sentences import settings_words
    from mpigauge.find.settings import choosing
    from mpigauge.mpi.parameter_files import parameter_files
    from mpigauge.result.environment import without_secrets

    meant = {} if context.current() is None else init.LAUNCHERS | init.BINDING
    # Those of a scheduler's job are many, and meant, too.
    variables = {
        name: machine.variables[name] for name in forwarded_variables(machine.variables) if name not in meant
    }
    files = {
        library.label: {
            path: without_secrets(settings) for path, settings in parameter_files(library).items()
        }
        for library in libraries
    }
    readers = [(library.name, files[library.label]) for library in libraries] or [("", {})]
    chosen = dict.fromkeys(one for name, mine in readers for one in choosing(variables, mine, name))
    paths = dict.fromkeys(path for mine in files.values() for path in mine)
    remedy = "they change what is measured; unset those that you did not set on purpose"
    for what, there, found in (
        ("MPI variables", variables, [one for one in chosen if not one.file]),
        ("parameter files", paths, [one for one in chosen if one.file]),
    ):
        if found:
            yield DoctorFinding("note", what, "; ".join(settings_words(found)), remedy)
        others = ", ".join(name for name in there if name not in {one.file or one.name for one in found})
        if others or not found:
            yield (
                DoctorFinding("info", what, f"{others} (no known effect)")
                if others
                else DoctorFinding("ok", what, "none set")
            )
