"""The circumstances of a result, each with its name: where, with what, how and when it was measured."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.plan.library_names import library_name
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
    """All that is recorded of how a result came about, by what it is about; nothing that is not known."""
    found = {
        "measurement": [*_file(result), *(_imported(result) if _is_imported(result) else _plan(result))],
        "machine": [*_machine(measured_machine(result)), *_hosts(result)],
        "libraries": _libraries(result),
        "launches": [*_launches(result), *_resumed(result)],
    }
    known = {title: [(name, text) for name, text in mine if text] for title, mine in found.items()}
    return {title: mine for title, mine in known.items() if mine}


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
    online = f" of {machine.cores_online}" if machine.cores_online not in (0, machine.cores) else ""
    yield "cores", f"{machine.cores}{online}" if machine.cores else ""
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
    """Of a memory nobody needs every byte."""
    return f"{size / 2**30:.1f} GiB" if size else ""


def _variables(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())


def _hosts(result: Result) -> Iterator[Circumstance]:
    if is_elsewhere(result):
        yield "started from", result.campaign.environment.host
    hosts = result.campaign.plan.hosts
    yield "hosts", ", ".join(f"{host.name} ({host.slots})" for host in hosts)
    lab = result.campaign.plan.lab
    if lab is not None:
        yield "emulated network", "; ".join(lab_words(lab))


def _libraries(result: Result) -> list[Circumstance]:
    """Each with its name before all that is of it, if there are several."""
    libraries = result.campaign.libraries
    return [each for library in libraries for each in _library(library, several=len(libraries) > 1)]


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
    """Return whether others have measured all of it: it had no plan of ours."""
    return bool(result.imported) and not result.launches


def _imported(result: Result) -> Iterator[Circumstance]:
    """What is known of texts of others: where numbers are from, and what they are of their samples."""
    cells = result.campaign.cells
    yield "cells", str(len(cells))
    yield "ranks", ", ".join(map(str, sorted({cell.ranks for cell in cells if cell.ranks})))
    yield "read from", ", ".join(dict.fromkeys(one.source.partition(": line")[0] for one in result.imported))
    yield "numbers are", "; ".join(dict.fromkeys(one.statistic or UNKNOWN for one in result.imported))
    yield "lines not read", str(len(result.unread) or "")


def _plan(result: Result) -> Iterator[Circumstance]:
    plan = result.campaign.plan
    for table in plan.measure:
        asked = [table.pattern, *table.modes, *([f"sizes {table.sizes}"] if table.sizes else [])]
        yield "plan", ", ".join(asked)
    yield "cells", str(len(result.campaign.cells))
    yield "ranks", ", ".join(map(str, plan.ranks))
    yield "transports asked for", ", ".join(plan.transports)
    yield "placements", ", ".join(plan.placements)
    yield "launches planned", f"{plan.launches_min} to {plan.launches_max}"
    yield "precision", units.format_relative(plan.precision)
    yield "time budget", units.format_duration(plan.budget_s) if plan.budget_s else ""
    yield "binding", plan.binding
    yield "variables of the plan", _variables(plan.variables)
    yield "launcher options", shlex.join(plan.mpi_options)
    yield "seed", str(plan.seed)


def _launches(result: Result) -> Iterator[Circumstance]:
    """Of every job on its own in what jobs differ, so that each can be repeated."""
    numbers = {launch.number for launch in result.launches}
    yield "launches", str(len(numbers) or "")
    yield from _jobs(result)
    jobs_said = ((launch.job, launch.library) for launch in result.launches)
    said = {(library_name(job.mpi, job.mpi_version, job.label), text) for job, text in jobs_said}
    for name, text in sorted(said):
        yield f"library says, {name}" if len(said) > 1 else "library says", " ".join(text.split())
    loads = [launch.load_average for launch in result.launches if launch.load_average is not None]
    yield "load before launches", f"{min(loads):.2f} to {max(loads):.2f}" if loads else ""
    ends = [end for end in result.ends if end.reason != IMPORTED]
    yield "stopped", ", ".join(f"{end.reason} after {units.format_duration(end.elapsed_s)}" for end in ends)


def _jobs(result: Result) -> Iterator[Circumstance]:
    """What was launched, how: once what all jobs have in common, then job after job."""
    launched: dict[JobKey, list[Launch]] = {cell.job: [] for cell in result.campaign.cells}
    for launch in result.launches:
        launched.setdefault(launch.job, []).append(launch)
    jobs = {job: _job(launches) for job, launches in launched.items() if launches}
    common = [name for name in OF_A_JOB if len({mine[name] for mine in jobs.values()}) == 1]
    for mine in list(jobs.values())[:1]:
        yield from ((name, mine[name]) for name in common)
    for job, mine in jobs.items():
        yield from ((f"{name}, {job.name}", mine[name]) for name in OF_A_JOB if name not in common)


OF_A_JOB: Mapping[str, Callable[[Launch], str]] = {
    "command": lambda launch: shlex.join(launch.command),
    "variables set": lambda launch: _variables(launch.variables) or ("none" if launch.command else ""),
    "transport": lambda launch: launch.reported,
    "clock": lambda launch: launch.clock,
}
"""What a launch was made with, by its name."""


def _job(launches: Sequence[Launch]) -> Mapping[str, str]:
    """What the launches of one job were made with; more than one text where it was continued otherwise."""
    return {
        name: "; later: ".join(dict.fromkeys(filter(None, map(text, launches))))
        for name, text in OF_A_JOB.items()
    }


def _resumed(result: Result) -> Iterator[Circumstance]:
    for one in result.resumed:
        differs = ", ".join(f"{each.what}: {each.then} became {each.now}" for each in one.differs)
        yield "continued", "; ".join(filter(None, [one.started, differs]))
