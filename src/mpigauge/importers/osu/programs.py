"""Names of OSU's programs in command lines, files and between tables, for tables without a true title.

Source: the sources of versions 5.3 to 7.4.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.importers.osu.heading import Title, buffer_places, make_title

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLLECTIVES = {
    "barrier": ("Barrier", "Barrier"),
    "bcast": ("Broadcast", "Broadcast"),
    "reduce": ("Reduce", "Reduce"),
    "allreduce": ("Allreduce", "Allreduce"),
    "reduce_scatter": ("Reduce_scatter", "Reduce_scatter"),
    "reduce_scatter_block": ("Reduce_scatter_block", "Reduce_scatter_block"),
    "gather": ("Gather", "Gather"),
    "gatherv": ("Gatherv", "Gatherv"),
    "scatter": ("Scatter", "Scatter"),
    "scatterv": ("Scatterv", "Scatterv"),
    "allgather": ("Allgather", "Allgather"),
    "allgatherv": ("Allgatherv", "Allgatherv"),
    "alltoall": ("All-to-All Personalized Exchange", "All-to-All"),
    "alltoallv": ("All-to-Allv Personalized Exchange", "All-to-Allv Personalized Exchange"),
    "alltoallw": ("All-to-Allw Personalized Exchange", "All-to-Allw Personalized Exchange"),
    "neighbor_allgather": ("Neighborhood Allgather", "Neighborhood Allgather"),
    "neighbor_allgatherv": ("Neighborhood Allgatherv", "Neighborhood Allgatherv"),
    "neighbor_alltoall": ("Neighborhood Alltoall", "Neighborhood Alltoall"),
    "neighbor_alltoallv": ("Neighborhood All-to-Allv", "Neighborhood Alltoallv"),
}
"""Words in the titles of blocking and nonblocking programs, by program."""


def _titles() -> Iterator[tuple[str, str]]:
    yield "osu_latency", "MPI Latency Test"
    yield "osu_latency_persistent", "MPI Latency Persistent Test"
    yield "osu_latency_mt", "MPI Multi-threaded Latency Test"
    yield "osu_latency_mp", "MPI Multi-process Latency Test"
    yield "osu_multi_lat", "MPI Multi Latency Test"
    yield "osu_bw", "MPI Bandwidth Test"
    yield "osu_bw_persistent", "MPI Bandwidth Persistent Test"
    yield "osu_bibw", "MPI Bi-Directional Bandwidth Test"
    yield "osu_bibw_persistent", "MPI Bi-Directional Bandwidth Persistent Test"
    yield "osu_mbw_mr", "MPI Multiple Bandwidth / Message Rate Test"
    yield "osu_put_latency", "MPI_Put Latency Test"
    yield "osu_get_latency", "MPI_Get latency Test"
    yield "osu_acc_latency", "MPI_Accumulate latency Test"
    yield "osu_get_acc_latency", "MPI_Get_accumulate latency Test"
    yield "osu_fop_latency", "MPI_Fetch_and_op latency Test"
    yield "osu_cas_latency", "MPI_Compare_and_swap latency Test"
    yield "osu_put_bw", "MPI_Put Bandwidth Test"
    yield "osu_put_bibw", "MPI_Put Bi-directional Bandwidth Test"
    yield "osu_get_bw", "MPI_Get Bandwidth Test"
    for name, (blocking, nonblocking) in _COLLECTIVES.items():
        yield f"osu_{name}", f"MPI {blocking} Latency Test"
        yield f"osu_i{name}", f"MPI Non-blocking {nonblocking} Latency Test"
        yield f"osu_{name}_persistent", f"MPI {blocking} Persistent Latency Test"


TITLES = dict(_titles())
"""Title that each program prints above its table."""

MISTITLED = ("osu_bw_fan_in", "osu_bw_fan_out", "osu_ialltoallw", "osu_neighbor_alltoallw")
"""Programs that print the title of another one in some version."""

_PROGRAM = re.compile(r"(?<![A-Za-z0-9])osu_[a-z_]+(?![a-z_]*\.py)")
_ACCELERATOR = re.compile(r"\s(?:-d|--accelerator)[ =]?(cuda|rocm|openacc|managed|sycl)\b", re.IGNORECASE)
_BUFFERS = re.compile(r"[\s(](D|H|M|MD|MH) (D|H|M|MD|MH)(?![\w=])")
_ON_DEVICE = re.compile(
    r"cuda|gpu|rocm|device|[nrx]ccl|(?<![a-z])(?:hip|d2d|h2d|d2h|dd|hd|dh)(?![a-z])", re.IGNORECASE
)
SOME_DEVICE = "GPU"
"""Device that no title names."""


def program_in(text: str) -> str:
    """Return the last of OSU's programs that a text names; empty if it names none.

    What a user has put behind a name, such as `osu_latency_node1`, is no part of it.
    """
    for word in reversed(_PROGRAM.findall(text)):
        name: str = word.strip("_")
        while name not in TITLES and name not in MISTITLED and "_" in name:
            name = name.rpartition("_")[0]
        if "_" in name:
            return name
    return ""


def title_by_command(command: str) -> Title | None:
    """Return the title of the program that a command line starts; None if it names none."""
    accelerator, buffers = _ACCELERATOR.search(command), _BUFFERS.search(command)
    device = accelerator[1].upper() if accelerator else ""
    if not device and buffers is not None and buffers.groups() != ("H", "H"):
        device = SOME_DEVICE
    return _title(program_in(command), device)


def title_by_words(text: str) -> Title | None:
    """Return the title of the program named by a file or by a line between tables; None if none is."""
    buffers = _BUFFERS.search(text)
    on_device = _ON_DEVICE.search(text) or (buffers is not None and buffers.groups() != ("H", "H"))
    return _title(program_in(text), SOME_DEVICE if on_device else "")


def buffers_in(text: str) -> str:
    """Return the places of buffers that a text states, as in device-host; versions 7.4 and later omit it."""
    match = _BUFFERS.search(text)
    return buffer_places(match[1], match[2]) if match else ""


def _title(program: str, device: str) -> Title | None:
    if not program:
        return None
    if program in MISTITLED:
        return make_title("OSU", f"MPI{device and f'-{device}'} Test").renamed(program)
    subject, _, name = TITLES[program].partition(" ")
    return make_title("OSU", f"{subject}{device and f'-{device}'} {name}")
