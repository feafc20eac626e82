"""Measurements of other benchmarks that mpigauge lacks, and why: UNMEASURED is the one list of them.

To add one: a row. Hints for such words, `mpigauge list unmeasured` and docs/peers.md are computed from it.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Unmeasured(NamedTuple):
    """Something that is not measured.

    Attributes:
        name: What people call it.
        why: Why it is not measured, or not yet, and what to do instead.
        words: Names of it in other benchmarks and in MPI, in small letters; from their beginning.
    """

    name: str
    why: str
    words: re.Pattern[str]


UNMEASURED = (
    Unmeasured(
        "files (MPI-IO)",
        "mpigauge measures messages, not files: IOR and IO500 do",
        re.compile(
            r"(p?mpi_)?file_|mpi-?io$|imb-io|(imb_)?io_|[spc]_i?(read|write)_|(imb_)?open_close|ior$|mdtest$"
        ),
    ),
    Unmeasured(
        "processes that fork (osu_latency_mp)",
        "fork safety is not a cost; run pingpong under --env RDMAV_FORK_SAFE=1 to see what it costs",
        re.compile(r"(osu_)?latency_mp"),
    ),
    Unmeasured(
        "OpenSHMEM, UPC and UPC++",
        "OpenSHMEM and UPC are other libraries than MPI: the OSU Micro-Benchmarks measure them",
        re.compile(r"(osu_)?(oshm|upc)|(open)?shmem"),
    ),
    Unmeasured(
        "NCCL and RCCL",
        "NCCL and RCCL are other libraries than MPI: nccl-tests and rccl-tests measure them",
        re.compile(r"(osu_)?(nccl|rccl|xccl)"),
    ),
    Unmeasured(
        "MPI from Python or Java",
        "MPI is measured from C: the OSU Micro-Benchmarks measure what Python and Java add",
        re.compile(r"osu_java|omb_python|mpi4py|java$|python$"),
    ),
    Unmeasured(
        "threads (osu_latency_mt, IMB-MT)",
        "threads are not measured yet; pingpong is one thread per rank",
        re.compile(r"(osu_)?latency_mt|imb[-_]mt|(multi)?-?threads?"),
    ),
    Unmeasured(
        "neighbourhood collectives",
        "neighbourhood collectives are not measured yet; neighbours exchanges messages with both neighbours",
        re.compile(r"(osu_|p?mpi_)?i?neighbou?r(hood|_)"),
    ),
    Unmeasured(
        "persistent streams (osu_bw_persistent)",
        "a persistent stream is not measured; pingpong has --mode persistent",
        re.compile(r"(osu_)?(bi)?bw_?persistent"),
    ),
    Unmeasured(
        "MPI_Ibsend, MPI_Issend, MPI_Irsend",
        "not measured; pingpong has MPI_Bsend, MPI_Ssend and MPI_Rsend: --mode buffered, synchronous, ready",
        re.compile(r"(p?mpi_)?i[bsr]send"),
    ),
    Unmeasured(
        "MPI_Raccumulate, MPI_Rget_accumulate",
        "requests are measured of MPI_Rput and MPI_Rget: --mode request of put and get",
        re.compile(r"(p?mpi_)?r(get_?)?accumulate"),
    ),
    Unmeasured(
        "the end of a job (MPI_Finalize)",
        "the end of a job is not timed; MPI_Init is, in every launch: mpigauge explain",
        re.compile(r"(p?mpi_)?finalize"),
    ),
    Unmeasured(
        "noise of the system",
        "the noise of the system is not measured by itself; mpigauge doctor says what disturbs",
        re.compile(r"(noise|jitter)$"),
    ),
    Unmeasured(
        "memory of GPUs",
        "buffers on a GPU are not measured yet: OSU and IMB have them",
        re.compile(r"gpu|cuda|rocm|(d|m|md|mh)$"),
    ),
)


def why_unmeasured(word: str) -> str:
    """Return why what a word names is not measured; empty if it names nothing of the list."""
    return next((one.why for one in UNMEASURED if one.words.match(word.lower())), "")
