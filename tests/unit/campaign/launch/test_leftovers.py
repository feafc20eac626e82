"""What a job left in shared memory: only that goes, and only when nobody needs it."""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import shutil
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.campaign.launch import leftovers
from mpigauge.campaign.launch.janitor import DismissedJanitor, first_message, janitor, wait_for_all
from mpigauge.campaign.launch.leftovers import SEGMENTS, TOPOLOGY
from mpigauge.campaign.launch.process_tree import process
from tests import needs

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of /dev/shm."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(leftovers, "SEGMENTS", tuple(str(folder / Path(prefix).name) for prefix in SEGMENTS))
    monkeypatch.setattr(leftovers, "TOPOLOGY", str(folder / Path(TOPOLOGY).name))
    return folder


def made(path: Path) -> Path:
    """A file of a page."""
    path.write_bytes(bytes(mmap.PAGESIZE))
    return path


@pytest.mark.parametrize("prefix", SEGMENTS)
def test_unused_new_segments_are_removed_with_the_folder(shared: Path, tmp_path: Path, prefix: str) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    made(folder / "session")
    segment = made(shared / f"{Path(prefix).name}1")
    assert leftovers.tidy(str(folder), set())
    assert not segment.exists()
    assert not folder.exists()


def test_older_segments_and_files_of_other_names_stay(shared: Path) -> None:
    old, data = made(shared / "mpich_shm_old"), made(shared / "my-data")
    assert leftovers.tidy("", {str(old)})
    assert old.exists()
    assert data.exists()


def stay_while_used(*paths: Path) -> None:
    """One of two segments is open and the other mapped; then neither is."""
    open_, mapped = map(made, paths)
    with open_.open("r+b"):
        with mapped.open("r+b") as file:
            view = mmap.mmap(file.fileno(), 0)
        assert not leftovers.tidy("", set())
        assert open_.exists()
        assert mapped.exists()
        view.close()
    assert leftovers.tidy("", set())


def test_a_segment_that_is_open_or_mapped_stays(shared: Path) -> None:
    stay_while_used(shared / "sm_segment.open", shared / "sm_segment.mapped")
    assert not list(shared.iterdir())


