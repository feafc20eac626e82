"""What `mpigauge doctor` finds here: MPI libraries and their settings, the machine, and ways to run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mpigauge.doctor.table import DoctorFinding
from mpigauge.errors import EnvironmentLacksError, MpigaugeError
from mpigauge.programs import which

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.mpi.library import Library
    from mpigauge.result.surroundings import Environment

FILES_SHOWN = 5
NOTES_MOST = 6
"""Of what may be why nothing could be measured."""


def look(machine: Environment) -> dict[str, list[DoctorFinding]]:
    """Return findings by what they are about."""
    from mpigauge.doctor import system as doctor_system
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
    """Return the wheels that have overwritten each other in one environment."""
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
    """Make a lab for a moment, since only that shows whether one can be made."""
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
    from mpigauge.campaign.launch.inherited_env import carried
    from mpigauge.find.disturbances import settings_words
    from mpigauge.find.settings import choosing
    from mpigauge.mpi.parameter_files import parameter_files
    from mpigauge.result.environment import recordable

    meant = {} if context.current() is None else init.LAUNCHERS | init.BINDING
    # Those of a scheduler's job are many, and meant, too.
    variables = {name: machine.variables[name] for name in carried(machine.variables) if name not in meant}
    files = {
        library.label: {path: recordable(settings) for path, settings in parameter_files(library).items()}
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


def causes_here() -> list[str]:
    """Return what can keep a job from starting, a few lines: told where nothing could be measured."""
    from mpigauge.doctor import system as doctor_system
    from mpigauge.mpi import find
    from mpigauge.result.environment import environment

    machine = environment()
    libraries, _ = find.find_all()
    found = [*settings(machine, libraries), *doctor_system.limiting(machine)]
    return [f"{one.what}: {one.value}" for one in found if one.state != "ok"][:NOTES_MOST]
