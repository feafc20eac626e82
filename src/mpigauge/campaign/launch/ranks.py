"""The ranks of a job on this machine, recognised by the name of their program, and whether one is dead."""

import os
import signal
from collections.abc import Callable, Iterable

from mpigauge.campaign.launch.process_tree import NAME_BYTES, Process, process


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
        now = {pid: state for pid in self._processes() if (state := process(pid)) is not None}
        for pid, state in now.items():
            # A child of a rank has the same name, and may end at any time.
            if state.name == self._name and not self._is_rank(state.parent, now):
                self._seen.setdefault(pid, state.started)
        for pid, started in self._seen.items():
            state = now.get(pid) or process(pid)
            if state is None or state.started != started or state.is_dead:
                return _ended(pid, state if state is not None and state.started == started else None)
        return ""

    def _is_rank(self, pid: int, now: dict[int, Process]) -> bool:
        return pid in now and now[pid].name == self._name


def _ended(pid: int, state: Process | None) -> str:
    """Return how a rank ended, unless its parent has reaped it already."""
    if state is None:
        return f"process {pid}, a rank, is gone"
    if os.WIFSIGNALED(state.status):
        number = os.WTERMSIG(state.status)
        return f"process {pid}, a rank, was ended by signal {number} ({_name_of(number)})"
    return f"process {pid}, a rank, has ended with status {os.waitstatus_to_exitcode(state.status)}"


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "of real time"
