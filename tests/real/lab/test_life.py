"""How a lab begins and ends: as its command does, and with nothing left behind."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpigauge.campaign.launch import leftovers
from mpigauge.result.reader import load
from tests.places import ROOT
from tests.real.lab.conftest import TIMEOUT_S, Lab, lab_environment, lab_words, namespaces, processes
from tests.real.mpi.conftest import prefix

pytestmark = pytest.mark.lab

WAIT_S = 300
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - what labs must leave alone
TEMPORARY = SHARED_MEMORY / "tmp"


def until_file(path: Path) -> None:
    """A command has come so far."""
    end = time.monotonic() + WAIT_S
    while not path.exists():
        assert time.monotonic() < end, path
        time.sleep(0.02)


def until_gone(theirs: set[str]) -> None:
    """No process of the test is left, and none of their namespaces."""
    end = time.monotonic() + WAIT_S
    while processes() or theirs & namespaces():
        assert time.monotonic() < end, processes()
        time.sleep(0.05)


def started(folder: Path, user: str, script: str) -> subprocess.Popen[str]:
    """A lab that goes on until something happens to it."""
    process = subprocess.Popen(
        lab_words(user, "--", "sh", "-c", script),
        cwd=folder,
        env=lab_environment(folder, user),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until_file(folder / "begun")
    return process


def test_hosts_have_names_addresses_and_parts_of_their_own(lab: Lab, user: str) -> None:
    """What one host writes to shared memory or calls itself, the other does not see."""
    script = """
        echo mine > /dev/shm/mine; ssh h2 'ls /dev/shm/mine' && exit 1
        mktemp > /dev/null && ls -d /tmp/tmp.* > /dev/null 2>&1
        ipcmk -Q > /dev/null; ssh h2 'ipcs -q | grep -c ^0x'; ipcs -q | grep -c ^0x
        hostname; ssh -x -q h2 hostname; ssh -o A=b -p 22 me@10.77.0.2 -n hostname; ssh -n h1 hostname
        ls /sys/class/net; cat /etc/hosts; echo $TMPDIR
    """
    done = lab("sh", "-c", script, user=user)
    hosts = "127.0.0.1 localhost\n10.77.0.1 h1\n10.77.0.2 h2\n"
    assert done.stdout == f"0\n1\nh1\nh2\nh2\nh1\neth0\nlo\n{hosts}{TEMPORARY}\n", done.stderr


UNREACHED = """
    PATH=$PATH:/usr/sbin:/sbin
    ssh h2 ip link set eth0 down; ssh h2 true
    kill -9 $(readlink /dev/shm/lab/hosts/h3 | tr -dc 0-9)
    until ! ssh h3 true 2> /dev/null; do :; done; ssh h3 true
    ssh h4 true
    ip link set eth0 down; ssh h2 true; ssh h1 hostname
"""


def test_why_a_host_is_not_reached(lab: Lab, user: str) -> None:
    done = lab("sh", "-c", UNREACHED, options=("--hosts", "3"), user=user)
    assert done.stdout == "h1\n"
    assert done.stderr.splitlines()[:4] == [
        "mpigauge lab: h2: the network of this host is down",
        "mpigauge lab: h3: this host has died",
        "mpigauge lab: h4: no host of this lab is called so",
        "mpigauge lab: h2: the network is down here",
    ]


def test_a_relay_that_is_killed_ends_the_command_first(folder: Path, user: str) -> None:
    """As the system does for lack of memory; a campaign so writes what it has, and names resume."""
    script = "trap 'sleep 0.5; touch ended; exit 0' TERM; touch begun; while :; do sleep 0.05; done"
    process = started(folder, user, script)
    (relay,) = (
        pid for pid in processes() if b"mpigauge-lab-relay" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    os.kill(relay, signal.SIGKILL)
    _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3
    assert (folder / "ended").exists()
    assert "the relay of the lab died (SIGKILL)" in err
    assert "report" not in err


@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137)])
def test_the_status_is_that_of_the_command(lab: Lab, user: str, script: str, status: int) -> None:
    assert lab("sh", "-c", script, user=user).returncode == status


def test_a_signal_goes_to_the_command(folder: Path, user: str) -> None:
    process = started(folder, user, "trap 'exit 9' TERM; touch begun; while :; do sleep 0.05; done")
    process.terminate()
    process.communicate(timeout=WAIT_S)
    assert process.returncode == 9


def test_control_c_reaches_the_command_once(folder: Path, user: str) -> None:
    """At a terminal, which sends it to all processes there are."""
    script = "trap 'echo caught >> caught; sleep 0.3; exit 3' INT; touch begun; while :; do sleep 0.05; done"
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a script ignores it
        os.chdir(folder)
        words = lab_words(user, "--", "sh", "-c", script)
        os.execve(words[0], words, lab_environment(folder, user))  # noqa: S606
    until_file(folder / "begun")
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 3
    assert (folder / "caught").read_text() == "caught\n"


SETTLED = """
    for host in h1 h2; do ssh $host 'setsid sleep 1000 & touch /dev/shm/left $TMPDIR/left'; done
    touch begun; sleep 1000
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_whatever_happens(folder: Path, user: str, how: signal.Signals) -> None:
    process = started(folder, user, SETTLED)
    everyone = processes()
    assert len(everyone) > 6
    theirs = namespaces(everyone) - namespaces([os.getpid()])
    assert len(theirs) > 10
    process.send_signal(how)
    process.communicate(timeout=WAIT_S)
    until_gone(theirs)
    assert not (SHARED_MEMORY / "left").exists()
    assert not (SHARED_MEMORY / "lab").exists()
    assert {path.name for path in folder.iterdir()} <= {"begun", "cache"}


