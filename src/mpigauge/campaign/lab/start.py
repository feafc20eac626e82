"""Starting a lab: a child in namespaces of its own that end with this process, whatever happens."""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpigauge import errors
from mpigauge.campaign.lab import context, counters, host, init, linux, programs
from mpigauge.campaign.lab.counters import Counters
from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.janitor import janitor
from mpigauge.dependencies import check_system
from mpigauge.errors import EXIT_ENVIRONMENT, EXIT_SIGNAL_BASE, EnvironmentLacksError, UsageError
from mpigauge.plan.lab import Lab, topology

NAMESPACES = (
    linux.NEW_USERS
    | linux.NEW_MOUNTS
    | linux.NEW_NAME
    | linux.NEW_IPC
    | linux.NEW_NETWORK
    | linux.NEW_PROCESSES
)
SIGNALS = frozenset(Interruption.SIGNALS)
MESSAGE_BYTES = 65536
MAKING_TIMEOUT_S = 60
BORN = "born"
USERS_HINT = (
    "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 or user.max_user_namespaces=10000; "
    "on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0"
)
ROOT_HINT = (
    "leave root its capabilities SETUID and SETGID, of a container by --cap-add SETUID --cap-add SETGID; or "
    "be another user"
)


@dataclass(frozen=True, slots=True)
class LabOutcome:
    """The outcome of a lab.

    Attributes:
        status: Exit status of its command, or 128 + n if signal n ended it.
        counters: The relay's counters at the end.
        queues: Whether hosts made senders wait, as network cards do; not all kernels can.
    """

    status: int
    counters: Counters
    queues: bool


def run(lab: Lab, command: Sequence[str], where: str) -> LabOutcome:
    """Run a command on h1 of a new lab, with our terminal and in our working folder, until it ends.

    Args:
        command: Program and arguments; no shell reads them.
        where: The source of the lab's description, for error messages.

    Raises:
        UsageError: The lab or the command is invalid, or we are in a lab already.
        EnvironmentLacksError: This machine cannot make a lab.
    """
    if context.current() is not None:
        raise UsageError("this is already a lab, and labs cannot be nested", "leave it first")
    check_platform()
    counters_fd = os.memfd_create("mpigauge-lab")
    os.ftruncate(counters_fd, counters.BYTES)
    order = init.LabSetup(
        lab=lab,
        topology=topology(lab, where),
        command=command,
        relay=programs.relay(),
        shell=programs.shell(),
        counters_fd=counters_fd,
    )
    try:
        with janitor():
            status, queues = _run(order)
        return LabOutcome(status, counters.read(os.pread(counters_fd, counters.BYTES, 0)), queues)
    finally:
        os.close(counters_fd)


def check_platform() -> None:
    """Refuse a system on which no lab can be made, before anything is tried.

    Raises:
        EnvironmentLacksError: What is missing.
    """
    check_system()
    host.program("ip")
    host.program("tc")
    programs.compiler()


def check() -> None:
    """Check that a lab can be made, by making one of one host.

    Raises:
        EnvironmentLacksError: Why none can be made here.
    """
    run(Lab(hosts=1), ["/bin/sh", "-c", ":"], "this machine")


# ---- Our side --------------------------------------------------------------------------------------


def _run(order: init.LabSetup) -> tuple[int, bool]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*SIGNALS, signal.SIGCHLD})
    ours, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        child = linux.fork(lambda: _child(order, ours, child_end, before))
        child_end.close()
        try:
            queues = _set_up(child, ours)
            return _wait(child, ours), queues
        finally:
            _end(child)
    finally:
        ours.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _set_up(child: int, link: socket.socket) -> bool:
    """Set up the lab in the child's namespaces; return whether it has queues."""
    link.settimeout(MAKING_TIMEOUT_S)
    _expect({BORN}, link)
    _map_users(child)
    link.send(init.MAPPED)
    return _expect({init.RUNNING, init.RUNNING_WITHOUT_QUEUES}, link) == init.RUNNING


def _expect(words: set[str], link: socket.socket) -> str:
    """Return which of the words the lab sends; raise the error that it reports instead."""
    try:
        data = link.recv(MESSAGE_BYTES)
    except TimeoutError:
        raise EnvironmentLacksError(
            f"the lab was not ready after {MAKING_TIMEOUT_S} s", "is this machine overloaded?"
        ) from None
    if not data:
        raise EnvironmentLacksError("the lab was killed while it was made", "is there enough memory?")
    return _raise_other(words, data)