def test_a_segment_of_another_user_stays(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segment = made(shared / "sm_segment.theirs")
    monkeypatch.setattr(os, "geteuid", lambda: segment.stat().st_uid + 1)
    assert not leftovers.tidy("", set())
    assert segment.exists()


def test_a_segment_used_in_another_container_stays(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of another container with the same /dev/shm: stood in for by a /proc that shows nobody."""
    monkeypatch.setattr(leftovers, "_files_in_use", lambda _: iter(()))
    stay_while_used(shared / "mpich_shm_open", shared / "mpich_shm_mapped")


@pytest.mark.parametrize("error", [errno.EINVAL, errno.EACCES])
def test_without_leases_nothing_is_removed_unless_all_processes_are_visible(
    shared: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def no_lease(*_: object) -> None:
        raise OSError(error, "no leases here")

    monkeypatch.setattr(fcntl, "fcntl", no_lease)
    segment = made(shared / "mpich_shm_1")
    real = leftovers._link_target
    for namespace, stays in (("pid:[4026532000]", True), (leftovers.FIRST_PIDS, False)):
        monkeypatch.setattr(
            leftovers,
            "_link_target",
            lambda link, ns=namespace: ns if link.endswith("ns/pid") else real(link),
        )
        assert leftovers.tidy("", set()) is not stays
        assert segment.exists() is stays


def test_the_janitor_keeps_no_pipe_of_its_parent_open() -> None:
    """It may outlive us, and who reads our output to its end would wait for it."""
    children = Path("/proc/self/task", str(os.getpid()), "children")
    before = children.read_text(encoding="ascii").split()  # orphans of jobs of other tests
    with janitor():
        (pid,) = set(children.read_text(encoding="ascii").split()) - {*before}
        assert {Path(f"/proc/{pid}/fd/{one}").readlink() for one in (1, 2)} == {Path(os.devnull)}


def test_the_janitor_blocks_signals_from_its_first_instruction_on() -> None:
    """A scheduler sends SIGTERM to all processes of a job, also to one that has just begun."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with janitor() as one:
        assert one.process is not None
        status = Path(f"/proc/{one.process.pid}/status").read_text(encoding="ascii")
        blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
        assert all(
            blocked >> (number - 1) & 1
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
        )
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_a_worker_that_a_program_forked_meanwhile_does_not_keep_the_janitor_waiting(tmp_path: Path) -> None:
    """The program is killed, the worker lives on: what was left behind goes all the same."""
    folder = tmp_path / "job"
    folder.mkdir()
    program = (
        "import os, signal, sys, time\n"
        "from mpigauge.campaign.launch.janitor import janitor\n"
        "with janitor(sys.argv[1]):\n"
        "    worker = os.fork()\n"
        "    if worker == 0:\n"
        "        time.sleep(60)\n"
        "    print(worker, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    words = [sys.executable, "-c", program, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        worker = int(killed.stdout.readline())
        killed.wait()
    try:
        deadline = time.monotonic() + 30
        while folder.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not folder.exists()
    finally:
        os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_without_a_janitor_the_parent_tidies_up(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Somebody has killed or stopped it, and then the launcher, whose ranks removed nothing."""
    monkeypatch.setattr(leftovers, "ANSWER_S", 0.1)
    folder = tmp_path / "job"
    folder.mkdir()
    with janitor(str(folder)) as one:
        assert one.process is not None
        one.process.send_signal(number)
        segment = made(shared / "mpich_shm_1")
    assert one.process.returncode == -signal.SIGKILL
    assert not segment.exists()
    assert not folder.exists()


@pytest.mark.parametrize("waits", [False, True])
def test_only_a_job_that_was_killed_waits_for_its_janitor(tmp_path: Path, waits: bool) -> None:
    """The next one may start meanwhile: files that it uses are not taken for left behind."""
    folder = tmp_path / "job"
    folder.mkdir()
    dismissed: list[DismissedJanitor] = []
    with janitor(str(folder), dismissed=dismissed) as one:
        assert one.process is not None
        if waits:
            one.last_message = leftovers.KILLED
        else:
            os.kill(one.process.pid, signal.SIGSTOP)
    assert folder.exists() is not waits
    assert len(dismissed) == (not waits)
    os.kill(one.process.pid, signal.SIGCONT) if dismissed else None
    wait_for_all(dismissed)
    assert not folder.exists()
    assert not dismissed


def test_a_janitor_that_does_not_read_its_first_message_is_replaced(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before a message that is longer than a pipe holds."""
    monkeypatch.setattr(leftovers, "ANSWER_S", 0.1)
    start = subprocess.Popen

    def stopped(*words: Any, **more: Any) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = start(*words, **more)
        process.send_signal(signal.SIGSTOP)
        return process

    monkeypatch.setattr(subprocess, "Popen", stopped)
    folder = tmp_path / "job"
    folder.mkdir()
    elsewhere = [["/usr/bin/ssh", f"node{number}"] for number in range(HOSTS)]
    with janitor(str(folder), first_message(elsewhere)) as one:
        assert one.process is not None
    assert one.process.returncode == -signal.SIGKILL
    assert not folder.exists()


def test_the_janitor_has_time_for_each_batch_of_hosts() -> None:
    def patience_in_answers(hosts: int) -> float:
        return leftovers.patience_s(first_message([["/bin/ssh", "h"]] * hosts)) / leftovers.ANSWER_S

    assert list(map(patience_in_answers, (0, 1, leftovers.AT_ONCE, leftovers.AT_ONCE + 1))) == [1, 2, 2, 3]


def test_the_janitor_has_its_own_process_name() -> None:
    """Who kills all that are called python3 leaves it alive."""
    with janitor() as one:
        assert one.process is not None
        comm = Path(f"/proc/{one.process.pid}/comm")
        deadline = time.monotonic() + 30
        while comm.read_text(encoding="ascii").strip() != leftovers.NAME and time.monotonic() < deadline:
            time.sleep(0.01)
        assert comm.read_text(encoding="ascii").strip() == leftovers.NAME


HOSTS = 5000


def test_the_janitor_is_told_of_any_number_of_hosts_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the words of a program may be."""
    elsewhere = [["/usr/bin/ssh", "-o", "BatchMode=yes", "--", f"node{number}"] for number in range(HOSTS)]
    before = {f"/dev/shm/sm_segment.{number}.{'x' * 100}" for number in range(HOSTS)}  # noqa: S108
    monkeypatch.setattr(leftovers, "library_files", lambda: before)
    with janitor("", first_message(elsewhere)) as one:
        assert one.process is not None
        assert one.process.poll() is None
    assert one.process.returncode == 0


@given(
    st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.sets(st.text("ab \n\t/", min_size=1))
)
def test_an_incomplete_message_to_the_janitor_is_rejected(elsewhere: str, before: set[str]) -> None:
    told = leftovers.start_message(elsewhere, before)
    assert leftovers.read_start_message(BytesIO(told + b"12 15\n")) == (elsewhere, before)
    for cut in {0, 1, len(told) // 2, len(told) - 1}:
        assert leftovers.read_start_message(BytesIO(told[:cut])) is None


def test_a_parent_that_dies_during_its_message_loses_only_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    words = [sys.executable, "-IS", leftovers.__file__, str(folder)]
    subprocess.run(words, input=leftovers.start_message("[]", {"a", "b"})[:-1], check=True, timeout=60)
    assert not folder.exists()


# ---- The launcher of a parent that was killed ----------------------------------------------------


def told(launcher: int, mark: str) -> bytes:
    """What the janitor of a job has read once its launcher has started."""
    messages = leftovers.job_message(signal.SIGTERM, mark), leftovers.launcher_message(launcher)
    return leftovers.start_message("", set()) + b"".join(messages)


@pytest.mark.parametrize("said", [b"", leftovers.ENDED, leftovers.KILLED])
def test_a_launcher_is_ended_if_its_parent_died_without_a_message(said: bytes) -> None:
    with subprocess.Popen(["sleep", "60"]) as launcher:
        words = [sys.executable, "-IS", leftovers.__file__, ""]
        subprocess.run(words, input=told(launcher.pid, "none") + said, check=True, timeout=60)
        if said:
            assert launcher.poll() is None
            launcher.kill()
        assert launcher.wait() == (-signal.SIGKILL if said else -signal.SIGTERM)


@pytest.mark.parametrize("said", [b"", leftovers.ENDED])
def test_a_launcher_is_ended_if_its_parent_died_while_it_started_it(said: bytes) -> None:
    """On a busy machine a launcher works before its parent has seen it start."""
    mark = "a-job-that-starts"
    late = f"sleep 0.3; {leftovers.MARK}={mark} exec sleep 60"  # it has our mark once it is executed
    with subprocess.Popen(["sh", "-c", late]) as launcher:
        words = [sys.executable, "-IS", leftovers.__file__, ""]
        begun = leftovers.start_message("", set()) + leftovers.job_message(signal.SIGTERM, mark)
        subprocess.run(words, input=begun + said, check=True, timeout=60)
        if said:
            assert launcher.poll() is None
            launcher.kill()
        assert launcher.wait() == (-signal.SIGKILL if said else -signal.SIGTERM)


def test_ranks_that_are_stopped_notice_that_their_launcher_is_gone() -> None:
    """As after Ctrl-Z and the end of the terminal: what is stopped hears nothing."""
    mark = "a-job-of-this-test"
    with subprocess.Popen(["sleep", "60"], env={**os.environ, leftovers.MARK: mark}) as rank:
        rank.send_signal(signal.SIGSTOP)
        while not is_in_state(rank.pid, "T"):
            time.sleep(0.01)
        with subprocess.Popen(["sleep", "60"]) as launcher:
            words = [sys.executable, "-IS", leftovers.__file__, ""]
            subprocess.run(words, input=told(launcher.pid, mark), check=True, timeout=60)
        goes_on = not is_in_state(rank.pid, "T")
        rank.kill()
    assert goes_on


def is_in_state(pid: int, state: str) -> bool:
    """Whether the system says so of a process."""
    found = process(pid)
    return found is not None and found.state.upper() == state


def test_another_process_with_the_same_id_is_not_ended() -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        pid, born = leftovers.parse_launcher_message(leftovers.launcher_message(other.pid))
        assert pid == other.pid
        leftovers.end_launcher(signal.SIGTERM, pid, born + b"0")
        leftovers.end_launcher(signal.SIGTERM, pid, b"")
        assert other.poll() is None
        leftovers.end_launcher(signal.SIGTERM, pid, born)
        assert other.wait() == -signal.SIGTERM


def test_a_launcher_that_has_ended_is_not_signalled() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    message = leftovers.launcher_message(gone.pid)
    leftovers.end_launcher(signal.SIGTERM, *leftovers.parse_launcher_message(message))


def test_what_hydra_wrote_stays_while_any_hydra_runs(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "HYDRA", "hydra_of_a_test")
    written = made(shared / f"{Path(TOPOLOGY).name}1")
    program = tmp_path / leftovers.HYDRA
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as hydra:
        assert not leftovers.tidy("", set())
        assert written.exists()
        hydra.kill()
    assert leftovers.tidy("", set())
    assert not written.exists()


def test_in_a_lab_files_in_tmp_are_ignored(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who needs it may be outside, where we cannot see."""
    written = made(shared / f"{Path(TOPOLOGY).name}1")
    monkeypatch.setenv("MPIGAUGE_LAB", "here")
    assert leftovers.tidy("", set())
    assert written.exists()


def test_a_machine_without_shared_memory_has_no_leftovers(shared: Path) -> None:
    shared.rmdir()
    assert leftovers.tidy("", set())


# ---- On other hosts ------------------------------------------------------------------------------


@pytest.fixture
def there(tmp_path: Path) -> Callable[[], object]:
    """What the shell of another host is told, about a folder of ours."""
    script = leftovers.REMOTE_TIDY_SCRIPT.format(patterns=f"{tmp_path}/mpich_shm_*", minutes=2)
    return lambda: subprocess.run(["sh", "-c", script], check=False, timeout=30, stderr=subprocess.DEVNULL)


def test_segments_of_a_killed_job_are_removed_on_other_hosts(
    there: Callable[[], object], tmp_path: Path
) -> None:
    mine, other = made(tmp_path / "mpich_shm_1"), made(tmp_path / "data")
    there()
    assert not mine.exists()
    assert other.exists()


@pytest.mark.needs("shellcheck")
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_shellcheck_accepts_the_script_for_other_hosts(tmp_path: Path, shell: str) -> None:
    """The shell of a user there may be either."""
    patterns = " ".join(f"{prefix}*" for prefix in leftovers.SEGMENTS)
    script = tmp_path / "tidy.sh"
    script.write_text(leftovers.REMOTE_TIDY_SCRIPT.format(patterns=patterns, minutes=2), encoding="ascii")
    assert subprocess.run([shell, "-n", str(script)], check=False).returncode == 0
    words = [needs.program("shellcheck"), f"--shell={shell}", str(script)]
    assert subprocess.run(words, check=False).returncode == 0


@pytest.mark.thorough
def test_segments_in_use_and_older_ones_stay_on_other_hosts(
    there: Callable[[], object], tmp_path: Path
) -> None:
    old = made(tmp_path / "mpich_shm_old")
    os.utime(old, (1e9, 1e9))
    used = made(tmp_path / "mpich_shm_used")
    with used.open("rb"):
        there()
    assert old.exists()
    assert used.exists()


@pytest.mark.parametrize(("said", "asked"), [(b"", True), (leftovers.KILLED, True), (leftovers.ENDED, False)])
def test_other_hosts_are_cleaned_only_after_a_kill(tmp_path: Path, said: bytes, asked: bool) -> None:
    """By whatever shell there is: here one that notes its words."""
    shell = tmp_path / "shell"
    note = f'cd {tmp_path}\necho "$1" >> hosts\nshift\necho "$*" >> said\ncat > read\n'
    shell.write_text(f"#!/bin/sh\n{note}", encoding="ascii")
    shell.chmod(0o755)
    elsewhere = json.dumps([[str(shell), host] for host in ("h2", "h3")])
    words = [sys.executable, "-IS", leftovers.__file__, ""]
    subprocess.run(
        words,
        input=leftovers.start_message(elsewhere, leftovers.library_files()) + said,
        check=True,
        timeout=60,
    )
    hosts = (tmp_path / "hosts").read_text(encoding="ascii").split() if asked else []
    assert sorted(hosts) == (["h2", "h3"] if asked else [])
    assert (tmp_path / "hosts").exists() == asked
    if asked:  # csh and others would not understand the script
        assert (tmp_path / "said").read_text(encoding="ascii").split() == ["sh", "sh"]
        assert "rm -f" in (tmp_path / "read").read_text(encoding="ascii")
