"""Hosts are asked by the real remote shell's words; a script stands for it."""

from __future__ import annotations

import platform
import time
from pathlib import Path

import pytest

from mpigauge.launch.preflight import ANSWER_WAIT_S, MISSING, faults

HERE = Path(__file__)
SHELL = """#!/bin/sh
case "$1" in
gone) echo "connect to host gone port 22: No route to host" >&2; exit 255 ;;
silent) exit 3 ;;
hanging*) exec sleep 60 ;;
leaving) sleep 60 & echo $! > "$0.left" ;;
leaving-fault) sleep 60 & echo "no way" >&2; exit 255 ;;
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


def test_a_host_that_lets_us_in_and_has_the_kernel_is_fine(shell: str) -> None:
    assert faults(["h1", "h2"], shell, [Path(shell)]) == {}
    assert faults(["h1"], shell, []) == {}


def test_each_fault_is_told_by_host(shell: str, tmp_path: Path) -> None:
    found = faults(["gone", "h1", "silent"], shell, [Path(shell), tmp_path / "it's not; there"])
    assert list(found) == ["gone", "h1", "silent"]
    assert found["gone"] == "cannot be reached: connect to host gone port 22: No route to host"
    assert "it's not; there" in found["h1"]
    assert found["silent"] == f"cannot be reached: {shell} ended with 3"
    assert MISSING not in (3, 255)


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


def test_a_name_that_does_not_resolve_is_told_by_the_real_one() -> None:
    assert "host" in faults(["no-such-host.invalid"], "ssh", [])["no-such-host.invalid"].lower()


@pytest.mark.thorough
def test_hosts_that_hang_are_waited_for_together(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_s = 1.0
    monkeypatch.setattr("mpigauge.launch.preflight.ANSWER_WAIT_S", wait_s)
    monkeypatch.setattr("mpigauge.launch.preflight.AT_ONCE", 5)
    begun = time.monotonic()
    found = faults(["hanging1", "hanging2", "hanging3", "h1", "gone", "hanging4", "h2"], shell, [])
    assert time.monotonic() - begun < 4 * wait_s  # as long as one after the other would take
    assert list(found) == ["hanging1", "hanging2", "hanging3", "gone", "hanging4"]
    assert "gave no answer in 1 s" in found["hanging4"]


def test_a_child_that_keeps_the_words_of_a_shell_open_is_not_waited_for(shell: str) -> None:
    """A master that ssh leaves for other connections, or a proxy that still connects, has them for hours."""
    begun = time.monotonic()
    assert faults(["leaving", "leaving-fault"], shell, []) == {"leaving-fault": "cannot be reached: no way"}
    assert time.monotonic() - begun < ANSWER_WAIT_S  # the time for a host that is silent
    left = Path(f"{shell}.left").read_text(encoding="ascii").strip()
    while _runs(left):
        assert time.monotonic() - begun < ANSWER_WAIT_S
        time.sleep(0.01)


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
