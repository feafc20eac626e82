"""Checks of `mpigauge doctor` on this machine: MPI libraries, their settings, the system, ways to run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mpigauge.doctor.table import SCHEDULER, DoctorFinding
from mpigauge.errors import EnvironmentLacksError, MpigaugeError
from mpigauge.programs import which

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.campaign.job_run import Observer
    from mpigauge.find.settings import Setting
    from mpigauge.mpi.library import Library
    from mpigauge.result.provenance import Environment

FILES_SHOWN = 5
MAX_NOTES = 6
"""Most findings that are printed where nothing could be measured."""


def findings_by_topic(machine: Environment, observer: Observer) -> dict[str, list[DoctorFinding]]:
    """Return findings by topic; on a system other than Linux, that one alone.

    Args:
        observer: Follows the launches of what can only be found by one.
    """
    from mpigauge.doctor import system as doctor_system
    from mpigauge.doctor.start import start_findings
    from mpigauge.mpi import find

    if system := _system():
        return {"system": system}
    libraries, troubles = find.find_all()
    about_mpi = [*_libraries(libraries, [t.sentence for t in troubles]), *_clashes(libraries), _compiler()]
    return {
        "MPI": about_mpi,
        "this machine": doctor_system.machine_findings(machine),
        "what may disturb": [
            *doctor_system.disturbance_findings(machine),
            *setting_findings(machine, libraries),
            *_of_other_libraries(machine, libraries),
        ],
        "ways to run": [_scheduler(), _lab(), *start_findings(libraries, observer)],
    }


def _system() -> list[DoctorFinding]:
    from mpigauge.dependencies import check_system, system_name

    try:
        check_system()
    except EnvironmentLacksError as error:
        return [DoctorFinding("lacks", "Linux", f"this is {system_name()}", error.hint)]
    return []


def _libraries(libraries: list[Library], troubles: list[str]) -> list[DoctorFinding]:
    from mpigauge.mpi.find import INSTALL_HINT

    findings = [
        DoctorFinding(
            "ok", "MPI library", f"{library.kind.about} {library.version}, {library.mpicc} ({library.origin})"
        )
        for library in libraries
    ]
    findings += [
        DoctorFinding("note", "MPI library", sentence, "repair it, or ignore it") for sentence in troubles
    ]
    if not libraries:
        findings.append(DoctorFinding("lacks", "MPI library", "none that works", INSTALL_HINT))
    return findings


def _clashes(libraries: list[Library]) -> list[DoctorFinding]:
    """Return a finding per environment in which wheels have overwritten each other's files."""
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
    """Create a lab for a moment, the only proof that one can be created."""
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
    from mpigauge.campaign.launch.inherited_env import check_not_a_rank
    from mpigauge.units import counted

    try:
        check_not_a_rank(os.environ)
        nodes_of_job = allocation(os.environ)
    except MpigaugeError as error:  # `run` refuses to start then
        return DoctorFinding("lacks", SCHEDULER, error.sentence, error.hint)
    scheduler = manager(os.environ)
    if nodes_of_job is not None and scheduler is not None:
        nodes = f"{counted(len(nodes_of_job.nodes), 'node')}, {counted(nodes_of_job.tasks, 'task')}"
        return DoctorFinding(
            "ok",
            SCHEDULER,
            f"{scheduler.title}, job {nodes_of_job.job}: {nodes}, {nodes_of_job.nodes[0].name} first",
        )
    if which("sbatch"):
        return DoctorFinding("ok", SCHEDULER, "Slurm, outside a job: mpigauge sbatch writes a job script")
    return DoctorFinding("ok", SCHEDULER, "none")


def setting_findings(machine: Environment, libraries: Sequence[Library]) -> Iterator[DoctorFinding]:
    """Return findings on variables and parameter files: with values if they change results, else by name.

    Variables that none of the libraries reads are left out.
    """
    from mpigauge.find.settings import choosing, is_read_by

    variables = {
        name: value
        for name, value in _variables(machine).items()
        if is_read_by(name, [library.name for library in libraries] or [""])
    }
    files = {library.label: _parameter_files(library) for library in libraries}
    readers = [(library.name, files[library.label]) for library in libraries] or [("", {})]
    chosen = dict.fromkeys(
        setting
        for name, files_of_library in readers
        for setting in choosing(variables, files_of_library, name)
    )
    paths = dict.fromkeys(path for files_of_library in files.values() for path in files_of_library)
    yield from _found("MPI variables", variables, [setting for setting in chosen if not setting.file])
    yield from _found("parameter files", dict.fromkeys(paths, ""), [one for one in chosen if one.file])


def _variables(machine: Environment) -> dict[str, str]:
    """Return the variables of MPI; those of a scheduler's job are many, and set on purpose, too."""
    from mpigauge.campaign.lab import context, init
    from mpigauge.campaign.launch.inherited_env import forwarded_variables

    meant = {} if context.current() is None else init.LAUNCHERS | init.BINDING
    return {
        name: machine.variables[name] for name in forwarded_variables(machine.variables) if name not in meant
    }


def _parameter_files(library: Library) -> dict[str, dict[str, str]]:
    from mpigauge.mpi.parameter_files import parameter_files
    from mpigauge.result.environment import without_secrets
    from mpigauge.result.home_paths import shortened

    return {shortened(path): without_secrets(values) for path, values in parameter_files(library).items()}


def _found(what: str, values: Mapping[str, str], influential: Sequence[Setting]) -> Iterator[DoctorFinding]:
    """Yield what changes results, what chooses how jobs start, and the names of all others."""
    from mpigauge.find.disturbances import settings_words
    from mpigauge.find.settings import LAUNCHING

    told = {setting.file or setting.name for setting in influential}
    launching = [name for name in values if LAUNCHING.fullmatch(name) and name not in told]
    if influential:
        remedy = "they change what is measured; unset those that you did not set on purpose"
        yield DoctorFinding("note", what, "; ".join(settings_words(influential)), remedy)
    if launching:
        said = "; ".join(f"{name}={values[name]} (how jobs start)" for name in launching)
        yield DoctorFinding("note", what, said, "unset those that you did not set on purpose")
    others = [name for name in values if name not in told and name not in launching]
    if others:
        yield DoctorFinding("info", what, f"{', '.join(others)} (no known effect)")
    elif not influential and not launching:
        yield DoctorFinding("ok", what, "none set")


def _of_other_libraries(machine: Environment, libraries: Sequence[Library]) -> Iterator[DoctorFinding]:
    """Yield the variables that none of the libraries reads."""
    from mpigauge.find.settings import is_read_by

    kinds = [library.name for library in libraries] or [""]
    if names := [name for name in _variables(machine) if not is_read_by(name, kinds)]:
        value = f"{', '.join(names)} (read by no library here)"
        yield DoctorFinding("info", "MPI variables", value)


def startup_obstacles(libraries: Sequence[Library]) -> list[str]:
    """Return a few lines on what can keep a job of these libraries from starting."""
    from mpigauge.doctor import system as doctor_system
    from mpigauge.result.environment import environment

    machine = environment()
    findings = [*setting_findings(machine, libraries), *doctor_system.limit_findings(machine)]
    return [f"{finding.what}: {finding.value}" for finding in findings if finding.state != "ok"][:MAX_NOTES]
