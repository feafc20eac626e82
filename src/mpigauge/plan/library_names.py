"""What people call MPI libraries: the names that sentences, titles and legends have. One list of them.

Plans, options, columns and JSON say `openmpi`, which users type and programs look for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CALLED: Mapping[str, str] = {
    "openmpi": "Open MPI",
    "intelmpi": "Intel MPI",
    "mpich": "MPICH",
    "cray-mpich": "Cray MPICH",
    "mvapich": "MVAPICH",
    "parastation": "ParaStation MPI",
    "spectrum": "IBM Spectrum MPI",
    "fujitsu": "Fujitsu MPI",
    "mpt": "HPE MPT",
}
"""By kind. One of no known kind has its own words for a name."""


def called(mpi: str) -> str:
    """The name of a kind of library."""
    return CALLED.get(mpi, mpi)


def library_name(mpi: str, mpi_version: str, label: str) -> str:
    """`main MPICH 5.0.2`, or without its label."""
    return " ".join(filter(None, (label, called(mpi), mpi_version)))
