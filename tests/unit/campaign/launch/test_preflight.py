"""Hosts are asked by the real remote shell's words; a script stands for it."""

from __future__ import annotations

import errno
import math
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.copy_kernel import NOT_OURS
from mpigauge.campaign.launch.preflight import ANSWER_WAIT_S, MISSING, faults

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PATIENCE_S = 60.0

SHELL = """#!/bin/sh
case "$1" in
gone) echo "connect to host gone port 22: No route to host" >&2; exit 255 ;;
silent) exit 3 ;;
hanging*) exec sleep 60 ;;
leaving) sleep 600 & echo $! > "$0.left" ;;
leaving-fault) sleep 600 & echo "no way" >&2; exit 255 ;;
esac
exec /bin/sh -c "$2"
"""


@pytest.fixture
def shell(tmp_path: Path) -> str:
    """A remote shell that knows some hosts."""
    path = tmp_path / "shell"
    path.write_text(SHELL, encoding="ascii")
    path.chmod(0o755)
    return str(path)


def test_a_reachable_host_with_the_kernel_has_no_fault(shell: str) -> None:
    assert faults(["h1", "h2"], shell, [Path(shell)]) == {}
    assert faults(["h1"], shell, []) == {}


def test_each_fault_is_reported_by_host(shell: str, tmp_path: Path) -> None:
    found = faults(["gone", "h1", "silent"], shell, [Path(shell), tmp_path / "it's not; there"])
    assert list(found) == ["gone", "h1", "silent"]
    assert found["gone"] == "cannot be reached: connect to host gone port 22: No route to host"
    assert "it's not; there" in found["h1"]
    assert found["silent"] == f"cannot be reached: {shell} ended with 3"
    assert MISSING not in (3, 255)


@pytest.mark.parametrize("open_one", ["kernel", "."])
def test_a_kernel_that_others_may_have_written_is_a_fault(shell: str, tmp_path: Path, open_one: str) -> None:
    """It is there and can be run, but who knows whose it is."""
    kernel = tmp_path / "there" / "kernel"
    kernel.parent.mkdir(mode=0o755)
    kernel.touch(0o755)
    assert faults(["h1"], shell, [kernel]) == {}
    (kernel.parent / open_one).chmod(0o777)
    assert faults(["h1"], shell, [Path(shell), kernel]) == {"h1": f"{kernel}: {NOT_OURS}"}


@pytest.mark.needs("root")
@pytest.mark.parametrize("supplied", [False, True])
def test_a_kernel_of_another_user_is_a_fault(shell: str, tmp_path: Path, supplied: bool) -> None:
    kernel = tmp_path / "there" / "kernel"
    kernel.parent.mkdir(mode=0o755)
    kernel.touch(0o755)
    os.chown(kernel, 65534, 65534)
    assert "belongs to another user" in faults(["h1"], shell, [kernel], supplied=supplied)["h1"]


def test_a_link_to_our_folder_is_accepted(shell: str, tmp_path: Path) -> None:
    """A cache on another disk: a link itself has a mode that lets everybody write."""
    (tmp_path / "link").symlink_to(Path(shell).parent)
    assert faults(["h1"], shell, [tmp_path / "link" / Path(shell).name]) == {}


def test_this_machine_is_not_asked(shell: str) -> None:
    assert faults(["localhost", platform.node()], shell, [Path("/none")]) == {}


def test_no_host_is_an_option_of_ssh(tmp_path: Path) -> None:
    """Whatever a result that somebody has sent calls its hosts."""
    ssh, words = tmp_path / "ssh", tmp_path / "words"
    ssh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {words}\n', encoding="ascii")
    ssh.chmod(0o755)
    assert faults(["-oProxyCommand=touch pwned"], str(ssh), []) == {}
    given = words.read_text(encoding="ascii").splitlines()
    assert given[given.index("--") + 1] == "-oProxyCommand=touch pwned"


def test_a_shell_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "none: No such file" in faults(["h1"], str(tmp_path / "none"), [])["h1"]


def test_an_unresolved_name_is_reported_by_the_real_ssh() -> None:
    assert "host" in faults(["no-such-host.invalid"], "ssh", [])["no-such-host.invalid"].lower()


