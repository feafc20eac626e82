"""Checks of `mpigauge doctor` on the system: processors, memory, limits, network, and disturbances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.doctor.table import DoctorFinding
from mpigauge.document.core_words import cores_allowed, limit_of
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.result.interfaces import Interface
    from mpigauge.result.provenance import Environment

BUSY_LOAD_PER_CORE = 0.3
SHARED_MEMORY_LEAST_BYTES = 256 * 2**20
"""Enough for two ranks of any of the libraries; containers often have 64 MiB."""

FEW_PROCESSES = 128
"""A launcher with two ranks has up to thirty threads, and the user runs other programs."""

FEW_FILES = 512
"""A lower limit of open files allows few connections; the usual limit is 1024."""

PTRACE_ROOT_ONLY = 2
"""From this value of ptrace_scope on, only ranks of root read the memory of other ranks."""


def machine_findings(machine: Environment) -> list[DoctorFinding]:
    """Return findings on what the machine has."""
    return [
        _cores(machine),
        *_threads(machine),
        *_quota(machine),
        _caches(machine),
        _clock(machine),
        _shared_memory(),
        _temporary_files(),
        *_processes(),
        _copies(),
        *_network(),
        *_limits(),
    ]


def limit_findings(machine: Environment) -> list[DoctorFinding]:
    """Return findings on what may keep a job from starting: limits and missing parts."""
    return [_shared_memory(), *_quota(machine), *_network(), *_limits()]


def disturbance_findings(machine: Environment) -> list[DoctorFinding]:
    """Return findings on what may change numbers during a measurement."""
    return [_governor(machine), _load(machine), _hypervisor(machine)]


def _cores(machine: Environment) -> DoctorFinding:
    nodes = counted(machine.numa_nodes, "NUMA node")
    limit = limit_of(machine.cores, machine.cores_online, machine.cores_limit)
    value = (
        f"{cores_allowed(machine.cores, machine.cores_online, machine.cores_limit)}, {machine.cpu}, {nodes}"
    )
    if machine.cores < 2:  # noqa: PLR2004 - two ranks need two cores
        remedy = limit.remedy if limit else "use a machine with two or more"
        return DoctorFinding("note", "cores", value, f"two ranks will share a core: {remedy}")
    return DoctorFinding("ok", "cores", value)


def _threads(machine: Environment) -> Iterator[DoctorFinding]:
    """Return a finding where SMT is on: two ranks on threads of one core share its caches and units."""
    if machine.smt == "on":
        yield DoctorFinding("info", "SMT", "on: two ranks may be on threads of one core, unless --bind core")


def _quota(machine: Environment) -> Iterator[DoctorFinding]:
    if machine.cpu_quota:
        remedy = "ranks that wait by polling use it up, and are stopped: raise the limit of the container"
        yield DoctorFinding("note", "CPU quota", f"{machine.cpu_quota:g} processors' worth of time", remedy)


def _caches(machine: Environment) -> DoctorFinding:
    from mpigauge import units

    sizes = [f"{name} {units.format_size(size)}" for name, size in machine.caches.items()]
    return (
        DoctorFinding("ok", "caches", ", ".join(sizes))
        if sizes
        else DoctorFinding("info", "caches", "not visible")
    )


def _clock(machine: Environment) -> DoctorFinding:
    from mpigauge.result.environment import GOOD_CLOCK_SOURCES

    if not machine.clock_source:
        return DoctorFinding("info", "clock source", "not visible")
    if machine.clock_source in GOOD_CLOCK_SOURCES:
        return DoctorFinding("ok", "clock source", machine.clock_source)
    return DoctorFinding(
        "note",
        "clock source",
        machine.clock_source,
        "it is slow to read: boot with clocksource=tsc if the CPU has one",
    )


def _shared_memory() -> DoctorFinding:
    """Return a finding on the room for shared-memory segments of MPI libraries."""
    from mpigauge import units
    from mpigauge.result.system_limits import SHARED_MEMORY, shared_memory_bytes, shared_memory_free_bytes

    size, free = shared_memory_bytes(), shared_memory_free_bytes()
    if size is None:
        remedy = "MPICH will not start: mount a tmpfs there"
        return DoctorFinding("note", SHARED_MEMORY, "not writable", remedy)
    if size < SHARED_MEMORY_LEAST_BYTES:
        remedy = "jobs with several ranks may die or leave shared memory: docker run --shm-size=1g"
        return DoctorFinding("note", SHARED_MEMORY, f"{units.format_rough_size(size)} only", remedy)
    if free is not None and free < SHARED_MEMORY_LEAST_BYTES:
        value = f"{units.format_rough_size(free)} free of {units.format_rough_size(size)}"
        return DoctorFinding(
            "note", SHARED_MEMORY, value, f"remove what is left in it: ls -l {SHARED_MEMORY}"
        )
    return DoctorFinding("ok", SHARED_MEMORY, "writable")


def _temporary_files() -> DoctorFinding:
    """Return a finding on the folder for temporary files of launchers, compilers and ourselves."""
    import os
    import tempfile

    from mpigauge import room, units

    what, wanted = "temporary files", os.environ.get("TMPDIR", "")
    try:
        folder = tempfile.gettempdir()
    except OSError:
        return DoctorFinding(
            "lacks", what, "no folder can be written", "set TMPDIR to one that can be written"
        )
    if wanted and os.path.realpath(wanted) != os.path.realpath(folder):
        remedy = "set TMPDIR to a folder that can be written, or unset it"
        return DoctorFinding("note", what, f"{folder}, since TMPDIR cannot be written: {wanted}", remedy)
    free_bytes, files = left_room = room.room_in(folder)
    if room.is_short(left_room):
        left = f"{folder} has {units.format_size(free_bytes)} and {units.counted(files, 'file')} left"
        return DoctorFinding("note", what, left, "launchers need more: remove what is there, or set TMPDIR")
    return DoctorFinding("ok", what, folder)


def _processes() -> Iterator[DoctorFinding]:
    """Return a note if the user may have few processes; root is not limited."""
    from mpigauge.result import system_limits
    from mpigauge.result.environment import user_is_root

    limit = system_limits.processes()
    if limit is not None and limit <= FEW_PROCESSES and not user_is_root():
        remedy = "launchers, ranks and their threads count: raise ulimit -u"
        yield DoctorFinding("note", "processes", f"{limit} at most for this user", remedy)


def _copies() -> DoctorFinding:
    """Return whether a rank may read another one's memory, which saves a copy of each large message."""
    from mpigauge.campaign.launch import single_copies
    from mpigauge.result.system_limits import ptrace_scope

    what, scope, refusal = "single copies (CMA)", ptrace_scope(), single_copies.refusal()
    if refusal is None:
        return DoctorFinding("info", what, "not visible: it cannot be tried here")
    if refusal and (scope or 0) < PTRACE_ROOT_ONLY:
        remedy = (
            "a sandbox keeps processes apart: MPICH ends at large messages unless MPIR_CVAR_CH4_CMA_ENABLE=0 "
            "is set; in a container: --cap-add SYS_PTRACE"
        )
        return DoctorFinding("note", what, f"forbidden: {refusal}", remedy)
    if scope is not None and scope >= PTRACE_ROOT_ONLY:
        remedy = "large messages are copied twice: sysctl kernel.yama.ptrace_scope=0 (root)"
        return DoctorFinding("note", what, f"forbidden: ptrace_scope {scope}", remedy)
    if scope:
        return DoctorFinding("info", what, "ptrace_scope 1: only for libraries that ask for it")
    return DoctorFinding("ok", what, "allowed")


