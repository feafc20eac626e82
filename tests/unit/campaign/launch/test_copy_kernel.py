"""A kernel comes to hosts that lack it: whole, in a folder that is safe, and never over one that is there."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch import copy_kernel
from mpigauge.campaign.launch.copy_kernel import REFUSED, copy_by_srun, copy_command
from mpigauge.campaign.launch.preflight import faults
from mpigauge.errors import EnvironmentLacksError
from tests import needs
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Done = subprocess.CompletedProcess[str]

LONG_S = 20
"""What nobody waits for."""

CONTENT = "#!/bin/sh\necho a kernel\n" + "#" * 100_000 + "\n"

SHELL = """#!/bin/sh
[ "$1" = gone ] && { echo "no route to host" >&2; exit 255; }
exec sh -c "$(printf %s "$2" | sed "s|NEAR|FAR-$1|g")"
"""
"""A remote shell to hosts that have a folder of their own for each of ours."""

SRUN = """#!/bin/sh
printf "%s\n" "$@" > FOLDER/said
echo "$SLURM_OVERLAP" > FOLDER/overlap
for word in "$@"; do case "$word" in --nodelist=*) cp "${word#--nodelist=}" FOLDER/nodes ;; esac; done
while [ "$1" != sh ]; do shift; done
"$@"
status=$?
[ $status = 0 ] || echo "srun: error: node[2-3]: tasks 0-1: Exited with exit code $status" >&2
exit $status
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A kernel as the cache has it."""
    program = tmp_path / "here" / "a kernel's" / "mpigauge-kernel"
    program.parent.mkdir(parents=True)
    program.write_text(CONTENT, encoding="ascii")
    program.chmod(0o755)
    return program


def feed(program: Path, there: Path, shell: str = "sh", content: str = CONTENT) -> Done:
    """What a host does whose path of the kernel is another, so that it may be this one."""
    command = [shell, *copy_command(program)[1:4], str(there.parent), str(there), copy_command(program)[-1]]
    return subprocess.run(command, input=content, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_kernel_arrives_complete_in_a_private_folder(here: Path, tmp_path: Path, shell: str) -> None:
    there = tmp_path / "there" / "deep" / "er" / here.name
    done = feed(here, there, shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert there.read_text(encoding="ascii") == CONTENT
    assert os.access(there, os.X_OK)
    assert {path.stat().st_mode & 0o077 for path in (there, there.parent)} == {0}
    assert [*there.parent.iterdir()] == [there]


def test_an_existing_kernel_is_not_replaced(here: Path, tmp_path: Path) -> None:
    there = tmp_path / "there" / here.name
    feed(here, there)
    before = there.stat()
    assert feed(here, there, content="").returncode == 0
    assert (there.stat().st_ino, there.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("content", ["", CONTENT[:-1], CONTENT + "#"])
def test_an_incomplete_copy_gets_no_name(here: Path, tmp_path: Path, content: str) -> None:
    there = tmp_path / "there" / here.name
    done = feed(here, there, content=content)
    assert done.returncode == REFUSED
    assert "did not arrive whole" in done.stderr
    assert not [*there.parent.iterdir()]


def test_others_lose_write_permission_on_the_folder(here: Path, tmp_path: Path) -> None:
    there = tmp_path / "there" / here.name
    there.parent.mkdir()
    there.parent.chmod(0o777)
    assert feed(here, there).returncode == 0
    assert there.parent.stat().st_mode & 0o022 == 0


def test_a_file_that_others_may_have_written_is_not_run(here: Path, tmp_path: Path) -> None:
    there = tmp_path / "there" / here.name
    feed(here, there)
    there.chmod(0o777)
    done = feed(here, there)
    assert done.returncode == REFUSED
    assert str(there) in done.stderr


@pytest.mark.needs("root")
def test_nothing_is_put_into_a_folder_of_another_user(here: Path, tmp_path: Path) -> None:
    there = tmp_path / "there" / here.name
    there.parent.mkdir()
    os.chown(there.parent, 65534, 65534)
    done = feed(here, there)
    assert done.returncode == REFUSED
    assert "belongs to another user" in done.stderr
    assert not [*there.parent.iterdir()]


@pytest.mark.parametrize("tool", ["find", "sha256sum"])
def test_a_host_that_cannot_check_gets_and_runs_nothing(
    here: Path, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in {"sh", "mkdir", "chmod", "uname", "rm", "cat", "ln", "mv", "find", "sha256sum"} - {tool}:
        (tools / name).symlink_to(str(shutil.which(name)))
    there = tmp_path / "there" / here.name
    monkeypatch.setenv("PATH", str(tools))
    done = feed(here, there)
    assert (done.returncode, done.stderr) == (REFUSED, f"there is no program {tool}\n")
    assert not there.parent.exists()


SCRIPTS = (copy_kernel.CHECK_SCRIPT, copy_kernel.COPY_SCRIPT)


@pytest.mark.parametrize("script", SCRIPTS)
def test_any_login_shell_passes_the_script_on(script: str) -> None:
    """In csh, an exclamation mark is one even between apostrophes, and a line ends."""
    assert not set(script) & set("'!\n\\")


@pytest.mark.needs("shellcheck")
@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("text", SCRIPTS)
def test_shellcheck_finds_no_fault(tmp_path: Path, shell: str, text: str) -> None:
    script = tmp_path / "supply.sh"
    script.write_text(text.replace("; ", "\n") + "\n", encoding="ascii")
    checker = needs.program("shellcheck")
    words = [checker, f"--shell={shell}", "--exclude=SC2015,SC3067", str(script)]
    assert subprocess.run(words, check=False).returncode == 0


# ---- By the remote shell -------------------------------------------------------------------------


@pytest.fixture
def shell(tmp_path: Path) -> str:
    """A remote shell."""
    text = SHELL.replace("NEAR", str(tmp_path / "here")).replace("FAR", str(tmp_path / "there"))
    return str(write_program(tmp_path / "shell", text, ""))


def test_hosts_that_lack_the_kernel_get_it_and_unreachable_ones_are_named(
    here: Path, tmp_path: Path, shell: str
) -> None:
    assert list(faults(["h1", "h2", "gone"], shell, [here])) == ["h1", "h2", "gone"]
    assert list(faults(["h1", "gone"], shell, [here], supplied=True)) == ["gone"]
    assert list(faults(["h1", "h2", "gone"], shell, [here])) == ["h2", "gone"]
    copy = tmp_path / "there-h1" / here.parent.name / here.name
    assert copy.read_bytes() == here.read_bytes()


def test_a_host_without_room_for_the_kernel_says_why(here: Path, tmp_path: Path, shell: str) -> None:
    (tmp_path / "there-h1").write_text("a file where a folder should be", encoding="ascii")
    found = faults(["h1"], shell, [here], supplied=True)
    assert f"has no {here}, and it cannot be put there: " in found["h1"]
    assert "there-h1" in found["h1"].partition("put there: ")[2]


# ---- By a step of Slurm --------------------------------------------------------------------------


@pytest.fixture
def srun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A function that puts a program in the place of srun; the folder where it notes things."""

    def put(text: str = SRUN) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        write_program(folder / "srun", text.replace("FOLDER", str(folder)), "")
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        return folder

    return put


