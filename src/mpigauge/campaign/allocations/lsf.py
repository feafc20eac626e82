"""The allocation of an LSF job."""

from collections.abc import Mapping

from mpigauge.campaign.allocations.allocation import Allocation, of_file


def allocation(environ: Mapping[str, str]) -> Allocation:
    """Return the hosts of LSB_DJOB_HOSTFILE: one line per slot."""
    return of_file(environ["LSB_JOBID"], "LSB_DJOB_HOSTFILE", environ["LSB_DJOB_HOSTFILE"])