def _network() -> Iterator[DoctorFinding]:
    """Return findings on network interfaces, and on what RDMA cards need."""
    from mpigauge import units
    from mpigauge.result.interfaces import interfaces
    from mpigauge.result.system_limits import locked_memory_bytes, open_files

    cards = interfaces()
    working = [_described(card) for card in cards if card.works]
    yield DoctorFinding("ok" if working else "info", "network", ", ".join(working) or "nothing that is up")
    files = open_files()
    if files is not None and files <= FEW_FILES:
        remedy = "over TCP each rank has a connection to each other: raise ulimit -n for as many ranks"
        yield DoctorFinding("note", "open files", f"{files} at most per process", remedy)
    limit = locked_memory_bytes()
    if limit is not None and any(card.is_rdma for card in cards):
        remedy = "RDMA cards need more: ulimit -l unlimited, in limits.conf or the unit of the daemon"
        yield DoctorFinding("note", "locked memory", f"{units.format_size(limit)} at most", remedy)


def _limits() -> Iterator[DoctorFinding]:
    """Return a finding per low limit of processes, with the option of ulimit that raises it."""
    from mpigauge import units
    from mpigauge.result.system_limits import low_limits

    for what, option, most in low_limits():
        value = f"{most} at most" if option == "u" else f"{units.format_size(most)} at most"
        yield DoctorFinding("note", what, value, f"MPI libraries may need more: ulimit -{option} unlimited")


def _described(card: Interface) -> str:
    from mpigauge import units

    speed = card.speed or (units.format_rate_in(card.bytes_per_s, "Gbit/s") if card.bytes_per_s else "")
    unit = " Gbit/s" if speed and not card.speed else ""
    return " ".join(filter(None, [card.name, f"{speed}{unit}", f"MTU {card.mtu}" if card.mtu else ""]))


def _governor(machine: Environment) -> DoctorFinding:
    if not machine.governor:
        return DoctorFinding("info", "frequency governor", "not visible")
    if machine.governor == "performance":
        return DoctorFinding("ok", "frequency governor", machine.governor)
    return DoctorFinding(
        "note", "frequency governor", machine.governor, "cpupower frequency-set -g performance (root)"
    )


def _load(machine: Environment) -> DoctorFinding:
    from mpigauge.result.environment import load_average

    load = load_average()
    value = f"{load:.2f} of {machine.cores} cores" if machine.cores > 1 else f"{load:.2f} of 1 core"
    if load <= BUSY_LOAD_PER_CORE * machine.cores:
        return DoctorFinding("ok", "load", value)
    return DoctorFinding(
        "note",
        "load",
        value,
        "other programs are running: wait for them, or ask Slurm for whole nodes (--exclusive)",
    )


def _hypervisor(machine: Environment) -> DoctorFinding:
    if not machine.hypervisor:
        return DoctorFinding("ok", "virtual machine", "no")
    return DoctorFinding(
        "note",
        "virtual machine",
        "yes",
        "other guests may use its cores at times: trust intervals, not single runs",
    )
