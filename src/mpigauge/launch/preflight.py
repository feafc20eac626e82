"""Whether other hosts let us in, and have what is to be started there."""

import platform
import shlex
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

ANSWER_WAIT_S = 15.0
READ_WAIT_S = 0.2
"""For an answer that came in time, after one that did not was waited for."""

AT_ONCE = 128
"""A process and a pipe each; there may be far more hosts than files that we may open."""

SSH_OPTIONS = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
MISSING = 100
"""Status of our question where the kernel is not there; ssh itself uses 255, shells 1 to 2 and 126 up."""


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
    asked = {host: _ask(host, shell, programs) for host in hosts}
    deadline = time.monotonic() + ANSWER_WAIT_S
    answers = {
        host: asking if isinstance(asking, str) else _answer(asking, shell, programs, deadline)
        for host, asking in asked.items()
    }
    return {host: fault for host, fault in answers.items() if fault}


def is_here(host: str) -> bool:
    """Whether a name is that of this machine."""
    here = platform.node()
    return host in ("localhost", "127.0.0.1", here, here.partition(".")[0])


def _ask(host: str, shell: str, programs: Sequence[Path]) -> subprocess.Popen[bytes] | str:
    """The question on its way, or why it cannot be asked."""
    tests = " && ".join(f"test -x {shlex.quote(str(program))}" for program in programs)
    options = (*SSH_OPTIONS, "--") if Path(shell).name == "ssh" else ()
    try:
        return subprocess.Popen(
            [shell, *options, host, f"{tests or 'true'} || exit {MISSING}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        return f"cannot be reached: {shell}: {error.strerror}"


def _answer(asking: subprocess.Popen[bytes], shell: str, programs: Sequence[Path], deadline: float) -> str:
    """What is wrong, by what came back; empty if nothing is."""
    try:
        _, said = asking.communicate(timeout=max(READ_WAIT_S, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        asking.kill()
        asking.communicate()
        return f"cannot be reached: {shell} gave no answer in {ANSWER_WAIT_S:.0f} s"
    if asking.returncode == MISSING:
        return f"has no {' or '.join(map(str, programs))}: the kernel must be there at the same path"
    if asking.returncode:
        words = said.decode(errors="replace").strip().splitlines()
        return f"cannot be reached: {words[-1] if words else f'{shell} ended with {asking.returncode}'}"
    return ""
