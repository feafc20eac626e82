"""Checking before a campaign that other hosts accept a login and have the kernel, and copying it to them."""

import contextlib
import errno
import os
import platform
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpigauge.campaign.launch import copy_kernel
from mpigauge.campaign.launch.job import temporary_folder
from mpigauge.programs import with_program_path

ANSWER_WAIT_S = 15.0
"""Longest time without any answer. A thousand hosts may take longer than that together: each connection costs
processor time on this side."""

PAUSE_S = 0.01
AT_ONCE = 1024
"""Most hosts asked at a time, with a process each; there may be far more hosts."""

NO_MORE_PROCESSES = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""Error numbers of a system that starts no more processes for now."""

# A shared connection of ssh leaves a process behind for some time; a check must leave none.
SSH_OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ControlMaster=no", "ControlPath=none")
MAX_OUTPUT_BYTES = 4096
MISSING = copy_kernel.REFUSED
"""Exit status of the question where the kernel is not there, or not safe to run."""

UNREACHED = "cannot be reached: "
"""Beginning of the sentence on hosts that did not answer."""


@dataclass(frozen=True, slots=True)
class HostQuestion:
    """A question to hosts.

    Attributes:
        shell: ssh or a replacement: a program that takes a host and a command.
        command: Command for the login shell there.
        sentence_if_missing: Returns the sentence for the answer MISSING, given the last line of output.
        input: A file that the command reads; None if it reads nothing.
    """

    shell: str
    command: str
    sentence_if_missing: Callable[[str], str]
    input: Path | None = None


@dataclass(frozen=True, slots=True)
class HostQuery:
    """A host that is being asked.

    Attributes:
        error_path: File of its standard error. Not a pipe, which stays open as long as any child of the
            shell has it, and such a child may outlive the answer by hours; and not an open file, of which
            we may have fewer than there are hosts.
    """

    process: subprocess.Popen[bytes]
    error_path: Path


def faults(
    hosts: Sequence[str], shell: str, programs: Sequence[Path], *, supplied: bool = False
) -> dict[str, str]:
    """Return what is wrong with hosts, by name; up to AT_ONCE are asked at a time.

    Args:
        shell: ssh or a replacement: a program that takes a host and a command.
        programs: Programs that each host must have at the same path, ours or root's, writable by nobody else.
        supplied: Whether to copy programs to hosts that lack them.

    Raises:
        EnvironmentLacksError: There is no temporary folder.
    """
    tests = " && ".join(shlex.join(copy_kernel.check_command(program)) for program in programs)
    question = HostQuestion(
        shell, f"{tests or 'true'} || exit {MISSING}", lambda line: _lack_sentence(programs, line)
    )
    by_host = _faults_by_host(hosts, question)
    if supplied and all(map(Path.is_file, programs)):
        lacking = {host for host, fault in by_host.items() if not fault.startswith(UNREACHED)}
        uncopied = _copy_programs(sorted(lacking), shell, programs)
        by_host = {
            host: uncopied.get(host, "") if host in lacking else fault for host, fault in by_host.items()
        }
    return {host: fault for host, fault in by_host.items() if fault}


def _lack_sentence(programs: Sequence[Path], last_line: str) -> str:
    """Return the sentence on a host that lacks a program, or has another user's there."""
    if last_line.endswith(copy_kernel.NOT_OURS):
        return last_line
    return f"has no {' or '.join(map(str, programs))}: the kernel must be there at the same path"


def _copy_programs(hosts: Sequence[str], shell: str, programs: Sequence[Path]) -> dict[str, str]:
    """Copy programs to hosts; return what is wrong with those where that fails."""
    by_host: dict[str, str] = {}
    for program in programs:
        by_host = _faults_by_host(hosts, _copy_question(shell, program)) | by_host
    return by_host


def _copy_question(shell: str, program: Path) -> HostQuestion:
    words = shlex.join(copy_kernel.copy_command(program))
    return HostQuestion(shell, words, lambda line: copy_kernel.refusal_sentence(program, line), program)


