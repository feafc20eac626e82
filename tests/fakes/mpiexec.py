"""What the fake mpiexec makes of its words, and how it starts a kernel: as rank 0, in its own session."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

FLAGS = {
    kind: frozenset({"--allow-run-as-root", "--oversubscribe", "--use-hwthread-cpus"})
    for kind in ("openmpi", "spectrum", "fujitsu")
}
"""Which of them a kind of library wants to be told; all others know none."""

NO_SLOTS = """\
--------------------------------------------------------------------------
There are not enough slots available in the system to satisfy the {ranks}
slots that were requested by the application:

  {program}

Either request fewer procs for your application, or make more slots
available for use.
--------------------------------------------------------------------------"""


def started(kind: str, words: Sequence[str], environ: MutableMapping[str, str]) -> list[str]:
    """The words of the program; its environment learns how many ranks there are, and where.

    Raises:
        SystemExit: As a launcher refuses words.
    """
    words = list(words)
    known, flags, ranks, hosts = FLAGS.get(kind, frozenset()), set(), 0, []
    while words[0].startswith("-"):
        flag = words.pop(0)
        if flag == "-n":
            ranks = int(words.pop(0))
        elif flag == "--host":
            host, _, slots = words.pop(0).partition(":")
            hosts = [host] * int(slots)
        elif flag == "--hostfile":
            with open(words.pop(0)) as file:  # noqa: PTH123 - pathlib is slow to import
                hosts = file.read().split()
            assert words[:2] == ["--map-by", "seq"]
            del words[:2]
        elif flag == "-x":
            words.pop(0)
        else:
            flags.add(flag)
    if hosts:
        assert len(hosts) == ranks
        environ.setdefault("FAKE_HOSTS", ",".join(hosts))
    if unknown := flags - known:
        sys.exit("mpiexec: unknown option " + unknown.pop())
    if known and os.geteuid() == 0 and "--allow-run-as-root" not in flags:
        sys.exit("mpiexec has detected an attempt to run as root.")
    if known and not hosts and ranks > _slots(flags, environ) and "--oversubscribe" not in flags:
        sys.exit(NO_SLOTS.format(ranks=ranks, program=words[0]))
    environ["FAKE_RANKS"] = str(ranks)
    return words


def _slots(flags: set[str], environ: MutableMapping[str, str]) -> int:
    """How many ranks it takes: one for each core, FAKE_SLOTS of them, or for each hardware thread."""
    threads = len(os.sched_getaffinity(0))
    return threads if "--use-hwthread-cpus" in flags else int(environ.get("FAKE_SLOTS", threads))


def program_of(kernel: str) -> str:
    """The Python program that a kernel's second line names; empty if it is of another kind."""
    with open(kernel, "rb") as file:  # noqa: PTH123
        program = file.read(4096).split(b"\n")[1].strip(b"# ")
    return program.decode() if program.endswith(b"kernel.py") else ""


def main(kind: str) -> None:
    """What the program does that tests/fakes/mpi.py writes."""
    words = started(kind, sys.argv[1:], os.environ)
    child = os.fork()
    if child == 0:
        os.setsid()
        _become(words)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except KeyboardInterrupt:
        os._exit(130)  # and leaves its child behind, as some launchers do
    sys.exit(status if status >= 0 else 128 - status)


def _become(words: list[str]) -> None:
    """The program, in this interpreter where it is one of ours: another takes longer to start than to run."""
    program = program_of(words[0])
    if not program:
        os.execv(words[0], words)  # noqa: S606
    sys.argv = words
    with open(program, encoding="utf-8") as file:  # noqa: PTH123
        exec(file.read(), {"__name__": "__main__"})  # noqa: S102 - our own
    sys.exit()
