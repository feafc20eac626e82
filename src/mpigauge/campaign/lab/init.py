"""Process 1 of a lab: sets it up, runs the command on h1, and ends all other processes when it ends."""

import json
import math
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from mpigauge.campaign.failure_remedies import KILLED
from mpigauge.campaign.lab import context, host, linux, network
from mpigauge.campaign.launch.inherited_env import SCHEDULERS
from mpigauge.campaign.launch.interruption import GRACE_S
from mpigauge.errors import EXIT_SIGNAL_BASE, EnvironmentLacksError, MpigaugeError, UsageError
from mpigauge.plan import lab as plan
from mpigauge.plan.lab import Lab, Topology
from mpigauge.programs import signal_name, with_program_path

LOWEST_PRIORITY = 19
END_PATIENCE_S = GRACE_S + 10.0
"""How long the command may take to end where the network is gone: a campaign lets its visit end first."""

FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)
"""Signals that end a program because of what it does; all others come from outside."""

RUNNING = "running"
RUNNING_WITHOUT_QUEUES = "running without queues"
MAPPED = b"mapped"
DESCRIPTION = f"{host.FOLDER}/lab.json"
HOSTS = f"{host.FOLDER}/hosts"
PROGRAMS = f"{host.FOLDER}/bin"
SHELL = f"{PROGRAMS}/ssh"

