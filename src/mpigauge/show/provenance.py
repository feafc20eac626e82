"""Provenance of a result by name: where, with what, how and when it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.core_words import cores_allowed
from mpigauge.plan.library_names import library_name
from mpigauge.result.home_paths import command_line, shell_word
from mpigauge.result.system_limits import SHARED_MEMORY
from mpigauge.rows.machine.machines import is_elsewhere, measured_machine
from mpigauge.rows.machine.sessions import spread_s
from mpigauge.show.head import lab_words
from mpigauge.vocabulary import IMPORTED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import JobKey
    from mpigauge.result.provenance import Environment, LibraryRecord
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch

Circumstance = tuple[str, str]


def provenance_of(result: Result) -> Mapping[str, list[Circumstance]]:
    """Return all that is recorded of the provenance of a result, by topic, without unknown values."""
    by_topic = {
        "measurement": [*_file(result), *(_imported(result) if _is_imported(result) else _plan(result))],
        "machine": [*_machine(measured_machine(result)), *_hosts(result)],
        "libraries": _libraries(result),
        "launches": [*_launches(result), *_resumed(result)],
    }
    known = {
        title: [(name, text) for name, text in circumstances if text]
        for title, circumstances in by_topic.items()
    }
    return {title: circumstances for title, circumstances in known.items() if circumstances}


def _file(result: Result) -> Iterator[Circumstance]:
    campaign = result.campaign
    yield "result", result.path.name
    yield "format", f"{campaign.format} {campaign.version}"
    yield "title", campaign.plan.title
    commit = f", commit {campaign.commit}" if campaign.commit else ""
    yield "mpigauge", f"{campaign.mpigauge}{commit}"
    yield "started", campaign.started
    if result.launches and (seconds := spread_s(result.launches, result.done)):
        yield "took", units.format_duration(seconds)


def _machine(machine: Environment) -> Iterator[Circumstance]:
    yield "host", machine.host
    yield "processor", machine.cpu
    allowed = cores_allowed(machine.cores, machine.cores_online, machine.cores_limit)
    yield "cores", allowed if machine.cores < machine.cores_online else str(machine.cores or "")
    yield "CPU limit", f"{machine.cpu_quota:g} processors" if machine.cpu_quota else ""
    yield "memory", _rounded(machine.memory_bytes)
    if machine.shared_memory_bytes >= 0:
        free, size = machine.shared_memory_free_bytes, machine.shared_memory_bytes
        yield SHARED_MEMORY, f"{units.format_rough_size(free)} free of {units.format_rough_size(size)}"
    yield "caches", ", ".join(f"{name} {units.format_size(size)}" for name, size in machine.caches.items())
    yield "shared by CPUs", "; ".join(f"{n}: {' | '.join(cpus)}" for n, cpus in machine.cpu_groups.items())
    yield "NUMA nodes", str(machine.numa_nodes or "")
    yield "hypervisor", machine.hypervisor
    yield "SMT", machine.smt
    yield "frequency governor", machine.governor
    yield "turbo", machine.turbo
    yield "huge pages", machine.huge_pages
    yield "clock source", machine.clock_source
    yield "operating system", " ".join(filter(None, [machine.system, machine.kernel]))
    yield "Python", machine.python
    yield "variables found", _variables(machine.variables)


def _rounded(size: int) -> str:
    """Return a size of memory rounded to a unit."""
    return f"{size / 2**30:.1f} GiB" if size else ""


def _variables(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={shell_word(value)}" for name, value in values.items())


def _hosts(result: Result) -> Iterator[Circumstance]:
    if is_elsewhere(result):
        yield "started from", result.campaign.environment.host
    hosts = result.campaign.plan.hosts
    yield "hosts", ", ".join(f"{host.name} ({host.slots})" for host in hosts)
    lab = result.campaign.plan.lab
    if lab is not None:
        yield "emulated network", "; ".join(lab_words(lab))


def _libraries(result: Result) -> list[Circumstance]:
    """Return the provenance of libraries, with their names in front if there are several."""
    libraries = result.campaign.libraries
    return [
        circumstance
        for library in libraries
        for circumstance in _library(library, several=len(libraries) > 1)
    ]


def _library(library: LibraryRecord, *, several: bool) -> Iterator[Circumstance]:
    name = library_name(library.name, library.version, library.label)
    of = f"{name}: " if several else ""
    yield "MPI library", f"{name} (MPI {library.standard})" if library.standard else name
    yield f"{of}found by", library.origin
    yield f"{of}from PyPI", library.wheel
    yield f"{of}compiler", " ".join([library.mpicc, *library.mpicc_options])
    yield f"{of}it runs", library.show
    yield f"{of}flags", library.flags
    yield f"{of}launcher", library.mpiexec
    yield f"{of}kernel built by", library.built_by
    yield f"{of}wheels", library.digest
    for path, settings in library.parameter_files.items():
        yield f"{of}settings in {path}", _variables(settings)


def _is_imported(result: Result) -> bool:
    """Return whether all of a result is imported, so that it has no plan of ours."""
    return bool(result.imported) and not result.launches


def _imported(result: Result) -> Iterator[Circumstance]:
    """Return the provenance of imported texts: source of the numbers, and their statistic."""
    cells = result.campaign.cells
    yield "cells", str(len(cells))
    yield "ranks", ", ".join(map(str, sorted({cell.ranks for cell in cells if cell.ranks})))
    yield "read from", ", ".join(dict.fromkeys(row.source.partition(": line")[0] for row in result.imported))
    yield "numbers are", "; ".join(dict.fromkeys(row.statistic or UNKNOWN for row in result.imported))
    yield "lines not read", str(len(result.unread) or "")


def _plan(result: Result) -> Iterator[Circumstance]:
    plan = result.campaign.plan
    for table in plan.measure:
        words = [table.pattern, *table.modes, *([f"sizes {table.sizes}"] if table.sizes else [])]
        yield "plan", ", ".join(words)
    yield "cells", str(len(result.campaign.cells))
    yield "ranks", ", ".join(map(str, plan.ranks))
    yield "transports asked for", ", ".join(plan.transports)
    yield "placements", ", ".join(plan.placements)
    yield "launches planned", f"{plan.launches_min} to {plan.launches_max}"
    yield "precision", units.format_relative(plan.precision)
    yield "time budget", units.format_duration(plan.budget_s) if plan.budget_s else ""
    yield "binding", plan.binding
    yield "variables of the plan", _variables(plan.variables)
    yield "launcher options", command_line(plan.mpi_options)
    yield "seed", str(plan.seed)


def _launches(result: Result) -> Iterator[Circumstance]:
    """Return the provenance of launches, in such detail that each job can be repeated."""
    numbers = {launch.number for launch in result.launches}
    yield "launches", str(len(numbers) or "")
    yield from _jobs(result)
    jobs_said = ((launch.job, launch.library) for launch in result.launches)
    texts = {(library_name(job.mpi, job.mpi_version, job.label), text) for job, text in jobs_said}
    for name, text in sorted(texts):
        yield f"library says, {name}" if len(texts) > 1 else "library says", " ".join(text.split())
    loads = [launch.load_average for launch in result.launches if launch.load_average is not None]
    yield "load before launches", f"{min(loads):.2f} to {max(loads):.2f}" if loads else ""
    ends = [end for end in result.ends if end.reason != IMPORTED]
    yield "stopped", ", ".join(f"{end.reason} after {units.format_duration(end.elapsed_s)}" for end in ends)


def _jobs(result: Result) -> Iterator[Circumstance]:
    """Return what was launched and how: first what all jobs have in common, then job by job."""
    launched: dict[JobKey, list[Launch]] = {cell.job: [] for cell in result.campaign.cells}
    for launch in result.launches:
        launched.setdefault(launch.job, []).append(launch)
    jobs = {job: _job(launches) for job, launches in launched.items() if launches}
    common = [name for name in OF_A_JOB if len({properties[name] for properties in jobs.values()}) == 1]
    for properties in list(jobs.values())[:1]:
        yield from ((name, properties[name]) for name in common)
    for job, properties in jobs.items():
        yield from ((f"{name}, {job.name}", properties[name]) for name in OF_A_JOB if name not in common)


OF_A_JOB: Mapping[str, Callable[[Launch], str]] = {
    "command": lambda launch: command_line(launch.command),
    "variables set": lambda launch: _variables(launch.variables) or ("none" if launch.command else ""),
    "transport": lambda launch: launch.reported,
    "clock": lambda launch: launch.clock,
}
"""Properties of a launch, by name."""


def _job(launches: Sequence[Launch]) -> Mapping[str, str]:
    """Return the properties of a job; several texts where it was continued with other ones."""
    return {
        name: "; later: ".join(dict.fromkeys(filter(None, map(text, launches))))
        for name, text in OF_A_JOB.items()
    }


def _resumed(result: Result) -> Iterator[Circumstance]:
    for session in result.resumed:
        differs = ", ".join(f"{change.what}: {change.then} became {change.now}" for change in session.differs)
        yield "continued", "; ".join(filter(None, [session.started, differs]))