def test_a_step_copies_the_kernel_to_all_nodes(here: Path, srun: Callable[..., Path], tmp_path: Path) -> None:
    folder = srun()
    assert copy_by_srun(["node2", "node3"], [here]) == {}
    said = (folder / "said").read_text(encoding="ascii").splitlines()
    assert {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--input=all"} <= set(said)
    assert (folder / "nodes").read_text(encoding="ascii").split() == ["node2", "node3"]
    assert (folder / "overlap").read_text(encoding="ascii") == "1\n"
    assert not [*tmp_path.glob("mpigauge-*")]


def test_nodes_where_the_copy_fails_are_named(here: Path, srun: Callable[..., Path]) -> None:
    srun()
    here.chmod(0o644)  # and what is there already stays
    found = copy_by_srun(["node2", "node3"], [here])
    assert found.keys() == {"node2", "node3"}
    assert f"has no {here}, and it cannot be put there: {here}: " in found["node2"]


def test_nodes_are_named_even_if_other_tasks_end_differently(here: Path, srun: Callable[..., Path]) -> None:
    """Then the status of srun is theirs."""
    lines = (
        "slurmstepd: error: a node is sick",
        "own words",
        "srun: error: node4: task 2: Killed",
        "srun: error: node[2-3]: tasks 0-1: Exited with exit code 100",
    )
    srun("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in lines) + "exit 137\n")
    found = copy_by_srun(["node2", "node3", "node4"], [here])
    assert found.keys() == {"node2", "node3"}
    assert found["node2"].endswith(": own words")


@pytest.mark.parametrize("ignores", [False, True])
def test_a_hung_step_gets_sigterm_before_sigkill(
    here: Path, srun: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, ignores: bool
) -> None:
    monkeypatch.setattr(copy_kernel, "STEP_WAIT_S", 2.0)
    monkeypatch.setattr(copy_kernel, "END_WAIT_S", 2.0 if ignores else 60.0)
    end = "" if ignores else "kill $child; exit 1"
    folder = srun(f"#!/bin/sh\ntrap 'touch FOLDER/asked; {end}' 15\nsleep 60 & child=$!\nwait\nwait\n")
    assert copy_by_srun(["node2"], [here]) == {}
    assert (folder / "asked").exists()


@pytest.mark.parametrize("leaves", ["sleep", "setsid sleep"])
def test_what_a_step_leaves_behind_is_not_waited_for(
    here: Path, srun: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, leaves: str
) -> None:
    """It keeps the output of srun open, also from a session of its own."""
    monkeypatch.setattr(copy_kernel, "STEP_WAIT_S", 0.1)
    monkeypatch.setattr(copy_kernel, "END_WAIT_S", 0.1)
    srun(f"#!/bin/sh\n{leaves} {LONG_S} &\nexit 0\n")
    begun = time.monotonic()
    assert copy_by_srun(["node2"], [here]) == {}
    assert time.monotonic() - begun < LONG_S / 2


def test_a_list_of_nodes_that_cannot_be_written_is_one_sentence(
    here: Path, srun: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    srun()
    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(EnvironmentLacksError, match="No space left"):
        copy_by_srun(["node2"], [here])


@pytest.mark.parametrize("text", ["#!/bin/sh\necho 'srun: error: no step' >&2; exit 1\n", None])
def test_without_srun_no_node_is_at_fault(
    here: Path, srun: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    """The launcher may reach the nodes by other means, and see what is there."""
    if text is None:
        monkeypatch.setenv("PATH", "/nowhere")
    else:
        srun(text)
    assert copy_by_srun(["node2"], [here]) == {}