class Clock:
    """Time that passes only while somebody waits."""

    now_s = 0.0

    def monotonic(self) -> float:
        """Seconds since it was made."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """At once."""
        self.now_s += seconds


class Shells:
    """Instead of remote shells: who answers after how long; the others never do.

    Attributes:
        most: How many the system starts at once.
        together: How many there were at most.
    """

    def __init__(self, clock: Clock, answers_s: Mapping[str, float], most: int = 10**6) -> None:
        self._clock, self._answers_s, self._begun_s = clock, answers_s, dict[str, float]()
        self.most = most
        self.together = 0

    def start(self, words: Sequence[str], **_: object) -> Shells.Shell:
        """Instead of subprocess.Popen."""
        if len(self._begun_s) == self.most:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        host = words[-2]
        self._begun_s[host] = self._clock.now_s
        self.together = max(self.together, len(self._begun_s))
        return self.Shell(self, host)

    @dataclass(frozen=True, eq=False)
    class Shell:
        """One of them."""

        shells: Shells
        host: str
        pid: int = 0

        def poll(self) -> int | None:
            """The status, if it has ended."""
            return 0 if self.shells.has_answered(self.host) else None

        def wait(self) -> None:
            """It is over."""
            self.shells.end(self.host)

    def has_answered(self, host: str) -> bool:
        """Whether it would have by now."""
        answer_s = self._answers_s.get(host, math.inf)
        return self._clock.now_s >= self._begun_s[host] + answer_s

    def end(self, host: str) -> None:
        """There is room for another."""
        del self._begun_s[host]


@pytest.fixture
def shells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Clock, Shells]]:
    """A function that puts a clock and shells in place of the real ones."""

    def put(answers_s: Mapping[str, float], **more: int) -> tuple[Clock, Shells]:
        clock = Clock()
        shells = Shells(clock, answers_s, **more)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setattr("mpigauge.campaign.launch.preflight.time", clock)
        monkeypatch.setattr("mpigauge.campaign.launch.preflight.subprocess.Popen", shells.start)
        monkeypatch.setattr("mpigauge.campaign.launch.preflight.os.killpg", lambda *_: None)
        monkeypatch.setattr("mpigauge.campaign.launch.preflight.status_of", Shells.Shell.poll)
        return clock, shells

    return put


NODES = [f"node{number}" for number in range(1000)]


def test_a_thousand_dead_hosts_take_no_longer_than_one(shells: Callable[..., tuple[Clock, Shells]]) -> None:
    clock, _ = shells({})
    found = faults(NODES, "ssh", [])
    assert list(found) == NODES
    assert {fault.rpartition(" in ")[0] for fault in found.values()} == {
        "cannot be reached: ssh gave no answer"
    }
    assert clock.now_s == pytest.approx(ANSWER_WAIT_S, rel=0.01)


def test_hosts_that_answer_one_by_one_are_all_waited_for(shells: Callable[..., tuple[Clock, Shells]]) -> None:
    """A thousand connections take a small machine longer than one host is waited for."""
    clock, _ = shells({host: 0.1 * number for number, host in enumerate(NODES)})
    assert faults([*NODES, "dead"], "ssh", []).keys() == {"dead"}
    assert clock.now_s == pytest.approx(0.1 * len(NODES) + ANSWER_WAIT_S, rel=0.01)


def test_a_system_that_starts_few_shells_is_asked_in_batches(
    shells: Callable[..., tuple[Clock, Shells]],
) -> None:
    _, few = shells(dict.fromkeys(NODES, 1.0), most=100)
    assert faults(NODES, "ssh", []) == {}
    assert few.together == 100


def test_a_system_that_starts_no_shell_is_reported(shells: Callable[..., tuple[Clock, Shells]]) -> None:
    shells({}, most=0)
    found = faults(["h1", "h2"], "ssh", [])
    assert set(found.values()) == {"cannot be reached: ssh: Resource temporarily unavailable"}


def test_asking_hosts_leaves_no_processes_or_files(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    faults(["h1", "gone"], shell, [])
    assert not list(tmp_path.glob("mpigauge-*"))


def test_hosts_that_hang_are_named_in_the_order_they_have(
    shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.campaign.launch.preflight.ANSWER_WAIT_S", 3.0)
    found = faults(["hanging1", "hanging2", "h1", "gone", "hanging4", "h2"], shell, [])
    assert list(found) == ["hanging1", "hanging2", "gone", "hanging4"]
    assert "gave no answer in 3 s" in found["hanging4"]


def test_a_child_that_keeps_standard_error_open_is_not_waited_for(shell: str) -> None:
    """A master that ssh leaves for other connections, or a proxy that still connects, has them for hours."""
    assert faults(["leaving", "leaving-fault"], shell, []) == {"leaving-fault": "cannot be reached: no way"}
    left = Path(f"{shell}.left").read_text(encoding="ascii").strip()
    deadline = time.monotonic() + PATIENCE_S
    while _runs(left):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_process_group_is_killed_whose_id_may_be_reused(
    shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as nobody has taken its status, a process that is dead keeps its number."""
    ended = []

    def end(group: int, _: int) -> None:
        ended.append(Path(f"/proc/{group}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0])

    monkeypatch.setattr("mpigauge.campaign.launch.preflight.os.killpg", end)
    assert faults(["h1", "gone"], shell, []).keys() == {"gone"}
    assert ended == ["Z", "Z"]


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_ssh_shares_no_connection(tmp_path: Path) -> None:
    ssh, words = tmp_path / "ssh", tmp_path / "words"
    ssh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {words}\n', encoding="ascii")
    ssh.chmod(0o755)
    assert faults(["h1"], str(ssh), []) == {}
    given = words.read_text(encoding="ascii").splitlines()
    assert {"ControlMaster=no", "ControlPath=none"} <= set(given[: given.index("--")])