LAUNCHERS = {
    "HYDRA_LAUNCHER": "ssh",
    "HYDRA_LAUNCHER_EXEC": SHELL,
    "I_MPI_HYDRA_BOOTSTRAP": "ssh",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC": SHELL,
    "PRTE_MCA_plm_ssh_agent": SHELL,
    "OMPI_MCA_plm_rsh_agent": SHELL,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
"""Variables by which launchers reach the other hosts; the user is root in a lab."""

BINDING = {
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "I_MPI_PIN": "off",
}
"""Variables that turn binding off: every host would bind its first rank to the machine's first processor."""


@dataclass(frozen=True, slots=True)
class LabSetup:
    """The lab that process 1 is to set up, and the command to run in it.

    Attributes:
        command: Program and arguments to run on h1.
        relay: Path of the relay program.
        shell: Path of the program that replaces ssh.
        counters_fd: Descriptor of the memory that the relay writes its counters into.
    """

    lab: Lab
    topology: Topology
    command: Sequence[str]
    relay: Path
    shell: Path
    counters_fd: int


def run(order: LabSetup, link: socket.socket) -> int:
    """Run the lab, reporting over the link that it runs or why not; return the exit status of the command.

    Signals arrive over the link, one byte each; when its other end is closed, the lab ends.
    """
    folder = Path.cwd()
    try:
        _mount()
        relay = _start_relay(order)
        pids, queues = _make_hosts(order)
        _start_network(order, relay)
        _write_folder(order, pids)
        linux.enter(pids[0], host.KINDS)
        _lower_priority(relay)
        woken = _wake_on_child()
        command = _start_command(order, folder)
    except MpigaugeError as error:
        return _report_error(link, error)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return _report_error(link, EnvironmentLacksError(f"a lab cannot be made: {what}"))
    link.send(json.dumps([RUNNING if queues else RUNNING_WITHOUT_QUEUES]).encode())
    return _wait(command, relay, link, woken)


def _report_error(link: socket.socket, error: MpigaugeError) -> int:
    link.send(json.dumps([type(error).__name__, error.sentence, error.hint]).encode())
    return error.exit_code


def _mount() -> None:
    linux.mount("none", "/", None, linux.RECURSIVE_PRIVATE)
    linux.mount("proc", "/proc", "proc", linux.UNTRUSTED)
    linux.mount("tmpfs", host.SHARED_MEMORY, "tmpfs", 0, "mode=1777")
    Path(host.FOLDER).mkdir()
    host.settings()


def _start_relay(order: LabSetup) -> subprocess.Popen[str]:
    """Start the relay, which alone inherits real-time scheduling, if we were allowed to have it."""
    relay = subprocess.Popen(
        [str(order.relay), str(order.counters_fd)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=[order.counters_fd],
        process_group=0,
    )
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return relay


def _make_hosts(order: LabSetup) -> tuple[list[int], bool]:
    """Start the hosts; return their process ids, and whether all have queues."""
    Path(host.HOSTS_FILE).write_text(network.hosts_file(order.lab), encoding="ascii")
    hosts = [host.fork(order.lab, order.topology, number) for number in range(1, order.lab.hosts + 1)]
    queues = [host.wait_for(number, ready) for number, (_, ready) in enumerate(hosts, 1)]
    return [pid for pid, _ in hosts], all(queues)


def _start_network(order: LabSetup, relay: subprocess.Popen[str]) -> None:
    for number in range(1, order.lab.hosts + 1):
        linux.offloads_off(network.port(number))
    host.ip(network.switch_words(order.lab))
    assert relay.stdin is not None  # noqa: S101 - for the types
    assert relay.stdout is not None  # noqa: S101
    relay.stdin.write(network.relay_words(order.lab, order.topology))
    relay.stdin.close()
    if (answer := relay.stdout.readline().strip()) != "ready":
        raise EnvironmentLacksError(f"the relay of the lab did not start: {answer}")


def _write_folder(order: LabSetup, pids: Sequence[int]) -> None:
    Path(HOSTS).mkdir()
    Path(PROGRAMS).mkdir()
    Path(SHELL).symlink_to(order.shell)
    names = plan.names(order.lab)
    for number, (name, pid) in enumerate(zip(names, pids, strict=True), 1):
        for word in (name, plan.address(number)):
            (Path(HOSTS) / word).symlink_to(f"/proc/{pid}/ns")
    described = context.CurrentLab(
        hosts=tuple(context.LabHost(name, plan.address(n)) for n, name in enumerate(names, 1)),
        shell=SHELL,
        counters_path=f"/proc/1/fd/{order.counters_fd}",
        table=order.lab,
    )
    Path(DESCRIPTION).write_bytes(msgspec.json.encode(described))


def environment(outside: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the command, by which launchers find the hosts; the user's binding stays."""
    kept = {name: value for name, value in outside.items() if not name.startswith(SCHEDULERS)}
    return {
        **BINDING,
        **kept,
        **LAUNCHERS,
        context.VARIABLE: DESCRIPTION,
        "TMPDIR": host.TEMPORARY,
        "PATH": f"{PROGRAMS}{os.pathsep}{outside.get('PATH', os.defpath)}",
    }


def _start_command(order: LabSetup, folder: Path) -> subprocess.Popen[bytes]:
    try:
        os.chdir(folder)
    except OSError:
        raise UsageError(
            f"{folder}: does not exist in a lab, where each host has its own {host.SHARED_MEMORY}",
            "start it in another folder",
        ) from None
    try:
        variables = environment(os.environ)
        return subprocess.Popen(with_program_path(order.command, variables), env=variables)
    except OSError as error:
        raise UsageError(
            f"{order.command[0]}: cannot be run: {error.strerror}",
            "name a program and its arguments after --",
        ) from None


def _lower_priority(relay: subprocess.Popen[str]) -> None:
    """Lower the priority of the command and all that it starts if the relay has no real-time scheduling."""
    if os.sched_getscheduler(relay.pid) != os.SCHED_FIFO:
        os.nice(LOWEST_PRIORITY)


def _wake_on_child() -> int:
    """Return a descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _wait(
    command: subprocess.Popen[bytes], relay: subprocess.Popen[str], link: socket.socket, woken: int
) -> int:
    failure: EnvironmentLacksError | None = None
    until_s = math.inf
    while True:
        ended = _reap()
        if failure is not None and (command.pid in ended or time.monotonic() >= until_s):
            return _report_error(link, failure)
        if command.pid in ended:
            status = os.waitstatus_to_exitcode(ended[command.pid])
            return status if status >= 0 else EXIT_SIGNAL_BASE - status
        if relay.pid in ended:
            failure = _relay_died(os.waitstatus_to_exitcode(ended[relay.pid]))
            until_s = time.monotonic() + END_PATIENCE_S
            os.kill(command.pid, signal.SIGTERM)
        left_s = None if failure is None else max(0.0, until_s - time.monotonic())
        ready, _, _ = select.select([woken, link.fileno()], [], [], left_s)
        if woken in ready:
            os.read(woken, select.PIPE_BUF)
        if link.fileno() in ready:
            numbers = link.recv(1)
            if not numbers:
                return EXIT_SIGNAL_BASE + signal.SIGKILL
            os.kill(command.pid, numbers[0])


def _relay_died(status: int) -> EnvironmentLacksError:
    """Return the error of a relay that has ended, with its exit status, negative after a signal."""
    how = f"status {status}" if status >= 0 else signal_name(-status)
    hint = "please report it" if status >= 0 or -status in FAULTS else KILLED
    return EnvironmentLacksError(f"the relay of the lab died ({how})", hint)


def _reap() -> dict[int, int]:
    """Return the status of every child that has ended, adopted ones included, by process id."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status
