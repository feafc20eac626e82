"""Which line of a job's last words says why, and what helps: on what real libraries and launchers have said.

`died/` has a file for each: what the situation was, how the launcher ended, the line that says why, a part of
what helps, and the words as they were kept, with other names for hosts and folders. SYMBOL FOR NULL stands
for a zero byte.
"""

import re
from pathlib import Path

import msgspec
import pytest

from mpigauge.campaign.failure_remedies import BY_HAND, REMEDIES, SILENT, cause_of, hint_for
from mpigauge.result.records import Failure
from mpigauge.rows.failure_cause import telling_line
from mpigauge.vocabulary import GAP

DIED = sorted((Path(__file__).parent / "died").glob("*.txt"))


def died(path: Path) -> tuple[dict[str, str], Failure]:
    """What a file says of a job, and the failure that it was."""
    head, _, words = path.read_text().partition("\n\n")
    said = dict(line.partition(": ")[::2] for line in head.splitlines())
    status = None if said["status"] == "None" else int(said["status"])
    words = words.rstrip("\n").replace("\N{SYMBOL FOR NULL}", "\0")
    return said, msgspec.convert(
        {"type": "failure", "launch": 1, "kind": said["kind"], "words": words, "status": status}, Failure
    )


@pytest.mark.parametrize("path", DIED, ids=lambda path: path.stem)
def test_the_line_that_says_why(path: Path) -> None:
    said, failure = died(path)
    cause = cause_of(failure)
    assert cause.line == said["says"]
    assert said["helps"] in cause.hint


OF_EVERY_WINDOW = (
    "[node1:00444] ompi/mca/osc/ucx/osc_ucx_component.c:375  Error: OSC UCX component priority set inside "
    "component query failed"
)
"""Open MPI writes it for each window that is made, and nothing is wrong then (open-mpi/ompi#14086)."""


def test_what_open_mpi_says_of_every_window_is_no_cause() -> None:
    cause = "node1: mlx5_0: Fatal error: the link is down"
    assert telling_line(f"{OF_EVERY_WINDOW}\n{cause}\n{OF_EVERY_WINDOW}") == cause
    assert telling_line(OF_EVERY_WINDOW) == ""


def test_there_is_a_sample_of_everything_that_can_be_told_apart() -> None:
    lines = [died(path)[0]["says"] for path in DIED]
    used = {hint_for(line) for line in lines}
    unseen = {remedy.hint for remedy in REMEDIES} - used
    assert all(
        any(word in hint for word in ("ulimit -n", "ulimit -u", "need less memory")) for hint in unseen
    )
    assert len(DIED) >= 60


@pytest.mark.parametrize("path", DIED, ids=lambda path: path.stem)
def test_no_fragment_of_a_sentence_is_shown(path: Path) -> None:
    said, _ = died(path)
    first = said["says"]
    known = r"(prterun|mpiexec\S*|the job|journal|its) "
    starts_small = re.match(r"[a-z]+ ", first) and not re.match(known, first)
    assert not starts_small
    assert "\0" not in first
    assert not first.endswith((" the", " a", " of", " to"))


NOTICED = "prterun noticed that process rank 1 with PID 52 on node h2 exited on"
BETWEEN_HOSTS = f"""\
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
"""What older files hold: the last forty lines, the first of them in the middle of a paragraph."""

MPICH = """\
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 40 RUNNING AT h2
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
[proxy:0@h1] HYDT_dmxu_poll_wait_for_event (demux_poll.c:76): callback returned error status
[mpiexec@h1] main (mpiexec.c:270): process manager error waiting for completion"""

SLURM = """\
srun: error: Node failure on node2
srun: Job step aborted: Waiting up to 32 seconds for job step to finish."""

INTELMPI_TWICE = """\
=   RANK 0 PID 42 RUNNING AT h1
=   KILLED BY SIGNAL: 9 (Killed)
=   RANK 1 PID 43 RUNNING AT h2
=   KILLED BY SIGNAL: 11 (Segmentation fault)"""

WRAPPED = "Please adjust your include or exclude to allow the selection of an\navailable interface."


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (BETWEEN_HOSTS, f"[h1:00000] *** An error occurred in Socket closed; {NOTICED} signal 9 (Killed)."),
        ("\0[vm:00000] *** An error occurred in MPI_Init", "[vm:00000] *** An error occurred in MPI_Init"),
        (MPICH, "PID 40 RUNNING AT h2 EXIT CODE: 9"),
        (INTELMPI_TWICE, "RANK 1 PID 43 RUNNING AT h2 KILLED BY SIGNAL: 11 (Segmentation fault)"),
        (SLURM, "srun: error: Node failure on node2"),
        ("[mpiexec@h1] HYDU_sock_connect: unable to connect, error 113", None),
        (WRAPPED, WRAPPED.replace("\n", " ")),
        ("well then\nthese are my last words", "these are my last words"),
        (f"Fatal error in MPI_Send\n{MPICH}", "Fatal error in MPI_Send; PID 40 RUNNING AT h2 EXIT CODE: 9"),
        (f"{MPICH}\nmpigauge-kernel: rank 1: no memory", "mpigauge-kernel: rank 1: no memory"),
        (f"{MPICH}\nmpigauge: host h2: cannot be reached: no route", "host h2: cannot be reached: no route"),
        (f"sh: 1: srun: not found\n{GAP}\nand then an error", "sh: 1: srun: not found"),
        ("ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded: ignored.\nbad luck", "bad luck"),
        ("error checking    : enabled\nFatal error in internal_Init\n====", "Fatal error in internal_Init"),
        ("error checking    : enabled\nrank 1 is gone", "rank 1 is gone"),
        ("====\n--", ""),
        ("", ""),
    ],
)
def test_the_cause_and_the_host_of_the_dead_are_told(words: str, line: str | None) -> None:
    assert telling_line(words) == (words if line is None else line)


@pytest.mark.parametrize(
    ("kind", "status", "line"),
    [
        ("crash", 153, "SIGXFSZ: File size limit exceeded"),
        ("crash", -11, "SIGSEGV: Segmentation fault"),
        ("crash", 3, f"{SILENT} and ended with status 3"),
        ("crash", None, SILENT),
        ("timeout", 143, SILENT),
    ],
)
def test_a_job_that_said_nothing_still_ended_somehow(kind: str, status: int | None, line: str) -> None:
    failure = msgspec.convert(
        {"type": "failure", "launch": 1, "kind": kind, "words": "", "status": status}, Failure
    )
    assert cause_of(failure).line == line


def test_what_is_not_known_has_a_hint_that_misleads_nobody() -> None:
    assert hint_for("xyzzy") == BY_HAND
