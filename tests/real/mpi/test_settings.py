"""Variables that are varied, on real libraries: those that they do not know are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.mpi.variables import unknown_variables
from tests.real.mpi.conftest import PREFIXES, prefix

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.mpi

KNOWN: Mapping[str, tuple[str, ...]] = {
    "openmpi": ("OMPI_MCA_btl_sm_eager_limit", "OMPI_MCA_coll_tuned_allreduce_algorithm", "OMPI_MCA_btl"),
    "mpich": ("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "MPIR_CVAR_CH4_NETMOD"),
    "intelmpi": ("I_MPI_ADJUST_ALLREDUCE", "I_MPI_FABRICS"),
}
"""Of each library, variables of its documentation."""


@pytest.mark.parametrize("name", PREFIXES)
def test_known_variables_are_known_and_mistyped_ones_are_not(name: str) -> None:
    library = find.find(prefix(name))
    mistyped = [f"{variable[:-1]}_" for variable in KNOWN[name]]
    names = [*KNOWN[name], *mistyped, "UCX_TLS"]
    assert unknown_variables(library, kernel.build(library), names) == mistyped
