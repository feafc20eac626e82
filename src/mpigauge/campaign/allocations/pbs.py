"""The allocation of a job of PBS Pro, OpenPBS or Torque."""

from collections.abc import Mapping

from mpigauge.campaign.allocations.allocation import Allocation, of_file


def allocation(environ: Mapping[str, str]) -> Allocation:
    """Return the hosts of PBS_NODEFILE: one line per MPI process that was asked for."""
    return of_file(environ["PBS_JOBID"], "PBS_NODEFILE", environ["PBS_NODEFILE"])