@pytest.mark.mpi
@pytest.mark.parametrize("example", ["placements", "quick"])
def test_an_example_that_is_killed_leaves_nothing(folder: Path, example: str) -> None:
    """In the middle of a launch, in a lab and on this machine itself."""
    before, result = leftovers.library_files(), folder / "result.jsonl"
    words = ["run", "--plan", str(ROOT / f"examples/{example}.toml"), "-o", str(result), "-q"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mpigauge", *words],
        cwd=folder,
        env=lab_environment(folder, "root"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + TIMEOUT_S
    while not (result.exists() and '"visit"' in result.read_text(encoding="utf-8")):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    theirs = namespaces(processes()) - namespaces([os.getpid()])
    process.kill()
    process.communicate(timeout=WAIT_S)
    until_gone(theirs)
    assert {path.name for path in folder.iterdir()} == {result.name}
    # Jobs of other tests have such files for a moment.
    ours, end = leftovers.left_behind(before), time.monotonic() + WAIT_S
    while ours := ours & leftovers.left_behind(before):
        assert time.monotonic() < end, ours
        time.sleep(0.05)


def test_words_reach_no_shell_but_the_commands_own(lab: Lab, folder: Path) -> None:
    words = ("$(touch bad)", "`touch bad`", "; touch bad", "' touch bad '", "h2|touch bad")
    assert lab("printf", "%s\n", *words).stdout == "".join(f"{word}\n" for word in words)
    for name in ("h2;touch bad", "$(touch bad)", "../../../../tmp", "h3", "-oProxyCommand=touch bad"):
        assert lab("ssh", name, "true").returncode == 255
    assert lab("ssh", "h2", "echo", "$((1", "+", "1))").stdout == "2\n"
    done = lab("true", options=("--link", "h1-h2;touch bad:rate=1mbit"))
    assert done.returncode == 2
    assert not (folder / "bad").exists()


@pytest.mark.parametrize(
    ("options", "command", "status", "sentence"),
    [
        ((), ("no-such-program",), 2, "no-such-program: cannot be run"),
        (("--hosts", "65"), ("true",), 2, "65 hosts are out of range"),
        (("--delay", "5"), ("true",), 2, "a delay of 5 has no unit"),
        (("--delay", "20s"), ("true",), 2, "a delay of 20s is 20 s"),
        (("--link", "h1-h2:speed=1mbit"), ("true",), 2, "is not a description of a link or host"),
    ],
)
def test_a_mistake_is_a_sentence(
    lab: Lab, options: tuple[str, ...], command: tuple[str, ...], status: int, sentence: str
) -> None:
    done = lab(*command, options=options)
    assert (done.returncode, done.stdout) == (status, "")
    assert sentence in done.stderr
    assert "hint: " in done.stderr


def test_a_machine_that_forbids_it_is_told_which_setting_allows_it(folder: Path) -> None:
    """In a user namespace that may have none below it."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    inner = lab_words("root", "--", "true")
    words = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", *inner]
    done = subprocess.run(
        words, env=lab_environment(folder, "root"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "namespaces cannot be made" in done.stderr
    assert "max_user_namespaces" in done.stderr


def test_a_shell_at_a_terminal_has_its_jobs(folder: Path, user: str) -> None:
    """As a person uses it: without a command."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a script ignores it
        os.chdir(folder)
        words = lab_words(user)
        environment = {**lab_environment(folder, user), "SHELL": "/bin/bash", "HOME": str(folder)}
        os.execve(words[0], words, environment)  # noqa: S606
    os.write(terminal, b"hostname > name; sleep 100\n")
    until_file(folder / "name")
    time.sleep(0.5)
    os.write(terminal, b"\x03")
    os.write(terminal, b"(sleep 100; exit 9) &\nkill %1; exit 4\n")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 4
    assert (folder / "name").read_text() == "h1\n"


def test_a_folder_that_each_host_has_of_its_own_cannot_be_where_we_are(lab: Lab) -> None:
    done = lab("sh", "-c", "cd $TMPDIR && ssh h1 true")
    assert done.returncode == 0
    done = lab("sh", "-c", "mkdir $TMPDIR/here && cd $TMPDIR/here && ssh h2 true")
    assert done.returncode == 255
    assert "working directory is not there" in done.stderr


def test_a_result_that_would_be_gone_with_the_lab_is_refused(lab: Lab) -> None:
    mpigauge = (sys.executable, "-m", "mpigauge", "run", "memcpy", "--np", "1", "--launches", "1")
    done = lab(*mpigauge, "--mpi", prefix("mpich"), "-o", str(SHARED_MEMORY / "r.jsonl"))
    assert done.returncode == 2
    assert "would be lost" in done.stderr


def test_the_description_says_who_is_there_and_what_the_relay_did(lab: Lab) -> None:
    text = (
        "from mpigauge.campaign.lab import context; import subprocess\n"
        "here = context.current(); before = here.counters()\n"
        "subprocess.run([here.shell, 'h3', 'echo > /dev/tcp/h1/9 || true'], check=False)\n"
        "print(here.names, here.hosts[2].address, here.table.rate, here.counters().forwarded >= 0)\n"
    )
    done = lab(sys.executable, "-c", text, options=("--hosts", "3", "--rate", "10mbit"))
    assert done.stdout == "('h1', 'h2', 'h3') 10.77.0.3 10mbit True\n", done.stderr


def test_no_labs_in_labs(lab: Lab) -> None:
    done = lab(sys.executable, "-m", "mpigauge", "lab", "--", "true")
    assert done.returncode == 2
    assert "this is already a lab" in done.stderr


def test_labs_do_not_disturb_each_other(folder: Path, lab: Lab) -> None:
    process = started(folder, "root" if os.geteuid() == 0 else "user", "touch begun; sleep 1000")
    try:
        assert json.loads(lab("sh", "-c", "cat $MPIGAUGE_LAB").stdout)["hosts"][0]["name"] == "h1"
    finally:
        process.kill()
        process.communicate(timeout=WAIT_S)


# ---- Of root without all its rights, of whoever leaves, of a folder with traps -------------------


@pytest.mark.needs("root", "setpriv")
@pytest.mark.parametrize("right", ["setgid", "setuid"])
def test_root_of_a_container_with_fewer_rights_can_have_a_lab(folder: Path, right: str) -> None:
    fewer = ["setpriv", f"--bounding-set=-{right}", f"--inh-caps=-{right}"]
    done = subprocess.run(
        [*fewer, *lab_words("root", "--", "ssh", "h2", "id", "-u")],
        cwd=folder,
        env=lab_environment(folder, "root"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_a_lab_under_nohup_goes_on_when_its_terminal_goes(folder: Path, user: str) -> None:
    script = "touch begun; while [ ! -e told ]; do sleep 0.05; done; touch ended"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        words = ["nohup", *lab_words(user, "--", "sh", "-c", script)]
        os.execvpe(words[0], words, lab_environment(folder, user))  # noqa: S606
    until_file(folder / "begun")
    os.close(terminal)
    time.sleep(0.5)
    (folder / "told").touch()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert (folder / "ended").exists()


@pytest.mark.mpi
def test_no_code_of_our_folder_is_run_in_a_lab(folder: Path) -> None:
    """Also by the second process, which measures: a module here is not the library's of that name."""
    for name in ("random", "platform", "signal", "json"):
        (folder / f"{name}.py").write_text(
            "open('pwned', 'w').close(); raise SystemExit(0)\n", encoding="ascii"
        )
    (folder / "plan.toml").write_text(PLAN, encoding="ascii")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mpigauge", "run", "--plan", "plan.toml", "-o", "r.jsonl", "-q"],
        cwd=folder,
        env=lab_environment(folder, "root") | {"MPICC": str(Path(prefix("mpich")) / "bin" / "mpicc")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "pwned").exists()
    assert load(folder / "r.jsonl").visits


PLAN = """
launches = 1
measure = [{ pattern = "pingpong", sizes = "8" }]
lab = { hosts = 2 }
"""
