"""What LSF has given to the job that we run in."""

from collections.abc import Mapping

from mpigauge.campaign.allocations.allocation import Allocation, of_file


def allocation(environ: Mapping[str, str]) -> Allocation:
    """The hosts of LSB_DJOB_HOSTFILE: a line for each slot."""
    return of_file(environ["LSB_JOBID"], "LSB_DJOB_HOSTFILE", environ["LSB_DJOB_HOSTFILE"])
