"""Whether other hosts let us in, and have what is to be started there."""

import contextlib
import os
import platform
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ANSWER_WAIT_S = 15.0
READ_WAIT_S = 0.2
"""For an answer that came in time, after one that did not was waited for."""

AT_ONCE = 128
"""A process and a file each; there may be far more hosts than files that we may open."""

# A connection that ssh shares leaves a process behind that ends whenever it likes; a check is to leave none.
SSH_OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ControlMaster=no", "ControlPath=none")
SAID_MOST_BYTES = 4096
MISSING = 100
"""Status of our question where the kernel is not there; ssh itself uses 255, shells 1 to 2 and 126 up."""


@dataclass(frozen=True, slots=True)
class Question:
    """One host being asked.

    Attributes:
        said: What it says to its standard error. A file, since a pipe is open for as long as any child of
            the shell has it, and such a child may outlive the answer by hours.
    """

    process: subprocess.Popen[bytes]
    said: IO[bytes]


def faults(hosts: Sequence[str], shell: str, programs: Sequence[Path]) -> dict[str, str]:
    """What is wrong with hosts, by name; up to AT_ONCE are asked at the same time.

    Args:
        shell: ssh or what takes its place: a program that is given a host and a command.
        programs: That each host must have at the same path.
    """
    others = [host for host in hosts if not is_here(host)]
    found: dict[str, str] = {}
    for first in range(0, len(others), AT_ONCE):
        found |= _faults(others[first : first + AT_ONCE], shell, programs)
    return found


def _faults(hosts: Sequence[str], shell: str, programs: Sequence[Path]) -> dict[str, str]:
    with contextlib.ExitStack() as asking:  # whose end is the end of all that was started
        asked = {host: _ask(host, shell, programs, asking) for host in hosts}
        deadline = time.monotonic() + ANSWER_WAIT_S
        answers = {
            host: question if isinstance(question, str) else _answer(question, shell, programs, deadline)
            for host, question in asked.items()
        }
    return {host: fault for host, fault in answers.items() if fault}


def is_here(host: str) -> bool:
    """Whether a name is that of this machine."""
    here = platform.node()
    return host in ("localhost", "127.0.0.1", "::1", here, here.partition(".")[0])


def shell_words(shell: str, host: str) -> list[str]:
    """What a command for another host stands behind.

    Args:
        shell: ssh or what takes its place: a program that is given a host and a command.
    """
    options = [*(word for option in SSH_OPTIONS for word in ("-o", option)), "--"]
    return [shell, *(options if Path(shell).name == "ssh" else []), host]


def _ask(host: str, shell: str, programs: Sequence[Path], asking: contextlib.ExitStack) -> Question | str:
    """The question on its way, or why it cannot be asked."""
    tests = " && ".join(f"test -x {shlex.quote(str(program))}" for program in programs)
    words = shell_words(shell, host)
    try:
        said = asking.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - it is one
        process = subprocess.Popen(
            [*words, f"{tests or 'true'} || exit {MISSING}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,  # so that all that it starts can be ended with it
        )
    except OSError as error:
        return f"cannot be reached: {shell}: {error.strerror}"
    asking.callback(_end, process)
    return Question(process, said)


def _answer(question: Question, shell: str, programs: Sequence[Path], deadline: float) -> str:
    """What is wrong, by what came back; empty if nothing is."""
    try:
        status = question.process.wait(max(READ_WAIT_S, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return f"cannot be reached: {shell} gave no answer in {ANSWER_WAIT_S:.0f} s"
    if status == MISSING:
        return f"has no {' or '.join(map(str, programs))}: the kernel must be there at the same path"
    if status:
        return f"cannot be reached: {_last_words(question.said) or f'{shell} ended with {status}'}"
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """The shell and what it has left behind: a proxy that still connects would do so beside a measurement."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_words(said: IO[bytes]) -> str:
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - SAID_MOST_BYTES))
    words = said.read().decode(errors="replace").strip().splitlines()
    return words[-1] if words else ""
