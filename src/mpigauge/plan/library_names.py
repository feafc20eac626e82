"""Names of MPI libraries for people, in sentences, titles and legends. The one list of them.

Plans, options, columns and JSON have `openmpi`, which users type and programs look for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND_NAMES: Mapping[str, str] = {
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
"""Names by kind of library; a library of an unknown kind is called by its kind."""


def kind_name(mpi: str) -> str:
    """Return the name of a kind of library."""
    return KIND_NAMES.get(mpi, mpi)


def library_name(mpi: str, mpi_version: str, label: str) -> str:
    """Return a library's name, such as `main MPICH 5.0.2`, or `MPICH 5.0.2` without a label."""
    return " ".join(filter(None, (label, kind_name(mpi), mpi_version)))
