"""The second that Open MPI sleeps in MPI_Init: it closes its transport btl/ofi so where nothing uses that.

Every build with libfabric does, on machines without a network of libfabric's. It is no cost of what MPI_Init
makes, and each launch pays for it.
"""

import re
from collections.abc import Collection, Mapping

SINCE = (4, 1)
"""Version that has brought this transport."""

SLEEP_S, MOST_S = 1.0, 1.3
"""The sleep, and what MPI_Init takes with it at most on hosts that answer fast."""

VARIABLE, OPTION = "OMPI_MCA_btl", "btl"
"""Variable and word behind --mca that choose the transports: whoever has them has decided about this one."""

WITHOUT = "^ofi"
REMEDY = f"--env {VARIABLE}={WITHOUT}"


def may_sleep(mpi: str, version: str, variables: Mapping[str, object], options: Collection[str]) -> bool:
    """Return whether a library is one that may sleep in MPI_Init, unless its transports are chosen.

    Args:
        variables: Environment variables of the job.
        options: Those of the launcher that the user gives.
    """
    numbers = re.match(r"(\d+)\.(\d+)", version)
    known = numbers is not None and (int(numbers[1]), int(numbers[2])) >= SINCE
    return mpi == "openmpi" and known and VARIABLE not in variables and OPTION not in options


def lasts_as_long(init_s: float) -> bool:
    """Return whether MPI_Init has taken as long as it does with the sleep."""
    return SLEEP_S <= init_s <= MOST_S
