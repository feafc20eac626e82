"""Records of every kind, results made of them in memory and in files, and cells measured by a law."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from mpigauge.plan.model import Cell, JobKey, Measure, Plan
from mpigauge.plan.patterns import Pattern
from mpigauge.result.kernel_data import ClockCheck, ClockModel, RankPlace
from mpigauge.result.provenance import Environment, LibraryRecord
from mpigauge.result.reader import Result
from mpigauge.result.records import (
    FORMAT,
    VERSION,
    Blocked,
    Campaign,
    Clock,
    Done,
    Eager,
    End,
    Failure,
    Launch,
    Record,
    Visit,
)
from mpigauge.result.writer import line_of
from tests.fakes.law import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PATTERNS = msgspec.convert(describe()["patterns"], tuple[Pattern, ...])
PLACE = RankPlace("node1", "0-3", 2, 1, 25, 40, 0.0)
ENVIRONMENT = Environment(
    host="node1",
    system="Linux",
    kernel="6.1",
    cpu="Some CPU",
    cores=2,
    cores_online=4,
    memory_bytes=2**33,
    caches={"L1 Data": 32768, "L3 Unified": 2**25},
    numa_nodes=1,
    smt="off",
    governor="",
    turbo="",
    huge_pages="madvise",
    clock_source="tsc",
    hypervisor="",
    python="3.11",
    user_is_root=False,
    variables={"OMPI_FC": "gfortran"},
)
JOB = JobKey("openmpi", "5.0.11", "auto", "same-host", 2)
LIBRARY = LibraryRecord(
    name="openmpi",
    version="5.0.11",
    standard="3.1",
    mpicc="/opt/bin/mpicc",
    mpiexec="/opt/bin/mpiexec",
    origin="PATH",
    show="gcc -lmpi",
    flags="-O2",
    kernel="/cache/mpigauge-kernel",
)


def cell(pattern: str = "pingpong", size: int = 64, mode: str = "standard", **more: object) -> Cell:
    """A cell of Open MPI with two ranks, unless told otherwise."""
    words = {
        "pattern": pattern,
        "mode": mode,
        "bytes": size,
        "ranks": 2,
        "mpi": "openmpi",
        "mpi_version": "5.0.11",
    }
    return msgspec.convert(words | more, Cell)


def visit(launch: int, number: int, of: Cell, samples_ns: list[int], **more: object) -> Visit:
    """A visit whose samples are of one round trip each."""
    usual = Visit(
        launch=launch,
        id=number,
        cell=of,
        at_s=0.5,
        elapsed_s=0.1,
        batch=1,
        ops=2,
        pool_bytes=0,
        cpu_ns=2 * sum(samples_ns),
        trial_ns=[999, 300],
        warmup_ns=[250, 240],
        samples_ns=samples_ns,
    )
    return replace(usual, **more)


def collective(pattern: str = "allreduce", size: int = 64, mode: str = "blocking", **more: object) -> Cell:
    """A cell of ranks that start together, with all that its pattern asks for."""
    of = next(one for one in PATTERNS if one.name == pattern)
    factors = {"sync": "common"}
    factors |= {"datatype": "double", "op": "sum"} if of.reduces else {}
    factors |= {"root": "0"} if of.rooted else {}
    return cell(pattern, size if of.moves_bytes else 0, mode, **(factors | more))


def together(launch: int, number: int, of: Cell, samples_ns: list[int], **more: object) -> Visit:
    """A visit of such a cell; its ranks start 5 ns apart and need a little less than the whole."""
    count = len(samples_ns)
    usual = visit(
        launch,
        number,
        of,
        samples_ns,
        ops=1,
        lead_ns=4000,
        skew_ns=[5] * count,
        root_ns=[sample - 10 for sample in samples_ns],
        local_ns=[sample - 20 for sample in samples_ns],
    )
    return replace(usual, **more)


def clock(number: int, low_ns: int = -50, high_ns: int = 50, **more: object) -> Clock:
    """A check of two ranks that read one clock, in a launch of JOB but for what is told of its identity."""
    job = replace(JOB, **{field: more.pop(field) for field in JobKey.__struct_fields__ if field in more})
    usual = Clock(number, job, 0.25, shared=True, checks=(ClockCheck(1, low_ns, high_ns),))
    return replace(usual, **more)


MODELS = (ClockModel(1000, 0.0, 0.0, 0.0, 0.0), ClockModel(1000, -123.5, 1e-6, 50.0, 1e-9))


def launch(number: int, part: int = 1, job: JobKey = JOB) -> Launch:
    """A launch of two ranks."""
    return Launch(
        number=number,
        part=part,
        job=job,
        started="2026-01-01T00:00:00+00:00",
        command=("/opt/bin/mpiexec", "-n", "2", "/cache/mpigauge-kernel", "-", "-"),
        library="Open MPI v5.0.11",
        mpi_standard="3.1",
        clock="CLOCK_MONOTONIC_RAW",
        ranks_at=(PLACE, PLACE),
        load_average=0.1,
        steal_s=0.0,
        startup_s=0.2,
        variables={"I_MPI_ROOT": "/opt"},
    )


def campaign(*cells: Cell, version: int = VERSION, title: str = "a test") -> Campaign:
    """The first line of a result with these cells."""
    return Campaign(
        format=FORMAT,
        version=version,
        mpigauge="0.1.0",
        commit="",
        started="2026-01-01T00:00:00+00:00",
        plan=Plan((Measure("pingpong"),), title=title, seed=7, launches_min=2, launches_max=2),
        libraries=(LIBRARY,),
        patterns=tuple(pattern for pattern in PATTERNS if pattern.name in {cell.pattern for cell in cells}),
        cells=cells,
        environment=ENVIRONMENT,
    )


SMALL, LARGE, LIMIT = cell(size=8), cell(size=2**20), cell("eager", 2**22)
BLIND = cell("exchange", 8192, "blocking")
RECORDS: tuple[Record, ...] = (
    campaign(SMALL, LARGE, LIMIT, BLIND),
    launch(1),
    clock(1, 20, 120, shared=False, models=MODELS),
    visit(1, 0, SMALL, [200, 210, 190, 200, 220, 200]),
    visit(1, 1, LARGE, [200_000, 210_000], half_width=0.05, correlation_time=1.5),
    Eager(
        1,
        2,
        LIMIT,
        found=True,
        control_held=True,
        limit_bytes=4000,
        longer_bytes=4000,
        max_bytes=2**22,
        probes=40,
    ),
    Blocked(1, 3, BLIND, found=True, limit_bytes=4000),
    Done(1, JOB, 1.5),
    launch(2),
    visit(2, 0, SMALL, [204, 214, 194, 204, 224, 204]),
    visit(2, 1, LARGE, [1, 2], corrupt="rank 1 received 0xa5 instead of 0x17 from rank 0 at byte 3 of 64"),
    Failure(2, "corrupt", "rank 1 received 0xa5", 1, LARGE),
    Failure(2, "crash", "Segmentation fault\n\N{SNOWMAN} these are my last words", None, None, 139),
    Done(2, JOB, 1.5, (BLIND,)),
    End("launches", 3.0, "2026-01-01T00:00:00+00:00"),
)
"""A small result with a record of every kind."""


def lines_of(*records: Record) -> bytes:
    """The text of a result file."""
    return b"".join(map(line_of, records))


def written(name: str, *records: Record) -> Path:
    """A result file where we are, with the launches that its visits need and that are not given."""
    path = Path(name)
    path.write_bytes(lines_of(*_with_launches(records)))
    return path


def _with_launches(records: Iterable[Record]) -> Iterator[Record]:
    begun: set[tuple[int, JobKey]] = set()
    for one in records:
        if isinstance(one, Launch):
            begun.add((one.number, one.job))
        if isinstance(one, Visit | Eager | Blocked) and (one.launch, one.cell.job) not in begun:
            begun.add((one.launch, one.cell.job))
            yield launch(one.launch, job=one.cell.job)
        yield one


def result_of(*records: Record) -> Result:
    """A result in memory; the campaign comes first."""
    first, *others = records
    assert isinstance(first, Campaign)
    result = Result(Path("r.jsonl"), first)
    lists: dict[type, list[Any]] = {
        Launch: result.launches,
        Clock: result.clocks,
        Visit: result.visits,
        Eager: result.eager,
        Blocked: result.blocked,
        Failure: result.failures,
        Done: result.done,
        End: result.ends,
    }
    for one in others:
        lists[type(one)].append(one)
    return result


# ---- Cells that are measured by a law ------------------------------------------------------------


def eager(limit: int, **more: object) -> Eager:
    """A probe that found an eager limit, in bytes."""
    of = cell("eager", 2**22, "standard", **more)
    return Eager(
        1,
        0,
        of,
        found=True,
        control_held=True,
        limit_bytes=limit,
        longer_bytes=limit,
        max_bytes=of.bytes,
        probes=9,
    )


def launches_of(cells: Iterable[Cell], numbers: Iterable[int]) -> list[Launch]:
    """A launch of every job that the cells need, for each of these numbers."""
    jobs = dict.fromkeys(of.job for of in cells)
    return [launch(number, job=job) for number in numbers for job in jobs]


def measured(
    cells: Iterable[Cell],
    numbers: Iterable[int],
    samples_ns: Callable[[Cell, int], list[int]],
    **more: object,
) -> Iterator[Visit]:
    """One visit of every cell in each launch of these numbers.

    Args:
        samples_ns: Of a cell in a launch; none: it has no visit.
        more: Fields that all of them have.
    """
    for number in numbers:
        for place, of in enumerate(cells):
            if samples := samples_ns(of, number):
                yield (together if of.sync else visit)(number, place, of, samples, **more)


LINES_NS = {"near": 40.0, "mid": 90.0, "far": 245.0}
"""What handing over a cache line takes in each state of the machine."""


def in_states(
    cells: Iterable[Cell],
    course: Iterable[Iterable[str]],
    samples_ns: Callable[[Cell, str, int], list[int]],
    **more: object,
) -> Iterator[Visit]:
    """Visits of a machine that changes: of every launch the state in each turn, "near-far" if it changes.

    Args:
        samples_ns: Of a cell in a state (that before the samples) and a launch.
        more: Fields that all of them have.
    """
    for number, turns in enumerate(course, start=1):
        for place, (state, of) in enumerate((state, of) for state in turns for of in cells):
            before, _, after = state.partition("-")
            ends = [LINES_NS[before], LINES_NS[after or before]]
            samples = samples_ns(of, before, number)
            make = together if of.sync else visit
            yield make(
                number, place, of, samples, line_ns=ends, at_s=0.1 * place, elapsed_s=0.05, wait_ns=0, **more
            )
