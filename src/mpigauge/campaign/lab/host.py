"""A host of a lab: a process that makes its namespaces, sets them up, and sleeps to keep them."""

import os
import signal
import socket
from pathlib import Path

from mpigauge.campaign.lab import context, linux, network
from mpigauge.errors import EnvironmentLacksError
from mpigauge.plan.lab import Lab, Topology
from mpigauge.programs import Ended, end_of, run, which

SHARED_MEMORY = str(context.SHARED_MEMORY)
FOLDER = f"{SHARED_MEMORY}/lab"
"""The lab's folder, the same on all hosts."""

TEMPORARY = f"{SHARED_MEMORY}/tmp"  # noqa: S108
"""Temporary folder of one host. Its path is short, since paths of sockets have at most 108 bytes."""

HOSTS_FILE = f"{FOLDER}/etc-hosts"
KINDS = ("net", "uts", "ipc", "mnt")
IP_TIMEOUT_S = 30
READY = "ready"
READY_WITHOUT_QUEUES = "ready, without queues"

_SETTINGS = {
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
    "ipv4/tcp_congestion_control": "reno",
    # Metrics that one connection has learned must not speed up or slow down the next.
    "ipv4/tcp_no_metrics_save": "1",
}


def fork(lab: Lab, topology: Topology, number: int) -> tuple[int, int]:
    """Start a host; return its process id and the descriptor on which it reports that it is ready."""
    reading, writing = os.pipe()
    pid = linux.fork(lambda: _run_host(lab, topology, number, writing))
    os.close(writing)
    return pid, reading


def _run_host(lab: Lab, topology: Topology, number: int, writing: int) -> int:
    try:
        os.setpgid(0, 0)  # signals of the terminal are for the command
        _set_up(lab, number)
        words = READY if _queues(network.queue_words(topology, number)) else READY_WITHOUT_QUEUES
    except OSError as error:
        words = f"{error.filename or 'host'}: {error.strerror}"
    except EnvironmentLacksError as error:
        words = error.sentence
    os.write(writing, words.encode())
    os.close(writing)
    while True:
        signal.pause()


def wait_for(number: int, reading: int) -> bool:
    """Wait until a host is ready; return whether it has queues.

    Raises:
        EnvironmentLacksError: The host cannot be made here.
    """
    with os.fdopen(reading, "rb") as pipe:
        words = pipe.read().decode()
    if words not in (READY, READY_WITHOUT_QUEUES):
        raise EnvironmentLacksError(
            f"host h{number} of the lab cannot be made: {words or 'it died'}",
            "mpigauge doctor says what a lab needs",
        )
    return words == READY


def _set_up(lab: Lab, number: int) -> None:
    linux.unshare(linux.NEW_NETWORK | linux.NEW_NAME | linux.NEW_IPC | linux.NEW_MOUNTS)
    socket.sethostname(f"h{number}")
    # Libraries look for interfaces in /sys, and would see those of the machine.
    linux.mount("sysfs", "/sys", "sysfs", linux.UNTRUSTED)
    shared_memory()
    linux.mount(HOSTS_FILE, "/etc/hosts", None, linux.BIND)
    settings()
    ip(network.host_words(lab, number))
    linux.offloads_off(network.INTERFACE)


def shared_memory() -> None:
    """Give a host a /dev/shm of its own that shares only the lab's folder with the other hosts."""
    folder = os.open(FOLDER, os.O_PATH | os.O_DIRECTORY)
    linux.mount("tmpfs", SHARED_MEMORY, "tmpfs", 0, "mode=1777")
    Path(TEMPORARY).mkdir(mode=0o700)
    Path(FOLDER).mkdir()
    linux.mount(f"/proc/self/fd/{folder}", FOLDER, None, linux.BIND)
    os.close(folder)


def settings() -> None:
    """Set the options of this network namespace, except those that the kernel lacks, as without IPv6."""
    for name, value in _SETTINGS.items():
        path = Path("/proc/sys/net") / name
        if path.exists():
            path.write_text(value, encoding="ascii")


def ip(commands: str) -> None:
    """Run a batch of commands of `ip` in this network namespace.

    Raises:
        EnvironmentLacksError: A command failed; has its first line of output.
    """
    done = _batch("ip", commands)
    if done.status != 0:
        errors = done.err.strip().splitlines() or [end_of(done.status)]
        raise EnvironmentLacksError(f"ip: {errors[0]}", "")


def _queues(commands: str) -> bool:
    """Run a batch of `tc` commands, if any; return whether it worked: some kernels lack queues with rates."""
    return not commands or _batch("tc", commands).status == 0


def _batch(name: str, commands: str) -> Ended:
    with os.fdopen(os.memfd_create(name), "wb", buffering=0) as file:
        file.write(commands.encode())
        words = [program(name), "-batch", f"/proc/self/fd/{file.fileno()}"]
        try:
            return run(words, os.environ, IP_TIMEOUT_S, keep=[file.fileno()])
        except TimeoutError as late:
            raise EnvironmentLacksError(f"{name}: {late}", "is this machine overloaded?") from None


def program(name: str) -> str:
    """Return the path of `ip` or `tc` of iproute2, which may not be on the PATH of ordinary users.

    Raises:
        EnvironmentLacksError: The program is not installed.
    """
    path = which(name) or which(name, path="/usr/sbin:/sbin")
    if path is None:
        raise EnvironmentLacksError(
            f"a lab needs the program {name}", "install iproute2 (Fedora, RHEL: iproute)"
        )
    return path