def _faults_by_host(hosts: Sequence[str], question: HostQuestion) -> dict[str, str]:
    """Return what is wrong with hosts other than this one."""
    remaining = [host for host in hosts if not is_here(host)]
    by_host: dict[str, str] = {}
    while remaining:
        answers = _ask_hosts(remaining[:AT_ONCE], question)
        by_host |= answers
        remaining = remaining[len(answers) :]
    return {host: fault for host, fault in by_host.items() if fault}


def _ask_hosts(hosts: Sequence[str], question: HostQuestion) -> dict[str, str]:
    """Ask as many of the first hosts as the system permits; return what is wrong with each, or ""."""
    with contextlib.ExitStack() as asking:  # ends all processes that were started
        folder = temporary_folder("asking hosts")
        asking.callback(shutil.rmtree, folder, ignore_errors=True)
        queries: dict[str, HostQuery | str] = {}
        for number, host in enumerate(hosts):
            try:
                queries[host] = _ask(host, question, folder / str(number), asking)
            except OSError as error:
                if error.errno in NO_MORE_PROCESSES and queries:
                    break
                queries[host] = f"{UNREACHED}{question.shell}: {error.strerror}"
        _wait([query.process for query in queries.values() if isinstance(query, HostQuery)])
        return {
            host: query if isinstance(query, str) else _answer(query, question)
            for host, query in queries.items()
        }


def _wait(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """Wait until all processes have ended, or none has ended for ANSWER_WAIT_S."""
    waiting, last = set(processes), time.monotonic()
    while waiting and time.monotonic() < last + ANSWER_WAIT_S:
        ended = {process for process in waiting if status_of(process) is not None}
        if ended:
            waiting, last = waiting - ended, time.monotonic()
        else:
            time.sleep(PAUSE_S)


def status_of(process: subprocess.Popen[bytes]) -> int | None:
    """Return the exit status of a process; None if it has not ended.

    The process stays a zombie: once it is reaped, its id and that of its group may be reused, and another
    process would be killed in its place.
    """
    info = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if info is None:
        return None
    return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status


def is_here(host: str) -> bool:
    """Return whether a name is this machine's."""
    here = platform.node()
    return host in ("localhost", "127.0.0.1", "::1", here, here.partition(".")[0])


def shell_words(shell: str, host: str) -> list[str]:
    """Return the command of a remote shell, to be followed by a command for the host.

    Args:
        shell: ssh or a replacement: a program that takes a host and a command.
    """
    options = [*(word for option in SSH_OPTIONS for word in ("-o", option)), "--"]
    return [shell, *(options if Path(shell).name == "ssh" else []), host]


def _ask(host: str, question: HostQuestion, error_path: Path, asking: contextlib.ExitStack) -> HostQuery:
    """Send a question to a host; raise OSError if that is not possible."""
    with error_path.open("wb") as file, (question.input or Path(os.devnull)).open("rb") as source:
        process = subprocess.Popen(
            with_program_path([*shell_words(question.shell, host), question.command]),
            stdin=source,
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,  # so that its children can be ended with it
        )
    asking.callback(_end, process)
    return HostQuery(process, error_path)


def _answer(query: HostQuery, question: HostQuestion) -> str:
    """Return what is wrong with a host, by its answer; "" if nothing is."""
    status = status_of(query.process)
    if status is None:
        return f"{UNREACHED}{question.shell} gave no answer in {ANSWER_WAIT_S:.0f} s"
    if status == MISSING:
        return question.sentence_if_missing(_last_line(query.error_path))
    if status:
        return f"{UNREACHED}{_last_line(query.error_path) or f'{question.shell} ended with {status}'}"
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a remote shell and its children: a proxy that is still connecting would disturb a measurement."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(error_path: Path) -> str:
    with error_path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_OUTPUT_BYTES))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