def _raise_other(words: set[str], data: bytes) -> str:
    name, *rest = json.loads(data)
    if name not in words:
        raise getattr(errors, name)(*rest)
    return str(name)


def _map_users(child: int) -> None:
    """Map the user ids and group ids of the child: root keeps all as they are, anyone else becomes root.

    Root is mapped like anyone else where a container lacks the capability to keep all users or groups.

    Raises:
        EnvironmentLacksError: The system does not permit it.
    """
    is_root = os.geteuid() == 0
    try:
        if not (is_root and _map_all(child, "uid")):
            _write_map(child, "uid_map", f"0 {os.geteuid()} 1")
        if not (is_root and _map_all(child, "gid")):
            _write_map(child, "setgroups", "deny")
            _write_map(child, "gid_map", f"0 {os.getegid()} 1")
    except OSError as error:
        raise EnvironmentLacksError(
            f"users cannot be mapped: {error.strerror}", ROOT_HINT if is_root else USERS_HINT
        ) from None


def _map_all(child: int, kind: str) -> bool:
    """Map all ids of a kind to themselves; return whether that worked: a map can be written only once."""
    with contextlib.suppress(PermissionError):
        _write_map(child, f"{kind}_map", _identity_map(kind))
        return True
    return False


def _write_map(child: int, name: str, words: str) -> None:
    Path(f"/proc/{child}/{name}").write_text(words, encoding="ascii")


def _identity_map(kind: str) -> str:
    ranges = [
        line.split() for line in Path(f"/proc/self/{kind}_map").read_text(encoding="ascii").splitlines()
    ]
    return "".join(f"{inside_} {inside_} {count}\n" for inside_, _, count in ranges)


def _wait(child: int, link: socket.socket) -> int:
    """Return the exit status; forward signals of other processes, but not those of the terminal.

    Ignored signals are not waited for, since sigwaitinfo would receive them, too.
    """
    waited_for = {number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN}
    while True:
        info = signal.sigwaitinfo({*waited_for, signal.SIGCHLD})
        if info.si_signo != signal.SIGCHLD:
            if info.si_code <= 0:
                with contextlib.suppress(OSError):
                    link.send(bytes([info.si_signo]))
            continue
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            break
    link.setblocking(False)
    with contextlib.suppress(OSError):
        if last := link.recv(MESSAGE_BYTES):
            _raise_other(set(), last)
    return _status(status)


def _status(wait_status: int) -> int:
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else EXIT_SIGNAL_BASE - code


def _end(child: int) -> None:
    """Kill the child if it has not ended; the lab's namespaces end with it."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        if os.waitpid(child, os.WNOHANG) == (0, 0):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


# ---- The child's side ------------------------------------------------------------------------------


def _child(
    order: init.LabSetup, ours: socket.socket, link: socket.socket, mask: Iterable[int | signal.Signals]
) -> int:
    """Make the namespaces and wait for process 1 in them."""
    ours.close()
    with contextlib.suppress(PermissionError):  # the relay inherits it
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        linux.unshare(NAMESPACES)
        linux.die_with_parent()
    except OSError as error:
        link.send(_error_message(f"namespaces cannot be made: {error.strerror}", USERS_HINT))
        return EXIT_ENVIRONMENT
    child = linux.fork(lambda: _run_init(order, link, mask))
    link.close()
    _, status = os.waitpid(child, 0)
    return _status(status)


def _error_message(sentence: str, hint: str) -> bytes:
    return json.dumps([EnvironmentLacksError.__name__, sentence, hint]).encode()


def _run_init(order: init.LabSetup, link: socket.socket, mask: Iterable[int | signal.Signals]) -> int:
    linux.die_with_parent()
    for number in (*SIGNALS, signal.SIGCHLD):
        if callable(signal.getsignal(number)):  # ignored signals stay ignored, as under nohup
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    link.send(json.dumps([BORN]).encode())
    if link.recv(MESSAGE_BYTES) != init.MAPPED:
        return EXIT_ENVIRONMENT
    return init.run(order, link)
