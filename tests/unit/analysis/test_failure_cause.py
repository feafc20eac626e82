"""Which of a job's last words say why: the libraries' own, as they were seen between two hosts."""

import pytest

from mpigauge.analysis.failure_cause import telling_line

NOTICED = "prterun noticed that process rank 1 with PID 52 on node h2 exited on"

OPENMPI = f"""\
usually indicates a failure in the peer process (e.g., a crash or
otherwise exiting without calling MPI_FINALIZE first).
Local host: h1
Peer host:  h2
[h1:00000] *** An error occurred in Socket closed
[h1:00000] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
--------------------------------------------------------------------------
{NOTICED}
signal 9 (Killed).
--------------------------------------------------------------------------"""

OPENMPI_HOST = """\
A daemon failed to report back after being spawned. This could
be due to several factors, including inability to find the
Local host:    h1
Remote host:   h2
Daemon exit status: 137"""

ABORTED = 'prterun has exited due to process rank 1 with PID 0 on node vm calling "abort".'
OPENMPI_INIT = """\
BTLs attempted: sm
Your MPI job is now going to abort; sorry.
MPI_INIT has failed because at least one MPI process is unreachable
from another.  This *usually* means that an underlying communication
plugin -- such as a BTL or an MTL -- has either not loaded or not
\0[vm:00000] *** An error occurred in MPI_Init
[vm:00000] *** reported by process [4229038081,1]
prterun has exited due to process rank 1 with PID 0 on node vm calling
"abort"."""
"""As where OMPI_MCA_btl names no way to oneself."""

MPICH = """\
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 40 RUNNING AT h2
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
[proxy:0@h1] HYDT_dmxu_poll_wait_for_event (demux_poll.c:76): callback returned error status
[mpiexec@h1] main (mpiexec.c:270): process manager error waiting for completion"""

INTELMPI = """\
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   RANK 1 PID 43 RUNNING AT h2
=   KILLED BY SIGNAL: 9 (Killed)"""

SLURM = """\
srun: error: Node failure on node2
srun: Job step aborted: Waiting up to 32 seconds for job step to finish."""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            OPENMPI,
            f"[h1:00000] *** An error occurred in Socket closed; {NOTICED} signal 9 (Killed).",
        ),
        (OPENMPI_INIT, f"MPI_INIT has failed because at least one MPI process is unreachable; {ABORTED}"),
        ("\0[vm:00000] *** An error occurred in MPI_Init", "[vm:00000] *** An error occurred in MPI_Init"),
        (OPENMPI_HOST, "Remote host: h2 Daemon exit status: 137"),
        (MPICH, "PID 40 RUNNING AT h2 EXIT CODE: 9"),
        (INTELMPI, "RANK 1 PID 43 RUNNING AT h2 KILLED BY SIGNAL: 9 (Killed)"),
        (SLURM, "srun: error: Node failure on node2"),
        ("[mpiexec@h1] HYDU_sock_connect: unable to connect, error 113", None),
        ("Segmentation fault\nthese are my last words", "these are my last words"),
        (f"Fatal error in MPI_Send\n{MPICH}", "Fatal error in MPI_Send; PID 40 RUNNING AT h2 EXIT CODE: 9"),
        (f"{MPICH}\nmpigauge-kernel: rank 1: no memory", "mpigauge-kernel: rank 1: no memory"),
        (f"{MPICH}\nmpigauge: host h2: cannot be reached: no route", "host h2: cannot be reached: no route"),
        ("====\n--", ""),
        ("", ""),
    ],
)
def test_the_cause_and_the_host_of_the_dead_are_told(words: str, line: str | None) -> None:
    assert telling_line(words) == (words if line is None else line)
