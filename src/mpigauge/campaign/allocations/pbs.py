"""What PBS Pro, OpenPBS or Torque have given to the job that we run in."""

from collections.abc import Mapping

from mpigauge.campaign.allocations.allocation import Allocation, of_file


def allocation(environ: Mapping[str, str]) -> Allocation:
    """The hosts of PBS_NODEFILE: a line for each MPI process that was asked for."""
    return of_file(environ["PBS_JOBID"], "PBS_NODEFILE", environ["PBS_NODEFILE"])
