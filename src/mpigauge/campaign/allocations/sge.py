"""The allocation of a Grid Engine job: SGE, Univa, Altair."""

from collections.abc import Mapping
from pathlib import Path

from mpigauge.campaign.allocations.allocation import Allocation, of_hosts
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.inputs import content_of
from mpigauge.plan.hosts import hosts_of

HINT = "ask for a parallel environment (qsub -pe), or unset PE_HOSTFILE"


def allocation(environ: Mapping[str, str]) -> Allocation:
    """Return the hosts of PE_HOSTFILE: name, slots, queue and processors per line.

    A host may be named again, for slots of another queue.

    Raises:
        EnvironmentLacksError: The file cannot be read, or a line lacks a name and a number of slots.
    """
    path = environ["PE_HOSTFILE"]
    try:
        lines = content_of(Path(path), HINT).decode("utf-8", "replace").splitlines()
    except UsageError as error:
        raise EnvironmentLacksError(f"PE_HOSTFILE: {error.sentence}", HINT) from None
    hosts = [line.split()[:2] for line in lines if line.strip()]
    try:
        return of_hosts(environ["JOB_ID"], hosts_of(",".join(map(":".join, hosts))))
    except UsageError as error:
        raise EnvironmentLacksError(f"PE_HOSTFILE: {path}: {error.sentence}", HINT) from None
