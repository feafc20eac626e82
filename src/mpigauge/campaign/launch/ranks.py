"""The ranks of a job on this machine, recognised by the name of their program, and whether one is dead."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from mpigauge.campaign.launch.leftovers import environment_of
from mpigauge.campaign.launch.process_tree import NAME_BYTES, Process, process
from mpigauge.programs import signal_name
from mpigauge.rows.failure_cause import EXIT_ORPHANED
from mpigauge.units import counted
from mpigauge.vocabulary import ORPHANED

NUMBERS = ("PMIX_RANK", "PMI_RANK", "PMI_ID", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
"""Variables by which launchers tell a process its rank."""


class LocalRanks:
    """The ranks of a job among our descendants, watched while none may end.

    Ranks on other hosts or below a scheduler's daemon are not seen, nor ranks under another name, as in a
    debugger.

    Args:
        program: Path of the program that ranks run.
        processes: Returns the current processes of the job.
    """

    def __init__(self, program: str, processes: Callable[[], Iterable[int]]) -> None:
        self._name = os.fsencode(os.path.basename(program))[:NAME_BYTES].decode(errors="replace")  # noqa: PTH119
        self._processes = processes
        self._seen: dict[int, int] = {}

    def death(self) -> str:
        """Look at the ranks; return how the first dead one ended, in words; "" if none has."""
        now = self._now()
        for pid, rank in self._ranks(now).items():
            self._seen.setdefault(pid, rank.started)
        for pid, started in self._seen.items():
            state = now.get(pid) or process(pid)
            if state is None or state.started != started or state.is_dead:
                return _ended(pid, state if state is not None and state.started == started else None)
        return ""

    def stopped(self, hosts: Sequence[str] = ()) -> str:
        """Return which rank is stopped, by a signal or a debugger, and how many others; "" if none is.

        Args:
            hosts: Host of each rank of the job; empty for this machine.
        """
        stopped = [pid for pid, state in self._ranks(self._now()).items() if state.is_stopped]
        if not stopped:
            return ""
        more = f", and {counted(len(stopped) - 1, 'other')}" if len(stopped) > 1 else ""
        return f"process {stopped[0]}, {_rank_words(stopped[0], hosts)}, is stopped{more}"

    def _now(self) -> dict[int, Process]:
        return {pid: state for pid in self._processes() if (state := process(pid)) is not None}

    def _ranks(self, now: Mapping[int, Process]) -> dict[int, Process]:
        """Return those that are ranks: a child of a rank has the same name, and may end at any time."""
        named = {pid: state for pid, state in now.items() if state.name == self._name}
        return {pid: state for pid, state in named.items() if state.parent not in named}


def _rank_words(pid: int, hosts: Sequence[str]) -> str:
    """Return a rank with its number and host, as far as they are known."""
    for word in environment_of(str(pid)):
        name, _, number = word.decode(errors="replace").partition("=")
        if name in NUMBERS and number.isdecimal():
            return f"rank {number}" + (f" on {hosts[int(number)]}" if int(number) < len(hosts) else "")
    return "a rank"


def _ended(pid: int, state: Process | None) -> str:
    """Return how a rank ended, unless its parent has reaped it already."""
    if state is None:
        return f"process {pid}, a rank, is gone"
    if os.WIFSIGNALED(state.status):
        return f"process {pid}, a rank, was ended by {signal_name(os.WTERMSIG(state.status))}"
    status = os.waitstatus_to_exitcode(state.status)
    return ORPHANED if status == EXIT_ORPHANED else f"process {pid}, a rank, has ended with status {status}"
